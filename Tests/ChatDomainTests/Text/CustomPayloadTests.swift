import ChatDomain
import ChatTesting
import Foundation
import TestSupport
import Testing

/// The text of payloads.
@Suite struct CustomPayloadTests {
    @Test(arguments: [
        "null", "true", "false", "0", "-0", "1.50", "12345678901234567890123", "1e999", "-12.5E+10", "0.10e-007",
        #""""#, "[]", "{}",
        #"{"b":1,"a":2,"":3}"#, #"{"a":{"a":[1,[2,{"a":3}]]}}"#, #""\"\\\/\b\f\n\r\t\u0041\uD83E\udd8a\u001B\u00e9""#,
        #""größe 漢字 🦊 a/b""#,
        #""é""#, #""{ \" [ , : }""#, #""\\\\""#, #"{"a b":" x  y "}"#,
    ])
    func textIsKeptAsWritten(_ text: String) throws {
        let payload = try #require(CustomPayload(text))
        #expect(payload.text.utf8.elementsEqual(text.utf8))
        #expect(payload.description.utf8.elementsEqual(text.utf8))
    }

    private struct Poll: Codable, Equatable {
        var question: String
        var options: [String]?
        var closes: Date
        var isSecret = false
    }

    /// The bytes stand in journals, so they may not change.
    @Test func valueIsEncodedWithSortedFields() throws {
        let poll = Poll(
            question: "Which day? 7/8 \u{202E}", options: ["Sa", "Su"],
            closes: Date(timeIntervalSinceReferenceDate: 1.5))
        let payload = try CustomPayload(encoding: poll)
        #expect(
            payload.text == #"{"closes":1.5,"isSecret":false,"options":["Sa","Su"],"question":"Which day? 7/8 \u202e"}"#
        )
        #expect(try payload.decode() == poll)
        #expect(try CustomPayload(encoding: "é").text == #""é""#)
        #expect(try CustomPayload(encoding: Optional<Int>.none).text == "null")
        #expect(try payload.decode(CustomPayload.self).text == payload.text)
    }

    @Test func valuesBeyondJSONAreErrors() throws {
        #expect(throws: EncodingError.self) { try CustomPayload(encoding: Double.infinity) }
        func nested(_ depth: Int) throws -> CustomPayload {
            try #require(CustomPayload(String(repeating: "[", count: depth) + String(repeating: "]", count: depth)))
        }
        #expect(try CustomPayload(encoding: nested(62)) == nested(62))
        #expect(throws: EncodingError.self) { try CustomPayload(encoding: [nested(62)]) }
        #expect(throws: DecodingError.self) { try #require(CustomPayload("{}")).decode(Poll.self) }
        #expect(throws: DecodingError.self) { try #require(CustomPayload("1.5")).decode(Int.self) }
    }

    @Test(arguments: [
        (" 1 ", "1"), ("\t{ }\r\n", "{}"), ("[ 1 ,\n2\t,\r3 ]", "[1,2,3]"),
        (#" { "b" : 1.50 , "a" : [ " x " , null ] } "#, #"{"b":1.50,"a":[" x ",null]}"#),
        (#"[ "\\" , "\"" , "\\\" " ]"#, #"["\\","\"","\\\" "]"#),
    ])
    func whiteSpaceOutsideStringsIsRemoved(_ text: String, _ compact: String) {
        #expect(CustomPayload(text)?.text == compact)
    }

    @Test(arguments: [
        ("\u{7F}", #"\u007f"#), ("\u{9B}", #"\u009b"#), ("\u{AD}", #"\u00ad"#), ("\u{202E}a", #"\u202ea"#),
        ("\u{200D}", #"\u200d"#),
        ("\u{2028}\u{2029}", #"\u2028\u2029"#), ("\u{FEFF}", #"\ufeff"#), ("\u{E0041}", #"\udb40\udc41"#),
        (#"\\\#u{202E}"#, #"\\\u202e"#),
    ])
    func invisibleScalarsAreEscaped(_ scalars: String, _ escaped: String) {
        #expect(CustomPayload("\"\(scalars)\"")?.text == "\"\(escaped)\"")
        #expect(CustomPayload("{\"\(scalars)\":1}")?.text == "{\"\(escaped)\":1}")
    }

    /// One string holds every scalar that JSON allows unescaped.
    @Test func everyScalarIsSafeToPrint() throws {
        var scalars = String.UnicodeScalarView()
        // Beyond the basic plane, a sample by default.
        for value in Array(0x20..<0x1_0000) + Repetitions.oneIn(8, of: 0x1_0000..<0x11_0000)
        where value != 0x22 && value != 0x5C {
            if let scalar = Unicode.Scalar(UInt32(value)) { scalars.append(scalar) }
        }
        let string = String(scalars)
        let payload = try #require(CustomPayload("\"\(string)\""))
        let isSafe = payload.text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
        #expect(isSafe)
        let decoded = try JSONDecoder().decode(String.self, from: Data(payload.text.utf8))
        #expect(decoded.utf8.elementsEqual(string.utf8))
        #expect(CustomPayload(payload.text)?.text.utf8.elementsEqual(payload.text.utf8) == true)
    }

    @Test(arguments: [
        "", " ", "{", "}", "[1,]", #"{"a":1,}"#, "{a:1}", "1 2", "{} {}", "01", "1.", ".5", "+1", "1e", "-", "NaN",
        "tru", "'a'", "\"a",
        "\"a\u{1}\"", "\"a\tb\"", "\"a\nb\"", #""\x""#, #""\u12g4""#, #""\ud800""#, #""\udc00""#, #""\ud800\u0041""#,
        "\u{FEFF}1", "1\u{0}",
        "\u{A0}1", "// 1", #"{"a":1,"a":1}"#, #"{"a":1,"\u0061":2}"#, #"[{"x":[{"y":1,"y":1}]}]"#,
    ])
    func otherTextsAreInvalid(_ text: String) {
        #expect(CustomPayload(text) == nil)
    }

    @Test func nestingIsBounded() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        let deepest = try #require(CustomPayload(nested(62)))
        #expect(CustomPayload(nested(63)) == nil)
        #expect(CustomPayload(String(repeating: #"{"a":"#, count: 1_000_000)) == nil)
        // Every payload fits in a line.
        #expect(throws: Never.self) { try JSONScanner.validate(Array(#"{"custom":{"payload":\#(deepest)}}"#.utf8)) }
        #expect(try value(CustomPayload.self, fromJSON: try json(deepest)) == deepest)
    }

    @Test func limitIsOfCompactText() throws {
        func string(_ count: Int) -> String { "\"" + String(repeating: "x", count: count - 2) + "\"" }
        #expect(CustomPayload.maximumByteCount == 16_384)
        #expect(try #require(CustomPayload(string(16_384))).isWithinLimit)
        #expect(try #require(CustomPayload(string(16_384) + "  \n")).isWithinLimit)
        #expect(try !#require(CustomPayload(string(16_385))).isWithinLimit)
        // Bytes, not characters: each of these takes two bytes, and each of the others six.
        #expect(try !#require(CustomPayload("\"" + String(repeating: "é", count: 8_192) + "\"")).isWithinLimit)
        #expect(try #require(CustomPayload("\"" + String(repeating: "\u{7F}", count: 2_730) + "\"")).isWithinLimit)
        #expect(try !#require(CustomPayload("\"" + String(repeating: "\u{7F}", count: 2_731) + "\"")).isWithinLimit)
    }

    @Test func storedTextIsNotRevalidated() {
        #expect(CustomPayload(unchecked: #"{"a": 1, "a": 2}"#).text == #"{"a": 1, "a": 2}"#)
    }

    @Test func textsAreCompared() {
        #expect(CustomPayload("1") != CustomPayload("1.0"))
        #expect(CustomPayload(#"{"a":1,"b":2}"#) != CustomPayload(#"{"b":2,"a":1}"#))
        #expect(CustomPayload("[ 1 ]") == CustomPayload("[1]"))
    }

    /// Random values: the text without white space is the payload, and the payload of a payload is
    /// the same.
    @Test func randomTextsAreCompacted() throws {
        var texts = PayloadTexts(seed: Repetitions.seed)
        for _ in 0..<500 {
            let (spaced, compact) = texts.next(depth: 5)
            let payload = try #require(CustomPayload(spaced), "\(spaced.debugDescription), seed \(Repetitions.seed)")
            #expect(
                payload.text.utf8.elementsEqual(compact.utf8), "\(spaced.debugDescription), seed \(Repetitions.seed)")
            #expect(
                CustomPayload(payload.text)?.text.utf8.elementsEqual(compact.utf8) == true,
                "\(compact.debugDescription), seed \(Repetitions.seed)")
        }
    }

    /// A damaged text is invalid, or a payload that Foundation accepts and that is its own payload.
    @Test func damagedTextsAreInvalidOrPayloads() throws {
        struct Anything: Decodable {
            init(from decoder: any Decoder) {}
        }
        var texts = PayloadTexts(seed: Repetitions.seed)
        var counts = (valid: 0, invalid: 0)
        for _ in 0..<2_000 {
            var scalars = Array(texts.next(depth: 3).spaced.unicodeScalars)
            for _ in 0..<Int.random(in: 1...2, using: &texts.random) where !scalars.isEmpty {
                let place = Int.random(in: 0..<scalars.count, using: &texts.random)
                switch Int.random(in: 0...2, using: &texts.random) {
                case 0:
                    scalars[place] =
                        Array("\"\\{}[],:0-e\u{1}é ".unicodeScalars).randomElement(using: &texts.random) ?? "0"
                case 1: scalars.remove(at: place)
                default: scalars.insert(scalars[place], at: Int.random(in: 0...scalars.count, using: &texts.random))
                }
            }
            let text = String(String.UnicodeScalarView(scalars))
            guard let payload = CustomPayload(text) else {
                counts.invalid += 1
                continue
            }
            counts.valid += 1
            #expect(
                CustomPayload(payload.text)?.text.utf8.elementsEqual(payload.text.utf8) == true,
                "\(text.debugDescription), seed \(Repetitions.seed)")
            #expect(throws: Never.self, "\(text.debugDescription), seed \(Repetitions.seed)") {
                try JSONDecoder().decode(Anything.self, from: Data(payload.text.utf8))
            }
        }
        #expect(counts.valid > 100 && counts.invalid > 100, "too few cases of one kind, seed \(Repetitions.seed)")
    }
}

/// The JSON of payloads by Foundation's coders.
@Suite struct CustomPayloadCodingTests {
    private struct Holder: Codable {
        var inner: [String: CustomPayload]
    }

    @Test(arguments: [
        ("null", "null"), ("true", "true"), ("false", "false"), ("-7", "-7"),
        ("9223372036854775808", "9223372036854775808"),
        ("12345678901234567890123", "12345678901234567890123"), ("1.50", "1.5"),
        ("3.9999999999999999", "3.9999999999999999"),
        ("-2.5e-3", "-0.0025"), ("1e-30", "1e-30"), ("-12e100", "-12e100"), ("1e100", "1e100"), ("-1e200", "-1e+200"),
        ("1.0", "1"),
        ("1000", "1000"),
        (#""a/b\u00e9 \n""#, #""a/bé \n""#),
        ("\"\u{202E}\u{1F98A}\"", "\"\\u202e\u{1F98A}\""), ("[]", "[]"), ("{}", "{}"),
        ("[[],{},[null,false,\"\",0]]", "[[],{},[null,false,\"\",0]]"),
        (#"{"b":[1,{"d":true,"c":null}],"a":"x","":{}}"#, #"{"":{},"a":"x","b":[1,{"c":null,"d":true}]}"#),
        ("\u{20}[ 1 , 2 ]\n", "[1,2]"),
    ])
    func decoderReadsValue(_ text: String, _ decoded: String) throws {
        let payload = try value(CustomPayload.self, fromJSON: text)
        #expect(payload.text.utf8.elementsEqual(decoded.utf8))
        #expect(CustomPayload(payload.text) == payload)
        #expect(try value(Holder.self, fromJSON: #"{"inner":{"payload":\#(text)}}"#).inner == ["payload": payload])
    }

    @Test(arguments: [
        ("null", "null"), ("true", "true"), ("1.50", "1.5"), ("-7", "-7"),
        ("18446744073709551615", "18446744073709551615"),
        ("12345678901234567890123", "12345678901234567890123"), ("1e200", "1e+200"), ("1e-400", "0"),
        (#""a\/b\u00e9\n""#, #""a/bé\n""#),
        (#"{"b":[1,{"d":true,"c":null}],"a":"x","":{}}"#, #"{"":{},"a":"x","b":[1,{"c":null,"d":true}]}"#),
        ("[[],{},[[1],2]]", "[[],{},[[1],2]]"),
        (#"{"\u0062\ud83e\udd8a":1}"#, #"{"b🦊":1}"#),
    ])
    func encoderWritesValue(_ text: String, _ encoded: String) throws {
        let payload = try #require(CustomPayload(text))
        #expect(try json(payload) == encoded)
        #expect(try json(Holder(inner: ["payload": payload])) == #"{"inner":{"payload":\#(encoded)}}"#)
    }

    @Test(arguments: Seeds.seeds(20)) func encodedValueDecodesAsItsText(seed: UInt64) throws {
        var texts = PayloadTexts(seed: seed)
        for _ in 0..<20 {
            let (spaced, compact) = texts.next(depth: 4)
            let payload = try #require(CustomPayload(spaced))
            #expect(
                try value(CustomPayload.self, fromJSON: try json(payload)) == value(fromJSON: spaced),
                "\(compact.debugDescription)")
        }
    }

    @Test func sourceReplacesValue() throws {
        let decoder = JSONDecoder()
        decoder.userInfo[CustomPayload.sourceKey] = #" { "b" : 1.50 , "a" : 12345678901234567890123 , "c" : 1e999 } "#
        let text = #"{"inner":{"payload":{"b":1.50,"a":12345678901234567890123,"c":1e999}}}"#
        let decoded = try decoder.decode(Holder.self, from: Data(text.utf8))
        #expect(decoded.inner["payload"]?.text == #"{"b":1.50,"a":12345678901234567890123,"c":1e999}"#)
    }

    @Test func invalidSourceIsAnError() throws {
        for source in ["{", #"{"a":1,"a":2}"#, String(repeating: "[", count: 63) + String(repeating: "]", count: 63)] {
            let decoder = JSONDecoder()
            decoder.userInfo[CustomPayload.sourceKey] = source
            do {
                _ = try decoder.decode(Holder.self, from: Data(#"{"inner":{"payload":1}}"#.utf8))
                Issue.record("\(source.prefix(20)) is accepted")
            } catch {
                #expect(JSONProblem(error) == JSONProblem(.corrupted, "inner.payload"))
            }
        }
    }

    @Test func numberBeyondDoubleIsAnError() throws {
        #expect(
            JSONProblem.of(#"{"inner":{"payload":{"a":[1,1e999]}}}"#, as: Holder.self)
                == JSONProblem(.corrupted, "inner.payload.a.Index 1")
        )
        let payload = try #require(CustomPayload(#"{"a":[1,1e999]}"#))
        #expect(throws: EncodingError.self) { try json(payload) }
    }

    @Test func decodedNestingIsBounded() throws {
        func holder(_ depth: Int) -> String {
            #"{"inner":{"payload":"# + String(repeating: #"{"a":["#, count: depth)
                + String(repeating: "]}", count: depth) + "}}"
        }
        #expect(JSONProblem.of(holder(31), as: Holder.self) == nil)
        let path = "inner.payload" + String(repeating: ".a.Index 0", count: 31)
        #expect(JSONProblem.of(holder(32), as: Holder.self) == JSONProblem(.corrupted, path))
    }

    @Test func decodedTextIsBounded() throws {
        func holder(_ count: Int) -> String { #"{"inner":{"payload":"\#(String(repeating: "x", count: count - 2))"}}"# }
        let longest = try #require(try value(Holder.self, fromJSON: holder(65_536)).inner["payload"])
        #expect(!longest.isWithinLimit)
        #expect(JSONProblem.of(holder(65_537), as: Holder.self) == JSONProblem(.corrupted, "inner.payload"))
        let numbers = #"{"inner":{"payload":[0\#(String(repeating: ",0", count: 1_000_000))]}}"#
        #expect(JSONProblem.of(numbers, as: Holder.self) != nil)
    }

    @Test func invalidStoredTextIsAnEncodingError() throws {
        let nested = String(repeating: "[", count: 63) + String(repeating: "]", count: 63)
        for text in ["", "{", #"{"a":1"#, #"{"a"}"#, "[1,", "1 2", "tru", #""\ud800""#, nested] {
            #expect(throws: EncodingError.self, "\(text.prefix(20))") { try json([CustomPayload(unchecked: text)]) }
        }
    }

    @Test func eventMembersWriteNestedValue() throws {
        struct Fields: Encodable {
            var payload: CustomPayload?

            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: FieldKey.self)
                try write(to: &container)
            }

            func write(to members: inout some JSONFieldWriter) throws {
                try members.encode(payload, forKey: FieldKey("payload"))
            }
        }
        #expect(
            try json(Fields(payload: CustomPayload(#"{"b":[1.50],"a":null}"#))) == #"{"payload":{"a":null,"b":[1.5]}}"#)
        #expect(try json(Fields(payload: CustomPayload("null"))) == #"{"payload":null}"#)
        #expect(try json(Fields()) == #"{"payload":null}"#)
    }
}

/// Random JSON texts, each with and without white space.
private struct PayloadTexts {
    var random: SeededRandom
    private var tokens: [String] = []

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// Returns a text with random white space, and its payload.
    mutating func next(depth: Int) -> (spaced: String, compact: String) {
        tokens = []
        appendValue(depth: depth)
        var spaced = space()
        for token in tokens { spaced += token + space() }
        return (spaced, tokens.map(Self.escapingInvisible).joined())
    }

    private mutating func space() -> String {
        random.oneIn(3) ? random.text(of: [" ", "\t", "\n", "\r"], count: 0...3) : ""
    }

    private mutating func appendValue(depth: Int) {
        switch Int.random(in: 0...(depth > 0 ? 6 : 3), using: &random) {
        case 0: tokens.append(["null", "true", "false"].randomElement(using: &random) ?? "null")
        case 1, 2: tokens.append(number())
        case 3: tokens.append(string(of: Self.scalars))
        case 4:
            tokens.append("[")
            for index in 0..<Int.random(in: 0...4, using: &random) {
                if index > 0 { tokens.append(",") }
                appendValue(depth: depth - 1)
            }
            tokens.append("]")
        default:
            tokens.append("{")
            for index in 0..<Int.random(in: 0...4, using: &random) {
                if index > 0 { tokens.append(",") }
                // The number makes the names different.
                tokens.append("\"\(4 - index)" + string(of: Self.scalars).dropFirst())
                tokens.append(":")
                appendValue(depth: depth - 1)
            }
            tokens.append("}")
        }
    }

    private mutating func number() -> String {
        var text = random.oneIn(2) ? "-" : ""
        text += random.oneIn(3) ? "0" : "\(Int.random(in: 1...9, using: &random))" + digits(0...24)
        if random.oneIn(2) { text += "." + digits(1...24) }
        if random.oneIn(3) { text += (["e", "E+", "e-"].randomElement(using: &random) ?? "e") + digits(1...2) }
        return text
    }

    private mutating func digits(_ count: ClosedRange<Int>) -> String {
        random.text(of: Array("0123456789".unicodeScalars), count: count)
    }

    private mutating func string(of scalars: [String]) -> String {
        let parts = (0..<Int.random(in: 0...8, using: &random)).map { _ in scalars.randomElement(using: &random) ?? "" }
        return "\"\(parts.joined())\""
    }

    /// Scalars and escapes inside strings.
    private static let scalars = [
        "a", "Z", " ", "/", "{", "]", ",", ":", "é", "e\u{301}", "漢", "🦊", "\u{7F}", "\u{85}", "\u{AD}", "\u{200D}",
        "\u{202E}", "\u{2028}",
        "\u{FEFF}", "\u{E0041}", #"\""#, #"\\"#, #"\/"#, #"\b"#, #"\n"#, #"\u0000"#, #"\u001B"#, #"\ud83e\uDD8A"#,
        #"\u202e"#,
    ]

    private static func escapingInvisible(_ token: String) -> String {
        let invisible: Set<Unicode.Scalar> = [
            "\u{7F}", "\u{85}", "\u{AD}", "\u{200D}", "\u{202E}", "\u{2028}", "\u{FEFF}", "\u{E0041}",
        ]
        return token.unicodeScalars.map { scalar in
            invisible.contains(scalar)
                ? String(scalar).utf16.map { String(format: "\\u%04x", $0) }.joined() : String(scalar)
        }.joined()
    }
}
