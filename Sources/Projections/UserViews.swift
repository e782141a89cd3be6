public import ChatDomain
import Columns

/// Who the users were as of any position: names, postcodes, subjects.
struct UserViews: Equatable, Sendable {
    /// By the numbers of ``ChatDomain/ChatState``.
    var users = Column<History>()
    /// The names that there ever were, in the order in which they were taken.
    var names = Column<Username>()
    var nameVersions = Versions<UInt32>()
    var postcodeVersions = Versions<UInt64>()
    /// By fold key: who bore the name, as a number + 1, or 0 once it was free.
    var bearers: [String: UInt32] = [:]
    var bearerVersions = Versions<UInt32>()
    var bySubject: [[UInt8]: Int] = [:]
    /// The positions of the registrations.
    var registrations = Column<Position>()

    struct History: Equatable, Sendable {
        var registeredAt: Position = 0
        var createdAt = Timestamp(millisecondsSince1970: 0)
        var isImported = false
        var subject: String?
        /// Chains of numbers + 1 of ``names``, 0 for an erased one, and of postcodes, 0 likewise.
        var name: UInt32 = 0
        var postcode: UInt32 = 0
    }

    /// Takes in the next event.
    mutating func apply(_ event: EventRow, _ content: borrowing Content, at position: Position, _ numbers: EventNumbers) {
        guard numbers.user >= 0 else { return }
        while users.count <= numbers.user { users.append(History()) }
        switch event.kind {
        case .userRegistered where numbers.isNew:
            users[numbers.user].registeredAt = position
            users[numbers.user].createdAt = event.createdAt
            users[numbers.user].isImported = event.isImported
            users[numbers.user].subject = content.subject
            registrations.append(position)
            if let subject = content.subject { bySubject[Array(subject.utf8)] = numbers.user }
            name(numbers.user, content.username, at: position)
        case .usernameChanged: name(numbers.user, content.username, at: position)
        case .postcodeSet: postcodeVersions.append(content.postcode?.ascii ?? 0, at: position, to: &users[numbers.user].postcode)
        default: break
        }
    }

    /// Takes in the next events.
    mutating func apply(_ events: NumberedEvents) {
        while users.count < events.userCount { users.append(History()) }
        let (rows, numbers) = (events.events.rows, events.numbers)
        events.forEachOther(
            joins: { _ in }, other: { index, content in apply(rows[index], content, at: events.position(index), numbers[index]) })
    }

    private mutating func name(_ user: Int, _ username: Username?, at position: Position) {
        let former = users[user].name == 0 ? 0 : nameVersions.value(users[user].name)
        if former > 0 {
            let key = names[Int(former) - 1].foldKey
            if let link = bearers[key], bearerVersions.value(link) == UInt32(user) + 1 { bear(key, 0, at: position) }
        }
        if let username { names.append(username) }
        nameVersions.append(username == nil ? 0 : UInt32(names.count), at: position, to: &users[user].name)
        if let username { bear(username.foldKey, UInt32(user) + 1, at: position) }
    }

    private mutating func bear(_ foldKey: String, _ bearer: UInt32, at position: Position) {
        bearerVersions.append(bearer, at: position, to: &bearers[foldKey, default: 0])
    }
}

extension UserViews {
    /// How many users there were as of a position.
    func count(asOf position: Position) -> Int {
        if let last = registrations.last, last <= position { return registrations.count }
        return partition(registrations.count) { registrations[$0] > position }
    }

    /// Whether a user had registered as of a position.
    func isRegistered(_ user: Int, asOf position: Position) -> Bool {
        user < users.count && users[user].registeredAt > 0 && users[user].registeredAt <= position
    }

    /// The texts of some authors' names as of a position, nil where one is not known; column by column, as their posts are read.
    func names(of authors: [PostMarks], asOf position: Position) -> [String?] {
        var links: [UInt32] = []
        links.reserveCapacity(authors.count)
        for marks in authors { links.append(marks.author < users.count ? users[marks.author].name : 0) }
        for index in links.indices { links[index] = nameVersions.value(links[index], asOf: position) }
        var texts: [String?] = []
        texts.reserveCapacity(authors.count)
        for number in links { texts.append(number == 0 ? nil : names[Int(number) - 1].text) }
        return texts
    }

    /// The name of a user as of a position, nil if it is not known.
    func username(_ user: Int, asOf position: Position) -> Username? {
        guard user < users.count, let version = nameVersions.version(users[user].name, asOf: position), version.value > 0 else {
            return nil
        }
        return names[Int(version.value) - 1]
    }

    /// The position of the event that gave a user the name that they bore as of a position, nil if there was none.
    func namePosition(_ user: Int, asOf position: Position) -> Position? {
        user < users.count ? nameVersions.position(users[user].name, asOf: position) : nil
    }

    /// The postcode of a user as of a position, nil if it is not known.
    func postcode(_ user: Int, asOf position: Position) -> Postcode? {
        guard user < users.count else { return nil }
        return postcodeVersions.version(users[user].postcode, asOf: position).flatMap { Postcode(ascii: $0.value) }
    }

    /// A registered user, as of a position.
    func profile(_ user: Int, _ id: UserID, asOf position: Position) -> UserProfile? {
        guard isRegistered(user, asOf: position) else { return nil }
        let history = users[user]
        return UserProfile(
            id: id, username: username(user, asOf: position), subject: history.subject, postcode: postcode(user, asOf: position),
            createdAt: history.createdAt, isImported: history.isImported)
    }

    /// Who bore a name as of a position.
    func bearer(of foldKey: String, asOf position: Position) -> Int? {
        guard let link = bearers[foldKey], let version = bearerVersions.version(link, asOf: position), version.value > 0 else { return nil }
        return Int(version.value) - 1
    }

    /// Whether a user ever bore a name as of a position, or bore one that was erased or lost.
    func mayHaveBorne(_ foldKey: String, _ user: Int, asOf position: Position) -> Bool {
        guard user < users.count, users[user].name != 0 else { return true }
        let newest = users[user].name
        return nameVersions.versions(newest, ranks: 1..<nameVersions.count(newest, asOf: position) + 1)
            .contains { $0.value == 0 || names[Int($0.value) - 1].foldKey == foldKey }
    }

    /// Whom the identity provider called by a subject as of a position.
    func user(withSubject subject: String, asOf position: Position) -> Int? {
        guard let user = bySubject[Array(subject.utf8)], isRegistered(user, asOf: position) else { return nil }
        return user
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
