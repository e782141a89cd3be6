/// When an append counts as durable: what an acknowledgement promises.
public enum Durability: String, Codable, Sendable, CaseIterable {
    /// Durable once the device has it (`fdatasync`, `F_FULLFSYNC` on Apple platforms): survives a power cut. One sync serves everyone who
    /// waits.
    case synced
    /// Durable once the operating system has it: a crash of the process loses nothing, a power cut may lose the latest commits.
    ///
    /// What has been written is synced in the background, 8 MiB at a time, and before a new segment begins.
    case written
}
