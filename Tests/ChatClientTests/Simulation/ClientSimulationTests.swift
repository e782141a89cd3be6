#if Client || canImport(SQLite3)
    import ChatTesting
    import Foundation
    import TestSupport
    import Testing

    @testable import ChatClient

    /// Clients that go offline, crash and return, with a server that loses power, a network that
    /// loses, repeats and delays, wrong clocks, erasures, and users who leave, are muted, removed
    /// and banned: one seed determines all of it, in virtual time.
    @Suite struct ClientSimulationTests {
        /// `CHATJOURNAL_CLIENT_RUNS` sets the number of runs.
        private static let runs =
            ProcessInfo.processInfo.environment["CHATJOURNAL_CLIENT_RUNS"].flatMap { Int($0) }
            ?? Repetitions.few(50, of: 10_000)

        @Test(arguments: Seeds.seeds(runs, from: Repetitions.seed))
        func whatIsConfirmedIsThereOnceAndInItsOrder(_ seed: UInt64) throws {
            let faults = try ClientSimulation.run(seed: seed).faults
            #expect(faults.isEmpty)
        }

        @Test func aSeedDeterminesTheRun() throws {
            let runs = try (0..<3).map { try ClientSimulation.run(seed: Repetitions.seed &+ $0) }
            #expect(try (0..<3).map { try ClientSimulation.run(seed: Repetitions.seed &+ $0) } == runs)
            #expect(Set(runs.map(\.hash)).count == 3)
        }
    }
#endif
