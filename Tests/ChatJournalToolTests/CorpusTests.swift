import Foundation
import Testing

/// Replays the fuzzing corpus without a fuzzer; see Fuzz/README.md.
struct CorpusTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "FuzzCorpus/lines")

    static func inputs() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test func corpusIsNotEmpty() throws { #expect(try !Self.inputs().isEmpty) }

    @Test(arguments: try inputs()) func lines(name: String) throws {
        try LineHarness.check([UInt8](Data(contentsOf: Self.folder.appending(path: name))))
    }
}
