import ChatDomain
import Columns

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
        // The next change of a name looks up the bearer of the previous name.
        for name in names { try require(Int(name.name) < bearers.count && bearers[Int(name.name)] > 0, "a username has no bearer") }
        subjectOwners = try Column(from: &reader)
        try require(subjectOwners.count <= ids.subjects.count, "owners of \(subjectOwners.count) subjects")
        try subjectOwners.check(below: ids.users.count + 1)
    }
}
