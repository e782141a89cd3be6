/// The event kinds of this version; the raw value is the kind's byte in the encoding.
public enum EventKind: UInt8, CaseIterable, Sendable, Hashable {
    /// A user registered.
    case userRegistered = 1
    /// A user changed their username.
    case usernameChanged = 2
    /// A user set their postcode.
    case postcodeSet = 3
    /// A user opened a thread.
    case threadOpened = 4
    /// A user became a member of a thread.
    case threadJoined = 5
    /// A member left a thread.
    case threadLeft = 6
    /// A member posted a message.
    case messagePosted = 7
    /// A member replied to a message.
    case replyPosted = 8
    /// The author replaced a message's body.
    case messageEdited = 9
    /// The author replaced a reply's body.
    case replyEdited = 10
    /// The author retracted a message.
    case messageRetracted = 11
    /// The author retracted a reply.
    case replyRetracted = 12
    /// A member set their read marker.
    case threadRead = 13
    /// A user started a session.
    case sessionStarted = 14
    /// A session ended.
    case sessionEnded = 15
    /// Replaces a record that a repair could not salvage.
    case lost = 16

    /// The kind's name in JSON and on the command line, such as `messagePosted`.
    public var name: String { Self.names[Int(rawValue) - 1] }

    /// The names by raw value - 1, computed once because printing events needs them often.
    private static let names = allCases.map { "\($0)" }

    /// Creates the kind with a name, or nil if no kind has it.
    public init?(name: String) {
        guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = kind
    }
}

extension EventDetails {
    /// The kind, or nil if this version does not know it.
    public var kind: EventKind? {
        switch self {
        case .userRegistered: .userRegistered
        case .usernameChanged: .usernameChanged
        case .postcodeSet: .postcodeSet
        case .threadOpened: .threadOpened
        case .threadJoined: .threadJoined
        case .threadLeft: .threadLeft
        case .messagePosted: .messagePosted
        case .replyPosted: .replyPosted
        case .messageEdited: .messageEdited
        case .replyEdited: .replyEdited
        case .messageRetracted: .messageRetracted
        case .replyRetracted: .replyRetracted
        case .threadRead: .threadRead
        case .sessionStarted: .sessionStarted
        case .sessionEnded: .sessionEnded
        case .lost: .lost
        case .unknown: nil
        }
    }

    /// The event's thread, or nil if the kind has none.
    ///
    /// A read marker names the thread that was read, although it does not belong to it.
    public var thread: ThreadID? {
        switch self {
        case .threadOpened(let details): details.thread
        case .threadJoined(let details): details.thread
        case .threadLeft(let details): details.thread
        case .messagePosted(let details): details.thread
        case .replyPosted(let details): details.thread
        case .messageEdited(let details), .messageRetracted(let details): details.thread
        case .replyEdited(let details), .replyRetracted(let details): details.thread
        case .threadRead(let details): details.thread
        case .userRegistered, .usernameChanged, .postcodeSet, .sessionStarted, .sessionEnded, .lost, .unknown: nil
        }
    }

    /// The user who acted or is concerned, or nil for an unknown kind or a lost event.
    public var user: UserID? {
        switch self {
        case .userRegistered(let details): details.user
        case .usernameChanged(let details): details.user
        case .postcodeSet(let details): details.user
        case .threadOpened(let details): details.by
        case .threadJoined(let details): details.user
        case .threadLeft(let details): details.user
        case .messagePosted(let details): details.author
        case .replyPosted(let details): details.author
        case .messageEdited(let details), .messageRetracted(let details): details.by
        case .replyEdited(let details), .replyRetracted(let details): details.by
        case .threadRead(let details): details.user
        case .sessionStarted(let details): details.user
        case .sessionEnded(let details): details.user
        case .lost, .unknown: nil
        }
    }

    /// The event's number within its thread, or nil if it does not belong to a thread.
    ///
    /// Read markers do not belong to their thread.
    public var threadNumber: UInt64? {
        switch self {
        case .threadOpened(let details): details.number
        case .threadJoined(let details): details.number
        case .threadLeft(let details): details.number
        case .messagePosted(let details): details.number
        case .replyPosted(let details): details.number
        case .messageEdited(let details), .messageRetracted(let details): details.number
        case .replyEdited(let details), .replyRetracted(let details): details.number
        case .userRegistered, .usernameChanged, .postcodeSet, .threadRead, .sessionStarted, .sessionEnded, .lost, .unknown: nil
        }
    }
}
