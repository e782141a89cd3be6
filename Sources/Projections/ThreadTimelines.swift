import ChatDomain
import Columns

/// The messages of each thread and what became of each post, in the order of the journal, as numbers of rows of ``ChatDomain/ChatState``: bodies stay in the journal.
///
/// A message that nothing refers to costs its number in its thread's list and nothing else here.
struct ThreadTimelines: Equatable, Sendable {
    var threads = Column<ThreadTimeline>()
    var messageHistories = PostHistories()
    var replyHistories = PostHistories()

    /// Takes in the next events.
    mutating func apply(_ events: NumberedEvents) {
        let (rows, numbers) = (events.events.rows, events.numbers)
        // The rows of threads that have just come up, which begin with the event that names them first.
        if threads.count < events.threadCount {
            for index in rows.indices {
                while threads.count <= numbers[index].thread { threads.append(ThreadTimeline(createdAt: rows[index].createdAt)) }
            }
        }
        let groups = Groups(events.messages) { numbers[$0].thread }
        readAhead(groups.count) { groups.owner($0) }
        threads.update(groups.count, at: { groups.owner($0) }) { thread, group in
            let messages = groups[group]
            let first = messages.startIndex
            thread.messages.append(count: messages.count) { UInt32(truncatingIfNeeded: numbers[messages[first + $0]].post) }
        }
        events.forEachOther(
            joins: { joins in
                let first = joins.startIndex
                threads.update(joins.count, at: { numbers[joins[first + $0]].thread }) { thread, which in
                    thread.log(events.position(joins[first + which]), membersChange: 1)
                }
            }, other: { index, content in apply(rows[index], content, at: events.position(index), numbers[index]) })
    }

    /// Reads ahead where the next messages of some threads are going to be put.
    ///
    /// A thread's place leads to that of its list, and that one to the end of the list; the reads of one kind do not lead to one another, so that many are under way
    /// at once.
    @inline(__always)
    private func readAhead(_ count: Int, _ thread: (Int) -> Int) {
        var sum: UInt64 = 0
        for index in 0..<count { sum &+= threads[thread(index)].openedAt }
        for index in 0..<count { sum &+= UInt64(threads[thread(index)].messages.count) }
        for index in 0..<count { sum &+= UInt64(threads[thread(index)].messages.last ?? 0) }
        ReadAhead.keep(sum)
    }

    /// Takes in the next event.
    mutating func apply(_ event: EventRow, _ content: borrowing Content, at position: Position, _ numbers: EventNumbers) {
        if numbers.thread >= 0 {
            while threads.count <= numbers.thread { threads.append(ThreadTimeline(createdAt: event.createdAt)) }
        }
        switch event.kind {
        case .threadOpened:
            if numbers.isNew { threads[numbers.thread].open(event, content, at: position) }
            threads[numbers.thread].log(position)
        case .threadJoined: threads[numbers.thread].log(position, membersChange: numbers.isNew ? 1 : 0)
        case .threadLeft: threads[numbers.thread].log(position, membersChange: numbers.isNew ? -1 : 0)
        case .messagePosted:
            if numbers.isNew {
                threads[numbers.thread].messages.append(UInt32(truncatingIfNeeded: numbers.post))
            } else {
                threads[numbers.thread].log(position)
            }
        case .replyPosted:
            threads[numbers.thread].log(position)
            if numbers.isNew { messageHistories.add(.reply, UInt32(truncatingIfNeeded: numbers.post), at: position, to: numbers.message) }
        case .messageEdited:
            threads[numbers.thread].log(position)
            if numbers.isNew { messageHistories.add(.edit, 0, at: position, to: numbers.post) }
        case .replyEdited:
            threads[numbers.thread].log(position)
            if numbers.isNew { replyHistories.add(.edit, 0, at: position, to: numbers.post) }
        case .messageRetracted:
            threads[numbers.thread].log(position)
            if numbers.isNew { messageHistories.add(.retraction, 0, at: position, to: numbers.post) }
        case .replyRetracted:
            threads[numbers.thread].log(position)
            if numbers.isNew {
                replyHistories.add(.retraction, 0, at: position, to: numbers.post)
                messageHistories.add(.replyRetraction, 0, at: position, to: numbers.message)
            }
        case .userRegistered, .usernameChanged, .postcodeSet, .threadRead, .sessionStarted, .sessionEnded, .lost, nil: break
        }
    }
}

/// A thread: its messages, and at which positions anything else happened in it.
struct ThreadTimeline: Equatable, Sendable {
    /// 0 where the opening was lost.
    var openedAt: Position = 0
    var createdAt: Timestamp
    var name: String?
    var isImported = false
    /// The numbers of the thread's messages, ascending.
    var messages = PackedColumn<UInt32>(.short)
    /// The positions of the thread's other events.
    var positions = PackedColumn<Position>(.short)
    /// How many members there were after each of those.
    var members = PackedColumn<UInt32>(.short)

    /// A thread of which the opening has not been seen.
    init(createdAt: Timestamp) { self.createdAt = createdAt }

    mutating func open(_ event: EventRow, _ content: borrowing Content, at position: Position) {
        openedAt = position
        createdAt = event.createdAt
        name = content.threadName(of: ThreadID(bits: event.thread))
        isImported = event.isImported
    }

    mutating func log(_ position: Position, membersChange: Int = 0) {
        positions.append(position)
        members.append(UInt32(truncatingIfNeeded: Int(members.last ?? 0) + membersChange))
    }

    /// The position of the latest of those events as of a position, 0 if there was none, and how many members there were then.
    func latest(asOf position: Position) -> (position: Position, members: Int) {
        let isLast = positions.last ?? 0 <= position
        let count = isLast ? positions.count : partition(positions.count) { positions[$0] > position }
        return count == 0 ? (0, 0) : (positions[count - 1], Int(members[count - 1]))
    }
}

/// What became of the posts that anything became of.
struct PostHistories: Equatable, Sendable {
    enum Change: CaseIterable { case edit, retraction, reply, replyRetraction }

    var numbers = SubsetIndex()
    /// The newest links of the chains of the posts that have one, by the kind of change.
    var edits = PackedColumn<UInt32>()
    var retractions = PackedColumn<UInt32>()
    var replies = PackedColumn<UInt32>()
    var replyRetractions = PackedColumn<UInt32>()
    var versions = Versions<UInt32>()

    subscript(change: Change) -> PackedColumn<UInt32> {
        _read {
            switch change {
            case .edit: yield edits
            case .retraction: yield retractions
            case .reply: yield replies
            case .replyRetraction: yield replyRetractions
            }
        }
        _modify {
            switch change {
            case .edit: yield &edits
            case .retraction: yield &retractions
            case .reply: yield &replies
            case .replyRetraction: yield &replyRetractions
            }
        }
    }

    mutating func add(_ change: Change, _ value: UInt32, at position: Position, to post: Int) {
        let (number, isNew) = numbers.insert(post)
        if isNew { for change in Change.allCases { self[change].append(0) } }
        var newest = self[change][number]
        versions.append(value, at: position, to: &newest)
        self[change][number] = newest
    }

    /// The position of the latest change of a kind as of a position, nil if there was none.
    func latest(_ change: Change, of post: Int, asOf position: Position) -> Position? {
        numbers.find(post).flatMap { latest(change, in: $0, asOf: position) }
    }

    /// The position of the latest change of a kind as of a position, in a history of which the number is known.
    func latest(_ change: Change, in history: Int, asOf position: Position) -> Position? {
        versions.position(self[change][history], asOf: position)
    }

    /// The positions of the latest changes of a kind as of a position, at most `limit` of them, oldest first.
    func latest(_ change: Change, of post: Int, limit: Int, asOf position: Position) -> [Position] {
        let count = count(change, of: post, asOf: position)
        return versions.versions(newest(change, of: post), ranks: max(0, count - max(0, limit)) + 1..<count + 1).map(\.position)
    }

    /// How many changes of a kind there were as of a position.
    func count(_ change: Change, of post: Int, asOf position: Position) -> Int {
        numbers.find(post).map { count(change, in: $0, asOf: position) } ?? 0
    }

    /// How many changes of a kind there were as of a position, in a history of which the number is known.
    func count(_ change: Change, in history: Int, asOf position: Position) -> Int { versions.count(self[change][history], asOf: position) }

    /// The position of a change, by its number in order from 1.
    func position(_ change: Change, of post: Int, rank: Int) -> Position { versions.position(newest(change, of: post), rank: rank) }

    /// The values of some changes, by their numbers in order from 1.
    func values(_ change: Change, of post: Int, ranks: Range<Int>) -> [UInt32] {
        versions.versions(newest(change, of: post), ranks: ranks).map(\.value)
    }

    private func newest(_ change: Change, of post: Int) -> UInt32 { numbers.find(post).map { self[change][$0] } ?? 0 }
}
