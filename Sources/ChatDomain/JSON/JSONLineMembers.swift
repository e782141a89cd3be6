import Primitives

/// Writes the members of an event's or a command's JSON object straight into a line, as the
/// `JSONLineEncoder` of `ChatWire` writes them.
///
/// It exists because an export is as long as its journal, and the containers of that encoder would
/// make it slower.
package struct JSONLineMembers: JSONFieldWriter {
    private var line: [UInt8] = []

    /// Returns the text of an object.
    static func text(_ members: (inout JSONLineMembers) throws -> Void) -> String {
        var line: [UInt8] = []
        do { try appendObject(to: &line, members) } catch { preconditionFailure("a line takes every field: \(error)") }
        return String(decoding: line, as: UTF8.self)
    }

    /// Appends an object to a line, without a line feed.
    package static func appendObject(to line: inout [UInt8], _ members: (inout JSONLineMembers) throws -> Void) rethrows
    {
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
    private mutating func appendKey(_ key: FieldKey) {
        if line.last != UInt8(ascii: "{") { line.append(UInt8(ascii: ",")) }
        line.append(UInt8(ascii: "\""))
        line.append(contentsOf: key.stringValue.utf8)
        line.append(UInt8(ascii: "\""))
        line.append(UInt8(ascii: ":"))
    }

    package mutating func encode(_ value: Bool, forKey key: FieldKey) {
        appendKey(key)
        line.append(contentsOf: (value ? "true" : "false").utf8)
    }

    package mutating func encode(_ value: UInt64, forKey key: FieldKey) {
        appendKey(key)
        JSONText.append(value, to: &line)
    }

    package mutating func encode(_ value: Timestamp, forKey key: FieldKey) {
        appendKey(key)
        line.append(UInt8(ascii: "\""))
        value.append(to: &line)
        line.append(UInt8(ascii: "\""))
    }

    package mutating func encode(_ value: [String], forKey key: FieldKey) {
        appendKey(key)
        line.append(UInt8(ascii: "["))
        for (index, text) in value.enumerated() {
            if index > 0 { line.append(UInt8(ascii: ",")) }
            JSONText.append(text, to: &line)
        }
        line.append(UInt8(ascii: "]"))
    }

    package mutating func encode(_ value: [[UInt64]], forKey key: FieldKey) {
        appendKey(key)
        line.append(
            contentsOf: "[\(value.map { "[\($0.map(String.init).joined(separator: ","))]" }.joined(separator: ","))]"
                .utf8)
    }

    package mutating func encode(_ value: String?, forKey key: FieldKey) {
        appendKey(key)
        if let value { JSONText.append(value, to: &line) } else { line.append(contentsOf: "null".utf8) }
    }

    package mutating func encode(_ payload: CustomPayload?, forKey key: FieldKey) {
        appendKey(key)
        line.append(contentsOf: (payload?.text ?? "null").utf8)
    }

    package mutating func encode(id: UInt128, forKey key: FieldKey) {
        appendKey(key)
        line.append(UInt8(ascii: "\""))
        UUIDText.append(id, to: &line)
        line.append(UInt8(ascii: "\""))
    }

    package mutating func encodeObject(forKey key: FieldKey, _ members: (inout JSONLineMembers) throws -> Void) rethrows
    {
        appendKey(key)
        try write(members)
    }
}
