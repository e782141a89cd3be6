@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import Testing

/// A token leads to the events after it, in the history that it names, or to an error.
@Suite(.timeLimit(.minutes(3))) struct ResumeTokenTests {
    private typealias Fixture = FollowingFixture

    private func options(_ storage: MemoryStorage, seed: UInt64 = 1) -> StoreOptions {
        StoreOptions(
            journal: JournalOptions(segmentSize: 1_000, storage: storage, entropy: SeededEntropy(seed: seed)), clock: ManualClock(),
            ids: SeededIDs(seed: seed))
    }

    /// A store whose commits are of one event, of three and of many, over several segments.
    private func store(_ storage: MemoryStorage, at path: String = "journal", seed: UInt64 = 1) throws -> ChatStore {
        let store = try ChatStore.open(path, options: options(storage, seed: seed))
        for number in 0..<8 {
            let user = UserID(bits: UInt128(number) + 1)
            try store.execute(.registerUser(user: user, username: "User \(number)"))
            try store.execute(.setPostcode(user: user, postcode: "E\(number + 1) 6AN"))
            let posts = (0..<4).map { _ in
                CommandRequest(.postMessage(message: nil, thread: ThreadID(bits: 0), author: user, body: "refused"))
            }
            let sessions = (0..<5).map { CommandRequest(.startSession(user: user, session: nil, device: "device \($0)")) }
            _ = try store.execute(posts + sessions)
        }
        return store
    }

    private func error(of token: ResumeToken, in store: ChatStore) async -> ChatError? {
        await chatError { _ = try await store.events(after: token).prefix(1) }
    }

    /// From each position, inside a commit too, on this store, on another of the same journal and on one for reading.
    @Test func aTokenOfAnyPositionLeadsOn() async throws {
        let storage = MemoryStorage()
        var store = try store(storage)
        let last = store.head.position
        #expect(last == 72)
        let tokens = try (0...last).map { try store.resumeToken(after: $0) }
        for token in tokens { #expect(ResumeToken(token.description) == token) }
        // Each names the history up to the end of its own commit: of 1, of 3 and of 5 events.
        #expect(tokens[0...9].map(\.head.position) == [0, 1, 4, 4, 4, 9, 9, 9, 9, 9])
        for round in 0..<3 {
            for (position, token) in tokens.enumerated() {
                #expect(token.position == Position(position) && token.journal == store.head.journal)
                let expected = Array((Position(position) + 1...last + 1).dropLast())
                #expect(try await store.events(after: token).prefix(expected.count) == expected)
            }
            try store.close()
            store =
                round == 0
                ? try ChatStore.open("journal", options: options(storage))
                : try ChatStore.openReadOnly("journal", options: options(storage))
        }
    }

    @Test func eachEventAndThePlaceReachedGiveAToken() async throws {
        let fixture = try Fixture()
        var events = fixture.store.events(matching: EventFilter(kinds: [.threadOpened, .threadJoined])).makeAsyncIterator()
        #expect(try events.resumeToken().position == 0)
        let first = try #require(try await events.nextEvent())
        let token = try fixture.store.resumeToken(after: first.position)
        #expect(first.position == 4 && token.position == 4)
        #expect(try events.resumeToken() == token)
        #expect(try await fixture.store.events(after: token).prefix(2) == [5, 6])
        expectError("invalidPosition") { _ = try fixture.store.resumeToken(after: 7) }
    }

    @Test func aTokenOfAnotherJournalIsForeign() async throws {
        let storage = MemoryStorage()
        let (here, there) = (try store(storage), try store(storage, at: "other", seed: 2))
        for position: Position in [0, 5, 72] {
            guard case .foreignToken = await error(of: try there.resumeToken(after: position), in: here) else {
                return _ = Issue.record("position \(position)")
            }
        }
    }

    /// An older copy of the journal does not have what the token names, wherever that lies.
    @Test func aTokenFromBeyondTheEndIsOfTheFuture() async throws {
        let storage = MemoryStorage()
        let store = try store(storage)
        try store.close()
        let copy = storage.copy()
        let later = try ChatStore.open("journal", options: options(storage))
        for number in 0..<3 { try await later.execute(.changeUsername(user: UserID(bits: 1), username: "Name \(number)")) }
        let older = try ChatStore.open("journal", options: options(copy))
        for position: Position in 73...75 {
            guard case .futureToken = await error(of: try later.resumeToken(after: position), in: older) else {
                return _ = Issue.record("position \(position)")
            }
        }
        #expect(await error(of: try later.resumeToken(after: 71), in: older) == nil)
    }

    /// An older copy that was restored and written on has other events at the same positions.
    @Test func aTokenOfAHistoryThatWasRolledBackIsRefused() async throws {
        let storage = MemoryStorage()
        let store = try store(storage)
        try store.close()
        let copy = storage.copy()
        let later = try ChatStore.open("journal", options: options(storage))
        let restored = try ChatStore.open("journal", options: options(copy))
        for number in 0..<3 {
            try await later.execute(.changeUsername(user: UserID(bits: 1), username: "Name \(number)"))
            try await restored.execute(.changeUsername(user: UserID(bits: 1), username: "Other \(number)"))
        }
        // One commit of several events in place of several of one.
        _ = try await restored.execute((0..<3).map { CommandRequest(.changeUsername(user: UserID(bits: 2), username: "More \($0)")) })
        for number in 0..<3 { try await later.execute(.changeUsername(user: UserID(bits: 2), username: "More \(number)")) }
        for position: Position in 73...78 {
            guard case .rolledBackToken = await error(of: try later.resumeToken(after: position), in: restored) else {
                return _ = Issue.record("position \(position)")
            }
        }
        for position: Position in [0, 30, 72] {
            #expect(await error(of: try later.resumeToken(after: position), in: restored) == nil, "position \(position)")
        }
    }

    /// A log that is no journal tells what its head tells.
    @Test func aLogThatIsNoJournalChecksWhatItCan() async throws {
        let kept = ArrayLog.Store()
        let options = StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: 1))
        let store = try ChatStore.open(log: ArrayLog(kept), options: options)
        for number in 0..<5 { try await store.execute(.registerUser(user: UserID(bits: UInt128(number) + 1), username: "User \(number)")) }
        let token = try store.resumeToken(after: 3)
        #expect(token.head == store.head)
        #expect(try await store.events(after: token).prefix(2) == [4, 5])
        var wrong = token.head
        wrong.chain ^= 1
        guard case .rolledBackToken = await error(of: try #require(ResumeToken(position: 3, head: wrong)), in: store) else {
            return _ = Issue.record("another history passes")
        }
        wrong.position = 6
        guard case .futureToken = await error(of: try #require(ResumeToken(position: 3, head: wrong)), in: store) else {
            return _ = Issue.record("a future passes")
        }
    }

    @Test func theTextIsTheOneThatIsDescribed() throws {
        let head = JournalHead(journal: JournalID(bits: 0xABC), position: 18, chain: 0x1234)
        #expect(ResumeToken(position: 19, head: head) == nil)
        let token = try #require(ResumeToken(position: 17, head: head))
        let text = token.description
        #expect(text.hasPrefix("ct1-17-\(head)-") && text.utf8.count == 7 + head.description.utf8.count + 9)
        #expect(ResumeToken(text) == token)
        let json = try JSONEncoder().encode([token])
        #expect(String(decoding: json, as: UTF8.self) == "[\"\(text)\"]")
        #expect(try JSONDecoder().decode([ResumeToken].self, from: json) == [token])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([ResumeToken].self, from: Data(#"["ct1-17"]"#.utf8)) }
        let longest = try #require(
            ResumeToken(position: .max, head: JournalHead(journal: JournalID(bits: .max), position: .max, chain: .max)))
        #expect(longest.description.utf8.count == 117 && ResumeToken(longest.description) == longest)
    }

    /// No other text is read: each byte changed to each other, left out or doubled, and what is of the same value in another form.
    @Test func anyOtherTextIsRefused() throws {
        let token = try #require(ResumeToken(position: 17, head: JournalHead(journal: JournalID(bits: 0xABC), position: 18, chain: 0x1234)))
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
