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

    /// Removes all but the ids, in a copy that is only written.
    ///
    /// A change of the original then copies no slots.
    mutating func removeSlots() {
        users.removeSlots()
        threads.removeSlots()
        messages.removeSlots()
    }

    /// Makes room for so many things, before the first of them.
    mutating func reserve(_ sizes: StateSizes) { messages.reserve(sizes.messages) }
}

extension Numbering {
    /// Gives an event its numbers: the ones that its ids have, or the next.
    mutating func resolve(_ event: EventRow) -> EventNumbers {
        var numbers = EventNumbers()
        if event.namesUser { numbers.userEntry = EventNumbers.entry(users.insert(UserID(bits: event.user)).index) }
        if event.namesThread { numbers.threadEntry = EventNumbers.entry(threads.insert(ThreadID(bits: event.thread)).index) }
        if let lookUp = event.messageLookUp {
            let found = messages.lookUp(lookUp)
            numbers.note(message: EventNumbers.entry(found.index), isNew: found.isNew, event)
        }
        return numbers
    }

    /// Gives consecutive events their numbers, as one after the other has them.
    ///
    /// A number depends on the ids of its kind before it alone, so it is one kind after another, each in its own part of memory.
    package mutating func resolve(_ events: inout NumberedEvents) {
        let rows = events.events.rows
        // An event that names none asks for any id and is not given a number for it: seldom, and less work than to ask for the others apart.
        let ofUsers = users.lookUp(rows.map(\.user), inserting: rows.map(\.namesUser))
        let ofThreads = threads.lookUp(rows.map(\.thread), inserting: rows.map(\.namesThread))
        var count = UInt32(truncatingIfNeeded: messages.count)
        let ofMessages = messages.lookUp(rows.map { $0.messageLookUp?.id ?? 0 }, inserting: rows.map { $0.messageLookUp?.inserts ?? false })
        var numbers = events.numbers.mutableSpan
        for index in rows.indices {
            if rows[index].namesUser { numbers[index].userEntry = ofUsers[index] }
            if rows[index].namesThread { numbers[index].threadEntry = ofThreads[index] }
            guard rows[index].messageLookUp != nil else { continue }
            numbers[index].note(message: ofMessages[index], isNew: ofMessages[index] > count, rows[index])
            count = max(count, ofMessages[index])
        }
        (events.userCount, events.threadCount) = (users.count, threads.count)
    }
}

extension EventRow {
    @inline(__always)
    fileprivate var namesUser: Bool { kind != nil && kind != .lost }

    @inline(__always)
    fileprivate var namesThread: Bool { kind?.namesThread ?? false }

    /// The message whose number the event asks for, and whether it gets one.
    @inline(__always)
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
