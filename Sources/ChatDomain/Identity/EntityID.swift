public import Primitives

/// A typed 128-bit UUID (RFC 9562): a reply's id cannot be passed as a message's.
///
/// The text form is the RFC's: 36 characters, printed in lower case and parsed in either case. Ids
/// compare by their bits, which orders UUIDv7 values by time.
public protocol EntityID: Hashable, Comparable, Sendable, Codable, LosslessStringConvertible {
    /// The UUID as a number; its most significant byte is the first of the text form.
    var bits: UInt128 { get }

    /// Creates an id from the UUID's bits; every value is an id.
    init(bits: UInt128)
}

extension EntityID {
    /// Creates an id from its text form, in upper or lower case.
    ///
    /// - Returns: nil unless the text is exactly the 36 characters of that form.
    public init?(_ description: String) {
        guard let bits = UUIDText.parse(description) else { return nil }
        self.init(bits: bits)
    }

    /// The text form in lower case, as RFC 9562 section 4 requires.
    public var description: String { UUIDText.format(bits) }

    /// Compares ids by their bits.
    public static func < (first: Self, second: Self) -> Bool { first.bits < second.bits }

    /// Hashes the bits.
    public func hash(into hasher: inout Hasher) { hasher.combine(bits) }

    /// Decodes the text form.
    ///
    /// - Throws: `DecodingError.dataCorrupted` if the text is not a UUID.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let bits = UUIDText.parse(text) else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "not a UUID"))
        }
        self.init(bits: bits)
    }

    /// Encodes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// Identifies a user of the chat.
public struct UserID: EntityID {
    @usableFromInline let uuid: UUIDBits
    /// The UUID's bits.
    @inlinable public var bits: UInt128 { uuid.number }
    /// Creates an id from its bits.
    @inlinable public init(bits: UInt128) { uuid = UUIDBits(bits) }
}

/// Identifies a message of a thread.
public struct MessageID: EntityID {
    @usableFromInline let uuid: UUIDBits
    /// The UUID's bits.
    @inlinable public var bits: UInt128 { uuid.number }
    /// Creates an id from its bits.
    @inlinable public init(bits: UInt128) { uuid = UUIDBits(bits) }
}

/// Identifies a reply to a message.
public struct ReplyID: EntityID {
    @usableFromInline let uuid: UUIDBits
    /// The UUID's bits.
    @inlinable public var bits: UInt128 { uuid.number }
    /// Creates an id from its bits.
    @inlinable public init(bits: UInt128) { uuid = UUIDBits(bits) }
}

/// Identifies an edit of a message or a reply.
public struct EditID: EntityID {
    @usableFromInline let uuid: UUIDBits
    /// The UUID's bits.
    @inlinable public var bits: UInt128 { uuid.number }
    /// Creates an id from its bits.
    @inlinable public init(bits: UInt128) { uuid = UUIDBits(bits) }
}

/// Identifies a session: a period in which a user uses one device.
public struct SessionID: EntityID {
    @usableFromInline let uuid: UUIDBits
    /// The UUID's bits.
    @inlinable public var bits: UInt128 { uuid.number }
    /// Creates an id from its bits.
    @inlinable public init(bits: UInt128) { uuid = UUIDBits(bits) }
}

/// Identifies a custom event, which the host program defines.
public struct CustomEventID: EntityID {
    @usableFromInline let uuid: UUIDBits
    /// The UUID's bits.
    @inlinable public var bits: UInt128 { uuid.number }
    /// Creates an id from its bits.
    @inlinable public init(bits: UInt128) { uuid = UUIDBits(bits) }
}

/// Identifies a command that has no id of its own, so that it takes effect once.
public struct CommandID: EntityID {
    @usableFromInline let uuid: UUIDBits
    /// The UUID's bits.
    @inlinable public var bits: UInt128 { uuid.number }
    /// Creates an id from its bits.
    @inlinable public init(bits: UInt128) { uuid = UUIDBits(bits) }
}

extension EntityID {
    /// Creates a UUIDv7 (RFC 9562 section 5.7) from a time and the caller's random bits.
    ///
    /// - Parameters:
    ///   - time: The time of the id; its low 48 bits of milliseconds since 1970 are used.
    ///   - random: 128 random bits, of which 74 are used.
    public init(version7At time: Timestamp, random: UInt128) {
        let milliseconds = UInt128(UInt64(bitPattern: time.millisecondsSince1970) & 0xFFFF_FFFF_FFFF)
        let versioned: UInt128 = 0x7000_8000_0000_0000_0000
        let randomMask: UInt128 = 0x0FFF_3FFF_FFFF_FFFF_FFFF
        self.init(bits: milliseconds << 80 | versioned | random & randomMask)
    }
}
