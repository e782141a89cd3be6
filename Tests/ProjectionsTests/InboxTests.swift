import ChatDomain
import ChatTesting
import ChatValues
import NaiveViews
import TestSupport
import Testing

@testable import Projections

/// Compares inboxes with scans of all events.
@Suite struct InboxTests {
    fileprivate static let threads = (1...2).map { ThreadID(bits: UInt128($0)) }

    fileprivate static func user(_ number: Int) -> UserID { UserID(bits: UInt128(number + 1)) }
    fileprivate static func message(_ number: Int) -> MessageID { MessageID(bits: UInt128(number + 1)) }
    fileprivate static func reply(_ number: Int) -> ReplyID { ReplyID(bits: UInt128(number + 1)) }

    /// A history of a few people and posts, so that the commands concern one another.
    struct History {
        private var random: SeededRandom
        private var state = ChatState()
        /// The commands so far, of which some were rejected.
        private(set) var commands: [ChatCommand] = []
        private(set) var events: [RecordedEvent] = []
        private(set) var models = ReadModels()
        private let userCount: Int
        private let messageCount: Int

        /// Creates an empty history, for commands that exist.
        init() { (random, userCount, messageCount) = (SeededRandom(seed: 0), 0, 0) }

        init(seed: UInt64, users: Int, messages: Int) {
            (random, userCount, messageCount) = (SeededRandom(seed: seed), users, messages)
            for user in 0..<users { execute(.registerUser(id: InboxTests.user(user), username: "User \(user)")) }
            execute(.grantOperator(user: InboxTests.user(users - 1)))
            for (index, thread) in InboxTests.threads.enumerated() {
                execute(.openThread(id: thread, name: "Thread \(index)", by: InboxTests.user(0)))
                for user in 1..<users { execute(.joinThread(thread: thread, by: InboxTests.user(user))) }
                execute(.setRole(user: InboxTests.user(1), thread: thread, role: .moderator, by: InboxTests.user(0)))
                for message in 0..<messages where message % InboxTests.threads.count == index {
                    execute(
                        .postMessage(
                            id: InboxTests.message(message), thread: thread, body: "text",
                            by: InboxTests.user(message % users)))
                }
            }
        }

        mutating func execute(_ command: ChatCommand) {
            commands.append(command)
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
            random.oneIn(2)
                ? .message(InboxTests.message(number(0..<messageCount))) : .reply(InboxTests.reply(number(0..<40)))
        }

        /// The author of a post, which exists or not.
        private func author(of post: PostID) -> UserID? { models.authorID(of: post) }

        /// Executes a random command of one user that is to reach another one, and can be rejected.
        mutating func act(_ actor: Int, on victim: Int) {
            let (user, actor, thread) = (
                InboxTests.user(victim), InboxTests.user(actor), InboxTests.threads[number(0..<2)]
            )
            let (message, reply) = (InboxTests.message(victim), ReplyID(bits: UInt128(1_000 + number(0..<400))))
            switch number(0..<20) {
            case 0, 1:
                execute(
                    .reply(id: reply, to: message, body: "reply", mentions: random.oneIn(3) ? [user] : [], by: actor))
            case 2...4:
                execute(
                    .edit(
                        .reply(reply), body: "edit \(events.count)", mentions: [user],
                        by: author(of: .reply(reply)) ?? actor))
            case 5, 6: execute(.retract(.reply(reply), by: author(of: .reply(reply)) ?? actor))
            case 7...9: execute(.react(.message(message), emoji: "👍", by: actor))
            case 10...12: execute(.unreact(.message(message), emoji: "👍", by: actor))
            case 13, 14: execute(.mute(user: user, thread: thread, reason: "loud", until: nil, by: actor))
            case 15, 16: execute(.unmute(user: user, thread: thread, by: actor))
            case 17: execute(.invite(user: user, thread: thread, by: actor))
            case 18: execute(.revokeInvitation(user: user, thread: thread, by: actor))
            default:
                execute(.removeMember(user: user, thread: thread, reason: "bye", by: actor))
                execute(.joinThread(thread: thread, by: user))
            }
        }

        /// Executes a random command, which can be rejected.
        mutating func step() {
            let (post, user, thread) = (post(), user(), InboxTests.threads[number(0..<2)])
            let (other, moderator) = (self.user(), InboxTests.user(number(0..<2)))
            let emoji = ["👍", "🎉", ":wave:"][number(0..<3)]
            switch number(0..<40) {
            case 0...9:
                execute(
                    .reply(
                        id: InboxTests.reply(number(0..<40)), to: InboxTests.message(number(0..<messageCount)),
                        body: "reply", mentions: mentions(), by: user))
            case 10, 11:
                execute(
                    .postMessage(
                        id: InboxTests.message(number(0..<messageCount)), thread: thread, body: "text",
                        mentions: mentions(), by: user))
            case 12...15:
                execute(.edit(post, body: "edit \(events.count)", mentions: mentions(), by: author(of: post) ?? user))
            case 16...21: execute(.react(post, emoji: emoji, by: user))
            case 22, 23: execute(.unreact(post, emoji: emoji, by: user))
            case 24: execute(.retract(post, by: author(of: post) ?? user))
            case 25: if random.oneIn(3) { execute(.remove(post, reason: "reason", by: moderator)) }
            case 26: execute(.mute(user: user, thread: thread, reason: "loud", until: nil, by: moderator))
            case 27: execute(.unmute(user: user, thread: thread, by: moderator))
            case 28:
                if random.oneIn(3) { execute(.ban(user: user, thread: thread, reason: "bye", by: moderator)) }
                execute(.unban(user: other, thread: thread, by: moderator))
            case 29:
                execute(
                    random.oneIn(3)
                        ? .removeMember(user: user, thread: thread, reason: "bye", by: moderator)
                        : .joinThread(thread: thread, by: user))
            case 30:
                execute(
                    .setRole(
                        user: user, thread: thread, role: random.oneIn(2) ? .moderator : .member, by: InboxTests.user(0)
                    ))
            case 31: execute(.invite(user: user, thread: thread, by: moderator))
            case 32:
                execute(
                    random.oneIn(2)
                        ? .revokeInvitation(user: user, thread: thread, by: moderator)
                        : .acceptInvitation(thread: thread, by: user))
            case 33, 34: execute(.report(post, reason: "spam", by: user))
            case 35: execute(.resolveReport(post, by: moderator))
            case 36: execute(random.oneIn(2) ? .block(user: other, by: user) : .unblock(user: other, by: user))
            case 37:
                execute(
                    random.oneIn(3) ? .leaveThread(thread: thread, by: user) : .joinThread(thread: thread, by: user)
                )
            default:
                let until =
                    random.oneIn(2)
                    ? nil : Timestamp(millisecondsSince1970: Int64(1_000 * (events.count + number(2..<40))))
                execute(
                    .setNotifications(
                        thread: thread, level: NotificationLevel.allCases[number(0..<3)], until: until, by: user))
            }
        }
    }

    /// Returns the inbox of the models as of a position.
    private func inbox(_ models: ReadModels, of user: UserID, _ blocked: BlockedUsers, asOf now: Position)
        -> [InboxItem]
    {
        (0..<models.inboxCount(of: user, asOf: now)).compactMap { rank in
            // Nothing is erased, so a later reply stands for this one.
            guard let item = models.inboxItem(rank + 1, of: user, except: blocked, asOf: now), item.laterReplies.isEmpty
            else { return nil }
            return item
        }
    }

    /// Returns the positions of the rows of an inbox in the order in which a page looks at them.
    private func order(_ models: ReadModels, of user: UserID, _ rows: Range<Int>, _ blocked: BlockedUsers) -> [Position]
    {
        models.next(.max, of: InboxScan(of: user, rows, except: blocked)).map {
            models.inboxPosition(of: user, rank: $0 + 1)
        }
    }

    /// Compares the models of a whole history as of positions, and those of the events up to them,
    /// with a scan.
    @Test(arguments: Seeds.seeds(Repetitions.few(3, of: 60))) func inboxesEqualScansAsOfAnyPosition(seed: UInt64) throws
    {
        var generated = History(seed: seed, users: 5, messages: 6)
        for _ in 0..<450 { generated.step() }
        var reasons: Set<InboxReason> = []
        try expectAgreement(generated.commands, seed: seed, tries: 200) { commands in
            var (history, early) = (History(), [] as [(models: ReadModels, position: Position)])
            for (number, command) in commands.enumerated() {
                history.execute(command)
                if number % 45 == 0 { early.append((history.models, history.models.position)) }
            }
            let views = NaiveViews(events: history.events)
            for (models, now) in early + [(history.models, history.models.position)] {
                let naive = views.asOf(now)
                for user in (0..<5).map(Self.user) {
                    // The blocks of the whole history count, as of every position.
                    for models in [history.models, models] {
                        let blocked = models.blockedUsers(by: user)
                        let expected = naive.inbox(of: user, except: Set(blocked.users(models)))
                        try same(
                            inbox(models, of: user, blocked, asOf: now), expected, "the inbox of \(user) as of \(now)")
                        reasons.formUnion(expected.map(\.reason))
                    }
                }
            }
        }
        #expect(reasons == Set(InboxReason.allCases))
    }

    /// A level counts where a mention begins: it neither ends one that an edit keeps, nor begins
    /// one.
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
            history.execute(.edit(.message(message), body: "\(history.events.count)", mentions: mentions, by: author))
        }
        edit([ann])
        let first = history.models.position
        history.execute(.setNotifications(thread: thread, level: .none, by: ann))
        edit([ann])
        #expect(positions() == [first])
        edit([])
        #expect(positions().isEmpty)
        edit([ann])
        history.execute(.setNotifications(thread: thread, level: .all, by: ann))
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
                        id: Self.reply(100 * turn + writer), to: Self.message(0), body: "reply", by: Self.user(writer)))
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

    /// One very active user: the rows of whole histories, of the models up to positions, and of
    /// those read from a checkpoint, are looked at as a scan of all events says, and so are the
    /// entries, before and after blocks.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 30))) func activeUsersDoNotTakeThePlaceOfOthers(seed: UInt64)
        throws
    {
        var (random, history) = (SeededRandom(seed: seed), History(seed: seed, users: 6, messages: 6))
        // The most active are those who can moderate.
        let active = [0, 1, random.oneIn(2) ? 2 : 1]
        var (positions, passed) = ([] as [Position], 0)
        for step in 0..<10 {
            for _ in 0..<20 { history.step() }
            for _ in 0..<110 {
                history.act(
                    active[Int.random(in: 0..<3, using: &random)], on: 3 + Int.random(in: 0..<2, using: &random))
            }
            if step % 3 == 0 {
                positions.append(history.models.position - Position.random(in: 0..<100, using: &random))
            }
            if step == 6 { history.execute(.block(user: Self.user(active[0]), by: Self.user(3))) }
        }
        positions.append(history.models.position)
        let views = NaiveViews(events: history.events)
        for now in positions {
            let naive = views.asOf(now)
            for number in [3, 4] {
                let user = Self.user(number)
                let rows = naive.inboxRows(of: user)
                #expect(rows.count == history.models.inboxCount(of: user, asOf: now))
                for isBlocking in [true, false] {
                    let blocked = isBlocking ? history.models.blockedUsers(by: user) : .none
                    let names = Set(blocked.users(history.models))
                    for _ in 0..<6 {
                        let bound = Int.random(in: 0...rows.count, using: &random)
                        let order = NaiveViews.order(of: Array(rows[..<bound]), except: names)
                        #expect(
                            self.order(history.models, of: user, 0..<bound, blocked) == order,
                            "\(bound) rows of \(number), \(now)")
                        passed += zip(order, order.dropFirst()).count { $0 < $1 }
                    }
                    #expect(inbox(history.models, of: user, blocked, asOf: now) == naive.inbox(of: user, except: names))
                }
            }
        }
        #expect(passed > 0)
    }

    /// A long inbox: the rows of one user are passed over at a bounded cost, whatever comes between
    /// them.
    @Test func rowsOfManyActiveUsersArePassedOver() {
        var history = History(seed: 1, users: 8, messages: 2)
        let (friend, ann) = (2, 3)
        history.execute(
            .reply(id: Self.reply(0), to: Self.message(1), body: "reply", by: Self.user(friend)))
        history.execute(
            .postMessage(id: Self.message(7), thread: Self.threads[0], body: "text", by: Self.user(ann)))
        history.execute(
            .reply(id: Self.reply(1), to: Self.message(7), body: "reply", by: Self.user(friend)))
        let newest = history.models.position
        for turn in 0..<3_000 {
            let user = Self.user([4, 5, 6][turn % 3])
            history.execute(.react(.message(Self.message(7)), emoji: "👍", by: user))
            history.execute(.unreact(.message(Self.message(7)), emoji: "👍", by: user))
        }
        let (models, user) = (history.models, Self.user(ann))
        let count = models.inboxCount(of: user, asOf: models.position)
        #expect(count == 3_001)
        for blocked in [[], [4, 5, 6]] {
            for number in blocked { history.execute(.block(user: Self.user(number), by: user)) }
            var (scan, steps, first) = (
                InboxScan(of: user, 0..<count, except: history.models.blockedUsers(by: user)), 0, 0
            )
            loop: while true {
                steps += 1
                switch history.models.step(&scan) {
                case .row(0): break loop
                case .row: first += 1
                case .blocked: break
                case .end: break loop
                }
            }
            #expect(steps == 121 && first == (blocked.isEmpty ? 120 : 0))
        }
        #expect(
            inbox(history.models, of: user, history.models.blockedUsers(by: user), asOf: models.position).map(
                \.position) == [newest])
    }

    /// What blocked users reply and react is passed over, however much it is.
    @Test func entriesStayAfterFiftyOfBlockedUsers() {
        var history = History(seed: 1, users: 60, messages: 2)
        let (author, friend) = (Self.user(0), Self.user(1))
        history.execute(.reply(id: Self.reply(0), to: Self.message(0), body: "reply", by: friend))
        history.execute(.react(.message(Self.message(0)), emoji: "👍", by: friend))
        for number in 2..<60 { history.execute(.block(user: Self.user(number), by: author)) }
        func reasons() -> [InboxReason] {
            inbox(history.models, of: author, history.models.blockedUsers(by: author), asOf: history.models.position)
                .map(\.reason)
        }
        for number in 1...110 {
            history.execute(
                .reply(id: Self.reply(number), to: Self.message(0), body: "reply", by: Self.user(2)))
            history.execute(.react(.message(Self.message(0)), emoji: "👍", by: Self.user(2 + number % 58)))
            #expect(reasons() == [.reply, .reaction])
        }
        #expect(
            inbox(history.models, of: author, .none, asOf: history.models.position).count { $0.reason == .reply } == 1)
    }
}
