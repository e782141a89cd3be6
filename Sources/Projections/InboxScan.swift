package import ChatDomain
import Columns

/// A resumable scan of rows of an inbox, by their indexes, newest first.
///
/// The scan has at first the latest rows of each user who acted, and then the earlier ones: those
/// of users of whom fewest have entries and were visited. So one user does not take the place of
/// others (``InboxShares``), and what has no entry takes no place at all. It has no row of a user
/// whom the user blocks.
package struct InboxScan: Sendable {
    let user: UserID
    let blocked: BlockedUsers
    let rows: Range<Int>
    /// The rows before this one have not been visited.
    var end: Int
    /// Whether the latest rows of each user have all been visited.
    var isPastShares = false
    /// By user who acted and is not blocked: their visited rows.
    var visits: [Int: Visits] = [:]
    /// The user who acted by the last row.
    var lastActor = -1

    /// The visited rows of one user.
    struct Visits {
        /// The link of the earliest one.
        private(set) var link: UInt32 = 0
        private(set) var count = 0
        var entryCount = 0

        mutating func add(_ earlier: UInt32) { (link, count) = (earlier, count + 1) }

        /// The number of times that the user had the rows, or the entries, of a share.
        var shares: (entries: Int, rows: Int) {
            (entryCount / InboxShares.maximumRowCount, count / InboxShares.maximumRowCount)
        }
    }

    /// Creates a scan.
    ///
    /// - Parameters:
    ///   - user: The user whose inbox it is.
    ///   - rows: The indexes of the rows, less than the number of rows as of the queried position.
    ///   - blocked: The users whom the user blocks.
    package init(of user: UserID, _ rows: Range<Int>, except blocked: BlockedUsers) {
        (self.user, self.rows, self.blocked, end) = (user, rows, blocked, rows.upperBound)
    }

    /// Notes that the last row has an entry.
    package mutating func countEntry() { visits[lastActor]?.entryCount += 1 }

    /// A step of a scan.
    package enum Step: Sendable {
        /// The index of the next row.
        case row(Int)
        /// A row of a blocked user was passed over.
        case blocked
        /// Every row was visited.
        case end
    }
}

extension ReadModels {
    /// Makes a step of a scan.
    ///
    /// - Complexity: O(log² *n*) in the number of rows; after the latest rows of each user, O(*m*)
    ///   in the number *m* of users who have more. The number of steps is at most that of the rows,
    ///   with up to ``InboxShares/maximumRowCount`` for each blocked user.
    package func step(_ scan: inout InboxScan) -> InboxScan.Step {
        guard let user = identities.index(ofUser: scan.user) else { return .end }
        if !scan.isPastShares {
            if let found = views.inbox.lastRow(before: scan.end, of: user, count: scan.rows.upperBound),
                found.index >= scan.rows.lowerBound
            {
                scan.end = found.index
                if scan.blocked.contains(found.actor) { return .blocked }
                return visit(found.index, found.link, by: found.actor, &scan)
            }
            scan.isPastShares = true
            scan.visits = scan.visits.filter { $0.value.count >= InboxShares.maximumRowCount }
        }
        var next: (actor: Int, row: (index: Int, link: UInt32), visits: InboxScan.Visits)?
        for (actor, visits) in scan.visits {
            guard let row = views.inbox.previousRow(visits.link), row.index >= scan.rows.lowerBound else { continue }
            if let best = next,
                best.visits.shares < visits.shares || best.visits.shares == visits.shares && best.row.link > row.link
            {
                continue
            }
            next = (actor, row, visits)
        }
        guard let next else { return .end }
        return visit(next.row.index, next.row.link, by: next.actor, &scan)
    }

    private func visit(_ row: Int, _ link: UInt32, by actor: Int, _ scan: inout InboxScan) -> InboxScan.Step {
        scan.lastActor = actor
        scan.visits[actor, default: InboxScan.Visits()].add(link)
        return .row(row)
    }

    /// Returns the next rows of a scan, at most `limit`.
    func next(_ limit: Int, of scan: InboxScan) -> [Int] {
        var (scan, found) = (scan, [] as [Int])
        while found.count < limit {
            switch step(&scan) {
            case .row(let row): found.append(row)
            case .blocked: break
            case .end: return found
            }
        }
        return found
    }
}
