package import Columns

/// The numbers of what there is only with something else: memberships of a user in a thread, replies to a message, sessions of a user; each in the order in which
/// events first named them.
package struct DependentNumbering: Equatable, Sendable {
    /// The pairs of a user and a thread that ever had to do with one another.
    package internal(set) var memberships = PairIndex()
    package internal(set) var replies = IDTable()
    package internal(set) var sessions = DenseIndex<SessionID>()

    package init() {}

    /// Removes all but the keys, in a copy that is only written.
    ///
    /// A change of the original then copies no slots.
    mutating func removeSlots() {
        memberships.removeSlots()
        replies.removeSlots()
        sessions.removeSlots()
    }

    /// Makes room for so many things, before the first of them.
    mutating func reserve(_ sizes: StateSizes) {
        memberships.reserve(sizes.memberships)
        replies.reserve(sizes.replies)
    }
}

extension DependentNumbering {
    /// Completes the numbers of an event: the ones that there are, or the next.
    mutating func resolve(_ event: EventRow, _ numbers: inout EventNumbers) {
        if event.isOfMembership { numbers.note(membership: memberships.insert(numbers.user, numbers.thread)) }
        if let lookUp = event.replyLookUp(numbers) { numbers.note(reply: replies.lookUp(lookUp)) }
        resolveSession(event, &numbers)
    }

    /// Completes the numbers of consecutive events, as one after the other has them.
    mutating func resolve(_ events: [EventRow], _ numbers: inout [EventNumbers]) {
        var numbers = numbers.mutableSpan
        var (ofMemberships, ofReplies): ([Int], [Int]) = ([], [])
        var pairs: [(first: Int, second: Int)] = []
        var (ids, inserting): ([UInt128], [Bool]) = ([], [])
        for index in events.indices {
            if events[index].isOfMembership {
                ofMemberships.append(index)
                pairs.append((numbers[index].user, numbers[index].thread))
            }
            if let lookUp = events[index].replyLookUp(numbers[index]) {
                ofReplies.append(index)
                ids.append(lookUp.id)
                inserting.append(lookUp.inserts)
            }
            resolveSession(events[index], &numbers[index])
        }
        var count = memberships.count
        let foundMemberships = memberships.insert(pairs)
        for (which, index) in ofMemberships.enumerated() {
            let entry = Int(foundMemberships[which])
            numbers[index].note(membership: (entry - 1, entry > count))
            count = max(count, entry)
        }
        count = replies.count
        let foundReplies = replies.lookUp(ids, inserting: inserting)
        for (which, index) in ofReplies.enumerated() {
            let entry = Int(foundReplies[which])
            numbers[index].note(reply: (entry - 1, entry > count))
            count = max(count, entry)
        }
    }

    @inline(__always)
    private mutating func resolveSession(_ event: EventRow, _ numbers: inout EventNumbers) {
        switch event.kind {
        case .sessionStarted: numbers.note(reply: sessions.insert(SessionID(bits: event.post)))
        case .sessionEnded: numbers.note(reply: (sessions.find(SessionID(bits: event.post)), false))
        default: break
        }
    }
}

extension EventRow {
    @inline(__always)
    fileprivate var isOfMembership: Bool { kind?.isOfMembership ?? false }

    /// The reply whose number the event asks for, and whether it gets one; a reply to a message that was never heard of is none.
    @inline(__always)
    fileprivate func replyLookUp(_ numbers: EventNumbers) -> (id: UInt128, inserts: Bool)? {
        switch kind {
        case .replyPosted: numbers.messageEntry > 0 ? (post, true) : nil
        case .replyEdited, .replyRetracted: (post, false)
        default: nil
        }
    }
}

extension EventNumbers {
    @inline(__always)
    fileprivate mutating func note(membership found: (index: Int, isNew: Bool)) {
        (membershipEntry, isNew) = (Self.entry(found.index), found.isNew)
    }

    /// Notes a reply, or a session.
    @inline(__always)
    fileprivate mutating func note(reply found: (index: Int?, isNew: Bool)) {
        (postEntry, isNew) = (Self.entry(found.index), found.isNew)
    }
}
