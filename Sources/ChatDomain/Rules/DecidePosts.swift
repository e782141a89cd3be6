import Columns

/// Messages, replies and custom events.
extension RuleState {
    func postMessage(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id = command.id, let message = ids.messages.find(id) {
            guard ids.threads.id(ids.messageFacts.parent(message)) == command.threadID,
                ids.users.id(ids.messageFacts.author(message)) == command.actorID
            else {
                throw .identifierTaken
            }
            return .duplicate(of: ids.messageFacts.position(message)...ids.messageFacts.position(message))
        }
        let author = try requireUser(command.actorID, ids)
        let thread = try requireThread(command.threadID, for: author, ids, envelope)
        let membership = try requireMember(author, of: thread, ids)
        try requireWritable(thread, membership, at: envelope.recordedAt)
        guard MessageBody.isValid(command.text) else { throw .invalidBody }
        batch.append(
            envelope.row(.messagePosted, command.threadID, nextNumber(in: thread), command.actorID, secondID: envelope.id), .none,
            EventIndexes(user: author, thread: thread, membership: membership))
        return .append
    }

    func postReply(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id = command.id, let reply = ids.replies.find(id) {
            guard command.post == .message(MessageID(bits: ids.messages.id(ids.replyFacts.parent(reply)))),
                ids.users.id(ids.replyFacts.author(reply)) == command.actorID
            else {
                throw .identifierTaken
            }
            return .duplicate(of: ids.replyFacts.position(reply)...ids.replyFacts.position(reply))
        }
        let author = try requireUser(command.actorID, ids)
        let found = try find(command.post, for: author, ids, envelope)
        let (thread, message) = (found.thread, found.message)
        let membership = try requireMember(author, of: thread, ids)
        guard isVisible(message: message, to: membership, ids) else { throw .unknownMessage }
        try requireWritable(thread, membership, at: envelope.recordedAt)
        guard !found.marks.isWithdrawn else { throw .retracted }
        guard MessageBody.isValid(command.text) else { throw .invalidBody }
        batch.append(
            envelope.row(
                .replyPosted, ids.threads.id(thread), nextNumber(in: thread), command.actorID, secondID: envelope.id,
                message: ids.messages.id(message)),
            .none, EventIndexes(user: author, thread: thread, message: message))
        return .append
    }

    func edit(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let actor = try requireUser(command.actorID, ids)
        let found = try find(command.post, for: actor, ids, envelope)
        let membership = try requireMember(actor, of: found.thread, ids)
        guard isVisible(message: found.message, to: membership, ids) else { throw .unknown(command.post) }
        try requireWritable(found.thread, membership, at: envelope.recordedAt)
        guard found.author == actor else { throw .notTheAuthor }
        guard !found.marks.isWithdrawn else { throw .retracted }
        guard MessageBody.isValid(command.text) else { throw .invalidBody }
        appendPostEvent(command.post.kind(.messageEdited, .replyEdited), command, found, actor, ids, envelope, &batch)
        return .append
    }

    func retract(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let actor = try requireUser(command.actorID, ids)
        let found = try find(command.post, for: actor, as: .ofAuthor, ids, envelope)
        guard found.author == actor else { throw .notTheAuthor }
        guard !found.marks.contains(.retracted) else { return .unchanged }
        appendPostEvent(command.post.kind(.messageRetracted, .replyRetracted), command, found, actor, ids, envelope, &batch)
        return .append
    }

    /// Appends an event about a post; only events about reports have no number in the thread.
    func appendPostEvent(
        _ kind: EventKind, _ command: borrowing ChatCommand, _ found: FoundPost, _ actor: Int, _ ids: borrowing Identities,
        _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) {
        let threadID = ids.threads.id(found.thread)
        let number = kind.form.isNumbered ? nextNumber(in: found.thread) : 0
        let row =
            switch command.post {
            case .message(let id): envelope.row(kind, threadID, number, command.actorID, secondID: id.bits)
            case .reply(let id):
                envelope.row(kind, threadID, number, command.actorID, secondID: id.bits, message: ids.messages.id(found.message))
            }
        batch.append(row, .none, EventIndexes(user: actor, thread: found.thread, second: found.post))
    }

    func custom(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id = command.id, let event = ids.customEvents.find(CustomEventID(bits: id)) {
            guard ids.threads.id(ids.customFacts.parent(event)) == command.threadID,
                ids.users.id(ids.customFacts.author(event)) == command.actorID
            else {
                throw .identifierTaken
            }
            return .duplicate(of: ids.customFacts.position(event)...ids.customFacts.position(event))
        }
        let user = try requireUser(command.actorID, ids)
        let thread = try requireThread(command.threadID, for: user, ids, envelope)
        let membership = try requireMember(user, of: thread, ids)
        try requireWritable(thread, membership, at: envelope.recordedAt)
        guard CustomKind.isValid(command.label ?? "") else { throw .invalidKind }
        guard command.payload?.isWithinLimit == true else { throw .invalidPayload }
        batch.append(
            envelope.row(.custom, command.threadID, nextNumber(in: thread), command.actorID, secondID: envelope.id), .none,
            EventIndexes(user: user, thread: thread))
        return .append
    }
}
