import Columns

/// Messages and replies.
extension ChatState {
    func postMessage(
        _ id: MessageID?, _ threadID: ThreadID, _ authorID: UserID, _ body: String, fresh: MessageID, _ frame: EventFrame
    ) throws(Rejection) -> Decision {
        if let id, let known = numbering.messages.find(id.bits) {
            guard numbering.threads.id(messages.place(known)) == threadID, numbering.users.id(messages.author(known)) == authorID else {
                throw .identifierTaken
            }
            return .duplicate(of: messages.position(known)...messages.position(known))
        }
        let author = try knownUser(authorID)
        let thread = try knownThread(threadID)
        guard isMember(author, of: thread) else { throw .notAMember }
        guard MessageBody.isValid(body) else { throw .invalidBody }
        let number = nextNumber(in: thread)
        let fact = MessagePosted(thread: threadID, number: number, message: id ?? fresh, author: authorID)
        return .append([frame.event(.messagePosted(fact), .body(body))])
    }

    func postReply(
        _ id: ReplyID?, _ messageID: MessageID, _ authorID: UserID, _ body: String, fresh: ReplyID, _ frame: EventFrame
    ) throws(Rejection) -> Decision {
        if let id, let known = dependents.replies.find(id.bits) {
            guard MessageID(bits: numbering.messages.id(replies.place(known))) == messageID,
                numbering.users.id(replies.author(known)) == authorID
            else {
                throw .identifierTaken
            }
            return .duplicate(of: replies.position(known)...replies.position(known))
        }
        let author = try knownUser(authorID)
        guard let message = numbering.messages.find(messageID.bits) else { throw .unknownMessage }
        let thread = messages.place(message)
        guard isMember(author, of: thread) else { throw .notAMember }
        guard !messages.isRetracted(message) else { throw .retracted }
        guard MessageBody.isValid(body) else { throw .invalidBody }
        let fact = ReplyPosted(
            thread: numbering.threads.id(thread), number: nextNumber(in: thread), message: messageID, reply: id ?? fresh,
            author: authorID)
        return .append([frame.event(.replyPosted(fact), .body(body))])
    }

    func edit(_ post: Post, _ by: UserID, _ body: String, _ frame: EventFrame) throws(Rejection) -> Decision {
        let user = try knownUser(by)
        let found = try find(post)
        guard isMember(user, of: found.thread) else { throw .notAMember }
        guard found.author == user else { throw .notTheAuthor }
        guard !found.isRetracted else { throw .retracted }
        guard MessageBody.isValid(body) else { throw .invalidBody }
        return .append([frame.event(fact(of: post, found, by, ifMessage: Fact.messageEdited, ifReply: Fact.replyEdited), .body(body))])
    }

    func retract(_ post: Post, _ by: UserID, _ frame: EventFrame) throws(Rejection) -> Decision {
        let user = try knownUser(by)
        let found = try find(post)
        guard found.author == user else { throw .notTheAuthor }
        guard !found.isRetracted else { return .unchanged }
        return .append([frame.event(fact(of: post, found, by, ifMessage: Fact.messageRetracted, ifReply: Fact.replyRetracted))])
    }

    /// A post with the number of its thread and of the message that it is or replies to.
    private typealias FoundPost = (author: Int, isRetracted: Bool, thread: Int, message: Int)

    private func find(_ post: Post) throws(Rejection) -> FoundPost {
        switch post {
        case .message(let id):
            guard let message = numbering.messages.find(id.bits) else { throw .unknownMessage }
            return (messages.author(message), messages.isRetracted(message), messages.place(message), message)
        case .reply(let id):
            guard let reply = dependents.replies.find(id.bits) else { throw .unknownReply }
            let message = replies.place(reply)
            return (replies.author(reply), replies.isRetracted(reply), messages.place(message), message)
        }
    }

    private func fact(
        of post: Post, _ found: FoundPost, _ by: UserID, ifMessage: (MessageChanged) -> Fact, ifReply: (ReplyChanged) -> Fact
    ) -> Fact {
        let thread = numbering.threads.id(found.thread)
        let number = nextNumber(in: found.thread)
        switch post {
        case .message(let message): return ifMessage(MessageChanged(thread: thread, number: number, message: message, by: by))
        case .reply(let reply):
            let message = MessageID(bits: numbering.messages.id(found.message))
            return ifReply(ReplyChanged(thread: thread, number: number, message: message, reply: reply, by: by))
        }
    }
}
