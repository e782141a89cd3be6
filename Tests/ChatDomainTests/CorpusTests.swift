import Foundation
import Testing

@testable import ChatDomain

/// Replays the corpus of the fuzzer without a fuzzer; see Fuzz/README.md.
struct CorpusTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "FuzzCorpus/events")

    static func inputs() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test func corpusIsNotEmpty() throws { #expect(try !Self.inputs().isEmpty) }

    @Test(arguments: try inputs()) func events(name: String) throws {
        try EventHarness.check([UInt8](Data(contentsOf: Self.folder.appending(path: name))))
    }

    /// A kind without an input is hard to reach for the fuzzer.
    @Test func everyKindHasAnInput() throws {
        var kinds: Set<UInt8> = []
        for name in try Self.inputs() {
            var rest = [UInt8](try Data(contentsOf: Self.folder.appending(path: name)))[...]
            while let lengths = Optional(rest.prefix(2).map(Int.init)), lengths.count == 2 {
                let kept = Array(rest.dropFirst(2).prefix(lengths[0]))
                rest = rest.dropFirst(2 + kept.count + (lengths[1] == 255 ? 0 : lengths[1]))
                if (try? ChatEvent(keptBytes: kept, erasableBytes: nil)) != nil, let kind = kept.first {
                    kinds.insert(kind)
                }
            }
        }
        #expect(EventKind.allCases.filter { !kinds.contains($0.rawValue) } == [])
    }
}
