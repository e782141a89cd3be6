/// Conversion between bytes or integers and hexadecimal digits.
///
/// Tokens and ids have a fixed form, and the standard library's radix parser accepts signs.
package enum Hexadecimal {
    /// Returns the value of a digit in either case, or nil for any other byte.
    package static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Returns at least `digits` lower-case digits of a number.
    package static func text<Value: FixedWidthInteger & UnsignedInteger>(of value: Value, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    /// Appends the 16 lower-case digits of a number.
    package static func append(_ value: UInt64, to text: inout [UInt8]) {
        for digit in 0..<16 { text.append(digits[Int(value >> UInt64(60 - 4 * digit) & 15)]) }
    }

    /// Returns the value of exactly `digits` lower-case digits, or nil for any other text.
    package static func parse(_ text: Substring, digits: Int) -> UInt128? {
        guard text.utf8.count == digits else { return nil }
        var result: UInt128 = 0
        for byte in text.utf8 {
            guard let digit = value(of: byte), !(UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte) else {
                return nil
            }
            result = result << 4 | UInt128(digit)
        }
        return result
    }

    /// Returns two lower-case digits for each byte.
    package static func text(of bytes: [UInt8]) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Returns the bytes of pairs of digits in either case, or nil for any other text.
    package static func bytes(of text: String) -> [UInt8]? {
        let values = text.utf8.compactMap(value)
        guard values.count == text.utf8.count, values.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
