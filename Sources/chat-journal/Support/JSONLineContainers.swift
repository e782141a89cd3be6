/// The encoder that is handed to a value: it fills one place of the line.
///
/// Asked twice for a keyed container it goes on with the same object, so a type can add its members to those of another.
struct PlaceEncoder: Encoder {
    let writer: JSONLineWriter
    let place: JSONLineWriter.Place
    var codingPath: [any CodingKey] { writer.path(to: place) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedLineContainer<Key>(writer: writer, place: content(.object)))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        UnkeyedLineContainer(writer: writer, place: content(.array))
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleLineContainer(writer: writer, place: place)
    }

    private func content(_ kind: JSONLineWriter.Kind) -> JSONLineWriter.Place {
        writer.placeOrFailure { try writer.container(kind, in: place) }
    }
}

/// The key of an array's element or of a class's superclass.
struct PositionKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ index: Int) {
        stringValue = "\(index)"
        intValue = index
    }
    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }
    init(intValue: Int) { self.init(intValue) }
}

/// The members of an object, in the order in which they are encoded; numbers and strings take the way of every other value.
struct KeyedLineContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let writer: JSONLineWriter
    let place: JSONLineWriter.Place
    var codingPath: [any CodingKey] { writer.path(to: place) }

    private func begin(_ key: any CodingKey) throws {
        try writer.beginMember(key, in: place)
    }

    private func open(_ kind: JSONLineWriter.Kind, _ key: any CodingKey) -> JSONLineWriter.Place {
        writer.placeOrFailure {
            try begin(key)
            return writer.open(kind, key: key)
        }
    }

    func encodeNil(forKey key: Key) throws {
        try begin(key)
        writer.writeNull()
    }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try begin(key)
        try writer.write(value, at: writer.open(.value, key: key))
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(KeyedLineContainer<Nested>(writer: writer, place: open(.object, key)))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        UnkeyedLineContainer(writer: writer, place: open(.array, key))
    }

    func superEncoder() -> any Encoder { superEncoder(of: PositionKey(stringValue: "super")) }
    func superEncoder(forKey key: Key) -> any Encoder { superEncoder(of: key) }

    private func superEncoder(of key: any CodingKey) -> any Encoder {
        PlaceEncoder(writer: writer, place: open(.value, key))
    }
}

/// The elements of an array.
struct UnkeyedLineContainer: UnkeyedEncodingContainer {
    let writer: JSONLineWriter
    let place: JSONLineWriter.Place
    var codingPath: [any CodingKey] { writer.path(to: place) }
    var count: Int { writer.count(at: place) }

    private func begin() throws {
        try writer.beginElement(in: place)
    }

    private func open(_ kind: JSONLineWriter.Kind) -> JSONLineWriter.Place {
        writer.placeOrFailure {
            try begin()
            return writer.open(kind)
        }
    }

    func encodeNil() throws {
        try begin()
        writer.writeNull()
    }

    func encode<T: Encodable>(_ value: T) throws {
        try begin()
        try writer.write(value, at: writer.open(.value))
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(KeyedLineContainer<Nested>(writer: writer, place: open(.object)))
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        UnkeyedLineContainer(writer: writer, place: open(.array))
    }

    func superEncoder() -> any Encoder {
        PlaceEncoder(writer: writer, place: open(.value))
    }
}

/// The one value of a place.
struct SingleLineContainer: SingleValueEncodingContainer {
    let writer: JSONLineWriter
    let place: JSONLineWriter.Place
    var codingPath: [any CodingKey] { writer.path(to: place) }

    private func begin() throws {
        try writer.beginValue(in: place)
    }

    func encodeNil() throws {
        try begin()
        writer.writeNull()
    }

    func encode<T: Encodable>(_ value: T) throws {
        try begin()
        try writer.write(value, at: writer.open(.value))
    }

    func encode(_ value: Bool) throws {
        try begin()
        writer.write(value)
    }
    func encode(_ value: String) throws {
        try begin()
        writer.write(value)
    }
    func encode(_ value: Int) throws {
        try begin()
        writer.write(value)
    }
    func encode(_ value: Int8) throws {
        try begin()
        writer.write(value)
    }
    func encode(_ value: Int16) throws {
        try begin()
        writer.write(value)
    }
    func encode(_ value: Int32) throws {
        try begin()
        writer.write(value)
    }
    func encode(_ value: Int64) throws {
        try begin()
        writer.write(value)
    }
    func encode(_ value: Int128) throws {
        try begin()
        writer.write(value)
    }
    func encode(_ value: UInt) throws {
        try begin()
        writer.write(value)
    }
    func encode(_ value: UInt8) throws {
        try begin()
        writer.write(value)
    }
    func encode(_ value: UInt16) throws {
        try begin()
        writer.write(value)
    }
    func encode(_ value: UInt32) throws {
        try begin()
        writer.write(value)
    }
    func encode(_ value: UInt64) throws {
        try begin()
        writer.write(value)
    }
    func encode(_ value: UInt128) throws {
        try begin()
        writer.write(value)
    }
    func encode(_ value: Double) throws {
        try begin()
        try writer.write(value, at: place)
    }
    func encode(_ value: Float) throws {
        try begin()
        try writer.write(value, at: place)
    }
}
