#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension EntityID {
    /// Creates an id from a UUID.
    public init(_ uuid: UUID) {
        let bytes = uuid.uuid
        let high = [bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5, bytes.6, bytes.7]
        let low = [bytes.8, bytes.9, bytes.10, bytes.11, bytes.12, bytes.13, bytes.14, bytes.15]
        self.init(bits: (high + low).reduce(0) { $0 << 8 | UInt128($1) })
    }

    /// The id as a UUID.
    public var uuid: UUID {
        func byte(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: bits >> UInt128(120 - 8 * index)) }
        return UUID(
            uuid: (
                byte(0), byte(1), byte(2), byte(3), byte(4), byte(5), byte(6), byte(7), byte(8), byte(9), byte(10),
                byte(11),
                byte(12), byte(13), byte(14), byte(15)
            ))
    }
}
