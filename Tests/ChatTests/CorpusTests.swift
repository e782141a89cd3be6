import Chat
import ChatDomain
import EventJournal
import Foundation
import Testing

/// Replays the fuzzing corpus without a fuzzer; see Fuzz/README.md.
struct CorpusTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(
        path: "FuzzCorpus")

    static func inputs(_ target: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: target).path).sorted()
    }

    private func bytes(_ target: String, _ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: Self.folder.appending(path: target).appending(path: name)))
    }

    static let targets = [
        "store-events", "store-commands", "store-imports", "store-event-imports", "checkpoints", "ledgers", "evidence",
    ]

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

    @Test(arguments: try inputs("store-event-imports")) func eventImports(name: String) throws {
        let input = try bytes("store-event-imports", name)
        let count = try StoreHarness.checkEventImports(input)
        if ShortHistory.all.contains(where: { $0.name == name }) {
            #expect(count == input.count { $0 == UInt8(ascii: "\n") }, "the history is not imported completely")
        }
    }

    @Test(arguments: try inputs("checkpoints")) func checkpoints(name: String) throws {
        let isTaken = try CheckpointHarness.check(try bytes("checkpoints", name))
        if name.hasPrefix("sound") {
            #expect(
                isTaken, "the sections or the header changed: write the inputs again (`FUZZ_WRITE` in Fuzz/README.md)")
        }
    }

    @Test(arguments: try inputs("ledgers")) func ledgers(name: String) throws {
        try LedgerHarness.check(try bytes("ledgers", name))
    }

    @Test(arguments: try inputs("evidence")) func evidence(name: String) throws {
        try EvidenceHarness.check(try bytes("evidence", name))
    }

    /// The seed inputs must reach the code behind the parsing: a change of an encoding would leave
    /// the stored ones without effect.
    @Test func seedsOfLedgersAndEvidenceHaveAnEffect() throws {
        for (name, input) in try LedgerHarness.inputs() {
            let isStored = try Self.inputs("ledgers").contains(name)
            #expect(
                try isStored && bytes("ledgers", name) == input,
                "\(name): write the inputs again (`FUZZ_WRITE` in Fuzz/README.md)")
            #expect(
                try LedgerHarness.check(input) > 0
                    || ["unknown-user", "other-positions", "empty", "cut", "cut-in-line"].contains(name),
                "\(name)")
        }
        for (name, input) in try EvidenceHarness.inputs() {
            let isStored = try Self.inputs("evidence").contains(name)
            #expect(
                try isStored && bytes("evidence", name) == input,
                "\(name): write the inputs again (`FUZZ_WRITE` in Fuzz/README.md)")
            #expect(try EvidenceHarness.check(input), "\(name)")
        }
    }

    /// Without the seed inputs of each history, the fuzzer would have to find the commands and the
    /// kinds by itself.
    @Test(arguments: ["store-events", "store-commands", "store-event-imports"]) func everyHistoryHasAnInput(
        target: String
    ) throws {
        let missing = Set(ShortHistory.all.map(\.name)).subtracting(try Self.inputs(target))
        #expect(missing.isEmpty, "write the inputs again (`FUZZ_WRITE` in Fuzz/README.md)")
    }

    /// The histories consist of commands that have an effect, and cause every kind of event.
    @Test func historiesHaveEveryKindOfEvent() throws {
        var kinds: Set<EventKind> = []
        for history in ShortHistory.all {
            let store = try StoreFixture().open()
            for request in history.requests {
                let head = store.head.position
                _ = try store.executeBlocking([request])[0].get()
                #expect(store.head.position > head, "\(request) has no effect")
            }
            kinds.formUnion(try store.allEvents().compactMap(\.event.kind))
        }
        #expect(
            EventKind.allCases.filter { !kinds.contains($0) } == [
                .lost, .userErased, .contentErased, .clockCorrected, .historyRepaired,
            ])
    }

    /// The seed inputs must pass the first validation, or fuzzing cannot reach the code behind it.
    @Test func storesOwnCheckpointIsLoaded() throws {
        let (sections, file) = try CheckpointHarness.validInputs()
        for input in [sections, [1] + file.dropFirst(), file] { #expect(try CheckpointHarness.check(input)) }
    }
}
