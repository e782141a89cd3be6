import ChatDomain
import Columns
import EventJournal
import Projections

extension StoreModels {
    /// Reads the checkpoint of a journal.
    ///
    /// - Throws: `CheckpointProblem`: why there is none that can be used.
    /// - Complexity: Linear in the bytes of the checkpoint, which are copied and checked, not interpreted.
    init(checkpointOf journal: Journal) throws(CheckpointProblem) {
        guard Self.canUseCheckpoints else { throw CheckpointProblem(.otherVersion, "Checkpoints are for little-endian machines.") }
        let reader = try journal.checkpoint(ReadModels.name, version: Self.checkpointVersion)
        do throws(ColumnError) {
            try self.init(at: reader.header.position) { (component) throws(ColumnError) in
                guard let section = reader.section(component) else { throw ColumnError("there is no such section") }
                return SectionSource(section)
            }
        } catch {
            throw CheckpointProblem(.damaged, error.description)
        }
        guard !rules.hasUnknownEvents else {
            throw CheckpointProblem(.damaged, "The state is of a history that no checkpoint is written of.")
        }
    }

    /// Writes a checkpoint of the journal, at a position that is durable and ends a commit.
    ///
    /// - Parameter isCancelled: Asked after each block.
    /// - Returns: The size of the file; nil when it was cancelled.
    /// - Throws: What failed; what was there before is there still.
    func writeCheckpoint(of journal: Journal, isCancelled: @escaping () -> Bool) throws(JournalError) -> UInt64? {
        guard Self.canUseCheckpoints, !rules.hasUnknownEvents else { return nil }
        let file = try journal.beginCheckpoint(
            ReadModels.name, version: Self.checkpointVersion, at: position, sections: Self.componentNames)
        let sink = SectionSink(file, isCancelled)
        for component in Self.componentNames where !sink.isOver {
            file.beginSection()
            var writer = ColumnWriter(sink)
            write(component: component, to: &writer)
            writer.finish()
        }
        if sink.wasCancelled {
            file.abandon()
            return nil
        }
        return try file.finish()
    }

    /// Columns are written as they lie in memory, which is what the format says on machines that are little-endian.
    private static var canUseCheckpoints: Bool { UInt16(1).littleEndian == 1 }
}

/// A section of a file as the source of columns.
private final class SectionSource: ColumnSource {
    private let section: CheckpointSectionReader

    init(_ section: CheckpointSectionReader) { self.section = section }

    var byteCount: Int { Int(clamping: section.byteCount) }

    func read(into block: inout [UInt8]) throws(ColumnError) -> Int {
        do throws(CheckpointProblem) { return try section.read(into: &block) } catch { throw ColumnError(error.message) }
    }
}

/// A file as the sink of columns.
private final class SectionSink: ColumnSink {
    private let file: CheckpointWriter
    private let isCancelled: () -> Bool
    private(set) var wasCancelled = false

    init(_ file: CheckpointWriter, _ isCancelled: @escaping () -> Bool) {
        self.file = file
        self.isCancelled = isCancelled
    }

    /// Whether it is no use to go on.
    var isOver: Bool { wasCancelled || file.hasFailed }

    func write(_ block: [UInt8]) {
        if !wasCancelled { wasCancelled = isCancelled() }
        if !isOver { file.write(block) }
    }
}
