/// The state of a record's content: which of its parts are stored.
public enum RecordContentState: UInt8, Sendable, CaseIterable, Codable {
    /// Both parts are stored.
    case whole = 0
    /// The erasable part was erased permanently; the kept part is stored.
    case erased = 1
    /// The erasable part was omitted from this copy; the kept part is stored.
    case withheld = 2
    /// Reserved for later versions.
    ///
    /// Stored as a stub: the kept part, the digest and the original checksum.
    case reserved = 3
}
