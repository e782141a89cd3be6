@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Testing

/// Following a journal that another process writes.
@Suite(.timeLimit(.minutes(3))) struct ReadOnlyFollowerTests {
    private func options(_ storage: MemoryStorage, _ durability: Durability) -> StoreOptions {
        StoreOptions(
            journal: JournalOptions(
                durability: durability, segmentSize: 2_000, storage: storage, entropy: SeededEntropy(seed: 1)),
            clock: ManualClock(),
            ids: SeededIDs(seed: 1), recentEventCount: 16)
    }

    /// The caller never refreshes the reader.
    ///
    /// Queries see each delivered event, including its effect on viewers' rights.
    @Test(arguments: [Durability.synced, .written]) func readerFollowsWriter(durability: Durability) async throws {
        let storage = MemoryStorage()
        let writer = try ChatStore.open("journal", options: options(storage, durability))
        let viewer = UserID(bits: 1)
        try await writer.execute(.registerUser(id: viewer, username: "Ann"))
        try await writer.execute(.setPostcode(postcode: "SW1A 1AA", by: viewer))
        let reader = try ChatStore.openReadOnly("journal", options: options(storage, durability))
        #expect(reader.head.position == 4)
        let following = Task {
            var positions: [Position] = []
            for try await event in reader.events(after: 2, matching: EventFilter(as: .host)) {
                positions.append(event.position)
                #expect(reader.applyDurableEvents() >= event.position)
            }
            return positions
        }
        let viewing = Task {
            try await reader.events(after: 2, matching: EventFilter(as: .user(viewer), kinds: [.messagePosted])).prefix(
                100)
        }
        let thread = ThreadID(try #require(OutwardCode("SW1A")))
        for number in 0..<100 {
            try await writer.execute(.postMessage(id: nil, thread: thread, body: "\(number)", by: viewer))
        }
        #expect(try await viewing.ended() == Array(5...104))
        #expect(try reader.reader(as: .host).timeline(thread).last?.body == "99")
        try await FollowingFixture.until {
            reader.feed.read(after: 103, limit: 1).positions == [104] && reader.feed.waiterCount == 1
        }
        try reader.close()
        #expect(try await following.ended() == Array(3...104))
        try writer.close()
    }

    /// The reader refreshes before it rejects a position that the writer has reached.
    @Test func readerRefreshesBeforeRejectingPosition() async throws {
        let storage = MemoryStorage()
        let writer = try ChatStore.open("journal", options: options(storage, .synced))
        let reader = try ChatStore.openReadOnly("journal", options: options(storage, .synced))
        for number in 0..<10 {
            try await writer.execute(.registerUser(id: UserID(bits: UInt128(number) + 1), username: "User \(number)"))
        }
        let token = try writer.resumeToken(after: 8)
        #expect(try await reader.events(after: token, matching: EventFilter(as: .host)).prefix(2) == [9, 10])
        try await writer.execute(.registerUser(id: UserID(bits: 11), username: "User 11"))
        #expect(
            try await reader.events(after: 10, matching: EventFilter(as: .user(UserID(bits: 11)))).prefix(1) == [11])
        guard
            case .rejected(.invalidPosition) = await chatError(of: {
                _ = try await reader.events(after: 12, matching: EventFilter(as: .host)).prefix(1)
            })
        else {
            return _ = Issue.record("position 12 was accepted")
        }
    }

    /// The events before the undecodable record are delivered first.
    @Test func undecodableRecordErrorNamesItsPosition() async throws {
        let storage = MemoryStorage()
        let writer = try ChatStore.open("journal", options: options(storage, .synced))
        try await writer.execute(.registerUser(id: UserID(bits: 1), username: "Ann"))
        let reader = try ChatStore.openReadOnly("journal", options: options(storage, .synced))
        var events = reader.events(matching: EventFilter(as: .host)).makeAsyncIterator()
        #expect(try await events.next(1) == [1])
        try await writer.execute(.registerUser(id: UserID(bits: 2), username: "Bob"))
        let journal = try #require(writer.journal)
        var draft = CommitDraft()
        let kept: [UInt8] = [0, 0]
        unsafe try draft.append(kept: kept.span.bytes, erasable: [UInt8]().span.bytes)
        let junk = try journal.append(draft, expecting: 2)
        try await journal.waitUntilDurable(junk.upperBound)
        var seen: [Position] = []
        let error = await chatError { while let event = try await events.nextEvent() { seen.append(event.position) } }
        guard case .undecodable(position: 3, _) = error else { return _ = Issue.record("\(String(describing: error))") }
        #expect(seen == [2])
    }
}
