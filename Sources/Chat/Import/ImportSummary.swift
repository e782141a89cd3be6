public import ChatDomain

/// The result of an import, in numbers.
///
/// Encoded, `joins`, `edits`, `renamed` and `withoutSubject` are left out where there are none.
public struct ImportSummary: Hashable, Sendable {
    /// Messages that were posted.
    public var messages = 0
    /// Replies that were posted.
    public var replies = 0
    /// Lines that the store had already.
    public var duplicates = 0
    /// Lines that were refused.
    public var refused = 0
    /// Users who were registered.
    public var users = 0
    /// Threads that were opened.
    public var threads = 0
    /// Lines of joins that were recorded.
    public var joins = 0
    /// Edits that were recorded.
    public var edits = 0
    /// The users who were registered under another name than the source's, because that one was taken or is none.
    public var renamed: [RenamedUser] = []
    /// The users who were registered without the subject that the source gives, because another user has it.
    public var withoutSubject: [UserWithoutSubject] = []
}

/// A user of an import whose name is another here.
public struct RenamedUser: Hashable, Sendable, Codable {
    /// The user.
    public var user: UserID
    /// The name in the source.
    public var name: String
    /// The username here.
    public var username: String
}

/// A user of an import whose subject another user has.
public struct UserWithoutSubject: Hashable, Sendable, Codable {
    /// The user.
    public var user: UserID
    /// The username here.
    public var username: String
    /// The subject in the source.
    public var subject: String
}

extension ImportSummary: Codable {
    private enum CodingKeys: CodingKey {
        case messages, replies, duplicates, refused, users, threads, joins, edits, renamed, withoutSubject
    }

    /// Reads a summary; the fields that may be left out are empty then.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        messages = try container.decode(Int.self, forKey: .messages)
        replies = try container.decode(Int.self, forKey: .replies)
        duplicates = try container.decode(Int.self, forKey: .duplicates)
        refused = try container.decode(Int.self, forKey: .refused)
        users = try container.decode(Int.self, forKey: .users)
        threads = try container.decode(Int.self, forKey: .threads)
        joins = try container.decodeIfPresent(Int.self, forKey: .joins) ?? 0
        edits = try container.decodeIfPresent(Int.self, forKey: .edits) ?? 0
        renamed = try container.decodeIfPresent([RenamedUser].self, forKey: .renamed) ?? []
        withoutSubject = try container.decodeIfPresent([UserWithoutSubject].self, forKey: .withoutSubject) ?? []
    }

    /// Writes the summary.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(messages, forKey: .messages)
        try container.encode(replies, forKey: .replies)
        try container.encode(duplicates, forKey: .duplicates)
        try container.encode(refused, forKey: .refused)
        try container.encode(users, forKey: .users)
        try container.encode(threads, forKey: .threads)
        if joins > 0 { try container.encode(joins, forKey: .joins) }
        if edits > 0 { try container.encode(edits, forKey: .edits) }
        if !renamed.isEmpty { try container.encode(renamed, forKey: .renamed) }
        if !withoutSubject.isEmpty { try container.encode(withoutSubject, forKey: .withoutSubject) }
    }
}

/// A line of an import that a rule refused.
public struct RefusedMessage: Hashable, Sendable {
    /// Where it stands in the source.
    public var line: Int
    /// The rule.
    public var rejection: Rejection
}
