import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Testing

/// The number of file operations per command, exact where times are noisy.
@Suite struct OperationCountTests {
    private let storage = CountingStorage(MemoryStorage())

    private func makeStore(_ durability: Durability) throws -> ChatStore {
        var options = StoreOptions(ids: SeededIDs(seed: 1), checkpoints: nil)
        options.journal.storage = storage
        options.journal.durability = durability
        // Background work would be counted at an unpredictable time.
        options.journal.slotSyncDelay = nil
        let store = try ChatStore.open("journal", options: options)
        let user = UserID(bits: 1)
        try store.executeBlocking(.registerUser(id: user, username: "Ann"))
        try store.executeBlocking(.openThread(id: ThreadID(bits: 1), name: "Milk", by: user))
        storage.reset()
        return store
    }

    private func post(_ number: Int) -> CommandRequest {
        CommandRequest(
            .postMessage(
                id: MessageID(bits: UInt128(number)), thread: ThreadID(bits: 1), body: "Milk?", by: UserID(bits: 1)))
    }

    @Test func `A command that is written takes one write`() throws {
        let store = try makeStore(.written)
        for number in 1...100 { _ = try store.executeBlocking([post(number)])[0].get() }
        #expect(storage.counts.writes == 100)
        #expect(storage.counts.syncs == 0)
        #expect(storage.counts.reads + storage.counts.allocations + storage.counts.otherOperations == 0)
        try store.close()
    }

    @Test func `A command that is durable takes two writes and one sync`() throws {
        let store = try makeStore(.synced)
        for number in 1...100 { _ = try store.executeBlocking([post(number)])[0].get() }
        // The commit, and the slot with the durable position, which is not synced.
        #expect(storage.counts.writes == 200)
        #expect(storage.counts.syncs == 100)
        #expect(storage.counts.reads + storage.counts.allocations + storage.counts.otherOperations == 0)
        try store.close()
    }

    @Test func `A thousand commands in a batch take what one takes`() throws {
        let written = try makeStore(.written)
        for answer in try written.executeBlocking((1...1_000).map(post)) { _ = try answer.get() }
        #expect(storage.counts.writes == 1)
        #expect(storage.counts.syncs == 0)
        try written.close()
    }

    @Test func `A thousand durable commands in a batch take two writes and one sync`() throws {
        let store = try makeStore(.synced)
        for answer in try store.executeBlocking((1...1_000).map(post)) { _ = try answer.get() }
        #expect(storage.counts.writes == 2)
        #expect(storage.counts.syncs == 1)
        try store.close()
    }

    @Test func `What is refused, unchanged or only asked takes no write`() throws {
        let store = try makeStore(.synced)
        expectRejection(.unknownThread) { () throws(ChatError) in
            try store.executeBlocking(.postMessage(thread: ThreadID(bits: 9), body: "Milk?", by: UserID(bits: 1)))
        }
        try store.executeBlocking(.joinThread(thread: ThreadID(bits: 1), by: UserID(bits: 1)))
        _ = try store.reader(as: .host).timeline(ThreadID(bits: 1))
        #expect(storage.counts == StorageCounts())
        try store.close()
    }

    @Test func `A replay reads a megabyte at a time`() throws {
        let store = try makeStore(.written)
        for start in stride(from: 0, to: 20_000, by: 1_000) {
            for answer in try store.executeBlocking((start + 1...start + 1_000).map(post)) { _ = try answer.get() }
        }
        let bytes = storage.counts.bytesWritten
        storage.reset()
        try store.forEachEvent(matching: EventFilter(as: .host)) { _, _ in }
        #expect(storage.counts.reads <= bytes / (1 << 20) + 2)
        #expect(storage.counts.writes + storage.counts.syncs == 0)
        try store.close()
    }

    /// A commit of the journal waits for what a sync of another file writes.
    @Test func `A checkpoint is synced a megabyte at a time`() throws {
        func syncs(_ megabytes: Int) throws -> Int {
            var options = StoreOptions()
            options.journal.storage = storage
            options.journal.slotSyncDelay = nil
            let store = try ChatStore.open("\(megabytes)", options: options)
            try store.executeBlocking(.registerUser(id: UserID(bits: UInt128(megabytes)), username: "Ann"))
            let large = store.project(Large.self, checkpoints: CheckpointOptions(interval: 1_000_000))
            storage.reset()
            try large.writeCheckpoint()
            defer { try? store.close() }
            return storage.counts.syncs
        }
        #expect(try syncs(4) == syncs(0) + 4)
    }
}

/// A projection whose state has as many megabytes as its last user's id says.
private struct Large: CheckpointedProjection {
    static let name = "large"
    private var megabytes = 0

    mutating func apply(_ event: ChatEvent, at position: Position) { megabytes = Int(event.user?.bits ?? 0) }

    func encodedState() -> [UInt8] { [UInt8](repeating: 1, count: megabytes << 20) }

    init() {}

    init(encodedState: [UInt8]) { megabytes = encodedState.count >> 20 }
}
