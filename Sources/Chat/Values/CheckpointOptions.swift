import ChatDomain

/// When a store writes checkpoints of its read models, so that the next opening need not replay the whole journal.
///
/// Writing one takes time and space in proportion to the journal, in the background; commands do not wait for it. Whatever is chosen changes how long an opening
/// takes and nothing else: a checkpoint that does not fit the journal is ignored.
public struct CheckpointOptions: Hashable, Sendable {
    /// While the store is open: once so many events have come since the last one, and at least a quarter as many as it covers; nil for never.
    ///
    /// The quarter keeps what is written for all checkpoints in proportion to the journal, however long that gets.
    public var interval: UInt64?
    /// At ``ChatStore/close()``: if at least so many events have come since the last one; nil for never.
    public var atClose: UInt64?
    /// After an opening that had to replay at least so many events; nil for never.
    public var afterReplay: UInt64?

    /// Makes options.
    public init(interval: UInt64? = 250_000, atClose: UInt64? = 20_000, afterReplay: UInt64? = 100_000) {
        self.interval = interval
        self.atClose = atClose
        self.afterReplay = afterReplay
    }

    /// Checkpoints that are there are used, and none is written but by ``ChatStore/writeCheckpoint()``.
    public static let loadingOnly = CheckpointOptions(interval: nil, atClose: nil, afterReplay: nil)

    /// The position from which on one is due while the store is open.
    func next(after last: Position) -> Position {
        guard let interval else { return .max }
        let (next, overflows) = last.addingReportingOverflow(max(interval, last / 4, 1))
        return overflows ? .max : next
    }
}
