internal import Primitives

/// One record in its stored form, checked: its parts as offsets from its first byte.
///
/// See Format.md for the layout.
package struct StoredRecord: Sendable {
    let layout: RecordLayout
    /// The checksum of the whole record, which enters the chain value; an erasure keeps it.
    package let originalCRC: UInt32

    /// Checks a record and finds its parts.
    ///
    /// Nil unless the bytes are exactly one record with a valid checksum.
    package init?(_ bytes: RawSpan) {
        guard case .record(let layout) = RecordLayout.decode(bytes, at: 0), layout.length == bytes.byteCount else {
            return nil
        }
        let stored: UInt32 = bytes.integer(at: 0)
        guard CRC32C.checksum(of: bytes.extracting(4..<bytes.byteCount)) == stored else { return nil }
        self.layout = layout
        originalCRC = layout.originalCRC(bytes, at: 0, stored: stored)
    }

    /// The state of the record's content.
    package var state: RecordContentState { layout.state }
    /// The range of the kept part.
    package var kept: Range<Int> { layout.kept }
    /// The range of the erasable part; empty for a stub.
    package var erasable: Range<Int> { layout.erasable }
    /// The range that the leaf in the tree covers after the kept part: the salt and the erasable
    /// part of a whole record, or the digest of a stub.
    package var content: Range<Int> { layout.content }
    /// Whether the record has content that an erasure removes.
    package var hasErasableContent: Bool { layout.hasErasableContent }

    /// Returns the record without its content: the stub that an erasure stores in its place.
    ///
    /// - Parameter bytes: The bytes of this record, which is whole.
    package func stub(of bytes: RawSpan) -> [UInt8] { layout.stub(of: bytes) }

    /// Returns the chain value after a record.
    package static func chain(after chain: UInt64, originalCRC: UInt32) -> UInt64 {
        Chain.step(chain, record: originalCRC)
    }

    /// Returns the chain value before the first record of a log.
    package static func chain(before log: JournalID) -> UInt64 { Chain.start(log) }
}
