public import ChatDomain

/// Who lives in an outward code, and who is in a thread: intervals of positions, the open ones being those of now.
public struct PostcodeMembership: Projection, Equatable {
    /// The name of the projection.
    public static let name = "membership"
    /// Names, postcodes and subjects; no bodies.
    public static let contents = ContentSelection.indexed

    private var userNumbers = DenseIndex<UserID>()
    private var postcodes: [Postcode?] = []
    private var memberships = Intervals()
    private var residences = Intervals()

    /// Makes the membership before the first event.
    public init() {}

    /// Takes in the next event.
    public mutating func apply(_ event: Event, at position: Position) {
        switch event.fact {
        case .threadJoined(let fact): memberships.open(number(fact.user), fact.thread, at: position)
        case .threadLeft(let fact): memberships.close(number(fact.user), fact.thread, at: position)
        case .postcodeSet(let fact):
            let user = number(fact.user)
            postcodes[Int(user)] = event.postcode
            // A move within an outward code goes on with the same residence.
            if let former = residences.places(of: user).first, former.place != fact.thread {
                residences.close(user, former.place, at: position)
            }
            residences.open(user, fact.thread, at: position)
        default: break
        }
    }

    private mutating func number(_ id: UserID) -> UInt32 {
        let (number, isNew) = userNumbers.insert(id)
        if isNew { postcodes.append(nil) }
        return UInt32(number)
    }
}

/// A user in a thread or an outward code, and since which position.
public struct Membership: Hashable, Sendable {
    /// The user.
    public var user: UserID
    /// Since which position.
    public var since: Position
    /// Where the user lives now, nil if unknown or erased.
    public var postcode: Postcode?
}

extension PostcodeMembership {
    /// Who is in a thread now, in the order in which they joined.
    ///
    /// - Complexity: O(*n* log *n*) in the members.
    public func members(of thread: ThreadID) -> [Membership] { memberships.members(of: thread).map(membership) }

    /// How many are in a thread now.
    public func memberCount(of thread: ThreadID) -> Int { memberships.memberCount(of: thread) }

    /// Who lives in an outward code now, in the order in which they moved there.
    ///
    /// - Complexity: O(*n* log *n*) in the residents.
    public func residents(of code: OutwardCode) -> [Membership] { residences.members(of: ThreadID(code)).map(membership) }

    /// The position of the latest join of a user who is in a thread now; nil for anybody else.
    public func memberSince(_ user: UserID, in thread: ThreadID) -> Position? {
        userNumbers.find(user).flatMap { memberships.since(UInt32($0), thread) }
    }

    /// The threads that a user is in now and since when, in the order in which they were joined.
    public func threads(of user: UserID) -> [(thread: ThreadID, since: Position)] {
        guard let number = userNumbers.find(user) else { return [] }
        return memberships.places(of: UInt32(number)).map { ($0.place, $0.since) }
    }

    private func membership(_ user: UInt32, since: Position) -> Membership {
        Membership(user: userNumbers.id(Int(user)), since: since, postcode: postcodes[Int(user)])
    }
}
