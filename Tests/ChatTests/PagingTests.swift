import ChatDomain
import ChatTesting
import EventJournal
import Projections
import Testing

@testable import Chat

@Suite struct PagingTests {
    private let ann = UserID(bits: 1)
    private let bob = UserID(bits: 2)
    private let garden = ThreadID(bits: 31)
    private let other = ThreadID(bits: 32)

    /// Returns a store with two threads of Ann, twenty messages in one, and replies to the first
    /// message.
    private func store(seed: UInt64 = 1) throws -> ChatStore {
        let store = try StoreFixture(seed: seed).open()
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))  // 1
        try store.executeBlocking(.registerUser(id: bob, username: "Bob"))  // 2
        try store.executeBlocking(.openThread(id: other, name: "Other", by: ann))  // 3, 4
        try store.executeBlocking(.openThread(id: garden, name: "Garden", by: ann))  // 5, 6
        for number in 1...20 { try post(number, to: store) }  // 7...26
        // 27...31
        for number in 1...5 {
            try store.executeBlocking(
                .reply(id: ReplyID(bits: UInt128(number)), to: MessageID(bits: 1), body: "Reply \(number)", by: ann))
        }
        return store
    }

    private func post(_ number: Int, to store: ChatStore) throws {
        try store.executeBlocking(
            .postMessage(id: MessageID(bits: UInt128(number)), thread: garden, body: "Message \(number)", by: ann))
    }

    /// Pages in both directions from the middle while messages arrive after every page.
    @Test(arguments: [1, 2, 3, 7, 50]) func adjacentPagesVisitEachMessageOnceDuringPosts(limit: Int) throws {
        let store = try store()
        let start = try store.reader(as: .host).timeline(garden, page: .around(15, limit: limit))
        var bodies = start.entries.compactMap(\.body)
        var arrived = 20
        var older = start.older
        while let request = older, arrived < 60 {
            arrived += 1
            try post(arrived, to: store)
            let page = try store.reader(as: .host).timeline(garden, page: request)
            #expect(page.entries.count <= limit)
            bodies = page.entries.compactMap(\.body) + bodies
            older = page.older
        }
        #expect(bodies.first == "Message 1")
        var newer = start.newer
        for _ in 0..<100 {
            let page = try store.reader(as: .host).timeline(garden, page: newer)
            #expect(page.entries.count <= limit)
            newer = page.newer
            if page.entries.isEmpty { break }
            bodies += page.entries.compactMap(\.body)
            if arrived < 70 {
                arrived += 1
                try post(arrived, to: store)
            }
        }
        #expect(bodies == (1...arrived).map { "Message \($0)" })
        // The request at the end gives messages that arrive later.
        #expect(try store.reader(as: .host).timeline(garden, page: newer).entries.isEmpty)
        try post(arrived + 1, to: store)
        #expect(
            try store.reader(as: .host).timeline(garden, page: newer).entries.map(\.body) == ["Message \(arrived + 1)"])
    }

    @Test func pageHasOlderRequestIfEntriesPrecede() throws {
        let store = try store()
        #expect(try store.reader(as: .host).timeline(garden, page: .latest(20)).older == nil)
        #expect(
            try store.reader(as: .host).timeline(garden, page: .latest(19)).older
                == PageRequest.before(8, limit: 19))
        #expect(try store.reader(as: .host).timeline(garden, page: .after(0, limit: 1)).older == nil)
        #expect(
            try store.reader(as: .host).timeline(garden, page: .after(7, limit: 1)).older
                == PageRequest.before(8, limit: 1))
        for limit in [0, 50] {
            let first = try store.reader(as: .host).timeline(garden, page: .before(7, limit: limit))
            #expect(first.isEmpty && first.older == nil && first.newer == PageRequest.after(6, limit: limit))
        }
        #expect(try store.reader(as: .host).timeline(garden, page: .before(0)).older == nil)
        let empty = try store.reader(as: .host).timeline(other)
        #expect(empty.entries.isEmpty && empty.older == nil && empty.newer == PageRequest.after(store.head.position))
        try store.executeBlocking(.postMessage(thread: other, body: "First", by: ann))
        #expect(try store.reader(as: .host).timeline(other, page: empty.newer).entries.map(\.body) == ["First"])
    }

    /// A page beyond the end of the journal is placed at the end.
    @Test func pageBeyondTheEndIsEmpty() throws {
        let store = try store()
        let end = store.head.position
        for bound in [end, end + 1, .max] {
            let behind = try store.reader(as: .host).timeline(garden, page: .after(bound, limit: 1))
            #expect(behind.isEmpty && behind.newer == PageRequest.after(bound, limit: 1))
            let older = try #require(behind.older)
            #expect(try store.reader(as: .host).timeline(garden, page: older).entries.map(\.body) == ["Message 20"])
            #expect(try store.reader(as: .host).timeline(garden, page: behind.newer).entries.isEmpty)
            #expect(
                try store.reader(as: .host).timeline(garden, page: .before(bound, limit: 1)).map(\.body)
                    == [
                        "Message 20"
                    ])
        }
    }

    @Test func repliesAndThreadsHaveAdjacentPages() throws {
        let store = try store()
        let replies = try store.reader(as: .host).replies(to: MessageID(bits: 1), page: .latest(2))
        #expect(replies.entries.map(\.body) == ["Reply 4", "Reply 5"])
        let olderReplies = try #require(replies.older)
        let before = try store.reader(as: .host).replies(to: MessageID(bits: 1), page: olderReplies)
        #expect(before.entries.map(\.body) == ["Reply 2", "Reply 3"])
        #expect(before.newer == PageRequest.after(29, limit: 2))
        #expect(try store.reader(as: .host).replies(to: MessageID(bits: 1), page: before.newer) == replies)
        let threads = try store.reader(as: .user(ann)).threads(page: .latest(1))
        #expect(threads.entries.map(\.name) == ["Garden"])
        let olderThreads = try #require(threads.older)
        #expect(try store.reader(as: .user(ann)).threads(page: olderThreads).entries.map(\.name) == ["Other"])
        #expect(try store.reader(as: .user(bob)).threads().entries.isEmpty)
    }
}
