import ChatDomain
import Testing

@Suite struct CustomKindTests {
    @Test(arguments: ["a.b", "org.example.poll-closed", "Org.EXAMPLE.Poll", "1.2", "uk.co.example", "a--b.c", "xn--bcher-kva.example"])
    func reverseDNSNamesAreValid(_ text: String) {
        #expect(CustomKind.isValid(text))
    }

    @Test(arguments: [
        "", ".", "poll", "org.", ".org", "org..poll", "-org.poll", "org-.poll", "org.-poll", "org.poll-", "org.-", "org.po_ll", "org.po ll",
        " org.poll", "org.poll\n", "org.pöll", "org.po\u{301}ll", "org/poll", "org.poll\u{0}", "org。poll",
    ])
    func otherTextsAreInvalid(_ text: String) {
        #expect(!CustomKind.isValid(text))
    }

    @Test func lengthIsBounded() {
        let label = String(repeating: "x", count: 63)
        #expect(CustomKind.isValid("a.\(label)"))
        #expect(!CustomKind.isValid("a.\(label)x"))
        #expect(!CustomKind.isValid("\(label)x.a"))
        #expect(CustomKind.maximumByteCount == 128)
        #expect(CustomKind.isValid("\(label).\(label)") && "\(label).\(label)".utf8.count == 127)
        #expect(CustomKind.isValid("\(label.dropLast()).\(label).a"))
        #expect(!CustomKind.isValid("\(label).\(label).a"))
        #expect(!CustomKind.isValid("a." + String(repeating: "b.", count: 1_000_000) + "c"))
    }
}
