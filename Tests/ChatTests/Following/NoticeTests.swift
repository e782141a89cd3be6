@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
import TestSupport
import Testing

/// What followers with a viewer are told to forget: erased content, and threads that they lost.
@Suite(.timeLimit(.minutes(5))) struct NoticeTests {
    private typealias Fixture = FollowingFixture

    private let shed = ThreadID(bits: 32)

    /// Returns the updates after a position up to the present end.
    private func updates(
        _ store: ChatStore, after position: Position, _ viewer: UserID?, threads: Set<ThreadID>? = nil,
        kinds: Set<EventKind>? = nil
    ) async throws -> [FollowedUpdate] {
        let filter = EventFilter(as: Viewer(orHost: viewer), threads: threads, kinds: kinds)
        var found: [FollowedUpdate] = []
        for try await update in store.events(after: position, upTo: store.head.position, matching: filter).updates {
            found.append(update)
        }
        return found
    }

    private func erased(_ updates: [FollowedUpdate]) -> [ErasedContent] {
        updates.compactMap { if case .erased(let content, _) = $0 { content } else { nil } }
    }

    private func lost(_ updates: [FollowedUpdate]) -> [ThreadID] {
        updates.compactMap { if case .accessLost(let thread, _) = $0 { thread } else { nil } }
    }

    // MARK: Erasures

    @Test func memberIsToldWhatAnErasedUserWrote() async throws {
        let fixture = try Fixture()
        let store = fixture.store
        let message = MessageID(bits: 41)
        try await store.execute(
            .postMessage(id: message, thread: Fixture.garden, body: "Milk?", by: Fixture.ann))
        let posted = store.head.position
        try await store.execute(.edit(.message(message), body: "Oat milk?", by: Fixture.ann))
        try await store.execute(
            .reply(id: ReplyID(bits: 51), to: message, body: "At five.", by: Fixture.bob))
        let start = store.head.position
        let order = try #require(try store.eraseUser(Fixture.ann, reason: "user-request").orders).upperBound
        let found = try await updates(store, after: start, Fixture.bob)
        var expected = ErasedContent()
        expected.positions = PositionSet([posted...posted + 1])
        expected.posts = [.message(message)]
        expected.threads = [Fixture.garden]
        (expected.users, expected.namelessUsers, expected.namelessThreads) = (
            [Fixture.ann], [Fixture.ann], [Fixture.garden]
        )
        #expect(found == [.erased(expected, try store.resumeToken(after: order))])
        // The order is told once: a client that continues after the notice is not told again.
        #expect(try await updates(store, after: order, Fixture.bob).isEmpty)
        // Cat is in no thread, and is told nothing; the host sees the order.
        #expect(try await updates(store, after: start, Fixture.cat).isEmpty)
        #expect(try await updates(store, after: start, nil).map(\.resumeToken.position) == [order])
        // Ann sees the order as before, after the notice, which has the token before it.
        let own = try await updates(store, after: start, Fixture.ann)
        #expect(own.map(\.resumeToken.position) == [order - 1, order])
        #expect(erased(own).first?.positions.contains(1) == true)
    }

    /// Who has left has the name of then for those who stay: that one counts, not the one of now.
    @Test func nameOfBeforeIsErasedForThoseWhoAreShownIt() async throws {
        let fixture = try Fixture()
        let store = fixture.store
        try fixture.post("Milk?", by: Fixture.bob)
        try await store.execute(.changeUsername(username: "Bert", by: Fixture.bob))
        let shown = store.head.position
        try await store.execute(.leaveThread(thread: Fixture.garden, by: Fixture.bob))
        try await store.execute(.changeUsername(username: "Rob", by: Fixture.bob))
        let hidden = store.head.position
        func author() throws -> String? {
            try store.reader(as: .user(Fixture.ann)).timeline(Fixture.garden).entries.first?.author.username
        }
        #expect(try author() == "Bert")
        try store.eraseContent(of: PositionSet([hidden...hidden]), reason: "wrong-name")
        let first = try await erased(updates(store, after: hidden, Fixture.ann))
        #expect(try author() == "Bert")
        #expect(first.flatMap(\.namelessUsers) == [])
        let start = store.head.position
        try store.eraseContent(of: PositionSet([shown...shown]), reason: "wrong-name")
        let second = try await erased(updates(store, after: start, Fixture.ann))
        #expect(try author() == nil)
        #expect(second.flatMap(\.namelessUsers) == [Fixture.bob])
    }

    /// A follower that waits is woken by an order, although its filter does not match it.
    @Test func waitingFollowerIsTold() async throws {
        let fixture = try Fixture()
        let store = fixture.store
        try fixture.post("Milk?")
        let filter = EventFilter(as: .user(Fixture.bob), threads: [Fixture.garden], kinds: [.messagePosted])
        let sequence = store.events(after: store.head.position, matching: filter).updates
        let next = Task { () -> FollowedUpdate? in
            for try await update in sequence { return update }
            return nil
        }
        try await fixture.untilWaiting()
        try store.eraseContent(of: PositionSet([7...7]), reason: "wrong-address")
        guard case .erased(let content, _)? = try await next.ended() else { return _ = Issue.record("no notice") }
        #expect(content.positions == PositionSet([7...7]))
        #expect(content.users == [Fixture.ann])
        #expect(content.namelessUsers.isEmpty && content.namelessThreads.isEmpty)
    }

    @Test(arguments: [1, 4_096]) func piecesAreBoundedAndRepeatable(_ recentEventCount: Int) async throws {
        let fixture = try Fixture(recentEventCount: recentEventCount)
        let store = fixture.store
        for number in 0..<450 { try fixture.post("Message \(number)") }
        let start = store.head.position
        let order = try #require(try store.eraseUser(Fixture.ann, reason: "user-request").orders).upperBound
        try fixture.post("After", by: Fixture.bob)
        let found = try await updates(store, after: start, Fixture.bob)
        #expect(erased(found).map(\.positions.count) == [200, 200, 50])
        #expect(PositionSet(erased(found).flatMap(\.positions.ranges)) == PositionSet([7...456]))
        #expect(Set(erased(found).flatMap(\.posts)).count == 450)
        #expect(found.map(\.resumeToken.position) == [order - 1, order - 1, order, order + 1])
        // A client that continues after a piece that is not the last gets all of them.
        for (update, rest) in [(found[0], found), (found[2], [found[3]])] {
            var again: [FollowedUpdate] = []
            let events = store.events(
                after: update.resumeToken, upTo: store.head.position, matching: EventFilter(as: .user(Fixture.bob)))
            for try await update in events.updates { again.append(update) }
            #expect(again == rest)
        }
    }

    /// Who joined later was shown the messages, and not the events.
    @Test func laterMemberIsToldOfPosts() async throws {
        let fixture = try Fixture()
        let store = fixture.store
        let message = MessageID(bits: 41)
        try await store.execute(
            .postMessage(id: message, thread: Fixture.garden, body: "Milk?", by: Fixture.ann))
        try await store.execute(.edit(.message(message), body: "Oat milk?", by: Fixture.ann))
        try await store.execute(.joinThread(thread: Fixture.garden, by: Fixture.cat))
        let start = store.head.position
        try store.eraseContent(of: PositionSet([8...8]), reason: "wrong-address")
        let content = try #require(erased(try await updates(store, after: start, Fixture.cat)).first)
        #expect(content.posts == [.message(message)])
        #expect(content.positions.isEmpty && content.users.isEmpty)
    }

    /// Who has left is told of their own reaction, and not of the post; an author is told of their
    /// post.
    @Test func formerReaderIsToldOfTheirOwnReaction() async throws {
        let fixture = try Fixture()
        let store = fixture.store
        let (message, own) = (MessageID(bits: 41), MessageID(bits: 42))
        try await store.execute(
            .postMessage(id: message, thread: Fixture.garden, body: "Milk?", by: Fixture.ann))
        try await store.execute(.postMessage(id: own, thread: Fixture.garden, body: "Yes", by: Fixture.bob))
        let written = store.head.position
        try await store.execute(.react(.message(message), emoji: "👍", by: Fixture.bob))
        let reaction = store.head.position
        try await store.execute(.leaveThread(thread: Fixture.garden, by: Fixture.bob))
        let start = store.head.position
        try store.eraseContent(of: PositionSet([reaction...reaction]), reason: "wrong-address")
        let content = try #require(erased(try await updates(store, after: start, Fixture.bob)).first)
        #expect(content.positions == PositionSet([reaction...reaction]) && content.posts == [])
        #expect(erased(try await updates(store, after: start, Fixture.ann)).first?.posts == [.message(message)])
        let end = store.head.position
        try store.eraseContent(of: PositionSet([written...written]), reason: "wrong-address")
        #expect(erased(try await updates(store, after: end, Fixture.bob)).first?.posts == [.message(own)])
    }

    /// In a thread with history since joining, nothing from before the join is told.
    @Test func messagesBeforeTheHistoryAreNotTold() async throws {
        let fixture = try Fixture()
        let store = fixture.store
        try await store.execute(
            .openThread(id: shed, name: "Shed", policy: .open, history: .sinceJoining, by: Fixture.ann))
        try fixture.post("Milk?", in: shed)
        let posted = store.head.position
        try await store.execute(.joinThread(thread: shed, by: Fixture.cat))
        let start = store.head.position
        try store.eraseContent(of: PositionSet([posted...posted]), reason: "wrong-address")
        #expect(try await updates(store, after: start, Fixture.cat).isEmpty)
    }

    @Test func followerOfAThreadIsToldOfThatThread() async throws {
        let fixture = try Fixture()
        let store = fixture.store
        try await store.execute(.openThread(id: shed, name: "Shed", by: Fixture.ann))
        try await store.execute(.joinThread(thread: shed, by: Fixture.bob))
        let here = try fixture.post("Here", in: shed)
        try fixture.post("There")
        let start = store.head.position
        try store.eraseUser(Fixture.ann, reason: "user-request")
        let content = try #require(erased(try await updates(store, after: start, Fixture.bob, threads: [shed])).first)
        #expect(content.positions == PositionSet([here...here]))
        #expect((content.threads, content.users) == ([shed], [Fixture.ann]))
    }

    // MARK: Access

    @Test func endOfAccessIsTold() async throws {
        let fixture = try Fixture()
        let store = fixture.store
        try await store.execute(.openThread(id: shed, name: "Shed", by: Fixture.ann))
        for command: ChatCommand in [
            .leaveThread(thread: shed, by: Fixture.bob),
            .removeMember(user: Fixture.bob, thread: shed, reason: "spam", by: Fixture.ann),
            .ban(user: Fixture.bob, thread: shed, reason: "spam", by: Fixture.ann),
        ] {
            try await store.execute(.joinThread(thread: shed, by: Fixture.bob))
            let start = store.head.position
            try await store.execute(command)
            let end = store.head.position
            for kinds: Set<EventKind>? in [nil, [.messagePosted]] {
                let found = try await updates(store, after: start, Fixture.bob, kinds: kinds)
                #expect(lost(found) == [shed])
                #expect(found.last?.resumeToken.position == end)
            }
            #expect(try await updates(store, after: start, Fixture.cat).isEmpty)
            #expect(lost(try await updates(store, after: start, Fixture.bob, threads: [Fixture.garden])).isEmpty)
            #expect(lost(try await updates(store, after: end, Fixture.bob)).isEmpty)
        }
    }

    /// A revoked operator loses the threads of which they are no member, and the beginning of those
    /// with history since joining.
    @Test(arguments: [1, 4_096]) func revokedOperatorIsToldOfEachThread(_ recentEventCount: Int) async throws {
        let fixture = try Fixture(recentEventCount: recentEventCount)
        let store = fixture.store
        try await store.execute(.grantOperator(user: Fixture.bob))
        let threads = (0..<600).map { ThreadID(bits: 1_000 + UInt128($0)) }
        for (index, thread) in threads.enumerated() {
            try await store.execute(.openThread(id: thread, name: "Thread \(index)", by: Fixture.ann))
        }
        try await store.execute(
            .openThread(id: shed, name: "Shed", policy: .open, history: .sinceJoining, by: Fixture.ann))
        try await store.execute(.joinThread(thread: shed, by: Fixture.bob))
        let start = store.head.position
        try await store.execute(.revokeOperator(user: Fixture.bob))
        let found = try await updates(store, after: start, Fixture.bob)
        #expect(lost(found).count == 601)
        #expect(Set(lost(found)) == Set(threads + [shed]))
        #expect(found.last?.resumeToken.position == start + 1)
        #expect(found.dropLast().allSatisfy { $0.resumeToken.position == start })
    }

    /// A thread is open for the first event of its opening: operators are not told that it ceased
    /// to be.
    @Test func openingOfAPrivateThreadIsNotTold() async throws {
        let fixture = try Fixture()
        let store = fixture.store
        try await store.execute(.grantOperator(user: Fixture.cat))
        let start = store.head.position
        try await store.execute(.openThread(id: shed, name: "Shed", policy: .inviteOnly, by: Fixture.ann))
        #expect(try await updates(store, after: start, Fixture.cat).isEmpty)
    }

    // MARK: Live views

    @Test @MainActor func liveThreadsForgetWhatTheViewerLost() async throws {
        let fixture = try Fixture()
        let threads = LiveThreads(fixture.store, as: .user(Fixture.bob))
        try await showing(threads.follow) {
            try await until {
                threads.threads.map(\.name)
            } _: {
                $0 == ["Garden"]
            }
            try fixture.store.eraseUser(Fixture.ann, reason: "user-request")
            try await until {
                threads.threads.map(\.name)
            } _: {
                $0 == [nil]
            }
            try await fixture.store.execute(.leaveThread(thread: Fixture.garden, by: Fixture.bob))
            try await until {
                threads.threads.isEmpty
            } _: {
                $0
            }
        }
    }

    // MARK: Random histories

    /// What a viewer is told equals what they were shown before an erasure and are not shown after.
    @Test(arguments: Seeds.seeds(Repetitions.few(2, of: 40))) func noticesAreWhatTheViewerWasShown(_ seed: UInt64)
        async throws
    {
        var random = SeededRandom(seed: seed)
        let life = try NoticeLife(steps: 160, &random)
        for _ in 0..<3 {
            let before = Dictionary(
                uniqueKeysWithValues: try life.users.map { ($0, try ShownContent(life.store, to: $0)) })
            let start = life.store.head.position
            try life.erase(&random)
            // The roles of an erased user end, so that others may be shown more or less than
            // before.
            let changed = Set(
                try life.store.allEvents()[Int(start)...].flatMap { $0.kind == .contentErased ? [] : [$0.event.user] })
            for viewer in life.users where !changed.contains(viewer) {
                let content = erased(try await updates(life.store, after: start, viewer))
                let (shown, now) = (try #require(before[viewer]), try ShownContent(life.store, to: viewer))
                shown.expect(content, now, "seed \(seed), viewer \(viewer)")
            }
            try life.act(40, &random)
        }
    }
}
