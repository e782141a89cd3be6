import Primitives
import TestSupport
import Testing

@Suite struct SHA256Tests {
    /// The implementations to test: the portable one, and the processor's instructions if it has
    /// them.
    private static let implementations = SHA256.hasInstructions ? [true, false] : [true]

    /// The examples that NIST published with FIPS 180.
    @Test(
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
                "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
            ),
        ], implementations)
    func digestsMatchStandardExamples(_ example: (message: String, digest: String), isPortable: Bool) {
        #expect(Hexadecimal.text(of: hash(Array(example.message.utf8), isPortable)) == example.digest)
    }

    /// Messages of NIST's SHA256ShortMsg.rsp and SHA256LongMsg.rsp (CAVS 11.0).
    @Test(
        arguments: [
            ("d3", "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1"),
            ("11af", "5ca7133fa735326081558ac312c620eeca9970d1e70a4b95533d956f072d1f98"),
            ("b4190e", "dff2e73091f6c05e528896c4c831b9448653dc2ff043528f6769437bc7b975c2"),
            ("74ba2521", "b16aa56be3880d18cd41e68384cf1ec8c17680c45a02b1575dc1518923ae8b0e"),
            ("c299209682", "f0887fe961c9cd3beab957e8222494abb969b1ce4c6557976df8b0f6d20e9166"),
            ("e1dc724d5621", "eca0a060b489636225b4fa64d267dabbe44273067ac679f20820bddc6b6a90ac"),
            ("06e076f5a442d5", "3fd877e27450e6bbd5d74bb82f9870c64c66e109418baa8e6bbcff355e287926"),
            ("5738c929c4f4ccb6", "963bb88f27f512777aab6c8b1a02c70ec0ad651d428f870036e1917120fb48bf"),
            ("3334c58075d3f4139e", "078da3d77ed43bd3037a433fd0341855023793f9afd08b4b08ea1e5597ceef20"),
            (
                """
                5a86b737eaea8ee976a0a24da63e7ed7eefad18a101c1211e2b3650c5187c2a8a650547208251f6d4237e661c7bf4c77f335390394c37fa1a9f9be836a\
                c28509
                """, "42e61e174fbb3897d6dd6cef3dd2802fe67b331953b06114a65c772859dfc1aa"
            ),
            (
                """
                451101250ec6f26652249d59dc974b7361d571a8101cdfd36aba3b5854d3ae086b5fdd4597721b66e3c0dc5d8c606d9657d0e323283a5217d1f53f2f28\
                4f57b85c8a61ac8924711f895c5ed90ef17745ed2d728abd22a5f7a13479a462d71b56c19a74a40b655c58edfe0a188ad2cf46cbf30524f65d423c837d\
                d1ff2bf462ac4198007345bb44dbb7b1c861298cdf61982a833afc728fae1eda2f87aa2c9480858bec
                """, "3c593aa539fdcdae516cdf2f15000f6634185c88f505b39775fb9ab137a10aa2"
            ),
        ], implementations)
    func digestsMatchValidationVectors(_ example: (message: String, digest: String), isPortable: Bool) throws {
        let message = try #require(Hexadecimal.bytes(of: example.message))
        #expect(Hexadecimal.text(of: hash(message, isPortable)) == example.digest)
    }

    /// Messages of one repeated byte: NIST's additional examples for SHA-256.
    @Test(
        arguments: [
            (0xbd, 1, "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b"),
            (0, 55, "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7"),
            (0, 56, "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb"),
            (0, 57, "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785"),
            (0, 64, "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"),
            (0, 1_000, "541b3e9daa09b20bf85fa273e5cbd3e80185aa4ec298e765db87742b70138a53"),
            (0x41, 1_000, "c2e686823489ced2017f6059b8b239318b6364f6dcd835d0a519105a1eadd6e4"),
            (0x55, 1_005, "f4d62ddec0f3dd90ea1380fa16a5ff8dc4c54b21740650f24afc4120903552b0"),
            (0, 1_000_000, "d29751f2649b32ff572b5e0a9f541ea660a50f94ff0beedfb0b692b924cc8025"),
            (0x61, 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
        ], implementations)
    func digestsOfRepeatedBytesMatch(_ example: (byte: UInt8, count: Int, digest: String), isPortable: Bool) {
        let message = [UInt8](repeating: example.byte, count: example.count)
        #expect(Hexadecimal.text(of: hash(message, isPortable)) == example.digest)
    }

    /// Messages of 0 to 299 bytes, which cover every edge of the padding.
    ///
    /// Their bytes count 0, 1, ... 250, 0, ...; the digest of all digests is from Python's hashlib.
    @Test(arguments: implementations) func digestsAtAllPaddingEdgesMatch(isPortable: Bool) {
        var digests: [UInt8] = []
        for count in 0..<300 { digests += hash((0..<count).map { UInt8($0 % 251) }, isPortable) }
        #expect(
            Hexadecimal.text(of: hash(digests, isPortable))
                == "fa70b867db0a30acb7218d62945db0df52eb393808b30675ea9aac6b058a9a9d")
    }

    @Test func digestIsIndependentOfChunks() {
        var random = SplitMix64(seed: Repetitions.seed)
        let message = (0..<1000).map { _ in UInt8.random(in: 0...UInt8.max, using: &random) }
        let expected = SHA256.hash(message)
        for cut in 0...message.count {
            var hasher = SHA256()
            hasher.update(Array(message[..<cut]))
            message.withBytes(cut..<message.count) { rest in hasher.update(rest) }
            #expect(hasher.finalize() == expected, "cut \(cut)")
        }
        var (single, pieces) = (SHA256(), SHA256())
        for byte in message { single.update(byte) }
        #expect(single.finalize() == expected)
        var next = 0
        while next < message.count {
            let end = min(message.count, next + Int.random(in: 0...150, using: &random))
            message.withBytes(next..<end) { piece in pieces.update(piece) }
            next = end
        }
        #expect(pieces.finalize() == expected)
    }

    @Test func intermediateDigestMatches() {
        var hasher = SHA256()
        hasher.update(Array("ab".utf8))
        let early = hasher.finalize()
        hasher.update(Array("c".utf8))
        #expect(early == SHA256.hash(Array("ab".utf8)))
        #expect(hasher.finalize() == SHA256.hash(Array("abc".utf8)))
        #expect(early.count == SHA256.digestByteCount)
    }

    private func hash(_ message: [UInt8], _ isPortable: Bool) -> [UInt8] {
        var hasher = SHA256(isPortable: isPortable)
        hasher.update(message)
        return hasher.finalize()
    }
}
