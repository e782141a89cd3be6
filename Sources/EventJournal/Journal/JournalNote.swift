import Primitives

/// Some numbers in a small file of the journal's directory, which the journal can do without.
///
/// A note only avoids work that the next opening would repeat. So it is not synced, and an absent,
/// stale or damaged one is ignored. Format.md has the layout.
struct JournalNote {
    static let size = 40

    /// The position up to which the work of the note is done.
    var position: UInt64
    /// The erasure mark.
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
        noteBytes(name, count: JournalNote.size).flatMap { JournalNote($0, of: journal) }
    }

    /// Reads the first bytes of a small file; nil if it is absent, unreadable or shorter.
    func noteBytes(_ name: String, count: Int) -> [UInt8]? {
        guard let file = try? storage.open(self.file(name), .read) else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        return (try? file.fill(&bytes, 0..<count, from: 0)) == true ? bytes : nil
    }

    /// Writes a note; errors are ignored, because the next opening then only repeats work.
    func tryToWrite(_ note: JournalNote, _ name: String, of journal: JournalID) {
        tryToWrite(note.encoded(journal), name)
    }

    /// Writes a small file that the journal can do without; errors are ignored.
    func tryToWrite(_ bytes: [UInt8], _ name: String) {
        guard let file = try? storage.open(self.file(name), .create) else { return }
        try? bytes.withBytes { (span) throws(StorageError) in try file.write(span, at: 0) }
    }
}
