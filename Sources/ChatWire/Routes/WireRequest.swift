public import ChatValues
internal import Primitives

/// A request of a client, independent of the transport.
public struct WireRequest: Sendable {
    /// The method in capitals, such as `GET`.
    public let method: String
    /// The decoded segments of the path: `/v1/threads` is `["v1", "threads"]`.
    public let path: [String]
    /// The decoded parameters of the query, in their order.
    public let query: [(name: String, value: String)]
    /// The header `Last-Event-ID`.
    public let lastEventID: String?
    /// The body.
    public let body: [UInt8]

    /// Parses the target of a request.
    ///
    /// - Parameters:
    ///   - method: The method in capitals.
    ///   - target: The path and the query as they were sent, such as `/v1/threads?limit=10`.
    ///   - lastEventID: The header `Last-Event-ID`.
    ///   - body: The body, whose size the caller bounds.
    /// - Throws: `Problem` with `invalidQuery` for a malformed percent encoding, or text that is
    ///   not UTF-8 or contains a control character; `notFound` for such a path, or one that does
    ///   not begin with a slash.
    public init(method: String, target: String, lastEventID: String? = nil, body: [UInt8] = []) throws(Problem) {
        let parts = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        var segments = parts[0].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)[...]
        guard segments.popFirst()?.isEmpty == true, !segments.isEmpty else { throw .notFound }
        var path: [String] = []
        for segment in segments {
            guard let text = Self.decoded(segment) else { throw .notFound }
            path.append(text)
        }
        var query: [(name: String, value: String)] = []
        for parameter in parts.count < 2 ? [] : parts[1].split(separator: UInt8(ascii: "&")) {
            let sides = parameter.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(sides[0]), let value = sides.count == 1 ? "" : Self.decoded(sides[1]) else {
                throw Problem(400, .invalidQuery, "The query is not percent-encoded UTF-8 without control characters.")
            }
            query.append((name, value))
        }
        (self.method, self.path, self.query) = (method, path, query)
        (self.lastEventID, self.body) = (lastEventID, body)
    }

    /// Decodes `%` with two hexadecimal digits (RFC 3986); a `+` is a plus sign.
    private static func decoded(_ text: Substring.UTF8View.SubSequence) -> String? {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(Hexadecimal.value(of:)),
                let low = rest.popFirst().flatMap(Hexadecimal.value(of:))
            else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        guard let text = String(validating: bytes, as: UTF8.self), bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            return nil
        }
        return text
    }
}

extension WireRequest {
    /// Throws for a parameter that the route does not have, or that is given twice.
    package func requireParameters(_ names: [String] = []) throws(Problem) {
        for (index, parameter) in query.enumerated() {
            guard names.contains(parameter.name) else { throw .unknownParameter(parameter.name) }
            guard !query[..<index].contains(where: { $0.name == parameter.name }) else {
                throw .repeatedParameter(parameter.name)
            }
        }
    }

    /// Returns the value of a parameter, or nil if it is absent.
    func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// Returns a parameter that is a whole number in a range, or nil if it is absent.
    func number<Number: FixedWidthInteger>(_ name: String, in range: ClosedRange<Number>) throws(Problem) -> Number? {
        guard let text = parameter(name) else { return nil }
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Number(text),
            range.contains(number)
        else {
            throw Problem(
                400, .invalidQuery, "The parameter is a whole number from \(range.lowerBound) to \(range.upperBound).",
                field: name)
        }
        return number
    }

    /// Returns the values of a parameter that are separated by commas, or nil if it is absent.
    ///
    /// - Parameters:
    ///   - kind: What the values are, for the problem of a value that is not valid.
    ///   - value: Returns the value of a text; nil if it is not valid.
    func set<Value: Hashable>(_ name: String, of kind: String, _ value: (String) -> Value?) throws(Problem) -> Set<
        Value
    >? {
        guard let text = parameter(name) else { return nil }
        let values = text.split(separator: ",", omittingEmptySubsequences: false).map { value(String($0)) }
        guard !values.contains(nil) else {
            throw Problem(400, .invalidQuery, "The parameter has \(kind), separated by commas.", field: name)
        }
        return Set(values.compactMap(\.self))
    }
}
