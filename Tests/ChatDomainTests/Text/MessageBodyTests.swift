import ChatDomain
import Testing

@Suite struct MessageBodyTests {
    @Test(arguments: [
        "a", " a", "\n\n\u{3000}a", "\u{0}", "\u{1B}[2J", "\u{200B}", "\u{202E}", "é", "🦆", "\u{378}", "\u{7F}",
        "\u{301}", " \u{301}",
    ])
    func textBesidesWhiteSpaceIsABody(_ text: String) {
        #expect(MessageBody.isValid(text))
    }

    /// Every scalar with the property White_Space, unchanged since Unicode 6.3.
    static let whiteSpace: [Unicode.Scalar] = [
        "\u{9}", "\u{A}", "\u{B}", "\u{C}", "\u{D}", "\u{20}", "\u{85}", "\u{A0}", "\u{1680}", "\u{2000}", "\u{2001}",
        "\u{2002}",
        "\u{2003}",
        "\u{2004}", "\u{2005}", "\u{2006}", "\u{2007}", "\u{2008}", "\u{2009}", "\u{200A}", "\u{2028}", "\u{2029}",
        "\u{202F}", "\u{205F}",
        "\u{3000}",
    ]

    @Test func whiteSpaceAloneIsRejected() {
        #expect(!MessageBody.isValid(""))
        for scalar in Self.whiteSpace {
            #expect(!MessageBody.isValid(String(scalar)), "U+\(String(scalar.value, radix: 16))")
            #expect(MessageBody.isValid("\(scalar)x"))
        }
        #expect(!MessageBody.isValid(String(String.UnicodeScalarView(Self.whiteSpace))))
        #expect(!MessageBody.isValid(String(repeating: " ", count: MessageBody.maximumByteCount)))
    }

    @Test func everyOtherScalarAloneIsABody() {
        let white = Set(Self.whiteSpace)
        for value in UInt32(0)...0xFFFF {
            guard let scalar = Unicode.Scalar(value), !white.contains(scalar) else { continue }
            #expect(MessageBody.isValid(String(scalar)), "U+\(String(value, radix: 16))")
        }
    }

    @Test func lengthIsCountedInBytes() {
        #expect(MessageBody.isValid(String(repeating: "x", count: 16_384)))
        #expect(!MessageBody.isValid(String(repeating: "x", count: 16_385)))
        #expect(MessageBody.isValid(String(repeating: "é", count: 8192)))
        #expect(!MessageBody.isValid(String(repeating: "é", count: 8192) + "x"))
        #expect(MessageBody.isValid(String(repeating: " ", count: 16_383) + "x"))
        #expect(!MessageBody.isValid(String(repeating: " ", count: 16_384) + "x"))
        #expect(!MessageBody.isValid(String(repeating: "x", count: 10_000_000)))
    }
}
