import ChatDomain
import Columns
import Dispatch
import EventJournal
import Locking
import Projections

/// Writes the checkpoints of a store and of the projections over it, one at a time and none after the store has been closed.
final class Checkpointer: Sendable {
    /// When the store's own are written; nil where there are none.
    let options: CheckpointOptions?
    private let journal: Journal
    private let clock: any WallClock
    private let state: Lock<State>
    private let background: Background
    /// Held while a checkpoint is written, so that waiting for it is waiting for what is under way.
    private let turn = Lock(())

    private struct State {
        var isBusy = false
        var isStopped = false
        var statistics: CheckpointStatistics
    }

    init(
        _ options: CheckpointOptions?, _ journal: Journal, _ clock: any WallClock, _ statistics: CheckpointStatistics,
        _ executor: (any TaskExecutor)?
    ) {
        self.options = options
        self.journal = journal
        self.clock = clock
        background = Background("Chat.checkpoint", qos: .utility, executor)
        state = Lock(State(statistics: statistics))
    }

    var statistics: CheckpointStatistics { state.withLock { $0.statistics } }

    /// The position of the latest checkpoint that is known to be good, 0 if there is none.
    var lastPosition: Position { state.withLock { $0.statistics.last?.position ?? $0.statistics.loaded ?? 0 } }

    /// Writes a checkpoint in the background, unless one is under way already.
    func begin(_ models: StoreModels) {
        let isFree = state.withLock { state in
            if state.isBusy || state.isStopped { return false }
            state.isBusy = true
            return true
        }
        if !isFree { return }
        // Weak, because a job that has not begun on an executor would keep the journal of a dropped store open.
        background.run { [weak self] in self?.writeInBackground(models) }
    }

    private func writeInBackground(_ models: StoreModels) {
        turn.withLock { _ in
            // Whoever stops does not wait for what has not begun on an executor.
            if state.withLock({ $0.isStopped }) { return }
            // What fails has been counted, and is nobody's error.
            _ = try? write(models) { self.state.withLock { $0.isStopped } }
        }
        state.withLock { $0.isBusy = false }
    }

    /// Writes a checkpoint after whatever is under way, and waits for it.
    ///
    /// - Parameter isLast: Whether it is the one of a close, which comes after ``stop()``.
    func finish(_ models: StoreModels, isLast: Bool = false) throws(ChatError) {
        try inTurn(isLast: isLast) { () throws(ChatError) in
            try wrapping { () throws(JournalError) in try write(models) { false } }
        }
    }

    /// Runs what writes a checkpoint after whatever is under way, and waits for it.
    ///
    /// - Throws: What `body` throws; `closed` once the store has been closed, and its directory may be another's.
    func inTurn(isLast: Bool = false, _ body: () throws(ChatError) -> Void) throws(ChatError) {
        let result: Result<Void, ChatError> = turn.withLock { _ in
            // Whoever stops has waited for what was under way, so that nothing is written into a directory that has been released.
            if !isLast, state.withLock({ $0.isStopped }) {
                return .failure(.journal(JournalError(.closed, "The store has been closed.")))
            }
            return Result { () throws(ChatError) in try body() }
        }
        try result.get()
    }

    /// Cancels what is under way, waits until it has ended, and begins nothing more.
    func stop() {
        state.withLock { $0.isStopped = true }
        background.drain()
        turn.withLock { _ in }
    }

    private func write(_ models: StoreModels, isCancelled: @escaping () -> Bool) throws(JournalError) {
        let start = ContinuousClock.now
        do throws(JournalError) {
            try journal.waitUntilDurable(models.position)
            guard let bytes = try models.writeCheckpoint(of: journal, isCancelled: isCancelled) else { return }
            let written = CheckpointStatistics.Written(
                position: models.position, bytes: bytes, seconds: (ContinuousClock.now - start) / .seconds(1), at: clock.now())
            state.withLock { state in
                state.statistics.last = written
                state.statistics.written += 1
            }
        } catch {
            state.withLock { state in
                state.statistics.failures += 1
                state.statistics.lastFailure = error.description
            }
            throw error
        }
    }
}

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
