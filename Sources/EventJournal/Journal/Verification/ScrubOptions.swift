/// How a journal's sealed segments are read again in the background: ``Journal/startScrubbing(_:_:)``.
public struct ScrubOptions: Hashable, Sendable {
    /// How many bytes a second are read on average; each segment is read at once, with a rest after it.
    public var bytesPerSecond: UInt64
    /// How long to rest between the end of a pass and the beginning of the next.
    public var pause: Duration

    /// Makes options: 16 MiB a second and a pass a day unless said otherwise.
    public init(bytesPerSecond: UInt64 = 16 << 20, pause: Duration = .seconds(86_400)) {
        self.bytesPerSecond = bytesPerSecond
        self.pause = pause
    }
}

/// How far scrubbing has come.
public struct ScrubProgress: Hashable, Sendable, Codable {
    /// The last position that this pass has checked; 0 at the beginning of a pass.
    public var position: Position = 0
    /// The passes over all sealed segments that came to their end, kept across openings.
    public var passes: UInt64 = 0
    /// The findings of this opening, by scrubbing alone.
    public var findings: UInt64 = 0

    init() {}
}

/// The note of where scrubbing stopped, in the journal's directory.
///
/// See Format.md for the layout.
///
/// It saves reading again, and nothing else: it is not synced, and one that cannot be read is as none.
enum ScrubNote {
    static let size = 40

    static func encoded(_ progress: ScrubProgress, _ journal: JournalID) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        bytes.store(journal.bits.byteSwapped, at: 0)
        bytes.store(progress.position, at: 16)
        bytes.store(progress.passes, at: 24)
        bytes.store(bytes.withBytes(0..<36) { CRC32C.checksum(of: $0) }, at: 36)
        return bytes
    }

    /// The progress noted for a journal; nil when the bytes are no such note.
    static func decode(_ bytes: [UInt8], _ journal: JournalID) -> ScrubProgress? {
        guard bytes.count == size else { return nil }
        return bytes.withBytes(0..<size) { span in
            guard CRC32C.checksum(of: span.extracting(0..<36)) == span.integer(at: 36, as: UInt32.self),
                span.integer(at: 0, as: UInt128.self).byteSwapped == journal.bits
            else { return nil }
            var progress = ScrubProgress()
            progress.position = span.integer(at: 16)
            progress.passes = span.integer(at: 24)
            return progress
        }
    }
}
