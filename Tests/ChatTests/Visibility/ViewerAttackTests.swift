import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import Projections
import TestSupport
import Testing

@testable import Chat

/// Attempts to read what `WhoIsShownWhat.md` hides.
///
/// Covers histories that no command decided, and changes during reads.
@Suite(.timeLimit(.minutes(30))) struct ViewerAttackTests {
    private typealias Fixture = FollowingFixture

    // MARK: Undecided histories

    /// Searches all answers to a viewer for hidden content.
    ///
    /// Each text, name, postcode and correlation id contains the position of its event.
    ///
    /// `CHATJOURNAL_VISIBILITY_HISTORIES` sets the number of histories, 3 by default.
    @Test func answersOnUndecidedHistoryHideContent() throws {
        let count =
            ProcessInfo.processInfo.environment["CHATJOURNAL_VISIBILITY_HISTORIES"].flatMap { Int($0) }
            ?? Repetitions.few(1, of: 3)
        let step = Repetitions.areAll ? 6 : 24
        var found = 0
        for seed in Seeds.seeds(count) {
            let world = try UndecidedWorld(seed: seed)
            let store = try world.fixture.open()
            for viewer in world.users {
                let answers = world.answers(
                    of: store, to: viewer, asOf: Array(stride(from: world.end, through: 0, by: -step)))
                var leaks: Set<String> = []
                for answer in answers {
                    for canary in answer.matches(of: UndecidedWorld.canary) {
                        found += 1
                        if !world.maySee(canary.1, Position(canary.2) ?? 0, viewer) {
                            leaks.insert("\(canary.0) in \(answer.prefix(80))")
                        }
                    }
                }
                #expect(leaks.sorted().prefix(3) == [], "seed \(seed), viewer \(viewer)")
                if !leaks.isEmpty { return }
            }
        }
        // Without any match the search would prove nothing.
        #expect(found > 300 * count)
    }

    /// Covers a replay, a checkpoint and a read-only store.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 3))) func answersAreTheSameAfterReplayAndCheckpoint(
        seed: UInt64
    ) throws {
        let world = try UndecidedWorld(seed: seed, hasUnknownEvents: false)
        let moments = [world.end, world.end / 2]
        func answers(of store: ChatStore) -> [[String]] {
            world.users.map { world.answers(of: store, to: $0, asOf: moments) }
        }
        let replayed = try world.fixture.open()
        let expected = answers(of: replayed)
        #expect(try replayed.writeCheckpoint() == world.end)
        try replayed.close()
        let reader = try ChatStore.openReadOnly(world.fixture.directory, options: world.fixture.options)
        #expect(answers(of: reader) == expected)
        let reopened = try world.fixture.open()
        #expect(reopened.statistics.checkpoints?.loadedPosition == world.end)
        #expect(answers(of: reopened) == expected)
    }

    /// A forged event can pin or report a post of another thread.
    @Test func pinsAndReportsOfAnotherThreadAreHidden() throws {
        let (secret, answer) = (MessageID(bits: 41), ReplyID(bits: 42))
        let fixture = StoreFixture()
        let history: [(EventDetails, EventContent, String?)] = [
            user(ann, "Ann"), user(bob, "Bob"),
            (.init(.threadOpened, .thread(garden, number: 1, user: ann)), .threadName("Garden"), nil),
            (.init(.threadJoined, .thread(garden, number: 2, user: ann)), .none, nil),
            (.init(.threadOpened, .thread(cellar, number: 1, user: bob)), .threadName("Cellar"), nil),
            (.init(.threadJoined, .thread(cellar, number: 2, user: bob)), .none, nil),
            (
                .init(.messagePosted, .message(thread: cellar, number: 3, message: secret, by: bob)), .body("Secret"),
                nil
            ),
            (
                .init(.replyPosted, .reply(thread: cellar, number: 4, message: secret, reply: answer, by: bob)),
                .body("Secret"), nil
            ),
            (.init(.messagePinned, .message(thread: garden, number: 3, message: secret, by: ann)), .none, nil),
            (.init(.messageReported, .messageReport(thread: garden, message: secret, by: ann)), .reason("Spam"), nil),
            (
                .init(.replyReported, .replyReport(thread: garden, message: secret, reply: answer, by: ann)),
                .reason("Spam"), nil
            ),
        ]
        try fixture.write(history)
        let store = try fixture.open()
        #expect(try store.reader(as: .user(ann)).pins(in: garden) == [])
        #expect(try store.reader(as: .user(ann)).reports(in: garden).isEmpty)
    }

    // MARK: Receipts

    private let ann = UserID(bits: 1)
    private let bob = UserID(bits: 2)
    private let garden = ThreadID(bits: 31)
    private let cellar = ThreadID(bits: 32)

    private func user(_ id: UserID, _ name: String) -> (EventDetails, EventContent, String?) {
        (
            .init(.userRegistered, .user(id)),
            .registration(Username(text: name, foldKey: name.lowercased()), subject: nil), nil
        )
    }

    @Test func receiptOfOpeningHoldsItsOwnEventsOnly() throws {
        let secret = EventShape.message(thread: cellar, number: 7, message: MessageID(bits: 41), by: bob)
        let fixture = StoreFixture()
        try fixture.write([
            user(ann, "Ann"), user(bob, "Bob"),
            (.init(.threadOpened, .thread(garden, number: 1, user: ann)), .threadName("Garden"), nil),
            (.init(.messagePosted, secret), .body("Secret"), nil),
        ])
        let receipt = try fixture.open().executeBlocking(.openThread(id: garden, name: "Garden", by: ann))
        #expect(receipt.isDuplicate && receipt.thread == garden)
        #expect(receipt.events.map(\.event.details) == [.init(.threadOpened, .thread(garden, number: 1, user: ann))])
    }

    @Test func openingAtEndOfJournalIsDuplicate() throws {
        let fixture = StoreFixture()
        try fixture.write([
            user(ann, "Ann"), (.init(.threadOpened, .thread(garden, number: 1, user: ann)), .threadName("Garden"), nil),
        ])
        let store = try fixture.open()
        let receipt = try store.executeBlocking(.openThread(id: garden, name: "Garden", by: ann))
        #expect(receipt.isDuplicate && receipt.positions == 2...2)
        // The next event of the same batch does not belong to the opening either.
        let answers = try store.executeBlocking([
            CommandRequest(.registerUser(id: bob, username: "Bob"), correlation: "of Bob"),
            CommandRequest(.openThread(id: garden, name: "Garden", by: ann)),
        ])
        #expect(try answers.last?.get().positions == 2...2)
    }

    // MARK: Followers

    /// Visibility applies at the time of delivery, also to events that were read earlier.
    @Test(arguments: [BufferingPolicy.paced, .bounded(1_000)])
    func slowConsumerIsNotShownRetractedText(bufferingPolicy: BufferingPolicy) async throws {
        let fixture = try Fixture()
        let messages = (0..<4).map { MessageID(bits: 100 + UInt128($0)) }
        for message in messages {
            try await fixture.store.execute(
                .postMessage(id: message, thread: Fixture.garden, body: "Text", by: Fixture.ann))
        }
        let filter = EventFilter(as: .user(Fixture.bob), kinds: [.messagePosted])
        let token = try fixture.store.resumeToken(after: 6)
        let sequences = [
            fixture.store.events(after: 6, matching: filter, bufferingPolicy: bufferingPolicy),
            fixture.store.events(after: token, matching: filter, bufferingPolicy: bufferingPolicy),
        ]
        for (number, events) in sequences.enumerated() {
            var iterator = events.makeAsyncIterator()
            #expect(try await iterator.next()?.event.kind == .messagePosted)
            // The other events are already in the iterator's batch.
            try await fixture.store.execute(.retract(.message(messages[1 + number]), by: Fixture.ann))
            try await fixture.store.execute(.edit(.message(messages[3]), body: "Other text", by: Fixture.ann))
            let rest = [try await iterator.next(), try await iterator.next(), try await iterator.next()].compactMap {
                $0
            }
            #expect(rest.map(\.event.body) == [nil, number == 0 ? "Text" : nil, nil])
            #expect(rest.map(\.redacted) == [.body, number == 0 ? [] : .body, .body])
        }
    }

    @Test func leavingStopsDeliveryWithinBatch() async throws {
        let fixture = try Fixture()
        for _ in 0..<4 { try fixture.post("Text") }
        let filter = EventFilter(as: .user(Fixture.bob))
        var iterator = fixture.store.events(after: 6, matching: filter).makeAsyncIterator()
        #expect(try await iterator.next()?.position == 7)
        try await fixture.store.execute(.leaveThread(thread: Fixture.garden, by: Fixture.bob))
        #expect(try await iterator.next()?.position == 11)
    }

    // MARK: Live views

    /// An event about a message whose posting is lost must not end the view.
    @Test @MainActor func liveTimelineSkipsUnknownMessage() throws {
        let fixture = try Fixture()
        let source = TimelineSource(thread: Fixture.garden, viewer: .user(Fixture.bob), limit: 10)
        let facts: [EventDetails] = [
            .init(
                .messageRetracted,
                .message(thread: Fixture.garden, number: 9, message: MessageID(bits: 77), by: Fixture.ann)),
            .init(
                .replyPosted,
                .reply(
                    thread: Fixture.garden, number: 9, message: MessageID(bits: 77), reply: ReplyID(bits: 78),
                    by: Fixture.ann)),
        ]
        for details in facts {
            let event = RecordedEvent(
                position: 7, event: ChatEvent(recordedAt: Timestamp(millisecondsSince1970: 1), details: details))
            guard case .none = try source.effect(of: event, in: fixture.store) else {
                return _ = Issue.record("\(details)")
            }
        }
    }

    // MARK: Details

    @Test func historyIsOldestFirstWithEditAfterRetraction() throws {
        let fixture = StoreFixture()
        let message = MessageID(bits: 41)
        let change = EventShape.message(thread: garden, number: 5, message: message, by: ann)
        try fixture.write([
            user(ann, "Ann"), (.init(.threadOpened, .thread(garden, number: 1, user: ann)), .threadName("Garden"), nil),
            (.init(.threadJoined, .thread(garden, number: 2, user: ann)), .none, nil),
            (.init(.messagePosted, .message(thread: garden, number: 3, message: message, by: ann)), .body("One"), nil),
            (.init(.messageRetracted, change), .none, nil), (.init(.messageEdited, change), .body("Two"), nil),
        ])
        #expect(
            try fixture.open().reader(as: .host).details(of: .message(message)).history.map(\.position) == [4, 5, 6])
    }
}

extension StoreFixture {
    /// Writes any events as one commit of a new journal.
    fileprivate func write(_ events: [(EventDetails, EventContent, String?)]) throws {
        let journal = try Journal.open(directory, options: options.journal)
        var draft = CommitDraft()
        var encoder = EventEncoder()
        for (index, (details, content, correlation)) in events.enumerated() {
            let time = Timestamp(millisecondsSince1970: 1 + Int64(index))
            encoder.encode(ChatEvent(recordedAt: time, details: details, content: content, correlation: correlation))
            // `bytes` is unsafe for elements with padding; bytes have none.
            unsafe try draft.append(kept: encoder.kept.span.bytes, erasable: encoder.erasable.span.bytes)
        }
        try journal.reserve(draft.encodedByteCount)
        try journal.waitUntilDurable(try journal.append(draft, expecting: 0).upperBound)
        try journal.close()
    }
}

/// A journal of events that no command decided.
///
/// The events refer to entities that are unknown, retracted, or of another kind or thread.
private struct UndecidedWorld {
    static var canary: Regex<(Substring, Substring, Substring)> {
        /(body|thread|device|subject|correlation|postcode|name|reason|payload|about)-(\d+)\./
    }

    let fixture: StoreFixture
    let facts: [ChatEvent]
    let users = (1...4).map { UserID(bits: $0) }
    let threads: [ThreadID]
    let messages = (1...5).map { MessageID(bits: $0 + 40) }
    let replies = (1...5).map { ReplyID(bits: $0 + 50) }
    var end: Position { Position(facts.count) }

    init(seed: UInt64, hasUnknownEvents: Bool = true) throws {
        fixture = StoreFixture(seed: seed)
        var random = SeededRandom(seed: seed)
        let sw1a = ThreadID(try #require(OutwardCode("SW1A")))
        threads = [ThreadID(bits: 31), ThreadID(bits: 32), sw1a]
        var facts: [EventDetails] = []
        var events: [(EventDetails, EventContent, String?)] = []
        for position in 1...75 {
            func one<Value>(_ values: [Value]) -> Value { values[Int.random(in: values.indices, using: &random)] }
            let (user, thread, message, reply) = (one(users), one(threads), one(messages), one(replies))
            let number = UInt64.random(in: 0...9, using: &random)
            let changed = EventShape.message(thread: thread, number: number, message: message, by: user)
            let replyChanged = EventShape.reply(
                thread: thread, number: number, message: message, reply: reply, by: user)
            let username = Username(text: "name-\(position).", foldKey: "name-\(position).")
            let (details, content): (EventDetails, EventContent)
            // The first four events register the users; some of them are lost.
            let other = one(users)
            let member = EventShape.member(thread: thread, number: number, user: other, by: user)
            let sanction = EventShape.sanction(thread: thread, number: number, user: other, by: user)
            switch position <= 4 ? 0 : Int.random(in: 1...63, using: &random) {
            case 0:
                (details, content) =
                    random.oneIn(8)
                    ? (.init(.lost), .none)
                    : (
                        .init(.userRegistered, .user(users[position - 1])),
                        .registration(username, subject: "subject-\(position).")
                    )
            case 1: (details, content) = (.init(.usernameChanged, .user(user)), .username(username))
            case 2, 3:
                let postcode = try #require(
                    Postcode("SW1A \(position % 10)\(["AA", "AB", "AD", "AE", "AF", "AG", "AH", "AJ"][position / 10])"))
                (details, content) = (.init(.postcodeSet, .postcode(user: user, thread: thread)), .postcode(postcode))
            case 4, 5:
                (details, content) = (
                    .init(.threadOpened, .thread(thread, number: number, user: user)),
                    thread.outwardCode == nil ? .threadName("thread-\(position).") : .none
                )
            case 6...13: (details, content) = (.init(.threadJoined, .thread(thread, number: number, user: user)), .none)
            case 14...16: (details, content) = (.init(.threadLeft, .thread(thread, number: number, user: user)), .none)
            case 17...22:
                (details, content) = (
                    .init(.messagePosted, .message(thread: thread, number: number, message: message, by: user)),
                    .body("body-\(position).")
                )
            case 23...26:
                (details, content) = (
                    .init(
                        .replyPosted, .reply(thread: thread, number: number, message: message, reply: reply, by: user)),
                    .body("body-\(position).")
                )
            case 27...29: (details, content) = (.init(.messageEdited, changed), .body("body-\(position)."))
            case 30, 31: (details, content) = (.init(.replyEdited, replyChanged), .body("body-\(position)."))
            case 32: (details, content) = (.init(.messageRetracted, changed), .none)
            case 33: (details, content) = (.init(.replyRetracted, replyChanged), .none)
            case 34: (details, content) = (.init(.threadRead, .marker(user: user, thread: thread, upTo: number)), .none)
            case 35:
                (details, content) = (
                    .init(.sessionStarted, .session(user: user, session: SessionID(bits: UInt128(position)))),
                    .device("device-\(position).")
                )
            case 37, 38: (details, content) = (.init(.messageRemoved, changed), .reason("reason-\(position)."))
            case 39: (details, content) = (.init(.replyRemoved, replyChanged), .reason("reason-\(position)."))
            case 40: (details, content) = (.init(.userMuted, sanction), .reason("reason-\(position)."))
            case 41: (details, content) = (.init(.userBanned, sanction), .reason("reason-\(position)."))
            case 42, 43: (details, content) = (.init(.memberRemoved, member), .reason("reason-\(position)."))
            case 44, 45:
                let report = EventShape.messageReport(thread: thread, message: message, by: user)
                (details, content) = (.init(.messageReported, report), .reason("reason-\(position)."))
            case 46:
                let report = EventShape.replyReport(thread: thread, message: message, reply: reply, by: user)
                (details, content) = (.init(.replyReported, report), .reason("reason-\(position)."))
            case 47, 48:
                let role = one(ThreadRole.allCases)
                (details, content) = (
                    .init(.roleSet, .role(thread: thread, number: number, user: other, role: role, by: user)), .none
                )
            case 49: (details, content) = (.init(.operatorGranted, .user(user)), .none)
            case 50: (details, content) = (.init(.operatorRevoked, .user(user)), .none)
            case 51:
                let policy = EventShape.policy(
                    thread: thread, number: number, policy: one(ThreadPolicy.allCases),
                    history: one(ThreadHistory.allCases), by: user)
                (details, content) = (.init(.threadPolicySet, policy), .none)
            case 52: (details, content) = (.init(.userInvited, member), .none)
            case 53: (details, content) = (.init(.messagePinned, changed), .none)
            case 54:
                (details, content) = (
                    .init(.messageReportsResolved, .messageReport(thread: thread, message: message, by: user)), .none
                )
            case 55, 56:
                let custom = EventShape.custom(
                    thread: thread, number: number, id: CustomEventID(bits: UInt128(position)), by: user)
                let payload = try #require(CustomPayload("\"payload-\(position).\""))
                (details, content) = (
                    .init(.custom, custom), .custom(kind: "com.example.poll", payload: .present(payload))
                )
            case 57: (details, content) = (.init(.userBlocked, .block(user: other, by: user)), .none)
            case 58:
                (details, content) = (
                    .init(.threadMarkedUnread, .marker(user: user, thread: thread, upTo: number)), .none
                )
            case 59:
                let level = EventShape.notifications(user: user, thread: thread, level: one(NotificationLevel.allCases))
                (details, content) = (.init(.notificationsSet, level), .none)
            case 60: (details, content) = (.init(.inboxRead, .inbox(user: user, upTo: number * number * number)), .none)
            case 61, 62: (details, content) = (.init(.profileSet, .user(user)), .about("about-\(position)."))
            case 36 where hasUnknownEvents: (details, content) = (EventDetails(nil), .none)
            default: (details, content) = (.init(.lost), .none)
            }
            facts.append(details)
            let hasCorrelation = details.kind != .lost && details.kind != nil
            events.append((details, content, hasCorrelation ? "correlation-\(position)." : nil))
        }
        self.facts = facts.map { ChatEvent(recordedAt: Timestamp(millisecondsSince1970: 0), details: $0) }
        try fixture.write(
            events.map { details, content, correlation in
                // A record of a kind that this version does not know.
                if details.kind == nil {
                    return (details, .opaque(kept: [250] + [UInt8](repeating: 0, count: 7), erasable: nil), nil)
                }
                return (details, content, correlation)
            })
    }

    // MARK: The rules

    /// Returns whether a user may read a thread now, as a member or as an operator.
    private func isReaderNow(_ user: UserID, _ thread: ThreadID) -> Bool {
        if isOperatorNow(user), thread.outwardCode != nil || policyNow(thread) != .inviteOnly { return true }
        return facts.last {
            switch ($0.kind, $0.shape) {
            case (.threadJoined, .thread(thread, _, user)), (.threadLeft, .thread(thread, _, user)): true
            case (.memberRemoved, .member(thread, _, user, _)): true
            default: false
            }
        }.map { $0.kind == .threadJoined } ?? false
    }

    private func policyNow(_ thread: ThreadID) -> ThreadPolicy? {
        facts.reduce(nil) { policy, details in
            if case (.threadPolicySet, .policy(let itsThread, _, let itsPolicy, _, _)) = (details.kind, details.shape),
                itsThread == thread
            {
                itsPolicy
            } else {
                policy
            }
        }
    }

    private func isOperatorNow(_ user: UserID) -> Bool {
        facts.last {
            ($0.kind == .operatorGranted || $0.kind == .operatorRevoked) && $0.shape == .user(user)
        }.map { $0.kind == .operatorGranted } ?? false
    }

    /// Returns whether a user may moderate a thread now; also true for some who may no longer.
    private func mayModerate(_ user: UserID, _ thread: ThreadID) -> Bool {
        isOperatorNow(user)
            || isReaderNow(user, thread)
                && facts.contains {
                    switch ($0.kind, $0.shape) {
                    case (.threadOpened, .thread(thread, _, user)): true
                    case (.roleSet, .role(thread, _, user, let role, _)): role > .member
                    default: false
                    }
                }
    }

    /// Returns the first posting of a message, or of a reply to a known message.
    private func posting(_ post: PostID) -> (index: Int, thread: ThreadID, author: UserID)? {
        for (index, details) in facts.enumerated() {
            switch (details.kind, details.shape, post) {
            case (.messagePosted, .message(let thread, _, let message, let author), .message(let id))
            where message == id:
                return (index, thread, author)
            case (.replyPosted, .reply(_, _, let message, let reply, let author), .reply(let id)) where reply == id:
                guard let posted = posting(.message(message)), posted.index < index else { continue }
                return (index, posted.thread, author)
            default: break
            }
        }
        return nil
    }

    private func post(of event: ChatEvent) -> PostID? {
        switch event.kind {
        case .messagePosted, .messageEdited, .messageRetracted, .messageRemoved: event.message.map(PostID.message)
        case .replyPosted, .replyEdited, .replyRetracted, .replyRemoved: event.reply.map(PostID.reply)
        default: nil
        }
    }

    /// Returns the position of the event that wrote the current text, which only moderators see if
    /// the post is removed.
    private func textPosition(of post: PostID, includesRemoved: Bool) -> Position? {
        guard let posting = posting(post) else { return nil }
        var text = posting.index
        for index in posting.index + 1..<max(posting.index + 1, facts.count) where self.post(of: facts[index]) == post {
            switch facts[index].kind {
            case .messageRetracted, .replyRetracted: return nil
            case .messageRemoved, .replyRemoved: if !includesRemoved { return nil }
            case .messageEdited, .replyEdited: text = index
            default: break
            }
        }
        return Position(text + 1)
    }

    /// Returns whether a viewer may be shown a field of the event at a position.
    func maySee(_ kind: Substring, _ position: Position, _ viewer: UserID) -> Bool {
        let details = facts[Int(position) - 1]
        if details.isOwn(of: viewer) { return true }
        switch kind {
        case "body":
            guard let post = post(of: details), let posting = posting(post) else { return false }
            let places = [details.thread, posting.thread].compactMap { $0 }
            guard places.contains(where: { isReaderNow(viewer, $0) }) else { return false }
            let isModerator = places.contains { mayModerate(viewer, $0) }
            return posting.author == viewer || textPosition(of: post, includesRemoved: isModerator) == position
        case "about":
            let latest = facts.lastIndex { $0.kind == .profileSet && $0.user == details.user }
            return latest == Int(position) - 1 && threads.contains { isReaderNow(viewer, $0) }
        case "payload": return details.thread.map { isReaderNow(viewer, $0) } ?? false
        case "reason":
            let posting = post(of: details).flatMap { self.posting($0) }
            if posting?.author == viewer { return true }
            return [details.thread, posting?.thread].contains { $0.map { mayModerate(viewer, $0) } ?? false }
        case "thread":
            // A member, a former member, an invited user, and an operator know the name, and so
            // does a user whom a moderator sanctioned, or whose post a moderator removed.
            return facts.contains { other in
                switch other.kind {
                case .threadJoined, .userInvited: other.user == viewer && other.thread == details.thread
                case .operatorGranted: other.user == viewer
                case .userMuted, .userBanned, .memberRemoved, .roleSet:
                    other.user == viewer && other.thread == details.thread
                case .messageRemoved, .replyRemoved:
                    other.thread == details.thread && post(of: other).flatMap { posting($0) }?.author == viewer
                default: false
                }
            }
        case "name":
            // A viewer is shown the names of users with events in the viewer's threads.
            return facts.contains { other in
                guard other.user == details.user || other.otherActor == details.user else { return false }
                // An invitation names the user who invited the viewer.
                if other.isOwn(of: viewer) { return true }
                // The author is told who removed their post.
                if other.kind == .messageRemoved || other.kind == .replyRemoved,
                    post(of: other).flatMap({ posting($0) })?.author == viewer
                {
                    return true
                }
                let places = [other.thread, other.relatedThread, post(of: other).flatMap { posting($0)?.thread }]
                    .compactMap { $0 }
                return places.contains { isReaderNow(viewer, $0) }
            }
        default: return false
        }
    }

    // MARK: The attack

    /// Returns the answers to all queries of a viewer, as text.
    ///
    /// Each postcode is replaced by the position of its event.
    func answers(of store: ChatStore, to viewer: UserID, asOf moments: [Position]) -> [String] {
        var answers: [String] = []
        func ask<Value>(_ question: String, _ body: () throws -> Value) {
            do { answers.append("\(question): \(try body())") } catch { answers.append("\(question): \(error)") }
        }
        let all = PageRequest.latest(.max)
        let names = facts.indices.map { "thread-\($0 + 1)." }
        for moment in moments.map(AsOf.position) {
            ask("threads") { try store.reader(as: .user(viewer), asOf: moment).threads(page: all).entries }
            ask("pages of threads") {
                try pages(PageRequest.latest(1)) { try store.reader(as: .user(viewer), asOf: moment).threads(page: $0) }
            }
            // The query contains the thread's name, so the label omits it.
            ask("named") { try names.map { try store.reader(as: .user(viewer), asOf: moment).threadIDs(named: $0) } }
            for thread in threads + [ThreadID(bits: 99)] {
                ask("thread") { try store.reader(as: .user(viewer), asOf: moment).thread(thread) }
                ask("roles") { try store.reader(as: .user(viewer), asOf: moment).roles(in: thread) }
                ask("sanctions") { try store.reader(as: .user(viewer), asOf: moment).sanctions(in: thread) }
                ask("pins") { try store.reader(as: .user(viewer), asOf: moment).pins(in: thread) }
                ask("reports") { try store.reader(as: .user(viewer), asOf: moment).reports(in: thread) }
                ask("custom events") { try store.reader(as: .user(viewer), asOf: moment).customEvents(in: thread) }
                ask("invitations to") { try store.reader(as: .user(viewer), asOf: moment).invitations(to: thread) }
                ask("members") { try store.reader(as: .user(viewer), asOf: moment).members(of: thread) }
                ask("timeline") {
                    try store.reader(as: .user(viewer), asOf: moment).timeline(thread, page: all).entries
                }
                ask("activity") { try store.reader(as: .user(viewer), asOf: moment).activity(in: thread) }
                ask("around") {
                    try store.reader(as: .user(viewer), asOf: moment).timeline(
                        thread, page: .around(30, limit: 2)
                    )
                    .entries
                }
                ask("pages") {
                    try pages(PageRequest.latest(2)) {
                        try store.reader(as: .user(viewer), asOf: moment).timeline(thread, page: $0)
                    }
                }
                if let code = thread.outwardCode {
                    ask("residents") { try store.reader(as: .user(viewer), asOf: moment).residents(of: code) }
                }
            }
            for message in messages {
                ask("message") { try store.reader(as: .user(viewer), asOf: moment).message(message) }
                ask("replies") {
                    try store.reader(as: .user(viewer), asOf: moment).replies(to: message, page: all).entries
                }
                ask("pages of replies") {
                    try pages(PageRequest.latest(1)) {
                        try store.reader(as: .user(viewer), asOf: moment).replies(to: message, page: $0)
                    }
                }
                ask("details") { try store.reader(as: .user(viewer), asOf: moment).details(of: .message(message)) }
            }
            for reply in replies {
                ask("reply") { try store.reader(as: .user(viewer), asOf: moment).reply(reply) }
                ask("details of reply") { try store.reader(as: .user(viewer), asOf: moment).details(of: .reply(reply)) }
            }
            for user in users {
                ask("user") { try store.reader(as: .user(viewer), asOf: moment).user(user) }
                ask("invitations") { try store.reader(as: .user(viewer), asOf: moment).invitations(of: user) }
                ask("blocks") { try store.reader(as: .user(viewer), asOf: moment).blocks(by: user) }
                ask("access") { try store.reader(as: .user(viewer), asOf: moment).access(of: user) }
                ask("inbox") { try store.reader(as: .user(viewer), asOf: moment).inbox(of: user, page: all).entries }
                ask("pages of an inbox") {
                    try pages(PageRequest.latest(1)) {
                        try store.reader(as: .user(viewer), asOf: moment).inbox(of: user, page: $0)
                    }
                }
                ask("person") { try store.reader(as: .user(viewer), asOf: moment).person(user, threads: all) }
                ask("unread entries") { try store.reader(as: .user(viewer), asOf: moment).unreadInboxCount(of: user) }
            }
            ask("operators") { try store.reader(as: .user(viewer), asOf: moment).operators() }
            ask("people") { try store.reader(as: .user(viewer), asOf: moment).people(page: all).entries }
            ask("pages of people") {
                try pages(PageRequest.latest(1)) {
                    try store.reader(as: .user(viewer), asOf: moment).people(named: "NAME", page: $0)
                }
            }
        }
        for reply in replies {
            ask("answered") { String(describing: store.messageID(answeredBy: reply, as: .user(viewer))) }
        }
        var filters = [EventFilter(as: .user(viewer))]
        filters += threads.map { EventFilter(as: .user(viewer), threads: [$0]) }
        filters += users.map { EventFilter(as: .user(viewer), users: [$0]) }
        filters += EventKind.allCases.map { EventFilter(as: .user(viewer), kinds: [$0]) }
        for filter in filters {
            ask("events") {
                var events: [RecordedEvent] = []
                try store.forEachEvent(matching: filter) { event, _ in
                    events.append(event)
                }
                for event in events where filter == filters.first {
                    // JSON must round-trip also for inconsistent events.
                    let again = try JSONDecoder().decode(RecordedEvent.self, from: try JSONEncoder().encode(event))
                    #expect(again.event.content == event.event.content && again.redacted == event.redacted)
                }
                return events
            }
        }
        // The digit and letters of a postcode encode the position that set it.
        return answers.map { answer in
            answer.replacing(/SW1A (\d)(AA|AB|AD|AE|AF|AG|AH|AJ)/) { match in
                let tens = ["AA", "AB", "AD", "AE", "AF", "AG", "AH", "AJ"].firstIndex(of: String(match.2)) ?? 0
                return "postcode-\(tens * 10 + (Int(match.1) ?? 0))."
            }
        }
    }

    /// Returns the entries of all pages, from the last page backwards and forwards again.
    private func pages<Entry>(_ request: PageRequest, _ page: (PageRequest) throws -> Page<Entry>) throws -> [Entry] {
        var found = try page(request)
        var entries = found.entries
        while let older = found.older {
            found = try page(older)
            entries += found.entries
        }
        for _ in 0..<100 {
            found = try page(found.newer)
            if found.entries.isEmpty { return entries }
            entries += found.entries
        }
        return entries
    }
}
