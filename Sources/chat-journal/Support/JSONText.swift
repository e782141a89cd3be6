import ChatDomain

/// JSON as bytes, appended to a line.
enum JSONText {
    /// Appends a string in quotes.
    ///
    /// A quote and a backslash get a backslash; backspace, tab, newline, form feed and carriage return have their short forms; every
    /// other scalar that may act on a terminal (`isInvisible`) is `\uXXXX`, beyond the basic plane a surrogate pair. All others
    /// stay as UTF-8; `/` is not escaped. Complexity: linear in the length of the string.
    static func append(_ string: String, to line: inout [UInt8]) {
        line.append(UInt8(ascii: "\""))
        if isPlain(string.utf8.span) {
            line.append(contentsOf: string.utf8)
        } else {
            for scalar in string.unicodeScalars { append(scalar, to: &line) }
        }
        line.append(UInt8(ascii: "\""))
    }

    /// Appends an integer in decimal.
    static func append(_ value: UInt64, to line: inout [UInt8]) {
        if value >= 10 { append(value / 10, to: &line) }
        line.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10))
    }

    /// Whether every byte is printable ASCII that needs no escape.
    private static func isPlain(_ text: Span<UInt8>) -> Bool {
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): return false
            case UInt8(ascii: " ")...UInt8(ascii: "~"): break
            default: return false
            }
        }
        return true
    }

    private static func append(_ scalar: Unicode.Scalar, to line: inout [UInt8]) {
        switch scalar {
        case "\"", "\\": appendEscape(UInt8(truncatingIfNeeded: scalar.value), to: &line)
        case "\u{8}": appendEscape(UInt8(ascii: "b"), to: &line)
        case "\t": appendEscape(UInt8(ascii: "t"), to: &line)
        case "\n": appendEscape(UInt8(ascii: "n"), to: &line)
        case "\u{C}": appendEscape(UInt8(ascii: "f"), to: &line)
        case "\r": appendEscape(UInt8(ascii: "r"), to: &line)
        case " "..."~": line.append(UInt8(truncatingIfNeeded: scalar.value))
        case _ where scalar.isInvisible:
            for unit in UTF16.encode(scalar) ?? .init() { appendEscape(unit: unit, to: &line) }
        default: line.append(contentsOf: UTF8.encode(scalar) ?? .init())
        }
    }

    private static func appendEscape(_ letter: UInt8, to line: inout [UInt8]) {
        line.append(UInt8(ascii: "\\"))
        line.append(letter)
    }

    private static func appendEscape(unit: UInt16, to line: inout [UInt8]) {
        appendEscape(UInt8(ascii: "u"), to: &line)
        for shift in [12, 8, 4, 0] {
            let digit = UInt8(truncatingIfNeeded: unit >> UInt16(shift)) & 0xF
            line.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + (digit - 10))
        }
    }
}

/// Writes the members of an event's JSON object straight into a line, as `JSONLineEncoder` writes them.
///
/// It exists because an export is as long as its journal: an encoder's containers take several times
/// as long for an event.
///.
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
        line.append(contentsOf: (value ? "true" : "false").utf8)
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
        line.append(UInt8(ascii: "["))
        for (index, text) in value.enumerated() {
            if index > 0 { line.append(UInt8(ascii: ",")) }
            JSONText.append(text, to: &line)
        }
        line.append(UInt8(ascii: "]"))
    }

    mutating func encode(_ value: String?, forKey key: FieldKey) {
        begin(key)
        if let value { JSONText.append(value, to: &line) } else { line.append(contentsOf: "null".utf8) }
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
