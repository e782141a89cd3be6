import Columns

/// Messages, replies and custom events.
extension RuleState {
    func postMessage(
        _ messageID: MessageID?, _ threadID: ThreadID, _ authorID: UserID, _ body: String, fresh: UInt128, _ ids: borrowing Identities,
        _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let messageID, let message = ids.messages.find(messageID.bits) {
            guard ids.threads.id(ids.messageFacts.parent(message)) == threadID, ids.users.id(ids.messageFacts.author(message)) == authorID
            else {
                throw .identifierTaken
            }
            return .duplicate(of: ids.messageFacts.position(message)...ids.messageFacts.position(message))
        }
        let author = try requireUser(authorID, ids)
        let thread = try requireThread(threadID, for: author, ids, envelope)
        let membership = try requireMember(author, of: thread, ids)
        try requireWritable(thread, membership, at: envelope.recordedAt)
        guard MessageBody.isValid(body) else { throw .invalidBody }
        batch.append(
            envelope.row(.messagePosted, threadID, nextNumber(in: thread), authorID, secondID: messageID?.bits ?? fresh), .none,
            EventIndexes(user: author, thread: thread, membership: membership))
        return .append
    }

    func postReply(
        _ replyID: ReplyID?, _ messageID: MessageID, _ authorID: UserID, _ body: String, fresh: UInt128, _ ids: borrowing Identities,
        _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let replyID, let reply = ids.replies.find(replyID.bits) {
            guard MessageID(bits: ids.messages.id(ids.replyFacts.parent(reply))) == messageID,
                ids.users.id(ids.replyFacts.author(reply)) == authorID
            else {
                throw .identifierTaken
            }
            return .duplicate(of: ids.replyFacts.position(reply)...ids.replyFacts.position(reply))
        }
        let author = try requireUser(authorID, ids)
        let found = try find(.message(messageID), for: author, ids, envelope)
        let (thread, message) = (found.thread, found.message)
        let membership = try requireMember(author, of: thread, ids)
        guard isVisible(message: message, to: membership, ids) else { throw .unknownMessage }
        try requireWritable(thread, membership, at: envelope.recordedAt)
        guard !found.marks.isWithdrawn else { throw .retracted }
        guard MessageBody.isValid(body) else { throw .invalidBody }
        batch.append(
            envelope.row(
                .replyPosted, ids.threads.id(thread), nextNumber(in: thread), authorID, secondID: replyID?.bits ?? fresh,
                message: messageID.bits),
            .none, EventIndexes(user: author, thread: thread, message: message))
        return .append
    }

    func edit(
        _ post: PostID, _ actorID: UserID, _ body: String, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let actor = try requireUser(actorID, ids)
        let found = try find(post, for: actor, ids, envelope)
        let membership = try requireMember(actor, of: found.thread, ids)
        guard isVisible(message: found.message, to: membership, ids) else { throw .unknown(post) }
        try requireWritable(found.thread, membership, at: envelope.recordedAt)
        guard found.author == actor else { throw .notTheAuthor }
        guard !found.marks.isWithdrawn else { throw .retracted }
        guard MessageBody.isValid(body) else { throw .invalidBody }
        appendPostEvent(post.kind(.messageEdited, .replyEdited), post, found, actorID, actor, ids, envelope, &batch)
        return .append
    }

    func retract(
        _ post: PostID, _ actorID: UserID, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let actor = try requireUser(actorID, ids)
        let found = try find(post, for: actor, as: .ofAuthor, ids, envelope)
        guard found.author == actor else { throw .notTheAuthor }
        guard !found.marks.contains(.retracted) else { return .unchanged }
        appendPostEvent(post.kind(.messageRetracted, .replyRetracted), post, found, actorID, actor, ids, envelope, &batch)
        return .append
    }

    /// Appends an event about a post; only events about reports have no number in the thread.
    func appendPostEvent(
        _ kind: EventKind, _ post: PostID, _ found: FoundPost, _ actorID: UserID, _ actor: Int, _ ids: borrowing Identities,
        _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) {
        let threadID = ids.threads.id(found.thread)
        let number = kind.form.isNumbered ? nextNumber(in: found.thread) : 0
        let row =
            switch post {
            case .message(let id): envelope.row(kind, threadID, number, actorID, secondID: id.bits)
            case .reply(let id): envelope.row(kind, threadID, number, actorID, secondID: id.bits, message: ids.messages.id(found.message))
            }
        batch.append(row, .none, EventIndexes(user: actor, thread: found.thread, second: found.post))
    }

    func custom(
        _ eventID: CustomEventID?, _ kind: String, _ threadID: ThreadID, _ userID: UserID, _ payload: CustomPayload, fresh: UInt128,
        _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let eventID, let event = ids.customEvents.find(eventID) {
            guard ids.threads.id(ids.customFacts.parent(event)) == threadID, ids.users.id(ids.customFacts.author(event)) == userID else {
                throw .identifierTaken
            }
            return .duplicate(of: ids.customFacts.position(event)...ids.customFacts.position(event))
        }
        let user = try requireUser(userID, ids)
        let thread = try requireThread(threadID, for: user, ids, envelope)
        let membership = try requireMember(user, of: thread, ids)
        try requireWritable(thread, membership, at: envelope.recordedAt)
        guard CustomKind.isValid(kind) else { throw .invalidKind }
        guard payload.isWithinLimit else { throw .invalidPayload }
        batch.append(
            envelope.row(.custom, threadID, nextNumber(in: thread), userID, secondID: eventID?.bits ?? fresh), .none,
            EventIndexes(user: user, thread: thread))
        return .append
    }
}
