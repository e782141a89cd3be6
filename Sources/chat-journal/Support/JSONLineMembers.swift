import ChatDomain

/// Writes the members of an event's JSON object straight into a line, as `JSONLineEncoder` writes them.
///
/// An export is as long as its journal: without the encoder's containers a line takes a fifth of the time.
struct JSONLineMembers: EventMembers {
    private var line: [UInt8] = []

    /// Appends an object to a line, without a line feed.
    static func appendObject(to line: inout [UInt8], _ members: (inout JSONLineMembers) throws -> Void) rethrows {
        var object = JSONLineMembers()
        swap(&object.line, &line)
        defer { swap(&object.line, &line) }
        try object.write(members)
    }

    private mutating func write(_ members: (inout JSONLineMembers) throws -> Void) rethrows {
        line.append(UInt8(ascii: "{"))
        try members(&self)
        line.append(UInt8(ascii: "}"))
    }

    /// Begins a member, whose key needs no escapes.
    private mutating func begin(_ key: FieldKey) {
        if line.last != UInt8(ascii: "{") { line.append(UInt8(ascii: ",")) }
        line.append(UInt8(ascii: "\""))
        line.append(contentsOf: key.stringValue.utf8)
        line.append(UInt8(ascii: "\""))
        line.append(UInt8(ascii: ":"))
    }

    mutating func encode(_ value: Bool, forKey key: FieldKey) {
        begin(key)
        JSONText.append(value, to: &line)
    }

    mutating func encode(_ value: UInt64, forKey key: FieldKey) {
        begin(key)
        JSONText.append(value, to: &line)
    }

    mutating func encode(_ value: Timestamp, forKey key: FieldKey) {
        begin(key)
        line.append(UInt8(ascii: "\""))
        value.append(to: &line)
        line.append(UInt8(ascii: "\""))
    }

    mutating func encode(_ value: [String], forKey key: FieldKey) {
        begin(key)
        for (index, text) in value.enumerated() {
            line.append(UInt8(ascii: index == 0 ? "[" : ","))
            JSONText.append(text, to: &line)
        }
        line.append(UInt8(ascii: "]"))
    }

    mutating func encode(_ value: String?, forKey key: FieldKey) {
        begin(key)
        if let value { JSONText.append(value, to: &line) } else { JSONText.appendNull(to: &line) }
    }

    mutating func encode(id: UInt128, forKey key: FieldKey) {
        begin(key)
        line.append(UInt8(ascii: "\""))
        UUIDText.append(id, to: &line)
        line.append(UInt8(ascii: "\""))
    }

    mutating func encodeObject(forKey key: FieldKey, _ members: (inout JSONLineMembers) throws -> Void) rethrows {
        begin(key)
        try write(members)
    }
}
