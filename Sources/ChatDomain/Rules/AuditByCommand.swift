/// Roles, moderation and custom events, whose rules are those of the decider.
extension RuleState {
    /// Returns the fault of an event whose command the decider would not answer with this event.
    ///
    /// - Parameter content: The event's content; read only if the kind is indexed.
    func commandFault(
        of event: EventRow, _ content: borrowing EventContent, _ users: [UserID], _ ids: borrowing Identities
    ) -> HistoryFault? {
        guard var command = ChatCommand(causing: event) else { return nil }
        command.mentions = users
        if let emoji = content.emoji { command.text = emoji.text }
        let isLossPossible = lostEventCount > 0
        if isLossPossible, command.kind.form.concernsPost {
            // The loss may hide the role of the acting user, but not the thread of the post.
            let faults = faults(of: command.post, in: ThreadID(bits: event.thread), by: nil, unless: [], ids)
            if let fault = faults.first { return fault }
        }
        var batch = EventBatch(from: head + 1)
        let request = CommandRequest(command, origin: event.origin)
        do throws(Rejection) {
            switch try decide(request, ids, at: event.recordedAt, freshID: 0, into: &batch, isAudit: true) {
            case .append:
                var decided = batch.rows[0]
                (decided.number, decided.flags, decided.recordedAt, decided.createdAt) = (
                    event.number, event.flags, event.recordedAt, event.createdAt
                )
                return decided == event && batch.mentions(of: 0) == users
                    ? nil
                    : HistoryFault(problem: .unknownReference, message: "the ids of the event do not belong together")
            case .unchanged:
                // The reaction that is taken back can have been erased.
                let mayHaveErased = event.kind == .reactionRemoved && (content.emoji == nil || ids.reactions.hasErased)
                return isLossPossible || mayHaveErased
                    ? nil : HistoryFault(problem: .noEffect, message: "the effect of the event holds already")
            case .duplicate: return HistoryFault(problem: .identifierTwice, message: "the id of the event is in use")
            }
        } catch {
            if error.code == .identifierTaken { return HistoryFault(problem: .identifierTwice, message: error.message) }
            if isLossPossible { return nil }
            let isUnknown = [.unknownUser, .unknownThread, .unknownMessage, .unknownReply].contains(error.code)
            return HistoryFault(problem: isUnknown ? .unknownReference : .notPermitted, message: error.message)
        }
    }
}

extension ChatCommand {
    /// Creates the command that causes an event; nil if the audit has rules of its own for the
    /// kind.
    ///
    /// The reason, the kind, the payload and the emoji are placeholders, on which no other rule
    /// depends.
    init?(causing event: EventRow) {
        guard let form = event.kind?.form, let cause = form.cause else { return nil }
        self.init(cause)
        let (user, second) = (UserID(bits: event.user), UserID(bits: event.secondID))
        (actorID, userID) = form.hasOtherActor ? (second, user) : (user, form.has(.blocked) ? second : user)
        if form.has(.customEvent) { id = event.secondID }
        if cause.form.createsID, form.has(.thread), !form.has(.customEvent) {
            id = event.thread
        } else if cause.form.concernsPost {
            post = PostID(bits: event.secondID, isReply: event.has(.reply))
        } else {
            threadID = ThreadID(bits: event.thread)
        }
        if form.has(.policy) { (policy, history) = (event.policyAndHistory.policy, event.policyAndHistory.history) }
        if form.has(.role), let code = ThreadRole(code: event.value) { role = code }
        if form.has(.until) { until = event.until }
        if form.has(.level) { level = event.level }
        if form.has(.upTo) {
            if cause.form.fields.contains(.from) { from = event.number &+ 1 } else { upTo = event.number }
        }
        // The payload is the text too.
        (text, label) = (form.content == .emoji ? Emoji.placeholder : "0", "com.example")
    }
}
