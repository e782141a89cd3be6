package import ChatDomain
import Columns
import Primitives

/// Names, postcodes and subjects of the users, as of any position.
struct UserViews: Equatable, Sendable {
    /// By user index.
    var users = Column<UserHistory>()
    /// The usernames taken, in event order.
    var names = Column<TakenName>()
    var nameVersions = VersionChains<UInt32>()
    var postcodeVersions = VersionChains<UInt64>()
    /// By fold-key index: the newest link of the chain of the name's owners.
    ///
    /// The values are user indexes + 1; 0 for a free name.
    var nameOwnerLinks = Column<UInt32>()
    var nameOwnerVersions = VersionChains<UInt32>()
    /// By subject index: the index + 1 of the user who registered with the subject.
    var subjectOwners = Column<UInt32>()
    /// The positions of the registrations, ascending.
    var registrations = Column<Position>()

    struct TakenName: Equatable, Sendable {
        /// The name as written.
        var text: String
        /// The fold-key index.
        var foldKey: UInt32
    }

    struct UserHistory: Equatable, Sendable {
        var registeredAt: Position = 0
        var createdAt = Timestamp(millisecondsSince1970: 0)
        var isImported = false
        var subject: String?
        /// The newest links of the chains of names and postcodes.
        ///
        /// The values are indexes + 1 into ``names``, and postcodes; 0 if erased.
        var nameLink: UInt32 = 0
        var postcodeLink: UInt32 = 0
    }

    /// Adds the row of the user of an event, if it is new.
    @inline(__always)
    mutating func addRow(_ user: Int) { while users.count <= user { users.append(UserHistory()) } }

    /// Applies the next event, whose user has a row.
    mutating func apply(_ batch: borrowing EventBatch, _ row: Int) {
        guard batch.rows[row].kind?.form.isIndexed == true else { return }
        applyIndexed(batch.rows[row], batch.content(of: row), at: batch.position(row), batch.indexes[row].user)
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
            if content.oneBasedSubject > 0 {
                subjectOwners.updateElement(Int(content.oneBasedSubject) - 1, default: 0) {
                    $0 = UInt32(truncatingIfNeeded: user + 1)
                }
            }
            name(user, content, at: position)
        case .usernameChanged: name(user, content, at: position)
        case .postcodeSet:
            postcodeVersions.append(content.content.postcode?.ascii ?? 0, at: position, to: &users[user].postcodeLink)
        default: break
        }
    }

    private mutating func name(_ user: Int, _ content: borrowing EventBatch.IndexedContent, at position: Position) {
        let owner = UInt32(truncatingIfNeeded: user + 1)
        let former = users[user].nameLink == 0 ? 0 : nameVersions.value(users[user].nameLink)
        if former > 0 {
            let name = Int(names[Int(former) - 1].foldKey)
            if nameOwnerVersions.value(nameOwnerLinks[name]) == owner { setOwner(name, 0, at: position) }
        }
        guard let username = content.content.username else {
            nameVersions.append(0, at: position, to: &users[user].nameLink)
            return
        }
        names.append(TakenName(text: username.text, foldKey: content.oneBasedFoldKey - 1))
        nameVersions.append(UInt32(truncatingIfNeeded: names.count), at: position, to: &users[user].nameLink)
        let name = Int(content.oneBasedFoldKey) - 1
        // As in the rules, the first of several users with an equal name holds the key.
        if name < nameOwnerLinks.count, nameOwnerLinks[name] > 0, nameOwnerVersions.value(nameOwnerLinks[name]) > 0 {
            return
        }
        setOwner(name, owner, at: position)
    }

    private mutating func setOwner(_ name: Int, _ owner: UInt32, at position: Position) {
        nameOwnerLinks.updateElement(name, default: 0) { nameOwnerVersions.append(owner, at: position, to: &$0) }
    }
}

extension UserViews {
    /// Returns the number of users as of a position.
    func count(asOf position: Position) -> Int {
        if let last = registrations.last, last <= position { return registrations.count }
        return (0..<registrations.count).partitioningIndex { registrations[$0] > position }
    }

    /// Whether a user had registered as of a position.
    func isRegistered(_ user: Int, asOf position: Position) -> Bool {
        user < users.count && users[user].registeredAt > 0 && users[user].registeredAt <= position
    }

    /// Returns the names of authors as of a position; nil for an unknown name.
    ///
    /// Reads column by column, because the memory reads of one column overlap
    /// (Benchmarks/README.md, R2).
    func names(of authors: [Int], asOf position: Position) -> [String?] {
        var links: [UInt32] = []
        links.reserveCapacity(authors.count)
        for author in authors { links.append(author < users.count ? users[author].nameLink : 0) }
        for index in links.indices { links[index] = nameVersions.value(links[index], asOf: position) }
        var texts: [String?] = []
        texts.reserveCapacity(authors.count)
        for oneBasedName in links { texts.append(oneBasedName == 0 ? nil : names[Int(oneBasedName) - 1].text) }
        return texts
    }

    /// Returns the name of a user as of a position; nil if unknown.
    func name(_ user: Int, asOf position: Position) -> TakenName? {
        guard user < users.count, let version = nameVersions.version(users[user].nameLink, asOf: position),
            version.value > 0
        else {
            return nil
        }
        return names[Int(version.value) - 1]
    }

    /// Returns the position of the event that set a user's name as of a position; nil if none.
    func namePosition(_ user: Int, asOf position: Position) -> Position? {
        user < users.count ? nameVersions.position(users[user].nameLink, asOf: position) : nil
    }

    /// Returns the postcode of a user as of a position; nil if unknown.
    func postcode(_ user: Int, asOf position: Position) -> Postcode? {
        guard user < users.count else { return nil }
        return postcodeVersions.version(users[user].postcodeLink, asOf: position).flatMap { Postcode(ascii: $0.value) }
    }

    /// Returns the profile of a registered user as of a position; nil if not registered.
    func profile(_ user: Int, _ ids: Identities, asOf position: Position) -> UserProfile? {
        guard isRegistered(user, asOf: position) else { return nil }
        let history = users[user]
        let name = name(user, asOf: position)
        return UserProfile(
            id: ids.userID(user),
            username: name.map { Username(text: $0.text, foldKey: ids.foldKeys.text(Int($0.foldKey))) },
            subject: history.subject, postcode: postcode(user, asOf: position),
            createdAt: history.createdAt, isImported: history.isImported)
    }

    /// Returns the owner of a name as of a position, by fold-key index.
    func owner(ofName name: Int?, asOf position: Position) -> Int? {
        guard let name, name < nameOwnerLinks.count,
            let version = nameOwnerVersions.version(nameOwnerLinks[name], asOf: position),
            version.value > 0
        else { return nil }
        return Int(version.value) - 1
    }

    /// Whether a user may have had a name by this position.
    ///
    /// True if one of the user's names has this fold-key index, or was erased or lost.
    func mayHaveHadName(_ name: Int?, _ user: Int, asOf position: Position) -> Bool {
        guard user < users.count, users[user].nameLink != 0 else { return true }
        let newest = users[user].nameLink
        return nameVersions.versions(newest, ranks: 1..<nameVersions.count(newest, asOf: position) + 1)
            .contains {
                $0.value == 0 || names[Int($0.value) - 1].foldKey == name.map { UInt32(truncatingIfNeeded: $0) }
            }
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

extension UserViews: CheckpointComponent {
    mutating func visit(_ visitor: inout ColumnVisitor, _ ids: Identities, head: Position) throws(ColumnError) {
        try visitor.visit(
            &users, write: { $1.write($0.count) },
            read: { (users, reader) throws(ColumnError) in
                let count = try reader.readCount()
                try require(count == ids.users.count, "\(count) users for \(ids.users.count)")
                users = Column(repeatElement(UserHistory(), count: count))
            })
        try visitor.visit(eachOf: &users) { $1(&$0.registeredAt) }
        try visitor.visit(eachOf: &users) { $1(&$0.createdAt.bits) }
        try visitor.visit(eachOf: &users) { $1(&$0.isImported) }
        try visitor.visit(textOf: &users) { $1(&$0.subject) }
        try visitor.visit(eachOf: &users) { $1(&$0.nameLink) }
        try visitor.visit(eachOf: &users) { $1(&$0.postcodeLink) }
        try visitNames(&visitor, ids, head: head)
        try subjectOwners.visit(&visitor, atMost: ids.subjects.count, below: ids.users.count + 1)
        try visitor.visit(coded: &registrations) { _ in }
        if visitor.isReading {
            for user in users {
                try nameVersions.check(user.nameLink)
                try postcodeVersions.check(user.postcodeLink)
                try require(user.registeredAt <= head, "a user registered after \(head)")
            }
        }
    }

    private mutating func visitNames(_ visitor: inout ColumnVisitor, _ ids: Identities, head: Position)
        throws(ColumnError)
    {
        try visitor.visit(
            &names,
            write: { names, writer in
                writer.write(names.count)
                writer.write(names.indices, text: { names[$0].text })
                writer.write(names.indices) { names[$0].foldKey }
            },
            read: { (names, reader) throws(ColumnError) in
                let count = try reader.readCount()
                let texts = try reader.readTexts(count)
                let keys: [UInt32] = try reader.readArray(count)
                for (text, key) in zip(texts, keys) {
                    guard let text, key < ids.foldKeys.count else {
                        throw ColumnError("a username without text or with an unknown fold key")
                    }
                    names.append(TakenName(text: text, foldKey: key))
                }
            })
        try nameVersions.visit(&visitor, head: head, below: names.count + 1)
        try postcodeVersions.visit(&visitor, head: head)
        try nameOwnerVersions.visit(&visitor, head: head, below: ids.users.count + 1)
        try nameOwnerLinks.visit(&visitor, atMost: ids.foldKeys.count)
        if visitor.isReading {
            for newest in nameOwnerLinks { try nameOwnerVersions.check(newest) }
            // The next change of a name looks up the owner of the previous name.
            for name in names {
                let key = Int(name.foldKey)
                try require(key < nameOwnerLinks.count && nameOwnerLinks[key] > 0, "a username has no owner")
            }
        }
    }
}
