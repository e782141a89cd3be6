/// The text form of a UUID (RFC 9562 section 4).
///
/// By hand, because Foundation's `UUID` prints capitals and would pull Foundation into every user of an id for two loops over 36 bytes.
package enum UUIDText {
    package static func format(_ bits: UInt128) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for index in 0..<32 {
            if index == 8 || index == 12 || index == 16 || index == 20 { text.append(UInt8(ascii: "-")) }
            let digit = UInt8(truncatingIfNeeded: bits >> UInt128(124 - 4 * index)) & 0xF
            text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
        }
        return String(decoding: text, as: UTF8.self)
    }

    package static func parse(_ text: String) -> UInt128? {
        guard text.utf8.count == 36 else { return nil }
        var bits: UInt128 = 0
        for (index, byte) in text.utf8.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: return nil
            }
            bits = bits << 4 | UInt128(digit)
        }
        return bits
    }
}
