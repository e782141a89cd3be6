public import ChatDomain

/// A query as a value: what is asked for, but neither who asks nor as of when.
///
/// A store computes the answer (`ChatReader.answer(_:)`), a server has a route for it, and a client
/// sends it: the values of the path and the parameters are the properties by the names of their
/// coding keys. A ``PageRequest`` has the parameters of pages. A property without a coding key is never
/// sent: `user`, whom a query asks about, has none, and nil is the user who asks. ``BlocksQuery`` is an
/// example.
public protocol ChatQuery: Codable, Hashable, Sendable {
    /// The answer.
    associatedtype Answer: Codable & Sendable
    /// A stable name, without spaces.
    static var name: String { get }
    /// The path of the HTTP API, with a coding key in braces for each segment that varies:
    /// `/v1/threads/{thread}/members`.
    static var path: String { get }
    /// The ranges of whole numbers among the parameters, by coding key; by default from 0.
    static var ranges: [String: ClosedRange<Int>] { get }
}

extension ChatQuery {
    /// None.
    public static var ranges: [String: ClosedRange<Int>] { [:] }
}

/// A query whose answer has a page of a list.
public protocol PageQuery: ChatQuery {
    /// The part of the list.
    var page: PageRequest { get set }
}

/// A query about what is a user's own.
///
/// The user is not sent: a client asks as its own user only.
public protocol OwnQuery: ChatQuery {
    /// The user; nil for the viewer.
    var user: UserID? { get set }
}

/// An entry of a list that has pages.
public protocol PageEntry: Identifiable {
    /// The position by which the list is ordered, and that bounds its pages.
    var pageKey: Position { get }
    /// Whether a page has its newest entry first.
    static var isNewestFirst: Bool { get }
}

extension PageEntry {
    /// False.
    public static var isNewestFirst: Bool { false }
    /// ``pageKey``, for an entry that has no id of its own.
    public var id: Position { pageKey }
}

extension RecordedEvent: PageEntry {
    /// The position of the event.
    public var pageKey: Position { position }
}

/// A list without pages: `{"items":[...]}`.
public struct ItemList<Item: Codable & Sendable>: Codable, Sendable {
    /// The items.
    public var items: [Item]

    /// Creates a list.
    public init(items: [Item]) { self.items = items }
}

// MARK: Values and decoding

// In this file, because it imports `ChatDomain` for public declarations: one that imports it for
// itself alone keeps the compiler from inlining the initializers of this module in others, and a page
// then takes 13 % more instructions.

/// A value of a path or a parameter of a query.
protocol QueryValue: LosslessStringConvertible {
    /// What a text must be, for people.
    static var form: String { get }
    /// What a text must be, for OpenAPI.
    static var parameterForm: QueryParameter.Form { get }
    /// Stands in for a wrong value of a path until the parameters, which come first, were looked
    /// at.
    static var example: Self? { get }

    /// Creates the value of a text; nil if it is none.
    init?(parameter text: String)
}

extension QueryValue {
    static var parameterForm: QueryParameter.Form { .text }
    static var example: Self? { nil }
    init?(parameter text: String) { self.init(text) }
}

extension QueryValue where Self: EntityID {
    static var form: String { "an id" }
    static var parameterForm: QueryParameter.Form { .id }
    static var example: Self? { Self(bits: 0) }
}

extension String: QueryValue {
    static var form: String { "a text" }
}

extension UserID: QueryValue {}
extension MessageID: QueryValue {}
extension ReplyID: QueryValue {}

extension ThreadID: QueryValue {
    static var parameterForm: QueryParameter.Form { .thread }

    init?(parameter text: String) { self.init(idOrOutwardCode: text) }
}

/// The outward code of a thread, which is named by it or by its id.
extension OutwardCode: QueryValue {
    static var form: String { "an outward code" }
    static var parameterForm: QueryParameter.Form { .thread }
    static var example: OutwardCode? { OutwardCode("SW1A") }

    init?(parameter text: String) {
        guard let code = ThreadID(idOrOutwardCode: text)?.outwardCode else { return nil }
        self = code
    }
}

extension Emoji: QueryValue {
    static var form: String { "an emoji of Unicode, or a name such as :wave:" }
}

extension CustomKind: QueryValue {
    static var form: String { "a reverse-DNS name, such as com.example.poll" }
}

extension Timestamp: QueryValue {
    static var form: String { "a time such as 2026-11-21T05:03:12Z" }
    static var parameterForm: QueryParameter.Form { .time }
}

/// A query as its path and parameters had it.
package struct ReceivedQuery<Query: ChatQuery> {
    /// The query, without ``start``.
    package var query: Query
    /// The parameter `at`: the page begins with what was recorded then or later.
    ///
    /// Only a store knows the position of a time.
    package var start: Timestamp?
}

extension ChatQuery {
    /// Decodes a query.
    ///
    /// - Parameters:
    ///   - path: The segments of the path that vary, by the names of the pattern.
    ///   - parameters: The parameters, in their order.
    /// - Throws: The first of: a parameter that is unknown or given twice; the first property with a
    ///   wrong parameter, in the order of their declaration; a wrong segment of the path.
    package static func received(
        path: [String: String], parameters: [(name: String, value: String)]
    ) throws(QueryProblem) -> ReceivedQuery<Self> {
        let texts = ReceivedTexts(path: path, parameters: parameters, ranges: ranges)
        do {
            let query = try Self(from: ParameterDecoder(texts: texts, key: nil))
            try texts.requireKnown()
            if let problem = texts.problem ?? (texts.hasWrongPath ? .notFound : nil) { throw problem }
            return ReceivedQuery(query: query, start: texts.start)
        } catch let problem as QueryProblem {
            throw problem
        } catch {
            throw .unsupported
        }
    }
}

/// The texts of a request while a query is decoded.
final class ReceivedTexts {
    let path: [String: String]
    let parameters: [(name: String, value: String)]
    let ranges: [String: ClosedRange<Int>]
    /// The names that the query has asked for.
    private var known: [String] = []
    /// The first wrong parameter; it counts as absent, so that the other names become known.
    private(set) var problem: QueryProblem?
    private(set) var hasWrongPath = false
    private(set) var start: Timestamp?
    /// What the query has asked for, if it is only looked at; nil for a request.
    private(set) var asked: [QueryParameter]?

    init(
        path: [String: String], parameters: [(name: String, value: String)], ranges: [String: ClosedRange<Int>],
        asked: [QueryParameter]? = nil
    ) {
        (self.path, self.parameters, self.ranges, self.asked) = (path, parameters, ranges, asked)
    }

    /// Throws for a parameter that the query does not have, or that is given twice.
    func requireKnown() throws(QueryProblem) {
        for (index, parameter) in parameters.enumerated() {
            guard known.contains(parameter.name) else { throw .unknown(parameter.name) }
            guard !parameters[..<index].contains(where: { $0.name == parameter.name }) else {
                throw .repeated(parameter.name)
            }
        }
    }

    /// Returns the value of a key; nil if it is absent or wrong.
    func value<Value: Decodable>(_ type: Value.Type, _ key: String) throws -> Value? {
        if asked != nil {
            asked?.append(contentsOf: QueryParameter.values(of: type, key, isInPath: path[key] != nil, ranges[key]))
            return QueryParameter.example(of: type) as? Value
        }
        if type == PageRequest.self { return pageRequest() as? Value }
        if type == Int.self { return number(key, in: ranges[key] ?? 0...Int.max) as? Value }
        if type == Position.self { return number(key, in: 0...Position.max) as? Value }
        guard let segment = path[key] else { return try text(of: key).flatMap { try value(type, key, $0) } }
        if let type = type as? any QueryValue.Type {
            if let value = type.init(parameter: segment) as? Value { return value }
            guard let example = type.example as? Value else { throw QueryProblem.notFound }
            hasWrongPath = true
            return example
        }
        do { return try Value(from: ParameterDecoder(texts: self, key: key)) } catch { throw QueryProblem.notFound }
    }

    private func value<Value: Decodable>(_ type: Value.Type, _ key: String, _ text: String) throws -> Value? {
        var form: String?
        if let type = type as? any QueryValue.Type {
            if let value = type.init(parameter: text) as? Value { return value }
            form = type.form
        } else {
            do { return try Value(from: ParameterDecoder(texts: self, key: key)) } catch { form = nil }
        }
        note(.invalid(key, form: form ?? "a value that this version knows"))
        return nil
    }

    /// Returns the text of a key, also for a value that decodes itself from one.
    func text(of key: String) -> String? {
        if let segment = path[key] { return segment }
        known.append(key)
        return parameters.first { $0.name == key }?.value
    }

    private func note(_ found: QueryProblem) { problem = problem ?? found }

    private func number<Number: FixedWidthInteger>(_ key: String, in range: ClosedRange<Number>) -> Number? {
        guard let text = text(of: key) else { return nil }
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Number(text),
            range.contains(number)
        else {
            note(.invalid(key, form: "a whole number from \(range.lowerBound) to \(range.upperBound)"))
            return nil
        }
        return number
    }

    /// The page of `limit` and one of `before`, `after`, `around` and `at`.
    private func pageRequest() -> PageRequest {
        let bounds = ["before", "after", "around", "at"]
        let given = bounds.filter { text(of: $0) != nil }
        if given.count > 1 { note(.secondBound(given[1])) }
        let page = PageRequest(
            limit: number("limit", in: PageRequest.answerLimits) ?? PageRequest.latest().limit,
            before: number("before", in: 0...Position.max), after: number("after", in: 0...Position.max),
            around: number("around", in: 0...Position.max))
        if let text = text(of: "at") {
            start = Timestamp(text)
            if start == nil { note(.invalid("at", form: Timestamp.form)) }
        }
        return page
    }
}

/// The decoder of a query, or of one of its values.
struct ParameterDecoder: Decoder, SingleValueDecodingContainer {
    let texts: ReceivedTexts
    /// Nil for the query itself.
    let key: String?
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard key == nil else { throw QueryProblem.unsupported }
        return KeyedDecodingContainer(Keyed<Key>(texts: texts))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw QueryProblem.unsupported }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { key.flatMap(texts.text) == nil }

    /// Decodes the text, from which a value of a type of its own is made.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard let key, let text = texts.text(of: key) as? Value else { throw QueryProblem.unsupported }
        return text
    }

    private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let texts: ReceivedTexts
        var codingPath: [any CodingKey] { [] }
        var allKeys: [Key] { [] }

        func contains(_ key: Key) -> Bool { texts.asked != nil || texts.text(of: key.stringValue) != nil }
        func decodeNil(forKey key: Key) -> Bool { !contains(key) }

        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            guard let value = try texts.value(type, key.stringValue) else {
                throw texts.problem ?? QueryProblem.missing(key.stringValue)
            }
            return value
        }

        func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
            try texts.value(type, key.stringValue)
        }

        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws
            -> KeyedDecodingContainer<Nested>
        {
            throw QueryProblem.unsupported
        }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            throw QueryProblem.unsupported
        }

        func superDecoder() throws -> any Decoder { throw QueryProblem.unsupported }
        func superDecoder(forKey key: Key) throws -> any Decoder { throw QueryProblem.unsupported }
    }
}
