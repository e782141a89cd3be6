import ChatDomain
import ChatWire
import TestSupport
import Testing

@testable import chat_journal

@Suite struct LineDecodingTests {
    private struct Post: Decodable, Equatable {
        var body: String
        var upTo: Int8?
        var tags: [String]?

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: FieldKey.self)
            try container.rejectFields(otherThan: [.body, .upTo, FieldKey("tags")])
            body = try container.decode(String.self, forKey: .body)
            upTo = container.contains(.upTo) ? try container.decodeInteger(.upTo) : nil
            tags = try container.decodeIfPresent([String].self, forKey: FieldKey("tags"))
            if body == "bad" {
                throw DecodingError.dataCorruptedError(forKey: .body, in: container, debugDescription: "a bad body")
            }
        }
    }
    private struct Line: Decodable {
        var post: Post
    }

    private func failure<T: Decodable>(_ type: T.Type, _ bytes: [UInt8]) -> LineError? {
        do {
            _ = try decodeLine(type, from: bytes)
            return nil
        } catch { return error }
    }

    @Test(
        arguments: [
            (#"{}"#, .missingField, "post"), (#"{"post":{}}"#, .missingField, "post.body"), (#"[]"#, .wrongType, nil),
            (#""text""#, .wrongType, nil), (#"{"post":[]}"#, .wrongType, "post"),
            (#"{"post":{"body":7}}"#, .wrongType, "post.body"),
            (#"{"post":{"body":null}}"#, .wrongType, "post.body"),
            (#"{"post":{"body":"x","tags":["a",1]}}"#, .wrongType, "post.tags[1]"),
            (#"{"post":{"body":"x","bdoy":1,"zz":2}}"#, .unknownField, "post.bdoy"),
            (#"{"post":{"body":"x","upTo":300}}"#, .invalidValue, "post.upTo"),
            (#"{"post":{"body":"x","upTo":1.5}}"#, .invalidValue, "post.upTo"),
            (#"{"post":{"body":"x","upTo":1e999}}"#, .invalidValue, "post.upTo"),
            (#"{"post":{"body":"x","upTo":3.9999999999999999}}"#, .invalidValue, "post.upTo"),
            (#"{"post":{"body":"bad"}}"#, .invalidValue, "post.body"),
        ] as [(String, LineError.Code, String?)])
    func fields(json: String, code: LineError.Code, field: String?) throws {
        let error = try #require(failure(Line.self, Array(json.utf8)))
        #expect(error.code == code)
        #expect(error.field == field)
        #expect(!error.message.isEmpty)
    }

    @Test func messageOfADecodingErrorIsKept() {
        #expect(failure(Line.self, Array(#"{"post":{"body":"bad"}}"#.utf8))?.description == "post.body: a bad body")
    }

    @Test func longUnknownFieldIsShortened() throws {
        let json = #"{"body":"x",""# + String(repeating: "y", count: 100_000) + #"":1}"#
        let error = try #require(failure(Post.self, Array(json.utf8)))
        #expect(error.code == .unknownField)
        #expect(error.description.utf8.count < 200)
    }

    @Test(
        arguments: [
            ("", nil), ("  ", nil), ("{", 1), ("}", 0), (#"{"a":1,}"#, 7), (#"{"a" 1}"#, 5), (#"{a:1}"#, 1),
            ("[1,]", 3), ("[1 2]", 3),
            ("tru", 3), ("nulL", 3), ("True", 0), ("01", 1), ("1.", 2), ("-", 1), ("+1", 0), (".5", 0), ("1e", 2),
            ("1e+x", 3),
            ("{} {}", 3),
            ("\"a", 2), ("\"a\u{1}\"", 2), ("\"\\x\"", 2), ("\"\\u12g4\"", 5), ("\"\\ud800\"", 1),
            ("\"\\ud800\\u0041\"", 1),
            ("\"\\udc00\"", 1), ("\u{FEFF}{}", 0), ("{}\u{0}", 2), ("NaN", 0), ("[Infinity]", 1), ("'a'", 0),
            ("{\"a\":}", 5), ("// {}", 0),
        ] as [(String, Int?)])
    func notJSON(text: String, offset: Int?) throws {
        let error = try #require(failure(Tree.self, Array(text.utf8)))
        #expect(error.code == .notJSON)
        #expect(error.byteOffset == offset)
    }

    @Test(arguments: [
        "0", "-0", "-12.5e+10", "1E5", "0.0", #""\"\\\/\b\f\n\r\t\u0041\ud83e\udd8a""#,
        " { \"a\" : [ ] , \"b\" : { } }\r",
        "[[],{},null,true,false]",
    ])
    func json(text: String) {
        #expect(throws: Never.self) { try JSONScanner.validate(Array(text.utf8)) }
    }

    /// A whole number is read as it is written, or not at all.
    @Test func roundedNumbersAreErrors() throws {
        let texts = [
            "3.9999999999999999", "9007199254740993.0", "9007199254740993e0", "1844674407370955161.5e1", "1e-400",
            "1.5", "1e999",
            "1.054078661713766e17", "0.99999999999999999", "4." + String(repeating: "0", count: 40) + "1",
        ]
        for text in texts {
            let error = try #require(
                failure([String: [Number]].self, Array("{\"a\":[{\"upTo\":1},{\"upTo\":\(text)}]}".utf8)), "\(text)")
            #expect(error.code == .invalidValue && error.field == "a[1].upTo", "\(text): \(error)")
        }
        let whole: [(text: String, value: UInt64)] = [
            ("4.0", 4), ("9007199254740992.0", 9_007_199_254_740_992), ("40e-1", 4),
            ("1e19", 10_000_000_000_000_000_000), ("0e9", 0),
            ("18446744073709551615", .max),
        ]
        for (text, value) in whole {
            #expect(
                try decodeLine([Number].self, from: Array("[{\"upTo\":\(text)}]".utf8)).map(\.value) == [value],
                "\(text)")
        }
    }

    private struct Number: Decodable {
        var value: UInt64

        init(from decoder: any Decoder) throws {
            value = try decoder.container(keyedBy: FieldKey.self).decodeInteger(.upTo)
        }
    }

    @Test(arguments: [
        (#"{"a":1,"a":2}"#, 7), (#"{"a":1,"b":{"a":1},"\u0061":2}"#, 19), (#"[{"x":[{"y":1,"y":1}]}]"#, 14),
        ("{\"\u{e9}\":1,\"e\u{301}\":1}", 8), (#"{"":1,"":1}"#, 6), (#"{"\ud83e\udd8a":1,"🦊":1}"#, 18),
    ])
    func duplicates(text: String, offset: Int) throws {
        let error = try #require(failure(Tree.self, Array(text.utf8)))
        #expect(error.code == .duplicateField)
        #expect(error.byteOffset == offset)
    }

    @Test func nesting() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        #expect(throws: Never.self) { try JSONScanner.validate(nested(64)) }
        #expect(failure(Tree.self, nested(65))?.code == .tooDeep)
        #expect(failure(Tree.self, nested(65))?.byteOffset == 64)
        #expect(failure(Tree.self, [UInt8](repeating: UInt8(ascii: "["), count: 1 << 20))?.code == .tooDeep)
        let objects = String(repeating: #"{"a":"#, count: 100_000)
        #expect(failure(Tree.self, Array(objects.utf8))?.code == .tooDeep)
    }

    @Test(
        arguments: [
            ([0x22, 0xFF, 0x22], 1), ([0x22, 0xC0, 0x80, 0x22], 1), ([0x22, 0x61, 0xED, 0xA0, 0x80, 0x22], 2),
            ([0x22, 0xF0, 0x9F, 0xA6], 1),
            ([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], 1),
        ] as [([UInt8], Int)])
    func invalidUTF8(bytes: [UInt8], offset: Int) {
        #expect(failure(String.self, bytes)?.code == .invalidUTF8)
        #expect(failure(String.self, bytes)?.byteOffset == offset)
    }

    /// Any line decodes or has an error; Foundation accepts every line that the scanner accepts.
    @Test func damagedLines() throws {
        let seed = Repetitions.seed
        var generator = SplitMix64(seed: seed)
        for _ in 0..<2_000 {
            var line: [UInt8] = []
            try JSONLineEncoder().encode(Tree.random(depth: 3, using: &generator), into: &line)
            for _ in 0..<Int.random(in: 1...3, using: &generator) where !line.isEmpty {
                let place = Int.random(in: 0..<line.count, using: &generator)
                switch Int.random(in: 0...2, using: &generator) {
                case 0: line[place] = Array("\"\\{}[],:0-e\u{1}é".utf8).randomElement(using: &generator) ?? 0
                case 1: line.remove(at: place)
                default: line.insert(line[place], at: Int.random(in: 0...line.count, using: &generator))
                }
            }
            guard let error = failure(Anything.self, line) else { continue }
            let codes: [LineError.Code] = [.notJSON, .invalidUTF8, .duplicateField]
            // A number beyond `Double`, such as 1e999, is JSON but has no value.
            #expect(codes.contains(error.code) || error.code == .invalidValue, "seed \(seed): \(error)")
        }
    }

    /// Reads any JSON value.
    private struct Anything: Decodable {
        init(from decoder: any Decoder) throws {
            let single = try decoder.singleValueContainer()
            if single.decodeNil() { return }
            do {
                _ = try single.decode([String: Anything].self)
                return
            } catch DecodingError.typeMismatch {}
            do {
                _ = try single.decode([Anything].self)
                return
            } catch DecodingError.typeMismatch {}
            do {
                _ = try single.decode(String.self)
                return
            } catch DecodingError.typeMismatch {}
            do {
                _ = try single.decode(Bool.self)
            } catch DecodingError.typeMismatch {
                _ = try single.decode(Double.self)
            }
        }
    }
}
