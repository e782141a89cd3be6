package import ChatDomain
import Columns
package import Primitives

/// A thread of the directory as of a position.
package struct ListedThread: Sendable {
    package let id: ThreadID
    /// The name; nil if erased.
    package let name: String?
    package let memberCount: Int
    /// The position of the latest message or reply; nil if there is none.
    package let latestPost: Position?
    /// The key of pagination: that of the latest post, or else of the opening.
    package let position: Position
}

extension ReadModels {
    /// Returns a scan of every thread whose policy was ever set, among which are those that were
    /// ever listed.
    package func policyScan() -> Scan { Scan(count: views.community.policies.rows.count) }

    /// Returns the thread of a row of ``policyScan()``.
    package func thread(ofPolicy row: Int) -> Int { views.community.policies.rows.entry(row) }

    /// Whether a thread was in the directory: listed and not closed.
    package func isListed(_ thread: Int, asOf position: Position) -> Bool {
        policyAndHistory(ofThread: thread, asOf: position).policy == .listed
            && views.community.locks.value(of: thread, asOf: position) & CommunityHistory.Lock.closed == 0
    }

    /// Returns what the directory shows of a thread, listed or not; nil if it did not exist.
    package func listedThread(_ thread: Int, asOf position: Position) -> ListedThread? {
        guard sortKey(ofThread: thread, asOf: position) != nil else { return nil }
        let post = latestPostPosition(ofThread: thread, asOf: position)
        return ListedThread(
            id: identities.threadID(thread), name: name(ofThread: thread, asOf: position),
            memberCount: views.timelines.threads[thread].latest(asOf: position).members, latestPost: post,
            position: post ?? firstPosition(ofThread: thread))
    }
}
