import TestSupport
import Testing

@testable import MerkleLog

@Suite struct ProofTextTests {
    private static let zeros = String(repeating: "A", count: 43) + "="
    private static let checkpoint = "chat-journal/id\n7\n\(zeros)\n"
    private static let signature = "\u{2014} example.com/log AAAAAAAA\n"
    private static let proof = "c2sp.org/tlog-proof@v1\nindex 3\n\(zeros)\n\n\(checkpoint)"
    private static let growth = "old 3\n\(zeros)\n\(zeros)\n\n\(checkpoint)"

    private var head: TreeHead {
        get throws {
            TreeHead(
                origin: "chat-journal/id", size: 7, root: try #require(MerkleHash([UInt8](repeating: 0, count: 32))))
        }
    }

    @Test func textsAreParsed() throws {
        #expect(try TreeHead(parsing: Self.checkpoint) == head)
        #expect(try head.text == Self.checkpoint)
        let proof = InclusionProof(index: 3, hashes: [try head.root], head: try head)
        #expect(try InclusionProof(parsing: Self.proof) == proof)
        #expect(proof.text == Self.proof && proof.position == 4)
        let growth = ConsistencyProof(oldSize: 3, hashes: [try head.root, try head.root], head: try head)
        #expect(try ConsistencyProof(parsing: Self.growth) == growth)
        #expect(growth.text == Self.growth)
    }

    @Test(arguments: [
        "\n" + signature, "\n" + signature + signature, "extension\n", "extension\nother\n\n" + signature,
        "\n\u{2014} grüße AAAAAAA=\n",
    ])
    func partsAfterTheHeadAreIgnored(suffix: String) throws {
        #expect(try TreeHead(parsing: Self.checkpoint + suffix) == head)
        #expect(try InclusionProof(parsing: Self.proof + suffix).head == head)
        #expect(try ConsistencyProof(parsing: Self.growth + suffix).head == head)
    }

    @Test func emptyLogHasTheEmptyRoot() throws {
        let text = "log\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"
        #expect(try TreeHead(parsing: text) == TreeHead(origin: "log", size: 0, root: .emptyTree))
        #expect(
            failure { () throws(ProofTextError) in _ = try TreeHead(parsing: "log\n0\n\(Self.zeros)\n") }?.line == 3)
    }

    private func failure(_ parse: () throws(ProofTextError) -> Void) -> ProofTextError? {
        do {
            try parse()
            return nil
        } catch { return error }
    }

    @Test(arguments: [
        ("", 1), ("\n", 1), ("log", 1), ("log\n", 2), ("log\n7\n", 3), ("log\n7\n\(zeros)", 3), ("\n7\n\(zeros)\n", 1),
        ("log\n07\n\(zeros)\n", 2), ("log\n+7\n\(zeros)\n", 2), ("log\n-7\n\(zeros)\n", 2), ("log\n7 \n\(zeros)\n", 2),
        ("log\n\n\(zeros)\n", 2), ("log\n٧\n\(zeros)\n", 2), ("log\n18446744073709551616\n\(zeros)\n", 2),
        ("log\n0x7\n\(zeros)\n", 2),
        ("log\n7\n\(zeros.dropLast())\n", 3), ("log\n7\n\(zeros) \n", 3), ("log\n7\n\(zeros.dropLast(2))B=\n", 3),
        ("log\n7\n\(zeros)AAAA\n", 3), ("log\n7\nAAAA\n", 3), ("log\n7\n\n", 3), ("log\r\n7\r\n\(zeros)\r\n", 1),
        ("log\n7\n\(zeros)\r\n", 3),
        ("log\n7\n\(zeros)\n\n", 5), ("log\n7\n\(zeros)\n\n\n", 5), ("log\n7\n\(zeros)\n\(signature)", 4),
        ("log\n7\n\(zeros)\n\nnot a signature\n", 5), ("log\n7\n\(zeros)\n\n- log AAAAAAAA\n", 5),
        ("log\n7\n\(zeros)\n\n\u{2014} log AAAA\n", 5), ("log\n7\n\(zeros)\n\n\u{2014} lo+g AAAAAAAA\n", 5),
        ("log\n7\n\(zeros)\n\n\u{2014} log AAAAAAAB=\n", 5), ("log\n7\n\(zeros)\n\n\(signature)\n\(signature)", 6),
        ("lo\tg\n7\n\(zeros)\n", 1), ("log\n7\n\(zeros)\n\u{0}\n", 4),
    ])
    func malformedCheckpointsNameTheLine(_ text: String, _ line: Int) {
        let error = failure { () throws(ProofTextError) in _ = try TreeHead(parsing: text) }
        #expect(error?.line == line, "\(error.map { "\($0)" } ?? "no error")")
    }

    @Test(arguments: [
        ("c2sp.org/tlog-proof@v2\n", 1), ("c2sp.org/tlog-proof@v1\n", 2), ("c2sp.org/tlog-proof@v1\nindex\n", 2),
        ("c2sp.org/tlog-proof@v1\nindex 03\n\n\(checkpoint)", 2),
        ("c2sp.org/tlog-proof@v1\nindex  3\n\n\(checkpoint)", 2),
        ("c2sp.org/tlog-proof@v1\nextra !\nindex 3\n\n\(checkpoint)", 2),
        ("c2sp.org/tlog-proof@v1\nextra\nindex 3\n\n\(checkpoint)", 2),
        ("c2sp.org/tlog-proof@v1\nextra \nindex 3\n\n\(checkpoint)", 2),
        ("c2sp.org/tlog-proof@v1\nextra AB==\nindex 3\n\n\(checkpoint)", 2),
        ("c2sp.org/tlog-proof@v1\nextra AA==\nold 3\n\n\(checkpoint)", 3),
        ("c2sp.org/tlog-proof@v1\nindex 3\n\(zeros)\n", 4),
        ("c2sp.org/tlog-proof@v1\nindex 3\nAAAA\n\n\(checkpoint)", 3),
        ("c2sp.org/tlog-proof@v1\nindex 3\n\(zeros)\n\(checkpoint)", 4),
        ("c2sp.org/tlog-proof@v1\nindex 3\n\nlog\n07\n\(zeros)\n", 5),
        ("c2sp.org/tlog-proof@v1\nindex 3\n\n", 4),
        ("c2sp.org/tlog-proof@v1\nindex 3\n" + String(repeating: zeros + "\n", count: 65) + "\n" + checkpoint, 67),
    ])
    func malformedInclusionProofsNameTheLine(_ text: String, _ line: Int) {
        let error = failure { () throws(ProofTextError) in _ = try InclusionProof(parsing: text) }
        #expect(error?.line == line, "\(error.map { "\($0)" } ?? "no error")")
    }

    @Test(arguments: [
        ("new 3\n\n\(checkpoint)", 1), ("old 03\n\n\(checkpoint)", 1), ("old -1\n\n\(checkpoint)", 1),
        ("old 3\n\(zeros)", 2),
        ("old 3\nx\n\n\(checkpoint)", 2), ("old 3\n\nlog\n7\n", 5),
    ])
    func malformedConsistencyProofsNameTheLine(_ text: String, _ line: Int) {
        let error = failure { () throws(ProofTextError) in _ = try ConsistencyProof(parsing: text) }
        #expect(error?.line == line, "\(error.map { "\($0)" } ?? "no error")")
    }

    @Test func extraLineIsKept() throws {
        let text = Self.proof.replacing("index 3", with: "extra AA==\nindex 3")
        let proof = try InclusionProof(parsing: text)
        #expect(proof.extra == [0] && proof.index == 3)
        #expect(proof.text == text)
    }

    /// A text that is parsed begins with the text of its value: no value has two texts.
    @Test func everyParsedTextIsCanonical() throws {
        var random = SplitMix64(seed: Repetitions.seed)
        let characters = Array("0123456789ABab+/= \n\r\u{2014}-.oldindexextra".unicodeScalars)
        var parsed = 0
        for _ in 0..<Repetitions.few(5_000, of: 20_000) {
            let original = [Self.checkpoint, Self.proof, Self.growth, Self.checkpoint + "\n" + Self.signature]
                .randomElement(using: &random)
            var scalars = Array((original ?? "").unicodeScalars)
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let place = Int.random(in: 0..<scalars.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: scalars[place] = characters.randomElement(using: &random) ?? "0"
                case 1: scalars.insert(characters.randomElement(using: &random) ?? "0", at: place)
                default: scalars.remove(at: place)
                }
            }
            var text = ""
            text.unicodeScalars.append(contentsOf: scalars)
            let texts = [
                try? TreeHead(parsing: text).text, try? InclusionProof(parsing: text).text,
                try? ConsistencyProof(parsing: text).text,
            ]
            for found in texts.compactMap({ $0 }) {
                parsed += 1
                #expect(text.unicodeScalars.starts(with: found.unicodeScalars), "\(text)")
            }
        }
        #expect(parsed > 500)
    }

    @Test func longTextsAreRejected() {
        let text = Self.checkpoint + String(repeating: "x", count: ProofText.byteLimit) + "\n"
        #expect(failure { () throws(ProofTextError) in _ = try TreeHead(parsing: text) }?.line == 1)
    }
}
