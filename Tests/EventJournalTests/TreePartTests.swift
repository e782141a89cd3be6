import EventJournal
import Foundation
import MerkleLog
import Testing

/// The lines of the parts of a tree.
@Suite struct TreePartTests {
    private static let hash = MerkleHash.leaf(of: [7])
    private static let salt = [UInt8](0..<16)

    @Test func linesAreReadBack() throws {
        let digest = DisclosedRecord(kept: [1], content: .digest(Self.hash))
        let parts: [(TreePart, String)] = [
            (
                .record(3, DisclosedRecord(kept: [1, 2], content: .whole(salt: Self.salt, erasable: [255]))),
                "record 3 AQI= AAECAwQFBgcICQoLDA0ODw== /w=="
            ),
            (
                .record(1, DisclosedRecord(kept: [], content: .whole(salt: Self.salt, erasable: []))),
                "record 1 - AAECAwQFBgcICQoLDA0ODw== -"
            ),
            (.record(.max, digest), "stub 18446744073709551615 AQ== \(Self.hash.base64)"),
            (.subtree(5...8, Self.hash), "hash 5 8 \(Self.hash.base64)"),
        ]
        for (part, text) in parts {
            #expect(part.text == text)
            #expect(try TreePart(parsing: text, line: 1) == part)
        }
    }

    @Test(arguments: [
        "", " ", "record", "record 1 - AAECAwQFBgcICQoLDA0ODw==", "record 1 - AAECAwQFBgcICQoLDA0ODw== - -",
        "record 0 - AAECAwQFBgcICQoLDA0ODw== -",
        "record 01 - AAECAwQFBgcICQoLDA0ODw== -", "record +1 - AAECAwQFBgcICQoLDA0ODw== -",
        "record 18446744073709551616 - AAECAwQFBgcICQoLDA0ODw== -",
        "record 1  AAECAwQFBgcICQoLDA0ODw== -", "record 1 - - -", "record 1 - AAECAwQFBgcICQoLDA0O -",
        "record 1 - AAECAwQFBgcICQoLDA0ODxA= -",
        "record 1 AQ AAECAwQFBgcICQoLDA0ODw== -", "record 1 AR== AAECAwQFBgcICQoLDA0ODw== -",
        "record 1 - AAECAwQFBgcICQoLDA0ODw== -\r",
        "stub 1 AQ== AQ==", "stub 1 AQ== -", "hash 2 1 HASH", "hash 0 1 HASH", "hash 1 HASH", "hash 1 2 3 HASH",
        "Hash 1 2 HASH",
        "hash 1 2 HASH ",
    ])
    func wrongLinesAreRejected(text: String) {
        let line = text.replacing("HASH", with: Self.hash.base64)
        #expect { try TreePart(parsing: line, line: 9) } throws: { ($0 as? ProofTextError)?.line == 9 }
    }

    @Test func partsThatExceedTheLimitsAreRejected() {
        let bytes = { (count: Int) in Data(count: count).base64EncodedString() }
        let salt = Data(Self.salt).base64EncodedString()
        let (kept, erasable) = (JournalLimits.keptBytes, JournalLimits.erasableBytes)
        #expect(throws: Never.self) {
            try TreePart(parsing: "record 1 \(bytes(kept)) \(salt) \(bytes(erasable))", line: 1)
        }
        #expect(throws: ProofTextError.self) { try TreePart(parsing: "record 1 \(bytes(kept + 1)) \(salt) -", line: 1) }
        #expect(throws: ProofTextError.self) {
            try TreePart(parsing: "record 1 - \(salt) \(bytes(erasable + 1))", line: 1)
        }
    }
}
