public import ChatDomain

/// The deciding state and the built-in read models in one value, over the same numbers and in the order of the journal.
///
/// Every question is asked as of a position: what stands after it is there and is not seen. So "now" is the last durable position, even while the state has
/// run ahead of the disk, and a question as of an earlier position goes the same way at about the same cost.
public struct ReadModels: Projection, Equatable {
    /// The name of the projection.
    public static let name = "built-in"
    /// Names, postcodes and subjects; no bodies.
    public static let contents = ContentSelection.indexed

    /// What the rules need to know.
    public internal(set) var state = ChatState()
    var timelines = ThreadTimelines()
    var membership = PostcodeMembership()
    var users = UserViews()
    var activity = Activity()

    /// The position of the last event that has been taken in.
    public var position: Position { state.head }

    /// Makes the read models before the first event.
    public init() {}

    /// Takes in the next event.
    public mutating func apply(_ event: Event, at position: Position) { apply(event.row, event.content, at: position) }

    private mutating func apply(_ event: EventRow, _ content: borrowing Content, at position: Position) {
        let numbers = state.resolvingEvolve(event, content, at: position)
        timelines.apply(event, content, at: position, numbers)
        membership.apply(event, at: position, numbers)
        users.apply(event, content, at: position, numbers)
        activity.apply(event, at: position, numbers)
    }
}

extension ReadModels {
    /// Decides a command on the state as it is.
    ///
    /// Here, because another module would have to copy the state in order to lend it.
    ///
    /// - Throws: ``ChatDomain/Rejection`` if the command breaks a rule.
    package func decide(_ request: CommandRequest, at now: Timestamp, freshID: UInt128) throws(Rejection) -> Decision {
        try state.decide(request, at: now, freshID: freshID)
    }

    /// Reads ahead what deciding some commands is going to read; see ``ChatDomain/ChatState/warm(_:)``.
    package func warm(_ requests: Span<CommandRequest>) { state.warm(requests) }

    /// Takes in the next events.
    ///
    /// One part after another, because each finds its own memory again.
    package mutating func apply(_ events: EventRows) {
        var events = NumberedEvents(events)
        for part in Part.allCases { apply(&events, to: part) }
    }

    /// A part that is moved on by itself: events go to one after the other, because each needs what the ones before it have put in.
    package enum Part: CaseIterable, Sendable {
        case numbering
        /// The state but for ``numbering``.
        case state
        case timelines
        /// Memberships and users: each is little.
        case membership
        case activity
    }

    /// Takes the next events into a part; what comes of it does not depend on where the other parts are.
    package mutating func apply(_ events: inout NumberedEvents, to part: Part) {
        switch part {
        case .numbering: state.resolve(&events)
        case .state: state.evolve(&events)
        case .timelines: timelines.apply(events)
        case .membership:
            membership.apply(events)
            users.apply(events)
        case .activity: activity.apply(events)
        }
    }

    /// Exchanges a part for that of other read models: gives it away, so that it can be moved on elsewhere, and takes it back.
    package mutating func exchange(_ part: Part, with other: inout ReadModels) {
        switch part {
        case .numbering: state.exchangeNumbering(with: &other.state)
        case .state:
            // The numbering is a part of its own.
            swap(&state, &other.state)
            state.exchangeNumbering(with: &other.state)
        case .timelines: swap(&timelines, &other.timelines)
        case .membership:
            swap(&membership, &other.membership)
            swap(&users, &other.users)
        case .activity: swap(&activity, &other.activity)
        }
    }

    /// Makes room for so many things, before the first of them.
    package mutating func reserve(_ sizes: StateSizes) { state.reserve(sizes) }
}
