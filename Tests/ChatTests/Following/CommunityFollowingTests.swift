@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Testing

/// Followers and live views of users whose rights change: banned users, operators, and users who
/// block others.
@Suite(.timeLimit(.minutes(3))) struct CommunityFollowingTests {
    private typealias Fixture = FollowingFixture

    private let shed = ThreadID(bits: 32)
    private let cellar = ThreadID(bits: 33)

    /// A store in which Ann owns the thread "Shed", and Bob is a member of it.
    private func fixture(history: ThreadHistory = .all) async throws -> Fixture {
        let fixture = try Fixture()
        let opening = ChatCommand.openThread(id: shed, name: "Shed", policy: .open, history: history, by: Fixture.ann)
        try await fixture.store.execute(opening)
        try await fixture.store.execute(.joinThread(thread: shed, by: Fixture.bob))
        return fixture
    }

    /// Returns the kinds of the next events.
    private func nextKinds(_ events: inout ChatEvents.AsyncIterator, _ count: Int) async throws -> [EventKind?] {
        var kinds: [EventKind?] = []
        for _ in 0..<count { kinds.append(try await events.nextEvent()?.event.kind) }
        return kinds
    }

    @Test func bannedFollowerReceivesOwnEventsOnly() async throws {
        let fixture = try await fixture()
        let store = fixture.store
        var events = store.events(after: store.head.position, matching: EventFilter(as: .user(Fixture.bob)))
            .makeAsyncIterator()
        try fixture.post("Milk?", in: shed)
        #expect(try await nextKinds(&events, 1) == [.messagePosted])
        let next = Task { [events] in
            var events = events
            return try await nextKinds(&events, 3)
        }
        try await fixture.untilWaiting()
        try await store.execute(.ban(user: Fixture.bob, thread: shed, reason: "spam", by: Fixture.ann))
        try fixture.post("Bread?", in: shed)
        try await store.execute(
            .edit(
                .message(try #require(try store.reader(as: .host).timeline(shed).last?.message)), body: "Rye bread?",
                by: Fixture.ann))
        try await store.execute(.changeUsername(username: "Robert", by: Fixture.bob))
        #expect(try await next.ended() == [.userBanned, .memberRemoved, .usernameChanged])
    }

    /// The author of a removed post is told why, also after they have left the thread.
    @Test func authorWhoLeftReceivesRemoval() async throws {
        let fixture = try await fixture()
        let store = fixture.store
        let message = MessageID(bits: 0xB0B)
        try await store.execute(.postMessage(id: message, thread: shed, body: "Watches?", by: Fixture.bob))
        try await store.execute(.leaveThread(thread: shed, by: Fixture.bob))
        let next = Task {
            [events = store.events(after: store.head.position, matching: EventFilter(as: .user(Fixture.bob)))] in
            var events = events.makeAsyncIterator()
            return try await events.nextEvent()
        }
        try await fixture.untilWaiting()
        try await store.execute(
            .remove(.message(message), reason: "an advertisement", by: Fixture.ann), correlation: "secret")
        let removal = try #require(try await next.ended())
        #expect(removal.event.kind == .messageRemoved && removal.event.reason == "an advertisement")
        #expect(removal.redacted == [] && removal.event.correlation == nil)
    }

    /// Covers threads that are opened later, and one that takes only invited users.
    @Test func followerOfOperatorWakesForOpenThreads() async throws {
        let fixture = try await fixture()
        let store = fixture.store
        try await store.execute(.grantOperator(user: Fixture.cat))
        var events = store.events(after: store.head.position, matching: EventFilter(as: .user(Fixture.cat)))
            .makeAsyncIterator()
        func expectNext(_ expected: [EventKind], _ commands: [ChatCommand]) async throws {
            let start = events
            let next = Task {
                var events = start
                let kinds = try await nextKinds(&events, expected.count)
                return (kinds, events)
            }
            try await fixture.untilWaiting()
            for command in commands { try await store.execute(command) }
            let (kinds, end) = try await next.ended()
            #expect(kinds == expected)
            events = end
        }
        let post = ChatCommand.postMessage(id: nil, thread: shed, body: "Milk?", by: Fixture.bob)
        try await expectNext([.messagePosted], [post])
        try await expectNext(
            [.threadOpened, .threadJoined], [.openThread(id: ThreadID(bits: 34), name: "Attic", by: Fixture.ann)])
        try await expectNext(
            [.messagePosted],
            [.postMessage(id: nil, thread: ThreadID(bits: 34), body: "Bread?", by: Fixture.ann)])
        // The thread that takes only invited users is hidden; the message after it is not.
        try await expectNext(
            [.messagePosted],
            [
                .openThread(id: cellar, name: "Cellar", policy: .inviteOnly, by: Fixture.ann),
                .postMessage(id: nil, thread: cellar, body: "Secret", by: Fixture.ann), post,
            ])
        try await expectNext(
            [.operatorRevoked, .usernameChanged],
            [.revokeOperator(user: Fixture.cat), post, .changeUsername(username: "Kate", by: Fixture.cat)])
    }

    /// The follower waits without a thread, and its keys change with the grant.
    @Test func followerOfNewOperatorWakes() async throws {
        let fixture = try await fixture()
        let store = fixture.store
        let following = fixture.follow(
            store.events(after: store.head.position, matching: EventFilter(as: .user(Fixture.cat))))
        try await fixture.untilWaiting()
        try fixture.post("Before", in: shed)
        let granted = try #require(try await store.execute(.grantOperator(user: Fixture.cat)).positions).upperBound
        try await Fixture.until { store.feed.read(after: granted - 1, limit: 1).positions == [granted] }
        try await fixture.untilWaiting()
        let posted = try fixture.post("After", in: shed)
        try await Fixture.until { store.feed.read(after: posted - 1, limit: 1).positions == [posted] }
        try await fixture.untilWaiting()
        following.cancel()
        #expect(try await following.ended() == [granted, posted])
    }

    // MARK: Live views

    @Test @MainActor func timelineMarksBlocksAndRemovals() async throws {
        let fixture = try await fixture()
        let message = MessageID(bits: 41)
        try await fixture.store.execute(
            .postMessage(id: message, thread: shed, body: "Milk?", by: Fixture.ann))
        let timeline = LiveTimeline(fixture.store, thread: shed, as: .user(Fixture.bob))
        func expect(isBlocked: Bool, isRemoved: Bool) async throws {
            try await until {
                timeline.messages.map { [$0.isFromBlockedUser, $0.isRemoved, $0.body == nil] }
            } _: {
                $0 == [[isBlocked, isRemoved, isRemoved]]
            }
            #expect(timeline.messages == (try fixture.store.reader(as: .user(Fixture.bob)).timeline(shed).entries))
        }
        try await showing(timeline.follow) {
            try await expect(isBlocked: false, isRemoved: false)
            try await fixture.store.execute(.block(user: Fixture.ann, by: Fixture.bob))
            try await expect(isBlocked: true, isRemoved: false)
            // Blocks of other users have no effect.
            try await fixture.store.execute(.block(user: Fixture.bob, by: Fixture.ann))
            try await fixture.store.execute(.unblock(user: Fixture.ann, by: Fixture.bob))
            try await expect(isBlocked: false, isRemoved: false)
            try await fixture.store.execute(.remove(.message(message), reason: "spam", by: Fixture.ann))
            try await expect(isBlocked: false, isRemoved: true)
        }
    }

    /// An operator reads the thread without being a member.
    @Test @MainActor func timelineOfOperatorFollowsBlocksAndRevocation() async throws {
        let fixture = try await fixture()
        try fixture.post("Milk?", in: shed)
        try await fixture.store.execute(.grantOperator(user: Fixture.cat))
        let timeline = LiveTimeline(fixture.store, thread: shed, as: .user(Fixture.cat))
        try await showing(timeline.follow) {
            try await until {
                timeline.messages.count
            } _: {
                $0 == 1
            }
            try await fixture.store.execute(.block(user: Fixture.ann, by: Fixture.cat))
            try await until {
                timeline.messages.first?.isFromBlockedUser
            } _: {
                $0 == true
            }
            try await fixture.store.execute(.revokeOperator(user: Fixture.cat))
            try await until {
                timeline.state.error
            } _: {
                $0 != nil
            }
        }
        guard case .failed(ChatError.rejected(.notAMember), last: nil) = timeline.state else {
            return _ = Issue.record("\(timeline.state)")
        }
    }

    /// One commit, so that no snapshot shows the viewer absent: the history begins at the new join.
    @Test @MainActor func timelineBeginsAtNewJoin() async throws {
        let fixture = try await fixture(history: .sinceJoining)
        try fixture.post("Milk?", in: shed)
        let timeline = LiveTimeline(fixture.store, thread: shed, as: .user(Fixture.bob))
        try await showing(timeline.follow) {
            try await until {
                timeline.messages.map(\.body)
            } _: {
                $0 == ["Milk?"]
            }
            let commands: [ChatCommand] = [
                .leaveThread(thread: shed, by: Fixture.bob), .joinThread(thread: shed, by: Fixture.bob),
                .postMessage(id: nil, thread: shed, body: "Bread?", by: Fixture.ann),
            ]
            _ = try await fixture.store.execute(commands.map { CommandRequest($0) })
            try await until {
                timeline.messages.map(\.body)
            } _: {
                $0 == ["Bread?"]
            }
        }
    }

    /// An operator who is no member ceases to see a thread with the event that makes it private,
    /// and sees it again, without what was posted before, when it is opened.
    @Test @MainActor func viewsOfOperatorFollowPolicies() async throws {
        let fixture = try await fixture()
        try fixture.post("Milk?", in: shed)
        try await fixture.store.execute(.grantOperator(user: Fixture.cat))
        let timeline = LiveTimeline(fixture.store, thread: shed, as: .user(Fixture.cat))
        let threads = LiveThreads(fixture.store, as: .user(Fixture.cat))
        func expectThreads(_ names: Set<String>) async throws {
            try await until {
                Set(threads.threads.compactMap(\.name))
            } _: {
                $0 == names
            }
        }
        try await showing(threads.follow) {
            try await expectThreads(["Garden", "Shed"])
            try await showing(timeline.follow) {
                try await until {
                    timeline.messages.count
                } _: {
                    $0 == 1
                }
                try await fixture.store.execute(.setThreadPolicy(thread: shed, policy: .inviteOnly, by: Fixture.ann))
                try await until {
                    timeline.state.error
                } _: {
                    $0 != nil
                }
            }
            #expect(timeline.messages == [])
            try await expectThreads(["Garden"])
            try await fixture.store.execute(.setThreadPolicy(thread: shed, policy: .open, by: Fixture.ann))
            try await expectThreads(["Garden", "Shed"])
        }
        #expect(try fixture.store.reader(as: .user(Fixture.cat)).timeline(shed).isEmpty)
        try fixture.post("Bread?", in: shed)
        #expect(try fixture.store.reader(as: .user(Fixture.cat)).timeline(shed).map(\.body) == ["Bread?"])
    }

    @Test @MainActor func threadsAndUserFollowRemovalAndOperator() async throws {
        let fixture = try await fixture()
        let (threads, user) = (
            LiveThreads(fixture.store, as: .user(Fixture.bob)), LiveUser(fixture.store, user: Fixture.bob)
        )
        func expect(_ names: Set<String>, ofUser: Set<String>) async throws {
            try await until {
                Set(threads.threads.compactMap(\.name))
            } _: {
                $0 == names
            }
            try await until {
                user.user.map { Set($0.threads.compactMap(\.name)) }
            } _: {
                $0 == ofUser
            }
        }
        try await showing(threads.follow) {
            try await showing(user.follow) {
                try await expect(["Garden", "Shed"], ofUser: ["Garden", "Shed"])
                try await fixture.store.execute(
                    .removeMember(user: Fixture.bob, thread: shed, reason: "spam", by: Fixture.ann))
                try await expect(["Garden"], ofUser: ["Garden"])
                try await fixture.store.execute(.grantOperator(user: Fixture.bob))
                try await expect(["Garden", "Shed"], ofUser: ["Garden"])
                try await fixture.store.execute(.openThread(id: cellar, name: "Cellar", by: Fixture.ann))
                try await expect(["Garden", "Shed", "Cellar"], ofUser: ["Garden"])
                try await fixture.store.execute(.revokeOperator(user: Fixture.bob))
                try await expect(["Garden"], ofUser: ["Garden"])
                try await fixture.store.execute(.joinThread(thread: shed, by: Fixture.bob))
                try await expect(["Garden", "Shed"], ofUser: ["Garden", "Shed"])
                try await fixture.store.execute(.ban(user: Fixture.bob, thread: shed, reason: "spam", by: Fixture.ann))
                try await expect(["Garden"], ofUser: ["Garden"])
            }
        }
    }
}
