import ChatDomain

extension RuleModel {
    mutating func react(_ post: PostID, _ by: UserID, _ text: String, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[by] != nil, .unknownUser)
        let unknown: Rejection.Code = post.isReply ? .unknownReply : .unknownMessage
        guard let message = message(of: post), knows(by, message.thread, draft) else { throw Refusal(code: unknown) }
        try check(isMember(by, message.thread), .notAMember)
        try check(!isHidden(message, from: by), unknown)
        try checkPosting(by, message.thread, draft)
        if case .reply(let id) = post {
            try check(replies[id]?.isWithdrawn == false, .retracted)
        } else {
            try check(!message.isWithdrawn, .retracted)
        }
        guard let emoji = Emoji(text) else { throw Refusal(code: .invalidEmoji) }
        let present = reactions[post] ?? []
        let reaction = Reaction(user: by, emoji: emoji.text)
        if present.contains(reaction) { return .nothing }
        let different = Set(present.map(\.emoji)).union([emoji.text])
        try check(different.count <= 50 && present.count { $0.user == by } < 20, .tooManyReactions)
        reactions[post] = present + [reaction]
        return append([(EventDetails(.reactionAdded, shape(of: post, by)), .emoji(emoji))], draft)
    }

    mutating func unreact(_ post: PostID, _ by: UserID, _ text: String, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[by] != nil, .unknownUser)
        guard let message = message(of: post) else {
            throw Refusal(code: post.isReply ? .unknownReply : .unknownMessage)
        }
        let emoji = Emoji(text)
        if let emoji, let index = reactions[post]?.firstIndex(of: Reaction(user: by, emoji: emoji.text)) {
            reactions[post]?.remove(at: index)
            return append([(EventDetails(.reactionRemoved, shape(of: post, by)), .emoji(emoji))], draft)
        }
        try check(knows(by, message.thread, draft), post.isReply ? .unknownReply : .unknownMessage)
        try check(emoji != nil, .invalidEmoji)
        return .nothing
    }

    private func message(of post: PostID) -> Message? {
        switch post {
        case .message(let id): messages[id]
        case .reply(let id): replies[id].flatMap { messages[$0.message] }
        }
    }

    private func shape(of post: PostID, _ by: UserID) -> EventShape {
        guard let thread = message(of: post)?.thread else { preconditionFailure("the post exists") }
        switch post {
        case .message(let id): return .message(thread: thread, number: next(thread), message: id, by: by)
        case .reply(let id):
            guard let message = replies[id]?.message else { preconditionFailure("the reply exists") }
            return .reply(thread: thread, number: next(thread), message: message, reply: id, by: by)
        }
    }
}
