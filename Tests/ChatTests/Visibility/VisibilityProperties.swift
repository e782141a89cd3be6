import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import NaiveViews
import Projections
import TestSupport
import Testing

@testable import Chat

/// Compares every query, page and filter with `WhoIsShownWhat.md` on random histories.
///
/// `CHATJOURNAL_VISIBILITY_HISTORIES` sets the number of histories, 8 in the long form. Threads,
/// users and events are checked for every viewer and position, posts in turns.
@Suite struct VisibilityProperties {
    @Test func answersToViewersMatchVisibilityTables() throws {
        let count =
            ProcessInfo.processInfo.environment["CHATJOURNAL_VISIBILITY_HISTORIES"].flatMap { Int($0) }
            ?? Repetitions.few(1, of: 8)
        var checks = 0
        var cells: Set<Cell> = []
        var reasons: Set<InboxReason> = []
        for seed in Seeds.seeds(count) {
            let world = try VisibilityWorld(seed: seed)
            var first: VisibilityWorld? = world
            let agrees = try expectAgreement(world.requests, seed: seed, tries: 40) { requests in
                let world = try first.take() ?? VisibilityWorld(replaying: requests, seed: seed)
                var checker = VisibilityChecker(world)
                try checker.checkEverything()
                if let leak = checker.leaks.first { throw leak }
                checks += checker.checks
                cells.formUnion(checker.cells)
                reasons.formUnion(checker.reasons)
            }
            if !agrees { return }
        }
        print("visibility: \(checks) checks, 0 leaks, \(cells.count) cells of the table")
        #expect(reasons == Set(InboxReason.allCases))
        // Every row of the table must occur in the histories.
        if count >= 8 {
            for kind in Set(EventKind.allCases).subtracting([
                .lost, .userErased, .contentErased, .clockCorrected, .historyRepaired,
            ]) {
                #expect(
                    cells.contains(Cell(kind: kind, role: .itsUser))
                        && cells.contains(Cell(kind: kind, role: .stranger)), "\(kind)")
            }
            for kind in VisibilityWorld.kindsOfThreads {
                #expect(
                    cells.contains(Cell(kind: kind, role: .member))
                        && cells.contains(Cell(kind: kind, role: .formerMember)), "\(kind)")
            }
        }
    }

    struct Cell: Hashable {
        var kind: EventKind
        var role: NaiveVisibility.Role
    }
}

/// A random history in a store, with its oracle.
struct VisibilityWorld {
    /// The kinds whose events are shown to other members.
    ///
    /// `threadOpened` is missing because a new thread has no members yet.
    static let kindsOfThreads: [EventKind] = [
        .usernameChanged, .postcodeSet, .threadJoined, .threadLeft, .messagePosted, .replyPosted, .messageEdited,
        .replyEdited,
        .messageRetracted, .replyRetracted, .messageRemoved, .replyRemoved, .userBanned, .memberRemoved,
        .messageReported, .custom,
        .reactionAdded, .reactionRemoved, .profileSet, .threadRenamed,
    ]

    let store: ChatStore
    /// The commands of the history, of which some were rejected.
    let requests: [CommandRequest]
    let naive: NaiveVisibility
    let users: [UserID]
    let threads: [ThreadID]
    let messages: [MessageID]
    let replies: [ReplyID]
    let moments: [Position]

    /// A store that keeps the commands that it is given.
    private final class Recorder {
        let store: ChatStore
        var requests: [CommandRequest] = []

        init(_ store: ChatStore) { self.store = store }

        func executeBlocking(_ requests: [CommandRequest]) throws(ChatError) -> [Result<Receipt, Rejection>] {
            self.requests += requests
            return try store.executeBlocking(requests)
        }

        @discardableResult func executeBlocking(_ command: ChatCommand) throws(ChatError) -> Receipt {
            requests.append(CommandRequest(command))
            return try store.executeBlocking(command)
        }
    }

    /// Executes commands one by one in a new store.
    init(replaying requests: [CommandRequest], seed: UInt64) throws {
        let store = Recorder(try StoreFixture(seed: seed).open())
        for request in requests { _ = try store.executeBlocking([request]) }
        var random = SeededRandom(seed: seed)
        try self.init(store, &random)
    }

    /// Executes the commands of a history in a store, which is empty.
    init(seed: UInt64, in given: ChatStore? = nil) throws {
        let recorder = Recorder(try given ?? StoreFixture(seed: seed).open())
        let store = recorder.store
        var generator = CommandGenerator(seed: seed)
        var random = SeededRandom(seed: seed)
        for _ in 0..<260 { _ = try recorder.executeBlocking([generator.nextRequest()]) }
        let facts = try store.allEvents().map(\.event)
        let known = Array(Set(facts.compactMap(\.user))).sorted()
        // The generator leaves, renames, marks as unread, sets levels, edits and retracts too
        // rarely in shared threads.
        for user in known.shuffled(using: &random).prefix(3) {
            try recorder.executeBlocking(.setProfile(about: "secret", by: user))
            if let thread = try store.reader(as: .host).user(user).threads.first {
                try recorder.executeBlocking(.markRead(thread: thread.id, upTo: store.head.position, by: user))
                try recorder.executeBlocking(.markUnread(thread: thread.id, from: thread.since, by: user))
                try recorder.executeBlocking(
                    .setNotifications(thread: thread.id, level: random.oneIn(2) ? .mentions : .none, by: user))
            }
            for thread in try store.reader(as: .host).user(user).threads.prefix(2) where random.oneIn(2) {
                // The last owner of a thread cannot leave it.
                _ = try recorder.executeBlocking([CommandRequest(.leaveThread(thread: thread.id, by: user))])
            }
            try recorder.executeBlocking(.changeUsername(username: "Renamed \(user.bits % 1_000_003)", by: user))
            try recorder.executeBlocking(.setProfile(about: random.oneIn(3) ? nil : "about \(user)", by: user))
        }
        try Self.moderate(recorder, known, facts, &random)
        try Self.changePolicies(recorder, known, facts, &random)
        try Self.talkDirectly(recorder, known, &random)
        for details in facts {
            if case (.messagePosted, .message(_, _, let itsMessage, let itsAuthor)) = (details.kind, details.shape),
                random.oneIn(6)
            {
                _ = try recorder.executeBlocking([
                    CommandRequest(.edit(.message(itsMessage), body: "edited", by: itsAuthor), correlation: "secret")
                ])
            }
            if case (.replyPosted, .reply(_, _, _, let itsReply, let itsAuthor)) = (details.kind, details.shape),
                random.oneIn(8)
            {
                _ = try recorder.executeBlocking([
                    CommandRequest(.retract(.reply(itsReply), by: itsAuthor), correlation: "secret")
                ])
            }
        }
        // The viewers have all rights at some point, and some of them only then.
        try recorder.executeBlocking(.revokeOperator(user: known[0]))
        try self.init(recorder, &random)
    }

    private init(_ recorder: Recorder, _ random: inout SeededRandom) throws {
        (store, requests) = (recorder.store, recorder.requests)
        let events = try store.allEvents()
        naive = NaiveVisibility(events)
        users = Set(events.compactMap(\.user)).sorted() + [UserID(bits: 0xdead)]
        threads = Array(Set(events.compactMap(\.event.thread))).sorted() + [ThreadID(bits: 0xdead)]
        messages = events.compactMap {
            if case (.messagePosted, .message(_, _, let itsMessage, _)) = ($0.event.kind, $0.event.shape) {
                itsMessage
            } else {
                nil
            }
        }
        replies = events.compactMap {
            if case (.replyPosted, .reply(_, _, _, let itsReply, _)) = ($0.event.kind, $0.event.shape) {
                itsReply
            } else {
                nil
            }
        }
        let end = Position(events.count)
        moments = [end, end / 2] + (0..<2).map { _ in Position.random(in: min(1, end)...end, using: &random) }
    }

    /// Makes two operators, who report, remove and sanction; some members rejoin.
    ///
    /// The generator does so too rarely in threads with several members.
    private static func moderate(
        _ recorder: Recorder, _ known: [UserID], _ facts: [ChatEvent], _ random: inout SeededRandom
    ) throws {
        let store = recorder.store
        let operators = Array(known.prefix(2))
        for user in operators { try recorder.executeBlocking(.grantOperator(user: user)) }
        func execute(_ command: ChatCommand) throws {
            _ = try recorder.executeBlocking([CommandRequest(command, correlation: "secret")])
        }
        for thread in Set(facts.compactMap(\.thread)).sorted() {
            guard let member = try store.reader(as: .host).members(of: thread).randomElement(using: &random)?.user.id,
                let other = known.randomElement(using: &random)
            else { continue }
            let payload = try #require(CustomPayload("[1]"))
            try execute(.custom(kind: "com.example.poll", thread: thread, payload: payload, by: member))
            try execute(.mute(user: other, thread: thread, reason: "secret", by: operators[0]))
            try execute(.unmute(user: other, thread: thread, by: operators[0]))
            try execute(.ban(user: other, thread: thread, reason: "secret", by: operators[0]))
            try execute(.unban(user: other, thread: thread, by: operators[0]))
            let inviter = try Self.owner(of: thread, store) ?? operators[0]
            try execute(.invite(user: other, thread: thread, by: inviter))
            try execute(.revokeInvitation(user: other, thread: thread, by: operators[0]))
            try execute(.invite(user: other, thread: thread, by: inviter))
            try execute(
                random.oneIn(2)
                    ? .declineInvitation(thread: thread, by: other) : .acceptInvitation(thread: thread, by: other))
            try execute(.lockThread(thread: thread, by: operators[0]))
            try execute(.unlockThread(thread: thread, by: operators[0]))
        }
        for details in facts {
            switch (details.kind, details.shape) {
            case (.messagePosted, .message(let itsThread, _, let itsMessage, let itsAuthor)):
                // Before it is removed; most posts of the generator have no reaction.
                if random.oneIn(2),
                    let reader = try store.reader(as: .host).members(of: itsThread).randomElement(using: &random)?.user
                        .id
                {
                    try execute(.react(.message(itsMessage), emoji: random.oneIn(2) ? "👍" : "🎉", by: reader))
                    try execute(.react(.message(itsMessage), emoji: "👍", by: itsAuthor))
                    if random.oneIn(3) { try execute(.unreact(.message(itsMessage), emoji: "👍", by: reader)) }
                }
                guard random.oneIn(4),
                    let reader = try store.reader(as: .host).members(of: itsThread).randomElement(using: &random)?.user
                        .id
                else {
                    continue
                }
                try execute(.pin(message: itsMessage, by: operators[1]))
                if random.oneIn(2) { try execute(.unpin(message: itsMessage, by: operators[1])) }
                try execute(.report(.message(itsMessage), reason: "secret", by: reader))
                if random.oneIn(3) { try execute(.resolveReport(.message(itsMessage), by: operators[0])) }
                // Not by the operator who is revoked at the end: a former reader of these events.
                if random.oneIn(2) { try execute(.remove(.message(itsMessage), reason: "secret", by: operators[1])) }
                if random.oneIn(3) { try execute(.block(user: itsAuthor, by: reader)) }
                if random.oneIn(3) { try execute(.unblock(user: itsAuthor, by: reader)) }
            case (.replyPosted, .reply(let itsThread, _, _, let itsReply, _)):
                if let reader = try store.reader(as: .host).members(of: itsThread).randomElement(using: &random)?.user
                    .id
                {
                    try execute(.react(.reply(itsReply), emoji: "👍", by: reader))
                }
                guard random.oneIn(3),
                    let reader = try store.reader(as: .host).members(of: itsThread).randomElement(using: &random)?.user
                        .id
                else {
                    continue
                }
                try execute(.report(.reply(itsReply), reason: "secret", by: reader))
                if random.oneIn(2) { try execute(.resolveReport(.reply(itsReply), by: operators[0])) }
                try execute(.remove(.reply(itsReply), reason: "secret", by: operators[1]))
            case (.threadJoined, .thread(let itsThread, _, let itsUser)):
                guard random.oneIn(6) else { continue }
                try execute(.removeMember(user: itsUser, thread: itsThread, reason: "secret", by: operators[0]))
                try execute(.joinThread(thread: itsThread, by: itsUser))
                if random.oneIn(3) {
                    try execute(.ban(user: itsUser, thread: itsThread, reason: "secret", by: operators[1]))
                }
            default: break
            }
        }
        if let thread = facts.compactMap(\.thread).randomElement(using: &random) {
            try execute(.closeThread(thread: thread, by: operators[0]))
        }
    }
}

extension VisibilityWorld {
    /// Returns an owner of a thread, if it has one.
    private static func owner(of thread: ThreadID, _ store: ChatStore) throws -> UserID? {
        try store.reader(as: .host).roles(in: thread).first { $0.role == .owner }?.user.id
    }

    /// Opens direct threads of two to four people, some of them operators, who post, report, block,
    /// leave and come back.
    private static func talkDirectly(_ recorder: Recorder, _ known: [UserID], _ random: inout SeededRandom) throws {
        func execute(_ command: ChatCommand) throws {
            _ = try recorder.executeBlocking([CommandRequest(command, correlation: "secret")])
        }
        for count in [2, 2, 2, 3, 3, 4] {
            let people = Array(known.shuffled(using: &random).prefix(count))
            let opening = CommandRequest(
                .openDirect(with: Array(people.dropFirst()), by: people[0]), correlation: "secret")
            guard case .success(let opened)? = try recorder.executeBlocking([opening]).first,
                let thread = opened.events.first?.thread
            else {
                continue
            }
            var posts: [PostID] = []
            for person in people {
                let posted = CommandRequest(
                    .postMessage(thread: thread, body: "secret", mentions: [people[count - 1]], by: person),
                    correlation: "secret")
                guard case .success(let receipt)? = try recorder.executeBlocking([posted]).first,
                    let message = receipt.message
                else {
                    continue
                }
                posts.append(.message(message))
                let answer = CommandRequest(
                    .reply(to: message, body: "secret", by: people[0]), correlation: "secret")
                if case .success(let receipt)? = try recorder.executeBlocking([answer]).first, let reply = receipt.reply
                {
                    posts.append(.reply(reply))
                }
                try execute(.react(.message(message), emoji: "👍", by: people[0]))
            }
            for post in posts where random.oneIn(2) {
                try execute(.report(post, reason: "secret", by: people[1]))
                for user in known where random.oneIn(3) {
                    try execute(
                        random.oneIn(2) ? .resolveReport(post, by: user) : .remove(post, reason: "secret", by: user))
                }
                if random.oneIn(2) { try execute(.report(post, reason: "secret", by: people[0])) }
            }
            if random.oneIn(2) { try execute(.leaveThread(thread: thread, by: people[1])) }
            if random.oneIn(2) { try execute(.openDirect(with: people.filter { $0 != people[1] }, by: people[1])) }
            if random.oneIn(3) { try execute(.block(user: people[0], by: people[1])) }
            try execute(.postMessage(thread: thread, body: "secret", by: people[0]))
        }
    }

    /// Sets the policies of the named threads several times, with posts, joins and departures
    /// between.
    private static func changePolicies(
        _ recorder: Recorder, _ known: [UserID], _ facts: [ChatEvent], _ random: inout SeededRandom
    ) throws {
        let store = recorder.store
        func execute(_ command: ChatCommand) throws {
            _ = try recorder.executeBlocking([CommandRequest(command, correlation: "secret")])
        }
        for thread in Set(facts.compactMap(\.thread)).sorted() where thread.outwardCode == nil {
            let actor = try owner(of: thread, store) ?? known[0]
            for _ in 0..<3 {
                let policy: ThreadPolicy = random.oneIn(2) ? .inviteOnly : random.oneIn(2) ? .listed : .open
                if random.oneIn(2) {
                    try execute(.renameThread(thread: thread, name: "Named \(facts.count)", by: actor))
                }
                try execute(
                    .setThreadPolicy(
                        thread: thread, policy: policy, history: random.oneIn(3) ? .sinceJoining : nil, by: actor))
                guard
                    let member = try store.reader(as: .host).members(of: thread).randomElement(using: &random)?.user.id,
                    let newcomer = known.randomElement(using: &random)
                else { continue }
                try execute(.postMessage(thread: thread, body: "secret", by: member))
                try execute(.invite(user: newcomer, thread: thread, by: actor))
                try execute(.joinThread(thread: thread, by: newcomer))
                guard random.oneIn(2) else { continue }
                try execute(.leaveThread(thread: thread, by: member))
                try execute(.joinThread(thread: thread, by: member))
            }
            // A member moderates for one report, which stays open.
            if let owner = try owner(of: thread, store),
                let former = try store.reader(as: .host).members(of: thread).last(where: { $0.user.id != owner })?.user
                    .id,
                let post =
                    (try? recorder.executeBlocking(.postMessage(thread: thread, body: "secret", by: former)))?
                    .message
            {
                try execute(.setRole(user: former, thread: thread, role: .moderator, by: owner))
                try execute(.report(.message(post), reason: "secret", by: owner))
                try execute(.setRole(user: former, thread: thread, role: .member, by: owner))
                // Another one is answered, leaves, and comes back to a history since joining.
                let others = try store.reader(as: .host).members(of: thread).map(\.user.id).filter {
                    $0 != owner && $0 != former
                }
                if let back = others.last ?? (random.oneIn(2) ? former : nil),
                    let post =
                        (try? recorder.executeBlocking(.postMessage(thread: thread, body: "secret", by: back)))?
                        .message
                {
                    try execute(.reply(to: post, body: "secret", by: owner))
                    try execute(.setThreadPolicy(thread: thread, policy: .open, history: .sinceJoining, by: owner))
                    try execute(.leaveThread(thread: thread, by: back))
                    try execute(.joinThread(thread: thread, by: back))
                }
            }
            // Invitations that stand, one of them by a user whom the guest blocks.
            let members = Set(try store.reader(as: .host).members(of: thread).map(\.user.id))
            for (number, guest) in known.filter({ !members.contains($0) }).shuffled(using: &random).prefix(2)
                .enumerated()
            {
                try execute(.invite(user: guest, thread: thread, by: actor))
                try execute(number == 0 ? .unblock(user: actor, by: guest) : .block(user: actor, by: guest))
            }
        }
    }
}

/// The outcome of a query.
enum Outcome<Value: Equatable>: Equatable {
    case value(Value)
    case refused(Rejection.Code)
    case failed(String)

    init(_ body: () throws(ChatError) -> Value) {
        do throws(ChatError) {
            self = .value(try body())
        } catch {
            if case .rejected(let rejection) = error {
                self = .refused(rejection.code)
            } else {
                self = .failed("\(error)")
            }
        }
    }
}

/// Runs every query as every viewer, and compares each answer with the operator's answer restricted
/// by the tables.
struct VisibilityChecker {
    let world: VisibilityWorld
    private(set) var checks = 0
    private(set) var leaks: [Mismatch] = []
    private(set) var cells: Set<VisibilityProperties.Cell> = []
    /// The reasons of the entries of inboxes that were found.
    private(set) var reasons: Set<InboxReason> = []

    private var store: ChatStore { world.store }
    private var naive: NaiveVisibility { world.naive }
    private let end: Position
    private var turn = 0
    /// The events whose JSON has been read back: many viewers are shown the same.
    private var readBack: Set<RecordedEvent> = []

    init(_ world: VisibilityWorld) {
        self.world = world
        end = Position(world.naive.events.count)
    }

    mutating func checkEverything() throws {
        for viewer in world.users {
            try checkEvents(viewer)
            // The present, and by default one of the three other moments.
            for index in [0] + Repetitions.oneIn(3, of: world.moments.indices.dropFirst(), "\(viewer)") {
                let moment = world.moments[index]
                checkThreads(viewer, moment)
                checkPosts(viewer, moment)
                checkPeople(viewer, moment)
                checkPersons(viewer, moment)
                checkModeration(viewer, moment)
                checkInboxes(viewer, moment)
                // The others are leaks of the same cause as a rule.
                if !leaks.isEmpty { return }
            }
        }
    }

    private mutating func check<Value: Equatable>(
        _ name: String, _ viewer: UserID, _ moment: Position, _ expected: Outcome<Value>,
        _ body: () throws(ChatError) -> Value
    ) {
        checks += 1
        let found = Outcome(body)
        // `ShownNameProperties` compares the names, which are those that the host is shown here.
        func withoutNames(_ outcome: Outcome<Value>) -> String {
            "\(outcome)".replacing(/username: (nil|Optional\("[^"]*"\))/, with: "")
        }
        if found != expected, withoutNames(found) != withoutNames(expected) {
            leaks.append(Mismatch("\(name) for \(viewer) as of \(moment)", expected: "\(expected)", actual: "\(found)"))
        }
    }

    // MARK: Events

    private mutating func checkEvents(_ viewer: UserID) throws {
        let expected = naive.events.compactMap { naive.shown($0, to: viewer, current: end) }
        for recorded in naive.events {
            guard let kind = recorded.event.kind else { continue }
            cells.insert(.init(kind: kind, role: naive.role(of: viewer, to: recorded, current: end)))
        }
        var read: [RecordedEvent] = []
        try store.forEachEvent(matching: EventFilter(as: .user(viewer))) { event, _ in
            read.append(event)
        }
        checks += naive.events.count
        for (found, expected) in zip(read, expected) where found.withoutInbox != expected {
            leaks.append(Mismatch("an event for \(viewer)", expected: "\(expected)", actual: "\(found)"))
        }
        // Nothing that the viewer did or that a user did whom they block is in their inbox.
        for event in read where event.inbox != nil {
            if event.isFromBlockedUser || (event.event.otherActor ?? event.event.user) == viewer {
                leaks.append(Mismatch("the inbox of \(viewer)", expected: "no event of theirs", actual: "\(event)"))
            }
        }
        if read.count != expected.count {
            leaks.append(
                Mismatch(
                    "the positions that \(viewer) reads", expected: "\(expected.map(\.position))",
                    actual: "\(read.map(\.position))"))
        }
        // JSON must round-trip.
        for event in read where readBack.insert(event).inserted {
            var (event, again) = (
                event, try JSONDecoder().decode(RecordedEvent.self, from: try JSONEncoder().encode(event))
            )
            // Foundation preserves the values of a payload's numbers, not their digits.
            if event.kind == .custom, event.redacted == [], again.event.payload != nil {
                (event.event.content, again.event.content) = (.omitted, .omitted)
            }
            if again != event { leaks.append(Mismatch("the JSON read back", expected: "\(event)", actual: "\(again)")) }
        }
    }

    // MARK: Queries

    /// Returns the expected outcome of a query about a thread.
    ///
    /// The outcome is a rejection, or the operator's restricted answer.
    ///
    /// - Parameter unknown: The rejection if the thread, or the post in it, does not exist for the
    ///   viewer.
    private func expected<Value: Equatable>(
        _ thread: ThreadID?, unknown: Rejection.Code = .unknownThread, _ viewer: UserID, _ moment: Position,
        _ value: () throws(ChatError) -> Value
    ) -> Outcome<Value> {
        guard isRegistered(viewer, moment) else { return .refused(.unknownUser) }
        if let thread {
            guard naive.threads(at: moment).contains(thread) else { return .refused(unknown) }
            guard naive.mayRead(viewer, thread, at: moment, current: end) else {
                return .refused(naive.knows(viewer, thread, at: end) ? .notAMember : unknown)
            }
        }
        return Outcome(value)
    }

    private func isRegistered(_ user: UserID, _ moment: Position) -> Bool {
        naive.events.prefix(Int(moment)).contains {
            if case (.userRegistered, .user(let itsUser)) = ($0.event.kind, $0.event.shape) {
                itsUser == user
            } else {
                false
            }
        }
    }

    /// Returns the messages after the viewer's latest join, as the viewer is shown them.
    private func cut(_ messages: [Post], _ viewer: UserID, _ moment: Position) -> [Post] {
        messages.flatMap { message -> [Post] in
            guard let thread = message.thread, let start = naive.readingStart(viewer, thread, at: moment, current: end),
                message.position > start
            else { return [] }
            return shown([message], in: thread, viewer, moment)
        }
    }

    /// Returns posts as the viewer is shown them.
    private func shown(_ posts: [Post], in thread: ThreadID, _ viewer: UserID, _ moment: Position) -> [Post] {
        posts.map { post in
            var shown = post
            if !naive.showsText(of: post.id, by: post.author.id, in: thread, to: viewer, at: moment, current: end) {
                (shown.body, shown.mentions) = (nil, [])
            }
            shown.isFromBlockedUser = naive.isBlocked(post.author.id, by: viewer, at: end)
            shown.reactions = naive.reactions(to: post.id, at: moment).reactionCounts(of: post.id, viewer: viewer)
            return shown
        }
    }

    /// Counts messages on the 366 days up to that of a position.
    private func activity(_ posts: [Post], _ moment: Position) -> ThreadActivity {
        let last = CalendarDay(
            moment == 0 ? Timestamp(millisecondsSince1970: 0) : naive.events[Int(moment) - 1].recordedAt)
        let first = CalendarDay(daysSince1970: last.daysSince1970 - 365)
        let counted = posts.filter { (first...last).contains(CalendarDay($0.createdAt)) }
        let days = Dictionary(grouping: counted) { CalendarDay($0.createdAt) }
            .map { ThreadActivity.Day(day: $0.key, messages: $0.value.count) }
        return ThreadActivity(
            from: first, to: last, days: days.sorted { $0.day < $1.day }, people: Set(counted.map(\.author.id)).count)
    }

    /// Returns the thread with the messages after the viewer's latest join; nil if the viewer may
    /// not read it.
    private func cut(_ thread: ThreadSummary, _ viewer: UserID, _ moment: Position) -> ThreadSummary? {
        guard let start = naive.readingStart(viewer, thread.id, at: moment, current: end) else { return nil }
        var thread = thread
        thread.messageCount = naive.messageCount(of: thread.id, after: start, through: moment)
        return thread
    }

    /// Returns the expected outcome of a query for the moderators of a thread.
    private func expectedForModerators<Value: Equatable>(
        _ thread: ThreadID, _ viewer: UserID, _ moment: Position, _ value: () throws(ChatError) -> Value
    ) -> Outcome<Value> {
        let mayModerate = naive.moderates(viewer, thread, at: moment) && naive.moderates(viewer, thread, at: end)
        return expected(thread, viewer, moment) { () throws(ChatError) in
            if !mayModerate { throw .rejected(.notAModerator) }
            return try value()
        }
    }

    private mutating func checkThreads(_ viewer: UserID, _ moment: Position) {
        let (store, naive, end) = (store, naive, end)
        let asOf = AsOf.position(moment)
        let checker = self
        let shown = { (threads: [ThreadSummary]) in threads.compactMap { checker.cut($0, viewer, moment) } }
        let all = PageRequest.latest(.max)
        check(
            "threads", viewer, moment,
            expected(nil, viewer, moment) { () throws(ChatError) in
                shown(try store.reader(as: .host, asOf: asOf).threads(page: all).entries)
            }
        ) {
            () throws(ChatError) in try store.reader(as: .user(viewer), asOf: asOf).threads(page: all).entries
        }
        check(
            "pages of threads", viewer, moment,
            expected(nil, viewer, moment) { () throws(ChatError) in
                shown(try store.reader(as: .host, asOf: asOf).threads(page: all).entries)
            }
        ) { () throws(ChatError) in
            var page = try store.reader(as: .user(viewer), asOf: asOf).threads(page: .latest(2))
            var entries = page.entries
            while let older = page.older {
                page = try store.reader(as: .user(viewer), asOf: asOf).threads(page: older)
                entries = page.entries + entries
            }
            return entries
        }
        check(
            "directory", viewer, moment,
            expected(nil, viewer, moment) { () throws(ChatError) in
                try store.reader(as: .host, asOf: asOf).directory(page: all).entries.filter {
                    naive.isListed($0.id, to: viewer, at: moment) && naive.isListed($0.id, to: viewer, at: end)
                }
            }
        ) { () throws(ChatError) in try store.reader(as: .user(viewer), asOf: asOf).directory(page: all).entries }
        for thread in world.threads {
            let name = (try? store.reader(as: .host, asOf: asOf).thread(thread))?.name
            if let name {
                let named = Outcome { () throws(ChatError) in
                    try store.reader(as: .host, asOf: asOf).threadIDs(named: name).filter {
                        naive.mayRead(viewer, $0, at: moment, current: end)
                    }
                }
                check(
                    "threadIDs(named:)", viewer, moment, isRegistered(viewer, moment) ? named : .refused(.unknownUser)
                ) {
                    () throws(ChatError) in try store.reader(as: .user(viewer), asOf: asOf).threadIDs(named: name)
                }
            }
            check(
                "thread", viewer, moment,
                expected(thread, viewer, moment) { () throws(ChatError) in
                    cut(try store.reader(as: .host, asOf: asOf).thread(thread), viewer, moment)
                }
            ) {
                () throws(ChatError) in try store.reader(as: .user(viewer), asOf: asOf).thread(thread)
            }
            check(
                "members", viewer, moment,
                expected(thread, viewer, moment) { () throws(ChatError) in
                    try store.reader(as: .host, asOf: asOf).members(of: thread)
                }
            ) {
                () throws(ChatError) in try store.reader(as: .user(viewer), asOf: asOf).members(of: thread)
            }
            let timeline = expected(thread, viewer, moment) { () throws(ChatError) in
                cut(
                    try store.reader(as: .host, asOf: asOf).timeline(thread, page: .latest(.max)).entries,
                    viewer,
                    moment)
            }
            check("timeline", viewer, moment, timeline) { () throws(ChatError) in
                try store.reader(as: .user(viewer), asOf: asOf).timeline(thread, page: .latest(.max)).entries
            }
            let customEvents = expected(thread, viewer, moment) { () throws(ChatError) in
                let start = naive.readingStart(viewer, thread, at: moment, current: end) ?? end
                return try store.reader(as: .host, asOf: asOf).customEvents(in: thread).compactMap { event in
                    guard event.position > start,
                        event.by == viewer || naive.mayRead(viewer, thread, at: event.position, current: end)
                    else { return nil as CustomEvent? }
                    var event = event
                    event.isFromBlockedUser = naive.isBlocked(event.by, by: viewer, at: end)
                    return event
                }
            }
            check("custom events", viewer, moment, customEvents) { () throws(ChatError) in
                try store.reader(as: .user(viewer), asOf: asOf).customEvents(in: thread).entries
            }
            let activity = expected(thread, viewer, moment) { () throws(ChatError) in
                self.activity(
                    cut(
                        try store.reader(as: .host, asOf: asOf).timeline(thread, page: .latest(.max))
                            .entries,
                        viewer, moment), moment)
            }
            check("activity", viewer, moment, activity) { () throws(ChatError) in
                try store.reader(as: .user(viewer), asOf: asOf).activity(in: thread, days: 366)
            }
            check("pages of a timeline", viewer, moment, timeline) { () throws(ChatError) in
                var page = try store.reader(as: .user(viewer), asOf: asOf).timeline(thread, page: .latest(7))
                var entries = page.entries
                while let older = page.older {
                    page = try store.reader(as: .user(viewer), asOf: asOf).timeline(thread, page: older)
                    entries = page.entries + entries
                }
                return entries
            }
            if let code = thread.outwardCode {
                let residents = Outcome { () throws(ChatError) in
                    try store.reader(as: .host, asOf: asOf).residents(of: code).map { resident in
                        var resident = resident
                        if resident.user.id != viewer { resident.postcode = nil }
                        return resident
                    }
                }
                let mayRead = naive.mayRead(viewer, thread, at: moment, current: end)
                check(
                    "residents", viewer, moment,
                    isRegistered(viewer, moment) ? mayRead ? residents : .refused(.notAMember) : .refused(.unknownUser)
                ) { () throws(ChatError) in try store.reader(as: .user(viewer), asOf: asOf).residents(of: code).entries
                }
            }
        }
    }

    /// Returns the expected outcome of a viewer's query for their own standing in a thread.
    private func expectedStanding(_ thread: ThreadID, _ viewer: UserID, _ moment: Position) -> Outcome<ThreadStanding> {
        guard isRegistered(viewer, moment) else { return .refused(.unknownUser) }
        guard naive.threads(at: moment).contains(thread) else { return .refused(.unknownThread) }
        if let standing = naive.standing(of: viewer, in: thread, at: moment) { return .value(standing) }
        return naive.knows(viewer, thread, at: end) ? .value(ThreadStanding()) : .refused(.unknownThread)
    }

    private mutating func checkModeration(_ viewer: UserID, _ moment: Position) {
        let (store, naive, end) = (store, naive, end)
        let asOf = AsOf.position(moment)
        for thread in world.threads {
            check(
                "roles", viewer, moment,
                expected(thread, viewer, moment) { () throws(ChatError) in
                    try store.reader(as: .host, asOf: asOf).roles(in: thread)
                }
            ) {
                () throws(ChatError) in try store.reader(as: .user(viewer), asOf: asOf).roles(in: thread)
            }
            check(
                "pins", viewer, moment,
                expected(thread, viewer, moment) { () throws(ChatError) in
                    cut(try store.reader(as: .host, asOf: asOf).pins(in: thread), viewer, moment)
                }
            ) {
                () throws(ChatError) in try store.reader(as: .user(viewer), asOf: asOf).pins(in: thread)
            }
            check(
                "sanctions", viewer, moment,
                expectedForModerators(thread, viewer, moment) { () throws(ChatError) in
                    try store.reader(as: .host, asOf: asOf).sanctions(in: thread)
                }
            ) {
                () throws(ChatError) in try store.reader(as: .user(viewer), asOf: asOf).sanctions(in: thread)
            }
            check(
                "invitations(to:)", viewer, moment,
                expectedForModerators(thread, viewer, moment) { () throws(ChatError) in
                    var page = try store.reader(as: .host, asOf: asOf).invitations(to: thread)
                    // A moderator sees whether they block the user who invited.
                    for index in page.indices {
                        page.entries[index].isFromBlockedUser = naive.isBlocked(page[index].by.id, by: viewer, at: end)
                    }
                    return page
                }
            ) {
                () throws(ChatError) in try store.reader(as: .user(viewer), asOf: asOf).invitations(to: thread)
            }
            let decides =
                naive.decidesReports(viewer, in: thread, at: moment)
                && naive.decidesReports(viewer, in: thread, at: end)
            let shownReports = { () throws(ChatError) in
                try store.reader(as: .host, asOf: asOf).reports(in: thread).compactMap { report -> PostReport? in
                    let message: MessageID? =
                        switch report.post {
                        case .message(let id): id
                        case .reply(let id): store.messageID(answeredBy: id, as: .host)
                        }
                    let start = decides ? 0 : naive.readingStart(viewer, thread, at: moment, current: end) ?? end
                    guard let posted = message.flatMap(naive.postingPosition), posted > start else { return nil }
                    var report = report
                    // Moderators are shown the current text.
                    let text = naive.textPosition(of: report.post, at: end, includesRemoved: true)
                    report.body = text.flatMap { naive.events[Int($0) - 1].event.body }
                    return report
                }
            }
            let reports =
                decides && isRegistered(viewer, moment)
                ? Outcome(shownReports) : expectedForModerators(thread, viewer, moment, shownReports)
            check("reports", viewer, moment, reports) { () throws(ChatError) in
                try store.reader(as: .user(viewer), asOf: asOf).reports(in: thread).entries
            }
            check("standing", viewer, moment, expectedStanding(thread, viewer, moment)) { () throws(ChatError) in
                try store.reader(as: .user(viewer), asOf: asOf).standing(of: viewer, in: thread)
            }
            if let other = world.users.first(where: { $0 != viewer }) {
                check("standing of another user", viewer, moment, .refused(.notAllowed)) { () throws(ChatError) in
                    try store.reader(as: .user(viewer), asOf: asOf).standing(of: other, in: thread)
                }
            }
        }
        let operators = expected(nil, viewer, moment) { () throws(ChatError) in
            if !naive.isOperator(viewer, at: moment) || !naive.isOperator(viewer, at: end) {
                throw .rejected(.notAllowed)
            }
            return try store.reader(as: .host, asOf: asOf).operators()
        }
        check("operators", viewer, moment, operators) { () throws(ChatError) in
            try store.reader(as: .user(viewer), asOf: asOf).operators()
        }
        for user in world.users {
            let invitations = Outcome { () throws(ChatError) in
                if user != viewer { throw .rejected(.notAllowed) }
                return try store.reader(as: .host, asOf: asOf).invitations(of: user).map { invitation in
                    // The host's answer has no marks of blocked users.
                    var invitation = invitation
                    invitation.isFromBlockedUser = naive.isBlocked(invitation.by.id, by: viewer, at: end)
                    return invitation
                }
            }
            let blocks = Outcome { () throws(ChatError) in
                if user != viewer { throw .rejected(.notAllowed) }
                if !isRegistered(user, moment) { throw .rejected(.unknownUser) }
                return Set(world.users.filter { naive.isBlocked($0, by: user, at: moment) })
            }
            check("blocks", viewer, moment, blocks) { () throws(ChatError) in
                Set(try store.reader(as: .user(viewer), asOf: asOf).blocks(by: user).map(\.user))
            }
            check("invitations(of:)", viewer, moment, invitations) { () throws(ChatError) in
                try store.reader(as: .user(viewer), asOf: asOf).invitations(of: user).entries
            }
        }
    }

    /// Only the user and the host see an inbox, and both see the same.
    ///
    /// ``NaiveVisibility`` says which entries the user may have.
    private mutating func checkInboxes(_ viewer: UserID, _ moment: Position) {
        let (store, naive, end) = (store, naive, end)
        let (asOf, all) = (AsOf.position(moment), PageRequest.latest(.max))
        for user in world.users {
            let inbox = Outcome { () throws(ChatError) in
                if user != viewer { throw .rejected(.notAllowed) }
                return try store.reader(as: .host, asOf: asOf).inbox(of: user, page: all).entries
            }
            check("inbox", viewer, moment, inbox) { () throws(ChatError) in
                try store.reader(as: .user(viewer), asOf: asOf).inbox(of: user, page: all).entries
            }
            let count = Outcome { () throws(ChatError) in
                if user != viewer { throw .rejected(.notAllowed) }
                return InboxCount(
                    count: try store.reader(as: .host, asOf: asOf).inbox(of: user, page: all).entries.count {
                        $0.isUnread
                    })
            }
            check("unreadInboxCount", viewer, moment, count) { () throws(ChatError) in
                try store.reader(as: .user(viewer), asOf: asOf).unreadInboxCount(of: user)
            }
            guard user == viewer, case .value(let entries) = inbox else { continue }
            check("pages of an inbox", viewer, moment, inbox) { () throws(ChatError) in
                var page = try store.reader(as: .user(viewer), asOf: asOf).inbox(of: user, page: .latest(3))
                var entries = page.entries
                while let older = page.older {
                    page = try store.reader(as: .user(viewer), asOf: asOf).inbox(of: user, page: older)
                    entries += page.entries
                }
                return entries
            }
            for entry in entries {
                checks += 1
                reasons.insert(entry.reason)
                if !naive.mayHave(entry, in: viewer, at: moment, current: end) {
                    leaks.append(
                        Mismatch("the inbox of \(viewer) as of \(moment)", expected: "no entry", actual: "\(entry)"))
                }
            }
        }
    }

    private mutating func checkPosts(_ viewer: UserID, _ moment: Position) {
        let (store, naive, end) = (store, naive, end)
        let asOf = AsOf.position(moment)
        // Each viewer checks a fifth of the posts per position, in turns that cover all posts.
        turn += 1
        for (number, message) in world.messages.enumerated() where (number + turn).isMultiple(of: 5) {
            let entry = try? store.reader(as: .host, asOf: asOf).message(message)
            guard let entry, let thread = entry.thread else {
                let code: Rejection.Code = isRegistered(viewer, moment) ? .unknownMessage : .unknownUser
                check("message", viewer, moment, .refused(code)) { () throws(ChatError) in
                    try store.reader(as: .user(viewer), asOf: asOf).message(message)
                }
                continue
            }
            let isAlone = decides(.message(message), in: thread, viewer, moment)
            check(
                "message", viewer, moment,
                isAlone
                    ? .value(alone(entry, in: thread, viewer, moment))
                    : expected(thread, unknown: .unknownMessage, viewer, moment) { () throws(ChatError) in
                        guard let entry = cut([entry], viewer, moment).first else { throw .rejected(.unknownMessage) }
                        return entry
                    }
            ) {
                () throws(ChatError) in try store.reader(as: .user(viewer), asOf: asOf).message(message)
            }
            let replies = expected(thread, unknown: .unknownMessage, viewer, moment) { () throws(ChatError) in
                if cut([entry], viewer, moment).isEmpty { throw .rejected(.unknownMessage) }
                return shown(
                    try store.reader(as: .host, asOf: asOf).replies(to: message, page: .latest(.max))
                        .entries,
                    in: thread, viewer,
                    moment)
            }
            check("replies", viewer, moment, replies) { () throws(ChatError) in
                try store.reader(as: .user(viewer), asOf: asOf).replies(to: message, page: .latest(.max))
                    .entries
            }
            check("pages of replies", viewer, moment, replies) { () throws(ChatError) in
                var page = try store.reader(as: .user(viewer), asOf: asOf).replies(
                    to: message, page: .latest(2))
                var entries = page.entries
                while let older = page.older {
                    page = try store.reader(as: .user(viewer), asOf: asOf).replies(to: message, page: older)
                    entries = page.entries + entries
                }
                return entries
            }
            checkDetails(.message(message), of: message, in: thread, viewer, moment)
        }
        for (number, reply) in world.replies.enumerated() where (number + turn).isMultiple(of: 5) {
            guard let message = store.messageID(answeredBy: reply, as: .host),
                let thread = try? store.reader(as: .host).message(message).thread
            else { continue }
            let start = naive.readingStart(viewer, thread, at: end, current: end)
            let mayRead = start.map { naive.postingPosition(of: message) ?? 0 > $0 } ?? false
            check("messageID(answeredBy:)", viewer, end, .value(mayRead ? message : nil)) { () throws(ChatError) in
                store.messageID(answeredBy: reply, as: .user(viewer))
            }
            let entry = try? store.reader(as: .host, asOf: asOf).reply(reply)
            let root = try? store.reader(as: .host, asOf: asOf).message(message)
            let expectedReply: Outcome<Post> =
                if let entry, decides(.reply(reply), in: thread, viewer, moment) {
                    .value(alone(entry, in: thread, viewer, moment))
                } else if let entry, let root {
                    expected(thread, unknown: .unknownReply, viewer, moment) { () throws(ChatError) in
                        if cut([root], viewer, moment).isEmpty { throw .rejected(.unknownReply) }
                        return shown([entry], in: thread, viewer, moment)[0]
                    }
                } else { .refused(isRegistered(viewer, moment) ? .unknownReply : .unknownUser) }
            check("reply", viewer, moment, expectedReply) { () throws(ChatError) in
                try store.reader(as: .user(viewer), asOf: asOf).reply(reply)
            }
            checkDetails(.reply(reply), of: message, in: thread, viewer, moment)
        }
    }

    /// Whether a viewer is shown a post of a direct thread alone, because they decide its reports.
    private func decides(_ post: PostID, in thread: ThreadID, _ viewer: UserID, _ moment: Position) -> Bool {
        isRegistered(viewer, moment) && naive.decidesReports(viewer, of: post, in: thread, at: moment)
            && naive.decidesReports(viewer, of: post, in: thread, at: end)
    }

    /// Returns a post without what others said to it, as the viewer is shown it.
    private func alone(_ post: Post, in thread: ThreadID, _ viewer: UserID, _ moment: Position) -> Post {
        var shown = shown([post], in: thread, viewer, moment)[0]
        (shown.replyCount, shown.reactions) = (0, [])
        return shown
    }

    private mutating func checkDetails(
        _ post: PostID, of message: MessageID, in thread: ThreadID, _ viewer: UserID, _ moment: Position
    ) {
        let (store, naive, end) = (store, naive, end)
        let asOf = AsOf.position(moment)
        if case .refused(let code) = Outcome({ () throws(ChatError) in
            try store.reader(as: .host, asOf: asOf).details(of: post)
        }) {
            check("details", viewer, moment, .refused(isRegistered(viewer, moment) ? code : .unknownUser)) {
                () throws(ChatError) in
                try store.reader(as: .user(viewer), asOf: asOf).details(of: post)
            }
            return
        }
        let unknown: Rejection.Code = if case .message = post { .unknownMessage } else { .unknownReply }
        let expected = expected(thread, unknown: unknown, viewer, moment) { () throws(ChatError) in
            let start = naive.readingStart(viewer, thread, at: moment, current: end) ?? end
            guard let posted = naive.postingPosition(of: message), posted > start else {
                throw .rejected(unknown == .unknownMessage ? .unknownMessage : .unknownReply)
            }
            var details = try store.reader(as: .host, asOf: asOf).details(of: post, edits: .max)
            details.readers = nil
            details.history = details.history.compactMap { naive.shown($0, to: viewer, current: end) }
            let author = details.post.author.id
            if !naive.showsText(of: post, by: author, in: thread, to: viewer, at: moment, current: end) {
                (details.post.body, details.post.mentions) = (nil, [])
            }
            details.post.isFromBlockedUser = naive.isBlocked(author, by: viewer, at: end)
            details.post.reactions = naive.reactions(to: post, at: moment).reactionCounts(of: post, viewer: viewer)
            return details
        }
        checkReactions(post, of: message, in: thread, unknown, viewer, moment)
        check("details", viewer, moment, expected) { () throws(ChatError) in
            var details = try store.reader(as: .user(viewer), asOf: asOf).details(of: post, edits: .max)
            details.history = details.history.map(\.withoutInbox)
            return details
        }
    }

    /// Whoever may read a post sees the users of its reactions.
    private mutating func checkReactions(
        _ post: PostID, of message: MessageID, in thread: ThreadID, _ unknown: Rejection.Code, _ viewer: UserID,
        _ moment: Position
    ) {
        let (store, naive, end) = (store, naive, end)
        let (asOf, all) = (AsOf.position(moment), PageRequest.latest(.max))
        let reactions = expected(thread, unknown: unknown, viewer, moment) { () throws(ChatError) in
            let start = naive.readingStart(viewer, thread, at: moment, current: end) ?? end
            guard let posted = naive.postingPosition(of: message), posted > start else {
                throw .rejected(unknown == .unknownMessage ? .unknownMessage : .unknownReply)
            }
            let entries = try store.reader(as: .host, asOf: asOf).reactions(to: post, page: all).entries.map {
                reaction in
                var reaction = reaction
                reaction.isFromBlockedUser = naive.isBlocked(reaction.user.id, by: viewer, at: end)
                return reaction
            }
            let found = entries.map { NaiveViews.Reaction(position: $0.position, user: $0.user.id, emoji: $0.emoji) }
            return found == naive.reactions(to: post, at: moment).reactions(to: post) ? entries : []
        }
        check("reactions", viewer, moment, reactions) { () throws(ChatError) in
            try store.reader(as: .user(viewer), asOf: asOf).reactions(to: post, page: all).entries
        }
    }

    /// The people of a viewer, and what they are shown of each user.
    private mutating func checkPersons(_ viewer: UserID, _ moment: Position) {
        let (store, naive, end, users) = (store, naive, end, world.users)
        let (asOf, all) = (AsOf.position(moment), PageRequest.latest(.max))
        for prefix in ["", "R", "renamed \(viewer.bits % 10)", "U"] {
            let people = expected(nil, viewer, moment) { () throws(ChatError) in
                var people: [PersonSummary] = []
                for user in users where user != viewer {
                    guard let since = naive.commonThreads(viewer, user, at: moment, current: end).first?.since,
                        let name = try store.reader(as: .host, asOf: asOf).user(user, threads: .latest(0))
                            .username,
                        Username.foldKey(name).utf8.starts(with: Username.foldKey(prefix).utf8)
                    else { continue }
                    people.append(PersonSummary(id: user, username: name, since: since))
                }
                return people.sorted { $0.since < $1.since }
            }
            check("people", viewer, moment, people) { () throws(ChatError) in
                try store.reader(as: .user(viewer), asOf: asOf).people(named: prefix, page: all).entries
            }
        }
        for user in users {
            let common = naive.commonThreads(viewer, user, at: moment, current: end)
            let person = expected(nil, viewer, moment) { () throws(ChatError) in
                if user != viewer, common.isEmpty { throw .rejected(.unknownUser) }
                var person = try store.reader(as: .host, asOf: asOf).person(user, threads: all)
                if user != viewer, naive.aboutPosition(of: user, at: moment) != naive.aboutPosition(of: user, at: end) {
                    person.about = nil
                }
                person.threads.entries = person.threads.filter { thread in common.contains { $0.thread == thread.id } }
                return person
            }
            check("person", viewer, moment, person) { () throws(ChatError) in
                var shown = try store.reader(as: .user(viewer), asOf: asOf).person(user, threads: all)
                // The threads are those of the whole list; the bounds of pages have tests of their
                // own.
                if case .value(let person) = person {
                    (shown.threads.older, shown.threads.newer) = (person.threads.older, person.threads.newer)
                }
                return shown
            }
        }
    }

    private mutating func checkPeople(_ viewer: UserID, _ moment: Position) {
        let (store, naive, end) = (store, naive, end)
        let asOf = AsOf.position(moment)
        for user in world.users {
            if user != viewer {
                check("user", viewer, moment, .refused(.notAllowed)) { () throws(ChatError) in
                    try store.reader(as: .user(viewer), asOf: asOf).user(user)
                }
                check("access", viewer, moment, .refused(.notAllowed)) { () throws(ChatError) in
                    try store.reader(as: .user(viewer), asOf: asOf).access(of: user)
                }
                continue
            }
            let view = expected(nil, viewer, moment) { () throws(ChatError) in
                var view = try store.reader(as: .host, asOf: asOf).user(user)
                view.threads = view.threads.compactMap { thread in
                    guard let start = naive.readingStart(viewer, thread.id, at: moment, current: end) else {
                        return nil
                    }
                    var thread = thread
                    thread.lastMessage = thread.lastMessage.flatMap { cut([$0], viewer, moment).first }
                    // No message before a later join is shown, or counted.
                    if start > moment { (thread.unreadCount, thread.firstUnread) = (0, nil) }
                    return thread
                }
                return view
            }
            check("user", viewer, moment, view) { () throws(ChatError) in
                try store.reader(as: .user(viewer), asOf: asOf).user(user)
            }
            check(
                "access", viewer, moment,
                expected(nil, viewer, moment) { () throws(ChatError) in
                    try store.reader(as: .host, asOf: asOf).access(of: user)
                }
            ) {
                () throws(ChatError) in try store.reader(as: .user(viewer), asOf: asOf).access(of: user)
            }
        }
    }
}
