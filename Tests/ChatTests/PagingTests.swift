import ChatDomain
import ChatTesting
import EventJournal
import Foundation
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
                .reply(reply: ReplyID(bits: UInt128(number)), message: MessageID(bits: 1), author: ann, body: "Reply \(number)"))
        }
        return store
    }

    private func post(_ number: Int, to store: ChatStore) throws {
        try store.executeBlocking(
            .postMessage(message: MessageID(bits: UInt128(number)), thread: garden, author: ann, body: "Message \(number)"))
    }

    private func sent(_ cursor: PageCursor) throws -> PageCursor { try #require(PageCursor(cursor.description)) }

    /// Pages in both directions from the middle while messages arrive after every page.
    @Test(arguments: [1, 2, 3, 7, 50]) func cursorsVisitEachMessageOnceDuringPosts(limit: Int) throws {
        let store = try store()
        let start = try store.timeline(garden, page: PageRequest(limit: limit, around: 15), as: .host)
        var bodies = start.entries.compactMap(\.body)
        var arrived = 20
        var older = start.older
        while let cursor = older, arrived < 60 {
            arrived += 1
            try post(arrived, to: store)
            let page = try store.timeline(garden, page: PageRequest(limit: limit), at: try sent(cursor), as: .host)
            #expect(page.entries.count <= limit)
            bodies = page.entries.compactMap(\.body) + bodies
            older = page.older
        }
        #expect(bodies.first == "Message 1")
        var newer = start.newer
        for _ in 0..<100 {
            let page = try store.timeline(garden, page: PageRequest(limit: limit), at: try sent(newer), as: .host)
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
        // A cursor at the end leads to messages that arrive later.
        #expect(try store.timeline(garden, at: newer, as: .host).entries.isEmpty)
        try post(arrived + 1, to: store)
        #expect(try store.timeline(garden, at: newer, as: .host).entries.map(\.body) == ["Message \(arrived + 1)"])
    }

    @Test func pageHasOlderCursorIfEntriesPrecede() throws {
        let store = try store()
        #expect(try store.timeline(garden, page: PageRequest(limit: 20), as: .host).older == nil)
        #expect(try store.timeline(garden, page: PageRequest(limit: 19), as: .host).older != nil)
        #expect(try store.timeline(garden, page: PageRequest(limit: 1, after: 0), as: .host).older == nil)
        #expect(try store.timeline(garden, page: PageRequest(limit: 1, after: 7), as: .host).older != nil)
        #expect(
            try store.timeline(garden, page: PageRequest(before: 7), as: .host)
                == store.timeline(garden, page: PageRequest(limit: 0, before: 7), as: .host))
        #expect(try store.timeline(garden, page: PageRequest(before: 0), as: .host).older == nil)
        let empty = try store.timeline(other, as: .host)
        #expect(empty.entries.isEmpty && empty.older == nil)
        try store.executeBlocking(.postMessage(thread: other, author: ann, body: "First"))
        #expect(try store.timeline(other, at: empty.newer, as: .host).entries.map(\.body) == ["First"])
        let behind = try store.timeline(garden, page: PageRequest(after: .max), as: .host)
        #expect(behind.entries.isEmpty)
        let cursor = try #require(behind.older)
        #expect(try store.timeline(garden, page: PageRequest(limit: 1), at: cursor, as: .host).entries.map(\.body) == ["Message 20"])
        #expect(try store.timeline(garden, at: behind.newer, as: .host).entries.isEmpty)
    }

    @Test func repliesAndThreadsHaveCursors() throws {
        let store = try store()
        let replies = try store.replies(to: MessageID(bits: 1), page: PageRequest(limit: 2), as: .host)
        #expect(replies.entries.map(\.body) == ["Reply 4", "Reply 5"])
        let olderReplies = try #require(replies.older)
        let before = try store.replies(to: MessageID(bits: 1), page: PageRequest(limit: 2), at: olderReplies, as: .host)
        #expect(before.entries.map(\.body) == ["Reply 2", "Reply 3"])
        #expect(
            try store.replies(to: MessageID(bits: 1), at: before.newer, as: .host)
                == store.replies(to: MessageID(bits: 1), page: PageRequest(after: 29), as: .host))
        let threads = try store.threads(page: PageRequest(limit: 1), as: .user(ann))
        #expect(threads.entries.map(\.name) == ["Garden"])
        let olderThreads = try #require(threads.older)
        #expect(try store.threads(at: olderThreads, as: .user(ann)).entries.map(\.name) == ["Other"])
        #expect(try store.threads(as: .user(bob)).entries.isEmpty)
    }

    @Test func cursorOfAnotherListOrJournalIsRejected() throws {
        let store = try store()
        let page = try store.timeline(garden, page: PageRequest(limit: 3), as: .host)
        let cursor = try #require(page.older)
        let strangers = try [
            self.store(seed: 2).timeline(garden, page: PageRequest(limit: 3), as: .host).newer, store.timeline(other, as: .host).newer,
            store.replies(to: MessageID(bits: 1), as: .host).newer, store.threads(as: .host).newer,
        ]
        for stranger in strangers { expectForeign { () throws(ChatError) in _ = try store.timeline(garden, at: stranger, as: .host) } }
        expectForeign { () throws(ChatError) in _ = try store.threads(at: cursor, as: .host) }
        expectForeign { () throws(ChatError) in _ = try store.replies(to: MessageID(bits: 1), at: cursor, as: .host) }
        expectForeign { () throws(ChatError) in _ = try store.replies(to: MessageID(bits: 2), at: strangers[2], as: .host) }
        var beyond = cursor
        beyond.bound = store.head.position + 2
        expectRejection(.invalidPosition) { () throws(ChatError) in _ = try store.timeline(garden, at: beyond, as: .host) }
        beyond.bound = .max
        expectRejection(.invalidPosition) { () throws(ChatError) in _ = try store.timeline(garden, at: beyond, as: .host) }
        beyond.direction = .newer
        beyond.bound = store.head.position + 1
        expectRejection(.invalidPosition) { () throws(ChatError) in _ = try store.timeline(garden, at: beyond, as: .host) }
        // A cursor grants no permission.
        expectRejection(.notAMember) { () throws(ChatError) in _ = try store.timeline(garden, at: cursor, as: .user(bob)) }
    }

    @Test func cursorRoundTripsThroughTextAndJSON() throws {
        let store = try store()
        let page = try store.timeline(garden, page: PageRequest(limit: 3), as: .host)
        let older = try #require(page.older)
        let cursors = try [page.newer, older, store.replies(to: MessageID(bits: 1), as: .host).newer, store.threads(as: .host).newer]
        for cursor in cursors {
            #expect(PageCursor(cursor.description) == cursor)
            #expect(cursor.description.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        }
        let data = try JSONEncoder().encode(page)
        #expect(try JSONDecoder().decode(Page<Post>.self, from: data) == page)
        #expect(String(decoding: try JSONEncoder().encode(try store.timeline(other, as: .host)), as: UTF8.self).contains(#""older":null"#))
    }

    /// A mutated text is rejected, or decodes as another valid cursor that the store checks.
    @Test(arguments: Seeds.seeds(8)) func malformedTextIsNoCursor(seed: UInt64) throws {
        let store = try store()
        let good = try store.timeline(garden, page: PageRequest(limit: 3), as: .host).newer.description
        var random = SeededRandom(seed: seed)
        for _ in 0..<400 {
            var bytes = Array(good.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let index = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(contentsOf: bytes[index...].prefix(9), at: Int.random(in: bytes.indices, using: &random))
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            guard let cursor = PageCursor(text) else { continue }
            #expect(cursor.description == text)
            do throws(ChatError) { _ = try store.timeline(garden, at: cursor, as: .host) } catch {
                switch error {
                case .foreignCursor: break
                case .rejected(let rejection): #expect(rejection.code == .invalidPosition)
                default: Issue.record("\(error)")
                }
            }
        }
        let journal = store.head.journal
        for text in [
            "", ".", "1", "1.\(journal)", "1.\(journal).threads", "1.\(journal).threads.newer", "1.\(journal).threads.newer.",
            "1.\(journal).threads.newer.+1", "1.\(journal).threads.newer.01", "1.\(journal).threads.newer.-1",
            "1.\(journal).threads.sideways.1",
            "1.\(journal).threads.newer.18446744073709551616", "2.\(journal).threads.newer.1", "1.\(journal).timeline.newer.1",
            "1.\(journal).threads.\(garden).newer.1", "1.\(journal.description.uppercased()).replies.\(garden).newer.1",
            String(repeating: ".", count: 100_000),
        ] { #expect(PageCursor(text) == nil, "\(text.prefix(200))") }
        #expect(PageCursor("1.\(journal).threads.newer.18446744073709551615") != nil)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([PageCursor].self, from: Data(#"["nonsense"]"#.utf8)) }
    }

    private func expectForeign(_ body: () throws(ChatError) -> Void) {
        do throws(ChatError) {
            try body()
            Issue.record("a foreign cursor was accepted")
        } catch {
            if case .foreignCursor = error { return }
            Issue.record("\(error)")
        }
    }
}
