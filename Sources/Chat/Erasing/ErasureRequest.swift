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
        _ rules: borrowing RuleState, _ ids: Identities, at now: Timestamp, into batch: inout EventBatch
    ) throws(Rejection) -> [EventContent] {
        switch self {
        case .user(let user, let reason):
            guard case .append = try rules.eraseUser(user, reason: reason, ids, at: now, into: &batch) else {
                return []
            }
            return [.erasure(reason: reason, positions: nil)]
        case .positions(let positions, let reason):
            try rules.checkErasure(of: positions, reason: reason)
            let parts = Self.parts(of: positions)
            for part in parts { rules.eraseContent(of: part, reason: reason, at: now, into: &batch) }
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
