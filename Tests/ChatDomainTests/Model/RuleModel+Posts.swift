import ChatDomain

extension RuleModel {
    mutating func post(_ id: MessageID?, _ thread: ThreadID, _ author: UserID, _ body: String, _ draft: Draft) throws(Refusal) -> Answer {
        if let id, let known = messages[id] {
            try check(known.thread == thread && known.author == author, .identifierTaken)
            return .duplicate(first: known.position, last: known.position)
        }
        try check(users[author] != nil, .unknownUser)
        try check(knows(author, thread, draft), .unknownThread)
        try check(isMember(author, thread), .notAMember)
        try checkPosting(author, thread, draft)
        try check(isBody(body), .invalidBody)
        let message = id ?? MessageID(bits: draft.freshID)
        messages[message] = Message(thread: thread, author: author, position: head + 1)
        let details = EventShape.message(thread: thread, number: next(thread), message: message, by: author)
        return append([(.init(.messagePosted, details), .body(body))], draft)
    }

    mutating func reply(_ id: ReplyID?, _ message: MessageID, _ author: UserID, _ body: String, _ draft: Draft) throws(Refusal) -> Answer {
        if let id, let known = replies[id] {
            try check(known.message == message && known.author == author, .identifierTaken)
            return .duplicate(first: known.position, last: known.position)
        }
        try check(users[author] != nil, .unknownUser)
        guard let answered = messages[message], knows(author, answered.thread, draft) else { throw Refusal(code: .unknownMessage) }
        try check(isMember(author, answered.thread), .notAMember)
        try check(!isHidden(answered, from: author), .unknownMessage)
        try checkPosting(author, answered.thread, draft)
        try check(!answered.isWithdrawn, .retracted)
        try check(isBody(body), .invalidBody)
        let reply = id ?? ReplyID(bits: draft.freshID)
        replies[reply] = Reply(message: message, author: author, position: head + 1)
        let details = EventShape.reply(thread: answered.thread, number: next(answered.thread), message: message, reply: reply, by: author)
        return append([(.init(.replyPosted, details), .body(body))], draft)
    }

    mutating func editMessage(_ id: MessageID, _ by: UserID, _ body: String, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[by] != nil, .unknownUser)
        guard let message = messages[id], knows(by, message.thread, draft) else { throw Refusal(code: .unknownMessage) }
        try check(isMember(by, message.thread), .notAMember)
        try check(!isHidden(message, from: by), .unknownMessage)
        try checkPosting(by, message.thread, draft)
        try check(message.author == by, .notTheAuthor)
        try check(!message.isWithdrawn, .retracted)
        try check(isBody(body), .invalidBody)
        let details = EventShape.message(thread: message.thread, number: next(message.thread), message: id, by: by)
        return append([(.init(.messageEdited, details), .body(body))], draft)
    }

    mutating func editReply(_ id: ReplyID, _ by: UserID, _ body: String, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[by] != nil, .unknownUser)
        guard let reply = replies[id], let message = messages[reply.message], knows(by, message.thread, draft) else {
            throw Refusal(code: .unknownReply)
        }
        try check(isMember(by, message.thread), .notAMember)
        try check(!isHidden(message, from: by), .unknownReply)
        try checkPosting(by, message.thread, draft)
        try check(reply.author == by, .notTheAuthor)
        try check(!reply.isWithdrawn, .retracted)
        try check(isBody(body), .invalidBody)
        let details = EventShape.reply(thread: message.thread, number: next(message.thread), message: reply.message, reply: id, by: by)
        return append([(.init(.replyEdited, details), .body(body))], draft)
    }

    mutating func retractMessage(_ id: MessageID, _ by: UserID, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[by] != nil, .unknownUser)
        guard let message = messages[id], message.author == by || knows(by, message.thread, draft) else {
            throw Refusal(code: .unknownMessage)
        }
        try check(message.author == by, .notTheAuthor)
        if message.retracted { return .nothing }
        messages[id]?.retracted = true
        threads[message.thread]?.pins.remove(id)
        let details = EventShape.message(thread: message.thread, number: next(message.thread), message: id, by: by)
        return append([(.init(.messageRetracted, details), .none)], draft)
    }

    mutating func retractReply(_ id: ReplyID, _ by: UserID, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[by] != nil, .unknownUser)
        guard let reply = replies[id], let message = messages[reply.message],
            reply.author == by || knows(by, message.thread, draft)
        else { throw Refusal(code: .unknownReply) }
        try check(reply.author == by, .notTheAuthor)
        if reply.retracted { return .nothing }
        replies[id]?.retracted = true
        let details = EventShape.reply(thread: message.thread, number: next(message.thread), message: reply.message, reply: id, by: by)
        return append([(.init(.replyRetracted, details), .none)], draft)
    }
}
