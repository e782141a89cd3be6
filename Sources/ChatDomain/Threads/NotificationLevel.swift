/// What of a thread notifies a member.
public enum NotificationLevel: String, CaseIterable, Hashable, Sendable, Codable {
    /// Everything; the level of a user who set none.
    case all
    /// Mentions of the user.
    case mentions
    /// Nothing.
    case none
}

extension NotificationLevel {
    /// The level's number in the encoding of an event.
    package var code: UInt64 {
        switch self {
        case .all: 0
        case .mentions: 1
        case .none: 2
        }
    }

    package init?(code: UInt64) {
        guard let level = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = level
    }
}
