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

    /// The rules that a command can break.
    public enum Code: String, Hashable, Sendable, Codable, CaseIterable {
        /// The id belongs to something else, or is reserved for the thread of an outward code.
        case identifierTaken
        /// Not 1 to 32 characters, over 128 bytes, or with a control, format, unassigned or invisible character (see ``Username``).
        case invalidUsername
        /// Another user bears the username now, under canonical caseless matching.
        case usernameTaken
        /// The subject belongs to another user, is not 1 to 256 bytes, or is not the one with which the user of this id registered.
        case subjectTaken
        /// There is no such user.
        case unknownUser
        /// Not of the format of a postcode of the United Kingdom.
        case invalidPostcode
        /// Not 1 to 80 characters, with a character that usernames do not have, or an outward code.
        case invalidThreadName
        /// There is no such thread.
        case unknownThread
        /// The user does not live in the outward code whose thread it is.
        case notResident
        /// The user is not a member of the thread now.
        case notAMember
        /// Empty but for white space, or over 16,384 bytes.
        case invalidBody
        /// There is no such message.
        case unknownMessage
        /// There is no such reply.
        case unknownReply
        /// The message or reply was retracted.
        case retracted
        /// Somebody else wrote it.
        case notTheAuthor
        /// The position lies beyond the head of the journal.
        case invalidPosition
        /// There is no such session.
        case unknownSession
        /// The description of the device is over 1,024 bytes.
        case invalidDevice
        /// The correlation id is empty or over 256 bytes.
        case invalidCorrelation
        /// A query's viewer asked for what only somebody else may see.
        case notAllowed
        /// The disk has no room for the command; nothing is lost, and the command may be sent again.
        case storageFull
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
