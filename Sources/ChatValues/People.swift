public import ChatDomain
import Primitives

/// A person of one's threads, as they are found by the beginning of their name.
public struct PersonSummary: Hashable, Sendable, Codable, Identifiable {
    /// The id.
    public var id: UserID
    /// The name; nil if it was erased while it was looked for.
    public var username: String?
    /// The position of the first of their joins of the threads in common, as these are now; the key
    /// of pagination.
    public var since: Position

    /// Creates a summary, for example in a test.
    public init(id: UserID, username: String? = nil, since: Position) {
        (self.id, self.username, self.since) = (id, username, since)
    }

    private enum CodingKeys: AbsentAsNullKey { case id, username, since }
}

/// What a user is shown of a person with whom they have threads in common.
public struct PersonDetails: Hashable, Sendable, Codable, Identifiable {
    /// The id.
    public var id: UserID
    /// The name; nil if erased.
    public var username: String?
    /// The person's profile text; nil if there is none, or if it is erased or withheld.
    public var about: String?
    /// A page of the threads of which both are members, in the order in which the person joined
    /// them.
    public var threads: Page<CommonThread>

    /// Creates the details, for example in a test.
    public init(id: UserID, username: String? = nil, about: String? = nil, threads: Page<CommonThread>) {
        (self.id, self.username, self.about, self.threads) = (id, username, about, threads)
    }

    private enum CodingKeys: AbsentAsNullKey { case id, username, about, threads }
}

/// A thread of which a person and the viewer are members.
public struct CommonThread: Hashable, Sendable, Codable, Identifiable {
    /// The id.
    public var id: ThreadID
    /// The name; nil if erased, and for a direct thread.
    public var name: String?
    /// The people of a direct thread, as in ``ThreadSummary/people``; nil for another thread.
    public var people: [UserSummary]?
    /// The position at which the person joined; the key of pagination.
    public var since: Position

    /// Creates a thread in common, for example in a test.
    public init(id: ThreadID, name: String? = nil, people: [UserSummary]? = nil, since: Position) {
        (self.id, self.name, self.people, self.since) = (id, name, people, since)
    }

    private enum CodingKeys: AbsentAsNullKey {
        case id, name, people, since
        static let omittedIfNil = [people]
    }
}

extension PersonSummary: PageEntry {
    /// The position that bounds its pages: ``since``.
    public var pageKey: Position { since }
}

extension CommonThread: PageEntry {
    /// The position that bounds its pages: ``since``.
    public var pageKey: Position { since }
}

/// The people of one's threads whose names begin with a text.
public struct PeopleQuery: PageQuery {
    /// The answer.
    public typealias Answer = Page<PersonSummary>
    /// The name and the path.
    public static let name = "people", path = "/v1/people"

    /// The beginning of the names, in any case and without accents; nil for all people.
    public var prefix: String?
    /// The part of the list.
    public var page: PageRequest

    /// Creates the query.
    public init(prefix: String? = nil, page: PageRequest = .latest()) { (self.prefix, self.page) = (prefix, page) }

    private enum CodingKeys: String, CodingKey {
        case prefix = "name"
        case page
    }
}

/// What a viewer is shown of a person, with a page of the threads in common.
public struct PersonQuery: PageQuery {
    /// The answer.
    public typealias Answer = PersonDetails
    /// The name and the path.
    public static let name = "person", path = "/v1/people/{user}"

    /// The person.
    public var user: UserID
    /// The part of the list.
    public var page: PageRequest

    /// Creates the query.
    public init(user: UserID, page: PageRequest = .latest()) { (self.user, self.page) = (user, page) }
}
