import Columns

/// Messages, replies and custom events.
extension RuleState {
    func postMessage(
        _ id: MessageID?, _ threadID: ThreadID, _ authorID: UserID, _ body: String, fresh: UInt128, _ ids: borrowing Identities,
        _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id, let known = ids.messages.find(id.bits) {
            guard ids.threads.id(ids.messageFacts.parent(known)) == threadID, ids.users.id(ids.messageFacts.author(known)) == authorID
            else {
                throw .identifierTaken
            }
            return .duplicate(of: ids.messageFacts.position(known)...ids.messageFacts.position(known))
        }
        let author = try requireUser(authorID, ids)
        let thread = try requireThread(threadID, ids)
        let membership = try requireMember(author, of: thread, ids)
        try requireWritable(thread, membership, at: envelope.recordedAt)
        guard MessageBody.isValid(body) else { throw .invalidBody }
        batch.append(
            envelope.row(.messagePosted, threadID, nextNumber(in: thread), authorID, post: id?.bits ?? fresh), .none,
            EventIndexes(user: author, thread: thread, membership: membership))
        return .append
    }

    func postReply(
        _ id: ReplyID?, _ messageID: MessageID, _ authorID: UserID, _ body: String, fresh: UInt128, _ ids: borrowing Identities,
        _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id, let known = ids.replies.find(id.bits) {
            guard MessageID(bits: ids.messages.id(ids.replyFacts.parent(known))) == messageID,
                ids.users.id(ids.replyFacts.author(known)) == authorID
            else {
                throw .identifierTaken
            }
            return .duplicate(of: ids.replyFacts.position(known)...ids.replyFacts.position(known))
        }
        let author = try requireUser(authorID, ids)
        guard let message = ids.messages.find(messageID.bits) else { throw .unknownMessage }
        let thread = ids.messageFacts.parent(message)
        let membership = try requireMember(author, of: thread, ids)
        guard isVisible(message: message, to: membership, ids) else { throw .unknownMessage }
        try requireWritable(thread, membership, at: envelope.recordedAt)
        guard !marks(message: message).isGone else { throw .retracted }
        guard MessageBody.isValid(body) else { throw .invalidBody }
        batch.append(
            envelope.row(
                .replyPosted, ids.threads.id(thread), nextNumber(in: thread), authorID, post: id?.bits ?? fresh, message: messageID.bits),
            .none, EventIndexes(user: author, thread: thread, message: message))
        return .append
    }

    func edit(
        _ post: PostID, _ by: UserID, _ body: String, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(by, ids)
        let found = try find(post, ids)
        let membership = try requireMember(user, of: found.thread, ids)
        guard isVisible(message: found.message, to: membership, ids) else { throw .unknown(post) }
        try requireWritable(found.thread, membership, at: envelope.recordedAt)
        guard found.author == user else { throw .notTheAuthor }
        guard !found.marks.isGone else { throw .retracted }
        guard MessageBody.isValid(body) else { throw .invalidBody }
        appendPostEvent(post.kind(.messageEdited, .replyEdited), post, found, by, user, ids, envelope, &batch)
        return .append
    }

    func retract(
        _ post: PostID, _ by: UserID, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(by, ids)
        let found = try find(post, ids)
        guard found.author == user else { throw .notTheAuthor }
        guard !found.marks.contains(.retracted) else { return .unchanged }
        appendPostEvent(post.kind(.messageRetracted, .replyRetracted), post, found, by, user, ids, envelope, &batch)
        return .append
    }

    /// Appends an event about a post; only events about reports have no number in the thread.
    ///
    /// - Parameters:
    ///   - by: The id of the acting user.
    ///   - user: The index of the acting user.
    func appendPostEvent(
        _ kind: EventKind, _ post: PostID, _ found: FoundPost, _ by: UserID, _ user: Int, _ ids: borrowing Identities,
        _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) {
        let thread = ids.threads.id(found.thread)
        let number = kind.isNumbered ? nextNumber(in: found.thread) : 0
        let row =
            switch post {
            case .message(let message): envelope.row(kind, thread, number, by, post: message.bits)
            case .reply(let reply): envelope.row(kind, thread, number, by, post: reply.bits, message: ids.messages.id(found.message))
            }
        batch.append(row, .none, EventIndexes(user: user, thread: found.thread, post: found.post))
    }

    func custom(
        _ id: CustomEventID?, _ kind: String, _ threadID: ThreadID, _ by: UserID, _ payload: CustomPayload, fresh: UInt128,
        _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id, let known = ids.customEvents.find(id) {
            guard ids.threads.id(ids.customFacts.parent(known)) == threadID, ids.users.id(ids.customFacts.author(known)) == by else {
                throw .identifierTaken
            }
            return .duplicate(of: ids.customFacts.position(known)...ids.customFacts.position(known))
        }
        let user = try requireUser(by, ids)
        let thread = try requireThread(threadID, ids)
        let membership = try requireMember(user, of: thread, ids)
        try requireWritable(thread, membership, at: envelope.recordedAt)
        guard CustomKind.isValid(kind) else { throw .invalidKind }
        guard payload.isWithinLimit else { throw .invalidPayload }
        batch.append(
            envelope.row(.custom, threadID, nextNumber(in: thread), by, post: id?.bits ?? fresh), .none,
            EventIndexes(user: user, thread: thread))
        return .append
    }
}
