package import ChatDomain
import Columns

/// Who could read a thread as of a position.
///
/// Queries and followers ask it as of the queried position and as of now: `Visibility.swift` of Chat.
extension ReadModels {
    /// Returns the position after which a user could read the messages of a thread; nil if they
    /// could read none of it.
    ///
    /// Members can read every message (0), or those after their latest join, by the thread's
    /// history at that join. Operators can read the messages of a thread that is not `inviteOnly`,
    /// after it last ceased to be. Other users can read nothing. Every access check uses this
    /// function.
    package func readingStart(_ viewer: UserID, _ thread: ThreadID, asOf position: Position) -> Position? {
        guard let index = identities.index(ofThread: thread) else { return nil }
        var start: Position?
        if isOperator(viewer, asOf: position), hasThread(thread, asOf: position) {
            start = disclosurePosition(ofThread: index, asOf: position)
            if start == 0 { return 0 }
        }
        guard let join = joinPosition(viewer, in: thread, asOf: position) else { return start }
        let asMember = policyAndHistory(ofThread: index, asOf: join).history == .sinceJoining ? join : 0
        return start.map { min($0, asMember) } ?? asMember
    }

    /// Whether a thread existed for a user: unless it is `inviteOnly` for everyone, otherwise for its
    /// members and for the users with an invitation.
    ///
    /// The rules have the same condition for commands (`RuleState.isKnown`).
    package func isKnown(_ thread: ThreadID, to user: UserID, asOf position: Position) -> Bool {
        guard let index = index(ofThread: thread, asOf: position) else { return false }
        if policyAndHistory(ofThread: index, asOf: position).policy != .inviteOnly { return true }
        guard let membership = membershipIndex(user, thread) else { return false }
        return views.membership.joinPosition(membership, asOf: position) != nil
            || invitation(ofMembership: membership, asOf: position) != nil
    }

    /// Whether a user could read a thread.
    package func mayRead(_ viewer: UserID, _ thread: ThreadID, asOf position: Position) -> Bool {
        readingStart(viewer, thread, asOf: position) != nil
    }

    /// Returns the operators of the community who could read a thread without being a member, in
    /// the order in which they could read it first.
    package func readingOperators(of thread: ThreadID, asOf position: Position) -> [Membership] {
        let opening = openingPosition(of: thread)
        return operators(asOf: position).filter { reader in
            mayRead(reader.user, thread, asOf: position) && joinPosition(reader.user, in: thread, asOf: position) == nil
        }.map { reader in
            var reader = reader
            reader.since = max(reader.since, opening, readingStart(reader.user, thread, asOf: position) ?? 0)
            return reader
        }.sorted { $0.since < $1.since }
    }

    /// Whether a user could ever read a thread as an operator, as their own access shows it.
    package func hasOperated(_ user: UserID, _ thread: ThreadID, asOf position: Position) -> Bool {
        let changes = operatorChangeCount(of: user, asOf: position)
        guard changes > 0, let index = identities.index(ofThread: thread), let operated = operatedThread(index, asOf: position) else {
            return false
        }
        let disclosed = disclosedPeriods(of: operated, changes: 0..<operated.changeCount + 1)
        return !operated.access(in: operatorPeriods(of: user, changes: 1..<changes + 1), disclosed: disclosed).isEmpty
    }
}

/// A range of positions during which a user could read a thread.
package struct Access: Hashable, Sendable {
    /// The thread.
    package var thread: ThreadID
    /// The position of the join.
    package var from: Position
    /// The position of the departure; nil for a member.
    package var to: Position?

    /// Creates a range.
    package init(thread: ThreadID, from: Position, to: Position? = nil) {
        self.thread = thread
        self.from = from
        self.to = to
    }

    /// Returns the ranges with overlapping ones of the same thread merged, ordered by start and
    /// thread.
    package static func merged(_ ranges: [Access]) -> [Access] {
        var merged: [Access] = []
        for range in ranges.sorted(by: { ($0.thread, $0.from) < ($1.thread, $1.from) }) {
            if let last = merged.last, last.thread == range.thread, last.to.map({ range.from <= $0 }) ?? true {
                if let end = last.to { merged[merged.count - 1].to = range.to.map { max(end, $0) } }
            } else {
                merged.append(range)
            }
        }
        return merged.sorted { ($0.from, $0.thread) < ($1.from, $1.thread) }
    }
}

/// A thread that operators of the community could read without being members, while it was not
/// `inviteOnly`.
package struct OperatedThread: Sendable {
    let thread: ThreadID
    let index: Int
    /// The position of its first event.
    let openedAt: Position
    /// The number of times it became or ceased to be `inviteOnly`.
    package let changeCount: Int

    /// The whole time of a thread that never was `inviteOnly`.
    package var wholePeriod: [(from: Position, to: Position?)] { [(openedAt, nil)] }

    /// Returns the ranges in which an operator could read the thread.
    ///
    /// - Parameters:
    ///   - periods: The periods in which the user was an operator.
    ///   - disclosed: The periods in which the thread was not `inviteOnly`.
    package func access(
        in periods: [(from: Position, to: Position?)], disclosed: [(from: Position, to: Position?)]
    ) -> [Access] {
        periods.flatMap { period in
            disclosed.compactMap { disclosed in
                let from = max(period.from, disclosed.from)
                let to = min(period.to ?? .max, disclosed.to ?? .max)
                return from < to ? Access(thread: thread, from: from, to: to == .max ? nil : to) : nil
            }
        }
    }
}
