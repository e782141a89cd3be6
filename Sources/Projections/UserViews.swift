package import ChatDomain
import Columns

/// Names, postcodes and subjects of the users, as of any position.
struct UserViews: Equatable, Sendable {
    /// By user index.
    var users = Column<History>()
    /// The usernames taken, in event order.
    var names = Column<TakenName>()
    var nameVersions = Versions<UInt32>()
    var postcodeVersions = Versions<UInt64>()
    /// By fold-key index: the newest link of the chain of the name's owners.
    ///
    /// The values are user indexes + 1; 0 for a free name.
    var bearers = Column<UInt32>()
    var bearerVersions = Versions<UInt32>()
    /// By subject index: the index + 1 of the user who registered with the subject.
    var subjectOwners = Column<UInt32>()
    /// The positions of the registrations, ascending.
    var registrations = Column<Position>()

    struct TakenName: Equatable, Sendable {
        /// The name as written.
        var text: String
        /// The fold-key index.
        var name: UInt32
    }

    struct History: Equatable, Sendable {
        var registeredAt: Position = 0
        var createdAt = Timestamp(millisecondsSince1970: 0)
        var isImported = false
        var subject: String?
        /// The newest links of the chains of names and postcodes.
        ///
        /// The values are indexes + 1 into ``names``, and postcodes; 0 if erased.
        var name: UInt32 = 0
        var postcode: UInt32 = 0
    }

    /// Applies the next event.
    @inline(__always)
    mutating func apply(_ batch: borrowing EventBatch, _ row: Int) {
        let user = batch.indexes[row].user
        while users.count <= user { users.append(History()) }
        if batch.rows[row].kind?.isIndexed == true { applyIndexed(batch.rows[row], batch.content(of: row), at: batch.position(row), user) }
    }

    private mutating func applyIndexed(
        _ event: EventRow, _ content: borrowing EventBatch.IndexedContent, at position: Position, _ user: Int
    ) {
        switch event.kind {
        case .userRegistered where users[user].registeredAt == 0:
            users[user].registeredAt = position
            users[user].createdAt = event.createdAt
            users[user].isImported = event.isImported
            users[user].subject = content.content.subject
            registrations.append(position)
            if content.subject > 0 {
                subjectOwners.element(Int(content.subject) - 1, default: 0) { $0 = UInt32(truncatingIfNeeded: user + 1) }
            }
            name(user, content, at: position)
        case .usernameChanged: name(user, content, at: position)
        case .postcodeSet: postcodeVersions.append(content.content.postcode?.ascii ?? 0, at: position, to: &users[user].postcode)
        default: break
        }
    }

    private mutating func name(_ user: Int, _ content: borrowing EventBatch.IndexedContent, at position: Position) {
        let bearer = UInt32(truncatingIfNeeded: user + 1)
        let former = users[user].name == 0 ? 0 : nameVersions.value(users[user].name)
        if former > 0 {
            let name = Int(names[Int(former) - 1].name)
            if bearerVersions.value(bearers[name]) == bearer { bear(name, 0, at: position) }
        }
        guard let username = content.content.username else {
            nameVersions.append(0, at: position, to: &users[user].name)
            return
        }
        names.append(TakenName(text: username.text, name: content.name - 1))
        nameVersions.append(UInt32(truncatingIfNeeded: names.count), at: position, to: &users[user].name)
        bear(Int(content.name) - 1, bearer, at: position)
    }

    private mutating func bear(_ name: Int, _ bearer: UInt32, at position: Position) {
        bearers.element(name, default: 0) { bearerVersions.append(bearer, at: position, to: &$0) }
    }
}

extension UserViews {
    /// Returns the number of users as of a position.
    func count(asOf position: Position) -> Int {
        if let last = registrations.last, last <= position { return registrations.count }
        return partition(registrations.count) { registrations[$0] > position }
    }

    /// Whether a user had registered as of a position.
    func isRegistered(_ user: Int, asOf position: Position) -> Bool {
        user < users.count && users[user].registeredAt > 0 && users[user].registeredAt <= position
    }

    /// Returns the names of authors as of a position; nil for an unknown name.
    ///
    /// Reads column by column, because the memory reads of one column overlap.
    func names(of authors: [Int], asOf position: Position) -> [String?] {
        var links: [UInt32] = []
        links.reserveCapacity(authors.count)
        for author in authors { links.append(author < users.count ? users[author].name : 0) }
        for index in links.indices { links[index] = nameVersions.value(links[index], asOf: position) }
        var texts: [String?] = []
        texts.reserveCapacity(authors.count)
        for number in links { texts.append(number == 0 ? nil : names[Int(number) - 1].text) }
        return texts
    }

    /// Returns the name of a user as of a position; nil if unknown.
    func name(_ user: Int, asOf position: Position) -> TakenName? {
        guard user < users.count, let version = nameVersions.version(users[user].name, asOf: position), version.value > 0 else {
            return nil
        }
        return names[Int(version.value) - 1]
    }

    /// Returns the position of the event that set a user's name as of a position; nil if none.
    func namePosition(_ user: Int, asOf position: Position) -> Position? {
        user < users.count ? nameVersions.position(users[user].name, asOf: position) : nil
    }

    /// Returns the postcode of a user as of a position; nil if unknown.
    func postcode(_ user: Int, asOf position: Position) -> Postcode? {
        guard user < users.count else { return nil }
        return postcodeVersions.version(users[user].postcode, asOf: position).flatMap { Postcode(ascii: $0.value) }
    }

    /// Returns the profile of a registered user as of a position; nil if not registered.
    func profile(_ user: Int, _ ids: borrowing Identities, asOf position: Position) -> UserProfile? {
        guard isRegistered(user, asOf: position) else { return nil }
        let history = users[user]
        let name = name(user, asOf: position)
        return UserProfile(
            id: ids.userID(user), username: name.map { Username(text: $0.text, foldKey: ids.names.text(Int($0.name))) },
            subject: history.subject, postcode: postcode(user, asOf: position),
            createdAt: history.createdAt, isImported: history.isImported)
    }

    /// Returns the owner of a name as of a position, by fold-key index.
    func bearer(ofName name: Int?, asOf position: Position) -> Int? {
        guard let name, name < bearers.count, let version = bearerVersions.version(bearers[name], asOf: position), version.value > 0
        else { return nil }
        return Int(version.value) - 1
    }

    /// Whether a user may have had a name by this position.
    ///
    /// True if one of the user's names has this fold-key index, or was erased or lost.
    func mayHaveBorne(_ name: Int?, _ user: Int, asOf position: Position) -> Bool {
        guard user < users.count, users[user].name != 0 else { return true }
        let newest = users[user].name
        return nameVersions.versions(newest, ranks: 1..<nameVersions.count(newest, asOf: position) + 1)
            .contains { $0.value == 0 || names[Int($0.value) - 1].name == name.map { UInt32(truncatingIfNeeded: $0) } }
    }

    /// Returns the user with a subject as of a position, by subject index.
    func owner(ofSubject subject: Int?, asOf position: Position) -> Int? {
        guard let subject, subject < subjectOwners.count, subjectOwners[subject] > 0 else { return nil }
        let user = Int(subjectOwners[subject]) - 1
        return isRegistered(user, asOf: position) ? user : nil
    }
}

/// A user's name, subject and postcode as of a position.
package struct UserProfile: Hashable, Sendable {
    /// The id.
    package var id: UserID
    /// The name; nil if erased.
    package var username: Username?
    /// The identity provider's subject for the user; nil if absent or erased.
    package var subject: String?
    /// The postcode; nil if never set, or erased.
    package var postcode: Postcode?
    /// The display time of creation.
    package var createdAt: Timestamp
    /// Whether an import registered the user.
    package var isImported: Bool
}

extension UserViews: StoreComponent {
    func write(to writer: inout ColumnWriter) {
        writer.write(users.count)
        writer.write(users.indices) { users[$0].registeredAt }
        writer.write(users.indices) { UInt64(bitPattern: users[$0].createdAt.millisecondsSince1970) }
        writer.write(users.indices) { users[$0].isImported ? 1 : 0 as UInt8 }
        writer.write(users.indices, text: { users[$0].subject })
        writer.write(users.indices) { users[$0].name }
        writer.write(users.indices) { users[$0].postcode }
        writer.write(names.count)
        writer.write(names.indices, text: { names[$0].text })
        writer.write(names.indices) { names[$0].name }
        nameVersions.write(to: &writer)
        postcodeVersions.write(to: &writer)
        bearerVersions.write(to: &writer)
        bearers.write(to: &writer)
        subjectOwners.write(to: &writer)
        registrations.write(to: &writer)
    }

    init(from reader: inout ColumnReader, _ ids: Identities, head: Position) throws(ColumnError) {
        let count = try reader.readCount()
        try require(count == ids.users.count, "\(count) users for \(ids.users.count)")
        let positions: [Position] = try reader.readArray(count)
        let times: [UInt64] = try reader.readArray(count)
        let areImported: [UInt8] = try reader.readArray(count)
        let subjects = try reader.readTexts(count)
        let nameLinks: [UInt32] = try reader.readArray(count)
        let postcodeLinks: [UInt32] = try reader.readArray(count)
        try readNames(from: &reader, ids, head: head)
        registrations = try Column(from: &reader)
        for user in 0..<count {
            try nameVersions.check(nameLinks[user])
            try postcodeVersions.check(postcodeLinks[user])
            try require(positions[user] <= head, "a user registered after \(head)")
            users.append(
                History(
                    registeredAt: positions[user],
                    createdAt: Timestamp(millisecondsSince1970: Int64(bitPattern: times[user])), isImported: areImported[user] != 0,
                    subject: subjects[user], name: nameLinks[user], postcode: postcodeLinks[user]))
        }
    }

    private mutating func readNames(from reader: inout ColumnReader, _ ids: Identities, head: Position) throws(ColumnError) {
        let count = try reader.readCount()
        let texts = try reader.readTexts(count)
        let keys: [UInt32] = try reader.readArray(count)
        for name in 0..<count {
            guard let text = texts[name], Int(keys[name]) < ids.names.count else {
                throw ColumnError("a username without text or with an unknown fold key")
            }
            names.append(TakenName(text: text, name: keys[name]))
        }
        nameVersions = try Versions(from: &reader, head: head)
        try nameVersions.check(below: count + 1)
        postcodeVersions = try Versions(from: &reader, head: head)
        bearerVersions = try Versions(from: &reader, head: head)
        try bearerVersions.check(below: ids.users.count + 1)
        bearers = try Column(from: &reader)
        try require(bearers.count <= ids.names.count, "bearers of \(bearers.count) names, where there are \(ids.names.count)")
        for newest in bearers { try bearerVersions.check(newest) }
        // The next change of a name looks up the owner of the previous name.
        for name in names { try require(Int(name.name) < bearers.count && bearers[Int(name.name)] > 0, "a username has no bearer") }
        subjectOwners = try Column(from: &reader)
        try require(subjectOwners.count <= ids.subjects.count, "owners of \(subjectOwners.count) subjects")
        try subjectOwners.check(below: ids.users.count + 1)
    }
}
