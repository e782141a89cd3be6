import Primitives
import TestSupport
import Testing

@Suite struct HexadecimalTests {
    @Test func bytesRoundTrip() {
        var random = SplitMix64(seed: Repetitions.seed)
        for count in 0..<40 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...UInt8.max, using: &random) }
            let text = Hexadecimal.text(of: bytes)
            #expect(text == bytes.map { Hexadecimal.text(of: $0, digits: 2) }.joined())
            #expect(Hexadecimal.bytes(of: text) == bytes)
            #expect(Hexadecimal.bytes(of: text.uppercased()) == bytes)
        }
    }

    @Test(arguments: ["0", "000", "0g", "-1", "+1", " 1", "1 ", "0x", "\u{FF10}0", "é"]) func otherTextsHaveNoBytes(
        _ text: String
    ) {
        #expect(Hexadecimal.bytes(of: text) == nil)
    }

    @Test func numbersRoundTripInFixedLength() {
        var random = SplitMix64(seed: Repetitions.seed)
        for number in [0, 1, 15, 16, UInt64.max, random.next(), random.next()] {
            let text = Hexadecimal.text(of: number, digits: 16)
            #expect(text.utf8.count == 16)
            #expect(Hexadecimal.parse(Substring(text), digits: 16) == UInt128(number))
            var digits = Array("x".utf8)
            Hexadecimal.append(number, to: &digits)
            #expect(digits == Array("x\(text)".utf8))
        }
        #expect(Hexadecimal.text(of: 0x1234 as UInt16, digits: 2) == "1234")
    }

    @Test(arguments: ["", "abc", "abcde", "ABCD", "+bcd", "-bcd", "abc ", "abcg"]) func otherTextsAreNoNumber(
        _ text: String
    ) {
        #expect(Hexadecimal.parse(Substring(text), digits: 4) == nil)
    }
}
