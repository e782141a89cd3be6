public import ChatDomain

/// Who the users are, and how far they have read: profiles by id, username and subject, and read markers.
public struct UserViews: Projection, Equatable {
    /// The name of the projection.
    public static let name = "users"
    /// Names, postcodes and subjects; no bodies.
    public static let contents = ContentSelection.indexed

    private var numbers = DenseIndex<UserID>()
    private var profiles: [UserProfile] = []
    private var byName: [String: Int] = [:]
    private var bySubject: [[UInt8]: Int] = [:]
    private var readMarkers: [MarkerKey: Position] = [:]

    /// Makes the views before the first event.
    public init() {}

    private struct MarkerKey: Hashable, Sendable {
        var user: UserID
        var thread: ThreadID
    }

    /// Takes in the next event.
    public mutating func apply(_ event: Event, at position: Position) {
        switch event.fact {
        case .userRegistered(let fact):
            let (number, isNew) = numbers.insert(fact.user)
            guard isNew else { return }
            profiles.append(
                UserProfile(id: fact.user, subject: event.subject, createdAt: event.createdAt, isImported: event.origin != .native))
            name(number, event.username)
            if let subject = event.subject { bySubject[Array(subject.utf8)] = number }
        case .usernameChanged(let fact):
            if let number = numbers.find(fact.user) { name(number, event.username) }
        case .postcodeSet(let fact):
            if let number = numbers.find(fact.user) { profiles[number].postcode = event.postcode }
        case .threadRead(let fact): readMarkers[MarkerKey(user: fact.user, thread: fact.thread)] = fact.upTo
        default: break
        }
    }

    private mutating func name(_ number: Int, _ username: Username?) {
        if let former = profiles[number].username { byName[former.foldKey] = nil }
        profiles[number].username = username
        if let username { byName[username.foldKey] = number }
    }
}

/// What is known of a user.
public struct UserProfile: Hashable, Sendable {
    /// The id.
    public var id: UserID
    /// nil if it has been erased.
    public var username: Username?
    /// The identity provider's own name for the user, nil if there is none or it has been erased.
    public var subject: String?
    /// nil if none was set, or if it has been erased.
    public var postcode: Postcode?
    /// When it was created, as shown.
    public var createdAt: Timestamp
    /// Whether an import registered the user.
    public var isImported: Bool
}

extension UserViews {
    /// How many users there are.
    public var count: Int { numbers.count }

    /// One user, nil if there is none of this id.
    public func profile(_ user: UserID) -> UserProfile? { numbers.find(user).map { profiles[$0] } }

    /// The user who bears a username now, compared as usernames are: under full case folding.
    public func user(named username: String) -> UserID? { byName[Username.foldKey(username)].map { numbers.id($0) } }

    /// The user whom the identity provider calls by this subject.
    public func user(withSubject subject: String) -> UserID? { bySubject[Array(subject.utf8)].map { numbers.id($0) } }

    /// How far a user has marked a thread as read, 0 if not at all.
    public func readUpTo(_ user: UserID, in thread: ThreadID) -> Position { readMarkers[MarkerKey(user: user, thread: thread)] ?? 0 }
}
