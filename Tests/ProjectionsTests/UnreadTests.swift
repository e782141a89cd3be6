import ChatDomain
import ChatTesting
import TestSupport
import Testing

@testable import Projections

/// Compares read markers, unread messages and levels of notifications with a scan over single
/// changes.
@Suite struct UnreadTests {
    /// A history of two threads in plain arrays.
    private struct History {
        enum Change {
            case joined(Int)
            case left(Int)
            /// The user is banned, which ends the membership.
            case banned(Int, by: Int)
            case read(Int, upTo: Position)
            /// The marker after the change.
            case markedUnread(Int, upTo: Position)
            case setLevel(Int, NotificationLevel, until: Timestamp?)
            case posted(Int, mentioning: Set<Int> = [])
            /// The position of the retracted message.
            case retracted(Position)
            /// The position of the removed message, and the moderator.
            case removed(Position, by: Int)
            case blocked(Int, by: Int)
            case unblocked(Int, by: Int)
        }

        let userCount: Int
        /// The changes, by position - 1.
        private(set) var changes: [(thread: Int, change: Change)] = []
        /// The messages, by thread.
        ///
        /// `isOfMember` is false if no earlier event names the author as a member, which only a
        /// loss of events leads to.
        private(set) var posts: [[(position: Position, author: Int, isOfMember: Bool)]] = [[], []]
        /// By thread: the users whom an event has named as members.
        private var namedMembers: [Set<Int>] = [[], []]
        /// The positions of the retracted and removed messages.
        private var gone: Set<Position> = []
        /// By user: the users whom they block now.
        private var blocks: [Int: Set<Int>] = [:]
        private(set) var models = ReadModels()

        init(users: Int) { userCount = users }

        var position: Position { Position(changes.count) }

        static func user(_ user: Int) -> UserID { UserID(bits: UInt128(user + 1)) }
        static func thread(_ thread: Int) -> ThreadID { ThreadID(bits: UInt128(thread + 1)) }

        mutating func add(_ change: Change, to thread: Int) {
            changes.append((thread, change))
            let id = Self.thread(thread)
            switch change {
            case .joined(let user), .left(let user), .banned(let user, by: _), .read(let user, upTo: _),
                .markedUnread(let user, upTo: _),
                .setLevel(let user, _, until: _):
                namedMembers[thread].insert(user)
            default: break
            }
            let details: EventDetails
            var mentions: [UserID] = []
            switch change {
            case .joined(let user): details = .init(.threadJoined, .thread(id, number: position, user: Self.user(user)))
            case .left(let user): details = .init(.threadLeft, .thread(id, number: position, user: Self.user(user)))
            case .read(let user, let upTo):
                details = .init(.threadRead, .marker(user: Self.user(user), thread: id, upTo: upTo))
            case .banned(let user, let moderator):
                details = .init(
                    .memberRemoved,
                    .member(thread: id, number: position, user: Self.user(user), by: Self.user(moderator)))
            case .markedUnread(let user, let upTo):
                details = .init(.threadMarkedUnread, .marker(user: Self.user(user), thread: id, upTo: upTo))
            case .setLevel(let user, let level, let until):
                details = .init(
                    .notificationsSet, .notifications(user: Self.user(user), thread: id, level: level, until: until))
            case .posted(let author, let mentioned):
                mentions = mentioned.sorted().map(Self.user)
                posts[thread].append((position, author, namedMembers[thread].contains(author)))
                let message = MessageID(bits: UInt128(position))
                details = .init(
                    .messagePosted, .message(thread: id, number: position, message: message, by: Self.user(author)))
            case .retracted(let post):
                gone.insert(post)
                let author = posts[thread].first { $0.position == post }?.author ?? 0
                details = .init(
                    .messageRetracted,
                    .message(
                        thread: id, number: position, message: MessageID(bits: UInt128(post)), by: Self.user(author)))
            case .removed(let post, let moderator):
                gone.insert(post)
                details = .init(
                    .messageRemoved,
                    .message(
                        thread: id, number: position, message: MessageID(bits: UInt128(post)), by: Self.user(moderator))
                )
            case .blocked(let user, let blocker):
                blocks[blocker, default: []].insert(user)
                details = .init(.userBlocked, .block(user: Self.user(user), by: Self.user(blocker)))
            case .unblocked(let user, let blocker):
                blocks[blocker]?.remove(user)
                details = .init(.userUnblocked, .block(user: Self.user(user), by: Self.user(blocker)))
            }
            models.apply(ChatEvent(recordedAt: Self.time(position), details: details, mentions: mentions), at: position)
        }

        /// The recording time of an event.
        static func time(_ position: Position) -> Timestamp {
            Timestamp(millisecondsSince1970: Int64(clamping: position))
        }

        /// Adds a random change.
        mutating func add(_ random: inout SeededRandom) {
            let thread = random.oneIn(8) ? 1 : 0
            let user = Int.random(in: 0..<userCount, using: &random)
            switch Int.random(in: 0..<44, using: &random) {
            case 0: add(.joined(user), to: thread)
            case 1: add(random.oneIn(2) ? .left(user) : .banned(user, by: (user + 1) % userCount), to: thread)
            case 40, 41: add(.markedUnread(user, upTo: Position.random(in: 0...position, using: &random)), to: thread)
            case 42, 43:
                let end = random.oneIn(2) ? nil : Self.time(position + Position.random(in: 1...30, using: &random))
                add(
                    .setLevel(user, NotificationLevel.allCases.randomElement(using: &random) ?? .all, until: end),
                    to: thread)
            case 2: add(.read(user, upTo: Position.random(in: 1...position + 1, using: &random)), to: thread)
            case 3...9:
                guard let post = posts[thread].randomElement(using: &random) else { return }
                // Some messages are removed and retracted.
                if gone.contains(post.position), !random.oneIn(4) { return }
                add(random.oneIn(2) ? .retracted(post.position) : .removed(post.position, by: user), to: thread)
            case 10:
                let other = Int.random(in: 0..<userCount, using: &random)
                if other != user {
                    add(random.oneIn(2) ? .blocked(other, by: user) : .unblocked(other, by: user), to: thread)
                }
            // One user posts half of the messages.
            default:
                let mentioned =
                    random.oneIn(3) ? Set((0..<2).map { _ in Int.random(in: 0..<userCount, using: &random) }) : []
                add(.posted(random.oneIn(2) ? 0 : user, mentioning: mentioned), to: thread)
            }
        }

        /// The state of a user in a thread.
        struct State: Equatable {
            var readUpTo: Position = 0
            /// The positions of the unread messages.
            var unread: [Position] = []
            var level = NotificationLevel.all
            var until: Timestamp?
        }

        /// Returns the state of every user in a thread as of a position.
        func states(in thread: Int, asOf position: Position) -> [State] {
            var joins: [Position?] = Array(repeating: nil, count: userCount)
            var states = Array(repeating: State(), count: userCount)
            var gone: Set<Position> = []
            /// By user: the messages that a level silenced.
            var silenced: [Set<Position>] = Array(repeating: [], count: userCount)
            /// By user: the messages that count because they mention the user.
            var mentioning: [Set<Position>] = Array(repeating: [], count: userCount)
            for (index, row) in changes.prefix(Int(clamping: position)).enumerated() where row.thread == thread {
                switch row.change {
                case .joined(let user): if joins[user] == nil { joins[user] = Position(index + 1) }
                case .left(let user), .banned(let user, by: _): joins[user] = nil
                case .read(let user, let upTo), .markedUnread(let user, let upTo): states[user].readUpTo = upTo
                case .setLevel(let user, let level, let until):
                    (states[user].level, states[user].until) = (level, until)
                case .blocked, .unblocked: break
                case .posted(_, let mentioned):
                    let position = Position(index + 1)
                    for user in 0..<userCount {
                        if let until = states[user].until, until <= Self.time(position) { continue }
                        guard states[user].level != .all else { continue }
                        if states[user].level == .mentions, mentioned.contains(user) {
                            mentioning[user].insert(position)
                        } else {
                            silenced[user].insert(position)
                        }
                    }
                case .retracted(let post), .removed(let post, by: _): gone.insert(post)
                }
            }
            let messages = posts[thread].prefix { $0.position <= position }.filter { !gone.contains($0.position) }
            for user in 0..<userCount {
                if let until = states[user].until, until <= Self.time(position) {
                    (states[user].level, states[user].until) = (.all, nil)
                }
                guard let join = joins[user] else { continue }
                let others = messages.filter { $0.position > max(join, states[user].readUpTo) && $0.author != user }
                states[user].unread = others.filter { post in
                    if silenced[user].contains(post.position) { return false }
                    // A mention of a blocked user does not count, even if they never were a member.
                    let isSkipped = post.isOfMember || mentioning[user].contains(post.position)
                    return !isSkipped || !blocks[user, default: []].contains(post.author)
                }.map(\.position)
            }
            return states
        }

        /// Compares the models of the whole history with the plain states.
        func expectEqual(asOf position: Position, _ location: SourceLocation = #_sourceLocation) {
            for thread in posts.indices {
                let id = Self.thread(thread)
                for (user, expected) in states(in: thread, asOf: position).enumerated() {
                    let userID = Self.user(user)
                    let blocked = models.blockedUsers(by: userID)
                    let (count, first) = models.unread(of: userID, in: id, except: blocked, asOf: position)
                    let marker = models.readMarker(userID, in: id, asOf: position)
                    let level = models.membershipIndex(userID, id).map {
                        models.notifications(ofMembership: $0, asOf: position, at: Self.time(position))
                    }
                    var place: String { "user \(user) in \(thread) as of \(position) of \(self.position)" }
                    #expect(count == expected.unread.count, "\(place)", sourceLocation: location)
                    #expect(first == expected.unread.first, "\(place)", sourceLocation: location)
                    #expect(marker == expected.readUpTo, "\(place)", sourceLocation: location)
                    #expect(
                        (level?.level ?? .all) == expected.level && level?.until == expected.until, "\(place)",
                        sourceLocation: location)
                }
            }
        }
    }

    /// Compares short histories as of every position, and whether they contain what they are
    /// compared for.
    @Test(arguments: Seeds.seeds(Repetitions.few(3, of: 60))) func statesEqualScansAsOfEveryPosition(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var history = History(users: 4)
        for user in 0..<3 { history.add(.joined(user), to: 0) }
        while history.position < 260 {
            history.add(&random)
            // More changes of single users than in the long histories.
            let user = Int.random(in: 0..<4, using: &random)
            if random.oneIn(12) { history.add(.joined(user), to: 0) }
            if random.oneIn(12) { history.add(.markedUnread(user, upTo: history.position / 2), to: 0) }
            if random.oneIn(6) {
                history.add(
                    .setLevel(user, .none, until: random.oneIn(2) ? nil : History.time(history.position + 9)), to: 0)
            }
        }
        var (laterFirsts, levels) = (0, 0)
        for position in 0...history.position {
            history.expectEqual(asOf: position)
            for state in history.states(in: 0, asOf: position) {
                if let first = state.unread.first, first > state.readUpTo + 2 { laterFirsts += 1 }
                if state.level != .all { levels += 1 }
            }
        }
        #expect(laterFirsts > 0 && levels > 0)
    }

    /// Compares counts at each end of a block of 64 or 256, first at that time and later as of that
    /// and other positions.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 6))) func countsEqualSingleMessageCounts(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var history = History(users: 4)
        for user in 0..<3 { history.add(.joined(user), to: 0) }
        var edges: [Position] = []
        while history.posts[0].count < Repetitions.few(530, of: 700) {
            history.add(&random)
            let count = history.posts[0].count
            let own = history.posts[0].count { $0.author == 0 }
            guard
                (63...65).contains(count) || (255...257).contains(count % 256) || count % 256 < 2
                    || [63, 0, 1].contains(own % 64)
            else {
                continue
            }
            edges.append(history.position)
            history.expectEqual(asOf: history.position)
        }
        for position in edges { history.expectEqual(asOf: position) }
        for _ in 0..<30 { history.expectEqual(asOf: Position.random(in: 0...history.position, using: &random)) }
        history.expectEqual(asOf: .max)
    }

    /// The threads are long enough for trees of two levels, of the thread and of a member.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 2))) func countsOfLongThreadsEqualSingleMessageCounts(
        seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        var history = History(users: 3)
        for user in 0..<3 { history.add(.joined(user), to: 0) }
        for _ in 0..<9_000 { history.add(&random) }
        #expect(history.posts[0].count > 4_500)
        // The case without a departure or a read since the join.
        history.add(.joined(2), to: 0)
        for upTo in [1, 300, 4_000, history.position / 2, history.position - 100] {
            for user in 0..<3 { history.add(.read(user, upTo: upTo), to: 0) }
            history.expectEqual(asOf: history.position)
        }
        for _ in 0..<25 { history.expectEqual(asOf: Position.random(in: 0...history.position, using: &random)) }
    }

    @Test(arguments: Seeds.seeds(4)) func endsOfLevelsPassInOrder(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var (ends, waiting) = (LevelEnds(), [] as [Int64])
        for now in Int64(0)..<300 {
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let time = now + Int64.random(in: 0...40, using: &random)
                ends.insert(.init(time: Timestamp(millisecondsSince1970: time), membership: waiting.count))
                waiting.append(time)
            }
            waiting.sort()
            #expect(ends.next.millisecondsSince1970 == waiting.first ?? .max)
            while let first = waiting.first, first <= now {
                #expect(ends.pop(at: Timestamp(millisecondsSince1970: now))?.time.millisecondsSince1970 == first)
                waiting.removeFirst()
            }
            #expect(ends.pop(at: Timestamp(millisecondsSince1970: now)) == nil)
        }
    }

    /// Messages before a rejoin are not unread, even with an older read marker.
    @Test func rejoinRestartsUnreadCount() {
        var history = History(users: 2)
        history.add(.joined(0), to: 0)
        history.add(.joined(1), to: 0)
        for _ in 0..<70 { history.add(.posted(0), to: 0) }
        history.add(.retracted(10), to: 0)
        history.add(.left(1), to: 0)
        history.add(.posted(0), to: 0)
        history.add(.joined(1), to: 0)
        history.add(.posted(0), to: 0)
        history.add(.posted(1), to: 0)
        history.add(.read(1, upTo: 5), to: 0)
        func unread(asOf position: Position) -> Int {
            history.models.unread(of: History.user(1), in: History.thread(0), except: .none, asOf: position).count
        }
        #expect(unread(asOf: history.position) == 1)
        #expect(unread(asOf: 73) == 69)
        #expect(unread(asOf: 72) == 70)
        for position in 0...history.position { history.expectEqual(asOf: position) }
    }
}
