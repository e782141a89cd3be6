/// Where the members of an event's JSON object are written, one after the other: the container of an encoder, or the bytes of a line.
package protocol EventMembers {
    mutating func encode(_ value: Bool, forKey key: FieldKey) throws
    mutating func encode(_ value: UInt64, forKey key: FieldKey) throws
    mutating func encode(_ value: Timestamp, forKey key: FieldKey) throws
    mutating func encode(_ value: [String], forKey key: FieldKey) throws
    /// Writes a text, null for nil.
    mutating func encode(_ value: String?, forKey key: FieldKey) throws
    /// Writes the text form of an id.
    mutating func encode(id: UInt128, forKey key: FieldKey) throws
    /// Writes an object, whose members a closure writes.
    mutating func encodeObject(forKey key: FieldKey, _ members: (inout Self) throws -> Void) throws
}

extension KeyedEncodingContainer: EventMembers where K == FieldKey {
    package mutating func encode(id: UInt128, forKey key: FieldKey) throws { try encode(UUIDText.format(id), forKey: key) }

    package mutating func encodeObject(forKey key: FieldKey, _ members: (inout Self) throws -> Void) throws {
        var object = nestedContainer(keyedBy: FieldKey.self, forKey: key)
        try members(&object)
    }
}
