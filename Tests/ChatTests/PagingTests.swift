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
        try store.executeBlocking(.registerUser(user: ann, username: "Ann"))  // 1
        try store.executeBlocking(.registerUser(user: bob, username: "Bob"))  // 2
        try store.executeBlocking(.openThread(thread: other, name: "Other", by: ann))  // 3, 4
        try store.executeBlocking(.openThread(thread: garden, name: "Garden", by: ann))  // 5, 6
        for number in 1...20 { try post(number, to: store) }  // 7...26
        // 27...31
        for number in 1...5 {
            try store.executeBlocking(
                .reply(
                    reply: ReplyID(bits: UInt128(number)), message: MessageID(bits: 1), author: ann,
                    body: "Reply \(number)"))
        }
        return store
    }

    private func post(_ number: Int, to store: ChatStore) throws {
        try store.executeBlocking(
            .postMessage(
                message: MessageID(bits: UInt128(number)), thread: garden, author: ann, body: "Message \(number)"))
    }

    /// Pages in both directions from the middle while messages arrive after every page.
    @Test(arguments: [1, 2, 3, 7, 50]) func adjacentPagesVisitEachMessageOnceDuringPosts(limit: Int) throws {
        let store = try store()
        let start = try store.timeline(garden, page: PageRequest(limit: limit, around: 15), as: .host)
        var bodies = start.entries.compactMap(\.body)
        var arrived = 20
        var older = start.older
        while let request = older, arrived < 60 {
            arrived += 1
            try post(arrived, to: store)
            let page = try store.timeline(garden, page: request, as: .host)
            #expect(page.entries.count <= limit)
            bodies = page.entries.compactMap(\.body) + bodies
            older = page.older
        }
        #expect(bodies.first == "Message 1")
        var newer = start.newer
        for _ in 0..<100 {
            let page = try store.timeline(garden, page: newer, as: .host)
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
        #expect(try store.timeline(garden, page: newer, as: .host).entries.isEmpty)
        try post(arrived + 1, to: store)
        #expect(try store.timeline(garden, page: newer, as: .host).entries.map(\.body) == ["Message \(arrived + 1)"])
    }

    @Test func pageHasOlderRequestIfEntriesPrecede() throws {
        let store = try store()
        #expect(try store.timeline(garden, page: PageRequest(limit: 20), as: .host).older == nil)
        #expect(
            try store.timeline(garden, page: PageRequest(limit: 19), as: .host).older
                == PageRequest(limit: 19, before: 8))
        #expect(try store.timeline(garden, page: PageRequest(limit: 1, after: 0), as: .host).older == nil)
        #expect(
            try store.timeline(garden, page: PageRequest(limit: 1, after: 7), as: .host).older
                == PageRequest(limit: 1, before: 8))
        for limit in [0, 50] {
            let first = try store.timeline(garden, page: PageRequest(limit: limit, before: 7), as: .host)
            #expect(first.isEmpty && first.older == nil && first.newer == PageRequest(limit: limit, after: 6))
        }
        #expect(try store.timeline(garden, page: PageRequest(before: 0), as: .host).older == nil)
        let empty = try store.timeline(other, as: .host)
        #expect(empty.entries.isEmpty && empty.older == nil && empty.newer == PageRequest(after: store.head.position))
        try store.executeBlocking(.postMessage(thread: other, author: ann, body: "First"))
        #expect(try store.timeline(other, page: empty.newer, as: .host).entries.map(\.body) == ["First"])
    }

    /// A page beyond the end of the journal is placed at the end.
    @Test func pageBeyondTheEndIsEmpty() throws {
        let store = try store()
        let end = store.head.position
        for bound in [end, end + 1, .max] {
            let behind = try store.timeline(garden, page: PageRequest(limit: 1, after: bound), as: .host)
            #expect(behind.isEmpty && behind.newer == PageRequest(limit: 1, after: bound))
            let older = try #require(behind.older)
            #expect(try store.timeline(garden, page: older, as: .host).entries.map(\.body) == ["Message 20"])
            #expect(try store.timeline(garden, page: behind.newer, as: .host).entries.isEmpty)
            #expect(
                try store.timeline(garden, page: PageRequest(limit: 1, before: bound), as: .host).map(\.body) == [
                    "Message 20"
                ])
        }
    }

    @Test func repliesAndThreadsHaveAdjacentPages() throws {
        let store = try store()
        let replies = try store.replies(to: MessageID(bits: 1), page: PageRequest(limit: 2), as: .host)
        #expect(replies.entries.map(\.body) == ["Reply 4", "Reply 5"])
        let olderReplies = try #require(replies.older)
        let before = try store.replies(to: MessageID(bits: 1), page: olderReplies, as: .host)
        #expect(before.entries.map(\.body) == ["Reply 2", "Reply 3"])
        #expect(before.newer == PageRequest(limit: 2, after: 29))
        #expect(try store.replies(to: MessageID(bits: 1), page: before.newer, as: .host) == replies)
        let threads = try store.threads(page: PageRequest(limit: 1), as: .user(ann))
        #expect(threads.entries.map(\.name) == ["Garden"])
        let olderThreads = try #require(threads.older)
        #expect(try store.threads(page: olderThreads, as: .user(ann)).entries.map(\.name) == ["Other"])
        #expect(try store.threads(as: .user(bob)).entries.isEmpty)
    }
}
