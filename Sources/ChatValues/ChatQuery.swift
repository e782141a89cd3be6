public import ChatDomain

/// A query as a value: what is asked for, but neither who asks nor as of when.
///
/// A store computes the answer (`ChatReader.answer(_:)`), a server has a route for it, and a client
/// sends it: the values of the path and the parameters are the properties by the names of their
/// coding keys. A ``PageRequest`` has the parameters of pages. A property that is no coding key,
/// such as the user who is asked about, is not sent: it stays nil, for the user who asks.
/// ``BlocksQuery`` is an example.
public protocol ChatQuery: Codable, Hashable, Sendable {
    /// The answer.
    associatedtype Answer: Codable & Sendable
    /// A stable name, without spaces.
    static var name: String { get }
    /// The path of the HTTP API, with a coding key in braces for each segment that varies:
    /// `/v1/threads/{thread}/members`.
    static var path: String { get }
    /// The ranges of whole numbers among the parameters, by coding key; by default from 0.
    static var ranges: [String: ClosedRange<Int>] { get }
}

extension ChatQuery {
    /// None.
    public static var ranges: [String: ClosedRange<Int>] { [:] }
}

/// A query whose answer has a page of a list.
public protocol PageQuery: ChatQuery {
    /// The part of the list.
    var page: PageRequest { get set }
}

/// A query about what is a user's own.
///
/// The user is not sent: a client asks as its own user only.
public protocol OwnQuery: ChatQuery {
    /// The user; nil for the viewer.
    var user: UserID? { get set }
}

/// An entry of a list that has pages.
public protocol PageEntry {
    /// The position by which the list is ordered, and that bounds its pages.
    var pageKey: Position { get }
    /// Whether a page has its newest entry first.
    static var isNewestFirst: Bool { get }
}

extension PageEntry {
    /// False.
    public static var isNewestFirst: Bool { false }
}

extension RecordedEvent: PageEntry {
    /// The position of the event.
    public var pageKey: Position { position }
}

/// A list without pages: `{"items":[...]}`.
public struct ItemList<Item: Codable & Sendable>: Codable, Sendable {
    /// The items.
    public var items: [Item]

    /// Creates a list.
    public init(items: [Item]) { self.items = items }
}
