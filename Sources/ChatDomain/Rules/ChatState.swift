/// The state of the decider: everything the rules need to decide a command.
///
/// A value type: ``decide(_:at:freshID:)`` reads it and ``evolve(_:at:)`` applies one event. The
/// same events produce the same state on every machine and in every version. Message bodies are not
/// part of the state.
public struct ChatState: Equatable, Sendable {
    /// The interned keys.
    package private(set) var identities = Identities()
    /// The rows of the rules, by the indexes of `identities`.
    package private(set) var rules = RuleState()

    /// The position of the last applied event, or 0 before the first.
    public var head: Position { rules.head }

    /// The recording time of the last applied event; the next event is never recorded earlier.
    public var lastRecordedAt: Timestamp { rules.lastRecordedAt }

    /// Whether an event of an unknown kind was applied.
    ///
    /// The rules of a newer version may hold, so a store that finds such an event opens read-only.
    public var hasUnknownEvents: Bool { rules.hasUnknownEvents }

    /// The number of lost events; later events may refer to their effects.
    public var lostEventCount: Int { rules.lostEventCount }

    /// Creates the state before the first event.
    public init() {}

    /// Creates a state from its two parts.
    package init(_ identities: Identities, _ rules: RuleState) {
        self.identities = identities
        self.rules = rules
    }

    /// Applies one recorded event; this never fails.
    ///
    /// The state depends on the event's kept part and on the indexed content (usernames, subjects,
    /// postcodes). Erased content is missing from those indexes. Every user and thread that an
    /// event names gets an index, even if the event that registered or opened it was lost. A reply
    /// to an unknown message, or a change of an unknown post, advances only ``head`` and the
    /// counters of its thread.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - position: The event's position in the journal.
    /// - Complexity: O(1) on average.
    public mutating func evolve(_ event: ChatEvent, at position: Position) {
        var batch = EventBatch(from: position)
        batch.append(event)
        identities.resolve(&batch)
        rules.apply(batch, 0..<1)
    }

    /// Decides a command: returns the events that follow from it.
    ///
    /// Pure: the same state and arguments produce the same result. Rules are checked in the order
    /// that ``ChatDomain`` lists them. An id that the same author used before in the same place is
    /// a duplicate; that check comes before all others.
    ///
    /// - Parameters:
    ///   - request: The command, its correlation id and its origin.
    ///   - now: The current time. Events are recorded at this time, clamped to the range of
    ///     ``ChatEvent/recordedAt``, or at ``lastRecordedAt`` if that is later.
    ///   - freshID: The id for the new entity if the command supplies none.
    /// - Returns: The events to append, or the reason that no event follows.
    /// - Throws: ``Rejection`` if the command breaks a rule.
    /// - Complexity: O(1) on average, plus O(*n*) in the length of the command's text.
    public func decide(_ request: CommandRequest, at now: Timestamp, freshID: UInt128) throws(Rejection) -> Decision {
        var batch = EventBatch(from: head + 1)
        switch try rules.decide(request, identities, at: now, freshID: freshID, into: &batch) {
        case .append: return .append(batch.events(0..<batch.count, of: request))
        case .unchanged: return .unchanged
        case .duplicate(let positions): return .duplicate(of: positions)
        }
    }
}
