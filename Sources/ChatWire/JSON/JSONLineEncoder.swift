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
    private let listLimit: ListLimit?

    package init(listLimit: ListLimit? = nil) { self.listLimit = listLimit }

    /// Appends the JSON of a value to a line, without a line feed.
    ///
    /// - Returns: Whether the value, if it is an object, has all items of its lists.
    /// - Throws: `EncodingError.invalidValue` for a number that is not finite, and what the value's
    ///   own `encode(to:)` throws. The line is then unchanged.
    @discardableResult
    package func encode(_ value: some Encodable, into line: inout [UInt8]) throws -> Bool {
        let node = try JSONNode(value, listLimit)
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

/// The part of a list that an answer has, as JSON text.
struct ListPart: Encodable {
    /// Which items a list keeps that is cut.
    enum Side {
        case first, last
        /// On both sides of an index in turns, beginning with the item at it.
        case near(Int)
    }

    /// The indices of the items that the part has.
    let range: Range<Int>
    let isCut: Bool
    private let json: [UInt8]

    /// Encodes items until the limit of an encoder; at least one, if one exists.
    ///
    /// - Throws: What the items throw, and `EncodingError` for an encoder other than
    ///   `JSONLineEncoder`.
    init(_ items: [some Encodable], keeping side: Side = .first, for encoder: any Encoder) throws {
        guard let encoder = encoder as? NodeEncoder else { throw Self.foreignEncoder }
        try self.init(items, keeping: side, limit: encoder.listLimit)
    }

    fileprivate init(_ items: [some Encodable], keeping side: Side, limit: ListLimit?) throws {
        let start =
            switch side {
            case .first: 0
            case .last: items.count
            case .near(let index): index
            }
        // The texts from the start up, and those before it, nearest first.
        var (newer, older): ([[UInt8]], [[UInt8]]) = ([], [])
        var byteCount = 2
        while newer.count + older.count < min(items.count, limit?.count ?? .max) {
            let isOlder = start + newer.count == items.count || older.count < min(start, newer.count)
            var text: [UInt8] = []
            try JSONNode(items[isOlder ? start - 1 - older.count : start + newer.count], limit).append(to: &text)
            byteCount += text.count + 1
            if let limit, byteCount - 1 > limit.byteCount, newer.count + older.count > 0 { break }
            if isOlder { older.append(text) } else { newer.append(text) }
        }
        let texts = older.reversed() + newer
        json = [UInt8(ascii: "[")] + texts.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
        range = start - older.count..<start + newer.count
        isCut = texts.count < items.count
    }

    func encode(to encoder: any Encoder) throws {
        guard let encoder = encoder as? NodeEncoder else { throw Self.foreignEncoder }
        encoder.node.content = .json(json)
        encoder.node.isCut = isCut
    }

    private static var foreignEncoder: EncodingError {
        .invalidValue("list", .init(codingPath: [], debugDescription: "only JSONLineEncoder encodes a part of a list"))
    }
}

/// A list whose items are all encodable.
private protocol EncodableList {
    func part(_ limit: ListLimit) throws -> ListPart
}

extension Array: EncodableList where Element: Encodable {
    fileprivate func part(_ limit: ListLimit) throws -> ListPart { try ListPart(self, keeping: .first, limit: limit) }
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

    convenience init(_ value: some Encodable, _ listLimit: ListLimit?) throws {
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
        default:
            self.init()
            try value.encode(to: NodeEncoder(node: self, listLimit: listLimit))
        }
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
    let listLimit: ListLimit?
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .nothing = node.content { node.content = .object([]) }
        return KeyedEncodingContainer(ObjectContainer<Key>(node: node, listLimit: listLimit))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .nothing = node.content { node.content = .array([]) }
        return ArrayContainer(node: node, listLimit: listLimit)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { node.content = .word("null") }
    func encode(_ value: some Encodable) throws { node.content = try JSONNode(value, listLimit).content }
}

/// The members of an object.
private struct ObjectContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: JSONNode
    let listLimit: ListLimit?
    var codingPath: [any CodingKey] { [] }

    private func member(_ key: any CodingKey) -> NodeEncoder {
        let member = JSONNode()
        node.appendMember(member, key)
        return NodeEncoder(node: member, listLimit: listLimit)
    }

    func encodeNil(forKey key: Key) { member(key).encodeNil() }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        let member: JSONNode
        if let listLimit, let list = value as? any EncodableList {
            member = try JSONNode(try list.part(listLimit), listLimit)
        } else {
            member = try JSONNode(value, listLimit)
        }
        if case .json = member.content, member.isCut { node.isCut = true }
        node.appendMember(member, key)
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
    let listLimit: ListLimit?
    var codingPath: [any CodingKey] { [] }
    var count: Int { node.count }

    private func element() -> NodeEncoder {
        let element = JSONNode()
        node.appendElement(element)
        return NodeEncoder(node: element, listLimit: listLimit)
    }

    func encodeNil() { element().encodeNil() }
    func encode(_ value: some Encodable) throws { node.appendElement(try JSONNode(value, listLimit)) }

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
