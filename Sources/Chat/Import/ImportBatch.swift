import ChatDomain
import Projections

/// The lines of an import that share a commit, and the commands made from them.
///
/// Lines are staged on the read models, which may be behind the decider. Under the decider's lock
/// the importer calls ``isValid(in:)``, and then ``restage(in:)`` if a name or an id was taken
/// meanwhile.
struct ImportBatch {
    /// The effect of staging a line.
    enum Staging {
        /// Commands were added.
        case commands
        /// The store already has the content of the line.
        case duplicate
        /// The policy of a channel is known for when the channel is opened.
        case policy
    }

    /// A line whose commands are in the batch.
    struct StagedLine {
        let line: ParsedLine
        /// The range of all commands of the line except those of its reactions.
        let requests: Range<Int>
        /// The range of the commands that record the line itself: a post and its edit, an edit, a
        /// join, or all commands of a channel; empty if only reactions are added.
        ///
        /// The commands before them prepare it: a registration, an opening of a thread, a join.
        let recordingRequests: Range<Int>
        /// The range of the commands of the reactions, which follow the others, and of their users'
        /// registrations and joins.
        ///
        /// Their rejections do not reject the line.
        let reactionRequests: Range<Int>
        let adapted: LineAdaptations
    }

    /// An existing post.
    private struct ExistingPost {
        var id: PostID
        /// The message itself, or the message that the reply answers.
        var message: MessageID
        var author: UserID
        var isEdited: Bool
        /// Whether reactions may be added.
        var takesReactions: Bool
        /// The position of the post; nil for a post of this batch.
        var position: Position?
    }

    private typealias Member = ImportAssumptions.Member

    /// Whether a reply whose message does not exist is posted as a message.
    private let postsLostReplies: Bool
    private var commands = ImportCommands()
    private(set) var people: ImportPeople
    private(set) var entries: [StagedLine] = []
    /// The posts that this batch creates or edits, by their ids as messages.
    private var stagedPosts: [MessageID: ExistingPost] = [:]

    /// Creates an empty batch.
    init(policy: ThreadPolicy = .inviteOnly, postsLostReplies: Bool = false) {
        people = ImportPeople(policy: policy)
        self.postsLostReplies = postsLostReplies
    }

    var requests: [CommandRequest] { commands.requests }

    var isEmpty: Bool { commands.requests.isEmpty }

    /// Whether the commands are so many, or their events so large, that the batch is committed
    /// before it has the maximum number of lines.
    ///
    /// Bounds memory, and keeps the batch below the limits of one `execute`, 65,536 commands and 32
    /// MiB: a line adds at most 31,000 commands (10,000 users who are registered, join and react)
    /// and 27 MiB.
    var hasReachedLimit: Bool { commands.count > 1 << 15 || commands.byteCount > 4 << 20 }

    /// Adds the commands that a line needs to the batch.
    ///
    /// Checks the names, the ids and the body before it stages anything. A line that a lock, a ban
    /// or a mute rejects later leaves its user registered.
    ///
    mutating func stage(_ line: ParsedLine, _ models: borrowing ReadModels, _ now: Position) throws(Rejection)
        -> Staging
    {
        switch line.content {
        case .message(let message): try stage(message, line, models, now) ? .commands : .duplicate
        case .join(let join): try stageMembers([Person(join.user)], line, models, now) ? .commands : .duplicate
        case .channel(let channel): try stageChannel(channel, line, models, now)
        }
    }

    /// Returns whether the assumptions of the staged commands still hold in the given state.
    func isValid(in models: borrowing ReadModels) -> Bool { commands.assumptions.hold(in: models) }

    /// Stages the lines of the batch again.
    ///
    /// - Returns: The lines that are now rejected, and the number of lines that already exist.
    mutating func restage(in models: borrowing ReadModels) -> (rejected: [RejectedLine], duplicates: Int) {
        let lines = entries.map(\.line)
        removeAll()
        resetKnown()
        var rejected: [RejectedLine] = []
        var duplicates = 0
        for line in lines {
            do throws(Rejection) {
                if try stage(line, models, models.position) == .duplicate { duplicates += 1 }
            } catch {
                rejected.append(RejectedLine(line: line.number, rejection: error))
            }
        }
        return (rejected, duplicates)
    }

    /// Removes all lines and commands, after they were executed; what is known of the store stays.
    mutating func removeAll() {
        people.removeNew()
        (commands, entries, stagedPosts) = (ImportCommands(), [], [:])
    }

    /// Discards the known users, threads and memberships, so that they are looked up again.
    mutating func resetKnown() { people.resetKnown() }
}

// MARK: Messages

extension ImportBatch {
    private mutating func stage(
        _ message: ImportedMessage, _ line: ParsedLine, _ models: borrowing ReadModels, _ now: Position
    ) throws(Rejection) -> Bool {
        let author = Person(message.user)
        if let existing = try post(message.id, in: message.channel, models, now) {
            try check(message, author, against: existing, models, now)
            return try stageChange(of: existing, message, by: author, line, models, now)
        }
        guard let user = author.user else { throw .invalidUsername }
        let newcomer = try people.registration(user, author, models, now)
        guard let body = line.bodies.first else { throw .invalidBody }
        let threadName = try people.threadName(line, models, now)
        var adapted = line.adapted
        var answered: MessageID?
        if let replyTo = message.replyTo {
            answered = try post(replyTo, in: message.channel, models, now)?.message
            if let answered {
                if models.post(.message(answered), asOf: now)?.isWithdrawn == true { throw .retracted }
            } else {
                guard postsLostReplies else { throw .unknownMessage }
                adapted[.replyMoved] = nil
                adapted[.replyWithoutMessage] = replyTo
            }
        }
        let missing = try missingParts(of: message, line, models, now)
        let start = commands.count
        people.stageMembership(user, newcomer, threadName, line, models, now, &commands, &adapted)
        let mentions = people.stageMentions(of: message, threadName, line, models, now, &commands, &adapted)
        let id = ImportedID.message(message.channel, message.id)
        let reply = ImportedID.reply(message.channel, message.id)
        let post = answered == nil ? PostID.message(id) : .reply(reply)
        let essential = commands.count
        stagePost((id, reply), 0, answered, user, line, mentions: mentions, models, now)
        for (part, index) in missing { stagePost(part, index, answered, user, line, models, now) }
        if line.bodies.count > 1 { adapted[.bodySplit] = message.id }
        // The source does not contain the earlier text, so the message and the edit have the same
        // text.
        if let editedAt = message.editedAt {
            let found = people.membersNamed(inBody: 0, of: line, models, now)
            commands.append(
                .edit(post, body: body, mentions: mentions, by: user), .imported(sentAt: editedAt), found: found)
            stagedPosts[id]?.isEdited = true
        }
        let end = commands.count
        stageReactions(to: post, of: message, line, models, now, &adapted)
        if commands.count > end { stagedPosts[id]?.takesReactions = false }
        entries.append(
            StagedLine(
                line: line, requests: start..<end, recordingRequests: essential..<end,
                reactionRequests: end..<commands.count,
                adapted: adapted))
        return true
    }

    /// Stages a post of a message: its whole body or a part of it, by its index.
    private mutating func stagePost(
        _ id: (message: MessageID, reply: ReplyID), _ part: Int, _ answered: MessageID?, _ user: UserID,
        _ line: ParsedLine, mentions: [UserID] = [], _ models: borrowing ReadModels, _ now: Position
    ) {
        let body = line.bodies[part]
        let found = people.membersNamed(inBody: part, of: line, models, now)
        commands.assumptions.newPosts.append(
            ImportAssumptions.NewPost(ids: [.message(id.message), .reply(id.reply)], answered: answered))
        if let answered {
            commands.append(
                .reply(id: id.reply, to: answered, body: body, mentions: mentions, by: user), line.origin, found: found)
        } else {
            commands.append(
                .postMessage(id: id.message, thread: line.thread, body: body, mentions: mentions, by: user),
                line.origin, found: found)
        }
        stagedPosts[id.message] = ExistingPost(
            id: answered == nil ? .message(id.message) : .reply(id.reply), message: answered ?? id.message,
            author: user, isEdited: false, takesReactions: true, position: nil)
    }

    /// Returns the parts of a split body, from the second one, that do not exist, with their
    /// indexes.
    ///
    /// All of them, unless an import was interrupted by a full disk, or an edit made the body
    /// longer.
    ///
    /// - Throws: `identifierTaken` if a native post has the id of a part.
    private func missingParts(
        of message: ImportedMessage, _ line: ParsedLine, _ models: ReadModels, _ now: Position
    ) throws(Rejection) -> [(id: (message: MessageID, reply: ReplyID), index: Int)] {
        var missing: [(id: (message: MessageID, reply: ReplyID), index: Int)] = []
        for index in line.bodies.indices.dropFirst() {
            let id = ImportedID.part(index + 1, message.channel, message.id)
            if stagedPosts[id.message] != nil { continue }
            let existing = [.message(id.message), .reply(id.reply)].compactMap { models.post($0, asOf: now) }
            guard existing.allSatisfy(\.isImported) else { throw .identifierTaken }
            if existing.isEmpty { missing.append((id, index)) }
        }
        return missing
    }

    /// Stages what a line adds to an existing post: an edit, missing parts, and reactions.
    private mutating func stageChange(
        of existing: ExistingPost, _ message: ImportedMessage, by author: Person, _ line: ParsedLine,
        _ models: borrowing ReadModels, _ now: Position
    ) throws(Rejection) -> Bool {
        let (id, post) = (ImportedID.message(message.channel, message.id), existing.id)
        var adapted = line.adapted
        adapted[.replyMoved] = nil
        let start = commands.count
        try stageEdit(of: post, existing, message, by: author, line, models, now, &adapted)
        let end = commands.count
        if existing.takesReactions {
            stageReactions(to: post, of: message, line, models, now, &adapted)
            if commands.count > end {
                if existing.position != nil { commands.assumptions.newReactions.append(post) }
                stagedPosts[id, default: existing].takesReactions = false
            }
        }
        guard commands.count > start else { return false }
        entries.append(
            StagedLine(
                line: line, requests: start..<end, recordingRequests: start..<end,
                reactionRequests: end..<commands.count,
                adapted: adapted))
        return true
    }

    /// Stages the edit of an existing post, unless the post was edited before, and its missing
    /// parts.
    ///
    /// An edit made in the store is not overwritten, and an imported edit is not repeated. A native
    /// user's posts are never edited, even if an import before version 0.1.0 attributed the post to
    /// that user (<doc:ImportingAHistory>).
    private mutating func stageEdit(
        of post: PostID, _ existing: ExistingPost, _ message: ImportedMessage, by author: Person,
        _ line: ParsedLine, _ models: ReadModels, _ now: Position, _ adapted: inout LineAdaptations
    ) throws(Rejection) {
        let isNewlyEdited = message.editedAt != nil && !existing.isEdited
        guard let body = line.bodies.first, line.bodies.count > 1 || isNewlyEdited, existing.author == author.user
        else { return }
        let member = Member(user: existing.author, thread: line.thread)
        if existing.position != nil {
            guard models.profile(existing.author, asOf: now)?.isImported == true else { return }
            guard models.joinPosition(existing.author, in: line.thread, asOf: now) != nil else { return }
        }
        let start = commands.count
        let answered = existing.id.isReply ? existing.message : nil
        if line.bodies.count > 1, answered.map({ models.post(.message($0), asOf: now)?.isWithdrawn != true }) ?? true {
            for (part, index) in try missingParts(of: message, line, models, now) {
                stagePost(part, index, answered, existing.author, line, models, now)
                adapted[.bodySplit] = message.id
            }
            if existing.position != nil, commands.count > start { commands.assumptions.existingMembers.insert(member) }
        }
        if isNewlyEdited, let editedAt = message.editedAt,
            existing.position == nil
                || ImportAssumptions.isEditable(post, by: existing.author, in: line.thread, models, now)
        {
            if existing.position != nil { commands.assumptions.newEdits.append((post, existing.author, line.thread)) }
            let threadName = try people.threadName(line, models, now)
            let mentions = people.stageMentions(of: message, threadName, line, models, now, &commands, &adapted)
            let found = people.membersNamed(inBody: 0, of: line, former: line.former, models, now)
            commands.append(
                .edit(post, body: body, mentions: mentions, by: existing.author), .imported(sentAt: editedAt),
                found: found)
            stagedPosts[ImportedID.message(message.channel, message.id), default: existing].isEdited = true
        }
    }

    /// Stages the reactions of a line to a post without any, with the registrations and the joins
    /// of their users.
    ///
    /// The thread of the line exists.
    private mutating func stageReactions(
        to post: PostID, of message: ImportedMessage, _ line: ParsedLine, _ models: borrowing ReadModels,
        _ now: Position,
        _ adapted: inout LineAdaptations
    ) {
        var areIncomplete = line.reactions.areIncomplete
        for reaction in line.reactions.taken {
            if people.stageReactingUser(reaction.user, reaction.person, line, models, now, &commands) {
                commands.append(.react(post, emoji: reaction.emoji.text, by: reaction.user), line.origin)
            } else {
                areIncomplete = true
            }
        }
        if areIncomplete { adapted[.reactionsLeftOut] = message.id }
    }

    /// Returns the existing post for an id of the source, if any.
    private func post(
        _ id: String, in channel: String, _ models: borrowing ReadModels, _ now: Position
    ) throws(Rejection) -> ExistingPost? {
        let message = ImportedID.message(channel, id)
        if let existing = stagedPosts[message] { return existing }
        var isTaken = false
        // A native user may have taken the id that the imported reply would have as a message, so
        // the reply is looked up as well.
        for post in [PostID.message(message), .reply(ImportedID.reply(channel, id))] {
            guard let posted = models.post(post, asOf: now) else { continue }
            if posted.isImported {
                return ExistingPost(
                    id: post, message: posted.message, author: posted.author, isEdited: posted.editPosition != nil,
                    takesReactions: posted.takesImportedReactions, position: posted.position)
            }
            isTaken = true
        }
        if isTaken { throw .identifierTaken }
        return nil
    }

    /// Throws if the existing post with the message's id has another author or answers another
    /// message.
    private func check(
        _ message: ImportedMessage, _ author: Person, against existing: ExistingPost, _ models: borrowing ReadModels,
        _ now: Position
    ) throws(Rejection) {
        // A reply that was imported as a message, without the message that it answers, stays one.
        if existing.id.isReply {
            guard let replyTo = message.replyTo,
                try post(replyTo, in: message.channel, models, now)?.message == existing.message
            else { throw .identifierTaken }
        }
        if existing.author == author.user { return }
        guard let name = author.name else { throw .identifierTaken }
        switch message.user {
        case .account:
            // The same history was imported with nicknames, before its users had accounts.
            guard existing.author == ImportedID.user(name.formerFoldKey) else { throw .identifierTaken }
        case .nickname:
            // An import before version 0.1.0 attributed the post to the native user who had the
            // nickname then (`ImportingAHistory.md`). That user may have another name now.
            guard let position = existing.position,
                models.mayHaveHadName(Username.foldKey(name.text), existing.author, asOf: position)
            else {
                throw .identifierTaken
            }
        }
    }
}

// MARK: Joins and channels

extension ImportBatch {
    /// Stages the joins of a line.
    private mutating func stageMembers(
        _ joining: [Person], _ line: ParsedLine, _ models: ReadModels, _ now: Position
    ) throws(Rejection) -> Bool {
        var newcomers: [(user: UserID, registration: ImportPeople.Registration?)] = []
        for person in joining {
            guard let user = person.user else { throw .invalidUsername }
            newcomers.append((user, try people.registration(user, person, models, now)))
        }
        let threadName = try people.threadName(line, models, now)
        let start = commands.count
        var adapted = line.adapted
        for (user, registration) in newcomers {
            people.stageJoin(user, registration, threadName, line, models, now, &commands, &adapted)
        }
        guard commands.count > start else { return false }
        // The join is the last command of its line.
        let essential = newcomers.count == 1 ? commands.count - 1 : start
        entries.append(
            StagedLine(
                line: line, requests: start..<commands.count, recordingRequests: essential..<commands.count,
                reactionRequests: commands.count..<commands.count, adapted: adapted))
        return true
    }

    /// Stages the line of a channel: its policy counts when the channel is opened.
    ///
    /// - Throws: `invalidPolicy` if the channel is an outward code, or was opened with another
    ///   policy.
    private mutating func stageChannel(
        _ channel: ImportedChannel, _ line: ParsedLine, _ models: borrowing ReadModels, _ now: Position
    ) throws(Rejection) -> Staging {
        try people.setPolicy(channel.policy, line, models, now)
        if try stageMembers(channel.members.map(Person.init), line, models, now) { return .commands }
        return people.isOpen(line.thread, models, now) ? .duplicate : .policy
    }
}
