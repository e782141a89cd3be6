/// A refusal: the command broke a rule, nothing was appended and nothing changed.
public struct Rejection: Error, Hashable, Sendable, Codable {
    /// The rule that was broken, stable across versions.
    public let code: Code
    /// A sentence for people, which may change.
    public let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// A stable name for a rule that a command can break; later versions may add more.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable, CaseIterable, CustomStringConvertible {
        /// The stable text, fit for logs and for comparing across versions.
        public let rawValue: String

        /// Makes the code with this text.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The stable text.
        public var description: String { rawValue }

        /// The id belongs to something else, or is reserved for the thread of an outward code.
        public static let identifierTaken = Code(rawValue: "identifierTaken")
        /// Not 1 to 32 characters, over 128 bytes, or with a control, format, unassigned or invisible character (see ``Username``).
        public static let invalidUsername = Code(rawValue: "invalidUsername")
        /// Another user bears the username now, under canonical caseless matching.
        public static let usernameTaken = Code(rawValue: "usernameTaken")
        /// The subject belongs to another user, is not 1 to 256 bytes, or is not the one with which the user of this id registered.
        public static let subjectTaken = Code(rawValue: "subjectTaken")
        /// There is no such user.
        public static let unknownUser = Code(rawValue: "unknownUser")
        /// Not of the format of a postcode of the United Kingdom.
        public static let invalidPostcode = Code(rawValue: "invalidPostcode")
        /// Not 1 to 80 characters, with a character that usernames do not have, or an outward code.
        public static let invalidThreadName = Code(rawValue: "invalidThreadName")
        /// There is no such thread.
        public static let unknownThread = Code(rawValue: "unknownThread")
        /// The user does not live in the outward code whose thread it is.
        public static let notResident = Code(rawValue: "notResident")
        /// The user is not a member of the thread now.
        public static let notAMember = Code(rawValue: "notAMember")
        /// Empty but for white space, or over 16,384 bytes.
        public static let invalidBody = Code(rawValue: "invalidBody")
        /// There is no such message.
        public static let unknownMessage = Code(rawValue: "unknownMessage")
        /// There is no such reply.
        public static let unknownReply = Code(rawValue: "unknownReply")
        /// The message or reply was retracted.
        public static let retracted = Code(rawValue: "retracted")
        /// Somebody else wrote it.
        public static let notTheAuthor = Code(rawValue: "notTheAuthor")
        /// The position lies beyond the head of the journal.
        public static let invalidPosition = Code(rawValue: "invalidPosition")
        /// There is no such session.
        public static let unknownSession = Code(rawValue: "unknownSession")
        /// The description of the device is over 1,024 bytes.
        public static let invalidDevice = Code(rawValue: "invalidDevice")
        /// The correlation id is empty or over 256 bytes.
        public static let invalidCorrelation = Code(rawValue: "invalidCorrelation")
        /// A query's viewer asked for what only somebody else may see.
        public static let notAllowed = Code(rawValue: "notAllowed")
        /// The disk has no room for the command; nothing is lost, and the command may be sent again.
        public static let storageFull = Code(rawValue: "storageFull")

        /// The codes of this version, in the order of the documentation.
        public static let allCases: [Code] = [
            .identifierTaken, .invalidUsername, .usernameTaken, .subjectTaken, .unknownUser, .invalidPostcode,
            .invalidThreadName, .unknownThread, .notResident, .notAMember, .invalidBody, .unknownMessage,
            .unknownReply, .retracted, .notTheAuthor, .invalidPosition, .unknownSession, .invalidDevice,
            .invalidCorrelation, .notAllowed, .storageFull,
        ]
    }
}

extension Rejection: CustomStringConvertible {
    /// The code and the sentence.
    public var description: String { "\(code.rawValue): \(message)" }
}

extension Rejection {
    package static let storageFull = Rejection(.storageFull, "The disk is full; nothing was appended.")
    package static let identifierTaken = Rejection(.identifierTaken, "This id belongs to something else already.")
    package static let invalidUsername = Rejection(
        .invalidUsername,
        "A username is 1 to 32 characters, at most 128 bytes, without control, format, unassigned or invisible characters.")
    static let usernameTaken = Rejection(.usernameTaken, "Another user has this username.")
    static let subjectTaken = Rejection(.subjectTaken, "Another user has this subject.")
    static let otherSubject = Rejection(.subjectTaken, "This user is registered with another subject, or with none.")
    package static let invalidSubject = Rejection(.subjectTaken, "A subject is 1 to 256 bytes; this one cannot be taken.")
    package static let notAllowed = Rejection(.notAllowed, "A user's view is shown to that user alone.")
    package static let forOperators = Rejection(.notAllowed, "Only the operator can ask this; a viewer cannot.")
    package static let unknownUser = Rejection(.unknownUser, "There is no such user.")
    static let invalidPostcode = Rejection(.invalidPostcode, "This is not a postcode of the United Kingdom's format, such as SW1A 1AA.")
    package static let invalidThreadName = Rejection(
        .invalidThreadName,
        "A thread's name is 1 to 80 characters, without control, format, unassigned or invisible characters, and is not an outward code.")
    package static let unknownThread = Rejection(.unknownThread, "There is no such thread.")
    static let notResident = Rejection(.notResident, "Only who lives in this outward code now can join its thread.")
    package static let notAMember = Rejection(.notAMember, "The user is not a member of this thread.")
    package static let invalidBody = Rejection(.invalidBody, "A body is 1 to 16,384 bytes and not only white space.")
    package static let unknownMessage = Rejection(.unknownMessage, "There is no such message.")
    package static let unknownReply = Rejection(.unknownReply, "There is no such reply.")
    package static let retracted = Rejection(.retracted, "It has been retracted.")
    static let notTheAuthor = Rejection(.notTheAuthor, "Only the author can do this.")
    package static let invalidPosition = Rejection(.invalidPosition, "The position lies beyond the head of the journal.")
    static let unknownSession = Rejection(.unknownSession, "There is no such session.")
    static let invalidDevice = Rejection(.invalidDevice, "The description of a device is at most 1,024 bytes.")
    static let invalidCorrelation = Rejection(.invalidCorrelation, "A correlation id is 1 to 256 bytes.")
}
