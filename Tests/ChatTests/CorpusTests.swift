import Foundation
import Testing

/// Replays the fuzzing corpus without a fuzzer; see Fuzz/README.md.
struct CorpusTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: "FuzzCorpus")

    static func inputs(_ target: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: target).path).sorted()
    }

    private func bytes(_ target: String, _ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: Self.folder.appending(path: target).appending(path: name)))
    }

    static let targets = ["store-events", "store-commands", "store-imports", "cursors", "checkpoints"]

    @Test(arguments: targets) func corpusIsNotEmpty(target: String) throws {
        #expect(try !Self.inputs(target).isEmpty)
    }

    @Test(arguments: try inputs("store-events")) func events(name: String) throws {
        try StoreHarness.checkEvents(try bytes("store-events", name))
    }

    @Test(arguments: try inputs("store-commands")) func commands(name: String) throws {
        try StoreHarness.checkCommands(try bytes("store-commands", name))
    }

    @Test(arguments: try inputs("store-imports")) func imports(name: String) throws {
        try StoreHarness.checkImports(try bytes("store-imports", name))
    }

    @Test(arguments: try inputs("cursors")) func cursors(name: String) throws {
        try CursorHarness.check(try bytes("cursors", name))
    }

    @Test(arguments: try inputs("checkpoints")) func checkpoints(name: String) throws {
        let isTaken = try CheckpointHarness.check(try bytes("checkpoints", name))
        if name.hasPrefix("sound") {
            #expect(isTaken, "the sections or the header changed: replace the inputs `sound*` with `CheckpointHarness.validInputs()`")
        }
    }

    /// The seed inputs must pass the first validation, or fuzzing cannot reach the code behind it.
    @Test func storesOwnCheckpointIsLoaded() throws {
        let (sections, file) = try CheckpointHarness.validInputs()
        for input in [sections, [1] + file.dropFirst(), file] { #expect(try CheckpointHarness.check(input)) }
    }
}
