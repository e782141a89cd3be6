import ChatDomain
import Columns

extension UserViews: ReadModelComponent {
    /// Everything but the two dictionaries, which follow from the rest.
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
        writer.write(names.indices, text: { names[$0].foldKey })
        nameVersions.write(to: &writer)
        postcodeVersions.write(to: &writer)
        bearerVersions.write(to: &writer)
        registrations.write(to: &writer)
    }

    init(from reader: inout ColumnReader, _ state: ChatState) throws(ColumnError) {
        let count = try reader.readCount()
        try require(count == state.users.count, "\(count) users for \(state.users.count)")
        let positions: [Position] = try reader.readArray(count)
        let times: [UInt64] = try reader.readArray(count)
        let areImported: [UInt8] = try reader.readArray(count)
        let subjects = try reader.readTexts(count)
        let nameLinks: [UInt32] = try reader.readArray(count)
        let postcodeLinks: [UInt32] = try reader.readArray(count)
        try readNames(from: &reader, head: state.head, users: count)
        registrations = try Column(from: &reader)
        for user in 0..<count {
            try nameVersions.check(nameLinks[user])
            try postcodeVersions.check(postcodeLinks[user])
            try require(positions[user] <= state.head, "a user registered after \(state.head)")
            users.append(
                History(
                    registeredAt: positions[user],
                    createdAt: Timestamp(millisecondsSince1970: Int64(bitPattern: times[user])), isImported: areImported[user] != 0,
                    subject: subjects[user], name: nameLinks[user], postcode: postcodeLinks[user]))
        }
        // Of two who registered with one subject, which only happens where events were lost, the later one has it.
        for user in users.indices.filter({ users[$0].subject != nil }).sorted(by: { positions[$0] < positions[$1] }) {
            if let subject = users[user].subject { bySubject[Array(subject.utf8)] = user }
        }
    }

    private mutating func readNames(from reader: inout ColumnReader, head: Position, users: Int) throws(ColumnError) {
        let count = try reader.readCount()
        let texts = try reader.readTexts(count)
        let foldKeys = try reader.readTexts(count)
        for name in 0..<count {
            guard let text = texts[name], let foldKey = foldKeys[name] else { throw ColumnError("a name is none") }
            names.append(Username(text: text, foldKey: foldKey))
        }
        nameVersions = try Versions(from: &reader, head: head)
        try nameVersions.check(below: count + 1)
        postcodeVersions = try Versions(from: &reader, head: head)
        bearerVersions = try Versions(from: &reader, head: head)
        try bearerVersions.check(below: users + 1)
        try indexBearers()
    }

    /// Finds out which key each chain of bearers belongs to: every name that was ever taken began to be borne when it was noted, and a name
    /// becomes free only after it has been borne.
    private mutating func indexBearers() throws(ColumnError) {
        var keys: [Int] = []
        keys.reserveCapacity(bearerVersions.count)
        var taken = 0
        bearers.reserveCapacity(names.count)
        for index in 0..<bearerVersions.count {
            let previous = bearerVersions.previous[index]
            if bearerVersions.values[index] > 0 {
                keys.append(taken)
                taken += 1
            } else {
                try require(previous > 0, "a name becomes free that nobody has borne")
                keys.append(keys[Int(previous) - 1])
            }
            try require(keys[index] < names.count, "more bearers than names")
            let former = bearers.updateValue(UInt32(truncatingIfNeeded: index + 1), forKey: names[keys[index]].foldKey)
            try require(former ?? 0 == previous, "a chain of bearers is broken")
        }
        try require(taken == names.count, "\(names.count) names, of which \(taken) were borne")
    }

    /// The users by the fold keys of the names that they bear now.
    var presentBearers: [String: Int] {
        var present: [String: Int] = [:]
        for (key, link) in bearers {
            let bearer = bearerVersions.value(link)
            if bearer > 0 { present[key] = Int(bearer) - 1 }
        }
        return present
    }
}
