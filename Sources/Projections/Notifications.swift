package import ChatDomain
import Columns

extension ReadModels {
    /// Returns what of a thread notified a user as of a position, as judged at a time.
    ///
    /// To judge an event, pass its position and its recording time. After the end of a level, the level
    /// is `all` without an end.
    ///
    /// - Parameter membership: A membership of the identities; the level of a user who has left counts.
    /// - Complexity: O(log *n*) in the number of the levels that the user set in the thread.
    package func notifications(ofMembership membership: Int, asOf position: Position, at time: Timestamp) -> LimitedLevel {
        LimitedLevel(rawValue: views.rare.notifications.value(of: membership, asOf: position)).inEffect(at: time)
    }

    /// Returns the level that a user had set in a thread as of a position, whose end may have passed.
    package func notifications(of user: UserID, in thread: ThreadID, asOf position: Position) -> LimitedLevel {
        let membership = membershipIndex(user, thread)
        return LimitedLevel(rawValue: membership.map { views.rare.notifications.value(of: $0, asOf: position) } ?? 0)
    }
}
