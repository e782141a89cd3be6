import Columns

/// Messages and replies.
extension RuleState {
    func postMessage(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id = command.id, let message = ids.messages.find(id) {
            guard ids.threads.id(ids.messageFacts.parent(message)) == command.threadID,
                ids.users.id(ids.messageFacts.author(message)) == command.actorID
            else {
                throw .identifierTaken
            }
            return .duplicate(of: ids.messageFacts.position(message)...ids.messageFacts.position(message))
        }
        let (author, thread) = try actorAndThread(command, ids, envelope)
        let membership = try requireMember(author, of: thread, ids)
        try requireWritable(thread, membership, at: envelope.recordedAt, ids)
        let returning = try userBroughtBack(by: author, to: thread, ids, envelope)
        guard MessageBody.isValid(command.text) else { throw .invalidBody }
        let mentions = try mentions(of: command, in: thread, returning: returning, ids)
        let number = appendReturn(of: returning, to: thread, ids, envelope, &batch)
        batch.append(
            envelope.row(.messagePosted, command.threadID, number, command.actorID, secondID: envelope.id), .none,
            EventIndexes(user: author, thread: thread, membership: membership), mentions: mentions)
        return .append
    }

    func postReply(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id = command.id, let reply = ids.replies.find(id) {
            guard command.post == .message(MessageID(bits: ids.messages.id(ids.replyFacts.parent(reply)))),
                ids.users.id(ids.replyFacts.author(reply)) == command.actorID
            else {
                throw .identifierTaken
            }
            return .duplicate(of: ids.replyFacts.position(reply)...ids.replyFacts.position(reply))
        }
        let (author, membership, found) = try visiblePost(command, ids, envelope)
        let (thread, message) = (found.thread, found.message)
        try requireWritable(thread, membership, at: envelope.recordedAt, ids)
        let returning = try userBroughtBack(by: author, to: thread, ids, envelope)
        guard !found.marks.isWithdrawn else { throw .retracted }
        guard MessageBody.isValid(command.text) else { throw .invalidBody }
        let mentions = try mentions(of: command, in: thread, returning: returning, ids)
        let number = appendReturn(of: returning, to: thread, ids, envelope, &batch)
        batch.append(
            envelope.row(
                .replyPosted, ids.threads.id(thread), number, command.actorID, secondID: envelope.id,
                message: ids.messages.id(message)),
            .none, EventIndexes(user: author, thread: thread, message: message), mentions: mentions)
        return .append
    }

    /// Appends the join of a user whom the next event brings back, if there is one.
    ///
    /// - Returns: The number in the thread of the event that follows.
    private func appendReturn(
        of user: Int?, to thread: Int, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) -> UInt64 {
        guard let user else { return nextNumber(in: thread) }
        appendJoin(ids.userID(user), user, thread, ids, envelope, &batch)
        return nextNumber(in: thread) &+ 1
    }

    func edit(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id = command.id, let edit = ids.edits.find(id) {
            guard ids.post(ofEdit: edit) == command.post, ids.users.id(ids.editFacts.author(edit)) == command.actorID
            else {
                throw .identifierTaken
            }
            return .duplicate(of: ids.editFacts.position(edit)...ids.editFacts.position(edit))
        }
        let (actor, membership, found) = try visiblePost(command, ids, envelope)
        try requireWritable(found.thread, membership, at: envelope.recordedAt, ids)
        guard found.author == actor else { throw .notTheAuthor }
        guard !found.marks.isWithdrawn else { throw .retracted }
        if let replaces = command.replaces, replaces != textPosition(of: found, command.post, ids) { throw .edited }
        guard MessageBody.isValid(command.text) else { throw .invalidBody }
        let mentions = try mentions(of: command, in: found.thread, ids)
        appendPostEvent(
            command.post.kind(.messageEdited, .replyEdited), command, found, actor, ids, envelope, &batch,
            mentions: mentions)
        return .append
    }

    func retract(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let actor = try requireActor(command.actorID, ids)
        let found = try find(command.post, for: actor, as: .ofAuthor, ids, envelope)
        guard found.author == actor else { throw .notTheAuthor }
        guard !found.marks.contains(.retracted) else { return .unchanged }
        appendPostEvent(
            command.post.kind(.messageRetracted, .replyRetracted), command, found, actor, ids, envelope, &batch)
        return .append
    }

    func remove(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let (actor, found) = try moderatedPost(command, isDecision: true, ids, envelope)
        guard !found.marks.contains(.removed) else { return .unchanged }
        try requireReason(command.text)
        appendPostEvent(command.post.kind(.messageRemoved, .replyRemoved), command, found, actor, ids, envelope, &batch)
        return .append
    }

    /// Appends an event about a post; only events about reports have no number in the thread.
    ///
    /// - Parameter content: The content; kept only if the kind is indexed.
    func appendPostEvent(
        _ kind: EventKind, _ command: borrowing ChatCommand, _ found: FoundPost, _ actor: Int,
        _ ids: borrowing Identities,
        _ envelope: EventEnvelope, _ batch: inout EventBatch, content: EventContent = .none, mentions: [UserID] = []
    ) {
        let threadID = ids.threads.id(found.thread)
        let number = kind.form.isNumbered ? nextNumber(in: found.thread) : 0
        var row =
            switch command.post {
            case .message(let id): envelope.row(kind, threadID, number, command.actorID, secondID: id.bits)
            case .reply(let id):
                envelope.row(
                    kind, threadID, number, command.actorID, secondID: id.bits, message: ids.messages.id(found.message))
            }
        if kind.form.has(.edit) { row.edit = envelope.id }
        if kind.form.layout == .post, command.post.isReply { row.flags.insert(.ofReply) }
        batch.append(
            row, content, EventIndexes(user: actor, thread: found.thread, second: found.post), mentions: mentions)
    }

    /// Returns the users whom the text of a command mentions, each once, who must be members of the
    /// thread.
    ///
    /// - Parameter returning: A user who becomes a member by the command.
    /// - Complexity: O(*n*) in the length of the list.
    private func mentions(
        of command: borrowing ChatCommand, in thread: Int, returning: Int? = nil, _ ids: borrowing Identities
    ) throws(Rejection) -> [UserID] {
        if command.mentions.isEmpty { return [] }
        var mentions: [UserID] = []
        for user in command.mentions where !mentions.contains(user) {
            guard mentions.count < MessageBody.maximumMentionCount else { throw .tooManyMentions }
            mentions.append(user)
        }
        for user in mentions where !isMember(user, of: thread, ids) {
            guard let returning, ids.userID(returning) == user else { throw .mentionsNonMember }
        }
        return mentions
    }

    /// Whether a user, who may be unknown, is a member of a thread now.
    func isMember(_ userID: UserID, of thread: Int, _ ids: borrowing Identities) -> Bool {
        ids.users.find(userID).map { isMember($0, of: thread, ids) } ?? false
    }

    /// Returns the position of the event that wrote the text of a post.
    private func textPosition(of found: FoundPost, _ post: PostID, _ ids: borrowing Identities) -> Position {
        let edit = post.isReply ? rare.replyEdits[found.post] : rare.messageEdits[found.post]
        if edit > 0 { return edit }
        return post.isReply ? ids.replyFacts.position(found.post) : ids.messageFacts.position(found.post)
    }

    /// A post's indexes: author, thread, the post itself, and its message (for a message, itself).
    typealias FoundPost = (author: Int, marks: PostMarks, thread: Int, post: Int, message: Int)

    /// Finds the post of a command whose acting user is a member of its thread and sees it.
    func visiblePost(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope
    ) throws(Rejection) -> (actor: Int, membership: Int, found: FoundPost) {
        let actor = try requireActor(command.actorID, ids)
        let found = try find(command.post, for: actor, ids, envelope)
        let membership = try requireMember(actor, of: found.thread, ids)
        guard isVisible(message: found.message, to: membership, ids) else { throw .unknown(command.post) }
        return (actor, membership, found)
    }

    /// Finds the post of a command whose acting user moderates its thread.
    ///
    /// - Parameter isDecision: Whether the command decides the reports of a post, as operators may
    ///   in a direct thread.
    func moderatedPost(
        _ command: borrowing ChatCommand, isDecision: Bool = false, _ ids: borrowing Identities,
        _ envelope: EventEnvelope
    ) throws(Rejection) -> (actor: Int, found: FoundPost) {
        let actor = try requireActor(command.actorID, ids)
        let found = try find(command.post, ids)
        if isDecision, decidesReports(of: command.post, found, actor, ids) { return (actor, found) }
        try requireKnown(command.post, found, to: actor, as: .ofModerator, ids, envelope)
        try requireModerator(actor, of: found.thread, ids)
        return (actor, found)
    }

    /// Finds a post in a thread that the acting user knows.
    ///
    /// Every command that names a post uses this function, as those that name a thread use
    /// ``requireThread(_:for:as:_:_:)``.
    func find(
        _ post: PostID, for actor: Int, as act: ThreadAct = .ofReader, _ ids: borrowing Identities,
        _ envelope: EventEnvelope
    ) throws(Rejection) -> FoundPost {
        let found = try find(post, ids)
        try requireKnown(post, found, to: actor, as: act, ids, envelope)
        return found
    }

    /// Throws unless the acting user knows the thread of a post.
    private func requireKnown(
        _ post: PostID, _ found: FoundPost, to actor: Int, as act: ThreadAct, _ ids: borrowing Identities,
        _ envelope: EventEnvelope
    ) throws(Rejection) {
        let isOwn = act == .ofAuthor && found.author == actor
        guard isOwn || isKnown(found.thread, to: actor, as: act, ids, envelope) else { throw .unknown(post) }
    }

    /// Finds a post, without a check of who asks.
    func find(_ post: PostID, _ ids: borrowing Identities) throws(Rejection) -> FoundPost {
        switch post {
        case .message(let id):
            guard let message = ids.messages.find(id.bits) else { throw .unknownMessage }
            return (
                ids.messageFacts.author(message), marks(message: message), ids.messageFacts.parent(message), message,
                message
            )
        case .reply(let id):
            guard let reply = ids.replies.find(id.bits) else { throw .unknownReply }
            let message = ids.replyFacts.parent(reply)
            return (ids.replyFacts.author(reply), marks(reply: reply), ids.messageFacts.parent(message), reply, message)
        }
    }

    /// Throws if a member may not write in a thread now.
    @inline(__always)
    func requireWritable(_ thread: Int, _ membership: Int, at time: Timestamp, _ ids: borrowing Identities)
        throws(Rejection)
    {
        try requireUnlocked(thread)
        if threads[thread].isDirect { try requireNoBlock(in: thread, ids) }
        if isSanctioned(.mute, membership, at: time) { throw .muted }
    }

    /// Whether a message exists for a member: it was posted after the start of what they may read,
    /// or they are an operator, and it was posted after the thread last ceased to be `inviteOnly`.
    func isVisible(message: Int, to membership: Int, _ ids: borrowing Identities) -> Bool {
        let (thread, position) = (ids.messageFacts.parent(message), ids.messageFacts.position(message))
        return position > rare.joins[membership]
            || threads[thread].policy != .inviteOnly && position > threads[thread].disclosedAt
                && isOperator(ids.memberships.pair(membership).first) && isDisclosed(position, in: thread)
    }

    /// Returns the marks of a message.
    package func marks(message: Int) -> PostMarks { PostMarks(rawValue: messageMarks[message]) }

    /// Returns the marks of a reply.
    package func marks(reply: Int) -> PostMarks { PostMarks(rawValue: replyMarks[reply]) }

    /// Marks a message as retracted or removed, and unpins it.
    mutating func withdraw(message: Int, _ mark: PostMarks, _ thread: Int) {
        var marks = marks(message: message).union(mark)
        if marks.remove(.pinned) != nil { threads[thread].pinCount &-= 1 }
        messageMarks[message] = marks.rawValue
    }
}

extension Rejection {
    /// The rejection of a post that does not exist, or not for this user.
    package static func unknown(_ post: PostID) -> Rejection {
        switch post {
        case .message: .unknownMessage
        case .reply: .unknownReply
        }
    }
}

extension PostID {
    /// Returns the kind for a message or for a reply.
    func kind(_ ofMessage: EventKind, _ ofReply: EventKind) -> EventKind {
        switch self {
        case .message: ofMessage
        case .reply: ofReply
        }
    }
}
