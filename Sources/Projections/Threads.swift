package import ChatDomain
package import ChatValues
import Columns
import Primitives

/// A thread as of a position.
package struct ThreadRecord: Hashable, Sendable {
    /// The id.
    package var id: ThreadID
    /// The name; nil if erased, and for a direct thread.
    package var name: String?
    /// The people of a direct thread; nil for another thread.
    package var people: [UserSummary]?
    /// The display time of creation.
    package var createdAt: Timestamp
    /// The number of messages in its timeline, including withdrawn ones and excluding replies.
    package var messageCount: Int
    /// The number of members.
    package var memberCount: Int
    /// The position of the thread's latest event other than a read marker.
    package var lastPosition: Position
    /// Whether an import opened it.
    package var isImported: Bool
    /// Who may join it.
    package var policy: ThreadPolicy
    /// The posts that its members may read.
    package var history: ThreadHistory
    /// Whether it is locked.
    package var isLocked: Bool
    /// Whether it is closed.
    package var isClosed: Bool
}

/// A thread's index and the position of its latest event, the sort key of thread lists.
package struct ThreadSortKey: Sendable {
    let thread: Int
    /// The position of the thread's latest event.
    package let lastPosition: Position
}

/// A thread and the position of its opening.
package struct ThreadOpening: Sendable {
    package let id: ThreadID
    package let position: Position
}

/// The ways to compare thread names; a later case applies only if the earlier ones find no thread.
package enum ThreadNameMatch: CaseIterable, Sendable {
    /// Equal spelling.
    case exact
    /// Equal under canonical caseless matching.
    case caseless

    /// Whether two names match.
    package func matches(_ name: String, _ other: String) -> Bool {
        switch self {
        case .exact: name == other
        case .caseless: Username.foldKey(name) == Username.foldKey(other)
        }
    }
}

extension PageRequest {
    /// Returns the page of a list of threads ordered by latest event.
    package func slice(of keys: [ThreadSortKey]) -> ArraySlice<ThreadSortKey> {
        keys[indices(count: keys.count) { keys[$0].lastPosition }]
    }
}

// Queries of one row each, so that a caller can release the models' lock between rows.
extension ReadModels {
    /// Returns the id of a thread.
    package func threadID(ofThread thread: Int) -> ThreadID { identities.threadID(thread) }

    /// Returns the index of a membership's thread.
    package func thread(ofMembership row: Int) -> Int { identities.memberships.pair(row).second }

    /// Returns a thread's sort key; nil if the thread did not exist as of the position.
    package func sortKey(ofThread thread: Int, asOf position: Position) -> ThreadSortKey? {
        guard thread < views.timelines.threads.count, threadExists(thread, asOf: position) else { return nil }
        return ThreadSortKey(thread: thread, lastPosition: lastPosition(ofThread: thread, asOf: position))
    }

    /// Returns the thread with a sort key.
    ///
    /// - Parameter start: Only later messages are counted.
    package func record(_ key: ThreadSortKey, asOf position: Position, after start: Position = 0) -> ThreadRecord {
        record(ofThread: key.thread, asOf: position, after: start)
    }

    /// Returns the id of the thread with a sort key.
    package func threadID(_ key: ThreadSortKey) -> ThreadID { identities.threadID(key.thread) }

    /// Returns a thread's opening; nil if it was opened later or its name does not match.
    ///
    /// Also nil if the opening was lost or the name erased.
    package func opening(_ thread: Int, asOf position: Position, where isNamed: (String) -> Bool) -> ThreadOpening? {
        guard thread < views.timelines.threads.count else { return nil }
        let openedAt = views.timelines.threads[thread].openedAt
        guard openedAt > 0, openedAt <= position, let name = name(ofThread: thread, asOf: position), isNamed(name)
        else { return nil }
        return ThreadOpening(id: identities.threadID(thread), position: openedAt)
    }
}

extension ReadModels {
    /// Returns one thread; nil if it did not exist.
    ///
    /// - Parameter start: Only later messages are counted.
    package func thread(_ id: ThreadID, asOf position: Position, after start: Position = 0) -> ThreadRecord? {
        index(ofThread: id, asOf: position).map { record(ofThread: $0, asOf: position, after: start) }
    }

    /// Whether a thread existed; cheaper than ``thread(_:asOf:)``.
    package func hasThread(_ id: ThreadID, asOf position: Position) -> Bool {
        index(ofThread: id, asOf: position) != nil
    }
}

extension ReadModels {
    /// Returns the index of a thread that existed as of a position.
    ///
    /// A thread exists from its first event, even if the record of its opening was lost.
    package func index(ofThread id: ThreadID, asOf position: Position) -> Int? {
        guard let thread = identities.index(ofThread: id), thread < views.timelines.threads.count,
            threadExists(thread, asOf: position)
        else {
            return nil
        }
        return thread
    }

    private func threadExists(_ thread: Int, asOf position: Position) -> Bool {
        let openedAt = views.timelines.threads[thread].openedAt
        return openedAt > 0 && openedAt <= position || lastPosition(ofThread: thread, asOf: position) > 0
    }

    func messageCount(ofThread thread: Int, asOf position: Position) -> Int {
        let messageIndexes = views.timelines.threads[thread].messages
        guard let last = messageIndexes.last else { return 0 }
        if identities.posts.messages.position(Int(last)) <= position { return messageIndexes.count }
        return firstIndex(of: messageIndexes.count, from: position + 1) {
            identities.posts.messages.position(Int(messageIndexes[$0]))
        }
    }

    /// Returns the number of a thread's messages up to a position, which its reader may not read.
    func hiddenCount(ofThread thread: Int, through start: Position, asOf position: Position) -> Int {
        start == 0 ? 0 : messageCount(ofThread: thread, asOf: min(start, position))
    }

    /// Returns the name that a thread had; nil if it was erased.
    func name(ofThread thread: Int, asOf position: Position) -> String? {
        if let latest = views.timelines.renamings.latest(of: thread, asOf: position) { return latest.name }
        let row = views.timelines.threads[thread]
        return row.openedAt <= position ? row.name : nil
    }

    /// Returns the position of the event that gave a thread the name that it had; nil if no event
    /// did.
    package func namePosition(of thread: ThreadID, asOf position: Position) -> Position? {
        guard let index = index(ofThread: thread, asOf: position) else { return nil }
        return views.timelines.renamings.latest(of: index, asOf: position)?.position
            ?? views.timelines.threads[index].openedAt
    }

    /// Returns the position of a thread's latest message or reply; nil if it had none.
    ///
    /// - Complexity: O(log *n*).
    func latestPostPosition(ofThread thread: Int, asOf position: Position) -> Position? {
        let (count, replies) = (
            messageCount(ofThread: thread, asOf: position), views.timelines.threads[thread].replyPositions
        )
        let replyCount = firstIndex(of: replies.count, from: position + 1) { replies[$0] }
        let message =
            count == 0
            ? nil : identities.posts.messages.position(Int(views.timelines.threads[thread].messages[count - 1]))
        return [message, replyCount == 0 ? nil : replies[replyCount - 1]].compactMap(\.self).max()
    }

    private func lastPosition(ofThread thread: Int, asOf position: Position) -> Position {
        let count = messageCount(ofThread: thread, asOf: position)
        let message =
            count == 0
            ? 0 : identities.posts.messages.position(Int(views.timelines.threads[thread].messages[count - 1]))
        return max(message, views.timelines.threads[thread].latest(asOf: position).position)
    }

    /// Returns the position of the first event of a thread, which is its opening unless that was
    /// lost.
    func firstPosition(ofThread thread: Int) -> Position {
        let row = views.timelines.threads[thread]
        if row.openedAt > 0 { return row.openedAt }
        let message = row.messages.isEmpty ? nil : identities.posts.messages.position(Int(row.messages[0]))
        let other = row.nonMessagePositions.isEmpty ? nil : row.nonMessagePositions[0]
        return min(message ?? .max, other ?? .max)
    }

    private func record(ofThread thread: Int, asOf position: Position, after start: Position = 0) -> ThreadRecord {
        let row = views.timelines.threads[thread]
        let hidden = hiddenCount(ofThread: thread, through: start, asOf: position)
        let (policy, history) = policyAndHistory(ofThread: thread, asOf: position)
        let lock = views.community.locks.value(of: thread, asOf: position)
        return ThreadRecord(
            id: identities.threadID(thread), name: name(ofThread: thread, asOf: position),
            people: people(ofDirect: thread, asOf: position),
            createdAt: row.createdAt,
            messageCount: messageCount(ofThread: thread, asOf: position) - hidden,
            memberCount: row.latest(asOf: position).members,
            lastPosition: lastPosition(ofThread: thread, asOf: position), isImported: row.isImported, policy: policy,
            history: history,
            isLocked: lock & CommunityHistory.Lock.locked != 0, isClosed: lock & CommunityHistory.Lock.closed != 0)
    }
}
