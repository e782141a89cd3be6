package import ChatDomain
import Projections

/// The periods of ``ChatReader/access(of:)`` in parts of a bounded size, for an answer that is
/// written while they are read.
///
/// The threads that the user joined last come first. For a user who ever was an operator of the
/// community, whose periods are those of all threads, the newest threads come first.
package struct AccessParts {
    /// The runs of changes of memberships, or the threads, that are read for a part.
    static let runCount = SectionedQuery.rowCount / SectionedQuery.runLength

    /// A membership whose changes are not all read.
    private struct Rest {
        var row: Int
        var changes: Range<Int>
    }

    private let sections: SectionedQuery
    private let user: UserID
    private let operatorPeriods: [(from: Position, to: Position?)]
    /// The memberships or, for an operator, the threads.
    private var scan: Scan
    private var rest: Rest?

    fileprivate init(_ sections: SectionedQuery, of user: UserID, _ memberships: Scan) {
        (self.sections, self.user) = (sections, user)
        operatorPeriods = sections.operatorPeriods(of: user)
        scan = operatorPeriods.isEmpty ? memberships : sections.withSection { $0.threadScan() }
    }

    /// Returns the next part; nil at the end.
    package mutating func next() -> [ThreadAccess]? {
        while !scan.isAtEnd || rest != nil {
            let found = operatorPeriods.isEmpty ? nextOfMember() : nextOfOperator()
            if !found.isEmpty { return sections.named(found) }
        }
        return nil
    }

    /// The periods of a member do not overlap, so any part of them can be read by itself.
    private mutating func nextOfMember() -> [Access] {
        let (position, sections) = (sections.viewpoint.position, sections)
        var (scan, rest, found) = (scan, rest, [] as [Access])
        sections.withSection { models in
            for _ in 0..<Self.runCount {
                if rest == nil {
                    models.forEach(&scan, limit: 1) { row in
                        rest = Rest(row: row, changes: 1..<models.changeCount(ofMembership: row, asOf: position) + 1)
                    }
                }
                guard let membership = rest else { break }
                // Of an even length, so that each run begins with a join.
                let run = membership.changes.prefix(SectionedQuery.runLength)
                if !run.isEmpty { found += models.access(ofMembership: membership.row, changes: run) }
                let changes = membership.changes.dropFirst(run.count)
                rest = changes.isEmpty ? nil : Rest(row: membership.row, changes: changes)
            }
        }
        (self.scan, self.rest) = (scan, rest)
        return found
    }

    /// The periods of a member and an operator can overlap, so those of a thread are read together.
    private mutating func nextOfOperator() -> [Access] {
        let (position, sections) = (sections.viewpoint.position, sections)
        var (scan, found) = (scan, [] as [Access])
        sections.withSection { models in
            models.forEach(&scan, limit: Self.runCount) { index in
                if let row = models.membershipIndex(user, models.threadID(ofThread: index)) {
                    let count = models.changeCount(ofMembership: row, asOf: position)
                    if count > 0 { found += models.access(ofMembership: row, changes: 1..<count + 1) }
                }
                if let thread = models.operatedThread(index, asOf: position) {
                    let disclosed = models.disclosedPeriods(of: thread, changes: 0..<thread.changeCount + 1)
                    found += thread.access(in: operatorPeriods, disclosed: disclosed)
                }
            }
        }
        self.scan = scan
        return Access.merged(found)
    }
}

extension ChatReader {
    /// Returns the periods of ``access(of:)`` in parts, as of the same position.
    ///
    /// - Throws: As ``access(of:)``.
    package func accessParts(of user: UserID) throws(ChatError) -> AccessParts {
        let (sections, scan) = try memberships(of: user)
        return AccessParts(sections, of: user, scan)
    }
}

extension SectionedQuery {
    /// Returns the periods in which a user could read each thread, as a member or as an operator of
    /// the community, ordered by start and thread.
    ///
    /// - Parameter scan: The user's memberships.
    func access(of user: UserID, _ scan: Scan) -> [ThreadAccess] {
        named(Access.merged(memberAccess(scan) + operatorAccess(of: user)))
    }

    /// Returns the periods with the names of their threads.
    func named(_ access: [Access]) -> [ThreadAccess] {
        map(access) { models, access in
            ThreadAccess(
                thread: access.thread, name: models.thread(access.thread, asOf: viewpoint.position)?.name,
                from: access.from, to: access.to)
        }
    }

    private func memberAccess(_ scan: Scan) -> [Access] {
        let rows = compactMap(scan) { (row: $1, count: $0.changeCount(ofMembership: $1, asOf: viewpoint.position)) }
        let runs = rows.flatMap { row, count in Self.runs(count).map { (row: row, changes: $0) } }
        return map(runs, per: Self.rowCount / Self.runLength) { $0.access(ofMembership: $1.row, changes: $1.changes) }
            .flatMap(\.self)
    }

    private func operatorAccess(of user: UserID) -> [Access] {
        let (position, periods) = (viewpoint.position, operatorPeriods(of: user))
        // Most users never were operators, and then no thread is scanned.
        if periods.isEmpty { return [] }
        let threads = compactMap(withSection { $0.threadScan() }) { $0.operatedThread($1, asOf: position) }
        // Most threads never were `inviteOnly`, and need no further section. The period before the
        // first change has the rank 0.
        let (changed, others) = (threads.filter { $0.changeCount > 0 }, threads.filter { $0.changeCount == 0 })
        let runs = changed.flatMap { thread in
            Self.runs(thread.changeCount, from: 0).map { (thread: thread, changes: $0) }
        }
        return others.flatMap { $0.access(in: periods, disclosed: $0.wholePeriod) }
            + map(runs, per: Self.rowCount / Self.runLength) { models, run in
                run.thread.access(in: periods, disclosed: models.disclosedPeriods(of: run.thread, changes: run.changes))
            }.flatMap(\.self)
    }

    /// Returns the periods in which a user was an operator of the community.
    func operatorPeriods(of user: UserID) -> [(from: Position, to: Position?)] {
        let count = withSection { $0.operatorChangeCount(of: user, asOf: viewpoint.position) }
        return map(Self.runs(count), per: Self.rowCount / Self.runLength) {
            $0.operatorPeriods(of: user, changes: $1)
        }
        .flatMap(\.self)
    }

    /// The maximum number of changes per run.
    static let runLength = 32

    /// Returns the runs of changes that begin and end a period in turn, up to the number `count`.
    ///
    /// A run has an even length and ends before a beginning, so each run begins with one.
    private static func runs(_ count: Int, from first: Int = 1) -> [Range<Int>] {
        stride(from: first, through: count, by: runLength).map { $0..<(min(count, $0 + runLength - 1) + 1) }
    }
}
