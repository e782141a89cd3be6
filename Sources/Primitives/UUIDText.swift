/// Formats and parses the text form of a UUID (RFC 9562 section 4).
///
/// Foundation's `UUID` prints capitals and would make every module that uses ids depend on
/// Foundation.
package enum UUIDText {
    /// Returns the text form: 36 characters in lower case.
    package static func format(_ bits: UInt128) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        append(bits, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the 36 bytes of the text form.
    package static func append(_ bits: UInt128, to text: inout [UInt8]) {
        let high = (digits(bits >> 96), digits(bits >> 64))
        let low = (digits(bits >> 32), digits(bits))
        text.append(bytesOf: high.0.littleEndian)
        for half in [high.1, high.1 >> 32, low.0] {
            text.append(UInt8(ascii: "-"))
            text.append(bytesOf: UInt32(truncatingIfNeeded: half).littleEndian)
        }
        text.append(UInt8(ascii: "-"))
        text.append(bytesOf: UInt32(truncatingIfNeeded: low.0 >> 32).littleEndian)
        text.append(bytesOf: low.1.littleEndian)
    }

    /// Returns the low 32 bits as eight hexadecimal digits, the first in the lowest byte.
    ///
    /// Computes all digits at once, because an export writes up to five ids per event.
    private static func digits(_ bits: UInt128) -> UInt64 {
        var digits = UInt64(UInt32(truncatingIfNeeded: bits).byteSwapped)
        digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF
        digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
        digits = digits >> 4 & 0x000F_000F_000F_000F | (digits & 0x000F_000F_000F_000F) << 8
        let areLetters = (digits &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        // 39 = "a" - "0" - 10.
        return digits &+ 0x3030_3030_3030_3030 &+ areLetters &* 39
    }

    /// Returns the bits of a text form in either case, or nil if the text is not one.
    package static func parse(_ text: String) -> UInt128? {
        guard text.utf8.count == 36 else { return nil }
        var bits: UInt128 = 0
        for (index, byte) in text.utf8.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = Hexadecimal.value(of: byte) else { return nil }
            bits = bits << 4 | UInt128(digit)
        }
        return bits
    }
}
