public import ChatDomain
import Primitives

/// What of a thread notifies a user, which only the user and the host are shown.
public struct ThreadNotifications: Hashable, Sendable, Codable {
    /// The level; `all` for a user who set none, and after the end of the one that they set.
    public var level: NotificationLevel
    /// The end, after which the level is `all`; nil if it does not end by itself.
    public var until: Timestamp?

    /// Creates what notifies a user, for example in a test.
    public init(level: NotificationLevel = .all, until: Timestamp? = nil) { (self.level, self.until) = (level, until) }

    private enum CodingKeys: AbsentAsNullKey { case level, until }

    /// Decodes the synthesized form; a level of a later version becomes `all`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        level = try container.decodeKnown(forKey: .level, orElse: NotificationLevel.all) ?? .all
        until = try container.decodeIfPresent(Timestamp.self, forKey: .until)
    }
}

extension ThreadNotifications {
    /// Creates what notifies a user at a time.
    package init(_ limited: LimitedLevel, at time: Timestamp) {
        let held = limited.inEffect(at: time)
        self.init(level: held.level, until: held.until)
    }
}
