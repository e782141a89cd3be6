import ChatDomain

/// The reactions to an imported message with one emoji.
///
/// The JSON form is `{"emoji", "users": [user, ...]}`.
public struct ImportedReaction: Hashable, Sendable {
    /// An emoji of Unicode, or a name such as `:wave:`, also without its colons or in capital
    /// letters.
    public var emoji: String
    /// The users who reacted; a user who occurs twice counts once.
    public var users: [ImportedUser]

    /// Creates the reactions with an emoji.
    public init(emoji: String, users: [ImportedUser]) {
        self.emoji = emoji
        self.users = users
    }
}

extension ImportedReaction: Decodable {
    /// Decodes the reactions with an emoji; unknown and missing fields are errors.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(expecting: [.emoji, .users])
        self.init(
            emoji: try container.decode(String.self, forKey: .emoji),
            users: try container.decode([ImportedUser].self, forKey: .users))
    }
}

extension FieldKey {
    fileprivate static let emoji = FieldKey("emoji")
    fileprivate static let users = FieldKey("users")
}

extension Emoji {
    /// Creates the emoji of another chat; nil if the text is neither an emoji nor a name of one.
    init?(imported text: String) {
        guard text.utf8.count <= Self.maximumInputByteCount else { return nil }
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        let lowercase = String(decoding: text.utf8.map { capitals.contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
        guard let emoji = Emoji(lowercase) ?? Emoji(":\(lowercase):") else { return nil }
        self = emoji
    }
}

extension ImportBatch {
    /// The reactions of a line, as far as the line alone decides which are taken.
    struct LineReactions {
        /// The reactions, each user's with an emoji once.
        private(set) var taken: [(emoji: Emoji, person: Person, user: UserID)] = []
        /// Whether a reaction is not among them.
        private(set) var areIncomplete = false

        /// Takes what a post without reactions can take.
        ///
        /// - Complexity: O(*n*) in the users; no more than ``ImportedMessage/maximumReactionCount``
        ///   are read.
        init(_ reactions: [ImportedReaction]) {
            var unread = ImportedMessage.maximumReactionCount
            var users: [Emoji: Set<UserID>] = [:]
            var counts: [UserID: Int] = [:]
            for reaction in reactions where !reaction.users.isEmpty {
                guard let emoji = Emoji(imported: reaction.emoji),
                    users[emoji] != nil || users.count < ReactionIndex.maximumTallyCount
                else {
                    areIncomplete = true
                    continue
                }
                if reaction.users.count > unread { areIncomplete = true }
                for imported in reaction.users.prefix(unread) {
                    unread -= 1
                    let person = Person(imported)
                    guard let user = person.user, person.canBeRegistered else {
                        areIncomplete = true
                        continue
                    }
                    if users[emoji]?.contains(user) == true { continue }
                    guard counts[user, default: 0] < RuleState.maximumReactionCount else {
                        areIncomplete = true
                        continue
                    }
                    counts[user, default: 0] += 1
                    users[emoji, default: []].insert(user)
                    taken.append((emoji, person, user))
                }
            }
        }
    }
}
