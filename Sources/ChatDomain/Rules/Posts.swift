import Columns

/// Messages and replies.
extension RuleState {
    /// Decides a message or a reply.
    func post(
        _ command: borrowing ChatCommand, isReply: Bool, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id = command.id, let post = ids.find(PostID(bits: id, isReply: isReply)) {
            let isSame =
                isReply
                ? command.postID.bits == ids.posts.messages.id(ids.message(of: post))
                : command.threadID == ids.threads.id(ids.thread(of: post))
            return try repetition(isSame, ids.author(of: post), at: ids.position(of: post), command, ids)
        }
        let (author, thread, membership, answered) = try author(ofPost: command, isReply: isReply, ids, envelope)
        try requireWritable(thread, membership, at: envelope.recordedAt, ids)
        let returning = try userBroughtBack(by: author, to: thread, ids, envelope)
        if let answered, marks(of: answered).isWithdrawn { throw .retracted }
        guard MessageBody.isValid(command.text) else { throw .invalidBody }
        let mentions = try mentions(of: command, in: thread, returning: returning, ids)
        let number = appendReturn(of: returning, to: thread, ids, envelope, &batch)
        batch.append(
            envelope.row(
                isReply ? .replyPosted : .messagePosted, ids.threads.id(thread), number, command.actorID,
                secondID: envelope.id, message: isReply ? command.postID.bits : 0), .none,
            EventIndexes(user: author, thread: thread, membership: membership, message: answered?.index),
            mentions: mentions)
        return .append
    }

    /// Finds the author of a new post, its thread, and the message that it answers.
    @inline(__always)
    private func author(
        ofPost command: borrowing ChatCommand, isReply: Bool, _ ids: Identities, _ envelope: EventEnvelope
    ) throws(Rejection) -> (author: Int, thread: Int, membership: Int, answered: PostKey?) {
        if isReply {
            let (author, membership, found) = try visiblePost(command, ids, envelope)
            return (author, found.thread, membership, found.post)
        }
        let (author, thread) = try actorAndThread(command, ids, envelope)
        // A ban ends the membership, so a banned user is no member.
        return (author, thread, try requireMember(author, of: thread, ids), nil)
    }

    /// Decides a command whose id is in use: it is a duplicate if its user sent it before.
    ///
    /// - Parameters:
    ///   - isSame: Whether the entity with the id is of the same thread or post.
    ///   - author: The author of the entity.
    ///   - position: The position of the event that created it.
    func repetition(
        _ isSame: Bool, _ author: Int, at position: Position, _ command: borrowing ChatCommand,
        _ ids: Identities
    ) throws(Rejection) -> BatchDecision {
        guard isSame, ids.users.id(author) == command.actorID else { throw .identifierTaken }
        return .duplicate(of: position...position)
    }

    /// Appends the join of a user whom the next event brings back, if there is one.
    ///
    /// - Returns: The number in the thread of the event that follows.
    private func appendReturn(
        of user: Int?, to thread: Int, _ ids: Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) -> UInt64 {
        guard let user else { return nextNumber(in: thread) }
        appendJoin(ids.userID(user), user, thread, ids, envelope, &batch)
        return nextNumber(in: thread) &+ 1
    }

    func edit(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id = command.id, let edit = ids.edits.find(id) {
            let isSame = ids.postID(ids.post(ofEdit: edit)) == command.postID
            return try repetition(isSame, ids.edits.author(edit), at: ids.edits.position(edit), command, ids)
        }
        let (actor, membership, found) = try visiblePost(command, ids, envelope)
        try requireWritable(found.thread, membership, at: envelope.recordedAt, ids)
        guard found.author == actor else { throw .notTheAuthor }
        guard !found.marks.isWithdrawn else { throw .retracted }
        if let replaces = command.replaces, replaces != textPosition(of: found.post, ids) { throw .edited }
        guard MessageBody.isValid(command.text) else { throw .invalidBody }
        let mentions = try mentions(of: command, in: found.thread, ids)
        appendPostEvent(
            command.postID.kind(.messageEdited, .replyEdited), command, found, actor, ids, envelope, &batch,
            mentions: mentions)
        return .append
    }

    func retract(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let actor = try requireActor(command.actorID, ids)
        let found = try find(command.postID, for: actor, as: .ofAuthor, ids, envelope)
        guard found.author == actor else { throw .notTheAuthor }
        guard !found.marks.contains(.retracted) else { return .unchanged }
        appendPostEvent(
            command.postID.kind(.messageRetracted, .replyRetracted), command, found, actor, ids, envelope, &batch)
        return .append
    }

    func remove(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let (actor, found) = try moderatedPost(command, isDecision: true, ids, envelope)
        guard !found.marks.contains(.removed) else { return .unchanged }
        try requireReason(command.text)
        appendPostEvent(
            command.postID.kind(.messageRemoved, .replyRemoved), command, found, actor, ids, envelope, &batch)
        return .append
    }

    /// Appends an event about a post; only events about reports have no number in the thread.
    ///
    /// - Parameter content: The content; kept only if the kind is indexed.
    func appendPostEvent(
        _ kind: EventKind, _ command: borrowing ChatCommand, _ found: FoundPost, _ actor: Int,
        _ ids: Identities,
        _ envelope: EventEnvelope, _ batch: inout EventBatch, content: EventContent = .none, mentions: [UserID] = []
    ) {
        let threadID = ids.threads.id(found.thread)
        let number = kind.form.isNumbered ? nextNumber(in: found.thread) : 0
        var row = envelope.row(
            kind, threadID, number, command.actorID, secondID: command.postID.bits,
            message: found.post.isReply ? ids.posts.messages.id(found.message) : 0)
        if kind.form.has(.edit) { row.edit = envelope.id }
        if kind.form.layout == .post, found.post.isReply { row.flags.insert(.ofReply) }
        batch.append(
            row, content, EventIndexes(user: actor, thread: found.thread, second: found.post.index), mentions: mentions)
    }

    /// Returns the users whom the text of a command mentions, each once: those listed, who must be
    /// members of the thread, and of those found in the text, except the author, the members.
    ///
    /// - Parameter returning: A user who becomes a member by the command.
    /// - Complexity: O(*n*) in the length of the list.
    private func mentions(
        of command: borrowing ChatCommand, in thread: Int, returning: Int? = nil, _ ids: Identities
    ) throws(Rejection) -> [UserID] {
        if command.mentions.isEmpty { return [] }
        var mentions: [UserID] = []
        for user in command.listedMentions where !mentions.contains(user) {
            guard mentions.count < MessageBody.maximumMentionCount else { throw .tooManyMentions }
            mentions.append(user)
        }
        for user in mentions where !isMember(user, of: thread, ids) {
            guard let returning, ids.userID(returning) == user else { throw .mentionsNonMember }
        }
        for user in command.foundMentions where user != command.actorID && !mentions.contains(user) {
            guard mentions.count < MessageBody.maximumMentionCount else { break }
            if isMember(user, of: thread, ids) || returning.map(ids.userID) == user { mentions.append(user) }
        }
        return mentions
    }

    /// Whether a user, who may be unknown, is a member of a thread now.
    func isMember(_ userID: UserID, of thread: Int, _ ids: Identities) -> Bool {
        ids.users.find(userID).map { isMember($0, of: thread, ids) } ?? false
    }

    /// Returns the position of the event that wrote the text of a post.
    private func textPosition(of post: PostKey, _ ids: Identities) -> Position {
        let edit = community.edits.read(of: post) { $0[post.index] }
        return edit > 0 ? edit : ids.position(of: post)
    }

    /// A post, with the indexes of its author, its thread and its message (for a message, itself).
    typealias FoundPost = (author: Int, marks: PostMarks, thread: Int, post: PostKey, message: Int)

    /// Finds the post of a command whose acting user is a member of its thread and sees it.
    func visiblePost(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope
    ) throws(Rejection) -> (actor: Int, membership: Int, found: FoundPost) {
        let actor = try requireActor(command.actorID, ids)
        let found = try find(command.postID, for: actor, ids, envelope)
        let membership = try requireMember(actor, of: found.thread, ids)
        guard isVisible(message: found.message, to: membership, ids) else { throw .unknown(command.postID) }
        return (actor, membership, found)
    }

    /// Finds the post of a command whose acting user moderates its thread.
    ///
    /// - Parameter isDecision: Whether the command decides the reports of a post, as operators may
    ///   in a direct thread.
    func moderatedPost(
        _ command: borrowing ChatCommand, isDecision: Bool = false, _ ids: Identities,
        _ envelope: EventEnvelope
    ) throws(Rejection) -> (actor: Int, found: FoundPost) {
        let actor = try requireActor(command.actorID, ids)
        let found = try find(command.postID, ids)
        if isDecision, decidesReports(of: found, actor, ids) { return (actor, found) }
        try requireKnown(command.postID, found, to: actor, as: .ofModerator, ids, envelope)
        try requireModerator(actor, of: found.thread, ids)
        return (actor, found)
    }

    /// Finds a post in a thread that the acting user knows.
    ///
    /// Every command that names a post uses this function, as those that name a thread use
    /// ``requireThread(_:for:as:_:_:)``.
    func find(
        _ post: PostID, for actor: Int, as act: ThreadAct = .ofReader, _ ids: Identities,
        _ envelope: EventEnvelope
    ) throws(Rejection) -> FoundPost {
        let found = try find(post, ids)
        try requireKnown(post, found, to: actor, as: act, ids, envelope)
        return found
    }

    /// Throws unless the acting user knows the thread of a post.
    private func requireKnown(
        _ post: PostID, _ found: FoundPost, to actor: Int, as act: ThreadAct, _ ids: Identities,
        _ envelope: EventEnvelope
    ) throws(Rejection) {
        let isOwn = act == .ofAuthor && found.author == actor
        guard isOwn || isKnown(found.thread, to: actor, as: act, ids, envelope) else { throw .unknown(post) }
    }

    /// Finds a post, without a check of who asks.
    func find(_ post: PostID, _ ids: Identities) throws(Rejection) -> FoundPost {
        guard let found = ids.find(post) else { throw .unknown(post) }
        let message = ids.message(of: found)
        return (ids.author(of: found), marks(of: found), ids.posts.messages.parent(message), found, message)
    }

    /// Throws if a member may not write in a thread now.
    @inline(__always)
    func requireWritable(_ thread: Int, _ membership: Int, at time: Timestamp, _ ids: Identities)
        throws(Rejection)
    {
        try requireUnlocked(thread)
        if threads[thread].isDirect { try requireNoBlock(in: thread, ids) }
        if isSanctioned(.mute, membership, at: time) { throw .muted }
    }

    /// Whether a message exists for a member: it was posted after the start of what they may read,
    /// or they are an operator, and it was posted after the thread last ceased to be `inviteOnly`.
    func isVisible(message: Int, to membership: Int, _ ids: Identities) -> Bool {
        let (thread, position) = (ids.posts.messages.parent(message), ids.posts.messages.position(message))
        return position > community.joins[membership]
            || threads[thread].policy != .inviteOnly && position > threads[thread].disclosedAt
                && isOperator(ids.memberships.pair(membership).first) && isDisclosed(position, in: thread)
    }

    /// Returns the marks of a post.
    package func marks(of post: PostKey) -> PostMarks {
        PostMarks(rawValue: postMarks.read(of: post) { $0[post.index] })
    }

    /// Marks a post as retracted or removed, and unpins it.
    mutating func withdraw(_ post: PostKey, _ mark: PostMarks, _ thread: Int) {
        var marks = marks(of: post).union(mark)
        if marks.remove(.pinned) != nil { threads[thread].pinCount &-= 1 }
        postMarks.change(of: post) { $0[post.index] = marks.rawValue }
    }
}

extension Rejection {
    /// The rejection of a post that does not exist, or not for this user.
    package static func unknown(_ post: PostID) -> Rejection {
        post.isReply ? .unknownReply : .unknownMessage
    }
}

extension PostID {
    /// Returns the kind for a message or for a reply.
    func kind(_ ofMessage: EventKind, _ ofReply: EventKind) -> EventKind { isReply ? ofReply : ofMessage }
}
