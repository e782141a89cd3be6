import Primitives

extension RecordLayout {
    /// Whether a record has content that an erasure removes.
    var hasErasableContent: Bool { state == .whole && !erasable.isEmpty }

    /// Returns the stub of a whole record: the kept part, the digest and the original checksum.
    ///
    /// The stub has the same leaf in the tree and the same step of the chain value.
    ///
    /// - Parameter record: The stored bytes of the record.
    func stub(of record: RawSpan) -> [UInt8] {
        var bytes: [UInt8] = [0, 0, 0, 0]
        LEB128.append(UInt64(kept.count), to: &bytes)
        bytes.append(RecordContentState.erased.rawValue)
        record.extracting(kept).append(to: &bytes)
        var hasher = SHA256()
        hasher.update(record.extracting(content))
        bytes += hasher.finalize()
        bytes.append(bytesOf: record.integer(at: 0, as: UInt32.self).littleEndian)
        bytes.store(bytes.withBytes(4..<bytes.count) { CRC32C.checksum(of: $0) }, at: 0)
        return bytes
    }
}
