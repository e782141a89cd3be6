import ChatDomain
import ChatWire
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@testable import chat_journal

/// What Foundation's JSON lacks: the reasons for `JSONScanner` and `JSONLineEncoder`.
///
/// When a test fails, its reason no longer exists.
@Suite struct FoundationJSONTests {
    private struct Marker: Decodable, Equatable {
        var upTo: UInt64

        init(upTo: UInt64) { self.upTo = upTo }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: FieldKey.self)
            try container.rejectFields(otherThan: [.upTo])
            upTo = try container.decodeInteger(.upTo)
        }
    }

    private func foundation(_ bytes: [UInt8]) throws -> Marker {
        try JSONDecoder().decode(Marker.self, from: Data(bytes))
    }

    private func code(_ bytes: [UInt8]) -> LineError.Code? {
        do throws(LineError) {
            _ = try decodeLine(Marker.self, from: bytes)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func duplicateFieldsAreAccepted() throws {
        let line = Array(#"{"upTo":1,"upTo":1}"#.utf8)
        #expect(try foundation(line) == Marker(upTo: 1))
        #expect(code(line) == .duplicateField)
    }

    @Test func numbersAreRounded() throws {
        let line = Array(#"{"upTo":3.9999999999999999}"#.utf8)
        #expect(try foundation(line) == Marker(upTo: 4))
        #expect(code(line) == .invalidValue)
    }

    @Test func nestingIsBoundedFarAbove() throws {
        struct Anything: Decodable {
            init(from decoder: any Decoder) {}
        }
        let line = Array((String(repeating: "[", count: 512) + String(repeating: "]", count: 512)).utf8)
        _ = try JSONDecoder().decode(Anything.self, from: Data(line))
        #expect(code(line) == .tooDeep)
    }

    #if os(Linux)
        @Test(
            arguments: [
                (Array(#"{"upTo":1,}"#.utf8), .notJSON), (Array("\u{FEFF}{\"upTo\":1}".utf8), .notJSON),
                (Array(#"{"upTo":1}"#.utf16).flatMap { [0, UInt8($0)] }, .notJSON),
            ] as [([UInt8], LineError.Code)]) func whatIsNotJSONIsAccepted(line: [UInt8], expected: LineError.Code)
            throws
        {
            #expect(try foundation(line) == Marker(upTo: 1))
            #expect(code(line) == expected)
        }

        @Test func errorsNameNoPlace() throws {
            let line = Array(#"{"upTo":1 2}"#.utf8)
            do {
                _ = try foundation(line)
                Issue.record("Foundation accepts it")
            } catch DecodingError.dataCorrupted(let context) {
                #expect(context.codingPath.isEmpty && context.underlyingError == nil)
                #expect(context.debugDescription == "The given data was not valid JSON.")
            }
        }
    #endif

    /// A random order of ten fields is correct at most once in three million encodings.
    @Test func keysAreEncodedInAnotherOrder() throws {
        struct Row: Encodable {
            var zebra = 1, yak = 2, wolf = 3, vole = 4, tiger = 5, seal = 6, rat = 7, pig = 8, owl = 9, newt = 10
        }
        let own = try JSONLineEncoder().string(Row())
        #expect(own.hasPrefix(#"{"zebra":1,"yak":2,"wolf":3,"#))
        let theirs = try (0..<3).map { _ in String(decoding: try JSONEncoder().encode(Row()), as: UTF8.self) }
        #expect(theirs.contains { $0 != own })
    }

    @Test func whatActsOnATerminalIsNotEscaped() throws {
        let data = try JSONEncoder().encode(["\u{202e}\u{9b}"])
        #expect(String(decoding: data, as: UTF8.self).unicodeScalars.contains("\u{202e}"))
        #expect(try JSONLineEncoder().string(["\u{202e}\u{9b}"]) == #"["\u202e\u009b"]"#)
    }
}
