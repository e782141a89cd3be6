public import ChatDomain

/// Who asks: every query, page, live view and follower says it.
///
/// No query has a default, and an optional user does not become the host: a look-up that finds no
/// user cannot read as the one who sees everything. <doc:WhoIsShownWhat> has the rules.
public enum Viewer: Hashable, Sendable {
    /// The host program, which sees everything.
    case host
    /// A user, who sees what <doc:WhoIsShownWhat> allows.
    case user(UserID)

    /// The user who asks; nil for the host.
    public var user: UserID? { if case .user(let user) = self { user } else { nil } }

    /// Whether this user asks.
    func isUser(_ user: UserID?) -> Bool { user.map { self == .user($0) } ?? false }

    /// Whether the answer may have what only this user and the host see.
    func isHost(or user: UserID) -> Bool { self == .host || isUser(user) }
}

extension Viewer: Codable {
    /// Decodes the id of a user, or `"host"`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = try container.decode(String.self) == "host" ? .host : .user(container.decode(UserID.self))
    }

    /// Encodes the id of a user, or `"host"`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let user { try container.encode(user) } else { try container.encode("host") }
    }
}
