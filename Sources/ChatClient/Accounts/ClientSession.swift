#if Client || canImport(SQLite3)
    public import ChatDomain
    public import ChatValues
    public import Foundation

    /// The secret of a session.
    ///
    /// Descriptions and mirrors of it, and of what contains it, do not show it. Only encoding and
    /// ``rawValue`` do.
    public struct SessionToken: RawRepresentable, Hashable, Sendable, Codable {
        /// The secret text.
        public let rawValue: String

        /// Creates a token from its secret text.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Decodes the secret text.
        public init(from decoder: any Decoder) throws {
            rawValue = try decoder.singleValueContainer().decode(String.self)
        }

        /// Encodes the secret text.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(rawValue)
        }
    }

    extension SessionToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
        /// A text without the secret.
        public var description: String { "(session token)" }
        /// A text without the secret.
        public var debugDescription: String { description }
        /// A mirror without the secret.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// A user's session at a server, as it is kept for the next start of the app.
    public struct ClientSession: Hashable, Sendable, Codable {
        /// The address of the server.
        public var server: URL
        /// The user, with the name as of the sign-in; without it after decoding.
        public var user: UserSummary
        /// The secret of the session.
        public var token: SessionToken

        /// Creates a session, for example in a test.
        public init(server: URL, user: UserSummary, token: SessionToken) {
            (self.server, self.user, self.token) = (server, user, token)
        }

        private enum CodingKeys: CodingKey { case server, user, token }

        /// Encodes the session without the user's name.
        ///
        /// A store keeps it for longer than the name may last: the copy of the user has the present
        /// one.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(server, forKey: .server)
            try container.encode(UserSummary(id: user.id), forKey: .user)
            try container.encode(token, forKey: .token)
        }
    }

    /// The id of a device's session, which is not a secret.
    public struct DeviceSessionID: EntityID {
        /// The UUID's bits.
        public let bits: UInt128
        /// Creates an id from its bits.
        public init(bits: UInt128) { self.bits = bits }
    }

    /// A session in the list of a user's sessions.
    public struct DeviceSession: Hashable, Sendable, Codable, Identifiable {
        /// The id.
        public var id: DeviceSessionID
        /// The time of the sign-in.
        public var createdAt: Timestamp
        /// The time of the last use, up to a minute too early.
        public var lastUsedAt: Timestamp
        /// The label that the client gave at sign-in.
        public var device: String?
        /// Whether the request for the list has used it.
        public var isCurrent: Bool

        private enum CodingKeys: String, CodingKey {
            case id, createdAt, lastUsedAt, device
            case isCurrent = "current"
        }
    }

    // Requests have tokens and passwords, and are printed by failing tests.
    extension ClientRequest: CustomStringConvertible, CustomReflectable {
        package var description: String { "\(method) \(target)" }
        package var customMirror: Mirror { Mirror(self, children: ["method": method, "target": target]) }
    }
#endif
