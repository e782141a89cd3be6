/// The coding keys of a type whose absent values are null: the synthesized `encode(to:)` then
/// encodes every field, an optional without a value as null.
///
///     private enum CodingKeys: String, AbsentAsNullKey {
///         case user, reason
///         case isRemoved = "removed"
///         static let omittedIfFalse = [isRemoved]
///     }
///
/// It works because synthesized code calls the overloads below, which exist for these keys only.
/// The synthesized `init(from:)` reads null and a missing field as nil, as with other keys.
@usableFromInline package protocol AbsentAsNullKey: CodingKey, Equatable {
    /// The keys of Booleans that are encoded only if they are true; a missing one is false.
    static var omittedIfFalse: [Self] { get }
    /// The keys of optionals that are encoded only if they have a value.
    static var omittedIfNil: [Self] { get }
}

extension AbsentAsNullKey {
    @inlinable package static var omittedIfFalse: [Self] { [] }
    @inlinable package static var omittedIfNil: [Self] { [] }
}

extension KeyedEncodingContainer where Key: AbsentAsNullKey {
    @inlinable package mutating func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
        if value != nil || !Key.omittedIfNil.contains(key) { try encode(value, forKey: key) }
    }

    // The compiler prefers the overloads of the standard library for its types to the generic one:
    // a field of a further type of the standard library needs one more overload, or nil is omitted.
    @inlinable package mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
        try encode(value, forKey: key)
    }
    @inlinable package mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
        try encode(value, forKey: key)
    }
    @inlinable package mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
        try encode(value, forKey: key)
    }
    @inlinable package mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
        try encode(value, forKey: key)
    }
    @inlinable package mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws {
        try encode(value, forKey: key)
    }

    @inlinable package mutating func encode(_ value: Bool, forKey key: Key) throws {
        if value || !Key.omittedIfFalse.contains(key) { try encodeAlways(value, forKey: key) }
    }
}

extension KeyedDecodingContainer where Key: AbsentAsNullKey {
    package func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        if Key.omittedIfFalse.contains(key) { return try decodeIfPresent(type, forKey: key) ?? false }
        return try decodeAlways(type, forKey: key)
    }
}

// For any key, so that they call the functions of the standard library.

extension KeyedEncodingContainer {
    @inlinable package mutating func encodeAlways(_ value: Bool, forKey key: Key) throws {
        try encode(value, forKey: key)
    }
}

extension KeyedDecodingContainer {
    fileprivate func decodeAlways(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decode(type, forKey: key) }
}
