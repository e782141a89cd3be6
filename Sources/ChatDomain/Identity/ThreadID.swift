/// Identifies a thread; the id of an outward code's thread is derived from the code.
///
/// The derived id is a UUIDv8 (RFC 9562 section 5.8): bytes 0 to 3 hold the code's ASCII, left-justified and padded with zeros, byte 6 is `80` (the version), byte 8 is
/// `80` (the variant), bytes 9 to 15 spell `outward`, and the others are zero. `SW1A` is `53573141-0000-8000-806f-757477617264`. So two writers that
/// open `SW1A` at once open the same thread, and no caller can open another thread under that id.
public struct ThreadID: EntityID {
    /// The UUID's bits.
    public let bits: UInt128
    /// Makes an id from its bits.
    public init(bits: UInt128) { self.bits = bits }

    /// Makes the id of an outward code's thread.
    public init(_ outwardCode: OutwardCode) {
        bits = UInt128(outwardCode.ascii) << 96 | Self.outwardMark
    }

    /// The outward code that this id was derived from; nil for the thread of no outward code.
    public var outwardCode: OutwardCode? {
        guard bits & ~(UInt128(UInt32.max) << 96) == Self.outwardMark else { return nil }
        return OutwardCode(ascii: UInt32(truncatingIfNeeded: bits >> 96))
    }

    /// Everything of a derived id but the code: version 8, the variant, and `outward` in ASCII.
    private static let outwardMark: UInt128 = 0x0000_8000_806f_7574_7761_7264

    /// Makes an id from text that names a thread: the UUID's text form, or an outward code.
    ///
    /// - Returns: nil if the text is neither.
    public init?(idOrOutwardCode text: String) {
        if let id = ThreadID(text) {
            self = id
        } else if let code = OutwardCode(text) {
            self.init(code)
        } else {
            return nil
        }
    }
}
