/// The promise of an acknowledged append.
public enum Durability: String, Codable, Sendable, CaseIterable {
    /// Acknowledged once the device has the commit: it survives a power failure.
    ///
    /// The journal syncs with `fdatasync` (`F_FULLFSYNC` on Apple platforms). Concurrent waiters
    /// share one sync.
    case synced
    /// Acknowledged once the operating system has the commit: it survives a crash of the process.
    ///
    /// A power failure may lose the latest commits. The journal syncs written commits in the
    /// background, 8 MiB at a time, and before a new segment begins.
    case written
}
