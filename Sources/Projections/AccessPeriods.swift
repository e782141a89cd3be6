package import ChatDomain

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
