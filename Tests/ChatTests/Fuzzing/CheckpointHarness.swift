import ChatDomain
import ChatTesting
import Columns
import Locking
import Primitives
import Projections

@testable import Chat
@testable import EventJournal

/// The invariants of a store whose checkpoint holds arbitrary bytes.
///
/// The store opens with or without the checkpoint, and no later query or command traps.
///
/// The first byte of the input modulo 3 selects the form of the rest:
///
/// - 0: sections, preceded by their lengths of two bytes each. The file has valid checksums.
/// - 1: a file. The header's checksum is corrected.
/// - 2: a file, unchanged.
enum CheckpointHarness {
    private static let directory = "journal"
    private static let path = directory + "/" + JournalFileName.checkpoint(ReadModels.name)

    /// Checks one input.
    ///
    /// - Returns: Whether the store loaded the checkpoint.
    @discardableResult
    static func check(_ input: [UInt8]) throws -> Bool {
        let story = try fixture.get()
        let storage = story.storage.copy()
        let rest = Array(input.dropFirst())
        switch (input.first ?? 0) % 3 {
        case 0: try storage.setContents(story.file(of: sections(rest)), of: path)
        case 1: storage.setContents(withValidChecksum(rest), of: path)
        default: storage.setContents(rest, of: path)
        }
        let store = try ChatStore.open(directory, options: options(storage))
        // Without the checkpoint the store replays as usual.
        let isLoaded = store.statistics.checkpoints?.loadedPosition != nil
        if isLoaded {
            try StoreHarness.runAllQueries(store)
            for request in story.requests { _ = try store.executeBlocking([request]) }
            try StoreHarness.runAllQueries(store)
        }
        try store.close()
        return isLoaded
    }

    private static func options(_ storage: MemoryStorage) -> StoreOptions {
        let journal = JournalOptions(
            segmentSize: 4_096, storage: storage, entropy: SeededEntropy(seed: 1), slotSyncDelay: nil)
        return StoreOptions(journal: journal, clock: ManualClock(), ids: SeededIDs(seed: 1), checkpoints: .loadingOnly)
    }

    private static func sections(_ bytes: [UInt8]) -> [[UInt8]] {
        let count = StoreModels.componentNames.count
        var rest = bytes.dropFirst(2 * count)
        return (0..<count).map { index in
            let lengths = bytes.dropFirst(2 * index).prefix(2)
            let section = rest.prefix(lengths.reversed().reduce(0) { $0 << 8 | Int($1) })
            rest = rest.dropFirst(section.count)
            return Array(section)
        }
    }

    private static func withValidChecksum(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= CheckpointHeader.fixedSize else { return bytes }
        let end =
            CheckpointHeader.fixedSize + (Int(bytes[10]) | Int(bytes[11]) << 8) * CheckpointHeader.sectionEntrySize
        guard bytes.count >= end + CheckpointHeader.checksumByteCount else { return bytes }
        var sealed = bytes
        sealed.store(bytes.withBytes(0..<end) { CRC32C.checksum(of: $0) }, at: end)
        return sealed
    }

    private static let fixture = Result { try Fixture() }

    /// A journal and subsequent commands, equal for every input.
    private struct Fixture {
        let storage = MemoryStorage()
        let requests: [CommandRequest]

        init() throws {
            let store = try ChatStore.open(directory, options: options(storage))
            for command in ShortHistory.all.flatMap(\.setup) { try store.executeBlocking(command) }
            try store.close()
            requests = ShortHistory.all.flatMap(\.endings).map { CommandRequest($0) }
        }

        /// Returns a checkpoint file of these sections at the end of the journal.
        func file(of sections: [[UInt8]]) throws -> [UInt8] {
            let storage = storage.copy()
            let journal = try Journal.open(directory, options: options(storage).journal)
            let file = try journal.beginCheckpoint(
                ReadModels.name, version: StoreModels.checkpointVersion, at: journal.lastPosition,
                sections: StoreModels.componentNames)
            for section in sections {
                file.beginSection()
                // A section whose length fits two bytes is one block.
                if !section.isEmpty { file.write(section) }
            }
            _ = try file.finish()
            let bytes = storage.allContents()[path] ?? []
            try journal.close()
            return bytes
        }
    }
}

/// The seed inputs of fuzzing.
extension CheckpointHarness {
    /// Returns the store's own checkpoint as sections and as a file.
    static func validInputs() throws -> (sections: [UInt8], file: [UInt8]) {
        let sections = sections(of: try validModels())
        return (input(ofSections: sections), [2] + (try file(of: sections)))
    }

    /// Returns the state in the store's own checkpoint.
    static func validModels() throws -> StoreModels {
        let story = try fixture.get()
        var options = options(story.storage.copy())
        options.checkpoints = nil
        return try ChatStore.openReadOnly(directory, options: options).storeModels
    }

    /// Returns the sections of a state.
    static func sections(of models: StoreModels) -> [[UInt8]] {
        StoreModels.componentNames.map { name in
            let section = ByteSink()
            var writer = ColumnWriter(section)
            models.write(component: name, to: &writer)
            writer.flush()
            return section.bytes
        }
    }

    /// Returns the input of some sections.
    static func input(ofSections sections: [[UInt8]]) -> [UInt8] {
        let lengths = sections.flatMap {
            [UInt8(truncatingIfNeeded: $0.count), UInt8(truncatingIfNeeded: $0.count >> 8)]
        }
        return [0] + lengths + sections.joined()
    }

    /// Returns the file of a checkpoint with some sections.
    static func file(of sections: [[UInt8]]) throws -> [UInt8] { try fixture.get().file(of: sections) }

    private final class ByteSink: ColumnSink {
        var bytes: [UInt8] = []
        func write(_ block: [UInt8]) { bytes += block }
    }
}

extension ChatStore {
    /// The state of the rules and the read models.
    ///
    /// Both are of one position only while no command is in progress.
    var storeModels: StoreModels {
        decider.withLock { decider in StoreModels(decider.rules, readSide.withShared { $0.models }) }
    }
}
