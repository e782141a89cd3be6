package import Columns

/// The numbers that ids have, each in the order in which events first named them.
///
/// Apart from the rest of the state, because giving an event its numbers needs nothing of the rest and the rest nothing of the ids: a replay does the one ahead of the
/// other, on another processor, and most of its time are the look-ups here.
package struct Numbering: Equatable, Sendable {
    package internal(set) var users = DenseIndex<UserID>()
    package internal(set) var threads = DenseIndex<ThreadID>()
    /// The pairs of a user and a thread that ever had to do with one another.
    package internal(set) var memberships = PairIndex()
    package internal(set) var messages = IDTable()
    package internal(set) var replies = IDTable()
    package internal(set) var sessions = DenseIndex<SessionID>()

    package init() {}

    /// Makes room for so many things, before the first of them.
    package mutating func reserve(_ sizes: StateSizes) {
        memberships.reserve(sizes.memberships)
        messages.reserve(sizes.messages)
        replies.reserve(sizes.replies)
    }
}

/// How many there are of those things that there may be many of.
package struct StateSizes: Sendable {
    package var memberships = 0
    package var messages = 0
    package var replies = 0

    package init(memberships: Int = 0, messages: Int = 0, replies: Int = 0) {
        (self.memberships, self.messages, self.replies) = (memberships, messages, replies)
    }
}

/// The rows that an event is about; -1 where there is none.
package struct EventNumbers: Sendable {
    /// Who did it, or whom it concerns.
    package internal(set) var user = -1
    /// The thread; for a postcode that of its outward code.
    package internal(set) var thread = -1
    /// The membership of that user and that thread, for the events that change it.
    package internal(set) var membership = -1
    /// The message or the reply; the session for one.
    package internal(set) var post = -1
    /// The message that the reply answers, where the event posts or retracts a reply.
    package internal(set) var message = -1
    /// Whether the event changed anything: an id that was new, a membership that was not so, a post that was there to be changed.
    package internal(set) var isNew = false
}

extension Numbering {
    /// Gives an event its numbers: the ones that its ids have, or the next.
    package mutating func resolve(_ event: EventRow) -> EventNumbers {
        var numbers = EventNumbers()
        resolveUserAndThread(event, &numbers)
        resolveRest(event, &numbers)
        return numbers
    }

    /// Gives consecutive events their numbers, as one after the other has them.
    ///
    /// A few at a time, so that what is read ahead for them is still in the nearest cache when it is looked up.
    package mutating func resolve(_ events: [EventRow]) -> [EventNumbers] {
        var numbers = [EventNumbers](repeating: EventNumbers(), count: events.count)
        for start in stride(from: 0, to: events.count, by: Self.strip) {
            let strip = start..<min(start + Self.strip, events.count)
            warm(events[strip])
            for index in strip { resolveUserAndThread(events[index], &numbers[index]) }
            memberships.warm(
                strip.compactMap { events[$0].kind?.isOfMembership ?? false ? (numbers[$0].user, numbers[$0].thread) : nil })
            for index in strip { resolveRest(events[index], &numbers[index]) }
        }
        return numbers
    }

    private static let strip = 256

    /// Reads what looking up the ids of some events is going to read.
    private func warm(_ events: ArraySlice<EventRow>) {
        users.warm(events.map(\.user))
        threads.warm(events.map(\.thread))
        messages.warm(
            events.compactMap { event in
                switch event.kind {
                case .messagePosted, .messageEdited, .messageRetracted: event.post
                case .replyPosted: event.message
                default: nil
                }
            })
    }

    private mutating func resolveUserAndThread(_ event: EventRow, _ numbers: inout EventNumbers) {
        guard let kind = event.kind, kind != .lost else { return }
        numbers.user = users.insert(UserID(bits: event.user)).number
        if kind.namesThread { numbers.thread = threads.insert(ThreadID(bits: event.thread)).number }
    }

    private mutating func resolveRest(_ event: EventRow, _ numbers: inout EventNumbers) {
        switch event.kind {
        case .threadJoined, .threadLeft, .threadRead: numbers.membership = memberships.insert(numbers.user, numbers.thread).number
        case .messagePosted: (numbers.post, numbers.isNew) = messages.insert(event.post)
        case .replyPosted:
            // A reply to a message that was never heard of is none.
            guard let message = messages.find(event.message) else { return }
            numbers.message = message
            (numbers.post, numbers.isNew) = replies.insert(event.post)
        case .messageEdited, .messageRetracted: numbers.post = messages.find(event.post) ?? -1
        case .replyEdited, .replyRetracted: numbers.post = replies.find(event.post) ?? -1
        case .sessionStarted: (numbers.post, numbers.isNew) = sessions.insert(SessionID(bits: event.post))
        case .sessionEnded: numbers.post = sessions.find(SessionID(bits: event.post)) ?? -1
        case .userRegistered, .usernameChanged, .postcodeSet, .threadOpened, .lost, nil: break
        }
    }
}

extension ChatState {
    /// Reads ahead what deciding some commands is going to read.
    package func warm(_ requests: Span<CommandRequest>) { numbering.warm(requests) }
}

extension Numbering {
    /// Reads ahead what looking up the ids of some commands is going to read.
    func warm(_ requests: Span<CommandRequest>) {
        var (users, messages): ([UserID], [UInt128]) = ([], [])
        var members: [(user: UserID, thread: ThreadID)] = []
        users.reserveCapacity(requests.count)
        members.reserveCapacity(requests.count)
        messages.reserveCapacity(requests.count)
        for index in requests.indices {
            switch requests[index].command {
            case .postMessage(let message, let thread, let author, _):
                members.append((author, thread))
                if let message { messages.append(message.bits) }
            case .joinThread(let user, let thread), .leaveThread(let user, let thread), .markRead(let user, let thread, _):
                members.append((user, thread))
            case .reply(_, let message, let author, _):
                users.append(author)
                messages.append(message.bits)
            case .edit(.message(let message), let author, _), .retract(.message(let message), let author):
                users.append(author)
                messages.append(message.bits)
            default: break
            }
        }
        self.users.warm(users.map(\.bits) + members.map(\.user.bits))
        self.threads.warm(members.map(\.thread.bits))
        memberships.warm(
            members.compactMap { member in
                guard let user = self.users.find(member.user), let thread = self.threads.find(member.thread) else { return nil }
                return (user, thread)
            })
        self.messages.warm(messages)
    }
}
