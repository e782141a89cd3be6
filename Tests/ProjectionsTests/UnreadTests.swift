import ChatDomain
import ChatTesting
import TestSupport
import Testing

@testable import Projections

/// Compares unread counts with a count over single messages.
@Suite struct UnreadTests {
    /// A history of two threads in plain arrays.
    private struct History {
        enum Change {
            case joined(Int)
            case left(Int)
            case read(Int, upTo: Position)
            case posted(Int)
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
            case .joined(let user), .left(let user), .read(let user, upTo: _): namedMembers[thread].insert(user)
            default: break
            }
            let details: EventDetails
            switch change {
            case .joined(let user): details = .init(.threadJoined, .thread(id, number: position, user: Self.user(user)))
            case .left(let user): details = .init(.threadLeft, .thread(id, number: position, user: Self.user(user)))
            case .read(let user, let upTo): details = .init(.threadRead, .marker(user: Self.user(user), thread: id, upTo: upTo))
            case .posted(let author):
                posts[thread].append((position, author, namedMembers[thread].contains(author)))
                let message = MessageID(bits: UInt128(position))
                details = .init(.messagePosted, .message(thread: id, number: position, message: message, by: Self.user(author)))
            case .retracted(let post):
                gone.insert(post)
                let author = posts[thread].first { $0.position == post }?.author ?? 0
                details = .init(
                    .messageRetracted,
                    .message(thread: id, number: position, message: MessageID(bits: UInt128(post)), by: Self.user(author)))
            case .removed(let post, let moderator):
                gone.insert(post)
                details = .init(
                    .messageRemoved,
                    .message(thread: id, number: position, message: MessageID(bits: UInt128(post)), by: Self.user(moderator)))
            case .blocked(let user, let blocker):
                blocks[blocker, default: []].insert(user)
                details = .init(.userBlocked, .block(user: Self.user(user), by: Self.user(blocker)))
            case .unblocked(let user, let blocker):
                blocks[blocker]?.remove(user)
                details = .init(.userUnblocked, .block(user: Self.user(user), by: Self.user(blocker)))
            }
            models.apply(ChatEvent(recordedAt: Timestamp(millisecondsSince1970: 1), details: details), at: position)
        }

        /// Adds a random change.
        mutating func add(_ random: inout SeededRandom) {
            let thread = random.oneIn(8) ? 1 : 0
            let user = Int.random(in: 0..<userCount, using: &random)
            switch Int.random(in: 0..<40, using: &random) {
            case 0: add(.joined(user), to: thread)
            case 1: add(.left(user), to: thread)
            case 2: add(.read(user, upTo: Position.random(in: 1...position + 1, using: &random)), to: thread)
            case 3...9:
                guard let post = posts[thread].randomElement(using: &random) else { return }
                // Some messages are removed and retracted.
                if gone.contains(post.position), !random.oneIn(4) { return }
                add(random.oneIn(2) ? .retracted(post.position) : .removed(post.position, by: user), to: thread)
            case 10:
                let other = Int.random(in: 0..<userCount, using: &random)
                if other != user { add(random.oneIn(2) ? .blocked(other, by: user) : .unblocked(other, by: user), to: thread) }
            // One user posts half of the messages.
            default: add(.posted(random.oneIn(2) ? 0 : user), to: thread)
            }
        }

        /// Returns the unread messages of every user in a thread as of a position.
        func unread(in thread: Int, asOf position: Position) -> [Int] {
            var seen: [(join: Position, marker: Position)?] = Array(repeating: nil, count: userCount)
            var markers = Array(repeating: 0 as Position, count: userCount)
            var gone: Set<Position> = []
            for (index, row) in changes.prefix(Int(clamping: position)).enumerated() where row.thread == thread {
                switch row.change {
                case .joined(let user): if seen[user] == nil { seen[user] = (Position(index + 1), 0) }
                case .left(let user): seen[user] = nil
                case .read(let user, let upTo): markers[user] = upTo
                case .posted, .blocked, .unblocked: break
                case .retracted(let post), .removed(let post, by: _): gone.insert(post)
                }
            }
            let messages = posts[thread].prefix { $0.position <= position }.filter { !gone.contains($0.position) }
            return (0..<userCount).map { user in
                guard let join = seen[user]?.join else { return 0 }
                let unread = messages.filter { $0.position > max(join, markers[user]) && $0.author != user }
                return unread.count { !$0.isOfMember || !blocks[user, default: []].contains($0.author) }
            }
        }

        /// Compares the models of the whole history with the plain count.
        func expectEqual(asOf position: Position, _ location: SourceLocation = #_sourceLocation) {
            for thread in posts.indices {
                let counts = (0..<userCount).map {
                    let blocked = models.blockedUsers(by: Self.user($0))
                    return models.unreadCount(of: Self.user($0), in: Self.thread(thread), except: blocked, asOf: position)
                }
                #expect(counts == unread(in: thread, asOf: position), "as of \(position) of \(self.position)", sourceLocation: location)
            }
        }
    }

    /// Compares counts at each end of a block of 64 or 256, first at that time and later as of that
    /// and other positions.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 6))) func countsEqualSingleMessageCounts(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var history = History(users: 4)
        for user in 0..<3 { history.add(.joined(user), to: 0) }
        var edges: [Position] = []
        while history.posts[0].count < 700 {
            history.add(&random)
            let count = history.posts[0].count
            let own = history.posts[0].count { $0.author == 0 }
            guard (63...65).contains(count) || (255...257).contains(count % 256) || count % 256 < 2 || [63, 0, 1].contains(own % 64) else {
                continue
            }
            edges.append(history.position)
            history.expectEqual(asOf: history.position)
        }
        for position in edges { history.expectEqual(asOf: position) }
        for _ in 0..<60 { history.expectEqual(asOf: Position.random(in: 0...history.position, using: &random)) }
        history.expectEqual(asOf: .max)
    }

    /// The threads are long enough for trees of two levels, of the thread and of a member.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 2))) func countsOfLongThreadsEqualSingleMessageCounts(seed: UInt64) {
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
            history.models.unreadCount(of: History.user(1), in: History.thread(0), except: .none, asOf: position)
        }
        #expect(unread(asOf: history.position) == 1)
        #expect(unread(asOf: 73) == 69)
        #expect(unread(asOf: 72) == 70)
        for position in 0...history.position { history.expectEqual(asOf: position) }
    }
}
