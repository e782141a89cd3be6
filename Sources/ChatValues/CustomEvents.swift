public import ChatDomain
import Primitives

/// A custom event of a thread, which a program defines.
public struct CustomEvent: Hashable, Sendable, Codable {
    /// The position of the event; the key of pagination.
    public var position: Position
    /// The id.
    public var id: CustomEventID
    /// The kind.
    public var kind: CustomKind
    /// The payload; `payload.decode()` returns a value of a type of the program.
    public var payload: CustomPayload
    /// The user who recorded it.
    public var by: UserID
    /// The display time of creation.
    public var createdAt: Timestamp
    /// Whether the viewer has blocked the user who recorded it.
    public var isFromBlockedUser = false

    /// Creates an event, for example in a test.
    public init(
        position: Position, id: CustomEventID, kind: CustomKind, payload: CustomPayload, by: UserID,
        createdAt: Timestamp, isFromBlockedUser: Bool = false
    ) {
        (self.position, self.id, self.kind, self.payload) = (position, id, kind, payload)
        (self.by, self.createdAt, self.isFromBlockedUser) = (by, createdAt, isFromBlockedUser)
    }

    /// Creates the value of a recorded event; nil for another kind, and without its payload, which is
    /// erased.
    public init?(_ recorded: RecordedEvent) {
        guard recorded.kind == .custom, let id = recorded.customEvent, let kind = recorded.customKind,
            let payload = recorded.payload, let user = recorded.user
        else { return nil }
        self.init(
            position: recorded.position, id: id, kind: kind, payload: payload, by: user,
            createdAt: recorded.createdAt, isFromBlockedUser: recorded.isFromBlockedUser)
    }

    private enum CodingKeys: String, AbsentAsNullKey {
        case position, id, kind, payload, by, createdAt
        case isFromBlockedUser = "blocked"
        static let omittedIfFalse = [isFromBlockedUser]
    }
}

extension CustomEvent: PageEntry {
    /// The position that bounds its pages: ``position``.
    public var pageKey: Position { position }
}

/// The custom events of a thread, oldest first, without those whose payload is erased.
public struct CustomEventsQuery: PageQuery {
    /// The answer.
    public typealias Answer = Page<CustomEvent>
    /// The name and the path.
    public static let name = "customEvents", path = "/v1/threads/{thread}/custom-events"

    /// The thread.
    public var thread: ThreadID
    /// The only kind that is listed; nil for all.
    public var kind: CustomKind?
    /// The part of the list.
    public var page: PageRequest

    /// Creates the query.
    public init(thread: ThreadID, kind: CustomKind? = nil, page: PageRequest = .latest()) {
        (self.thread, self.kind, self.page) = (thread, kind, page)
    }
}
