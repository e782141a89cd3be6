@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Locking
import Testing

/// How a follower starts, continues and ends.
// The time limit ends a wait for an event that never arrives.
@Suite(.timeLimit(.minutes(3))) struct FollowerTests {
    private typealias Fixture = FollowingFixture

    @Test func existingEventsPrecedeNewOnes() async throws {
        let fixture = try Fixture()
        var events = fixture.store.events(after: 2, matching: EventFilter(as: .host)).makeAsyncIterator()
        #expect(try await events.next(3) == [3, 4, 5])
        #expect(events.position == 5)
        try fixture.post("Milk?")
        #expect(try await events.next(2) == [6, 7])
        #expect(try await events.next(0) == [])
        let waiting = fixture.follow(fixture.store.events(after: 7, matching: EventFilter(as: .host)))
        try await fixture.untilWaiting()
        try fixture.post("Bread?")
        #expect(try await events.nextEvent()?.event.body == "Bread?")
        try fixture.store.close()
        #expect(try await waiting.ended() == [8])
    }

    /// A delivered event is visible to later queries.
    ///
    /// No event is visible before it is durable.
    @Test func eventsAreDeliveredOnceDurable() async throws {
        let fixture = try Fixture()
        fixture.log.gate = 6
        let following = fixture.follow(fixture.store.events(after: 0, matching: EventFilter(as: .host)))
        try await fixture.untilWaiting()
        let posting = Task {
            try await fixture.store.execute(
                .postMessage(id: nil, thread: Fixture.garden, body: "Milk?", by: Fixture.ann))
        }
        try await Fixture.until { fixture.log.journal.durablePosition == 7 }
        #expect(try await fixture.store.events(after: 5, matching: EventFilter(as: .host)).prefix(1) == [6])
        for _ in 0..<100 { await Task.yield() }
        #expect(fixture.store.feed.waiterCount == 1)
        fixture.log.gate = .max
        _ = try await posting.ended()
        try await Fixture.until { fixture.store.feed.read(after: 6, limit: 1).positions == [7] }
        try await fixture.untilWaiting()
        try fixture.store.close()
        #expect(try await following.ended() == [1, 2, 3, 4, 5, 6, 7])
    }

    @Test func closeEndsWaitingAndReadingFollowers() async throws {
        let fixture = try Fixture()
        let waiting = (0..<5).map { _ in
            fixture.follow(fixture.store.events(after: 4, matching: EventFilter(as: .host)))
        }
        try await fixture.untilWaiting(5)
        var reading = fixture.store.events(matching: EventFilter(as: .host)).makeAsyncIterator()
        #expect(try await reading.next(2) == [1, 2])
        try fixture.store.close()
        for task in waiting { #expect(try await task.ended() == [5, 6]) }
        // The iterator delivers its current batch before it ends.
        #expect(try await reading.next(10) == [3, 4, 5, 6])
        #expect(try await reading.nextEvent() == nil)
        #expect(try await fixture.store.events(matching: EventFilter(as: .host)).prefix(1) == [])
        #expect(!fixture.store.feed.isWatchingLog)
    }

    @Test func cancellationEndsOneFollower() async throws {
        let fixture = try Fixture()
        let first = fixture.follow(fixture.store.events(after: 6, matching: EventFilter(as: .host)))
        let second = fixture.follow(fixture.store.events(after: 6, matching: EventFilter(as: .host)))
        try await fixture.untilWaiting(2)
        first.cancel()
        #expect(try await first.ended() == [])
        #expect(fixture.store.feed.waiterCount == 1 && fixture.store.feed.isWatchingLog)
        try fixture.post("Milk?")
        try await Fixture.until { fixture.store.feed.read(after: 6, limit: 1).positions == [7] }
        try await fixture.untilWaiting(1)
        second.cancel()
        #expect(try await second.ended() == [7])
        // Without waiting followers the feed does not wait on the log.
        #expect(!fixture.store.feed.isWatchingLog)
        try await Fixture.until { fixture.log.waiting == 0 }
        // A follower that starts later is served as before.
        let third = fixture.follow(fixture.store.events(after: 6, matching: EventFilter(as: .host)))
        try await fixture.untilWaiting()
        try fixture.post("Bread?")
        try await Fixture.until { fixture.store.feed.read(after: 7, limit: 1).positions == [8] }
        try await fixture.untilWaiting()
        third.cancel()
        #expect(try await third.ended() == [7, 8])
    }

    @Test func cancelledTaskReceivesNoMoreEvents() async throws {
        let fixture = try Fixture()
        let hasBegun = Lock(false)
        let task = Task {
            var events = fixture.store.events(matching: EventFilter(as: .host)).makeAsyncIterator()
            let first = try await events.next(2)
            hasBegun.withLock { $0 = true }
            try await Fixture.until("the cancellation") { Task.isCancelled }
            return first + (try await events.next(2)) + [events.position]
        }
        try await Fixture.until { hasBegun.withLock { $0 } }
        task.cancel()
        #expect(try await task.ended() == [1, 2, 2])
    }

    @Test func invalidPositionAndUnknownViewerAreRejected() async throws {
        let fixture = try Fixture()
        let beyond = await chatError {
            _ = try await fixture.store.events(after: 7, matching: EventFilter(as: .host)).prefix(1)
        }
        guard case .rejected(.invalidPosition) = beyond else {
            return _ = Issue.record("\(String(describing: beyond))")
        }
        let nobody = await chatError {
            _ = try await fixture.store.events(matching: EventFilter(as: .user(UserID(bits: 9)))).prefix(1)
        }
        guard case .rejected(.unknownUser) = nobody else { return _ = Issue.record("\(String(describing: nobody))") }
    }

    /// Covers live delivery, the ring and the log.
    ///
    /// All events before the damage are delivered.
    @Test(arguments: [1, 4_096]) func damageErrorNamesItsPositions(recentEventCount: Int) async throws {
        let fixture = try Fixture(recentEventCount: recentEventCount)
        let live = Task {
            var events = fixture.store.events(after: 6, matching: EventFilter(as: .host)).makeAsyncIterator()
            let positions = try await events.next(2)
            return (positions, await chatError { _ = try await events.nextEvent() }, try await events.nextEvent())
        }
        try await fixture.untilWaiting()
        fixture.log.damaged = 9
        _ = try await fixture.store.execute(
            [7, 8, 9, 10].map { number in
                CommandRequest(
                    .postMessage(id: nil, thread: Fixture.garden, body: "\(number)", by: Fixture.ann))
            })
        let (positions, error, afterwards) = try await live.ended()
        #expect(positions == [7, 8] && afterwards == nil)
        #expect(error?.journalError?.code == .damaged && error?.journalError?.positions == 9...9)
        var replay = fixture.store.events(matching: EventFilter(as: .host)).makeAsyncIterator()
        #expect(try await replay.next(8) == [1, 2, 3, 4, 5, 6, 7, 8])
        let again = await chatError { _ = try await replay.nextEvent() }
        #expect(again?.journalError?.positions == 9...9)
        #expect(replay.position == 8)
        // A follower that starts behind the damage is not affected.
        fixture.log.damaged = nil
        #expect(try await fixture.store.events(after: 9, matching: EventFilter(as: .host)).prefix(1) == [10])
    }

    @Test func stoppedLogThrowsItsFailure() async throws {
        let fixture = try Fixture()
        let task = fixture.follow(fixture.store.events(after: 5, matching: EventFilter(as: .host)))
        try await fixture.untilWaiting()
        fixture.log.gate = 6
        fixture.log.waitFailure = JournalError(.syncFailed, "injected")
        // The post wakes the log's own wait, which then throws the failure.
        let waiting = Task { try fixture.post("Milk?") }
        let error = await chatError { _ = try await task.ended() }
        #expect(error?.journalError?.code == .syncFailed)
        fixture.log.gate = .max
        _ = try await waiting.ended()
    }

    /// Both the byte count and the event count bound a batch.
    @Test func batchIsBounded() async throws {
        let fixture = try Fixture(recentEventCount: 1, segmentSize: 1 << 20)
        for _ in 0..<3 {
            _ = try await fixture.store.execute(
                (0..<120).map { _ in
                    CommandRequest(
                        .postMessage(id: nil, thread: Fixture.garden, body: "short", by: Fixture.ann))
                })
        }
        func portion(after position: Position) async throws -> [Position] {
            guard
                case .updates(let updates) = try await Follower.step(
                    of: fixture.store.events(after: position, matching: EventFilter(as: .host)).follower
                ).1
            else {
                return []
            }
            return updates.map(\.resumeToken.position)
        }
        #expect(try await portion(after: 6) == Array(7...262))
        let body = String(repeating: "x", count: 16_000)
        for _ in 0..<20 { try fixture.post(body) }
        #expect(try await portion(after: 366) == Array(367...371))
        #expect(try await fixture.store.events(matching: EventFilter(as: .host)).prefix(386) == Array(1...386))
    }
}

extension ChatError {
    /// The journal's error, or nil for other errors.
    var journalError: JournalError? {
        if case .journal(let error) = self { error } else { nil }
    }
}

extension EventFeed.ReadResult {
    /// The positions of the recent events, or nil for other views.
    var positions: [Position]? {
        if case .recent(let events) = self { events.map(\.position) } else { nil }
    }
}
