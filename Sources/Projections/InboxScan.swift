package import ChatDomain
import Columns

/// A resumable scan of rows of an inbox, by their indexes, newest first.
///
/// The scan has at first the latest rows of each user who acted and none of those whom the user blocks, and then the
/// other rows: one user does not take the place of others (``InboxShares``). The other rows are left out if
/// all are of blocked users.
package struct InboxScan: Sendable {
    let user: UserID
    let blocked: BlockedUsers
    let rows: Range<Int>
    /// The rows before this one have not been visited.
    var end: Int
    /// Whether the latest rows of each user have all been visited.
    var isPastShares = false
    /// The rows among the latest ones of each user.
    var visited: Set<Int> = []
    /// By user who acted and is not blocked: the number of their rows in ``visited``.
    var counts: [Int: Int] = [:]

    /// Creates a scan.
    ///
    /// - Parameters:
    ///   - user: The user whose inbox it is.
    ///   - rows: The indexes of the rows, less than the number of rows as of the queried position.
    ///   - blocked: The users whom the user blocks.
    package init(of user: UserID, _ rows: Range<Int>, except blocked: BlockedUsers) {
        (self.user, self.rows, self.blocked, end) = (user, rows, blocked, rows.upperBound)
    }

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
    /// - Complexity: O(log² *n*) in the number of rows. The number of steps is at most that of the rows, with up to
    ///   ``InboxShares/maximumRowCount`` for each blocked user.
    package func step(_ scan: inout InboxScan) -> InboxScan.Step {
        guard let user = identities.index(ofUser: scan.user) else { return .end }
        if !scan.isPastShares {
            if let (row, actor) = views.inbox.lastRow(before: scan.end, of: user, count: scan.rows.upperBound), row >= scan.rows.lowerBound
            {
                scan.end = row
                scan.visited.insert(row)
                if scan.blocked.contains(actor) { return .blocked }
                scan.counts[actor, default: 0] += 1
                return .row(row)
            }
            scan.isPastShares = true
            let hasMore = scan.counts.values.contains { $0 >= InboxShares.maximumRowCount }
            scan.end = hasMore ? scan.rows.upperBound : scan.rows.lowerBound
        }
        while scan.end > scan.rows.lowerBound {
            scan.end -= 1
            if !scan.visited.contains(scan.end) { return .row(scan.end) }
        }
        return .end
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
