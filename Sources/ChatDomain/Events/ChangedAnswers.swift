/// The answers that an event can change: a column of the table of kinds.
///
/// The live views of a store, the copy of a client and the page of the server read what a kind has
/// here, so that each asks again for what can be another one, and for nothing else. An erasure can
/// change any answer, and has a notice of its own.
package struct ChangedAnswers: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    @inline(__always)
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A user's own details, but for the counts of replies and reactions of the latest messages,
    /// which change with ``messages``.
    @inline(__always) package static var details: Self { Self(rawValue: 1) }
    /// The list of threads, of which the order is that of their last positions.
    @inline(__always) package static var threads: Self { Self(rawValue: 1 << 1) }
    /// The inbox and the invitations of any user.
    @inline(__always) package static var inbox: Self { Self(rawValue: 1 << 2) }
    /// What moderators set or see of the thread: its name, policy and lock, the standings, roles, sanctions,
    /// invitations, pins and reports.
    @inline(__always) package static var moderation: Self { Self(rawValue: 1 << 3) }
    /// The messages of the thread.
    @inline(__always) package static var messages: Self { Self(rawValue: 1 << 4) }
    /// The replies to a message of the thread.
    @inline(__always) package static var replies: Self { Self(rawValue: 1 << 5) }
    /// The members of the thread, and any answer about it, because a user may read more or less of
    /// it than before.
    @inline(__always) package static var access: Self { Self(rawValue: 1 << 6) }
    /// The inbox of the users who are told of the event (``RecordedEvent/inbox``), and of no other.
    @inline(__always) package static var inboxOfTold: Self { Self(rawValue: 1 << 7) }

    /// None of its own: what the layout of an event says.
    @inline(__always) static var ofLayout: Self { Self(rawValue: 0) }
    /// What the beginning and the end of a membership change.
    @inline(__always) static var membership: Self { details.union(.inbox).union(.moderation).union(.access) }
    /// The answers of any reader, which a name and an event of an unknown kind can change.
    @inline(__always) package static var any: Self { Self(rawValue: 0x7F) }

    /// The members with their names, for a table that is printed.
    package static let named: [(name: String, answers: Self)] = [
        ("details", .details), ("threads", .threads), ("inbox", .inbox), ("moderation", .moderation),
        ("messages", .messages), ("replies", .replies), ("access", .access), ("inboxOfTold", .inboxOfTold),
    ]
}

extension EventKind {
    /// Returns the kinds of events that can change some of these answers.
    package static func changing(_ answers: ChangedAnswers) -> Set<EventKind> {
        Set(allCases.filter { !$0.form.changes.isDisjoint(with: answers) })
    }
}

extension RecordedEvent {
    /// Whether the event can change some of these answers for its reader, unless it erases content.
    package func changes(_ answers: ChangedAnswers) -> Bool {
        var changes = kind?.form.changes ?? .any
        if inbox != nil, changes.contains(.inboxOfTold) { changes.insert(.inbox) }
        return !changes.isDisjoint(with: answers)
    }
}
