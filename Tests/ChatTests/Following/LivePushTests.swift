@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Locking
import Testing

/// Followers that receive new events without their task.
@Suite(.timeLimit(.minutes(3))) struct LivePushTests {
    private typealias Fixture = FollowingFixture

    private let shed = ThreadID(bits: 32)

    /// How often a text was made.
    private final class Makes: Sendable { let count = Lock(0) }

    /// What one follower has received.
    private final class Received: Sendable {
        struct State {
            /// The events, and whether each came without the task.
            var events: [(event: FollowedEvent, isPushed: Bool)] = []
            var texts: [String] = []
            var notices: [FollowedUpdate] = []
            /// How many pushes are accepted.
            var room = Int.max
        }

        let state = Lock(State())

        var positions: [Position] { state.withLock { $0.events.map(\.event.position) } }
        var pushed: [Bool] { state.withLock { $0.events.map(\.isPushed) } }
        var texts: [String] { state.withLock { $0.texts } }
        var notices: [FollowedUpdate] { state.withLock { $0.notices } }

        func push(_ event: FollowedEvent, _ texts: inout SharedTexts, _ makes: Makes) -> Bool {
            let bytes = texts.text(nil, of: event) { shown in
                makes.count.withLock { $0 += 1 }
                return Array(LivePushTests.text(shown.recorded).utf8)
            }
            return state.withLock { state in
                guard state.room > 0 else { return false }
                state.room -= 1
                state.events.append((event, true))
                state.texts.append(String(decoding: bytes, as: UTF8.self))
                return true
            }
        }

        func write(_ update: FollowedUpdate) {
            state.withLock { state in
                guard case .event(let event) = update else { return state.notices.append(update) }
                state.events.append((event, false))
                state.texts.append(LivePushTests.text(event.recorded))
            }
        }
    }

    /// Everything that a viewer is shown of an event.
    private static func text(_ event: RecordedEvent) -> String { "\(event)" }

    private let makes = Makes()

    private func follow(_ fixture: Fixture, _ viewer: UserID?, _ received: Received, in thread: ThreadID? = nil)
        -> Task<Void, any Error>
    {
        let filter = EventFilter(as: Viewer(orHost: viewer), threads: thread.map { [$0] })
        let updates = fixture.store.events(after: fixture.store.head.position, matching: filter).updates
        return Task { [makes] in
            try await updates.deliver({ received.push($0, &$1, makes) }, nil) { received.write($0) }
        }
    }

    private func shed(_ fixture: Fixture, history: ThreadHistory = .all) async throws {
        try await fixture.store.execute(
            .openThread(id: shed, name: "Shed", policy: .open, history: history, by: Fixture.ann))
        try await fixture.store.execute(.joinThread(thread: shed, by: Fixture.bob))
    }

    @Test func newEventsNeedNoTask() async throws {
        let fixture = try Fixture()
        let (bob, cat) = (Received(), Received())
        let tasks = [follow(fixture, Fixture.bob, bob), follow(fixture, Fixture.cat, cat)]
        try await fixture.untilWaiting(2)
        let positions = try (0..<20).map { try fixture.post("Milk \($0)?") }
        try await Fixture.until { bob.positions.count == 20 }
        // The followers have not stopped waiting.
        #expect(bob.positions == positions && bob.pushed.allSatisfy { $0 } && fixture.store.feed.waiterCount == 2)
        #expect(cat.positions.isEmpty)
        for task in tasks { task.cancel() }
        for task in tasks { try await task.value }
        try fixture.post("Late?")
        #expect(bob.positions == positions && fixture.store.feed.waiterCount == 0)
    }

    /// A follower that accepts no more reads on by itself, and misses and repeats nothing.
    @Test(arguments: [0, 1, 5]) func refusedEventComesFromTheTask(room: Int) async throws {
        let fixture = try Fixture()
        let bob = Received()
        bob.state.withLock { $0.room = room }
        let task = follow(fixture, Fixture.bob, bob)
        var positions: [Position] = []
        for index in 0..<20 {
            try await fixture.untilWaiting()
            positions.append(try fixture.post("Milk \(index)?"))
            try await Fixture.until { bob.positions.count == index + 1 }
            if index == 10 { bob.state.withLock { $0.room = 2 } }
        }
        #expect(bob.positions == positions)
        #expect(bob.pushed == (0..<20).map { $0 < room || $0 == 11 || $0 == 12 })
        task.cancel()
        try await task.value
    }

    /// Viewers share a text only if they are shown the same: each receives what an iterator of
    /// theirs returns, and a text is made once for each class.
    @Test func viewersShareOnlyWhatIsEqual() async throws {
        let fixture = try Fixture()
        let (store, dan) = (fixture.store, UserID(bits: 4))
        try await store.execute(.registerUser(id: dan, username: "Dan"))
        try await shed(fixture)
        for user in [Fixture.cat, dan] { try await store.execute(.joinThread(thread: shed, by: user)) }
        try await store.execute(.block(user: Fixture.bob, by: dan))
        let viewers = [Fixture.ann, Fixture.bob, Fixture.cat, dan, nil]
        let received = viewers.map { _ in Received() }
        let tasks = zip(viewers, received).map { follow(fixture, $0, $1) }
        let start = store.head.position
        try await fixture.untilWaiting(viewers.count)

        let message = MessageID(bits: 0xB0B)
        makes.count.withLock { $0 = 0 }
        try await store.execute(
            .postMessage(id: message, thread: shed, body: "Watches?", by: Fixture.bob), correlation: "secret")
        try await Fixture.until { received.allSatisfy { $0.positions.count == 1 } }
        // Bob's and the host's has the correlation id, Dan's the mark of a blocked author, Ann's
        // and Cat's neither.
        #expect(makes.count.withLock { $0 } == 3)

        try await store.execute(.report(.message(message), reason: "an advertisement", by: Fixture.cat))
        try await store.execute(.remove(.message(message), reason: "spam", by: Fixture.ann))
        try await store.execute(.mute(user: Fixture.bob, thread: shed, reason: "again", by: Fixture.ann))
        try await store.execute(.changeUsername(username: "Kit", by: Fixture.cat))
        try await store.execute(.setPostcode(postcode: "SW1A 1AA", by: Fixture.cat))
        let end = store.head.position
        for (viewer, received) in zip(viewers, received) {
            var expected: [String] = []
            for try await update in store.events(
                after: start, upTo: end, matching: EventFilter(as: Viewer(orHost: viewer))
            ).updates {
                if case .event(let event) = update { expected.append(Self.text(event.recorded)) }
            }
            try await Fixture.until { received.texts.count == expected.count }
            // The text of the first event was removed after its delivery.
            #expect(received.texts.dropFirst() == expected.dropFirst(), "\(String(describing: viewer))")
            #expect(received.positions.first == start + 1 && received.texts.first?.contains("Watches?") == true)
            let isBobOrHost = viewer == nil || viewer == Fixture.bob
            #expect(received.texts.first?.contains("secret") == isBobOrHost)
        }
        #expect(
            received[2].texts.allSatisfy { !$0.contains("spam") } && received[0].texts.contains { $0.contains("spam") })
        for task in tasks { task.cancel() }
    }

    /// After the end of the access nothing more of the thread comes, and after a join everything.
    @Test func accessIsAskedForEachEvent() async throws {
        let fixture = try Fixture()
        let store = fixture.store
        try await shed(fixture)
        let (bob, cat) = (Received(), Received())
        let tasks = [follow(fixture, Fixture.bob, bob), follow(fixture, Fixture.cat, cat)]
        try await fixture.untilWaiting(2)
        let first = try fixture.post("Milk?", in: shed)
        // Before the ban, after which Bob may no longer see it.
        try await Fixture.until { bob.positions == [first] }
        try await store.execute(.ban(user: Fixture.bob, thread: shed, reason: "spam", by: Fixture.ann))
        try fixture.post("Bread?", in: shed)
        try await store.execute(.joinThread(thread: shed, by: Fixture.cat))
        let last = try fixture.post("Cheese?", in: shed)
        try await Fixture.until { cat.positions.last == last && !bob.notices.isEmpty && bob.positions.count == 3 }
        #expect(
            bob.positions.first == first && bob.texts.allSatisfy { !$0.contains("Bread") && !$0.contains("Cheese") })
        #expect(bob.notices.contains { if case .accessLost(shed, _) = $0 { true } else { false } })
        #expect(cat.texts.allSatisfy { !$0.contains("Bread") } && cat.texts.last?.contains("Cheese?") == true)
        // A later event of Cat's new thread needs no task.
        try await fixture.untilWaiting(2)
        let later = try fixture.post("Eggs?", in: shed)
        try await Fixture.until { cat.positions.last == later }
        #expect(cat.pushed.last == true && !bob.texts.contains { $0.contains("Eggs") })
        for task in tasks { task.cancel() }
    }

    /// A follower with a last position waits for every event, and delivers those of its viewer
    /// only.
    @Test func followerWithAnEndShowsNoMore() async throws {
        let fixture = try Fixture()
        let (cat, makes, start) = (Received(), makes, fixture.store.head.position)
        let updates = fixture.store.events(after: start, upTo: start + 3, matching: EventFilter(as: .user(Fixture.cat)))
            .updates
        let task = Task { try await updates.deliver({ cat.push($0, &$1, makes) }, nil) { cat.write($0) } }
        try await fixture.untilWaiting()
        try fixture.post("Milk?")
        try await fixture.store.execute(.joinThread(thread: Fixture.garden, by: Fixture.cat))
        let last = try fixture.post("Bread?")
        try await task.value
        #expect(cat.positions == [last - 1, last] && !cat.pushed.contains(true))
    }

    /// A notice of an erasure comes before the events after it.
    @Test func erasureComesInItsOrder() async throws {
        let fixture = try Fixture()
        let bob = Received()
        let task = follow(fixture, Fixture.bob, bob)
        try await fixture.untilWaiting()
        try fixture.post("Milk?")
        try await Fixture.until { bob.positions.count == 1 }
        _ = try fixture.store.eraseUser(Fixture.ann, reason: "asked")
        try await Fixture.until { !bob.notices.isEmpty }
        try await fixture.untilWaiting()
        let last = try fixture.post("Bread?", by: Fixture.bob)
        try await Fixture.until { bob.positions.last == last }
        guard case .erased(let content, _) = try #require(bob.notices.first) else { throw ChatError.cancelled }
        #expect(content.users == [Fixture.ann] && bob.pushed.last == true)
        task.cancel()
    }
}
