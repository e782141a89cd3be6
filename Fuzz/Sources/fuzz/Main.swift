#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Runs libFuzzer on one reader: `FUZZ_TARGET=journal fuzz [-option=value]... [CORPUS]...`.
///
/// `FUZZ_WRITE=Tests/FuzzCorpus fuzz` writes the seed inputs of ``SeedInputs`` instead.
///
/// The environment selects the target, because libFuzzer owns the arguments and passes them to its
/// child processes.
@main
struct Main {
    static func main() throws {
        let environment = ProcessInfo.processInfo.environment
        if let folder = environment["FUZZ_WRITE"] { return try SeedInputs.write(to: folder) }
        guard let target = environment["FUZZ_TARGET"].flatMap(FuzzTarget.init) else {
            print("FUZZ_TARGET must be one of \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")).")
            return
        }
        FuzzedInput.run(target)
    }
}

/// The fuzzed readers.
enum FuzzTarget: String, CaseIterable {
    case journal, commits, events, lines, http, requests, sockets, checkpoints, ledgers, evidence
    case storeEvents = "store-events"
    case storeCommands = "store-commands"
    case storeImports = "store-imports"
    case storeEventImports = "store-event-imports"

    /// Checks the invariants of one input.
    ///
    /// - Throws: An error that describes a violated invariant. A trap is a failure too.
    func check(_ input: [UInt8]) throws {
        switch self {
        case .journal: try JournalHarness.check(input)
        case .commits: try CommitHarness.check(input)
        case .events: try EventHarness.check(input)
        case .lines: try LineHarness.check(input)
        case .http: try HTTPHarness.check(input)
        case .requests: try RequestHarness.check(input)
        case .sockets: try SocketHarness.check(input)
        case .checkpoints: try CheckpointHarness.check(input)
        case .ledgers: try LedgerHarness.check(input)
        case .evidence: try EvidenceHarness.check(input)
        case .storeEvents: try StoreHarness.checkEvents(input)
        case .storeCommands: try StoreHarness.checkCommands(input)
        case .storeImports: try StoreHarness.checkImports(input)
        case .storeEventImports: try StoreHarness.checkEventImports(input)
        }
    }
}
