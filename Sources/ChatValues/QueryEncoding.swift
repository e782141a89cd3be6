internal import Primitives

extension ChatQuery {
    /// The path and the parameters of a request, such as `/v1/threads?limit=50`.
    ///
    /// - Throws: ``QueryProblem/unsupported`` if the query has a list, or is about another user than
    ///   the viewer.
    package var target: String {
        get throws(QueryProblem) {
            if let own = self as? any OwnQuery, own.user != nil { throw .unsupported }
            let texts = SentTexts()
            do { try encode(to: ParameterEncoder(texts: texts, key: nil)) } catch { throw .unsupported }
            guard !texts.hasOthers else { throw .unsupported }
            var path = ""
            var sent: Set<String> = []
            for segment in Self.path.split(separator: "/") {
                let name = String(segment.dropFirst().dropLast())
                if segment.hasPrefix("{"), let item = texts.items.first(where: { $0.name == name }) {
                    sent.insert(name)
                    path += "/" + percentEncoded(item.value)
                } else {
                    path += "/" + segment
                }
            }
            let rest = texts.items.filter { !sent.contains($0.name) }
            return path + (rest.isEmpty ? "" : "?")
                + rest.map { "\($0.name)=\(percentEncoded($0.value))" }.joined(separator: "&")
        }
    }
}

/// Encodes all bytes but the unreserved characters of RFC 3986.
private func percentEncoded(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            result.unicodeScalars.append(Unicode.Scalar(byte))
        default: result += "%" + Hexadecimal.text(of: [byte])
        }
    }
    return result
}

/// The values of a query, by their coding keys.
private final class SentTexts {
    var items: [(name: String, value: String)] = []
    /// Whether the query has something that is no such value.
    var hasOthers = false

    func append(_ value: some Encodable, _ key: String) throws {
        switch value {
        case let page as PageRequest:
            let limit = min(max(page.limit, PageRequest.answerLimits.lowerBound), PageRequest.answerLimits.upperBound)
            items.append(("limit", "\(limit)"))
            for (name, bound) in [("before", page.before), ("after", page.after), ("around", page.around)] {
                if let bound { items.append((name, "\(bound)")) }
            }
        case let value as any LosslessStringConvertible: items.append((key, value.description))
        default: try value.encode(to: ParameterEncoder(texts: self, key: key))
        }
    }
}

/// The encoder of a query, or of one of its values.
private struct ParameterEncoder: Encoder, SingleValueEncodingContainer {
    let texts: SentTexts
    /// Nil for the query itself.
    let key: String?
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if key != nil { texts.hasOthers = true }
        return KeyedEncodingContainer(Keyed<Key>(texts: texts))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { Unkeyed(texts: texts) }
    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() {}

    func encode(_ value: some Encodable) throws {
        if let key { try texts.append(value, key) } else { texts.hasOthers = true }
    }

    private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let texts: SentTexts
        var codingPath: [any CodingKey] { [] }

        func encodeNil(forKey key: Key) {}
        func encode(_ value: some Encodable, forKey key: Key) throws { try texts.append(value, key.stringValue) }

        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<
            Nested
        > {
            ParameterEncoder(texts: texts, key: key.stringValue).container(keyedBy: type)
        }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { Unkeyed(texts: texts) }
        func superEncoder() -> any Encoder { ParameterEncoder(texts: texts, key: "") }
        func superEncoder(forKey key: Key) -> any Encoder { ParameterEncoder(texts: texts, key: "") }
    }

    /// Passes over a list.
    private struct Unkeyed: UnkeyedEncodingContainer {
        let texts: SentTexts
        var codingPath: [any CodingKey] { [] }
        var count: Int { 0 }

        init(texts: SentTexts) {
            self.texts = texts
            texts.hasOthers = true
        }

        func encodeNil() {}
        func encode(_ value: some Encodable) {}

        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
            KeyedEncodingContainer(Keyed<Nested>(texts: texts))
        }

        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
        func superEncoder() -> any Encoder { ParameterEncoder(texts: texts, key: "") }
    }
}
