package import Columns

extension RuleState {
    /// Returns a copy without hash slots, for writing a checkpoint.
    package func withoutSlots() -> RuleState {
        var copy = self
        ColumnVisitor.removeSlots { visitor throws(ColumnError) in try copy.visit(&visitor, Identities()) }
        return copy
    }

    /// Visits the columns; the identities have been read before.
    package mutating func visit(_ visitor: inout ColumnVisitor, _ ids: Identities) throws(ColumnError) {
        try visitor.visit(&head)
        try visitor.visit(&lastRecordedAt.bits)
        try visitor.visit(&isAfterLoss)
        try visitor.visit(&hasUnknownEvents)
        var lost = UInt64(lostEventCount)
        try visitor.visit(&lost)
        if visitor.isReading {
            // The next event is never recorded earlier, so a time out of range would reach the
            // journal.
            try require(
                ChatEvent.recordableTimes.contains(lastRecordedAt), "the last event was recorded at \(lastRecordedAt)")
            try require(lost <= head && head <= UInt64(Int.max), "\(lost) of \(head) events are lost")
            lostEventCount = Int(lost)
            try ids.check(head: head)
        }
        try visitUsers(&visitor, ids)
        try visitThreads(&visitor, ids)
        try memberships.visit(&visitor, ids.memberships, messages: ids.posts.messages.count)
        try usernameOwners.visit(&visitor, atMost: ids.foldKeys.count, below: ids.users.count + 1)
        try subjectOwners.visit(&visitor, atMost: ids.subjects.count, below: ids.users.count + 1)
        if visitor.isReading {
            for subject in subjectOwners.indices where subjectOwners[subject] > 0 {
                users[Int(subjectOwners[subject]) - 1].oneBasedSubject = UInt32(truncatingIfNeeded: subject + 1)
            }
        }
        try postMarks.messages.visit(&visitor, rows: ids.posts.messages.count, below: 8)
        try postMarks.replies.visit(&visitor, rows: ids.posts.replies.count, below: 8)
        try community.visit(&visitor, ids, head: head)
        try visitSessions(&visitor, ids)
    }

    private mutating func visitUsers(_ visitor: inout ColumnVisitor, _ ids: Identities)
        throws(ColumnError)
    {
        let count = ids.users.count
        if visitor.isReading { users = Column(repeatElement(UserRow(), count: count)) }
        try visitor.visit(eachOf: &users) { $1(&$0.registeredAt) }
        try visitor.visit(eachOf: &users) { $1(&$0.oneBasedFoldKeyAtRegistration) }
        try visitor.visit(eachOf: &users) { $1(&$0.oneBasedFoldKey) }
        try visitor.visit(textOf: &users) { $1(&$0.username) }
        var hasPostcodes = true
        try visitor.visit(eachOf: &users) { row, value in
            var ascii = row.postcode?.ascii ?? 0
            value(&ascii)
            row.postcode = ascii == 0 ? nil : Postcode(ascii: ascii)
            hasPostcodes = hasPostcodes && (ascii == 0) == (row.postcode == nil)
        }
        try visitor.visit(eachOf: &users) { $1(&$0.oneBasedResidence) }
        if visitor.isReading {
            try require(hasPostcodes, "a postcode is not valid")
            for row in users {
                try require(row.registeredAt <= head, "a user registered after \(head)")
                try require(
                    row.oneBasedFoldKey <= ids.foldKeys.count && row.oneBasedFoldKeyAtRegistration <= ids.foldKeys.count
                        && row.oneBasedResidence <= ids.threads.count,
                    "a user has a name or a thread that does not exist")
            }
        }
        // Few users are erased.
        try visitor.visit(
            &users,
            write: { users, writer in
                let erased = users.indices.filter { users[$0].isErased }
                writer.write(erased.count)
                writer.write(erased.indices) { UInt32(truncatingIfNeeded: erased[$0]) }
            },
            read: { (users, reader) throws(ColumnError) in
                let erased: [UInt32] = try reader.readArray(try reader.readCount())
                try require(zip(erased, erased.dropFirst()).allSatisfy { $0 < $1 }, "the erased users do not ascend")
                try require(erased.last.map { Int($0) < count } ?? true, "an erased user does not exist")
                for user in erased { users[Int(user)].isErased = true }
            })
    }

    private mutating func visitThreads(_ visitor: inout ColumnVisitor, _ ids: Identities)
        throws(ColumnError)
    {
        if visitor.isReading {
            for thread in 0..<ids.threads.count {
                threads.append(ThreadRow(isDistrict: ids.threads.id(thread).outwardCode != nil))
            }
        }
        try visitor.visit(eachOf: &threads) { $1(&$0.openedAt) }
        try visitor.visit(eachOf: &threads) { row, value in
            var opener = UInt64(row.openedBy)
            value(&opener)
            row.openedBy = Int(clamping: opener)
        }
        try visitor.visit(eachOf: &threads) { $1(&$0.lastEventNumber) }
        try visitor.visit(eachOf: &threads) { $1(&$0.ruleBits) }
        try visitor.visit(eachOf: &threads) { $1(&$0.ownerCount) }
        try visitor.visit(eachOf: &threads) { $1(&$0.pinCount) }
        try visitor.visit(eachOf: &threads) { $1(&$0.disclosedAt) }
        try visitor.visit(eachOf: &threads) { $1(&$0.oneBasedSecondMember) }
        if visitor.isReading {
            for row in threads {
                try require(row.openedAt <= head, "a thread was opened after \(head)")
                try require(
                    row.openedAt == 0 ? row.openedBy == 0 : row.openedBy < ids.users.count, "a thread has no opener")
                try require(
                    row.disclosedAt <= head && row.oneBasedSecondMember <= ids.users.count,
                    "a thread was disclosed or joined by nobody")
            }
        }
    }

    private mutating func visitSessions(_ visitor: inout ColumnVisitor, _ ids: Identities)
        throws(ColumnError)
    {
        if visitor.isReading {
            sessions = Column(repeatElement(SessionRow(startedAt: 0, user: 0), count: ids.sessions.count))
        }
        try visitor.visit(eachOf: &sessions) { $1(&$0.startedAt) }
        try visitor.visit(eachOf: &sessions) { $1(&$0.user) }
        try visitor.visit(eachOf: &sessions) { $1(&$0.hasEnded) }
        if visitor.isReading {
            for row in sessions {
                try require(row.startedAt <= head && row.user < ids.users.count, "a session has no user")
            }
        }
    }
}

extension Timestamp {
    /// The time as a checkpoint stores it.
    package var bits: UInt64 {
        get { UInt64(bitPattern: millisecondsSince1970) }
        set { self = Timestamp(millisecondsSince1970: Int64(bitPattern: newValue)) }
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
