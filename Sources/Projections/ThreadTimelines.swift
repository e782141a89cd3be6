import ChatDomain
import Columns
import Primitives

/// The messages of each thread and the history of each post, as dense indexes in journal order.
///
/// Bodies stay in the journal. A message without edits, retraction or replies costs one index in
/// its thread's list.
struct ThreadTimelines: Equatable, Sendable {
    var threads = Column<ThreadTimeline>()
    var histories = PostTables(PostHistories())
    /// The names that threads were given after their opening.
    var renamings = ThreadRenamings()

    /// Adds the row of the thread of an event, if it is new.
    @inline(__always)
    mutating func addRow(_ thread: Int, of event: EventRow) {
        while threads.count <= thread {
            threads.append(
                ThreadTimeline(createdAt: event.createdAt, isDistrict: ThreadID(bits: event.thread).outwardCode != nil))
        }
    }

    /// Adds a new message to a thread, and returns its index in the thread.
    @inline(__always)
    mutating func append(message: Int, to thread: Int, isByOutsider: Bool) -> Int {
        if isByOutsider { threads[thread].mayHaveOutsiders = true }
        let index = threads[thread].append(UInt32(truncatingIfNeeded: message))
        histories.messages.append()
        return index
    }

    /// Applies the next event, other than a new message.
    ///
    /// - Parameter membersChange: The event's change to the thread's number of members.
    mutating func apply(_ batch: borrowing EventBatch, _ row: Int, membersChange: Int) {
        let (event, indexes, position) = (batch.rows[row], batch.indexes[row], batch.position(row))
        switch event.kind {
        case .threadOpened:
            if threads[indexes.thread].openedAt == 0 {
                threads[indexes.thread].open(
                    event, name: batch.content(of: row).content.threadName(of: ThreadID(bits: event.thread)),
                    at: position)
            }
        case .directOpened:
            if threads[indexes.thread].openedAt == 0 { threads[indexes.thread].open(event, name: nil, at: position) }
        case .replyPosted:
            if indexes.isNew {
                histories.replies.append()
                if indexes.membership < 0 { threads[indexes.thread].mayHaveOutsiders = true }
                threads[indexes.thread].replyPositions.append(position)
                histories.messages.add(
                    .reply, UInt32(truncatingIfNeeded: indexes.secondIndex), at: position, to: indexes.message)
            }
        case .messageEdited, .replyEdited:
            if let post = indexes.post(of: event) {
                histories.change(of: post) { $0.add(.edit, 0, at: position, to: post.index) }
            }
        case .messageRetracted, .replyRetracted:
            if let post = indexes.post(of: event) { recordWithdrawal(post, indexes, .retraction, at: position) }
        case .messageRemoved, .replyRemoved:
            if let post = indexes.post(of: event) { recordWithdrawal(post, indexes, .removal, at: position) }
        case .reactionAdded:
            if let post = indexes.post(of: event) { histories.change(of: post) { $0.markReactions(to: post.index) } }
            return threads[indexes.thread].reactionPositions.append(position)
        case .threadRenamed:
            let name = batch.content(of: row).content.threadName(of: ThreadID(bits: event.thread))
            renamings.append(name, at: position, to: indexes.thread)
        case .reactionRemoved: return threads[indexes.thread].reactionPositions.append(position)
        default: guard event.kind?.form.isNumbered == true else { return }
        }
        if membersChange < 0 { threads[indexes.thread].mayHaveOutsiders = true }
        threads[indexes.thread].recordEvent(position, membersChange: membersChange)
    }

    /// Records the retraction or removal of a post; the first one of a reply lowers the count of its
    /// message.
    private mutating func recordWithdrawal(
        _ post: PostKey, _ indexes: EventIndexes, _ change: PostHistories.Change, at position: Position
    ) {
        let wasWithdrawn = histories.read(of: post) { $0.isWithdrawn(post.index) }
        histories.change(of: post) { $0.recordWithdrawal(post.index, change, at: position) }
        if post.isReply, !wasWithdrawn {
            histories.messages.add(.replyWithdrawal, 0, at: position, to: indexes.message)
        }
    }
}

/// A thread: its messages, and the positions of its other events except read markers.
struct ThreadTimeline: Equatable, Sendable {
    /// The position of the opening; 0 if its record was lost.
    var openedAt: Position = 0
    var createdAt: Timestamp
    /// The name of the opening; nil if erased.
    var name: String?
    var isImported = false
    /// Whether it is the thread of an outward code; not stored, because it follows from the id.
    let isDistrict: Bool
    /// Whether a member has left, or somebody has posted who was no member.
    var mayHaveOutsiders = false
    /// The indexes of the thread's messages, ascending.
    var messages = PackedColumn<UInt32>(pieceLength: .short)
    /// The positions of the thread's numbered events other than messages and reactions, ascending.
    var nonMessagePositions = PackedColumn<Position>(pieceLength: .short)
    /// The positions of the events about reactions, ascending: they do not move the thread.
    var reactionPositions = PackedColumn<Position>(pieceLength: .short)
    /// The positions of the replies, ascending; they are among ``nonMessagePositions`` too.
    var replyPositions = PackedColumn<Position>(pieceLength: .short)
    /// The number of members after each of the other events.
    var memberCounts = PackedColumn<UInt32>(pieceLength: .short)

    /// Creates a thread whose opening has not been applied.
    init(createdAt: Timestamp, isDistrict: Bool) { (self.createdAt, self.isDistrict) = (createdAt, isDistrict) }

    /// The number of its numbered events.
    var eventCount: Int { messages.count + nonMessagePositions.count + reactionPositions.count }

    /// Appends a message, and returns its index in the thread.
    @inline(__always)
    mutating func append(_ message: UInt32) -> Int {
        let index = messages.count
        messages.append(message)
        return index
    }

    mutating func open(_ event: EventRow, name: String?, at position: Position) {
        (openedAt, createdAt, isImported) = (position, event.createdAt, event.isImported)
        self.name = name
    }

    mutating func recordEvent(_ position: Position, membersChange: Int = 0) {
        nonMessagePositions.append(position)
        memberCounts.append(UInt32(truncatingIfNeeded: Int(memberCounts.last ?? 0) + membersChange))
    }

    /// Returns the latest non-message event as of a position and the members after it; zeros if
    /// none.
    func latest(asOf position: Position) -> (position: Position, members: Int) {
        let isLast = nonMessagePositions.last ?? 0 <= position
        let count =
            isLast
            ? nonMessagePositions.count
            : (0..<nonMessagePositions.count).partitioningIndex { nonMessagePositions[$0] > position }
        return count == 0 ? (0, 0) : (nonMessagePositions[count - 1], Int(memberCounts[count - 1]))
    }
}

/// Edit, retraction and reply history, by post.
struct PostHistories: Equatable, Sendable {
    /// `replyWithdrawal` is the first retraction or removal of a reply to the post.
    enum Change: CaseIterable { case edit, retraction, reply, replyWithdrawal, removal }

    /// By post: 1 if it has a history, and 2 if anybody ever reacted to it.
    ///
    /// Avoids hash lookups for posts without these, which are most.
    private var marks = MostlyZeroColumn<UInt8>()
    var historyIndexes = SubsetInterner()
    /// The newest links of the chains, by history and kind of change.
    var edits = PackedColumn<UInt32>()
    var retractions = PackedColumn<UInt32>()
    var replies = PackedColumn<UInt32>()
    var replyWithdrawals = PackedColumn<UInt32>()
    var removals = PackedColumn<UInt32>()
    var versions = VersionChains<UInt32>()

    subscript(change: Change) -> PackedColumn<UInt32> {
        _read {
            switch change {
            case .edit: yield edits
            case .retraction: yield retractions
            case .reply: yield replies
            case .replyWithdrawal: yield replyWithdrawals
            case .removal: yield removals
            }
        }
        _modify {
            switch change {
            case .edit: yield &edits
            case .retraction: yield &retractions
            case .reply: yield &replies
            case .replyWithdrawal: yield &replyWithdrawals
            case .removal: yield &removals
            }
        }
    }

    /// Adds the next post, without a history.
    @inline(__always)
    mutating func append() { marks.appendZero() }

    mutating func add(_ change: Change, _ value: UInt32, at position: Position, to post: Int) {
        let (history, isNew) = historyIndexes.insert(post)
        if isNew {
            marks[post] |= 1
            for change in Change.allCases { self[change].append(0) }
        }
        var newest = self[change][history]
        versions.append(value, at: position, to: &newest)
        self[change][history] = newest
    }

    /// Returns the index of a post's history; nil if it has none.
    func find(_ post: Int) -> Int? { marks[post] & 1 == 0 ? nil : historyIndexes.find(post) }

    /// Whether anybody ever reacted to a post.
    func hasReactions(_ post: Int) -> Bool { marks[post] & 2 != 0 }

    mutating func markReactions(to post: Int) { marks[post] |= 2 }

    /// Whether a post has been retracted or removed.
    func isWithdrawn(_ post: Int) -> Bool { find(post).map { retractions[$0] != 0 || removals[$0] != 0 } ?? false }

    /// Whether a post was retracted or removed as of a position.
    func isWithdrawn(_ post: Int, asOf position: Position) -> Bool {
        find(post).map { isWithdrawn(history: $0, asOf: position) } ?? false
    }

    /// Whether the post of a history was retracted or removed as of a position.
    func isWithdrawn(history: Int, asOf position: Position) -> Bool {
        guard retractions[history] != 0 || removals[history] != 0 else { return false }
        return latest(.retraction, in: history, asOf: position) != nil
            || latest(.removal, in: history, asOf: position) != nil
    }

    /// Records the first retraction, or the first removal, of a post.
    mutating func recordWithdrawal(_ post: Int, _ change: Change, at position: Position) {
        if find(post).map({ self[change][$0] == 0 }) ?? true { add(change, 0, at: position, to: post) }
    }

    /// Returns the position of the latest change of a kind as of a position; nil if none.
    func latest(_ change: Change, of post: Int, asOf position: Position) -> Position? {
        find(post).flatMap { latest(change, in: $0, asOf: position) }
    }

    /// Returns the position of a history's latest change of a kind as of a position; nil if none.
    func latest(_ change: Change, in history: Int, asOf position: Position) -> Position? {
        versions.position(self[change][history], asOf: position)
    }

    /// Returns the positions of the latest changes of a kind, at most `limit`, oldest first.
    func latest(_ change: Change, of post: Int, limit: Int, asOf position: Position) -> [Position] {
        let count = count(change, of: post, asOf: position)
        return versions.versions(newest(change, of: post), ranks: max(0, count - max(0, limit)) + 1..<count + 1).map(
            \.position)
    }

    /// Returns the number of changes of a kind as of a position.
    func count(_ change: Change, of post: Int, asOf position: Position) -> Int {
        find(post).map { count(change, in: $0, asOf: position) } ?? 0
    }

    /// Returns the number of a history's changes of a kind as of a position.
    func count(_ change: Change, in history: Int, asOf position: Position) -> Int {
        versions.count(self[change][history], asOf: position)
    }

    /// Returns the position of the change with a rank, from 1.
    func position(_ change: Change, of post: Int, rank: Int) -> Position {
        versions.position(newest(change, of: post), rank: rank)
    }

    /// Returns the values of the changes with the given ranks, from 1.
    func values(_ change: Change, of post: Int, ranks: Range<Int>) -> [UInt32] {
        versions.versions(newest(change, of: post), ranks: ranks).map(\.value)
    }

    private func newest(_ change: Change, of post: Int) -> UInt32 { find(post).map { self[change][$0] } ?? 0 }
}

extension ThreadTimelines: CheckpointComponent {
    mutating func visit(_ visitor: inout ColumnVisitor, _ ids: Identities, head: Position) throws(ColumnError) {
        try visitor.visit(
            &threads, write: { $1.write($0.count) },
            read: { (threads, reader) throws(ColumnError) in
                let count = try reader.readCount()
                try require(count == ids.threads.count, "timelines of \(count) threads for \(ids.threads.count)")
                for thread in 0..<count {
                    threads.append(
                        ThreadTimeline(
                            createdAt: Timestamp(millisecondsSince1970: 0),
                            isDistrict: ids.threadID(thread).outwardCode != nil))
                }
            })
        try visitor.visit(eachOf: &threads) { $1(&$0.openedAt) }
        try visitor.visit(eachOf: &threads) { $1(&$0.createdAt.bits) }
        try visitor.visit(textOf: &threads) { $1(&$0.name) }
        try visitor.visit(eachOf: &threads) { $1(&$0.marks) }
        // Row by row: a change of a row would copy it.
        try visitor.visit(
            &threads, write: { for thread in $0 { thread.writeLists(to: &$1) } },
            read: { (threads, reader) throws(ColumnError) in
                for thread in threads.indices {
                    try threads[thread].readLists(from: &reader, messages: ids.posts.messages.count, head: head)
                }
            })
        try visitor.visit(
            &threads, write: { Self.writeReplyPositions(of: $0, to: &$1) },
            read: { (threads, reader) throws(ColumnError) in
                try Self.readReplyPositions(of: &threads, from: &reader, atMost: ids.posts.replies.count, head: head)
            })
        try renamings.visit(&visitor, threads: threads.count, head: head)
        let replyCount = ids.posts.replies.count
        try histories.messages.visit(&visitor, posts: ids.posts.messages.count, replies: replyCount, head: head)
        try histories.replies.visit(&visitor, posts: replyCount, replies: 0, head: head)
    }

    /// Writes the replies of all threads as one column: most threads have none or few, and a column
    /// has a head.
    private static func writeReplyPositions(of threads: Column<ThreadTimeline>, to writer: inout ColumnWriter) {
        var (counts, positions) = (PackedColumn<UInt32>(), PackedColumn<Position>())
        for thread in threads {
            counts.append(UInt32(truncatingIfNeeded: thread.replyPositions.count))
            for index in thread.replyPositions.indices { positions.append(thread.replyPositions[index]) }
        }
        counts.write(to: &writer)
        positions.write(to: &writer)
    }

    private static func readReplyPositions(
        of threads: inout Column<ThreadTimeline>, from reader: inout ColumnReader, atMost most: Int, head: Position
    ) throws(ColumnError) {
        let counts: PackedColumn<UInt32> = try PackedColumn(from: &reader, atMost: threads.count)
        let positions: PackedColumn<Position> = try PackedColumn(from: &reader, atMost: most)
        let sum = counts.indices.reduce(0) { $0 + Int(counts[$1]) }
        try require(
            counts.count == threads.count && sum == positions.count,
            "replies of \(counts.count) threads for \(threads.count)")
        var next = 0
        for thread in threads.indices {
            for _ in 0..<counts[thread] {
                try require(positions[next] <= head, "a reply in a thread after \(head)")
                threads[thread].replyPositions.append(positions[next])
                next += 1
            }
        }
    }
}

extension ThreadTimeline {
    /// What is known of the thread, as a checkpoint stores it.
    fileprivate var marks: UInt8 {
        get { (isImported ? 1 : 0) | (mayHaveOutsiders ? 2 : 0) }
        set { (isImported, mayHaveOutsiders) = (newValue & 1 != 0, newValue & 2 != 0) }
    }

    fileprivate func writeLists(to writer: inout ColumnWriter) {
        messages.write(to: &writer)
        nonMessagePositions.write(to: &writer)
        memberCounts.write(to: &writer)
        reactionPositions.write(to: &writer)
    }

    fileprivate mutating func readLists(from reader: inout ColumnReader, messages most: Int, head: Position)
        throws(ColumnError)
    {
        messages = try PackedColumn(from: &reader, pieceLength: .short, atMost: most)
        try messages.check(below: most)
        nonMessagePositions = try PackedColumn(from: &reader, pieceLength: .short, atMost: Int(clamping: head))
        try require(nonMessagePositions.last ?? 0 <= head, "an event of a thread after \(head)")
        memberCounts = try PackedColumn(from: &reader, pieceLength: .short, atMost: nonMessagePositions.count)
        try require(memberCounts.count == nonMessagePositions.count, "members at other events than a thread's")
        reactionPositions = try PackedColumn(from: &reader, pieceLength: .short, atMost: Int(clamping: head))
        try require(reactionPositions.last ?? 0 <= head, "a reaction in a thread after \(head)")
    }
}

extension PostHistories {
    /// Visits the histories of `posts` posts, with links to at most `replyCount` replies.
    mutating func visit(_ visitor: inout ColumnVisitor, posts: Int, replies replyCount: Int, head: Position)
        throws(ColumnError)
    {
        try marks.visit(&visitor, rows: posts, below: 4)
        try historyIndexes.visit(&visitor, below: posts)
        for change in Change.allCases { try self[change].visit(&visitor, rows: historyIndexes.count) }
        // Versions other than replies have the value 0.
        try versions.visit(&visitor, head: head, below: max(1, replyCount))
        if visitor.isReading {
            for change in Change.allCases { try self[change].check(below: versions.count + 1) }
            if replyCount == 0 { try replies.check(below: 1) }
        }
    }
}
