import ChatDomain
import ChatWire
import Testing

@testable import chat_journal

/// Payloads of custom events in lines of JSON: they are read and written as text.
@Suite struct PayloadLineTests {
    /// The shape of a custom event, with two fields beside its payload.
    private struct Line: Codable {
        var upTo: UInt64?
        var custom: Custom

        struct Custom: Codable {
            var kind: String?
            var number: UInt64?
            var payload: CustomPayload
        }
    }

    private struct Payloads: Decodable {
        var other: [String: CustomPayload]
    }

    private func decode(_ text: String) throws(LineError) -> CustomPayload {
        try decodeLine(Line.self, from: Array(text.utf8)).custom.payload
    }

    private func failure<T: Decodable>(_ type: T.Type, _ text: String) -> LineError? {
        do {
            _ = try decodeLine(type, from: Array(text.utf8))
            return nil
        } catch { return error }
    }

    @Test(arguments: [
        ("1.50", "1.50"), ("12345678901234567890123", "12345678901234567890123"),
        ("[1e999, -1.5E-400, 0.10]", "[1e999,-1.5E-400,0.10]"),
        ("3.9999999999999999", "3.9999999999999999"),
        (#" { "z" : 1.5 , "a" : { "y" : [ ] , "b" : "\u00e9\/" } } "#, #"{"z":1.5,"a":{"y":[],"b":"\u00e9\/"}}"#),
        ("null", "null"), (#""\#u{202E} ""#, #""\u202e ""#),
        (#"{"custom":{"payload":2.5}}"#, #"{"custom":{"payload":2.5}}"#),
    ])
    func payloadIsReadAsWritten(text: String, payload: String) throws {
        #expect(try decode(#"{"custom":{"kind":"a.b","payload":\#(text),"number":7}}"#).text == payload)
        #expect(try decode(#"{ "\u0063ustom" : { "p\u0061yload" : \#(text) } , "upTo" : 4.0 }"#).text == payload)
    }

    @Test func lineOfAPayloadIsReadAgain() throws {
        let text = #"{"custom":{"payload":{"b":[1.50,1e999],"a":"\u00e9\ud83e\udd8a🦊"}}}"#
        #expect(try JSONLineEncoder().string(try decodeLine(Line.self, from: Array(text.utf8))) == text)
    }

    @Test(
        arguments: [
            (#"{"custom":{"number":3.9999999999999999,"payload":1.5}}"#, .invalidValue, "custom.number"),
            (#"{"custom":{"payload":1.5,"number":3.9999999999999999}}"#, .invalidValue, "custom.number"),
            (#"{"upTo":3.9999999999999999,"custom":{"payload":1.5}}"#, .invalidValue, "upTo"),
            (#"{"custom":{"payload":1.5},"upTo":3.9999999999999999}"#, .invalidValue, "upTo"),
            (#"{"custom":{"kind":"payload"}}"#, .missingField, "custom.payload"),
            (#"{"custom":{"payload":{"a":1,"a":1}}}"#, .duplicateField, nil),
            (#"{"custom":{"payload":1.5,"payload":2}}"#, .duplicateField, nil),
            (#"{"custom":{"payload":1.}}"#, .notJSON, nil),
            (#"{"custom":{"payload":"\ud800"}}"#, .notJSON, nil),
        ] as [(String, LineError.Code, String?)])
    func errorsBesidePayload(text: String, code: LineError.Code, field: String?) throws {
        let error = try #require(failure(Line.self, text))
        #expect(error.code == code)
        #expect(error.field == field)
    }

    /// Only the payload of a custom event is read as text.
    @Test func otherFieldsAreNotPayloads() throws {
        let error = try #require(failure(Payloads.self, #"{"other":{"payload":1.5}}"#))
        #expect(error.code == .invalidValue && error.field == "other.payload")
        #expect(
            try decodeLine(Payloads.self, from: Array(#"{"other":{"b":{"z":1,"a":2.0}}}"#.utf8)).other["b"]?.text
                == #"{"a":2,"z":1}"#)
    }

    @Test func nestingOfALineIsBounded() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try decode(#"{"custom":{"payload":\#(nested(62))}}"#) == CustomPayload(nested(62)))
        #expect(failure(Line.self, #"{"custom":{"payload":\#(nested(63))}}"#)?.code == .tooDeep)
    }

    @Test func encoderWritesText() throws {
        let encoder = JSONLineEncoder()
        let text = #"{"b":[1.50,12345678901234567890123],"a":"\u00e9\/"}"#
        let payload = try #require(CustomPayload(text))
        #expect(try encoder.string(payload) == text)
        #expect(try encoder.string([payload, nil]) == "[\(text),null]")
        #expect(try encoder.string(["p": payload]) == "{\"p\":\(text)}")
        #expect(
            try encoder.string(Line(custom: .init(kind: "a.b", payload: payload)))
                == #"{"custom":{"kind":"a.b","payload":\#(text)}}"#)
    }

    @Test func membersWriteText() throws {
        let text = #"{"b":[1.50,1e999],"a":"\u202e"}"#
        var line: [UInt8] = []
        JSONLineMembers.appendObject(to: &line) { members in
            members.encode(CustomPayload(text), forKey: FieldKey("payload"))
            members.encode(nil as CustomPayload?, forKey: .body)
            members.encode(true, forKey: .imported)
        }
        #expect(String(decoding: line, as: UTF8.self) == #"{"payload":\#(text),"body":null,"imported":true}"#)
    }
}
