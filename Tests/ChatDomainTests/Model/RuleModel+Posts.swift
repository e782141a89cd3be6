import ChatDomain

extension RuleModel {
    mutating func post(
        _ id: MessageID?, _ thread: ThreadID, _ author: UserID, _ body: String, mentions: [UserID], _ draft: Draft
    ) throws(Refusal) -> Answer {
        if let id, let known = messages[id] {
            try check(known.thread == thread && known.author == author, .identifierTaken)
            return .duplicate(first: known.position, last: known.position)
        }
        try check(users[author] != nil, .unknownUser)
        try check(knows(author, thread, draft), .unknownThread)
        try check(isMember(author, thread), .notAMember)
        try checkPosting(author, thread, draft)
        let returning = try returning(author, to: thread)
        try check(isBody(body), .invalidBody)
        for user in returning { becomeMember(user, thread, at: head + 1) }
        let mentioned = try mentioned(mentions, thread)
        let message = id ?? MessageID(bits: draft.freshID)
        messages[message] = Message(thread: thread, author: author, position: head + 1 + Position(returning.count))
        let number = next(thread, after: UInt64(returning.count))
        let details = EventShape.message(thread: thread, number: number, message: message, by: author)
        return append(
            joins(of: returning, thread) + [(.init(.messagePosted, details), .body(body))], mentions: mentioned, draft)
    }

    mutating func reply(
        _ id: ReplyID?, _ message: MessageID, _ author: UserID, _ body: String, mentions: [UserID], _ draft: Draft
    ) throws(Refusal) -> Answer {
        if let id, let known = replies[id] {
            try check(known.message == message && known.author == author, .identifierTaken)
            return .duplicate(first: known.position, last: known.position)
        }
        try check(users[author] != nil, .unknownUser)
        guard let answered = messages[message], knows(author, answered.thread, draft) else {
            throw Refusal(code: .unknownMessage)
        }
        try check(isMember(author, answered.thread), .notAMember)
        try check(!isHidden(answered, from: author), .unknownMessage)
        try checkPosting(author, answered.thread, draft)
        let returning = try returning(author, to: answered.thread)
        try check(!answered.isWithdrawn, .retracted)
        try check(isBody(body), .invalidBody)
        for user in returning { becomeMember(user, answered.thread, at: head + 1) }
        let mentioned = try mentioned(mentions, answered.thread)
        let reply = id ?? ReplyID(bits: draft.freshID)
        replies[reply] = Reply(message: message, author: author, position: head + 1 + Position(returning.count))
        let number = next(answered.thread, after: UInt64(returning.count))
        let details = EventShape.reply(
            thread: answered.thread, number: number, message: message, reply: reply, by: author)
        return append(
            joins(of: returning, answered.thread) + [(.init(.replyPosted, details), .body(body))], mentions: mentioned,
            draft)
    }

    mutating func edit(
        _ id: EditID?, _ post: PostID, _ by: UserID, _ body: String, mentions: [UserID], replaces: Position?,
        _ draft: Draft
    ) throws(Refusal) -> Answer {
        if let id {
            if let known = journal.firstIndex(where: { $0.edit == id }) {
                try check(Self.edited(journal[known]) == post && journal[known].user == by, .identifierTaken)
                return .duplicate(first: Position(known) + 1, last: Position(known) + 1)
            }
        }
        try check(users[by] != nil, .unknownUser)
        let message: Message
        let (author, isWithdrawn, details): (UserID, Bool, EventDetails)
        switch post {
        case .message(let id):
            guard let found = messages[id], knows(by, found.thread, draft) else { throw Refusal(code: .unknownMessage) }
            (message, author, isWithdrawn) = (found, found.author, found.isWithdrawn)
            details = .init(
                .messageEdited, .message(thread: found.thread, number: next(found.thread), message: id, by: by))
        case .reply(let id):
            guard let found = replies[id], let answered = messages[found.message], knows(by, answered.thread, draft)
            else {
                throw Refusal(code: .unknownReply)
            }
            (message, author, isWithdrawn) = (answered, found.author, found.isWithdrawn)
            let number = next(answered.thread)
            details = .init(
                .replyEdited, .reply(thread: answered.thread, number: number, message: found.message, reply: id, by: by)
            )
        }
        try check(isMember(by, message.thread), .notAMember)
        try check(!isHidden(message, from: by), post.isReply ? .unknownReply : .unknownMessage)
        try checkPosting(by, message.thread, draft)
        try check(author == by, .notTheAuthor)
        try check(!isWithdrawn, .retracted)
        if let replaces {
            let last = journal.lastIndex { Self.edited($0) == post || Self.posted($0) == post }
            try check(last.map { Position($0) + 1 } == replaces, .edited)
        }
        try check(isBody(body), .invalidBody)
        let mentioned = try mentioned(mentions, message.thread)
        return append([(details, .body(body))], edit: id ?? EditID(bits: draft.freshID), mentions: mentioned, draft)
    }

    /// Returns the users, each at its first place, who must be members.
    private func mentioned(_ users: [UserID], _ thread: ThreadID) throws(Refusal) -> [UserID] {
        let mentioned = users.enumerated().filter { !users[..<$0.offset].contains($0.element) }.map(\.element)
        try check(mentioned.count <= 50, .tooManyMentions)
        for user in mentioned { try check(isMember(user, thread), .notAMember) }
        return mentioned
    }

    private static func edited(_ event: ChatEvent) -> PostID? {
        switch event.kind {
        case .messageEdited: event.message.map(PostID.message)
        case .replyEdited: event.reply.map(PostID.reply)
        default: nil
        }
    }

    private static func posted(_ event: ChatEvent) -> PostID? {
        switch event.kind {
        case .messagePosted: event.message.map(PostID.message)
        case .replyPosted: event.reply.map(PostID.reply)
        default: nil
        }
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
        let details = EventShape.reply(
            thread: message.thread, number: next(message.thread), message: reply.message, reply: id, by: by)
        return append([(.init(.replyRetracted, details), .none)], draft)
    }
}
