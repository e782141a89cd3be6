public import ChatDomain

/// An event of `ChatEvents` with the token that continues after it.
///
/// The members of ``recorded`` are members of this type too: `event.position`, `event.body`.
@dynamicMemberLookup
public struct FollowedEvent: Hashable, Sendable {
    /// The event with its position.
    public let recorded: RecordedEvent
    /// Continues after the event, later or in another store of the same journal.
    ///
    /// It costs no read. It equals `ChatStore.resumeToken(after:)` of the event's position; on a
    /// log that is not a `HistoryLog`, it names the durable head when the event was read.
    public let resumeToken: ResumeToken

    /// Creates a delivered event, for example in a test.
    public init(recorded: RecordedEvent, resumeToken: ResumeToken) {
        self.recorded = recorded
        self.resumeToken = resumeToken
    }

    /// A member of ``recorded``.
    public subscript<Value>(dynamicMember member: KeyPath<RecordedEvent, Value>) -> Value { recorded[keyPath: member] }
}
