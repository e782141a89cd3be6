package import Columns

extension ChatState: ColumnCoded {
    /// Everything but ``usersByName`` and ``usersBySubject``, which follow from what else is known
    /// of users; a digest has them as well.
    package func write(to writer: inout ColumnWriter) {
        writer.write(head)
        writer.write(UInt64(bitPattern: lastRecordedAt.millisecondsSince1970))
        writer.write(hasUnknownEvents)
        writer.write(lostEvents)
        numbering.users.write(to: &writer)
        writeUsers(to: &writer)
        numbering.threads.write(to: &writer)
        writer.write(threads.indices) { threads[$0].openedAt }
        writer.write(threads.indices) { UInt64(threads[$0].openedBy) }
        writer.write(threads.indices) { threads[$0].eventCount }
        dependents.memberships.write(to: &writer)
        memberships.write(to: &writer)
        numbering.messages.write(to: &writer)
        messages.write(to: &writer)
        dependents.replies.write(to: &writer)
        replies.write(to: &writer)
        dependents.sessions.write(to: &writer)
        writer.write(sessions.indices) { sessions[$0].startedAt }
        writer.write(sessions.indices) { sessions[$0].user }
        writer.write(sessions.indices) { sessions[$0].hasEnded ? 1 : 0 as UInt8 }
        if writer.isCanonical { writeIndexes(to: &writer) }
    }

    package init(from reader: inout ColumnReader) throws(ColumnError) {
        self.init()
        head = try reader.read()
        lastRecordedAt = Timestamp(millisecondsSince1970: Int64(bitPattern: try reader.read()))
        // No event is recorded earlier, so that another time would be written into the journal.
        try require(Event.recordable.contains(lastRecordedAt), "the last event was recorded at \(lastRecordedAt)")
        hasUnknownEvents = try reader.readFlag()
        let lost: UInt64 = try reader.read()
        try require(lost <= head && head <= UInt64(Int.max), "\(lost) of \(head) events are lost")
        lostEvents = Int(lost)
        numbering.users = try DenseIndex(from: &reader)
        try readUsers(from: &reader)
        numbering.threads = try DenseIndex(from: &reader)
        try readThreads(from: &reader)
        dependents.memberships = try PairIndex(from: &reader)
        try dependents.memberships.check(firstBelow: users.count, secondBelow: threads.count)
        memberships = try MembershipTable(from: &reader, count: dependents.memberships.count)
        numbering.messages = try IDTable(from: &reader)
        messages = try PostTable(from: &reader, count: numbering.messages.count)
        try messages.check(places: threads.count, authors: users.count, head: head)
        dependents.replies = try IDTable(from: &reader)
        replies = try PostTable(from: &reader, count: dependents.replies.count)
        try replies.check(places: messages.count, authors: users.count, head: head)
        dependents.sessions = try DenseIndex(from: &reader)
        try readSessions(from: &reader)
    }

    /// Leaves out what would make the next writer copy a whole dictionary or table, in a copy of
    /// the state that is only going to be written as columns.
    package mutating func removeIndexes() {
        (usersByName, usersBySubject) = ([:], [:])
        numbering.removeSlots()
        dependents.removeSlots()
    }

    /// Puts in what ``init(from:)`` does not read.
    package mutating func setIndexes(usersByName: [String: Int], usersBySubject: [[UInt8]: Int]) {
        (self.usersByName, self.usersBySubject) = (usersByName, usersBySubject)
    }
}

extension ChatState {
    private func writeUsers(to writer: inout ColumnWriter) {
        writer.write(users.indices) { users[$0].registeredAt }
        writer.write(users.indices, text: { users[$0].registeredAs })
        writer.write(users.indices, text: { users[$0].foldKey })
        writer.write(users.indices, text: { users[$0].username })
        writer.write(users.indices) { users[$0].postcode?.ascii ?? 0 }
        writer.write(users.indices) { users[$0].residence == nil ? 0 : 1 as UInt8 }
        writer.write(users.indices) { users[$0].residence?.bits ?? 0 }
    }

    private mutating func readUsers(from reader: inout ColumnReader) throws(ColumnError) {
        let count = numbering.users.count
        let positions: [Position] = try reader.readArray(count)
        let registeredAs = try reader.readTexts(count)
        let foldKeys = try reader.readTexts(count)
        let usernames = try reader.readTexts(count)
        let postcodes: [UInt64] = try reader.readArray(count)
        let hasResidence: [UInt8] = try reader.readArray(count)
        let residences: [UInt128] = try reader.readArray(count)
        for user in 0..<count {
            var row = UserRow(
                registeredAt: positions[user], registeredAs: registeredAs[user], foldKey: foldKeys[user], username: usernames[user])
            if postcodes[user] != 0 {
                row.postcode = Postcode(ascii: postcodes[user])
                try require(row.postcode != nil, "a postcode is none")
            }
            if hasResidence[user] != 0 { row.residence = ThreadID(bits: residences[user]) }
            try require(row.registeredAt <= head, "a user registered after \(head)")
            users.append(row)
        }
    }

    private mutating func readThreads(from reader: inout ColumnReader) throws(ColumnError) {
        let count = numbering.threads.count
        let positions: [Position] = try reader.readArray(count)
        let openers: [UInt64] = try reader.readArray(count)
        let eventCounts: [UInt64] = try reader.readArray(count)
        for thread in 0..<count {
            try require(positions[thread] <= head, "a thread was opened after \(head)")
            try require(positions[thread] == 0 ? openers[thread] == 0 : openers[thread] < users.count, "a thread was opened by nobody")
            threads.append(ThreadRow(openedAt: positions[thread], openedBy: Int(openers[thread]), eventCount: eventCounts[thread]))
        }
    }

    private mutating func readSessions(from reader: inout ColumnReader) throws(ColumnError) {
        let count = dependents.sessions.count
        let positions: [Position] = try reader.readArray(count)
        let owners: [UInt32] = try reader.readArray(count)
        let haveEnded: [UInt8] = try reader.readArray(count)
        for session in 0..<count {
            try require(positions[session] <= head && owners[session] < users.count, "a session is nobody's")
            sessions.append(SessionRow(startedAt: positions[session], user: owners[session], hasEnded: haveEnded[session] != 0))
        }
    }

    /// The indexes over content in an order that does not depend on hashing.
    private func writeIndexes(to writer: inout ColumnWriter) {
        let names = usersByName.sorted { $0.value < $1.value }
        writer.write(names.count)
        writer.write(names.indices, text: { names[$0].key })
        writer.write(names.indices) { UInt64(names[$0].value) }
        let subjects = usersBySubject.sorted { $0.value < $1.value }
        writer.write(subjects.count)
        for subject in subjects {
            writer.write(subject.key.count)
            writer.write(subject.key)
            writer.write(subject.value)
        }
    }
}
