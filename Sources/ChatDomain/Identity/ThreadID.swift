public import Primitives

/// Identifies a thread; the thread of an outward code has an id derived from the code.
///
/// A derived id is a UUIDv8 (RFC 9562 section 5.8). Bytes 0 to 3 hold the code in ASCII,
/// left-justified and padded with zeros; byte 6 is `80` (the version); byte 8 is `80` (the
/// variant); bytes 9 to 15 are `outward` in ASCII; the others are zero. `SW1A` is
/// `53573141-0000-8000-806f-757477617264`. Two writers that open `SW1A` at the same time therefore
/// open the same thread, and no other thread can have that id.
public struct ThreadID: EntityID {
    @usableFromInline let uuid: UUIDBits
    /// The UUID's bits.
    @inlinable public var bits: UInt128 { uuid.number }
    /// Creates an id from its bits.
    @inlinable public init(bits: UInt128) { uuid = UUIDBits(bits) }

    /// Creates the id of the thread of an outward code.
    public init(_ outwardCode: OutwardCode) {
        self.init(bits: UInt128(outwardCode.ascii) << 96 | Self.outwardMark)
    }

    /// The outward code from which the id was derived, or nil.
    public var outwardCode: OutwardCode? {
        guard bits & ~(UInt128(UInt32.max) << 96) == Self.outwardMark else { return nil }
        return OutwardCode(ascii: UInt32(truncatingIfNeeded: bits >> 96))
    }

    /// The fixed bits of a derived id: version 8, the variant, and `outward` in ASCII.
    private static let outwardMark: UInt128 = 0x0000_8000_806f_7574_7761_7264

    /// Creates an id from the text form of a UUID or from an outward code.
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
