/// Checks that bytes are one JSON value by RFC 8259, before Foundation decodes them.
///
/// Foundation's decoder takes the last of two fields of one name without a word, gives no offset for a fault on every platform, and
/// recurses as deep as its own limit allows. This scan finds fields that stand twice (compared after unescaping, and as `String`
/// compares, which is how the decoder looks them up), bounds the nesting, and names the byte of any fault. It keeps the names of the
/// objects that are open and nothing else.
///
/// The bytes must be valid UTF-8. Complexity: linear in their number.
struct JSONScanner {
    /// The deepest nesting of objects and arrays that is accepted.
    static let deepestNesting = 64
    /// The most numbers in a line that may be rounded: a bound of the memory that their places take.
    static let mostRounded = 1_000

    /// One step of the way to a value.
    enum Step: Hashable, Sendable {
        /// A field of an object.
        case field(String)
        /// A place in an array, from 0.
        case index(Int)

        /// The step that a decoder's key stands for.
        init(_ key: any CodingKey) { self = key.intValue.map(Step.index) ?? .field(key.stringValue) }
    }

    private let bytes: [UInt8]
    private var path: [Step] = []
    private var rounded: Set<[Step]> = []
    private var offset = 0
    private var depth = 0

    /// Scans a whole line.
    ///
    /// - Returns: The places of the numbers that Foundation's decoder would make other whole numbers of.
    /// - Throws: `LineError` with the code `notJSON`, `tooDeep`, `duplicateField` or, where too many numbers would be rounded, `invalidValue`, and the offset of the byte.
    @discardableResult
    static func check(_ bytes: [UInt8]) throws(LineError) -> Set<[Step]> {
        var scanner = JSONScanner(bytes)
        scanner.skipSpace()
        guard !scanner.isAtEnd else { throw LineError(.notJSON, "the line is empty") }
        try scanner.value()
        scanner.skipSpace()
        if !scanner.isAtEnd { throw scanner.fault("more than one value") }
        return scanner.rounded
    }

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var isAtEnd: Bool { offset == bytes.count }
    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private func fault(_ problem: String) -> LineError {
        isAtEnd
            ? LineError(.notJSON, "not JSON: the line ends too early", byteOffset: offset)
            : LineError(.notJSON, "not JSON: \(problem)", byteOffset: offset)
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { offset += 1 }
    }

    /// Takes a byte if it comes next.
    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: scalar) else { return false }
        offset += 1
        return true
    }

    private mutating func value() throws(LineError) {
        switch next {
        case UInt8(ascii: "{"): try nested { (scanner) throws(LineError) in try scanner.object() }
        case UInt8(ascii: "["): try nested { (scanner) throws(LineError) in try scanner.array() }
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        case .some(UInt8(ascii: "-")), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): try number()
        default: throw fault("a value is expected")
        }
    }

    private mutating func nested(_ content: (inout JSONScanner) throws(LineError) -> Void) throws(LineError) {
        guard depth < Self.deepestNesting else {
            throw LineError(.tooDeep, "nested deeper than \(Self.deepestNesting) levels", byteOffset: offset)
        }
        depth += 1
        offset += 1
        skipSpace()
        try content(&self)
        depth -= 1
    }

    private mutating func object() throws(LineError) {
        var names: Set<String> = []
        if take("}") { return }
        while true {
            let start = offset
            guard next == UInt8(ascii: "\"") else { throw fault("a field name is expected") }
            let name = try name()
            guard names.insert(name).inserted else {
                throw LineError(.duplicateField, "the field '\(LineError.quote(name))' is there twice, again", byteOffset: start)
            }
            skipSpace()
            guard take(":") else { throw fault("a colon is expected") }
            skipSpace()
            path.append(.field(name))
            try value()
            path.removeLast()
            skipSpace()
            if take("}") { return }
            guard take(",") else { throw fault("a comma or a closing brace is expected") }
            skipSpace()
        }
    }

    private mutating func array() throws(LineError) {
        if take("]") { return }
        var index = 0
        while true {
            path.append(.index(index))
            try value()
            path.removeLast()
            index += 1
            skipSpace()
            if take("]") { return }
            guard take(",") else { throw fault("a comma or a closing bracket is expected") }
            skipSpace()
        }
    }

    private mutating func word(_ word: StaticString) throws(LineError) {
        for byte in String(describing: word).utf8 {
            guard next == byte else { throw fault("a value is expected") }
            offset += 1
        }
    }

    private mutating func number() throws(LineError) {
        let start = offset
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        if ExactNumber.isKept(bytes[start..<offset]) { return }
        guard rounded.count < Self.mostRounded else {
            throw LineError(.invalidValue, "more than \(Self.mostRounded) numbers would be rounded", byteOffset: start)
        }
        rounded.insert(path)
    }

    private mutating func digits() throws(LineError) {
        let start = offset
        while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { offset += 1 }
        if offset == start { throw fault("a digit is expected") }
    }

    /// A string whose text is of no interest.
    private mutating func string() throws(LineError) {
        offset += 1
        while let byte = next {
            offset += 1
            if byte == UInt8(ascii: "\"") { return }
            if byte == UInt8(ascii: "\\") { _ = try escape() }
            if byte < 0x20 {
                offset -= 1
                throw fault("a control character in a string")
            }
        }
        throw fault("a string is not closed")
    }

    /// A string with its text.
    private mutating func name() throws(LineError) -> String {
        let start = offset
        try string()
        let content = bytes[(start + 1)..<(offset - 1)]
        guard content.contains(UInt8(ascii: "\\")) else { return String(decoding: content, as: UTF8.self) }
        let end = offset
        offset = start + 1
        var text: [UInt8] = []
        while offset < end - 1 {
            let byte = bytes[offset]
            offset += 1
            if byte == UInt8(ascii: "\\") {
                text.append(contentsOf: UTF8.encode(try escape()) ?? .init())
            } else {
                text.append(byte)
            }
        }
        offset = end
        return String(decoding: text, as: UTF8.self)
    }

    /// The rest of an escape whose backslash has been taken.
    private mutating func escape() throws(LineError) -> Unicode.Scalar {
        let start = offset - 1
        guard let letter = next else { throw fault("an escape is not complete") }
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
            offset += 1
            return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return short("\u{8}")
        case UInt8(ascii: "f"): return short("\u{C}")
        case UInt8(ascii: "n"): return short("\n")
        case UInt8(ascii: "r"): return short("\r")
        case UInt8(ascii: "t"): return short("\t")
        case UInt8(ascii: "u"):
            offset += 1
            let unit = try hexadecimal()
            if let scalar = Unicode.Scalar(unit) { return scalar }
            if unit < 0xDC00, take("\\"), take("u") {
                let low = try hexadecimal()
                if (0xDC00...0xDFFF).contains(low),
                    let scalar = Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00))
                {
                    return scalar
                }
            }
            throw LineError(.notJSON, "not JSON: an unpaired surrogate", byteOffset: start)
        default: throw fault("an unknown escape")
        }
    }

    private mutating func short(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        offset += 1
        return scalar
    }

    private mutating func hexadecimal() throws(LineError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw fault("a hexadecimal digit is expected")
            }
            unit = unit << 4 | UInt16(digit)
            offset += 1
        }
        return unit
    }
}
