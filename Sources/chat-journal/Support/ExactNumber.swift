/// Numbers of JSON whose value Foundation's decoder would change without a word.
///
/// It reads a number that has a fraction or an exponent as a `Double`, and takes that for a whole number where it is one: 3.9999999999999999 for 4, and
/// 9007199254740993.0 for 9007199254740992.
enum ExactNumber {
    /// Whether a whole number that the decoder makes of a number is the number itself.
    ///
    /// True also of what the decoder makes no whole number of, since it refuses that itself where one is expected.
    ///
    /// - Parameter text: a number by RFC 8259.
    /// - Complexity: Linear in the length of the text.
    static func isKept(_ text: some Collection<UInt8>) -> Bool {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        var significand: [UInt8] = []
        var (fractionDigits, exponent) = (0, 0)
        var (isFraction, isExponent, isNegativeExponent) = (false, false, false)
        for byte in text {
            switch byte {
            case digits where isExponent:
                // Bounded: what is beyond this is zero or infinite, whatever the significand.
                exponent = min(exponent * 10 + Int(byte - digits.lowerBound), 1 << 40)
            case digits:
                significand.append(byte)
                if isFraction { fractionDigits += 1 }
            case UInt8(ascii: "."): isFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"): isExponent = true
            case UInt8(ascii: "-") where isExponent: isNegativeExponent = true
            default: break
            }
        }
        // An integer is read as one.
        guard isFraction || isExponent, let value = Double(String(decoding: text, as: UTF8.self))?.magnitude else { return true }
        guard value < 0x1p64, value.rounded() == value else { return true }
        // The number as digits, the first and last not zero, times a power of ten.
        var scale = (isNegativeExponent ? -exponent : exponent) - fractionDigits
        while significand.last == digits.lowerBound {
            significand.removeLast()
            scale += 1
        }
        let first = significand.firstIndex { $0 != digits.lowerBound } ?? significand.endIndex
        significand.removeFirst(first)
        if significand.isEmpty { return true }
        // A value below 2^64 has at most 20 digits.
        guard scale >= 0, significand.count + scale <= 20 else { return false }
        let whole = String(decoding: significand, as: UTF8.self) + String(repeating: "0", count: scale)
        return UInt64(whole) == UInt64(exactly: value)
    }
}
