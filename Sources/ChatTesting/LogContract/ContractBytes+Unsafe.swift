import EventJournal

// Unsafe, because the standard library marks raw access to a span as unsafe for types with padding
// or with invalid bit patterns; bytes have neither.

extension CommitDraft {
    mutating func append(_ record: ContractRecord) throws(JournalError) {
        unsafe try append(kept: record.kept.span.bytes, erasable: record.erasable.span.bytes)
    }
}

extension ContractRecord {
    init(kept: RawSpan, erasable: RawSpan) {
        self.kept = unsafe kept.withUnsafeBytes { bytes in unsafe [UInt8](bytes) }
        self.erasable = unsafe erasable.withUnsafeBytes { bytes in unsafe [UInt8](bytes) }
    }
}

extension StorageFile {
    /// Returns the content of the file.
    func contents() throws(StorageError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(try size()))
        var span = bytes.mutableSpan
        var target = unsafe span.mutableBytes
        let count = try read(into: &target, at: 0)
        return Array(bytes[..<count])
    }

    /// Inverts all bits of a byte.
    func invertByte(at offset: UInt64) throws(StorageError) {
        var byte: [UInt8] = [0]
        var span = byte.mutableSpan
        var target = unsafe span.mutableBytes
        _ = try read(into: &target, at: offset)
        try write(unsafe [~byte[0]].span.bytes, at: offset)
    }
}
