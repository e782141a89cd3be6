import ChatDomain
import Foundation
import Testing

@Suite struct CustomKindTests {
    @Test(arguments: [
        "a.b", "org.example.poll-closed", "Org.EXAMPLE.Poll", "1.2", "uk.co.example", "a--b.c", "xn--bcher-kva.example",
    ])
    func reverseDNSNamesAreValid(_ text: String) {
        #expect(CustomKind(text) != nil)
    }

    @Test(arguments: [
        "", ".", "poll", "org.", ".org", "org..poll", "-org.poll", "org-.poll", "org.-poll", "org.poll-", "org.-",
        "org.po_ll", "org.po ll",
        " org.poll", "org.poll\n", "org.pöll", "org.po\u{301}ll", "org/poll", "org.poll\u{0}", "org。poll",
    ])
    func otherTextsAreInvalid(_ text: String) {
        #expect(CustomKind(text) == nil)
    }

    @Test func kindIsAStringInJSON() throws {
        let kind: CustomKind = "org.example.poll"
        let text = String(decoding: try JSONEncoder().encode([kind]), as: UTF8.self)
        #expect(text == #"["org.example.poll"]"#)
        #expect(try JSONDecoder().decode([CustomKind].self, from: Data(text.utf8)) == [kind])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([CustomKind].self, from: Data(#"["poll"]"#.utf8))
        }
        #expect("a.b" < kind && kind.description == kind.text)
    }

    @Test func lengthIsBounded() {
        let label = String(repeating: "x", count: 63)
        #expect(CustomKind("a.\(label)") != nil)
        #expect(CustomKind("a.\(label)x") == nil)
        #expect(CustomKind("\(label)x.a") == nil)
        #expect(CustomKind.maximumByteCount == 128)
        #expect(CustomKind("\(label).\(label)") != nil && "\(label).\(label)".utf8.count == 127)
        #expect(CustomKind("\(label.dropLast()).\(label).a") != nil)
        #expect(CustomKind("\(label).\(label).a") == nil)
        #expect(CustomKind("a." + String(repeating: "b.", count: 1_000_000) + "c") == nil)
    }
}
