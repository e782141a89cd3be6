/// A JSON text as written: fields in their order, numbers and strings as spelt.
///
/// The parser belongs to the tests, so that an error of the tool's scanner does not hide one of its
/// encoder.
indirect enum OrderedJSON: Equatable {
    case object([(key: String, value: OrderedJSON)])
    case array([OrderedJSON])
    /// A string with its quotes and escapes, a number, or a word.
    case scalar(String)

    struct Malformed: Error {
        let text: String
        let offset: Int
    }

    init(_ text: String) throws {
        var reader = Reader(bytes: Array(text.utf8))
        self = try reader.value()
        guard reader.offset == reader.bytes.count else { throw reader.malformed }
    }

    static func == (left: OrderedJSON, right: OrderedJSON) -> Bool {
        switch (left, right) {
        case (.object(let left), .object(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.key == $1.key && $0.value == $1.value }
        case (.array(let left), .array(let right)): left == right
        case (.scalar(let left), .scalar(let right)): left == right
        default: false
        }
    }

    private struct Reader {
        let bytes: [UInt8]
        var offset = 0

        var malformed: Malformed { Malformed(text: String(decoding: bytes, as: UTF8.self), offset: offset) }
        private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

        private mutating func skip(_ byte: Character) -> Bool {
            guard next == byte.asciiValue else { return false }
            offset += 1
            return true
        }

        private mutating func require(_ byte: Character) throws {
            guard skip(byte) else { throw malformed }
        }

        mutating func value() throws -> OrderedJSON {
            if skip("{") {
                var fields: [(key: String, value: OrderedJSON)] = []
                if skip("}") { return .object(fields) }
                repeat {
                    let key = try string()
                    try require(":")
                    fields.append((key, try value()))
                } while skip(",")
                try require("}")
                return .object(fields)
            }
            if skip("[") {
                var elements: [OrderedJSON] = []
                if skip("]") { return .array(elements) }
                repeat { elements.append(try value()) } while skip(",")
                try require("]")
                return .array(elements)
            }
            if next == UInt8(ascii: "\"") { return .scalar("\"\(try string())\"") }
            let start = offset
            while let byte = next, !",]}".utf8.contains(byte) { offset += 1 }
            guard offset > start else { throw malformed }
            return .scalar(String(decoding: bytes[start..<offset], as: UTF8.self))
        }

        /// A string's text between the quotes, its escapes as they are.
        private mutating func string() throws -> String {
            try require("\"")
            let start = offset
            while let byte = next, byte != UInt8(ascii: "\"") { offset += byte == UInt8(ascii: "\\") ? 2 : 1 }
            guard offset < bytes.count else { throw malformed }
            defer { offset += 1 }
            return String(decoding: bytes[start..<offset], as: UTF8.self)
        }
    }
}

extension OrderedJSON {
    /// The paths at which this value does not contain a golden one: missing, different or reordered
    /// fields.
    ///
    /// An object may have more fields; an array has the same count of elements.
    func differences(from golden: OrderedJSON, at path: String = "") -> [String] {
        switch (golden, self) {
        case (.object(let golden), .object(let present)):
            var differences: [String] = []
            var rest = present[...]
            for (key, value) in golden {
                let place = path.isEmpty ? key : "\(path).\(key)"
                guard let index = rest.firstIndex(where: { $0.key == key }) else {
                    differences.append(place)
                    continue
                }
                differences += rest[index].value.differences(from: value, at: place)
                rest = rest[(index + 1)...]
            }
            return differences
        case (.array(let golden), .array(let present)):
            guard golden.count == present.count else { return [path] }
            return zip(golden, present).flatMap { $1.differences(from: $0, at: path) }
        default: return golden == self ? [] : [path]
        }
    }
}
