package import Columns

/// The numbers that users, threads and messages have, each in the order in which events first named them.
///
/// Apart from the rest of the state, because giving an event these numbers needs nothing of the rest, and the rest nothing of these ids: a replay does the one ahead
/// of the other, on another processor.
package struct Numbering: Equatable, Sendable {
    package internal(set) var users = DenseIndex<UserID>()
    package internal(set) var threads = DenseIndex<ThreadID>()
    package internal(set) var messages = IDTable()

    package init() {}

    /// Makes room for so many things, before the first of them.
    mutating func reserve(_ sizes: StateSizes) { messages.reserve(sizes.messages) }
}

extension Numbering {
    /// Gives an event its numbers: the ones that its ids have, or the next.
    mutating func resolve(_ event: EventRow) -> EventNumbers {
        var numbers = EventNumbers()
        if event.namesUser { numbers.userEntry = EventNumbers.entry(users.insert(UserID(bits: event.user)).number) }
        if event.namesThread { numbers.threadEntry = EventNumbers.entry(threads.insert(ThreadID(bits: event.thread)).number) }
        if let lookUp = event.messageLookUp {
            let found = messages.lookUp(lookUp)
            numbers.note(message: EventNumbers.entry(found.number), isNew: found.isNew, event)
        }
        return numbers
    }

    /// Gives consecutive events their numbers, as one after the other has them.
    ///
    /// A number depends on the ids of its kind before it alone, so it is one kind after another, each in its own part of memory.
    package mutating func resolve(_ events: EventRows) -> NumberedEvents {
        let rows = events.rows
        var numbers = [EventNumbers](repeating: EventNumbers(), count: rows.count)
        var (ofUsers, ofThreads, ofMessages) = (LookUps(rows.count), LookUps(rows.count), LookUps(rows.count))
        for index in rows.indices {
            if rows[index].namesUser { ofUsers.append(rows[index].user, for: index) }
            if rows[index].namesThread { ofThreads.append(rows[index].thread, for: index) }
            if let lookUp = rows[index].messageLookUp { ofMessages.append(lookUp, for: index) }
        }
        ofUsers.forEach(users.insert(ofUsers.ids)) { numbers[$0].userEntry = $1 }
        ofThreads.forEach(threads.insert(ofThreads.ids)) { numbers[$0].threadEntry = $1 }
        var count = UInt32(truncatingIfNeeded: messages.count)
        ofMessages.forEach(messages.lookUp(ofMessages.ids, inserting: ofMessages.inserting)) { index, entry in
            numbers[index].note(message: entry, isNew: entry > count, rows[index])
            count = max(count, entry)
        }
        return NumberedEvents(events, numbers, userCount: users.count, threadCount: threads.count)
    }
}

extension EventRow {
    fileprivate var namesUser: Bool { kind != nil && kind != .lost }

    fileprivate var namesThread: Bool { kind?.namesThread ?? false }

    /// The message whose number the event asks for, and whether it gets one.
    fileprivate var messageLookUp: (id: UInt128, inserts: Bool)? {
        switch kind {
        case .messagePosted: (post, true)
        case .replyPosted: (message, false)
        case .messageEdited, .messageRetracted: (post, false)
        default: nil
        }
    }
}

extension EventNumbers {
    @inline(__always)
    fileprivate mutating func note(message entry: UInt32, isNew: Bool, _ event: EventRow) {
        if event.kind == .replyPosted { messageEntry = entry } else { (postEntry, self.isNew) = (entry, isNew) }
    }
}
