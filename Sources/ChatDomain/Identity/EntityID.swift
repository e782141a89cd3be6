import Primitives

/// The number of an event in its journal, from 1 and with no gap; 0 stands before the first.
///
/// Positions order everything; time never does.
public typealias Position = UInt64

/// A typed 128-bit UUID (RFC 9562), so that the id of a reply cannot be passed where a message belongs.
///
/// The text form is the RFC's: 36 characters, printed in lower case and read in either. Ids compare by their bits, which for UUIDv7 is by time.
public protocol EntityID: Hashable, Comparable, Sendable, Codable, LosslessStringConvertible {
    /// The UUID as a number; its most significant byte is the first of the text form.
    var bits: UInt128 { get }

    /// Makes an id from the UUID's bits; any value is an id.
    init(bits: UInt128)
}

extension EntityID {
    /// Makes an id from its text form, in upper or lower case; nil if the text is anything but 36 characters of that form.
    public init?(_ description: String) {
        guard let bits = UUIDText.parse(description) else { return nil }
        self.init(bits: bits)
    }

    /// The text form in lower case, as RFC 9562 section 4 asks.
    public var description: String { UUIDText.format(bits) }

    /// Orders ids by their bits.
    public static func < (first: Self, second: Self) -> Bool { first.bits < second.bits }

    /// Hashes the bits.
    public func hash(into hasher: inout Hasher) { hasher.combine(bits) }

    /// Reads the text form.
    ///
    /// - Throws: `DecodingError.dataCorrupted` if the text is not a UUID.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let bits = UUIDText.parse(text) else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "not a UUID"))
        }
        self.init(bits: bits)
    }

    /// Writes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// Identifies a person who uses the chat.
public struct UserID: EntityID {
    /// The UUID's bits.
    public let bits: UInt128
    /// Makes an id from its bits.
    public init(bits: UInt128) { self.bits = bits }
}

/// Identifies a message of a thread.
public struct MessageID: EntityID {
    /// The UUID's bits.
    public let bits: UInt128
    /// Makes an id from its bits.
    public init(bits: UInt128) { self.bits = bits }
}

/// Identifies a reply to a message.
public struct ReplyID: EntityID {
    /// The UUID's bits.
    public let bits: UInt128
    /// Makes an id from its bits.
    public init(bits: UInt128) { self.bits = bits }
}

/// Identifies a session: a stretch of use of one device.
public struct SessionID: EntityID {
    /// The UUID's bits.
    public let bits: UInt128
    /// Makes an id from its bits.
    public init(bits: UInt128) { self.bits = bits }
}

extension EntityID {
    /// Makes a UUIDv7 (RFC 9562 section 5.7) from a time and random bits, which the caller draws.
    ///
    /// - Parameters:
    ///   - time: The moment that the id bears; its low 48 bits of milliseconds since 1970 are used.
    ///   - random: 128 random bits, of which 74 are used.
    public init(version7At time: Timestamp, random: UInt128) {
        let milliseconds = UInt128(UInt64(bitPattern: time.millisecondsSince1970) & 0xFFFF_FFFF_FFFF)
        let versioned: UInt128 = 0x7000_8000_0000_0000_0000
        let randomMask: UInt128 = 0x0FFF_3FFF_FFFF_FFFF_FFFF
        self.init(bits: milliseconds << 80 | versioned | random & randomMask)
    }
}
