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
    private var isOfReply = false
    private var hasID = false
    private var hasNumber = false
    package var policy = ThreadPolicy.open
    package var history: ThreadHistory?
    package var role = ThreadRole.member
    package var level = NotificationLevel.all
    // Batches of commands are copied, so fields that no kind has together share their place.
    private var actorBits = UUIDBits(0)
    /// The thread or the post.
    private var placeBits = UUIDBits(0)
    /// The user concerned or the id.
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
    /// caller lists them: unchecked.
    package var mentions: [UserID] = []

    /// Creates a command without fields.
    init(_ kind: CommandKind) { self.kind = kind }

    init(
        _ kind: CommandKind, actor: UserID? = nil, user: UserID? = nil, thread: ThreadID? = nil, post: PostID? = nil,
        id: UInt128? = nil,
        text: String = "", label: String? = nil, mentions: [UserID] = [], policy: ThreadPolicy = .open,
        history: ThreadHistory? = nil, role: ThreadRole = .member, until: Timestamp? = nil, upTo: Position? = nil,
        replaces: Position? = nil, from: Position? = nil, level: NotificationLevel = .all
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
        get { PostID(bits: placeBits.number, isReply: isOfReply) }
        set { (placeBits, isOfReply) = (UUIDBits(newValue.bits), newValue.isReply) }
    }

    /// The id of what the command creates, or nil for the store's choice; the session that it ends.
    package var id: UInt128? {
        get { hasID ? otherBits.number : nil }
        set { (otherBits, hasID) = (UUIDBits(newValue ?? 0), newValue != nil) }
    }

    /// The end of a sanction or a level; nil for one without an end.
    package var until: Timestamp? {
        get { hasNumber ? Timestamp(millisecondsSince1970: Int64(bitPattern: number)) : nil }
        set { (number, hasNumber) = (UInt64(bitPattern: newValue?.millisecondsSince1970 ?? 0), newValue != nil) }
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

    /// The position of the text that an edit replaces; nil for whatever it is.
    package var replaces: Position? {
        get { hasNumber ? number : nil }
        set { (number, hasNumber) = (newValue ?? 0, newValue != nil) }
    }
}
