import ChatTesting
import EventJournal
import Foundation
import TestSupport
import Testing

@Suite struct CommitLogContractTests {
    /// The storage of a log.
    enum Place: CaseIterable {
        case files
        case memory
        case simulatedDisk
    }

    /// Returns a fixture of journals that rotate segments every few commits.
    static func journal(
        on place: Place, _ durability: Durability, seed: UInt64,
        wrap: @escaping @Sendable (Journal) -> any CommitLog = { $0 }
    ) throws -> CommitLogFixture {
        var options = JournalOptions(durability: durability, segmentSize: 4_096, entropy: SeededEntropy(seed: seed))
        switch place {
        case .files:
            let directory = try TemporaryDirectory()
            // The closure keeps the directory alive as long as the fixture.
            return .journal(in: directory.path + "/journal", options: options) { journal in
                withExtendedLifetime(directory) { wrap(journal) }
            }
        case .memory: options.storage = MemoryStorage()
        case .simulatedDisk: options.storage = SimulatedDisk(seed: seed)
        }
        return .journal(in: "journal", options: options, wrap: wrap)
    }

    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 2)), Place.allCases)
    func journalSatisfiesContract(seed: UInt64, place: Place) async {
        for durability in [Durability.synced, .written] {
            #expect(
                await CommitLogContract { try Self.journal(on: place, durability, seed: $0) }.violations(seed: seed)
                    == [], "\(durability)")
        }
    }

    @Test(arguments: Seeds.seeds(Repetitions.few(2, of: 5)))
    func arrayLogSatisfiesContract(seed: UInt64) async {
        let contract = CommitLogContract { _ in
            let store = ArrayLog.Store()
            return CommitLogFixture { ArrayLog(store) }
        }
        #expect(await contract.violations(seed: seed) == [])
    }

    @Test(
        arguments: [
            (BrokenLog.Fault.skipsRecords, CommitLogContract.Clause.positionsHaveNoGap),
            (.skipsRecords, .readersSeeOneOrder),
            (.ignoresTheHead, .oneAppendWins), (.ignoresTheHead, .wrongHeadsAreRejected),
            (.announcesEarly, .onlyDurableIsAnnounced),
            (.hidesDamage, .damageIsAnError), (.cutsCommits, .commitsAreAtomic),
            (.forgetsFollowers, .closeEndsOperations),
            (.skipsRecords, .followersMissNothing), (.ignoresCancellation, .cancellingEndsOneFollower),
            (.readsWhatThereIs, .positionsAreBounded),
            (.takesNothing, .emptyDraftIsRejected), (.forgetsHistory, .headIsUnique),
        ])
    func brokenLogViolatesItsClause(fault: BrokenLog.Fault, clause: CommitLogContract.Clause) async {
        let contract = CommitLogContract(
            timeout: fault == .forgetsFollowers || fault == .ignoresCancellation ? .milliseconds(200) : .seconds(60)
        ) { seed in
            try Self.journal(on: .memory, .synced, seed: seed) { BrokenLog($0, fault) }
        }
        // A fault of concurrent reads shows only to a read during a write, which a run may not
        // have.
        for seed in UInt64(1)...50 {
            let violations = await contract.violations(of: clause, seed: seed)
            #expect(violations.allSatisfy { $0.clause == clause && $0.seed == seed })
            if !violations.isEmpty { return }
        }
        Issue.record("no violation in 50 runs")
    }

    @Test func failingFixtureIsViolation() async {
        struct Broken: Error {}
        let violations = await CommitLogContract { _ in throw Broken() }.violations(of: .oneAppendWins, seed: 3)
        #expect(violations.map(\.seed) == [3])
    }
}
