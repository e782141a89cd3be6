public import ChatDomain
public import EventJournal

/// A source of ids.
public protocol IDGenerator: Sendable {
    /// Returns a new, globally unique id.
    func makeID(at time: Timestamp) -> UInt128
}

/// A generator of UUIDv7 ids (RFC 9562 section 5.7) from the time and an entropy source.
public struct UUIDv7Generator: IDGenerator {
    private let entropy: any EntropySource

    /// Creates a generator that draws 16 bytes per id.
    public init(entropy: any EntropySource = SystemEntropy()) { self.entropy = entropy }

    /// Returns a new id.
    public func makeID(at time: Timestamp) -> UInt128 {
        var bytes = [UInt8](repeating: 0, count: 16)
        var span = bytes.mutableSpan
        // `mutableBytes` is unsafe for types with invalid bit patterns; every bit pattern of a byte
        // is valid.
        var raw = unsafe span.mutableBytes
        entropy.fill(&raw)
        let random = bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        return UserID(version7At: time, random: random).bits
    }
}
