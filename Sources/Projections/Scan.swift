package import ChatDomain
import Columns

/// A resumable scan of rows, from the last row to the first.
///
/// Rows are never removed or moved. Rows added after the start are not visited.
package struct Scan: Sendable {
    /// Returns the row before a row; nil before the first.
    fileprivate let rowBefore: @Sendable (borrowing ReadModels, Int) -> Int?
    /// The next row; nil at the end.
    fileprivate var next: Int?

    /// Creates a scan that begins with a row; nil for an empty one.
    init(from row: Int?, _ rowBefore: @escaping @Sendable (borrowing ReadModels, Int) -> Int?) {
        (next, self.rowBefore) = (row, rowBefore)
    }

    /// Creates a scan of all rows of a table.
    init(count: Int) { self.init(from: count > 0 ? count - 1 : nil) { $1 > 0 ? $1 - 1 : nil } }

    /// Whether every row has been visited.
    package var isAtEnd: Bool { next == nil }
}

extension ReadModels {
    /// Returns a scan of the threads.
    package func threadScan() -> Scan { Scan(count: views.timelines.threads.count) }

    /// Returns a scan of the days with activity.
    package func dayScan() -> Scan { Scan(count: views.activity.days.count) }

    /// Returns a scan of every membership that ever existed in a thread.
    package func scan(membershipsOf thread: ThreadID) -> Scan {
        Scan(from: identities.index(ofThread: thread).flatMap { views.membership.membershipsOfThread.last(of: $0) }) {
            $0.views.membership.membershipsOfThread.row(before: $1)
        }
    }

    /// Returns a scan of every membership that a user ever had.
    package func scan(membershipsOf user: UserID) -> Scan {
        Scan(from: identities.index(ofUser: user).flatMap { views.membership.membershipsOfUser.last(of: $0) }) {
            $0.views.membership.membershipsOfUser.row(before: $1)
        }
    }

    /// Returns a scan of every residence that ever existed in an outward code.
    package func scan(residencesOf code: OutwardCode) -> Scan {
        Scan(
            from: identities.index(ofThread: ThreadID(code)).flatMap {
                views.membership.residencesOfThread.last(of: $0)
            }
        ) {
            $0.views.membership.residencesOfThread.row(before: $1)
        }
    }

    /// Calls the body with the next rows of a scan, at most `limit`.
    ///
    /// - Complexity: O(*m*) in the limit.
    package func forEach(_ scan: inout Scan, limit: Int = .max, _ body: (Int) -> Void) {
        var count = 0
        while let row = scan.next, count < limit {
            body(row)
            count += 1
            scan.next = scan.rowBefore(self, row)
        }
    }

    /// Returns the non-nil results of transforming every row of a scan.
    func compactMap<Value>(_ scan: Scan, _ transform: (Int) -> Value?) -> [Value] {
        var (scan, values) = (scan, [] as [Value])
        forEach(&scan) { row in if let value = transform(row) { values.append(value) } }
        return values
    }
}
