@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Testing

/// The cost of many followers, and the events that wake each.
@Suite(.timeLimit(.minutes(3))) struct SharedFeedTests {
    private typealias Fixture = FollowingFixture

    /// All followers share one wait and one read per event.
    ///
    /// An event wakes only the followers whose filter it may match.
    @Test func idleFollowersShareOneWaitAndOneRead() async throws {
        let fixture = try Fixture()
        let others = (0..<10_000).map { number in
            fixture.follow(
                fixture.store.events(
                    after: 6, matching: EventFilter(as: .host, threads: [ThreadID(bits: UInt128(1_000 + number))])))
        }
        let one = Task {
            try await fixture.store.events(after: 6, matching: EventFilter(as: .host, threads: [Fixture.garden]))
                .prefix(20)
        }
        try await fixture.untilWaiting(10_001)
        try await Fixture.until { fixture.log.waiting == 1 }
        let before = fixture.log.recordsRead
        for number in 0..<20 { try fixture.post("\(number)") }
        #expect(try await one.ended() == Array(7...26))
        #expect(fixture.log.recordsRead - before == 20)
        #expect(fixture.log.waiting == 1 && fixture.log.waits <= 60 && fixture.store.feed.waiterCount == 10_000)
        try fixture.store.close()
        for task in others { #expect(try await task.ended() == []) }
    }

    /// Followers without a filter share reads as well.
    @Test func unfilteredFollowersShareOneRead() async throws {
        let fixture = try Fixture()
        let tasks = (0..<1_000).map { _ in
            Task { try await fixture.store.events(after: 6, matching: EventFilter(as: .host)).prefix(50) }
        }
        try await fixture.untilWaiting(1_000)
        let before = fixture.log.recordsRead
        for number in 0..<50 { try fixture.post("\(number)") }
        for task in tasks { #expect(try await task.ended() == Array(7...56)) }
        #expect(fixture.log.recordsRead - before == 50)
    }

    /// A viewer's memberships change during the wait.
    @Test(arguments: [nil, [EventKind.messagePosted]] as [Set<EventKind>?])
    func waitingViewerFollowsMembershipChanges(kinds: Set<EventKind>?) async throws {
        let fixture = try Fixture()
        let shed = try #require(ThreadID("0195b0a8-7c00-7000-8000-0000000a0077"))
        let filter = EventFilter(as: .user(Fixture.cat), kinds: kinds)
        let task = fixture.follow(fixture.store.events(after: 6, matching: filter))
        try await fixture.untilWaiting()
        try fixture.post("not for Cat")  // 7
        try await fixture.store.execute(.openThread(id: shed, name: "Shed", by: Fixture.ann))  // 8, 9
        try await fixture.untilWaiting()
        try await fixture.store.execute(.joinThread(thread: Fixture.garden, by: Fixture.cat))  // 10
        try await Fixture.until { fixture.store.feed.read(after: 9, limit: 1).positions == [10] }
        try await fixture.untilWaiting()
        try fixture.post("for Cat")  // 11
        try await Fixture.until { fixture.store.feed.read(after: 10, limit: 1).positions == [11] }
        try await fixture.untilWaiting()
        try await fixture.store.execute(.leaveThread(thread: Fixture.garden, by: Fixture.cat))  // 12
        try fixture.post("not for Cat")  // 13
        try await fixture.store.execute(.joinThread(thread: shed, by: Fixture.cat))  // 14
        try fixture.post("for Cat", in: shed)  // 15
        try await Fixture.until { fixture.store.feed.read(after: 14, limit: 1).positions == [15] }
        try await fixture.untilWaiting()
        try fixture.store.close()
        #expect(try await task.ended() == (kinds == nil ? [10, 11, 12, 14, 15] : [11, 15]))
    }

    /// Covers each kind of event for three viewers.
    ///
    /// Private events are shown to their own user only.
    @Test func viewerReceivesReadableEvents() async throws {
        let fixture = try Fixture()
        let store = fixture.store
        let post = MessageID(bits: 40)
        let code = try #require(OutwardCode("SW1A"))
        // At 7.
        try await store.execute(.postMessage(id: post, thread: Fixture.garden, body: "Milk?", by: Fixture.ann))
        try await store.execute(.markRead(thread: Fixture.garden, upTo: 7, by: Fixture.ann))  // 8
        try await store.execute(.changeUsername(username: "Anne", by: Fixture.ann))  // 9
        try await store.execute(.changeUsername(username: "Kate", by: Fixture.cat))  // 10
        try await store.execute(.startSession(id: SessionID(bits: 50), device: "phone", by: Fixture.ann))  // 11
        try await store.execute(.startSession(id: SessionID(bits: 51), device: "phone", by: Fixture.bob))  // 12
        try await store.execute(.setPostcode(postcode: "SW1A 1AA", by: Fixture.cat))  // 13, 14, 15
        try await store.execute(.setPostcode(postcode: "SW1A 1AB", by: Fixture.bob))  // 16, 17
        try await store.execute(.edit(.message(post), body: "Oat milk?", by: Fixture.ann))  // 18
        try await store.execute(.markRead(thread: Fixture.garden, upTo: 7, by: Fixture.bob))  // 19
        let all = try store.allEvents()
        func positions(_ filter: EventFilter) async throws -> [Position] {
            let expected = NaiveFilter.events(all, after: 0, matching: filter).map(\.position)
            #expect(try await store.events(matching: filter).prefix(expected.count) == expected)
            var read: [Position] = []
            try store.forEachEvent(matching: filter) { event, _ in
                read.append(event.position)
            }
            #expect(read == expected)
            return expected
        }
        // Cat shares no thread with another user. Ann shares "Garden" with Bob. A postcode is shown
        // to the members of its thread.
        #expect(try await positions(EventFilter(as: .user(Fixture.bob))) == [2, 6, 7, 9, 12, 16, 17, 18, 19])
        #expect(try await positions(EventFilter(as: .user(Fixture.cat))) == [3, 10, 13, 14, 15, 16, 17])
        #expect(try await positions(EventFilter(as: .user(Fixture.ann))) == [1, 4, 5, 6, 7, 8, 9, 11, 18])
        #expect(try await positions(EventFilter(as: .host, outwardCodes: [code])) == [13, 14, 15, 16, 17])
        #expect(try await positions(EventFilter(as: .user(Fixture.bob), outwardCodes: [code])) == [16, 17])
        #expect(
            try await positions(EventFilter(as: .user(Fixture.bob), threads: [Fixture.garden], users: [Fixture.ann]))
                == [7, 18])
    }

    /// A username change concerns every viewer who shares a thread with the user.
    @Test func usernameChangeWakesItsViewers() async throws {
        let fixture = try Fixture()
        let bob = Task {
            try await fixture.store.events(after: 6, matching: EventFilter(as: .user(Fixture.bob))).prefix(1)
        }
        let cat = fixture.follow(fixture.store.events(after: 6, matching: EventFilter(as: .user(Fixture.cat))))
        try await fixture.untilWaiting(2)
        try await fixture.store.execute(.changeUsername(username: "Anne", by: Fixture.ann))
        #expect(try await bob.ended() == [7])
        try fixture.store.close()
        #expect(try await cat.ended() == [])
    }

    /// The default policy loses no event for a slow consumer.
    @Test func slowConsumerReadsFromLog() async throws {
        let fixture = try Fixture(recentEventCount: 8)
        var events = fixture.store.events(after: 6, matching: EventFilter(as: .host)).makeAsyncIterator()
        try fixture.post("first")
        #expect(try await events.next(1) == [7])
        for number in 0..<300 { try fixture.post("\(number)") }
        #expect(try await events.next(300) == Array(8...307))
    }

    @Test func boundedBacklogThrowsLagged() async throws {
        let fixture = try Fixture(recentEventCount: 64)
        let filter = EventFilter(as: .host, kinds: [.messagePosted])
        var events = fixture.store.events(after: 0, matching: filter, bufferingPolicy: .bounded(3)).makeAsyncIterator()
        // The limit does not count events from before the first wait.
        for number in 0..<10 { try fixture.post("\(number)") }
        #expect(try await events.next(10) == Array(7...16))
        let live = Task { [events] in
            var events = events
            return (try await events.next(1), events)
        }
        try await fixture.untilWaiting()
        try fixture.post("live")
        let positions: [Position]
        (positions, events) = try await live.ended()
        #expect(positions == [17])
        // A backlog at the limit does not throw. Events that do not match do not count.
        for _ in 0..<2 {
            for number in 0..<3 { try fixture.post("\(number)") }
            for number in 0..<20 {
                try await fixture.store.execute(
                    .startSession(
                        id: SessionID(bits: UInt128.random(in: 0 ... .max)), device: "\(number)", by: Fixture.ann))
            }
            let next = try await events.next(3)
            #expect(next.count == 3)
        }
        let position = events.position
        for number in 0..<4 { try fixture.post("\(number)") }
        let error = await chatError { _ = try await events.nextEvent() }
        guard case .lagged(from: position) = error else { return _ = Issue.record("\(String(describing: error))") }
        #expect(try await events.nextEvent() == nil)
        #expect(try await fixture.store.events(after: position, matching: filter).prefix(4).count == 4)
    }

    /// The ring has dropped the backlog.
    ///
    /// Counting it would require reads of the log.
    @Test func boundedBacklogDoesNotReadLog() async throws {
        let fixture = try Fixture(recentEventCount: 16)
        let filter = EventFilter(as: .host, threads: [ThreadID(bits: 99), Fixture.garden], kinds: [.messagePosted])
        let first = Task {
            var events = fixture.store.events(after: 6, matching: filter, bufferingPolicy: .bounded(1_000))
                .makeAsyncIterator()
            return (try await events.next(1), events)
        }
        try await fixture.untilWaiting()
        try fixture.post("first")
        var (positions, events) = try await first.ended()
        #expect(positions == [7])
        for number in 0..<40 { try fixture.post("\(number)") }
        let before = fixture.log.recordsRead
        let error = await chatError { _ = try await events.nextEvent() }
        guard case .lagged(from: 7) = error else { return _ = Issue.record("\(String(describing: error))") }
        #expect(fixture.log.recordsRead - before <= 16)
    }
}
