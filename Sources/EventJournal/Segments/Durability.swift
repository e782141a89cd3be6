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

/// What a record still holds of its two parts.
public enum RecordContentState: UInt8, Sendable, CaseIterable, Codable {
    /// Both parts are there.
    case whole = 0
    /// The erasable part was erased for good; the kept part is there.
    case erased = 1
    /// The erasable part was left out of this copy; the kept part is there.
    case withheld = 2
    /// The erasable part is only there in a form that this reader cannot open; the kept part is there.
    case sealed = 3
}
