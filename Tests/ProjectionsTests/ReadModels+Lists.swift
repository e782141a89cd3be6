import ChatDomain
import ChatValues

@testable import Chat
@testable import Projections

// Whole lists in one step, from the queries of one row each. A store reads the same rows in several
// sections of its lock (`SectionedQuery`), and filters them by the rights of the viewer.

extension ReadModels {
    /// Returns the threads with a name, in opening order.
    ///
    /// If no thread has the exact spelling, names are compared by canonical caseless matching.
    ///
    /// - Complexity: O(*n*) in the number of threads.
    func threadIDs(named name: String, asOf position: Position) -> [ThreadID] {
        for match in ThreadNameMatch.allCases {
            let found = compactMap(threadScan()) { thread in
                opening(thread, asOf: position) { match.matches($0, name) }
            }
            if !found.isEmpty { return found.sorted { $0.position < $1.position }.map(\.id) }
        }
        return []
    }

    /// Returns a page of the threads, ordered by latest event.
    ///
    /// - Complexity: O(*n* log *n*) in the number of threads.
    func threads(_ page: PageRequest, asOf position: Position) -> [ThreadRecord] {
        let keys = compactMap(threadScan()) { sortKey(ofThread: $0, asOf: position) }
        return page.slice(of: keys.sorted { $0.lastPosition < $1.lastPosition }).map { record($0, asOf: position) }
    }

    /// Returns the number of threads.
    func threadCount(asOf position: Position) -> Int {
        compactMap(threadScan()) { sortKey(ofThread: $0, asOf: position) }.count
    }

    /// Returns the members of a thread, in joining order.
    ///
    /// - Complexity: O(*n* log *n*) in the number of users who ever joined it.
    func members(of thread: ThreadID, asOf position: Position) -> [Membership] {
        compactMap(scan(membershipsOf: thread)) { indexedMembership(ofMembership: $0, asOf: position) }.sorted {
            $0.since < $1.since
        }
        .map { membership($0, asOf: position) }
    }

    /// Returns the users who could read a thread: its members in joining order, then the operators
    /// of ``readingOperators(of:asOf:)``.
    ///
    /// - Complexity: As ``members(of:asOf:)``.
    func readers(of thread: ThreadID, asOf position: Position) -> [Membership] {
        members(of: thread, asOf: position).filter { mayRead($0.user, thread, asOf: position) }
            + readingOperators(of: thread, asOf: position)
    }

    /// Returns the residents of an outward code, in the order in which they moved there.
    ///
    /// - Complexity: O(*n* log *n*) in the number of users who ever lived there.
    func residents(of code: OutwardCode, asOf position: Position) -> [Membership] {
        compactMap(scan(residencesOf: code)) { indexedMembership(ofResidence: $0, asOf: position) }.sorted {
            $0.since < $1.since
        }
        .map { membership($0, asOf: position) }
    }

    /// Returns the periods in which a user could read each thread, as a member or as an operator of
    /// the community, ordered by start and thread.
    func access(of user: UserID, asOf position: Position) -> [Access] {
        let memberAccess = compactMap(scan(membershipsOf: user)) {
            access(ofMembership: $0, changes: 1..<changeCount(ofMembership: $0, asOf: position) + 1)
        }
        let periods = operatorPeriods(of: user, changes: 1..<operatorChangeCount(of: user, asOf: position) + 1)
        let threads = periods.isEmpty ? [] : compactMap(threadScan()) { operatedThread($0, asOf: position) }
        return Access.merged(
            memberAccess.flatMap(\.self)
                + threads.flatMap {
                    $0.access(in: periods, disclosed: disclosedPeriods(of: $0, changes: 0..<$0.changeCount + 1))
                })
    }
}
