#if Server
    import Foundation
    import Testing

    /// Replays the fuzzing corpus without a fuzzer; see Fuzz/README.md.
    struct CorpusTests {
        private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(
                path: "FuzzCorpus/http")

        @Test func http() throws {
            let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
            #expect(!names.isEmpty)
            for name in names {
                try HTTPHarness.check([UInt8](try Data(contentsOf: Self.folder.appending(path: name))))
            }
        }
    }
#endif
