/// What the rules need to know in order to decide a command: the state of the decider.
///
/// A value: ``decide(_:at:freshID:)`` reads it and ``evolve(_:at:)`` applies one event. The same events give the same state, on whatever machine and
/// in whatever version. Bodies are not part of it.
public struct ChatState: Equatable, Sendable {
    package private(set) var identities = Identities()
    package private(set) var rules = RuleState()

    /// The position of the last event that the state has seen, 0 at the beginning.
    public var head: Position { rules.head }

    /// The time of that event; the next one is not recorded earlier.
    public var lastRecordedAt: Timestamp { rules.lastRecordedAt }

    /// Whether an event of unknown kind was seen: a newer version's rules may apply, so a store that meets one opens read-only.
    public var hasUnknownEvents: Bool { rules.hasUnknownEvents }

    /// How many events were seen to be lost: what came after the first of them may refer to what it told.
    public var lostEvents: Int { rules.lostEvents }

    /// Makes the state before the first event.
    public init() {}

    /// Joins the two parts of a state.
    package init(_ identities: Identities, _ rules: RuleState) {
        self.identities = identities
        self.rules = rules
    }

    /// Applies one recorded event; events never fail to apply.
    ///
    /// Works on the event's fact alone, but for the indexes over content (usernames, subjects, postcodes), which simply lack what has been erased. Whoever an
    /// event names gets an index, also where the event that registered or opened them was lost; a reply or a change of a message that was never heard
    /// of changes only ``head``.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - position: Where it stands in the journal.
    /// - Complexity: O(1) on average.
    public mutating func evolve(_ event: ChatEvent, at position: Position) {
        var batch = EventBatch(from: position)
        batch.append(event.row, event.content)
        identities.resolve(&batch)
        rules.apply(batch, 0..<1)
    }

    /// Decides a command: which events follow from it, if any.
    ///
    /// Pure: the same state and arguments give the same answer. Refusals are checked in the order in which the rules of ``ChatDomain`` list them; an id that comes
    /// again from the same author for the same place is a duplicate before every other check.
    ///
    /// - Parameters:
    ///   - request: The command, its correlation id and its origin.
    ///   - now: The time of the clock; events are recorded at it, within the range of ``ChatEvent/recordedAt``, or at the time of the last event if that is later.
    ///   - freshID: An id that the events may use if the command bears none.
    /// - Returns: The events to append, or why there are none.
    /// - Throws: ``Rejection`` if the command breaks a rule.
    /// - Complexity: O(1) on average, and O(*n*) in the length of the command's text.
    public func decide(_ request: CommandRequest, at now: Timestamp, freshID: UInt128) throws(Rejection) -> Decision {
        var batch = EventBatch(from: head + 1)
        switch try rules.decide(request, identities, at: now, freshID: freshID, into: &batch) {
        case .append: return .append(batch.events(0..<batch.count, of: request))
        case .unchanged: return .unchanged
        case .duplicate(let positions): return .duplicate(of: positions)
        }
    }
}
