package import ChatDomain

/// A JSON value whose members keep their order.
package indirect enum OrderedJSON: Sendable {
    case object([Member])
    case array([OrderedJSON])
    /// A text, a number, a Boolean or null, as JSON text.
    case scalar(String)

    /// A member of an object.
    package struct Member: Sendable {
        package let name: String
        package var value: OrderedJSON
    }

    static let null = OrderedJSON.scalar("null")

    static func text(_ text: String) -> OrderedJSON {
        var json: [UInt8] = []
        JSONText.append(text, to: &json)
        return .scalar(String(decoding: json, as: UTF8.self))
    }

    static func number(_ number: some BinaryInteger) -> OrderedJSON { .scalar("\(number)") }

    static func texts(_ texts: some Sequence<String>) -> OrderedJSON { .array(texts.map(OrderedJSON.text)) }

    /// The members of an object; none of another value.
    var members: [Member] {
        get { if case .object(let members) = self { members } else { [] } }
        set { self = .object(newValue) }
    }

    /// The member of an object with a name.
    ///
    /// Setting nil removes it; a new one is the last.
    subscript(_ name: String) -> OrderedJSON? {
        get { members.first { $0.name == name }?.value }
        set {
            let index = members.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// The text of a scalar that has no escapes.
    var plainText: String? {
        guard case .scalar(let json) = self, json.hasPrefix("\"") else { return nil }
        return String(json.dropFirst().dropLast())
    }
}

extension OrderedJSON {
    /// Parses JSON text.
    package init(_ bytes: [UInt8]) throws(JSONScanError) {
        if let fields = try JSONScanner.fields(of: bytes) {
            var members: [Member] = []
            for field in fields {
                members.append(Member(name: field.name, value: try OrderedJSON(Array(bytes[field.value]))))
            }
            self = .object(members)
        } else if let ranges = try JSONScanner.elements(of: bytes, limit: .max) {
            var elements: [OrderedJSON] = []
            for range in ranges { elements.append(try OrderedJSON(Array(bytes[range]))) }
            self = .array(elements)
        } else {
            self = .scalar(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// The JSON text in lines of at most some 120 columns; a text that is longer has a line of its
    /// own.
    package var lines: String { lines(indent: 0).text + "\n" }

    private func lines(indent: Int) -> (text: String, isOne: Bool) {
        let (open, close): (String, String)
        let parts: [(text: String, isOne: Bool)]
        switch self {
        case .scalar(let json): return (json, true)
        case .array(let elements): (open, close, parts) = ("[", "]", elements.map { $0.lines(indent: indent + 2) })
        case .object(let members):
            (open, close) = ("{", "}")
            parts = members.map { member in
                let value = member.value.lines(indent: indent + 2)
                return ("\"\(member.name)\": \(value.text)", value.isOne)
            }
        }
        let count = parts.reduce(indent + 2) { $0 + $1.text.utf8.count + 2 }
        if count <= 120, parts.allSatisfy(\.isOne) {
            return (open + parts.map(\.text).joined(separator: ", ") + close, true)
        }
        let margin = String(repeating: " ", count: indent + 2)
        let body = parts.map { margin + $0.text }.joined(separator: ",\n")
        return ("\(open)\n\(body)\n\(margin.dropLast(2))\(close)", false)
    }
}

extension OrderedJSON: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByStringLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
    package init(dictionaryLiteral members: (String, OrderedJSON)...) {
        self = .object(members.map { Member(name: $0, value: $1) })
    }

    package init(arrayLiteral elements: OrderedJSON...) { self = .array(elements) }
    package init(stringLiteral text: String) { self = .text(text) }
    package init(integerLiteral number: Int) { self = .number(number) }
    package init(booleanLiteral value: Bool) { self = .scalar("\(value)") }
}

extension OrderedJSON {
    /// A reference to a schema of the document.
    static func schema(_ name: String) -> OrderedJSON { reference("schemas", name) }

    /// A reference to a schema, with a description of its own.
    static func schema(_ name: String, _ description: String) -> OrderedJSON {
        ["description": .text(description), "allOf": [schema(name)]]
    }

    static func reference(_ part: String, _ name: String) -> OrderedJSON {
        ["$ref": .text("#/components/\(part)/\(name)")]
    }
}
