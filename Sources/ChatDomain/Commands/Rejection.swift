/// The error of a command or a query that a rule, a full disk or a wrong clock does not permit.
///
/// Nothing was appended and nothing changed.
public struct Rejection: Error, Hashable, Sendable, Codable {
    /// The rule, as a code that is stable across versions.
    public let code: Code
    /// A description for people; it may change between versions.
    public let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// A stable name of a rule; later versions may add more.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable, CaseIterable, CustomStringConvertible {
        /// The stable text, for logs and for comparisons across versions.
        public let rawValue: String

        /// Creates the code with a text.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The stable text.
        public var description: String { rawValue }

        /// The id identifies something else, or is reserved for the thread of an outward code.
        public static let identifierTaken = Code(rawValue: "identifierTaken")
        /// The username is not valid.
        ///
        /// A valid one is 1 to 64 Unicode scalars and at most 256 bytes, of which one is visible,
        /// without control, format, unassigned or blank scalars (see ``Username``).
        public static let invalidUsername = Code(rawValue: "invalidUsername")
        /// Another user has this username now, by canonical caseless matching without ignorable
        /// scalars.
        public static let usernameTaken = Code(rawValue: "usernameTaken")
        /// The subject is not valid or does not belong to this user.
        ///
        /// A subject is 1 to 256 bytes and belongs to one user. A repeated registration must have
        /// the same subject. There is no code of its own for a subject of another length, because
        /// codes are stable and this one came first.
        public static let subjectTaken = Code(rawValue: "subjectTaken")
        /// The user does not exist.
        public static let unknownUser = Code(rawValue: "unknownUser")
        /// The text does not have the format of a United Kingdom postcode.
        public static let invalidPostcode = Code(rawValue: "invalidPostcode")
        /// The thread name is not valid.
        ///
        /// A valid one is 1 to 120 Unicode scalars and at most 480 bytes, with the same exclusions
        /// as a username, and is not an outward code.
        public static let invalidThreadName = Code(rawValue: "invalidThreadName")
        /// The thread does not exist.
        public static let unknownThread = Code(rawValue: "unknownThread")
        /// The user does not live in the thread's outward code.
        public static let notResident = Code(rawValue: "notResident")
        /// The user is not a member of the thread, or a user whom the text mentions is not.
        public static let notAMember = Code(rawValue: "notAMember")
        /// The body is empty, only white space, or over 16,384 bytes.
        public static let invalidBody = Code(rawValue: "invalidBody")
        /// The text mentions more than 50 users.
        public static let tooManyMentions = Code(rawValue: "tooManyMentions")
        /// The message does not exist.
        public static let unknownMessage = Code(rawValue: "unknownMessage")
        /// The reply does not exist.
        public static let unknownReply = Code(rawValue: "unknownReply")
        /// The message or reply is retracted, or a moderator has removed it.
        public static let retracted = Code(rawValue: "retracted")
        /// The text is another one than the edit replaces.
        public static let edited = Code(rawValue: "edited")
        /// Another user is the author.
        public static let notTheAuthor = Code(rawValue: "notTheAuthor")
        /// The position lies beyond the head of the journal.
        public static let invalidPosition = Code(rawValue: "invalidPosition")
        /// The session does not exist.
        public static let unknownSession = Code(rawValue: "unknownSession")
        /// The device description is over 1,024 bytes.
        public static let invalidDevice = Code(rawValue: "invalidDevice")
        /// The correlation id is empty or over 256 bytes.
        public static let invalidCorrelation = Code(rawValue: "invalidCorrelation")
        /// The thread cannot have this policy or this history.
        ///
        /// The threads of outward codes, and no others, have the policy `residents`, always. An
        /// imported thread is opened with the history `all`. The history of a thread never becomes
        /// wider.
        public static let invalidPolicy = Code(rawValue: "invalidPolicy")
        /// The user has no invitation to the thread.
        public static let notInvited = Code(rawValue: "notInvited")
        /// The user is banned from the thread.
        public static let banned = Code(rawValue: "banned")
        /// The user is muted in the thread.
        public static let muted = Code(rawValue: "muted")
        /// The user does not moderate the thread.
        public static let notAModerator = Code(rawValue: "notAModerator")
        /// Only an owner of the thread can do this, or an operator where the rules allow it.
        public static let notAnOwner = Code(rawValue: "notAnOwner")
        /// The last owner of the thread must hand it over or close it first.
        public static let lastOwner = Code(rawValue: "lastOwner")
        /// The thread is locked.
        public static let threadLocked = Code(rawValue: "threadLocked")
        /// The thread is closed.
        public static let threadClosed = Code(rawValue: "threadClosed")
        /// The reason is empty, only white space, or over 512 bytes.
        public static let invalidReason = Code(rawValue: "invalidReason")
        /// The end of the sanction is not later than the present.
        public static let invalidUntil = Code(rawValue: "invalidUntil")
        /// The thread has 50 pinned messages.
        public static let tooManyPins = Code(rawValue: "tooManyPins")
        /// The user has blocked 1,000 users.
        public static let tooManyBlocks = Code(rawValue: "tooManyBlocks")
        /// The text is neither an emoji of Unicode nor a name such as `:wave:` (``Emoji``).
        public static let invalidEmoji = Code(rawValue: "invalidEmoji")
        /// The user has 20 reactions on the post, or the post 50 different ones.
        public static let tooManyReactions = Code(rawValue: "tooManyReactions")
        /// The kind of the custom event is not a reverse-DNS name of at most 128 bytes.
        public static let invalidKind = Code(rawValue: "invalidKind")
        /// One of the people cannot be reached by the user.
        ///
        /// One code for a user who does not exist, whose content was erased, who shares no thread
        /// with the user, or of whom one has blocked the other. A post in a direct thread of two
        /// people is rejected as this while one of them has blocked the other.
        public static let cannotMessage = Code(rawValue: "cannotMessage")
        /// A direct thread is of 2 to 8 people.
        public static let invalidPeople = Code(rawValue: "invalidPeople")
        /// The content of the user was erased, and they can execute no command any more.
        public static let userErased = Code(rawValue: "userErased")
        /// The payload of the custom event is over 16,384 bytes.
        public static let invalidPayload = Code(rawValue: "invalidPayload")
        /// The text about the user is over 500 Unicode scalars, or has a control character that is
        /// no line break.
        public static let invalidAbout = Code(rawValue: "invalidAbout")
        /// The viewer may not see the result of the query.
        public static let notAllowed = Code(rawValue: "notAllowed")
        /// The disk is full: nothing is lost, and the command can be sent again.
        public static let storageFull = Code(rawValue: "storageFull")
        /// The clock of the store cannot be believed: it was stepped by more than a day, or is more
        /// than a day before the last event or 400 days after it.
        public static let clockStepped = Code(rawValue: "clockStepped")

        /// The codes of this version, in the order of the documentation.
        public static let allCases: [Code] = [
            .identifierTaken, .invalidUsername, .usernameTaken, .subjectTaken, .unknownUser, .invalidPostcode,
            .invalidThreadName, .unknownThread, .notResident, .notAMember, .invalidBody, .tooManyMentions,
            .unknownMessage,
            .unknownReply, .retracted, .edited, .notTheAuthor, .invalidPosition, .unknownSession, .invalidDevice,
            .invalidPolicy, .notInvited, .banned, .muted, .notAModerator, .notAnOwner, .lastOwner, .threadLocked,
            .threadClosed,
            .invalidReason, .invalidUntil, .tooManyPins, .tooManyBlocks, .invalidEmoji, .tooManyReactions, .invalidKind,
            .invalidPayload,
            .userErased, .invalidAbout, .cannotMessage, .invalidPeople,
            .invalidCorrelation, .notAllowed, .storageFull, .clockStepped,
        ]
    }
}

extension Rejection: CustomStringConvertible {
    /// The code and the message.
    public var description: String { "\(code.rawValue): \(message)" }
}

extension Rejection {
    package static let storageFull = Rejection(.storageFull, "The disk is full; nothing was appended.")
    package static let identifierTaken = Rejection(.identifierTaken, "This id belongs to something else already.")
    package static let invalidUsername = Rejection(
        .invalidUsername,
        "A username is 1 to 64 characters, at most 256 bytes, of which one is visible, without control, format or blank characters."
    )
    static let usernameTaken = Rejection(.usernameTaken, "Another user has this username.")
    static let subjectTaken = Rejection(.subjectTaken, "Another user has this subject.")
    static let subjectMismatch = Rejection(.subjectTaken, "This user is registered with another subject, or with none.")
    package static let invalidSubject = Rejection(.subjectTaken, "A subject is 1 to 256 bytes.")
    package static let notAllowed = Rejection(.notAllowed, "Only the user can see this view.")
    package static let hostOnly = Rejection(.notAllowed, "Only the host can run this query; a viewer cannot.")
    package static let notAnOperator = Rejection(.notAllowed, "Only operators of the community can run this query.")
    package static let unknownUser = Rejection(.unknownUser, "There is no such user.")
    static let invalidPostcode = Rejection(
        .invalidPostcode, "This is not a postcode of the United Kingdom's format, such as SW1A 1AA.")
    static let forcesNumber = Rejection(
        .invalidPostcode, "A BFPO number is not a postcode. Use its postcode, which begins with BF1.")
    package static let invalidThreadName = Rejection(
        .invalidThreadName,
        "A thread's name is 1 to 120 characters, without control, format or blank characters, and is not an outward code."
    )
    package static let unknownThread = Rejection(.unknownThread, "There is no such thread.")
    static let notResident = Rejection(.notResident, "Only current residents of this outward code can join its thread.")
    package static let notAMember = Rejection(.notAMember, "The user is not a member of this thread.")
    package static let invalidBody = Rejection(.invalidBody, "A body is 1 to 16,384 bytes and not only white space.")
    static let tooManyMentions = Rejection(.tooManyMentions, "A text mentions at most 50 users.")
    static let mentionsNonMember = Rejection(
        .notAMember, "A user whom the text mentions is not a member of this thread.")
    package static let unknownMessage = Rejection(.unknownMessage, "There is no such message.")
    package static let unknownReply = Rejection(.unknownReply, "There is no such reply.")
    package static let retracted = Rejection(.retracted, "It has been retracted or removed.")
    static let edited = Rejection(.edited, "The text has been edited since; the edit replaces another one.")
    static let notTheAuthor = Rejection(.notTheAuthor, "Only the author can do this.")
    package static let invalidPosition = Rejection(
        .invalidPosition, "The position lies beyond the head of the journal.")
    package static let unknownSession = Rejection(.unknownSession, "There is no such session.")
    static let invalidDevice = Rejection(.invalidDevice, "The description of a device is at most 1,024 bytes.")
    static let invalidCorrelation = Rejection(.invalidCorrelation, "A correlation id is 1 to 256 bytes.")
    package static let invalidPolicy = Rejection(
        .invalidPolicy,
        "The thread cannot have this policy or this history; the history never becomes wider than it is.")
    static let notInvited = Rejection(.notInvited, "This thread takes only users with an invitation.")
    static let banned = Rejection(.banned, "The user is banned from this thread.")
    static let muted = Rejection(.muted, "The user is muted in this thread.")
    package static let notAModerator = Rejection(
        .notAModerator, "Only moderators of this thread and operators can do this.")
    static let notAnOwner = Rejection(
        .notAnOwner, "Only an owner of this thread can do this, or an operator where the rules allow it.")
    static let lastOwner = Rejection(
        .lastOwner,
        "This is the last owner of the thread. Give another member the role of an owner first, or close the thread.")
    static let threadLocked = Rejection(.threadLocked, "This thread is locked.")
    static let threadClosed = Rejection(.threadClosed, "This thread is closed for good.")
    static let invalidReason = Rejection(.invalidReason, "A reason is 1 to 512 bytes and not only white space.")
    static let invalidUntil = Rejection(.invalidUntil, "A sanction must end later than now.")
    static let tooManyPins = Rejection(.tooManyPins, "A thread has at most 50 pinned messages.")
    static let tooManyBlocks = Rejection(.tooManyBlocks, "A user blocks at most 1,000 users.")
    static let invalidEmoji = Rejection(
        .invalidEmoji,
        "A reaction is one emoji of Unicode \(Emoji.unicodeVersion), or a name of 1 to 32 of a-z, 0-9, _, + and -, such as :wave:."
    )
    static let tooManyReactions = Rejection(
        .tooManyReactions, "A user has at most 20 reactions on a post, and a post at most 50 different ones.")
    static let invalidKind = Rejection(
        .invalidKind, "The kind of a custom event is a reverse-DNS name of at most 128 bytes, such as com.example.poll."
    )
    static let userErased = Rejection(
        .userErased, "The content of this user was erased, and they can execute no command any more.")
    static let cannotMessage = Rejection(.cannotMessage, "At least one of these people cannot be reached by this user.")
    static let invalidPeople = Rejection(.invalidPeople, "A direct thread is of the user and 1 to 7 other people.")
    static let invalidErasureReason = Rejection(
        .invalidReason, "The reason of an erasure is 1 to 32 lower-case letters, digits and hyphens.")
    static let invalidPayload = Rejection(.invalidPayload, "The payload of a custom event is at most 16,384 bytes.")
    static let invalidAbout = Rejection(
        .invalidAbout,
        "The text about a user is at most 500 characters, without control characters other than line breaks.")
}
