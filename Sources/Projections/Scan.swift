package import ChatDomain
import Columns

/// The rows that a long question goes through, from the last one back: it can stop after any of them and go on later.
///
/// Rows are never removed or moved, and those that are added later are not gone through.
package struct Scan: Sendable {
    fileprivate enum List { case threads, days, membershipsOfThread, membershipsOfUser, residencesOfThread }

    fileprivate let list: List
    /// The row to go on with + 1, 0 at the end.
    fileprivate var next: Int

    /// Whether there are no more rows.
    package var isAtEnd: Bool { next == 0 }
}

extension ReadModels {
    /// The threads.
    package func scanOfThreads() -> Scan { Scan(list: .threads, next: views.timelines.threads.count) }

    /// The days on which anything has happened.
    package func scanOfDays() -> Scan { Scan(list: .days, next: views.activity.days.count) }

    /// The memberships that there ever were in a thread.
    package func scan(membershipsOf thread: ThreadID) -> Scan {
        scan(.membershipsOfThread, views.membership.membershipsOfThread, identities.index(ofThread: thread))
    }

    /// The memberships that a user ever had.
    package func scan(membershipsOf user: UserID) -> Scan {
        scan(.membershipsOfUser, views.membership.membershipsOfUser, identities.index(ofUser: user))
    }

    /// The residences that there ever were in an outward code.
    package func scan(residencesOf code: OutwardCode) -> Scan {
        scan(.residencesOfThread, views.membership.residencesOfThread, identities.index(ofThread: ThreadID(code)))
    }

    private func scan(_ list: Scan.List, _ lists: borrowing RowLists, _ owner: Int?) -> Scan {
        guard let owner, let last = lists.last(of: owner) else { return Scan(list: list, next: 0) }
        return Scan(list: list, next: last + 1)
    }

    /// Calls a closure with the next rows of a scan.
    ///
    /// - Complexity: O(*m*) in the limit.
    package func forEach(_ scan: inout Scan, limit: Int = .max, _ body: (Int) -> Void) {
        var count = 0
        while scan.next > 0, count < limit {
            let row = scan.next - 1
            body(row)
            count += 1
            scan.next =
                switch scan.list {
                case .threads, .days: row
                case .membershipsOfThread: next(views.membership.membershipsOfThread, row)
                case .membershipsOfUser: next(views.membership.membershipsOfUser, row)
                case .residencesOfThread: next(views.membership.residencesOfThread, row)
                }
        }
    }

    private func next(_ lists: borrowing RowLists, _ row: Int) -> Int { lists.row(before: row).map { $0 + 1 } ?? 0 }

    /// What a closure makes of all rows of a scan.
    func compactMap<Value>(_ scan: Scan, _ transform: (Int) -> Value?) -> [Value] {
        var (scan, values) = (scan, [] as [Value])
        forEach(&scan) { row in if let value = transform(row) { values.append(value) } }
        return values
    }
}
