import Primitives

/// Some numbers in a small file of the journal's directory, which the journal can do without.
///
/// A note only avoids work that the next opening would repeat. So it is not synced, and an absent,
/// stale or damaged one is ignored. Format.md has the layout.
struct JournalNote {
    static let size = 40

    /// The position up to which the work of the note is done.
    var position: UInt64
    /// The number of passes of a scrub, or the erasure mark.
    var value: UInt64 = 0
    /// The checksum of another file that the numbers belong to; 0 for none.
    var checksum: UInt32 = 0

    func encoded(_ journal: JournalID) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.size)
        bytes.store(journal.bits.byteSwapped, at: 0)
        bytes.store(position, at: 16)
        bytes.store(value, at: 24)
        bytes.store(checksum, at: 32)
        bytes.store(bytes.withBytes(0..<36) { CRC32C.checksum(of: $0) }, at: 36)
        return bytes
    }

    init(_ position: UInt64, _ value: UInt64 = 0, checksum: UInt32 = 0) {
        (self.position, self.value, self.checksum) = (position, value, checksum)
    }

    /// Decodes the note of a journal, or returns nil if the bytes are not one.
    init?(_ bytes: [UInt8], of journal: JournalID) {
        guard bytes.count == Self.size else { return nil }
        let numbers: (UInt64, UInt64, UInt32)? = bytes.withBytes(0..<Self.size) { span in
            guard CRC32C.checksum(of: span.extracting(0..<36)) == span.integer(at: 36, as: UInt32.self),
                span.integer(at: 0, as: UInt128.self).byteSwapped == journal.bits
            else { return nil }
            return (span.integer(at: 16), span.integer(at: 24), span.integer(at: 32))
        }
        guard let numbers else { return nil }
        (position, value, checksum) = numbers
    }
}

extension JournalDirectory {
    /// Reads a note; nil if it is absent, unreadable or not of this journal.
    func note(_ name: String, of journal: JournalID) -> JournalNote? {
        guard let file = try? storage.open(self.file(name), .read) else { return nil }
        var bytes = [UInt8](repeating: 0, count: JournalNote.size)
        guard (try? file.fill(&bytes, 0..<JournalNote.size, from: 0)) == true else { return nil }
        return JournalNote(bytes, of: journal)
    }

    /// Writes a note; errors are ignored, because the next opening then only repeats work.
    func tryToWrite(_ note: JournalNote, _ name: String, of journal: JournalID) {
        guard let file = try? storage.open(self.file(name), .create) else { return }
        try? note.encoded(journal).withBytes { (span) throws(StorageError) in try file.write(span, at: 0) }
    }
}
