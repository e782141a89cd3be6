import Primitives

/// A request to change the chat.
///
/// The store makes an id for every id that is nil. A command with the caller's own id is
/// idempotent: sent again, it takes effect once.
public struct ChatCommand: Hashable, Sendable {
    /// The kind; ``CommandForm`` says which fields it has.
    ///
    /// The others keep their defaults; an id is then 0.
    package let kind: CommandKind
    private var marks: Marks = []
    /// How many of ``mentions``, the last ones, the store has found in the text.
    private var foundCount: UInt8 = 0
    package var policy = ThreadPolicy.open
    package var history: ThreadHistory?
    package var role = ThreadRole.member
    package var level = NotificationLevel.all
    // Batches of commands are copied, so fields that no kind has together share their place.
    private var actorBits = UUIDBits(0)
    /// The thread or the post.
    private var placeBits = UUIDBits(0)
    /// The user concerned, the id, or the position that the caller knew.
    private var otherBits = UUIDBits(0)
    /// The end of a sanction or a level, or the position of a read marker, of the first unread
    /// event or of the text that an edit replaces.
    private var number: UInt64 = 0
    /// The name, the postcode, the body, the device, the reason, the emoji, the text about the user
    /// or the payload.
    package var text = ""
    /// The subject, or the kind of a custom event.
    package var label: String?
    /// The users whom a post or an edit mentions, or the other people of a direct thread, as the
    /// caller lists them, unchecked, and then those that the store has found in the text.
    package var mentions: [UserID] = []

    /// Creates a command without fields.
    init(_ kind: CommandKind) { self.kind = kind }

    init(
        _ kind: CommandKind, actor: UserID? = nil, user: UserID? = nil, thread: ThreadID? = nil, post: PostID? = nil,
        id: UInt128? = nil,
        text: String = "", label: String? = nil, mentions: [UserID] = [], policy: ThreadPolicy = .open,
        history: ThreadHistory? = nil, role: ThreadRole = .member, until: Timestamp? = nil, upTo: Position? = nil,
        replaces: Position? = nil, from: Position? = nil, level: NotificationLevel = .all, findsMentions: Bool = false,
        seen: Position? = nil
    ) {
        (self.kind, self.text, self.label, self.mentions) = (kind, text, label, mentions)
        (self.policy, self.history, self.role, self.level) = (policy, history, role, level)
        if let actor { actorID = actor }
        if let user { userID = user }
        if let thread { threadID = thread }
        if let post { postID = post }
        if let id { self.id = id }
        if let until { self.until = until }
        if let upTo { self.upTo = upTo }
        if let replaces { self.replaces = replaces }
        if let from { self.from = from }
        if findsMentions { self.findsMentions = true }
        if let seen { self.seen = seen }
    }

    /// What else is known of a command, in one byte.
    private struct Marks: OptionSet, Hashable {
        let rawValue: UInt8

        static let isOfReply = Marks(rawValue: 1 << 0)
        static let hasID = Marks(rawValue: 1 << 1)
        static let hasNumber = Marks(rawValue: 1 << 2)
        static let findsMentions = Marks(rawValue: 1 << 3)
        static let hasSeen = Marks(rawValue: 1 << 4)
    }

    private func has(_ mark: Marks) -> Bool { marks.contains(mark) }

    private mutating func set(_ mark: Marks, _ isSet: Bool) {
        if isSet { marks.insert(mark) } else { marks.remove(mark) }
    }
}

/// The users whom the text names.
extension ChatCommand {
    /// Whether the store mentions the members whom the text names, beside those listed.
    package var findsMentions: Bool {
        get { has(.findsMentions) }
        set { set(.findsMentions, newValue) }
    }

    /// The maximum number of users found: more than a text mentions, because some are listed too or
    /// are no members at the decision.
    package static var maximumFoundCount: Int { 2 * MessageBody.maximumMentionCount }

    /// The users whom the caller lists.
    package var listedMentions: ArraySlice<UserID> { mentions.dropLast(Int(foundCount)) }

    /// The users whom the store has found in the text, at most ``maximumFoundCount``.
    package var foundMentions: ArraySlice<UserID> {
        get { mentions.suffix(Int(foundCount)) }
        set {
            let found = newValue.prefix(Self.maximumFoundCount)
            mentions = Array(listedMentions + found)
            foundCount = UInt8(found.count)
        }
    }
}

/// The fields that share their place with another one.
extension ChatCommand {
    /// The user who acts.
    package var actorID: UserID {
        get { UserID(bits: actorBits.number) }
        set { actorBits = UUIDBits(newValue.bits) }
    }

    /// The user concerned, who can be the acting user.
    package var userID: UserID {
        get { UserID(bits: otherBits.number) }
        set { otherBits = UUIDBits(newValue.bits) }
    }

    package var threadID: ThreadID {
        get { ThreadID(bits: placeBits.number) }
        set { placeBits = UUIDBits(newValue.bits) }
    }

    /// The post concerned; for a reply the message that it answers.
    package var postID: PostID {
        get { PostID(bits: placeBits.number, isReply: has(.isOfReply)) }
        set {
            placeBits = UUIDBits(newValue.bits)
            set(.isOfReply, newValue.isReply)
        }
    }

    /// The id of what the command creates, or nil for the store's choice; the session that it ends.
    package var id: UInt128? {
        get { has(.hasID) ? otherBits.number : nil }
        set {
            otherBits = UUIDBits(newValue ?? 0)
            set(.hasID, newValue != nil)
        }
    }

    /// The end of a sanction or a level; nil for one without an end.
    package var until: Timestamp? {
        get { has(.hasNumber) ? Timestamp(millisecondsSince1970: Int64(bitPattern: number)) : nil }
        set {
            number = UInt64(bitPattern: newValue?.millisecondsSince1970 ?? 0)
            set(.hasNumber, newValue != nil)
        }
    }

    /// The payload of a custom event; nil for other commands.
    package var payload: CustomPayload? {
        get { kind == .custom ? CustomPayload(unchecked: text) : nil }
        set { text = newValue?.text ?? "" }
    }

    /// The position of a read marker.
    package var upTo: Position {
        get { number }
        set { number = newValue }
    }

    /// The first position that is unread again.
    package var from: Position {
        get { number }
        set { number = newValue }
    }

    /// The position that the caller knew when its user acted; nil for a command that is decided
    /// whatever has happened since.
    package var seen: Position? {
        get { has(.hasSeen) ? Position(truncatingIfNeeded: otherBits.number) : nil }
        set {
            otherBits = UUIDBits(UInt128(newValue ?? 0))
            set(.hasSeen, newValue != nil)
        }
    }

    /// The position of the text that an edit replaces; nil for whatever it is.
    package var replaces: Position? {
        get { has(.hasNumber) ? number : nil }
        set {
            number = newValue ?? 0
            set(.hasNumber, newValue != nil)
        }
    }
}
