package import ChatDomain
import Columns

/// A resumable scan of rows, from the last row to the first.
///
/// Rows are never removed or moved. Rows added after the start are not visited.
package struct Scan: Sendable {
    enum List { case threads, days, membershipsOfThread, membershipsOfUser, residencesOfThread, pinsOfThread, reportsOfThread }

    fileprivate let list: List
    /// The next row + 1; 0 at the end.
    fileprivate var next: Int

    /// Whether every row has been visited.
    package var isAtEnd: Bool { next == 0 }
}

extension ReadModels {
    /// Returns a scan of the threads.
    package func threadScan() -> Scan { Scan(list: .threads, next: views.timelines.threads.count) }

    /// Returns a scan of the days with activity.
    package func dayScan() -> Scan { Scan(list: .days, next: views.activity.days.count) }

    /// Returns a scan of every membership that ever existed in a thread.
    package func scan(membershipsOf thread: ThreadID) -> Scan {
        scan(.membershipsOfThread, views.membership.membershipsOfThread, identities.index(ofThread: thread))
    }

    /// Returns a scan of every membership that a user ever had.
    package func scan(membershipsOf user: UserID) -> Scan {
        scan(.membershipsOfUser, views.membership.membershipsOfUser, identities.index(ofUser: user))
    }

    /// Returns a scan of every residence that ever existed in an outward code.
    package func scan(residencesOf code: OutwardCode) -> Scan {
        scan(.residencesOfThread, views.membership.residencesOfThread, identities.index(ofThread: ThreadID(code)))
    }

    func scan(_ list: Scan.List, _ lists: borrowing RowLists, _ owner: Int?) -> Scan {
        guard let owner, let last = lists.last(of: owner) else { return Scan(list: list, next: 0) }
        return Scan(list: list, next: last + 1)
    }

    /// Calls the body with the next rows of a scan, at most `limit`.
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
                case .pinsOfThread: next(views.rare.pinsOfThread, row)
                case .reportsOfThread: next(views.rare.reports.reportsOfThread, row)
                }
        }
    }

    private func next(_ lists: borrowing RowLists, _ row: Int) -> Int { lists.row(before: row).map { $0 + 1 } ?? 0 }

    /// Returns the non-nil results of transforming every row of a scan.
    func compactMap<Value>(_ scan: Scan, _ transform: (Int) -> Value?) -> [Value] {
        var (scan, values) = (scan, [] as [Value])
        forEach(&scan) { row in if let value = transform(row) { values.append(value) } }
        return values
    }
}
