import Foundation
import Testing

/// Replays the corpus of the fuzzer without a fuzzer; see Fuzz/README.md.
struct CorpusTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(
        path: "FuzzCorpus")

    static func inputs(_ target: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: target).path).sorted()
    }

    @Test func corpusIsNotEmpty() throws {
        #expect(try !Self.inputs("journal").isEmpty && !Self.inputs("commits").isEmpty)
    }

    @Test(arguments: try inputs("journal")) func journal(name: String) throws {
        try JournalHarness.check(
            [UInt8](Data(contentsOf: Self.folder.appending(path: "journal").appending(path: name))))
    }

    @Test(arguments: try inputs("commits")) func commits(name: String) throws {
        try CommitHarness.check([UInt8](Data(contentsOf: Self.folder.appending(path: "commits").appending(path: name))))
    }
}
