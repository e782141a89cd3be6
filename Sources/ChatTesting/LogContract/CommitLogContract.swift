/// What every log must do that a store is to work on: the contract of `CommitLog` as checks that run against any implementation.
///
/// ```swift
/// @Test(arguments: Seeds.seeds(5), CommitLogContract.Clause.allCases)
/// func myLogKeepsTheContract(seed: UInt64, clause: CommitLogContract.Clause) async {
///     let contract = CommitLogContract { seed in
///         let cluster = MyCluster(seed: seed)
///         return CommitLogFixture { try cluster.openLog() }
///     }
///     #expect(await contract.violations(of: clause, seed: seed) == [])
/// }
/// ```
///
/// A seed decides what is appended, and where followers begin; the threads run as they like, so what a race shows need not come again.
/// A contract that is kept proves nothing about crashes: for those see ``CrashExplorer``.
public struct CommitLogContract: Sendable {
    /// One thing that a log must do.
    public enum Clause: String, CaseIterable, Sendable {
        /// Positions count from 1 with no gap, and records come back as they were given, also after opening again.
        case positionsHaveNoGap
        /// Of appends that race at one head exactly one takes effect; the others are refused with `conflict`.
        case oneAppendWins
        /// A head beyond the end or behind it is refused with `conflict`, and nothing is changed.
        case otherHeadsAreRefused
        /// An empty draft is refused with `tooLarge`, and nothing is changed.
        case emptyDraftIsRefused
        /// The durable position never lies inside a commit, nor does the end after opening again.
        case commitsAreWhole
        /// Readers beside writers meet N - 1 before N and every record as it was appended; the durable position never goes back, nor beyond
        /// the last.
        case readersSeeOneOrder
        /// Tasks that catch up and then follow meet every record once.
        case followersMissNothing
        /// Nothing is announced to a follower before it is durable.
        case onlyDurableIsAnnounced
        /// A record whose bytes were changed is an error, and all others come as they were; checked where the fixture can damage.
        case damageIsAnError
        /// The head is another after each commit, and the same after opening again.
        case headTellsCommitsApart
        /// Positions that are not in the log are refused with `outOfRange`.
        case positionsAreBounded
        /// After a close everything is refused with `closed`, and followers are woken with it once they have all that was durable.
        case closingEndsEverything
        /// A follower whose task is cancelled ends with `cancelled`, and no other does.
        case cancellingEndsOneFollower
    }

    /// Something that a log did and must not do.
    public struct Violation: Error, Hashable, Sendable, CustomStringConvertible {
        /// What it broke.
        public var clause: Clause
        /// What the run followed from.
        public var seed: UInt64
        /// A sentence that says what was seen.
        public var message: String

        /// All three, on one line.
        public var description: String { "\(clause.rawValue), seed \(seed): \(message)" }
    }

    /// How long a follower may wait for what has to come; what takes longer is a violation.
    ///
    /// A minute unless it says otherwise.
    public var patience: Duration

    private let make: @Sendable (_ seed: UInt64) throws -> CommitLogFixture

    /// Makes the contract of some kind of log.
    ///
    /// - Parameters:
    ///   - patience: How long a follower may wait for what has to come.
    ///   - make: Makes a new place for a log, empty and independent of every other, each time it is called; what is random in it follows from
    ///     the seed.
    public init(patience: Duration = .seconds(60), make: @escaping @Sendable (_ seed: UInt64) throws -> CommitLogFixture) {
        self.patience = patience
        self.make = make
    }

    /// Checks one clause on a new log.
    ///
    /// - Returns: What was violated, at most eight of it; nothing when the clause is kept.
    public func violations(of clause: Clause, seed: UInt64) async -> [Violation] {
        let run: ContractRun
        do {
            run = ContractRun(try make(seed), seed: seed, patience: patience)
        } catch {
            return [Violation(clause: clause, seed: seed, message: "the fixture could not be made: \(error)")]
        }
        do {
            try await run.check(clause)
        } catch {
            run.note("an error where none belongs: \(error)")
        }
        return run.messages.map { Violation(clause: clause, seed: seed, message: $0) }
    }

    /// Checks every clause, each on a new log.
    ///
    /// - Returns: What was violated, in the order of the clauses; nothing when the contract is kept.
    public func violations(seed: UInt64) async -> [Violation] {
        var violations: [Violation] = []
        for clause in Clause.allCases { violations += await self.violations(of: clause, seed: seed) }
        return violations
    }
}

extension ContractRun {
    fileprivate func check(_ clause: CommitLogContract.Clause) async throws {
        switch clause {
        case .positionsHaveNoGap: try checkPositionsHaveNoGap()
        case .oneAppendWins: try await checkOneAppendWins()
        case .otherHeadsAreRefused: try checkOtherHeadsAreRefused()
        case .emptyDraftIsRefused: try checkEmptyDraftIsRefused()
        case .commitsAreWhole: try await checkCommitsAreWhole()
        case .readersSeeOneOrder: try await checkReadersSeeOneOrder()
        case .followersMissNothing: try await checkFollowersMissNothing()
        case .onlyDurableIsAnnounced: try await checkOnlyDurableIsAnnounced()
        case .damageIsAnError: try checkDamageIsAnError()
        case .headTellsCommitsApart: try checkHeadTellsCommitsApart()
        case .positionsAreBounded: try await checkPositionsAreBounded()
        case .closingEndsEverything: try await checkClosingEndsEverything()
        case .cancellingEndsOneFollower: try await checkCancellingEndsOneFollower()
        }
    }
}
