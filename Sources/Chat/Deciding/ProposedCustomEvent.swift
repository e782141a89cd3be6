public import ChatDomain

/// A custom event that a command would append: what ``StoreOptions/customEventFault`` checks.
public struct ProposedCustomEvent: Hashable, Sendable {
    /// The kind.
    public let kind: CustomKind
    /// The payload.
    public let payload: CustomPayload
    /// The thread.
    public let thread: ThreadID
    /// The user who acts.
    public let by: UserID
    /// The id that the caller chose; nil if the store will make one.
    public let id: CustomEventID?

    /// The event of a command; nil for a command of another kind, and for one without a kind or a
    /// payload that is right.
    init?(_ command: ChatCommand) {
        guard command.kind == .custom, let kind = command.label.flatMap({ CustomKind($0) }),
            let payload = command.payload
        else {
            return nil
        }
        (self.kind, self.payload) = (kind, payload)
        (thread, by, id) = (command.threadID, command.actorID, command.id.map { CustomEventID(bits: $0) })
    }
}
