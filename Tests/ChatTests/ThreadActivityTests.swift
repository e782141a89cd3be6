import ChatDomain
import ChatTesting
import Projections
import Testing

@testable import Chat

/// The counts of a thread's messages by day.
@Suite struct ThreadActivityTests {
    private let ann = UserID(bits: 1)
    private let bob = UserID(bits: 2)
    private let thread = ThreadID(bits: 31)

    /// A store in which Ann writes on two days, and Bob, who joined on the second one, on that.
    private func makeStore(_ history: ThreadHistory) throws -> ChatStore {
        let fixture = StoreFixture()
        let store = try fixture.open()
        for (user, name) in [(ann, "Ann"), (bob, "Bob")] {
            try store.executeBlocking(.registerUser(id: user, username: name))
        }
        let square = ThreadID(bits: 77)
        try store.executeBlocking(.openThread(id: square, name: "Square", by: bob))
        try store.executeBlocking(.joinThread(thread: square, by: ann))
        try store.executeBlocking(
            .openThread(id: thread, name: "Market", policy: .inviteOnly, history: history, by: ann))
        for number in 0..<3 { try store.executeBlocking(.postMessage(thread: thread, body: "\(number)", by: ann)) }
        fixture.clock.advance(byMilliseconds: 86_400_000)
        try store.executeBlocking(.invite(user: bob, thread: thread, by: ann))
        try store.executeBlocking(.acceptInvitation(thread: thread, by: bob))
        for author in [ann, bob] {
            try store.executeBlocking(.postMessage(thread: thread, body: "later", by: author))
        }
        return store
    }

    @Test(arguments: [ThreadHistory.all, .sinceJoining]) func onlyWhatAViewerMayReadIsCounted(history: ThreadHistory)
        throws
    {
        let store = try makeStore(history)
        func counts(_ viewer: Viewer, days: Int = 28) throws -> [Int] {
            let found = try store.reader(as: viewer).activity(in: thread, days: days)
            #expect(!found.hasMore && found.to.daysSince1970 - found.from.daysSince1970 == Int64(days) - 1)
            return found.days.map(\.messages) + [found.people]
        }
        #expect(try counts(.user(ann)) == [3, 2, 2])
        #expect(try counts(.host) == [3, 2, 2])
        #expect(try counts(.user(bob)) == (history == .all ? [3, 2, 2] : [2, 2]))
        #expect(try counts(.user(ann), days: 1) == [2, 2])
        try store.executeBlocking(.leaveThread(thread: thread, by: bob))
        #expect(throws: ChatError.self) { try counts(.user(bob)) }
        try store.close()
    }

    /// Steps of any size count the same.
    @Test(arguments: [1, 2, 7, 512]) func aScanContinuesWhereItStopped(limit: Int) throws {
        let store = try makeStore(.all)
        let today = try store.reader(as: .host).activity(in: thread).to
        let days = CalendarDay(daysSince1970: today.daysSince1970 - 27)...today
        let position = store.head.position
        let scan = store.withCurrentModels { models, _ in
            models.activityScan(of: thread, days, after: 0, asOf: position)
        }
        var counting = try #require(scan)
        while !counting.isAtEnd { store.withCurrentModels { models, _ in counting.advance(models, limit: limit) } }
        #expect(counting.counts.values.sorted() == [2, 3] && counting.authors.count == 2)
        try store.close()
    }
}
