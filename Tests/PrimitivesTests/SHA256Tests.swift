import Foundation
import Primitives
import Testing

@Suite struct SHA256Tests {
    /// The examples that NIST published with FIPS 180.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
    ])
    func digestsMatchStandardExamples(_ message: String, _ digest: String) {
        #expect(hexadecimal(SHA256.hash(Array(message.utf8))) == digest)
    }

    @Test func digestOfMillionLettersMatches() {
        var hasher = SHA256()
        let thousand = [UInt8](repeating: UInt8(ascii: "a"), count: 1000)
        for _ in 0..<1000 { hasher.update(thousand) }
        #expect(hexadecimal(hasher.finalize()) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    /// Messages of 0 to 299 bytes, which cover every edge of the padding.
    ///
    /// Their bytes count 0, 1, ... 250, 0, ...; the digest of all digests is from Python's hashlib.
    @Test func digestsAtAllPaddingEdgesMatch() {
        var digests: [UInt8] = []
        for count in 0..<300 { digests += SHA256.hash((0..<count).map { UInt8($0 % 251) }) }
        #expect(hexadecimal(SHA256.hash(digests)) == "fa70b867db0a30acb7218d62945db0df52eb393808b30675ea9aac6b058a9a9d")
    }

    @Test func digestIsIndependentOfChunks() {
        let given = ProcessInfo.processInfo.environment["CHATJOURNAL_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0...UInt64.max)
        let message = (0..<1000).map { UInt8(truncatingIfNeeded: ((UInt64($0) &+ 1) &* (seed | 1)) >> 32) }
        let expected = SHA256.hash(message)
        for cut in 0...message.count {
            var hasher = SHA256()
            hasher.update(Array(message[..<cut]))
            hasher.update(message.span.extracting(cut..<message.count))
            #expect(hasher.finalize() == expected, "seed \(seed), cut \(cut)")
        }
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

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
    }
}
