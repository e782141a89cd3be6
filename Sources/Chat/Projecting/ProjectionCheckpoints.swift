import ChatDomain
import EventJournal
import Locking
import Primitives
import Projections

/// The checkpoints of one custom projection: loads the nearest one, writes new ones, removes
/// others.
///
/// A checkpoint is written next to the journal and contains the state as of the end of a commit.
final class ProjectionCheckpoints<Model: Projection>: Sendable {
    /// The number of events between two attempts, while an earlier checkpoint is being written.
    private static var retryInterval: Position { 16_384 }
    private static var section: String { "state" }

    let options: CheckpointOptions
    private let log: any CheckpointLog
    private let checkpointer: Checkpointer
    private let encode: @Sendable (Model) throws -> [UInt8]
    private let decode: @Sendable ([UInt8]) throws -> Model
    private let state = Lock(State())

    private struct State {
        /// Whether a checkpoint is being written in the background.
        var isBusy = false
        /// The position of the latest checkpoint that was loaded or begun.
        var last: Position = 0
        /// The number of rebuilds; a checkpoint that was begun before one is not written after it.
        var rebuildCount = 0
    }

    init(
        _ options: CheckpointOptions, _ log: any CheckpointLog, _ checkpointer: Checkpointer,
        encode: @escaping @Sendable (Model) throws -> [UInt8], decode: @escaping @Sendable ([UInt8]) throws -> Model
    ) {
        self.options = options
        self.log = log
        self.checkpointer = checkpointer
        self.encode = encode
        self.decode = decode
    }

    // MARK: Loading

    /// Returns the projection from its latest usable checkpoint; nil if none exists.
    func latest(of epoch: UInt64) -> Replay<Model>? {
        let replay = nearest(to: .max, of: epoch)
        if let replay { state.withLock { $0.last = replay.position } }
        return replay
    }

    /// Returns the projection from its latest usable checkpoint up to a position; nil if none
    /// exists.
    ///
    /// An unusable checkpoint is ignored, not an error. During an erasure all are: they can contain
    /// what is being erased.
    func nearest(to position: Position, of epoch: UInt64) -> Replay<Model>? {
        guard (log as? any ErasableLog)?.hiddenContent.isEmpty ?? true else { return nil }
        guard let positions = try? log.checkpointPositions(Model.name) else { return nil }
        for candidate in positions.reversed() where candidate <= position {
            if let model = model(at: candidate) { return Replay(model, at: candidate, of: epoch) }
        }
        return nil
    }

    private func model(at position: Position) -> Model? {
        guard let reader = try? log.checkpoint(Model.name, version: Model.version, at: position),
            let section = reader.section(Self.section)
        else { return nil }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: CheckpointHeader.blockByteCount + CheckpointHeader.checksumByteCount)
        while true {
            guard let count = try? section.read(into: &block) else { return nil }
            if count == 0 { break }
            bytes += block[..<count]
        }
        return try? decode(bytes)
    }

    /// Begins again after an erasure, which has removed the checkpoints.
    func forgetLatest() { state.withLock { $0.last = 0 } }

    // MARK: Writing

    /// Whether checkpoints are written without a call of the user.
    var isAutomatic: Bool { options.interval != nil && !log.isReadOnly }

    /// Returns the ends of commits at even distances, at most as many as checkpoints are kept.
    ///
    /// - Parameter end: The end of a commit.
    func evenPositions(through end: Position) throws(ChatError) -> [Position] {
        let count = Position(max(1, options.count))
        let distance = max(options.interval ?? .max, end / count + (end % count == 0 ? 0 : 1), 1)
        var positions: [Position] = []
        var next = distance
        while next <= end {
            let commitEnd = try wrappingErrors(of: log.head(at: next).position)
            if commitEnd > positions.last ?? 0 { positions.append(commitEnd) }
            next = next.addingClamped(distance)
        }
        return positions
    }

    /// Returns the position at which an advance to `end` pauses to begin a checkpoint; `end` if
    /// none is due before.
    ///
    /// - Parameters:
    ///   - position: The current position.
    ///   - end: The end of a commit.
    func nextPause(after position: Position, before end: Position) throws(ChatError) -> Position {
        if log.isReadOnly { return end }
        let due = options.nextProjectionCheckpoint(after: state.withLock { $0.last })
        let pause = max(due, position.addingClamped(Self.retryInterval))
        guard pause < end else { return end }
        // A checkpoint ends with a commit.
        return min(end, try wrappingErrors(of: log.head(at: pause).position))
    }

    /// Writes a checkpoint in the background if one is due and none is being written.
    ///
    /// - Parameter replayed: The number of events of a replay that ends here; 0 for a pause.
    func beginIfDue(_ replay: Replay<Model>, replayed: UInt64 = 0) {
        if log.isReadOnly { return }
        let rebuildCount = state.withLock { state -> Int? in
            guard !state.isBusy, replay.position > state.last else { return nil }
            guard
                replay.position >= options.nextProjectionCheckpoint(after: state.last)
                    || replayed >= max(options.afterReplay ?? .max, 1)
            else { return nil }
            (state.isBusy, state.last) = (true, replay.position)
            return state.rebuildCount
        }
        guard let rebuildCount else { return }
        // Weak, because a queued job would keep the journal of a dropped store open.
        checkpointer.run { [weak self] in self?.writeInBackground(replay, begunAfter: rebuildCount) }
    }

    private func writeInBackground(_ replay: Replay<Model>, begunAfter rebuildCount: Int) {
        // No caller waits for the error; the statistics count it.
        do throws(ChatError) {
            try checkpointer.withWriteLock(of: replay.epoch) { () throws(ChatError) in
                // A rebuild increments the number under the same lock.
                if state.withLock({ $0.rebuildCount }) == rebuildCount { try writeAndRemoveExcess(replay) }
            }
        } catch {
            checkpointer.countFailure(error)
        }
        state.withLock { $0.isBusy = false }
    }

    private func writeAndRemoveExcess(_ replay: Replay<Model>) throws(ChatError) {
        try writeFile(replay)
        try removeExcess()
    }

    /// Writes the checkpoint of a close if enough events follow the latest one.
    func writeAtClose(_ replay: Replay<Model>) {
        guard let least = options.atClose, !log.isReadOnly,
            replay.position >= state.withLock({ $0.last }).addingClamped(max(least, 1))
        else { return }
        do throws(ChatError) { try write(replay, isLast: true) } catch { checkpointer.countFailure(error) }
    }

    /// Waits for the checkpoint in progress, then writes one and removes the excess.
    ///
    /// - Parameter isLast: Whether this is the checkpoint of a close.
    func write(_ replay: Replay<Model>, isLast: Bool = false) throws(ChatError) {
        try checkpointer.withWriteLock(of: replay.epoch, isLast: isLast) { () throws(ChatError) in
            try writeAndRemoveExcess(replay)
        }
        state.withLock { $0.last = max($0.last, replay.position) }
    }

    /// Writes one checkpoint of a rebuild; ``removeAll(except:)`` ends it.
    func writeRebuilt(_ replay: Replay<Model>) throws(ChatError) {
        try checkpointer.withWriteLock(of: replay.epoch) { () throws(ChatError) in try writeFile(replay) }
    }

    /// Removes every checkpoint of the state before a rebuild.
    ///
    /// - Parameter rebuilt: The positions of the rebuilt checkpoints, ascending.
    func removeAll(except rebuilt: [Position]) throws(ChatError) {
        try checkpointer.withWriteLock(of: checkpointer.epoch) { () throws(ChatError) in
            try wrappingJournalErrors { () throws(JournalError) in
                for position in try log.checkpointPositions(Model.name) where !rebuilt.contains(position) {
                    try log.removeCheckpoint(Model.name, at: position)
                }
            }
            state.withLock { ($0.last, $0.rebuildCount) = (rebuilt.last ?? 0, $0.rebuildCount + 1) }
        }
    }

    private func writeFile(_ replay: Replay<Model>) throws(ChatError) {
        let bytes: [UInt8]
        do { bytes = try encode(replay.model) } catch {
            throw .journal(JournalError(.outOfRange, "The projection '\(Model.name)' cannot be encoded: \(error)"))
        }
        try wrappingJournalErrors { () throws(JournalError) in
            let file = try log.beginCheckpoint(
                Model.name, version: Model.version, at: replay.position, sections: [Self.section], isOneOfSeveral: true)
            file.beginSection()
            for start in stride(from: 0, to: bytes.count, by: CheckpointHeader.blockByteCount) {
                file.write(Array(bytes[start..<min(start + CheckpointHeader.blockByteCount, bytes.count)]))
            }
            _ = try file.finish()
        }
    }

    /// Removes the checkpoints that cannot be used, and those beyond the maximum number.
    private func removeExcess() throws(ChatError) {
        try wrappingJournalErrors { () throws(JournalError) in
            var usable: [Position] = []
            for position in try log.checkpointPositions(Model.name) {
                if isUsable(position) {
                    usable.append(position)
                } else {
                    try log.removeCheckpoint(Model.name, at: position)
                }
            }
            for position in Self.excess(of: usable, keeping: options.count) {
                try log.removeCheckpoint(Model.name, at: position)
            }
        }
    }

    private func isUsable(_ position: Position) -> Bool {
        do throws(CheckpointProblem) {
            _ = try log.checkpoint(Model.name, version: Model.version, at: position)
            return true
        } catch {
            // A later read may succeed.
            return error.code == .unreadable
        }
    }

    /// Returns the checkpoints to remove, so that `count` remain, spaced over the history.
    ///
    /// Removes the one whose neighbours are nearest to each other, repeatedly; the first of
    /// several. The start of the history is a neighbour too. The latest checkpoint always remains.
    ///
    /// - Parameter positions: Ascending.
    static func excess(of positions: [Position], keeping count: Int) -> [Position] {
        var kept = positions
        var removed: [Position] = []
        while kept.count > max(1, count) {
            let distances = kept.indices.dropLast().map { kept[$0 + 1] - ($0 == 0 ? 0 : kept[$0 - 1]) }
            guard let least = distances.indices.min(by: { distances[$0] < distances[$1] }) else { break }
            removed.append(kept.remove(at: least))
        }
        return removed
    }
}
