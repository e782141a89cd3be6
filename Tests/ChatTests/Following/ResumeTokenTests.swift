@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import Testing

/// A token resumes in the history that it names, or throws.
@Suite(.timeLimit(.minutes(3))) struct ResumeTokenTests {
    private typealias Fixture = FollowingFixture

    private func options(_ storage: MemoryStorage, seed: UInt64 = 1) -> StoreOptions {
        StoreOptions(
            journal: JournalOptions(segmentSize: 1_000, storage: storage, entropy: SeededEntropy(seed: seed)),
            clock: ManualClock(),
            ids: SeededIDs(seed: seed))
    }

    /// Returns a store with commits of one, three and five events, over several segments.
    private func store(_ storage: MemoryStorage, at path: String = "journal", seed: UInt64 = 1) throws -> ChatStore {
        let store = try ChatStore.open(path, options: options(storage, seed: seed))
        for number in 0..<8 {
            let user = UserID(bits: UInt128(number) + 1)
            try store.executeBlocking(.registerUser(id: user, username: "User \(number)"))
            try store.executeBlocking(.setPostcode(postcode: "E\(number + 1) 6AN", by: user))
            let posts = (0..<4).map { _ in
                CommandRequest(.postMessage(id: nil, thread: ThreadID(bits: 0), body: "refused", by: user))
            }
            let sessions = (0..<5).map {
                CommandRequest(.startSession(id: nil, device: "device \($0)", by: user))
            }
            _ = try store.executeBlocking(posts + sessions)
        }
        return store
    }

    private func error(of token: ResumeToken, in store: ChatStore) async -> ChatError? {
        await chatError { _ = try await store.events(after: token, matching: EventFilter(as: .host)).prefix(1) }
    }

    /// Covers positions inside commits, the same store, a reopened one and a read-only one.
    @Test func tokenOfAnyPositionResumes() async throws {
        let storage = MemoryStorage()
        var store = try store(storage)
        let last = store.head.position
        #expect(last == 72)
        let tokens = try (0...last).map { try store.resumeToken(after: $0) }
        for token in tokens { #expect(ResumeToken(token.description) == token) }
        // Each token names the head of its own commit, of one, three or five events.
        #expect(tokens[0...9].map(\.head.position) == [0, 1, 4, 4, 4, 9, 9, 9, 9, 9])
        for round in 0..<3 {
            for (position, token) in tokens.enumerated() {
                #expect(token.position == Position(position) && token.journal == store.head.journal)
                let expected = Array((Position(position) + 1...last + 1).dropLast())
                #expect(
                    try await store.events(after: token, matching: EventFilter(as: .host)).prefix(expected.count)
                        == expected)
            }
            try store.close()
            store =
                round == 0
                ? try ChatStore.open("journal", options: options(storage))
                : try ChatStore.openReadOnly("journal", options: options(storage))
        }
    }

    @Test func storeAndIteratorReturnEqualTokens() async throws {
        let fixture = try Fixture()
        var events = fixture.store.events(matching: EventFilter(as: .host, kinds: [.threadOpened, .threadJoined]))
            .makeAsyncIterator()
        #expect(try events.resumeToken().position == 0)
        let first = try #require(try await events.nextEvent())
        let token = try fixture.store.resumeToken(after: first.position)
        #expect(first.position == 4 && token.position == 4)
        #expect(try events.resumeToken() == token)
        #expect(try await fixture.store.events(after: token, matching: EventFilter(as: .host)).prefix(2) == [5, 6])
        expectError("invalidPosition") { _ = try fixture.store.resumeToken(after: 7) }
    }

    /// Returns the next `count` events.
    private func events(_ count: Int, of sequence: ChatEvents) async throws -> [FollowedEvent] {
        var iterator = sequence.makeAsyncIterator()
        var events: [FollowedEvent] = []
        while events.count < count, let event = try await iterator.nextEvent() { events.append(event) }
        return events
    }

    /// Covers starts inside commits, commits across segments, filters, events from the log and from
    /// memory, and the same store, a reopened one and a read-only one.
    @Test(arguments: [1, 4_096]) func eventHasTokenOfItsPosition(recentEventCount: Int) async throws {
        let storage = MemoryStorage()
        var store = try store(storage)
        let tokens = try (0...store.head.position).map { try store.resumeToken(after: $0) }
        var options = options(storage)
        options.recentEventCount = recentEventCount
        for round in 0..<3 {
            for start: Position in 0...20 {
                let events = try await events(
                    72 - Int(start), of: store.events(after: start, matching: EventFilter(as: .host)))
                #expect(events.map(\.resumeToken) == Array(tokens[(Int(start) + 1)...]))
                let filter = EventFilter(as: .host, users: [UserID(bits: 4)], kinds: [.sessionStarted])
                let sessions = try await self.events(5, of: store.events(after: start, matching: filter))
                #expect(sessions.map(\.position) == [32, 33, 34, 35, 36])
                #expect(sessions.map(\.resumeToken) == Array(tokens[32...36]))
            }
            try store.close()
            store =
                round == 0
                ? try ChatStore.open("journal", options: options)
                : try ChatStore.openReadOnly("journal", options: options)
        }
    }

    /// Every token of an iterator equals the store's, and most cost no read.
    @Test func tokensOfLiveEventsCostNoRead() async throws {
        let storage = CountingStorage(MemoryStorage())
        var options = options(MemoryStorage())
        options.journal.storage = storage
        let store = try ChatStore.open("journal", options: options)
        var iterator = store.events(matching: EventFilter(as: .host)).makeAsyncIterator()
        for number in 0..<6 {
            let user = UserID(bits: UInt128(number) + 1)
            try await store.execute(.registerUser(id: user, username: "User \(number)"))
            try await store.execute(.setPostcode(postcode: "E\(number + 1) 6AN", by: user))
            for _ in 0..<4 {
                let event = try #require(try await iterator.nextEvent())
                storage.reset()
                let token = try iterator.resumeToken()
                #expect(storage.counts.reads == 0)
                #expect(token == event.resumeToken)
                #expect(try token == store.resumeToken(after: event.position))
            }
        }
        #expect(iterator.position == 24)
    }

    /// A commit larger than a batch is read once, from any start.
    @Test func tokensInsideLargeCommit() async throws {
        let storage = MemoryStorage()
        let counted = CountingStorage(storage)
        var options = options(storage)
        options.journal = JournalOptions(storage: counted, entropy: SeededEntropy(seed: 1))
        options.recentEventCount = 1
        let store = try ChatStore.open("journal", options: options)
        let user = UserID(bits: 1)
        try await store.execute(.registerUser(id: user, username: "Ann"))
        _ = try await store.execute(
            (0..<1_000).map { CommandRequest(.startSession(id: nil, device: "device \($0)", by: user)) })
        try await store.execute(.changeUsername(username: "Bea", by: user))
        for start: Position in [0, 1, 2, 500, 1_000] {
            counted.reset()
            let events = try await events(
                1_002 - Int(start), of: store.events(after: start, matching: EventFilter(as: .host)))
            let reads = counted.counts.reads
            #expect(events.allSatisfy { $0.resumeToken.position == $0.position })
            #expect(
                events.allSatisfy { $0.resumeToken.head.position == ($0.position == 1 ? 1 : max(1_001, $0.position)) })
            for event in events.suffix(3) { #expect(try event.resumeToken == store.resumeToken(after: event.position)) }
            // One read for each batch of 256 events and for each end of a commit.
            #expect(reads <= 8, "\(reads) reads after \(start)")
        }
    }

    @Test func tokenOfAnotherJournalIsForeign() async throws {
        let storage = MemoryStorage()
        let (here, there) = (try store(storage), try store(storage, at: "other", seed: 2))
        for position: Position in [0, 5, 72] {
            guard case .foreignToken = await error(of: try there.resumeToken(after: position), in: here) else {
                return _ = Issue.record("position \(position)")
            }
        }
    }

    /// An older copy of the journal lacks the commit that the token names.
    @Test func tokenBeyondEndIsFromTheFuture() async throws {
        let storage = MemoryStorage()
        let store = try store(storage)
        try store.close()
        let copy = storage.copy()
        let later = try ChatStore.open("journal", options: options(storage))
        for number in 0..<3 {
            try await later.execute(.changeUsername(username: "Name \(number)", by: UserID(bits: 1)))
        }
        let older = try ChatStore.open("journal", options: options(copy))
        for position: Position in 73...75 {
            guard case .futureToken = await error(of: try later.resumeToken(after: position), in: older) else {
                return _ = Issue.record("position \(position)")
            }
        }
        #expect(await error(of: try later.resumeToken(after: 71), in: older) == nil)
    }

    /// A restored copy has other events at the same positions.
    @Test func tokenOfRolledBackHistoryIsRejected() async throws {
        let storage = MemoryStorage()
        let store = try store(storage)
        try store.close()
        let copy = storage.copy()
        let later = try ChatStore.open("journal", options: options(storage))
        let restored = try ChatStore.open("journal", options: options(copy))
        for number in 0..<3 {
            try await later.execute(.changeUsername(username: "Name \(number)", by: UserID(bits: 1)))
            try await restored.execute(.changeUsername(username: "Other \(number)", by: UserID(bits: 1)))
        }
        // Replaces three commits of one event by one commit of three.
        _ = try await restored.execute(
            (0..<3).map { CommandRequest(.changeUsername(username: "More \($0)", by: UserID(bits: 2))) })
        for number in 0..<3 {
            try await later.execute(.changeUsername(username: "More \(number)", by: UserID(bits: 2)))
        }
        for position: Position in 73...78 {
            guard case .rolledBackToken = await error(of: try later.resumeToken(after: position), in: restored) else {
                return _ = Issue.record("position \(position)")
            }
        }
        for position: Position in [0, 30, 72] {
            #expect(
                await error(of: try later.resumeToken(after: position), in: restored) == nil, "position \(position)")
        }
    }

    /// An array log knows its current head only.
    @Test func arrayLogChecksTokens() async throws {
        let kept = ArrayLog.Store()
        let options = StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: 1))
        let store = try ChatStore.open(log: ArrayLog(kept), options: options)
        for number in 0..<5 {
            try await store.execute(.registerUser(id: UserID(bits: UInt128(number) + 1), username: "User \(number)"))
        }
        let token = try store.resumeToken(after: 3)
        #expect(token.head == store.head)
        #expect(try await store.events(after: token, matching: EventFilter(as: .host)).prefix(2) == [4, 5])
        let events = try await events(5, of: store.events(matching: EventFilter(as: .host)))
        #expect(events.map(\.resumeToken.position) == [1, 2, 3, 4, 5])
        #expect(events.allSatisfy { $0.resumeToken.head == store.head })
        var wrong = token.head
        wrong.chain ^= 1
        guard case .rolledBackToken = await error(of: try #require(ResumeToken(position: 3, head: wrong)), in: store)
        else {
            return _ = Issue.record("a token of another history was accepted")
        }
        wrong.position = 6
        guard case .futureToken = await error(of: try #require(ResumeToken(position: 3, head: wrong)), in: store) else {
            return _ = Issue.record("a token of a future position was accepted")
        }
    }

    @Test func tokenTextHasDocumentedForm() throws {
        let head = JournalHead(journal: JournalID(bits: 0xABC), position: 18, chain: 0x1234)
        #expect(ResumeToken(position: 19, head: head) == nil)
        let token = try #require(ResumeToken(position: 17, head: head))
        let text = token.description
        #expect(text.hasPrefix("ct1-17-\(head)-") && text.utf8.count == 7 + head.description.utf8.count + 9)
        #expect(ResumeToken(text) == token)
        let json = try JSONEncoder().encode([token])
        #expect(String(decoding: json, as: UTF8.self) == "[\"\(text)\"]")
        #expect(try JSONDecoder().decode([ResumeToken].self, from: json) == [token])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([ResumeToken].self, from: Data(#"["ct1-17"]"#.utf8))
        }
        let longest = try #require(
            ResumeToken(position: .max, head: JournalHead(journal: JournalID(bits: .max), position: .max, chain: .max)))
        #expect(longest.description.utf8.count == 117 && ResumeToken(longest.description) == longest)
    }

    /// Covers each byte changed, removed or doubled, and other spellings of the same value.
    @Test func malformedTokenTextIsRejected() throws {
        let token = try #require(
            ResumeToken(position: 17, head: JournalHead(journal: JournalID(bits: 0xABC), position: 18, chain: 0x1234)))
        let text = Array(token.description.utf8)
        for index in text.indices {
            var other = text
            other.remove(at: index)
            #expect(ResumeToken(String(decoding: other, as: UTF8.self)) == nil)
            other.insert(text[index], at: index)
            other.insert(text[index], at: index)
            #expect(ResumeToken(String(decoding: other, as: UTF8.self)) == nil)
            for byte: UInt8 in 0...127 where byte != text[index] {
                other = text
                other[index] = byte
                #expect(ResumeToken(String(decoding: other, as: UTF8.self)) == nil)
            }
        }
        for text in [
            "", "ct1", String(repeating: "-", count: 8), token.description + "\n", token.description.uppercased(),
            String(repeating: "9", count: 1 << 20),
        ] {
            #expect(ResumeToken(text) == nil)
        }
    }
}
