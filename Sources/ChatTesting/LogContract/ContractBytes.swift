import EventJournal
import Primitives

extension CommitDraft {
    mutating func append(_ record: ContractRecord) throws(JournalError) {
        try record.kept.withBytes { (kept) throws(JournalError) in
            try record.erasable.withBytes { (erasable) throws(JournalError) in try append(kept: kept, erasable: erasable) }
        }
    }
}

extension ContractRecord {
    init(kept: RawSpan, erasable: RawSpan) {
        self.kept = kept.toArray()
        self.erasable = erasable.toArray()
    }
}

extension StorageFile {
    /// Returns the content of the file.
    func contents() throws(StorageError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(try size()))
        let count = try bytes.withMutableBytes(0..<bytes.count) { (target) throws(StorageError) in try read(into: &target, at: 0) }
        return Array(bytes[..<count])
    }

    /// Inverts all bits of a byte.
    func invertByte(at offset: UInt64) throws(StorageError) {
        var byte: [UInt8] = [0]
        _ = try byte.withMutableBytes(0..<1) { (target) throws(StorageError) in try read(into: &target, at: offset) }
        try [~byte[0]].withBytes { (bytes) throws(StorageError) in try write(bytes, at: offset) }
    }
}
