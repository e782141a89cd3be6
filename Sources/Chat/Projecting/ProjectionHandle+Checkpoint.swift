public import ChatDomain
import EventJournal
import Projections

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ProjectionHandle where Model: Codable {
    /// Writes a checkpoint of the projection as it is now beside the journal, so that it need not be replayed from the first event next time.
    ///
    /// The state is written as JSON. A journal that was open for writing only may be written to, and there is one checkpoint for each
    /// ``Projections/Projection/name``.
    ///
    /// - Returns: The position of the checkpoint.
    /// - Throws: ``ChatError/journal(_:)`` with `readOnly` if the store is open for reading only or on a log that is no journal, with `outOfRange` if the name cannot be
    ///   that of a checkpoint, or if it cannot be written; what ``read(asOf:_:)`` throws.
    /// - Complexity: What encoding the state takes; no command waits for it.
    @discardableResult
    public func writeCheckpoint() throws(ChatError) -> Position {
        guard let journal = store.journal, let checkpointer = store.checkpointer, !journal.isReadOnly else {
            throw .journal(JournalError(.readOnly, "The store is open for reading only, or not on a journal."))
        }
        guard Model.name != ReadModels.name else {
            throw .journal(JournalError(.outOfRange, "The name '\(Model.name)' is that of the store's own checkpoint."))
        }
        var position: Position = 0
        // Asked in its turn as well, so that a later checkpoint is never of an earlier moment.
        try checkpointer.inTurn { () throws(ChatError) in
            let replay = try read { model, position in Replay(model, at: position) }
            position = replay.position
            try replay.write(to: journal)
        }
        return position
    }

    fileprivate static var section: String { "json" }
}

extension Replay where Model: Codable {
    fileprivate func write(to journal: Journal) throws(ChatError) {
        let bytes: [UInt8]
        do { bytes = Array(try JSONEncoder().encode(model)) } catch {
            throw .journal(JournalError(.outOfRange, "The projection '\(Model.name)' cannot be encoded: \(error)"))
        }
        try wrapping { () throws(JournalError) in
            let file = try journal.beginCheckpoint(
                Model.name, version: Model.version, at: position, sections: [ProjectionHandle<Model>.section])
            file.beginSection()
            for start in stride(from: 0, to: bytes.count, by: CheckpointHeader.blockByteCount) {
                file.write(Array(bytes[start..<min(start + CheckpointHeader.blockByteCount, bytes.count)]))
            }
            _ = try file.finish()
        }
    }

    /// Reads a checkpoint, nil if there is none that fits: it is ignored, never trusted, never fatal.
    init?(checkpointOf journal: Journal) {
        guard let reader = try? journal.checkpoint(Model.name, version: Model.version),
            let section = reader.section(ProjectionHandle<Model>.section), reader.header.position <= journal.durablePosition
        else { return nil }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: CheckpointHeader.blockByteCount + 64)
        while true {
            guard let count = try? section.read(into: &block) else { return nil }
            if count == 0 { break }
            bytes += block[..<count]
        }
        guard let model = try? JSONDecoder().decode(Model.self, from: Data(bytes)) else { return nil }
        self.init(model, at: reader.header.position)
    }
}
