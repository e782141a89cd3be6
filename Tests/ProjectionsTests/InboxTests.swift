import ChatDomain
import ChatTesting
import ChatValues
import NaiveViews
import TestSupport
import Testing

@testable import Projections

/// Compares inboxes with scans of all events.
@Suite struct InboxTests {
    private static let threads = (1...2).map { ThreadID(bits: UInt128($0)) }

    private static func user(_ number: Int) -> UserID { UserID(bits: UInt128(number + 1)) }
    private static func message(_ number: Int) -> MessageID { MessageID(bits: UInt128(number + 1)) }
    private static func reply(_ number: Int) -> ReplyID { ReplyID(bits: UInt128(number + 1)) }

    /// A history of a few people and posts, so that the commands concern one another.
    private struct History {
        private var random: SeededRandom
        private var state = ChatState()
        private(set) var events: [RecordedEvent] = []
        private(set) var models = ReadModels()
        private let userCount: Int
        private let messageCount: Int

        init(seed: UInt64, users: Int, messages: Int) {
            (random, userCount, messageCount) = (SeededRandom(seed: seed), users, messages)
            for user in 0..<users { execute(.registerUser(user: InboxTests.user(user), username: "User \(user)")) }
            execute(.grantOperator(user: InboxTests.user(users - 1)))
            for (index, thread) in InboxTests.threads.enumerated() {
                execute(.openThread(thread: thread, name: "Thread \(index)", by: InboxTests.user(0)))
                for user in 1..<users { execute(.joinThread(user: InboxTests.user(user), thread: thread)) }
                execute(.setRole(user: InboxTests.user(1), thread: thread, role: .moderator, by: InboxTests.user(0)))
                for message in 0..<messages where message % InboxTests.threads.count == index {
                    execute(
                        .postMessage(
                            message: InboxTests.message(message), thread: thread, author: InboxTests.user(message % users), body: "text"))
                }
            }
        }

        mutating func execute(_ command: ChatCommand) {
            let time = Timestamp(millisecondsSince1970: Int64(1_000 * (events.count + 1)))
            guard
                case .append(let decided)? = try? state.decide(
                    CommandRequest(command), at: time, freshID: UInt128(1_000_000 + events.count))
            else { return }
            for event in decided {
                events.append(RecordedEvent(position: state.head + 1, event: event))
                state.evolve(event, at: state.head + 1)
                models.apply(event, at: state.head)
            }
        }

        private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

        private mutating func user() -> UserID { InboxTests.user(number(0..<userCount)) }

        private mutating func mentions() -> [UserID] { random.oneIn(3) ? Array(Set([user(), user()])) : [] }

        private mutating func post() -> PostID {
            random.oneIn(2) ? .message(InboxTests.message(number(0..<messageCount))) : .reply(InboxTests.reply(number(0..<40)))
        }

        /// The author of a post, which exists or not.
        private func author(of post: PostID) -> UserID? { models.authorID(of: post) }

        /// Executes a random command, which can be rejected.
        mutating func step() {
            let (post, user, thread) = (post(), user(), InboxTests.threads[number(0..<2)])
            let (other, moderator) = (self.user(), InboxTests.user(number(0..<2)))
            let emoji = ["👍", "🎉", ":wave:"][number(0..<3)]
            switch number(0..<40) {
            case 0...9:
                execute(
                    .reply(
                        reply: InboxTests.reply(number(0..<40)), message: InboxTests.message(number(0..<messageCount)), author: user,
                        body: "reply", mentions: mentions()))
            case 10, 11:
                execute(
                    .postMessage(
                        message: InboxTests.message(number(0..<messageCount)), thread: thread, author: user, body: "text",
                        mentions: mentions()))
            case 12...15: execute(.edit(post, by: author(of: post) ?? user, body: "edit \(events.count)", mentions: mentions()))
            case 16...21: execute(.react(post, by: user, emoji: emoji))
            case 22, 23: execute(.unreact(post, by: user, emoji: emoji))
            case 24: execute(.retract(post, by: author(of: post) ?? user))
            case 25: if random.oneIn(3) { execute(.remove(post, by: moderator, reason: "reason")) }
            case 26: execute(.mute(user: user, thread: thread, by: moderator, reason: "loud", until: nil))
            case 27: execute(.unmute(user: user, thread: thread, by: moderator))
            case 28:
                if random.oneIn(3) { execute(.ban(user: user, thread: thread, by: moderator, reason: "bye")) }
                execute(.unban(user: other, thread: thread, by: moderator))
            case 29:
                execute(
                    random.oneIn(3)
                        ? .removeMember(user: user, thread: thread, by: moderator, reason: "bye") : .joinThread(user: user, thread: thread))
            case 30: execute(.setRole(user: user, thread: thread, role: random.oneIn(2) ? .moderator : .member, by: InboxTests.user(0)))
            case 31: execute(.invite(user: user, thread: thread, by: moderator))
            case 32:
                execute(
                    random.oneIn(2)
                        ? .revokeInvitation(user: user, thread: thread, by: moderator) : .acceptInvitation(user: user, thread: thread))
            case 33, 34: execute(.report(post, by: user, reason: "spam"))
            case 35: execute(.resolveReport(post, by: moderator))
            case 36: execute(random.oneIn(2) ? .block(user: other, by: user) : .unblock(user: other, by: user))
            case 37: execute(random.oneIn(3) ? .leaveThread(user: user, thread: thread) : .joinThread(user: user, thread: thread))
            default:
                let until = random.oneIn(2) ? nil : Timestamp(millisecondsSince1970: Int64(1_000 * (events.count + number(2..<40))))
                execute(.setNotifications(user: user, thread: thread, level: NotificationLevel.allCases[number(0..<3)], until: until))
            }
        }
    }

    /// Returns the inbox of the models as of a position.
    private func inbox(_ models: ReadModels, of user: UserID, _ blocked: BlockedUsers, asOf now: Position) -> [InboxItem] {
        (0..<models.inboxCount(of: user, asOf: now)).compactMap { rank in
            // Nothing is erased, so the newest reply stands for the others.
            guard var item = models.inboxItem(rank + 1, of: user, except: blocked, asOf: now),
                item.replies.first.map({ $0.position == item.position }) ?? true
            else { return nil }
            item.replies = []
            return item
        }
    }

    /// Compares the models of a whole history as of positions, and those of the events up to them, with a
    /// scan.
    @Test(arguments: Seeds.seeds(Repetitions.few(3, of: 60))) func inboxesEqualScansAsOfAnyPosition(seed: UInt64) {
        var history = History(seed: seed, users: 5, messages: 6)
        var (early, reasons) = ([] as [(ReadModels, Position)], [:] as [InboxReason: Int])
        for step in 0..<450 {
            history.step()
            if step % 45 == 0 { early.append((history.models, history.models.position)) }
        }
        let positions = early.map(\.1) + [history.models.position]
        for (index, now) in positions.enumerated() {
            let naive = NaiveViews(events: Array(history.events.prefix(Int(now))))
            for number in 0..<5 {
                let user = Self.user(number)
                // The blocks of the whole history count, as of every position.
                for models in [history.models] + (index < early.count ? [early[index].0] : []) {
                    let blocked = models.blockedUsers(by: user)
                    let expected = naive.inbox(of: user, except: Set(blocked.users(models)))
                    #expect(inbox(models, of: user, blocked, asOf: now) == expected, "user \(number) as of \(now)")
                    for item in expected { reasons[item.reason, default: 0] += 1 }
                }
            }
        }
        #expect(reasons.count == InboxReason.allCases.count, "\(reasons)")
    }

    /// A level counts where a mention begins: it neither ends one that an edit keeps, nor begins one.
    @Test func levelCountsWhereMentionBegins() {
        var history = History(seed: 1, users: 3, messages: 2)
        let (author, ann, message, thread) = (Self.user(0), Self.user(1), Self.message(0), Self.threads[0])
        func positions() -> [Position] {
            let now = history.models.position
            let found = inbox(history.models, of: ann, .none, asOf: now)
            #expect(found == NaiveViews(events: history.events).inbox(of: ann, except: []))
            return found.filter { $0.reason == .mention }.map(\.position)
        }
        func edit(_ mentions: [UserID]) {
            history.execute(.edit(.message(message), by: author, body: "\(history.events.count)", mentions: mentions))
        }
        edit([ann])
        let first = history.models.position
        history.execute(.setNotifications(user: ann, thread: thread, level: .none))
        edit([ann])
        #expect(positions() == [first])
        edit([])
        #expect(positions().isEmpty)
        edit([ann])
        history.execute(.setNotifications(user: ann, thread: thread, level: .all))
        edit([ann])
        #expect(positions().isEmpty)
    }

    /// A message that many answer tells its author and the last 50 who began to write there.
    @Test func replyTellsAuthorAndLastFiftyWriters() {
        var history = History(seed: 1, users: 60, messages: 2)
        // User 0 wrote the first message; each of the others answers it twice in turn.
        for turn in 0..<2 {
            for writer in 1..<60 {
                history.execute(
                    .reply(
                        reply: Self.reply(100 * turn + writer), message: Self.message(0), author: Self.user(writer), body: "reply"))
            }
        }
        let last = history.models.position
        let naive = NaiveViews(events: history.events)
        // The first nine writers were not among the last 50 when the second turn began.
        for number in Repetitions.areAll ? Array(0..<60) : [0, 1, 2, 8, 9, 10, 11, 30, 59] {
            let found = inbox(history.models, of: Self.user(number), .none, asOf: last)
            #expect(found == naive.inbox(of: Self.user(number), except: []), "user \(number)")
        }
        #expect(inbox(history.models, of: Self.user(0), .none, asOf: last).map(\.position) == [last])
    }

    /// The last 50 replies and reactions are looked at, so that an entry goes if they all are from blocked
    /// users.
    @Test func entriesGoAfterFiftyOfBlockedUsers() {
        var history = History(seed: 1, users: 60, messages: 2)
        let (author, friend) = (Self.user(0), Self.user(1))
        history.execute(.reply(reply: Self.reply(0), message: Self.message(0), author: friend, body: "reply"))
        history.execute(.react(.message(Self.message(0)), by: friend, emoji: "👍"))
        history.execute(.block(user: Self.user(2), by: author))
        for number in 3..<60 { history.execute(.block(user: Self.user(number), by: author)) }
        func reasons() -> [InboxReason] {
            inbox(history.models, of: author, history.models.blockedUsers(by: author), asOf: history.models.position).map(\.reason)
        }
        for number in 1...49 {
            history.execute(.reply(reply: Self.reply(number), message: Self.message(0), author: Self.user(2), body: "reply"))
            history.execute(.react(.message(Self.message(0)), by: Self.user(number + 2), emoji: "👍"))
        }
        #expect(reasons() == [.reply, .reaction])
        history.execute(.reply(reply: Self.reply(50), message: Self.message(0), author: Self.user(2), body: "reply"))
        #expect(reasons() == [.reaction])
        history.execute(.react(.message(Self.message(0)), by: Self.user(52), emoji: "👍"))
        #expect(reasons().isEmpty)
    }
}
