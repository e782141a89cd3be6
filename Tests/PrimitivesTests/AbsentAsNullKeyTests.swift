import Foundation
import Primitives
import Testing

/// The synthesized coding of types whose keys are `AbsentAsNullKey`.
@Suite struct AbsentAsNullKeyTests {
    struct Values: Codable, Equatable {
        var text: String?
        var whole: Int?
        var position: Position?
        var fraction: Double?
        var answer: Bool?
        var range: ClosedRange<Position>?
        var isKept = false
        var isOmitted = false

        private enum CodingKeys: String, AbsentAsNullKey {
            case text, whole, position, fraction, answer, range
            case isKept = "kept"
            case isOmitted = "omitted"
            static let omittedIfFalse = [isOmitted]
        }
    }

    private func json(_ values: Values) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(values), as: UTF8.self)
    }

    private func values(_ json: String) throws -> Values {
        try JSONDecoder().decode(Values.self, from: Data(json.utf8))
    }

    @Test func absentValuesAreNull() throws {
        #expect(
            try json(Values())
                == #"{"answer":null,"fraction":null,"kept":false,"position":null,"range":null,"text":null,"whole":null}"#
        )
    }

    @Test func presentValuesAreEncoded() throws {
        let full = Values(
            text: "a", whole: -1, position: 2, fraction: 0.5, answer: false, range: 1...3, isKept: true, isOmitted: true
        )
        let text =
            #"{"answer":false,"fraction":0.5,"kept":true,"omitted":true,"position":2,"range":[1,3],"text":"a","whole":-1}"#
        #expect(try json(full) == text)
        #expect(try values(text) == full)
    }

    @Test func missingFieldsAndNullDecodeAsAbsent() throws {
        #expect(try values(#"{"kept":false}"#) == Values())
        #expect(try values(#"{"kept":false,"omitted":null,"text":null,"range":null}"#) == Values())
    }

    @Test func aBooleanThatIsAlwaysEncodedIsRequired() throws {
        #expect(throws: DecodingError.self) { try values("{}") }
        #expect(throws: DecodingError.self) { try values(#"{"kept":null}"#) }
    }
}
