import Primitives

/// When a store writes checkpoints of its read models, or of a custom projection.
///
/// A checkpoint shortens the replay at the next opening.
///
/// A checkpoint takes time and space proportional to the journal and is written in the background,
/// without blocking commands. These options affect only the duration of an opening: a checkpoint
/// that does not match the journal is ignored.
public struct CheckpointOptions: Hashable, Sendable {
    /// The minimum number of events between two checkpoints while the store is open; nil disables
    /// them.
    ///
    /// The actual interval is at least *n*/4, where *n* is the number of events that the previous
    /// checkpoint covers; for a custom projection, at least *n*/``count``. The total size of all
    /// checkpoints written thus stays proportional to the journal.
    public var interval: UInt64?
    /// The minimum number of new events for a checkpoint at ``ChatStore/close()``; nil disables it.
    public var atClose: UInt64?
    /// The minimum number of events replayed at once for a checkpoint after it; nil disables it.
    public var afterReplay: UInt64?
    /// The maximum number of checkpoints kept of a custom projection, at least 1.
    ///
    /// A query as of an earlier position starts from the nearest checkpoint before it. A new
    /// checkpoint beyond the maximum removes the one whose neighbours are nearest to each other;
    /// the start of the history counts as a neighbour, and the latest checkpoint always stays. Does
    /// not apply to the store's own read models, which need one checkpoint for queries as of any
    /// position.
    public var count: Int

    /// Creates options.
    public init(interval: UInt64? = 250_000, atClose: UInt64? = 20_000, afterReplay: UInt64? = 100_000, count: Int = 8)
    {
        self.interval = interval
        self.atClose = atClose
        self.afterReplay = afterReplay
        self.count = count
    }

    /// Loads existing checkpoints and writes none except by ``ChatStore/writeCheckpoint()`` and
    /// ``ProjectionHandle/writeCheckpoint()``.
    public static let loadingOnly = CheckpointOptions(interval: nil, atClose: nil, afterReplay: nil)

    /// Returns the position at which the next checkpoint of the read models is due while the store
    /// is open.
    func nextPosition(after last: Position) -> Position { nextPosition(after: last, share: 4) }

    /// Returns the position at which the next checkpoint of a custom projection is due.
    func nextProjectionCheckpoint(after last: Position) -> Position {
        nextPosition(after: last, share: Position(max(1, count)))
    }

    private func nextPosition(after last: Position, share: Position) -> Position {
        interval.map { last.addingClamped(max($0, last / share, 1)) } ?? .max
    }
}
