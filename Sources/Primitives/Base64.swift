/// The standard base64 of RFC 4648 section 4, in its canonical form only.
///
/// Foundation's decoder also accepts a text whose last digit has other bits than zeros, so that a
/// proof would have several texts; and the journal's modules do not link Foundation.
package enum Base64 {
    /// Returns the text of bytes, with padding.
    package static func text(of bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.enumerated().reduce(UInt32(0)) { $0 | UInt32($1.element) << UInt32(16 - 8 * $1.offset) }
            for digit in 0..<4 {
                text.append(digit > group.count ? padding : digits[Int(bits >> UInt32(18 - 6 * digit) & 63)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes of a text, or nil for a text that is not canonical.
    ///
    /// A canonical text has padding, no other characters, and zeros in the bits that its last digit
    /// does not need. Each sequence of bytes has exactly one canonical text.
    package static func bytes(of text: some StringProtocol) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count.isMultiple(of: 4) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count / 4 * 3)
        for start in stride(from: 0, to: characters.count, by: 4) {
            var group = characters[start..<start + 4]
            if start + 4 == characters.count {
                for _ in 0..<2 where group.last == padding { group.removeLast() }
            }
            var bits: UInt32 = 0
            for character in group {
                guard let value = value(of: character) else { return nil }
                bits = bits << 6 | value
            }
            bits <<= UInt32(6 * (4 - group.count))
            let count = group.count - 1
            guard bits & (0xFF_FFFF >> UInt32(8 * count)) == 0 else { return nil }
            for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(16 - 8 * index))) }
        }
        return bytes
    }

    private static let padding = UInt8(ascii: "=")
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
