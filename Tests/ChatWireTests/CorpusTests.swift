import Foundation
import Testing

/// Replays the fuzzing corpus without a fuzzer; see Fuzz/README.md.
struct CorpusTests {
    static let targets = ["requests", "sockets"]

    static func folder(_ target: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(
            path: "FuzzCorpus/\(target)")
    }

    static func inputs(_ target: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder(target).path).sorted()
    }

    static func bytes(_ target: String, _ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder(target).appending(path: name)))
    }

    @Test(arguments: targets) func corpusIsNotEmpty(target: String) throws { #expect(try !Self.inputs(target).isEmpty) }

    @Test(arguments: try inputs("requests")) func requests(name: String) throws {
        try RequestHarness.check(try Self.bytes("requests", name))
    }

    @Test(arguments: try inputs("sockets")) func sockets(name: String) throws {
        try SocketHarness.check(try Self.bytes("sockets", name))
    }

    /// The seed inputs must reach the code behind the parsing: a change of an encoding would leave
    /// the stored ones without effect.
    @Test func seedsOfSocketsHaveAnEffect() throws {
        for (name, input, acceptedCount) in try SocketHarness.inputs() {
            let isStored = try Self.inputs("sockets").contains(name)
            #expect(
                try isStored && Self.bytes("sockets", name) == input,
                "\(name): write the inputs again (`FUZZ_WRITE` in Fuzz/README.md)")
            #expect(try SocketHarness.check(input) == acceptedCount, "\(name)")
        }
    }
}
