package import Columns

extension RuleState {
    /// Returns a copy without hash slots, for writing a checkpoint.
    ///
    /// A later insertion into the original then copies no slots.
    package func withoutSlots() -> RuleState {
        var copy = self
        copy.rare = rare.withoutSlots()
        return copy
    }

    package func write(to writer: inout ColumnWriter) {
        writer.write(head)
        writer.write(UInt64(bitPattern: lastRecordedAt.millisecondsSince1970))
        writer.write(isAfterLoss)
        writer.write(hasUnknownEvents)
        writer.write(lostEventCount)
        writeUsers(to: &writer)
        writer.write(threads.indices) { threads[$0].openedAt }
        writer.write(threads.indices) { UInt64(threads[$0].openedBy) }
        writer.write(threads.indices) { threads[$0].lastEventNumber }
        writer.write(threads.indices) { threads[$0].ruleBits }
        writer.write(threads.indices) { threads[$0].ownerCount }
        writer.write(threads.indices) { threads[$0].pinCount }
        writer.write(threads.indices) { threads[$0].disclosedAt }
        writer.write(threads.indices) { threads[$0].oneBasedSecondMember }
        memberships.write(to: &writer)
        usernameOwners.write(to: &writer)
        subjectOwners.write(to: &writer)
        messageMarks.write(to: &writer)
        replyMarks.write(to: &writer)
        rare.write(to: &writer)
        writer.write(sessions.indices) { sessions[$0].startedAt }
        writer.write(sessions.indices) { sessions[$0].user }
        writer.write(sessions.indices) { sessions[$0].hasEnded ? 1 : 0 as UInt8 }
    }

    /// Reads a state; its identities have been read before.
    package init(from reader: inout ColumnReader, _ ids: borrowing Identities) throws(ColumnError) {
        self.init()
        head = try reader.read()
        lastRecordedAt = Timestamp(millisecondsSince1970: Int64(bitPattern: try reader.read()))
        // The next event is never recorded earlier, so a time out of range would reach the journal.
        try require(
            ChatEvent.recordableTimes.contains(lastRecordedAt), "the last event was recorded at \(lastRecordedAt)")
        isAfterLoss = try reader.readFlag()
        hasUnknownEvents = try reader.readFlag()
        let lost: UInt64 = try reader.read()
        try require(lost <= head && head <= UInt64(Int.max), "\(lost) of \(head) events are lost")
        lostEventCount = Int(lost)
        try ids.check(head: head)
        try readUsers(from: &reader, ids)
        try readThreads(from: &reader, ids)
        memberships = try MembershipTable(from: &reader, ids.memberships, messages: ids.messages.count)
        usernameOwners = try Self.readOwners(from: &reader, of: ids.foldKeys.count, users: ids.users.count)
        subjectOwners = try Self.readOwners(from: &reader, of: ids.subjects.count, users: ids.users.count)
        for subject in subjectOwners.indices where subjectOwners[subject] > 0 {
            users[Int(subjectOwners[subject]) - 1].oneBasedSubject = UInt32(truncatingIfNeeded: subject + 1)
        }
        messageMarks = try Self.readMarks(from: &reader, count: ids.messages.count)
        replyMarks = try Self.readMarks(from: &reader, count: ids.replies.count)
        rare = try RareState(from: &reader, ids, head: head)
        try readSessions(from: &reader, ids)
    }

    private static func readOwners(from reader: inout ColumnReader, of most: Int, users: Int) throws(ColumnError)
        -> Column<UInt32>
    {
        let owners: Column<UInt32> = try Column(from: &reader)
        try require(owners.count <= most, "\(owners.count) owners for \(most) texts")
        try owners.check(below: users + 1)
        return owners
    }

    private static func readMarks(from reader: inout ColumnReader, count: Int) throws(ColumnError) -> MostlyZeroColumn<
        UInt8
    > {
        let marks: MostlyZeroColumn<UInt8> = try MostlyZeroColumn(from: &reader, atMost: count)
        try require(marks.count == count, "\(marks.count) marks for \(count) posts")
        try marks.check(below: 8)
        return marks
    }

    private func writeUsers(to writer: inout ColumnWriter) {
        writer.write(users.indices) { users[$0].registeredAt }
        writer.write(users.indices) { users[$0].oneBasedFoldKeyAtRegistration }
        writer.write(users.indices) { users[$0].oneBasedFoldKey }
        writer.write(users.indices, text: { users[$0].username })
        writer.write(users.indices) { users[$0].postcode?.ascii ?? 0 }
        writer.write(users.indices) { users[$0].oneBasedResidence }
        let erased = users.indices.filter { users[$0].isErased }
        writer.write(erased.count)
        writer.write(erased.indices) { UInt32(truncatingIfNeeded: erased[$0]) }
    }

    private mutating func readUsers(from reader: inout ColumnReader, _ ids: borrowing Identities) throws(ColumnError) {
        let count = ids.users.count
        let positions: [Position] = try reader.readArray(count)
        let registeredAs: [UInt32] = try reader.readArray(count)
        let names: [UInt32] = try reader.readArray(count)
        let usernames = try reader.readTexts(count)
        let postcodes: [UInt64] = try reader.readArray(count)
        let residences: [UInt32] = try reader.readArray(count)
        let erased: [UInt32] = try reader.readArray(try reader.readCount())
        try require(zip(erased, erased.dropFirst()).allSatisfy { $0 < $1 }, "the erased users do not ascend")
        try require(erased.last.map { Int($0) < count } ?? true, "an erased user does not exist")
        for user in 0..<count {
            var row = UserRow(
                registeredAt: positions[user], username: usernames[user], oneBasedFoldKey: names[user],
                oneBasedFoldKeyAtRegistration: registeredAs[user],
                oneBasedResidence: residences[user])
            if postcodes[user] != 0 {
                row.postcode = Postcode(ascii: postcodes[user])
                try require(row.postcode != nil, "a postcode is not valid")
            }
            try require(row.registeredAt <= head, "a user registered after \(head)")
            try require(
                row.oneBasedFoldKey <= ids.foldKeys.count && row.oneBasedFoldKeyAtRegistration <= ids.foldKeys.count
                    && row.oneBasedResidence <= ids.threads.count,
                "a user has a name or a thread that does not exist")
            users.append(row)
        }
        for user in erased { users[Int(user)].isErased = true }
    }

    private mutating func readThreads(from reader: inout ColumnReader, _ ids: borrowing Identities) throws(ColumnError)
    {
        let count = ids.threads.count
        let positions: [Position] = try reader.readArray(count)
        let openers: [UInt64] = try reader.readArray(count)
        let eventCounts: [UInt64] = try reader.readArray(count)
        let ruleBits: [UInt32] = try reader.readArray(count)
        let ownerCounts: [UInt32] = try reader.readArray(count)
        let pinCounts: [UInt32] = try reader.readArray(count)
        let disclosures: [Position] = try reader.readArray(count)
        let secondMembers: [UInt32] = try reader.readArray(count)
        for thread in 0..<count {
            try require(positions[thread] <= head, "a thread was opened after \(head)")
            try require(
                positions[thread] == 0 ? openers[thread] == 0 : openers[thread] < ids.users.count,
                "a thread has no opener")
            var row = ThreadRow(
                openedAt: positions[thread], lastEventNumber: eventCounts[thread], openedBy: Int(openers[thread]))
            (row.ruleBits, row.ownerCount, row.pinCount) = (ruleBits[thread], ownerCounts[thread], pinCounts[thread])
            (row.disclosedAt, row.oneBasedSecondMember) = (disclosures[thread], secondMembers[thread])
            row.isDistrict = ids.threads.id(thread).outwardCode != nil
            try require(
                row.disclosedAt <= head && row.oneBasedSecondMember <= ids.users.count,
                "a thread was disclosed or joined by nobody")
            threads.append(row)
        }
    }

    private mutating func readSessions(from reader: inout ColumnReader, _ ids: borrowing Identities) throws(ColumnError)
    {
        let count = ids.sessions.count
        let positions: [Position] = try reader.readArray(count)
        let owners: [UInt32] = try reader.readArray(count)
        let haveEnded: [UInt8] = try reader.readArray(count)
        for session in 0..<count {
            try require(positions[session] <= head && owners[session] < ids.users.count, "a session has no user")
            sessions.append(
                SessionRow(startedAt: positions[session], user: owners[session], hasEnded: haveEnded[session] != 0))
        }
    }
}

extension ThreadRow {
    /// The policy, the history and the marks as bits, as a checkpoint stores them.
    var ruleBits: UInt32 {
        get {
            UInt32(policy.code) | UInt32(history.code) << 2 | (isLocked ? 8 : 0) | (isClosed ? 16 : 0)
                | (canHaveOwners ? 32 : 0)
                | (awaitsOpener ? 64 : 0) | (hadThreeMembers ? 128 : 0) | (wasOpenedWithPolicy ? 256 : 0)
                | (isDirect ? 512 : 0)
                | (isGroup ? 1_024 : 0)
        }
        set {
            policy = ThreadPolicy(code: UInt64(newValue & 3)) ?? .open
            history = ThreadHistory(code: UInt64(newValue >> 2 & 1)) ?? .all
            (isLocked, isClosed) = (newValue & 8 != 0, newValue & 16 != 0)
            (canHaveOwners, awaitsOpener) = (newValue & 32 != 0, newValue & 64 != 0)
            (hadThreeMembers, wasOpenedWithPolicy) = (newValue & 128 != 0, newValue & 256 != 0)
            (isDirect, isGroup) = (newValue & 512 != 0, newValue & 1_024 != 0)
        }
    }
}
