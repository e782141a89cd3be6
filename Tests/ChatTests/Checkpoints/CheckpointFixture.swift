import ChatDomain
import ChatTesting
import EventJournal
import Locking
import Projections
import StubRewriter

@testable import Chat

/// A journal in memory with a generated history and a checkpoint.
struct CheckpointFixture {
    static let fileName = "built-in.checkpoint"

    var options: StoreOptions
    let seed: UInt64

    init(seed: UInt64, segmentSize: UInt64 = 4_096) {
        options = StoreFixture(seed: seed, segmentSize: segmentSize).options
        options.checkpoints = .loadingOnly
        self.seed = seed
    }

    var storage: any JournalStorage { options.journal.storage }

    func open() throws(ChatError) -> ChatStore { try ChatStore.open("journal", options: options) }

    /// Returns a read-only store that has replayed the whole journal.
    func replayed() throws(ChatError) -> ChatStore {
        var options = options
        options.checkpoints = nil
        return try ChatStore.openReadOnly("journal", options: options)
    }

    /// Executes batches of generated commands.
    func run(_ store: ChatStore, batches: Int, generator: inout CommandGenerator) throws {
        for number in 0..<batches {
            _ = try store.executeBlocking((0...number % 4).map { _ in generator.nextRequest() })
        }
    }

    /// Writes a history with a checkpoint after some of its batches, and closes the store.
    func make(batches: Int, beforeCheckpoint: Int) throws {
        var generator = CommandGenerator(seed: seed)
        let store = try open()
        try run(store, batches: beforeCheckpoint, generator: &generator)
        try store.writeCheckpoint()
        try run(store, batches: batches - beforeCheckpoint, generator: &generator)
        try store.close()
    }

    func file() throws -> [UInt8] { try storage.contents(of: "journal/" + Self.fileName) }

    func replaceFile(_ bytes: [UInt8]) throws { try storage.replace(Self.fileName, in: "journal", with: bytes) }
}

extension ChatStore {
    var chatState: ChatState { ChatState(storeModels.readModels.identities, storeModels.rules) }

    var checkpointStatistics: CheckpointStatistics { statistics.checkpoints ?? CheckpointStatistics() }
}

extension StoreModels {
    /// Applies one event as a verification does.
    mutating func apply(_ event: ChatEvent, at position: Position) {
        var batch = EventBatch(from: position)
        batch.append(event)
        apply(&batch)
    }
}
