package import ChatDomain
import Columns

/// The unread messages of members.
extension ReadModels {
    /// Returns the number of a thread's messages that a member had not read, and the position of the
    /// first of them; 0 and nil for other users.
    ///
    /// A message is unread if it is after both the read marker and the last join, written by
    /// another user whom the member does not block, and neither retracted nor removed, and if the
    /// level of notifications that held when it was recorded does not silence it: `none` silences
    /// every message, `mentions` those that do not mention the member now.
    ///
    /// - Parameter blocked: The users whom the member blocks.
    /// - Complexity: O(*b* *s* log *n* log *d*) in the numbers *b* of blocked users, *s* of levels
    ///   since the first message after the marker, *n* of the thread's messages and retractions,
    ///   and *d* of messages between the marker and the first that is unread, if there are more than
    ///   ``maximumLookCount``. At most ``maximumLevelCount`` levels are looked at, and at most
    ///   ``maximumInboxRowCount`` events of the member's inbox.
    package func unread(
        of user: UserID, in thread: ThreadID, except blocked: BlockedUsers, asOf position: Position
    ) -> (count: Int, first: Position?) {
        guard let unread = unreadMessages(of: user, in: thread, except: blocked, asOf: position) else {
            return (0, nil)
        }
        let total = count(unread, from: unread.range.lowerBound)
        // A forged checkpoint can count a message that is not there.
        guard total > 0, let first = first(of: unread, total, except: blocked) else { return (0, nil) }
        return (total, identities.posts.messages.position(Int(views.timelines.threads[unread.thread].messages[first])))
    }

    /// The number of levels that a count looks at; an earlier message has the first of them.
    static let maximumLevelCount = 100
    /// The number of messages that are looked at one by one before counts find the first unread one.
    static let maximumLookCount = 64
    /// The number of events of a member's inbox in which a count looks for mentions.
    static let maximumInboxRowCount = 1_000
}

/// The messages after a member's read marker and last join, as indexes in the thread.
private struct UnreadMessages {
    let position: Position
    let thread: Int
    let user: Int
    let membership: Int
    let range: Range<Int>
    /// The memberships of the blocked users in the thread.
    let blocked: [Int]
    /// The level of each part of the range, from an index on; the first begins the range.
    var levels: [(start: Int, level: NotificationLevel)] = []
    /// The messages of the range that mention the member, in any order; only if a level asks for
    /// it.
    var mentions: [Int] = []
}

extension ReadModels {
    private func unreadMessages(
        of user: UserID, in thread: ThreadID, except blocked: BlockedUsers, asOf position: Position
    ) -> UnreadMessages? {
        guard let user = identities.index(ofUser: user), let thread = index(ofThread: thread, asOf: position),
            let membership = identities.memberships.find(user, thread),
            let since = views.membership.joinPosition(membership, asOf: position)
        else { return nil }
        let seen = max(since, views.membership.readMarker(membership, asOf: position))
        let count = messageCount(ofThread: thread, asOf: position)
        // A forged event can block its own user.
        let others = blocked.indexes.compactMap { Int($0) == user ? nil : identities.memberships.find(Int($0), thread) }
        var unread = UnreadMessages(
            position: position, thread: thread, user: user, membership: membership,
            range: index(ofMessageAfter: seen, in: thread, below: count)..<count, blocked: others)
        if !unread.range.isEmpty { addLevels(to: &unread, of: user, except: blocked) }
        return unread
    }

    /// Returns the index of the first of some messages of a thread after a position.
    private func index(ofMessageAfter position: Position, in thread: Int, below count: Int) -> Int {
        let messages = views.timelines.threads[thread].messages
        return (0..<count).partitioningIndex { identities.posts.messages.position(Int(messages[$0])) > position }
    }

    private func addLevels(to unread: inout UnreadMessages, of user: Int, except blocked: BlockedUsers) {
        let history = views.community.notifications
        var rank = history.count(of: unread.membership, asOf: unread.position)
        let oldest = max(0, rank - Self.maximumLevelCount)
        var start = unread.range.upperBound
        while start > unread.range.lowerBound, rank > oldest {
            guard let version = history.versions(of: unread.membership, ranks: rank..<rank + 1).first else { break }
            let level = LimitedLevel(rawValue: version.value).level
            // The level holds for the message of its own position, if an end has passed with it.
            start = max(
                unread.range.lowerBound, index(ofMessageAfter: version.position - 1, in: unread.thread, below: start))
            unread.levels.append((start, level))
            rank -= 1
        }
        if start > unread.range.lowerBound {
            unread.levels.append(
                (unread.range.lowerBound, unread.levels.last.map { rank > 0 ? $0.level : .all } ?? .all))
        }
        unread.levels.reverse()
        guard unread.levels.contains(where: { $0.level == .mentions }) else { return }
        let first = identities.posts.messages.position(
            Int(views.timelines.threads[unread.thread].messages[unread.range.lowerBound]))
        let mentioning = mentions(
            of: user, in: unread.thread, since: first, except: blocked, asOf: unread.position,
            limit: Self.maximumInboxRowCount)
        for message in mentioning {
            let index = index(
                ofMessageAfter: identities.posts.messages.position(message) - 1, in: unread.thread,
                below: unread.range.upperBound)
            if unread.range.contains(index) { unread.mentions.append(index) }
        }
    }

    /// Returns the messages of a thread whose present text mentions a user, found in the latest
    /// events of their inbox since a position.
    ///
    /// - Parameter limit: The maximum number of events that are looked at.
    /// - Complexity: O(*m* log *n*) in the number *m* of these events.
    private func mentions(
        of user: Int, in thread: Int, since start: Position, except blocked: BlockedUsers, asOf position: Position,
        limit: Int
    ) -> [Int] {
        let histories = views.timelines.histories.messages
        let rows = views.inbox.count(of: user, asOf: max(start, 1) - 1)..<views.inbox.count(of: user, asOf: position)
        let scan = InboxScan(of: identities.userID(user), rows, except: blocked)
        return next(limit, of: scan).compactMap { index in
            guard let row = views.inbox.row(of: user, rank: index + 1) else { return nil }
            let message = row.target
            guard row.code.isMentionInMessage, identities.posts.messages.parent(message) == thread,
                // An earlier text has a row too.
                histories.latest(.edit, of: message, asOf: position) ?? identities.posts.messages.position(message)
                    == row.position,
                !histories.isWithdrawn(message, asOf: position),
                !blocked.contains(identities.posts.messages.author(message))
            else { return nil }
            return message
        }
    }

    /// Returns the number of messages from an index on that are unread and not silenced.
    private func count(_ unread: UnreadMessages, from first: Int) -> Int {
        /// The number without the levels.
        func plainCount(from index: Int) -> Int {
            views.unread.count(
                index..<unread.range.upperBound, of: unread.thread, unread.membership, except: unread.blocked,
                views.timelines,
                asOf: unread.position)
        }
        var (total, end) = (0, unread.range.upperBound)
        for part in unread.levels.reversed() where end > first {
            let start = max(first, part.start)
            switch part.level {
            case .all: total += plainCount(from: start) - (end < unread.range.upperBound ? plainCount(from: end) : 0)
            case .mentions: total += unread.mentions.count { (start..<end).contains($0) }
            case .none: break
            }
            end = part.start
        }
        return total
    }

    /// Returns the index of the first of the `total` messages that ``count(_:from:)`` counts; nil if
    /// there is none.
    private func first(of unread: UnreadMessages, _ total: Int, except blocked: BlockedUsers) -> Int? {
        let range = unread.range
        // It is often near the start, and a look at a message takes less than a count.
        var low = range.lowerBound
        let near = min(range.upperBound, low + Self.maximumLookCount)
        while low < near, let isCounted = isCounted(low, unread, except: blocked) {
            if isCounted { return low }
            low += 1
        }
        if low == range.upperBound { return nil }
        // No message before `low` is counted.
        var step = 1
        while low + step < range.upperBound, count(unread, from: low + step) == total {
            low += step
            step *= 2
        }
        return (low..<min(low + step, range.upperBound)).partitioningIndex { count(unread, from: $0 + 1) < total }
    }

    /// Returns whether ``count(_:from:)`` counts the message at an index of the range; nil if only a
    /// count can tell.
    ///
    /// A count has the messages of a blocked user by their membership, which a message does not
    /// name: the join before it can be lost.
    private func isCounted(_ index: Int, _ unread: UnreadMessages, except blocked: BlockedUsers) -> Bool? {
        let message = Int(views.timelines.threads[unread.thread].messages[index])
        switch unread.levels.last(where: { $0.start <= index })?.level {
        case .all:
            let author = identities.posts.messages.author(message)
            if author != unread.user, blocked.contains(author) { return nil }
            return author != unread.user
                && !views.timelines.histories.messages.isWithdrawn(message, asOf: unread.position)
        case .mentions: return unread.mentions.contains(index)
        case nil, .some(.none): return false
        }
    }
}
