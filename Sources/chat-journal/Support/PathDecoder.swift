/// A value that is decoded through `PathDecoder`.
///
/// Foundation's decoder for Linux reports a number that does not fit its type (300 for an `Int8`, 1.5 for an `Int`, 1e999 for a `Double`)
/// as "not valid JSON", without a path. A line that fails so is decoded once more through this type, which adds the place. It also refuses whole numbers that
/// the decoder would round (`CodingUserInfoKey.roundedNumbers`).
struct Located<Value: Decodable>: Decodable {
    /// The value.
    let value: Value

    init(from decoder: any Decoder) throws {
        value = try Value(from: PathDecoder(base: decoder))
    }
}

/// A decoder that hands everything to another one, and gives the error of a number the path at which it arose.
private struct PathDecoder: Decoder {
    let base: any Decoder
    var codingPath: [any CodingKey] { base.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(KeyedPathContainer(base: try base.container(keyedBy: type)))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        UnkeyedPathContainer(base: try base.unkeyedContainer())
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        let rounded = CodingUserInfoKey.roundedNumbers.flatMap { userInfo[$0] as? Set<[JSONScanner.Step]> }
        return SinglePathContainer(base: try base.singleValueContainer(), rounded: rounded ?? [])
    }

    /// Decodes at a path, which an error in a number is given.
    static func decode<T: Decodable>(_ type: T.Type, at path: @autoclosure () -> [any CodingKey], _ body: () throws -> T) throws -> T {
        guard type is any Numeric.Type else { return try body() }
        do {
            return try body()
        } catch let error as DecodingError {
            throw error
        } catch {
            // An error of Foundation's own. The scan has seen that the number is JSON, so all that can be wrong is its value.
            throw DecodingError.dataCorrupted(
                .init(codingPath: path(), debugDescription: "the number does not fit its field", underlyingError: error))
        }
    }
}

private struct KeyedPathContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let base: KeyedDecodingContainer<Key>
    var codingPath: [any CodingKey] { base.codingPath }
    var allKeys: [Key] { base.allKeys }

    func contains(_ key: Key) -> Bool { base.contains(key) }
    func decodeNil(forKey key: Key) throws -> Bool { try base.decodeNil(forKey: key) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try PathDecoder.decode(type, at: codingPath + [key]) { try base.decode(Located<T>.self, forKey: key).value }
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(KeyedPathContainer<Nested>(base: try base.nestedContainer(keyedBy: type, forKey: key)))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        UnkeyedPathContainer(base: try base.nestedUnkeyedContainer(forKey: key))
    }

    func superDecoder() throws -> any Decoder { PathDecoder(base: try base.superDecoder()) }
    func superDecoder(forKey key: Key) throws -> any Decoder { PathDecoder(base: try base.superDecoder(forKey: key)) }
}

private struct UnkeyedPathContainer: UnkeyedDecodingContainer {
    var base: any UnkeyedDecodingContainer
    var codingPath: [any CodingKey] { base.codingPath }
    var count: Int? { base.count }
    var isAtEnd: Bool { base.isAtEnd }
    var currentIndex: Int { base.currentIndex }

    mutating func decodeNil() throws -> Bool { try base.decodeNil() }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let path = codingPath + [PositionKey(currentIndex)]
        return try PathDecoder.decode(type, at: path) { try base.decode(Located<T>.self).value }
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(KeyedPathContainer(base: try base.nestedContainer(keyedBy: type)))
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        UnkeyedPathContainer(base: try base.nestedUnkeyedContainer())
    }

    mutating func superDecoder() throws -> any Decoder { PathDecoder(base: try base.superDecoder()) }
}

private struct SinglePathContainer: SingleValueDecodingContainer {
    let base: any SingleValueDecodingContainer
    let rounded: Set<[JSONScanner.Step]>
    var codingPath: [any CodingKey] { base.codingPath }

    func decodeNil() -> Bool { base.decodeNil() }

    // Not through `Located`: a number asks the single value container of its decoder for itself, and would ask for ever.
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if !rounded.isEmpty, type is any FixedWidthInteger.Type, rounded.contains(codingPath.map(JSONScanner.Step.init)) {
            throw DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: "the number does not fit its field"))
        }
        return try PathDecoder.decode(type, at: codingPath) { try base.decode(type) }
    }
}

extension CodingUserInfoKey {
    /// The places of the numbers that Foundation's decoder would make other whole numbers of, a set of `JSONScanner.Step` arrays.
    static let roundedNumbers = CodingUserInfoKey(rawValue: "chat-journal.roundedNumbers")
}
