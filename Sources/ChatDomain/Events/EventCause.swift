// The command that causes an event, as far as its kept part tells.

extension ChatCommand {
    /// Creates the command that causes an event, without its texts; nil if none does.
    init?(causing event: EventRow, _ kind: EventKind) {
        guard let cause = kind.form.cause else { return nil }
        self.init(cause)
        setFields(of: event, kind, cause)
    }

    /// Sets the fields of the command that causes an event.
    ///
    /// The texts are placeholders, on which no rule but that of the text depends.
    @inline(__always)
    mutating func setFields(of event: EventRow, _ kind: EventKind, _ cause: CommandKind) {
        let form = kind.form
        text = form.content == .emoji ? Emoji.placeholder : "0"
        let (user, second) = (UserID(bits: event.user), UserID(bits: event.secondID))
        (actorID, userID) = form.hasOtherActor ? (second, user) : (user, form.has(.blocked) ? second : user)
        switch cause {
        case .registerUser: id = event.user
        case .openThread, .openDirect: id = event.thread
        case .startSession, .endSession: id = event.secondID
        case .postMessage: (threadID, id) = (ThreadID(bits: event.thread), event.secondID)
        case .custom: (threadID, id, label) = (ThreadID(bits: event.thread), event.secondID, "com.example")
        case .reply: (postID, id) = (.message(MessageID(bits: event.message)), event.secondID)
        case .edit, .retract, .remove, .pin, .unpin, .report, .resolveReport, .react, .unreact:
            postID = PostID(bits: event.secondID, isReply: event.has(.reply))
            if cause == .edit { id = event.edit }
        default: threadID = ThreadID(bits: event.thread)
        }
        if form.has(.policy) { (policy, history) = (event.policyAndHistory.policy, event.policyAndHistory.history) }
        if form.has(.role), let code = ThreadRole(code: event.value) { role = code }
        if form.has(.until) { until = event.until }
        if form.has(.level) { level = event.level }
        if form.has(.upTo) { if cause == .markUnread { from = event.number &+ 1 } else { upTo = event.number } }
    }
}
