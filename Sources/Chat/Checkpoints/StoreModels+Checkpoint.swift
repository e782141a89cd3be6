import Columns
import EventJournal
import Projections

extension StoreModels {
    /// Reads the checkpoint of a log.
    ///
    /// - Throws: `CheckpointProblem` with the reason why no checkpoint is usable.
    /// - Complexity: O(*n*) in the bytes of the checkpoint, which are copied and checked but not
    ///   parsed.
    init(checkpointOf log: any CheckpointLog) throws(CheckpointProblem) {
        guard Self.canUseCheckpoints else {
            throw CheckpointProblem(.otherVersion, "Checkpoints require a little-endian machine.")
        }
        let reader = try log.checkpoint(ReadModels.name, version: Self.checkpointVersion)
        do throws(ColumnError) {
            try self.init(at: reader.header.position) { (component) throws(ColumnError) in
                guard let section = reader.section(component) else { throw ColumnError("The section is missing.") }
                return SectionSource(section)
            }
        } catch {
            throw CheckpointProblem(.damaged, error.description)
        }
        guard !rules.hasUnknownEvents else {
            throw CheckpointProblem(.damaged, "The checkpoint contains events of a newer version.")
        }
    }

    /// Writes a checkpoint of the journal; the position must be durable and end a commit.
    ///
    /// - Parameter isCancelled: Polled after each block.
    /// - Returns: The size of the file in bytes; nil if cancelled.
    /// - Throws: `JournalError` if the write fails; the previous checkpoint then stays in place.
    func writeCheckpoint(of log: any CheckpointLog, isCancelled: @escaping () -> Bool) throws(JournalError) -> UInt64? {
        guard Self.canUseCheckpoints, !rules.hasUnknownEvents else { return nil }
        let file = try log.beginCheckpoint(
            ReadModels.name, version: Self.checkpointVersion, at: position, sections: Self.componentNames)
        let sink = SectionSink(file, isCancelled)
        for component in Self.componentNames where !sink.ignoresWrites {
            file.beginSection()
            var writer = ColumnWriter(sink)
            write(component: component, to: &writer)
            writer.flush()
        }
        if sink.wasCancelled {
            file.abandon()
            return nil
        }
        return try file.finish()
    }

    /// The format is little-endian; columns are written as they lie in memory.
    private static var canUseCheckpoints: Bool { UInt16(1).littleEndian == 1 }
}

/// A column source that reads a section of a checkpoint file.
private final class SectionSource: ColumnSource {
    private let section: CheckpointSectionReader

    init(_ section: CheckpointSectionReader) { self.section = section }

    var byteCount: Int { Int(clamping: section.byteCount) }

    func read(into block: inout [UInt8]) throws(ColumnError) -> Int {
        do throws(CheckpointProblem) { return try section.read(into: &block) } catch {
            throw ColumnError(error.message)
        }
    }
}

/// A column sink that writes to a checkpoint file.
private final class SectionSink: ColumnSink {
    private let file: CheckpointWriter
    private let isCancelled: () -> Bool
    private(set) var wasCancelled = false

    init(_ file: CheckpointWriter, _ isCancelled: @escaping () -> Bool) {
        self.file = file
        self.isCancelled = isCancelled
    }

    /// Whether further writes have no effect.
    var ignoresWrites: Bool { wasCancelled || file.hasFailed }

    func write(_ block: [UInt8]) {
        if !wasCancelled { wasCancelled = isCancelled() }
        if !ignoresWrites { file.write(block) }
    }
}
