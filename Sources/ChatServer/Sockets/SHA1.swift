#if Server
    /// SHA-1 (FIPS 180-4), which the handshake of RFC 6455 requires; it protects nothing.
    ///
    /// By hand, because none of the libraries of the server offers it.
    enum SHA1 {
        static func hash(_ message: [UInt8]) -> [UInt8] {
            var padded = message + [0x80]
            padded += [UInt8](repeating: 0, count: (119 - message.count % 64) % 64)
            let bitCount = UInt64(message.count) * 8
            padded += (0..<8).map { UInt8(truncatingIfNeeded: bitCount >> (56 - 8 * UInt64($0))) }
            var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
            for start in stride(from: 0, to: padded.count, by: 64) {
                var words = (0..<16).map { word in
                    (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(padded[start + 4 * word + $1]) }
                }
                for index in 16..<80 {
                    words.append(
                        rotated(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1))
                }
                var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
                for index in 0..<80 {
                    let (mixed, constant): (UInt32, UInt32) =
                        switch index {
                        case ..<20: (b & c | ~b & d, 0x5A82_7999)
                        case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                        case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
                        default: (b ^ c ^ d, 0xCA62_C1D6)
                        }
                    (a, b, c, d, e) = (rotated(a, 5) &+ mixed &+ e &+ constant &+ words[index], a, rotated(b, 30), c, d)
                }
                for (index, word) in [a, b, c, d, e].enumerated() { state[index] &+= word }
            }
            return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * UInt32($0))) } }
        }

        private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
    }
#endif
