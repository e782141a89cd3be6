/// The contract of `CommitLog`, as checks that run against any implementation.
///
/// A log must satisfy it before a store can use the log.
///
/// ```swift
/// @Test(arguments: Seeds.seeds(2), CommitLogContract.Clause.allCases)
/// func logSatisfiesContract(seed: UInt64, clause: CommitLogContract.Clause) async {
///     let contract = CommitLogContract { seed in
///         let cluster = MyCluster(seed: seed)
///         return CommitLogFixture { try cluster.openLog() }
///     }
///     #expect(await contract.violations(of: clause, seed: seed) == [])
/// }
/// ```
///
/// The seed determines the appended records and the start positions of followers. Threads are
/// scheduled by the system, so a violation by a race may not be reproducible. The contract does not
/// cover crashes; see ``CrashExplorer`` for those.
public struct CommitLogContract: Sendable {
    /// One requirement on a log.
    public enum Clause: String, CaseIterable, Sendable {
        /// Positions count from 1 without gaps, and records are read as appended, also after
        /// reopening.
        case positionsHaveNoGap
        /// Of several concurrent appends at one head, exactly one succeeds; the others throw
        /// `conflict`.
        case oneAppendWins
        /// An append at a head before or beyond the end throws `conflict` and changes nothing.
        case wrongHeadsAreRejected
        /// Appending an empty draft throws `tooLarge` and changes nothing.
        case emptyDraftIsRejected
        /// Neither the durable position nor the end after reopening lies inside a commit.
        case commitsAreAtomic
        /// Readers beside writers see every record as appended, in order.
        ///
        /// The durable position never decreases and never exceeds the last position.
        case readersSeeOneOrder
        /// Tasks that catch up and then follow receive every record exactly once.
        case followersMissNothing
        /// A follower is notified of records only after they are durable.
        case onlyDurableIsAnnounced
        /// Reading a damaged record throws; all other records are unchanged.
        ///
        /// Checked if the fixture can damage records.
        case damageIsAnError
        /// The head differs after each commit, and is the same after reopening.
        case headIsUnique
        /// Reading positions outside the log throws `outOfRange`.
        case positionsAreBounded
        /// After a close every operation throws `closed`.
        ///
        /// A follower first receives all durable records, then `closed`.
        case closeEndsOperations
        /// A follower whose task is cancelled ends with `cancelled`; other followers continue.
        case cancellingEndsOneFollower
    }

    /// A violation of the contract.
    public struct Violation: Error, Hashable, Sendable, CustomStringConvertible {
        /// The violated clause.
        public var clause: Clause
        /// The seed of the run.
        public var seed: UInt64
        /// A sentence that describes the observation.
        public var message: String

        /// The clause, the seed and the sentence, on one line.
        public var description: String { "\(clause.rawValue), seed \(seed): \(message)" }
    }

    /// The maximum wait of a follower for an expected event; a longer wait is a violation.
    ///
    /// The default is one minute.
    public var timeout: Duration

    private let makeFixture: @Sendable (_ seed: UInt64) throws -> CommitLogFixture

    /// Creates the contract for one kind of log.
    ///
    /// - Parameters:
    ///   - timeout: The maximum wait of a follower for an expected event, not counting the time in
    ///     which other work occupies the task pool.
    ///   - make: Returns a fixture for a new, empty and independent log on every call. Random
    ///     choices must be determined by the seed.
    public init(timeout: Duration = .seconds(60), make: @escaping @Sendable (_ seed: UInt64) throws -> CommitLogFixture)
    {
        self.timeout = timeout
        self.makeFixture = make
    }

    /// Checks one clause on a new log.
    ///
    /// - Returns: At most eight violations; empty if the log satisfies the clause.
    public func violations(of clause: Clause, seed: UInt64) async -> [Violation] {
        let check: ClauseCheck
        do {
            check = ClauseCheck(try makeFixture(seed), seed: seed, timeout: timeout)
        } catch {
            return [Violation(clause: clause, seed: seed, message: "the fixture could not be created: \(error)")]
        }
        do {
            try await check.run(clause)
        } catch {
            check.recordViolation("an unexpected error: \(error)")
        }
        return check.messages.map { Violation(clause: clause, seed: seed, message: $0) }
    }

    /// Checks every clause, each on a new log.
    ///
    /// - Returns: The violations, in the order of the clauses; empty if the log satisfies the
    ///   contract.
    public func violations(seed: UInt64) async -> [Violation] {
        var violations: [Violation] = []
        for clause in Clause.allCases { violations += await self.violations(of: clause, seed: seed) }
        return violations
    }
}

extension ClauseCheck {
    fileprivate func run(_ clause: CommitLogContract.Clause) async throws {
        switch clause {
        case .positionsHaveNoGap: try checkPositionsHaveNoGap()
        case .oneAppendWins: try await checkOneAppendWins()
        case .wrongHeadsAreRejected: try checkWrongHeadsAreRejected()
        case .emptyDraftIsRejected: try checkEmptyDraftIsRejected()
        case .commitsAreAtomic: try await checkCommitsAreAtomic()
        case .readersSeeOneOrder: try await checkReadersSeeOneOrder()
        case .followersMissNothing: try await checkFollowersMissNothing()
        case .onlyDurableIsAnnounced: try await checkOnlyDurableIsAnnounced()
        case .damageIsAnError: try checkDamageIsAnError()
        case .headIsUnique: try checkHeadIsUnique()
        case .positionsAreBounded: try await checkPositionsAreBounded()
        case .closeEndsOperations: try await checkCloseEndsOperations()
        case .cancellingEndsOneFollower: try await checkCancellingEndsOneFollower()
        }
    }
}
