import ChatDomain
import Columns
import EventJournal

/// An erasure to order.
enum ErasureRequest {
    case user(UserID, reason: String)
    case positions(PositionSet, reason: String)

    /// The user whose content is to be erased; nil for events.
    var user: UserID? { if case .user(let user, _) = self { user } else { nil } }

    /// Decides the order, as one event or several.
    ///
    /// - Returns: The contents of the events that are added to the batch; none if the user is
    ///   erased already.
    func decide(
        _ rules: borrowing RuleState, _ ids: borrowing Identities, at now: Timestamp, into batch: inout EventBatch
    ) throws(Rejection) -> [EventContent] {
        switch self {
        case .user(let user, let reason):
            guard case .append = try rules.eraseUser(user, reason: reason, ids, at: now, into: &batch) else { return [] }
            return [.erasure(reason: reason, positions: nil)]
        case .positions(let positions, let reason):
            // A check of all positions, also of none, before the parts.
            var whole = EventBatch(from: batch.firstPosition)
            _ = try rules.eraseContent(of: positions, reason: reason, at: now, into: &whole)
            let parts = Self.parts(of: positions)
            for part in parts { _ = try rules.eraseContent(of: part, reason: reason, at: now, into: &batch) }
            return parts.map { .erasure(reason: reason, positions: $0) }
        }
    }

    private static func parts(of positions: PositionSet) -> [PositionSet] {
        let count = ChatEvent.maximumErasedRangeCount
        return stride(from: 0, to: positions.ranges.count, by: count).map {
            PositionSet(positions.ranges[$0..<min($0 + count, positions.ranges.count)])
        }
    }
}
