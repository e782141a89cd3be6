/// The SHA-256 hash function of FIPS 180-4.
///
/// CryptoKit exists on Apple platforms only, and this package has no dependencies. The
/// implementation is not hardened against timing or memory inspection: use it for data that is not
/// secret.
package struct SHA256: Sendable {
    /// The length of a digest in bytes.
    package static let digestByteCount = 32

    private var state: [8 of UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    /// The bytes of the incomplete block.
    private var block = [64 of UInt8](repeating: 0)
    private var blockByteCount = 0
    /// The number of bytes of the message, modulo 2^64, as the standard defines its length in bits.
    private var messageByteCount: UInt64 = 0

    /// Creates the state of an empty message.
    package init() {}

    /// Returns the 32-byte digest of a whole message.
    ///
    /// - Complexity: O(*n*) in the length of the message.
    package static func hash(_ message: [UInt8]) -> [UInt8] {
        var hasher = SHA256()
        hasher.update(message.span)
        return hasher.finalize()
    }

    /// Appends bytes to the message.
    ///
    /// The digest is independent of how the message is divided.
    ///
    /// - Complexity: O(*n*) in the number of bytes; does not allocate.
    package mutating func update(_ bytes: Span<UInt8>) {
        messageByteCount &+= UInt64(bytes.count)
        for index in bytes.indices {
            block[blockByteCount] = bytes[index]
            blockByteCount += 1
            if blockByteCount == 64 {
                compressBlock()
                blockByteCount = 0
            }
        }
    }

    /// Appends the bytes of an array to the message.
    package mutating func update(_ bytes: [UInt8]) {
        update(bytes.span)
    }

    /// Returns the 32-byte digest of the message so far.
    ///
    /// More bytes may follow.
    package func finalize() -> [UInt8] {
        var hasher = self
        let bitCount = messageByteCount &* 8
        // The padding: a one bit, zeros up to eight bytes before the end of a block, the length in
        // bits (FIPS 180-4, section 5.1.1).
        hasher.update([0x80])
        while hasher.blockByteCount != 56 { hasher.update([0]) }
        hasher.update((0..<8).map { UInt8(truncatingIfNeeded: bitCount >> UInt64(56 - 8 * $0)) })
        return hasher.state.indices.flatMap { index in
            (0..<4).map { UInt8(truncatingIfNeeded: hasher.state[index] >> UInt32(24 - 8 * $0)) }
        }
    }

    /// Compresses the full block into the state (FIPS 180-4, section 6.2.2).
    private mutating func compressBlock() {
        var schedule = [64 of UInt32](repeating: 0)
        for t in 0..<16 {
            schedule[t] =
                UInt32(block[4 * t]) << 24 | UInt32(block[4 * t + 1]) << 16 | UInt32(block[4 * t + 2]) << 8 | UInt32(block[4 * t + 3])
        }
        for t in 16..<64 {
            let (early, late) = (schedule[t - 15], schedule[t - 2])
            let sigma0 = Self.rotate(early, 7) ^ Self.rotate(early, 18) ^ early >> 3
            let sigma1 = Self.rotate(late, 17) ^ Self.rotate(late, 19) ^ late >> 10
            schedule[t] = sigma1 &+ schedule[t - 7] &+ sigma0 &+ schedule[t - 16]
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for t in 0..<64 {
            let choice = e & f ^ ~e & g
            let majority = a & b ^ a & c ^ b & c
            let sum0 = Self.rotate(a, 2) ^ Self.rotate(a, 13) ^ Self.rotate(a, 22)
            let sum1 = Self.rotate(e, 6) ^ Self.rotate(e, 11) ^ Self.rotate(e, 25)
            let t1 = h &+ sum1 &+ choice &+ Self.constants[t] &+ schedule[t]
            (h, g, f, e) = (g, f, e, d &+ t1)
            (d, c, b, a) = (c, b, a, t1 &+ sum0 &+ majority)
        }
        state[0] &+= a
        state[1] &+= b
        state[2] &+= c
        state[3] &+= d
        state[4] &+= e
        state[5] &+= f
        state[6] &+= g
        state[7] &+= h
    }

    private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word &>> count | word &<< (32 - count)
    }

    /// The round constants (FIPS 180-4, section 4.2.2).
    ///
    /// They are the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    private static let constants: [64 of UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}
