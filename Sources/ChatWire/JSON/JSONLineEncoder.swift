import Chat
import ChatDomain
import Primitives

/// Encodes a value as one line of compact JSON, with the keys in the order in which the type
/// encodes them.
///
/// Foundation's encoder does not meet the tool's guarantees (`FoundationJSONTests` shows it):
/// - The order of keys is fixed. Foundation's changes from one call to the next, or is
///   alphabetical.
/// - A line is safe to print. Foundation does not escape the scalars that act on a terminal
///   (`JSONText`).
///
/// A `CustomPayload` is its text; `nil` that is encoded is `null`; a value that encodes nothing is
/// `{}`; a key that is encoded twice occurs twice. Coding paths are empty: the only error of the
/// encoder is a number that is not finite.
///
/// With a ``ListLimit``, every list that is a member of an object is cut to it, and an object whose
/// list was cut gets the member `"more":true`.
package struct JSONLineEncoder {
    private let bounds: ListBounds?

    /// Creates an encoder.
    ///
    /// - Parameters:
    ///   - listLimit: The maximum size of each list; nil for any.
    ///   - request: The request of a page, whose entries near the bound are kept if it is cut.
    package init(listLimit: ListLimit? = nil, page request: PageRequest = .latest()) {
        bounds = listLimit.map { ListBounds(limit: $0, request: request) }
    }

    /// Appends the JSON of a value to a line, without a line feed.
    ///
    /// - Returns: Whether the value, if it is an object, has all items of its lists.
    /// - Throws: `EncodingError.invalidValue` for a number that is not finite, and what the value's
    ///   own `encode(to:)` throws. The line is then unchanged.
    @discardableResult
    package func encode(_ value: some Encodable, into line: inout [UInt8]) throws -> Bool {
        let node = try JSONNode(value, bounds)
        node.append(to: &line)
        return !node.isCut
    }
}

/// The maximum size of a list in an answer.
package struct ListLimit: Sendable {
    /// The maximum number of items.
    package let count: Int
    /// The maximum length of the JSON text of a list; its first item may be longer, which no item
    /// of the API is.
    package let byteCount: Int

    /// The limit of every list in the answers of the API.
    package static let answer = ListLimit(count: PageRequest.answerLimits.upperBound, byteCount: 512 << 10)
}

/// The limit of the lists of an answer and its request: one object, so that the encoder of each node
/// is small.
private final class ListBounds: Sendable {
    let limit: ListLimit
    let request: PageRequest

    init(limit: ListLimit, request: PageRequest) { (self.limit, self.request) = (limit, request) }
}

/// The part of a list that an answer has, as JSON text.
private struct ListPart {
    /// The indices of the items that the part has.
    let range: Range<Int>
    let isCut: Bool
    let json: [UInt8]

    /// Encodes items until the limit is reached; at least one, if one exists.
    ///
    /// - Parameters:
    ///   - count: The number of items.
    ///   - index: The item that comes first; the others follow on both sides in turns.
    ///   - limit: The limit; nil for none.
    ///   - node: Returns the node of the item at an index.
    init(of count: Int, around index: Int, _ limit: ListLimit?, node: (Int) throws -> JSONNode) rethrows {
        // The texts from the index up, and those before it, nearest first.
        var (newer, older): ([[UInt8]], [[UInt8]]) = ([], [])
        var byteCount = 2
        while newer.count + older.count < min(count, limit?.count ?? .max) {
            let isOlder = index + newer.count == count || older.count < min(index, newer.count)
            var text: [UInt8] = []
            try node(isOlder ? index - 1 - older.count : index + newer.count).append(to: &text)
            byteCount += text.count + 1
            if let limit, byteCount - 1 > limit.byteCount, newer.count + older.count > 0 { break }
            if isOlder { older.append(text) } else { newer.append(text) }
        }
        let texts = older.reversed() + newer
        json = [UInt8(ascii: "[")] + texts.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
        range = index - older.count..<index + newer.count
        isCut = texts.count < count
    }
}

/// A list whose items are all encodable.
private protocol EncodableList {
    func part(_ bounds: ListBounds) throws -> ListPart
}

extension Array: EncodableList where Element: Encodable {
    fileprivate func part(_ bounds: ListBounds) throws -> ListPart {
        try ListPart(of: count, around: 0, bounds.limit) { try JSONNode(self[$0], bounds) }
    }
}

/// A JSON value under construction; an object of a class, because a container and its parent share
/// it.
private final class JSONNode {
    enum Content {
        case nothing
        /// `null`, `true`, `false`, a number or a payload.
        case word(String)
        case text(String)
        /// JSON text.
        case json([UInt8])
        case array([JSONNode])
        case object([(key: String, value: JSONNode)])
    }

    var content: Content
    /// Whether it is a list without all items, or an object with such a list.
    var isCut = false

    init(_ content: Content = .nothing) { self.content = content }

    convenience init(_ value: some Encodable, _ bounds: ListBounds?) throws {
        switch value {
        case let value as String: self.init(.text(value))
        case let value as Bool: self.init(.word(value ? "true" : "false"))
        case let value as CustomPayload: self.init(.word(value.text))
        case let value as any BinaryInteger & CustomStringConvertible: self.init(.word(value.description))
        case let value as any BinaryFloatingPoint & CustomStringConvertible:
            guard value.isFinite else {
                throw EncodingError.invalidValue(
                    value, .init(codingPath: [], debugDescription: "JSON has no number for \(value)"))
            }
            // The shortest text that reads back as the same value, such as `1.5` or `1e-07`; a
            // whole number has no fraction.
            let text = value.description
            self.init(.word(text.hasSuffix(".0") ? String(text.dropLast(2)) : text))
        default: try self.init(encoding: value, bounds)
        }
    }

    /// Creates the node of a value with an encoding of its own.
    convenience init(encoding value: some Encodable, _ bounds: ListBounds?) throws {
        self.init()
        try value.encode(to: NodeEncoder(node: self, bounds: bounds))
    }

    /// Adds a list; without all of its items, the object is cut.
    func appendMember(_ part: ListPart, _ key: any CodingKey) {
        appendMember(JSONNode(.json(part.json)), key)
        if part.isCut { isCut = true }
    }

    func appendMember(_ node: JSONNode, _ key: any CodingKey) {
        guard case .object(var members) = content else { preconditionFailure("not an object") }
        content = .nothing
        members.append((key.stringValue, node))
        content = .object(members)
    }

    func appendElement(_ node: JSONNode) {
        guard case .array(var elements) = content else { preconditionFailure("not an array") }
        content = .nothing
        elements.append(node)
        content = .array(elements)
    }

    var count: Int {
        if case .array(let elements) = content { elements.count } else { 0 }
    }

    func append(to line: inout [UInt8]) {
        switch content {
        case .nothing: line.append(contentsOf: "{}".utf8)
        case .word(let word): line.append(contentsOf: word.utf8)
        case .text(let text): JSONText.append(text, to: &line)
        case .json(let json): line.append(contentsOf: json)
        case .array(let elements):
            line.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { line.append(UInt8(ascii: ",")) }
                element.append(to: &line)
            }
            line.append(UInt8(ascii: "]"))
        case .object(let members):
            line.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { line.append(UInt8(ascii: ",")) }
                JSONText.append(member.key, to: &line)
                line.append(UInt8(ascii: ":"))
                member.value.append(to: &line)
            }
            if isCut { line.append(contentsOf: #","more":true"#.utf8) }
            line.append(UInt8(ascii: "}"))
        }
    }
}

/// The encoder that a value is given: it fills one node.
///
/// A second request for a keyed or an unkeyed container returns the same one, so a type can add its
/// members to those of another.
private struct NodeEncoder: Encoder, SingleValueEncodingContainer {
    let node: JSONNode
    let bounds: ListBounds?
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .nothing = node.content { node.content = .object([]) }
        return KeyedEncodingContainer(ObjectContainer<Key>(node: node, bounds: bounds))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .nothing = node.content { node.content = .array([]) }
        return ArrayContainer(node: node, bounds: bounds)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { node.content = .word("null") }
    func encode(_ value: some Encodable) throws { node.content = try JSONNode(value, bounds).content }
}

extension NodeEncoder: AnswerEncoder {
    var request: PageRequest { bounds?.request ?? PageRequest.latest() }

    func encode(_ items: [some Encodable], around index: Int, forKey key: any CodingKey) throws -> Range<Int> {
        // Entries have encodings of their own, so none is asked whether it is a text or a number.
        let part = try ListPart(of: items.count, around: index, bounds?.limit) {
            try JSONNode(encoding: items[$0], bounds)
        }
        node.appendMember(part, key)
        return part.range
    }
}

/// The members of an object.
private struct ObjectContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: JSONNode
    let bounds: ListBounds?
    var codingPath: [any CodingKey] { [] }

    private func member(_ key: any CodingKey) -> NodeEncoder {
        let member = JSONNode()
        node.appendMember(member, key)
        return NodeEncoder(node: member, bounds: bounds)
    }

    func encodeNil(forKey key: Key) { member(key).encodeNil() }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        if let bounds, let list = value as? any EncodableList {
            node.appendMember(try list.part(bounds), key)
        } else {
            node.appendMember(try JSONNode(value, bounds), key)
        }
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<
        Nested
    > {
        member(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { member(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { member(SuperKey()) }
    func superEncoder(forKey key: Key) -> any Encoder { member(key) }
}

/// The elements of an array.
private struct ArrayContainer: UnkeyedEncodingContainer {
    let node: JSONNode
    let bounds: ListBounds?
    var codingPath: [any CodingKey] { [] }
    var count: Int { node.count }

    private func element() -> NodeEncoder {
        let element = JSONNode()
        node.appendElement(element)
        return NodeEncoder(node: element, bounds: bounds)
    }

    func encodeNil() { element().encodeNil() }
    func encode(_ value: some Encodable) throws { node.appendElement(try JSONNode(value, bounds)) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        element().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { element().unkeyedContainer() }
    func superEncoder() -> any Encoder { element() }
}

/// The key of a superclass's members.
private struct SuperKey: CodingKey {
    var stringValue: String { "super" }
    var intValue: Int? { nil }

    init() {}
    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }
}
