import Primitives

/// The random bytes of a record between its parts, in little-endian order.
typealias RecordSalt = UInt128

/// The parts of one stored record, as offsets from its first byte.
///
/// See Format.md for the layout.
struct RecordLayout {
    var state: RecordContentState
    var kept: Range<Int>
    /// The range of the erasable bytes; empty for a stub.
    var erasable: Range<Int>
    /// The length of the stored record, its CRC field included.
    var length: Int

    static let digestByteCount = 32

    /// The range that the leaf hash covers after the kept part: the salt and the erasable part of a
    /// whole record, or the digest of a stub.
    var content: Range<Int> { kept.upperBound..<(state == .whole ? length : kept.upperBound + Self.digestByteCount) }

    /// The outcome of decoding.
    enum Decoding {
        case record(RecordLayout)
        /// The bytes end before the record.
        ///
        /// The record needs at least this number of bytes.
        case incomplete(Int)
        /// The bytes are not a record.
        case invalid
    }

    /// Decodes the lengths of the record at `offset`.
    @inline(__always)
    static func decode(_ bytes: RawSpan, at offset: Int) -> Decoding {
        let available = bytes.byteCount - offset
        guard available >= 6 else { return .incomplete(6) }
        var cursor = offset + 4
        let keptLength: Int
        switch LEB128.decode(bytes, at: cursor, limit: UInt64(JournalLimits.keptBytes)) {
        case .value(let value, let next): (keptLength, cursor) = (Int(value), next)
        case .incomplete: return .incomplete(available + 1)
        case .invalid: return .invalid
        }
        let tail: UInt64
        switch LEB128.decode(bytes, at: cursor, limit: UInt64(JournalLimits.erasableBytes) << 2 | 3) {
        case .value(let value, let next): (tail, cursor) = (value, next)
        case .incomplete: return .incomplete(available + 1)
        case .invalid: return .invalid
        }
        guard let state = RecordContentState(rawValue: UInt8(tail & 3)) else { return .invalid }
        let erasableLength = Int(tail >> 2)
        let kept = (cursor - offset)..<(cursor - offset + keptLength)
        let layout: RecordLayout
        if state == .whole {
            let start = kept.upperBound + JournalLimits.recordSaltByteCount
            layout = RecordLayout(
                state: state, kept: kept, erasable: start..<(start + erasableLength), length: start + erasableLength)
        } else {
            // A stub has no length of the erasable part: the length would reveal something about
            // erased content.
            guard erasableLength == 0 else { return .invalid }
            let end = kept.upperBound + digestByteCount + 4
            layout = RecordLayout(state: state, kept: kept, erasable: end..<end, length: end)
        }
        return layout.length <= available ? .record(layout) : .incomplete(layout.length)
    }

    /// Returns the length of a common record at `offset`, or nil for a record that needs
    /// ``decode(_:at:)``.
    ///
    /// A common record is whole, with a kept part shorter than 128 bytes and an erasable part
    /// shorter than 4 KiB. Nearly all records are.
    @inline(__always)
    static func commonLength(_ bytes: RawSpan, at offset: Int) -> Int? {
        guard bytes.byteCount - offset >= JournalLimits.minimumRecordLength else { return nil }
        let lengths: UInt32 = bytes.integer(at: offset + 4)
        let (kept, low) = (lengths & 0xFF, lengths >> 8 & 0xFF)
        // 1 if the second length has two bytes. Computed without a branch, which would be
        // unpredictable.
        let isLong = low >> 7
        let high = (lengths >> 16 & 0xFF) * isLong
        guard kept < 0x80, high < 0x80, high >= isLong, low & 3 == UInt32(RecordContentState.whole.rawValue) else {
            return nil
        }
        return JournalLimits.minimumRecordLength + Int(isLong) + Int(kept) + Int((low & 0x7F | high << 7) >> 2)
    }

    /// Returns the CRC that enters the chain value: the stored CRC, or the original CRC of a stub.
    @inline(__always)
    func originalCRC(_ bytes: RawSpan, at offset: Int, stored: UInt32) -> UInt32 {
        state == .whole ? stored : bytes.integer(at: offset + length - 4)
    }
}
