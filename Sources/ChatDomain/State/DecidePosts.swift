import Columns

/// Messages and replies.
extension RuleState {
    func postMessage(
        _ id: MessageID?, _ threadID: ThreadID, _ authorID: UserID, _ body: String, fresh: UInt128, _ ids: borrowing Identities,
        _ frame: EventFrame, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id, let known = ids.messages.find(id.bits) {
            guard ids.threads.id(ids.messageFacts.place(known)) == threadID, ids.users.id(ids.messageFacts.author(known)) == authorID else {
                throw .identifierTaken
            }
            return .duplicate(of: ids.messageFacts.position(known)...ids.messageFacts.position(known))
        }
        let author = try knownUser(authorID, ids)
        let thread = try knownThread(threadID, ids)
        guard let membership = ids.memberships.find(author, thread), memberships[membership].isMember else { throw .notAMember }
        guard MessageBody.isValid(body) else { throw .invalidBody }
        batch.append(
            frame.row(.messagePosted, threadID, nextNumber(in: thread), authorID, post: id?.bits ?? fresh), .none,
            EventIndexes(user: author, thread: thread, membership: membership))
        return .append
    }

    func postReply(
        _ id: ReplyID?, _ messageID: MessageID, _ authorID: UserID, _ body: String, fresh: UInt128, _ ids: borrowing Identities,
        _ frame: EventFrame, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id, let known = ids.replies.find(id.bits) {
            guard MessageID(bits: ids.messages.id(ids.replyFacts.place(known))) == messageID,
                ids.users.id(ids.replyFacts.author(known)) == authorID
            else {
                throw .identifierTaken
            }
            return .duplicate(of: ids.replyFacts.position(known)...ids.replyFacts.position(known))
        }
        let author = try knownUser(authorID, ids)
        guard let message = ids.messages.find(messageID.bits) else { throw .unknownMessage }
        let thread = ids.messageFacts.place(message)
        guard isMember(author, of: thread, ids) else { throw .notAMember }
        guard !isRetracted(message: message) else { throw .retracted }
        guard MessageBody.isValid(body) else { throw .invalidBody }
        batch.append(
            frame.row(
                .replyPosted, ids.threads.id(thread), nextNumber(in: thread), authorID, post: id?.bits ?? fresh, message: messageID.bits),
            .none, EventIndexes(user: author, thread: thread, message: message))
        return .append
    }

    func edit(
        _ post: PostID, _ by: UserID, _ body: String, _ ids: borrowing Identities, _ frame: EventFrame, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try knownUser(by, ids)
        let found = try find(post, ids)
        guard isMember(user, of: found.thread, ids) else { throw .notAMember }
        guard found.author == user else { throw .notTheAuthor }
        guard !found.isRetracted else { throw .retracted }
        guard MessageBody.isValid(body) else { throw .invalidBody }
        append(post, found, by, ifMessage: .messageEdited, ifReply: .replyEdited, ids, frame, &batch)
        return .append
    }

    func retract(
        _ post: PostID, _ by: UserID, _ ids: borrowing Identities, _ frame: EventFrame, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try knownUser(by, ids)
        let found = try find(post, ids)
        guard found.author == user else { throw .notTheAuthor }
        guard !found.isRetracted else { return .unchanged }
        append(post, found, by, ifMessage: .messageRetracted, ifReply: .replyRetracted, ids, frame, &batch)
        return .append
    }

    /// The indexes of a post: its author, its thread, itself and the message that it is or answers.
    private typealias FoundPost = (author: Int, isRetracted: Bool, thread: Int, post: Int, message: Int)

    private func find(_ post: PostID, _ ids: borrowing Identities) throws(Rejection) -> FoundPost {
        switch post {
        case .message(let id):
            guard let message = ids.messages.find(id.bits) else { throw .unknownMessage }
            return (
                ids.messageFacts.author(message), isRetracted(message: message), ids.messageFacts.place(message), message, message
            )
        case .reply(let id):
            guard let reply = ids.replies.find(id.bits) else { throw .unknownReply }
            let message = ids.replyFacts.place(reply)
            return (ids.replyFacts.author(reply), isRetracted(reply: reply), ids.messageFacts.place(message), reply, message)
        }
    }

    private func append(
        _ post: PostID, _ found: FoundPost, _ by: UserID, ifMessage: EventKind, ifReply: EventKind, _ ids: borrowing Identities,
        _ frame: EventFrame, _ batch: inout EventBatch
    ) {
        let thread = ids.threads.id(found.thread)
        let number = nextNumber(in: found.thread)
        let row =
            switch post {
            case .message(let message): frame.row(ifMessage, thread, number, by, post: message.bits)
            case .reply(let reply):
                frame.row(ifReply, thread, number, by, post: reply.bits, message: ids.messages.id(found.message))
            }
        batch.append(row, .none, EventIndexes(user: found.author, thread: found.thread, post: found.post))
    }
}
