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
        /// The id of the message, or of the message that the reply answers.
        var rootMessage: MessageID
        var isReply: Bool
        var author: UserID
        var isEdited: Bool
        /// Whether reactions may be added.
        var takesReactions: Bool
        /// The position of the post; nil for a post of this batch.
        var position: Position?
    }

    private typealias Member = ImportAssumptions.Member

    /// Users, threads and memberships known to exist, from this batch or an earlier one.
    ///
    /// An import never removes any of them.
    private struct Known {
        var users: Set<UserID> = []
        var threads: Set<ThreadID> = []
        var members: Set<Member> = []
        /// The last suffix given to a name, by the fold key of the name; the next search starts
        /// there.
        var suffixes: [String: Int] = [:]
    }

    /// The policy of new named threads whose channels have no line.
    private let policy: ThreadPolicy
    /// Whether a reply whose message does not exist is posted as a message.
    private let postsLostReplies: Bool
    /// The policies of the lines of channels so far.
    private var policies: [ThreadID: ThreadPolicy] = [:]
    private(set) var requests: [CommandRequest] = []
    private(set) var entries: [StagedLine] = []
    private var known = Known()
    /// The posts that this batch creates or edits, by their ids as messages.
    private var stagedPosts: [MessageID: ExistingPost] = [:]
    private var assumptions = ImportAssumptions()
    private var newNames: Set<String> = []
    private var newSubjects: Set<[UInt8]> = []
    private var newMembers: Set<Member> = []
    /// The renamed users of this batch, for the summary.
    private(set) var renamed: [UserID: RenamedUser] = [:]
    private(set) var withoutSubject: [UserID: UserWithoutSubject] = [:]

    /// An upper bound of the encoded size of the batch's events, in bytes.
    private var byteCount = 0

    /// Creates an empty batch.
    init(policy: ThreadPolicy = .inviteOnly, postsLostReplies: Bool = false) {
        self.policy = policy
        self.postsLostReplies = postsLostReplies
    }

    var isEmpty: Bool { requests.isEmpty }

    /// Whether the commands are so many, or their events so large, that the batch is committed before
    /// it has the maximum number of lines.
    ///
    /// Bounds memory, and keeps the batch below the limits of one `execute`, 65,536 commands and
    /// 32 MiB: a line adds at most 31,000 commands (10,000 users who are registered, join and react)
    /// and 27 MiB.
    var hasReachedLimit: Bool { requests.count > 1 << 15 || byteCount > 4 << 20 }

    /// Adds the commands that a line needs to the batch.
    ///
    /// Checks the names, the ids and the body before it stages anything. A line that a lock, a ban
    /// or a mute rejects later leaves its user registered.
    ///
    mutating func stage(_ line: ParsedLine, _ models: borrowing ReadModels, _ now: Position) throws(Rejection) -> Staging {
        switch line.content {
        case .message(let message): try stage(message, line, models, now) ? .commands : .duplicate
        case .join(let join): try stageMembers([Person(join.user)], line, models, now) ? .commands : .duplicate
        case .channel(let channel): try stageChannel(channel, line, models, now)
        }
    }

    /// Returns whether the assumptions of the staged commands still hold in the given state.
    func isValid(in models: borrowing ReadModels) -> Bool { assumptions.hold(in: models) }

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
        let (policies, known) = (policies, known)
        self = ImportBatch(policy: policy, postsLostReplies: postsLostReplies)
        (self.policies, self.known) = (policies, known)
    }

    /// Discards the known users, threads and memberships, so that they are looked up again.
    mutating func resetKnown() { known = Known() }
}

// MARK: Messages

extension ImportBatch {
    private mutating func stage(
        _ message: ImportedMessage, _ line: ParsedLine, _ models: borrowing ReadModels, _ now: Position
    ) throws(Rejection) -> Bool {
        let author = Person(message.user)
        let bodies = MessageBody.parts(ofImported: message.body)
        if let existing = try post(message.id, in: message.channel, models, now) {
            try check(message, author, against: existing, models, now)
            return try stageChange(of: existing, message, bodies, by: author, line, models, now)
        }
        guard let user = author.user else { throw .invalidUsername }
        let newcomer = try registration(user, author, models, now)
        guard let body = bodies.first else { throw .invalidBody }
        let threadName = try threadName(line, models, now)
        var adapted = line.adapted
        var answered: MessageID?
        if let replyTo = message.replyTo {
            answered = try post(replyTo, in: message.channel, models, now)?.rootMessage
            if let answered {
                if models.message(answered, asOf: now)?.isWithdrawn == true { throw .retracted }
            } else {
                guard postsLostReplies else { throw .unknownMessage }
                adapted[.replyMoved] = nil
                adapted[.replyWithoutMessage] = replyTo
            }
        }
        let missing = try missingParts(of: message, bodies, models, now)
        let start = requests.count
        stageMembership(user, newcomer, threadName, line, models, now, &adapted)
        let mentions = stageMentions(of: message, threadName, line, models, now, &adapted)
        let id = ImportedID.message(message.channel, message.id)
        let reply = ImportedID.reply(message.channel, message.id)
        let essential = requests.count
        stagePost((id, reply), body, answered, user, line, mentions: mentions)
        for (part, body) in missing { stagePost(part, body, answered, user, line) }
        if bodies.count > 1 { adapted[.bodySplit] = message.id }
        // The source does not contain the earlier text, so the message and the edit have the same
        // text.
        if let editedAt = message.editedAt {
            let post: PostID = answered == nil ? .message(id) : .reply(reply)
            append(.edit(post, by: user, body: body, mentions: mentions), .imported(sentAt: editedAt))
            stagedPosts[id]?.isEdited = true
        }
        let end = requests.count
        stageReactions(to: answered == nil ? .message(id) : .reply(reply), of: message, line, models, now, &adapted)
        if requests.count > end { stagedPosts[id]?.takesReactions = false }
        entries.append(
            StagedLine(
                line: line, requests: start..<end, recordingRequests: essential..<end, reactionRequests: end..<requests.count,
                adapted: adapted))
        return true
    }

    /// Stages a post of a message: the whole body or a part of it.
    private mutating func stagePost(
        _ id: (message: MessageID, reply: ReplyID), _ body: String, _ answered: MessageID?, _ user: UserID, _ line: ParsedLine,
        mentions: [UserID] = []
    ) {
        assumptions.newPosts.append(ImportAssumptions.NewPost(message: id.message, reply: id.reply, answered: answered))
        if let answered {
            append(.reply(reply: id.reply, message: answered, author: user, body: body, mentions: mentions), line.origin)
        } else {
            append(.postMessage(message: id.message, thread: line.thread, author: user, body: body, mentions: mentions), line.origin)
        }
        stagedPosts[id.message] = ExistingPost(
            rootMessage: answered ?? id.message, isReply: answered != nil, author: user, isEdited: false, takesReactions: true,
            position: nil)
    }

    /// Returns the parts of a split body, from the second one, that do not exist.
    ///
    /// All of them, unless an import was interrupted by a full disk, or an edit made the body longer.
    ///
    /// - Throws: `identifierTaken` if a native post has the id of a part.
    private func missingParts(
        of message: ImportedMessage, _ bodies: [String], _ models: borrowing ReadModels, _ now: Position
    ) throws(Rejection) -> [(id: (message: MessageID, reply: ReplyID), body: String)] {
        var missing: [(id: (message: MessageID, reply: ReplyID), body: String)] = []
        for (index, body) in bodies.enumerated().dropFirst() {
            let id = ImportedID.part(index + 1, message.channel, message.id)
            if stagedPosts[id.message] != nil { continue }
            switch (models.message(id.message, asOf: now)?.isImported, models.reply(id.reply, asOf: now)?.isImported) {
            case (nil, nil): missing.append((id, body))
            case (false?, _), (_, false?): throw .identifierTaken
            default: break
            }
        }
        return missing
    }

    /// Stages what a line adds to an existing post: an edit, missing parts, and reactions.
    private mutating func stageChange(
        of existing: ExistingPost, _ message: ImportedMessage, _ bodies: [String], by author: Person, _ line: ParsedLine,
        _ models: borrowing ReadModels, _ now: Position
    ) throws(Rejection) -> Bool {
        let id = ImportedID.message(message.channel, message.id)
        let post: PostID = existing.isReply ? .reply(ImportedID.reply(message.channel, message.id)) : .message(id)
        var adapted = line.adapted
        adapted[.replyMoved] = nil
        let start = requests.count
        try stageEdit(of: post, existing, message, bodies, by: author, line, models, now, &adapted)
        let end = requests.count
        if existing.takesReactions {
            stageReactions(to: post, of: message, line, models, now, &adapted)
            if requests.count > end {
                if existing.position != nil { assumptions.newReactions.append(post) }
                stagedPosts[id, default: existing].takesReactions = false
            }
        }
        guard requests.count > start else { return false }
        entries.append(
            StagedLine(
                line: line, requests: start..<end, recordingRequests: start..<end, reactionRequests: end..<requests.count,
                adapted: adapted))
        return true
    }

    /// Stages the edit of an existing post, unless the post was edited before, and its missing parts.
    ///
    /// An edit made in the store is not overwritten, and an imported edit is not repeated. A native
    /// user's posts are never edited, even if an import before version 0.1.0 attributed the post to
    /// that user (<doc:Chat#Importing>).
    private mutating func stageEdit(
        of post: PostID, _ existing: ExistingPost, _ message: ImportedMessage, _ bodies: [String], by author: Person,
        _ line: ParsedLine, _ models: ReadModels, _ now: Position, _ adapted: inout LineAdaptations
    ) throws(Rejection) {
        let isNewlyEdited = message.editedAt != nil && !existing.isEdited
        guard let body = bodies.first, bodies.count > 1 || isNewlyEdited, existing.author == author.user else { return }
        let member = Member(user: existing.author, thread: line.thread)
        if existing.position != nil {
            guard models.profile(existing.author, asOf: now)?.isImported == true else { return }
            guard models.joinPosition(existing.author, in: line.thread, asOf: now) != nil else { return }
        }
        let start = requests.count
        let answered = existing.isReply ? existing.rootMessage : nil
        if bodies.count > 1, answered.map({ models.message($0, asOf: now)?.isWithdrawn != true }) ?? true {
            for (part, body) in try missingParts(of: message, bodies, models, now) {
                stagePost(part, body, answered, existing.author, line)
                adapted[.bodySplit] = message.id
            }
            if existing.position != nil, requests.count > start { assumptions.existingMembers.insert(member) }
        }
        if isNewlyEdited, let editedAt = message.editedAt,
            existing.position == nil || ImportAssumptions.isEditable(post, by: existing.author, in: line.thread, models, now)
        {
            if existing.position != nil { assumptions.newEdits.append((post, existing.author, line.thread)) }
            let threadName = try threadName(line, models, now)
            let mentions = stageMentions(of: message, threadName, line, models, now, &adapted)
            append(.edit(post, by: existing.author, body: body, mentions: mentions), .imported(sentAt: editedAt))
            stagedPosts[ImportedID.message(message.channel, message.id), default: existing].isEdited = true
        }
    }

    /// Stages the reactions of a line to a post without any, with the registrations and the joins of
    /// their users.
    ///
    /// The thread of the line exists.
    private mutating func stageReactions(
        to post: PostID, of message: ImportedMessage, _ line: ParsedLine, _ models: borrowing ReadModels, _ now: Position,
        _ adapted: inout LineAdaptations
    ) {
        var areIncomplete = line.reactions.areIncomplete
        for reaction in line.reactions.taken {
            if stageReactingUser(reaction.user, reaction.person, line, models, now) {
                append(.react(post, by: reaction.user, emoji: reaction.emoji.text), line.origin)
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
        let postedMessage = models.message(message, asOf: now)
        if let posted = postedMessage, posted.isImported {
            return ExistingPost(
                rootMessage: message, isReply: false, author: posted.author, isEdited: posted.editPosition != nil,
                takesReactions: posted.takesImportedReactions, position: posted.position)
        }
        // A native user may have taken the id that the imported reply would have as a message, so
        // the reply is looked up as well.
        let reply = ImportedID.reply(channel, id)
        if let posted = models.reply(reply, asOf: now), let answered = models.messageID(answeredBy: reply, asOf: now) {
            guard posted.isImported else { throw .identifierTaken }
            return ExistingPost(
                rootMessage: answered, isReply: true, author: posted.author, isEdited: posted.editPosition != nil,
                takesReactions: posted.takesImportedReactions, position: posted.position)
        }
        guard postedMessage == nil else { throw .identifierTaken }
        return nil
    }

    /// Throws if the existing post with the message's id has another author or answers another
    /// message.
    private func check(
        _ message: ImportedMessage, _ author: Person, against existing: ExistingPost, _ models: borrowing ReadModels, _ now: Position
    ) throws(Rejection) {
        // A reply that was imported as a message, without the message that it answers, stays one.
        if existing.isReply {
            guard let replyTo = message.replyTo,
                try post(replyTo, in: message.channel, models, now)?.rootMessage == existing.rootMessage
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
            // nickname then (`Chat.md`, Importing). That user may have another name now.
            guard let position = existing.position, models.mayHaveHadName(Username.foldKey(name.text), existing.author, asOf: position)
            else {
                throw .identifierTaken
            }
        }
    }
}

// MARK: Users, threads, joins

extension ImportBatch {
    /// Stages the joins of a line.
    private mutating func stageMembers(
        _ people: [Person], _ line: ParsedLine, _ models: ReadModels, _ now: Position
    ) throws(Rejection) -> Bool {
        var newcomers: [(user: UserID, registration: (name: ImportedName, subject: String?)?)] = []
        for person in people {
            guard let user = person.user else { throw .invalidUsername }
            newcomers.append((user, try registration(user, person, models, now)))
        }
        let threadName = try threadName(line, models, now)
        let start = requests.count
        var adapted = line.adapted
        for (user, registration) in newcomers {
            // Includes former members: an import does not bring back a user who has left.
            let member = Member(user: user, thread: line.thread)
            if known.members.contains(member) || models.hasBeenMember(user, of: line.thread, asOf: now) { continue }
            // The same user can occur twice.
            stageMembership(user, known.users.contains(user) ? nil : registration, threadName, line, models, now, &adapted)
            assumptions.newJoins.append(member)
        }
        guard requests.count > start else { return false }
        // The join is the last command of its line.
        let essential = newcomers.count == 1 ? requests.count - 1 : start
        entries.append(
            StagedLine(
                line: line, requests: start..<requests.count, recordingRequests: essential..<requests.count,
                reactionRequests: requests.count..<requests.count, adapted: adapted))
        return true
    }

    /// Stages the line of a channel: its policy counts when the channel is opened.
    ///
    /// - Throws: `invalidPolicy` if the channel is an outward code, or was opened with another policy.
    private mutating func stageChannel(
        _ channel: ImportedChannel, _ line: ParsedLine, _ models: borrowing ReadModels, _ now: Position
    ) throws(Rejection) -> Staging {
        guard line.thread.outwardCode == nil, channel.policy != .residents else { throw .invalidPolicy }
        _ = try threadName(line, models, now)
        let isOpen = models.hasThread(line.thread, asOf: now)
        let isKnown = isOpen || known.threads.contains(line.thread) || policies[line.thread] != nil
        let given = isOpen ? models.openingPolicy(of: line.thread) : policies[line.thread] ?? policy
        guard !isKnown || given == channel.policy else { throw .invalidPolicy }
        policies[line.thread] = channel.policy
        if try stageMembers(channel.members.map(Person.init), line, models, now) { return .commands }
        return isOpen || known.threads.contains(line.thread) ? .duplicate : .policy
    }

    private mutating func append(_ command: ChatCommand, _ origin: EventOrigin) {
        let request = CommandRequest(command, origin: origin)
        byteCount += request.maximumByteCount
        requests.append(request)
    }

    /// Returns the name under which the thread of a line's channel is opened.
    ///
    /// - Throws: `identifierTaken` if a native thread has the id; `invalidThreadName` if the thread
    ///   does not exist and the channel is not a valid name.
    private func threadName(_ line: ParsedLine, _ models: borrowing ReadModels, _ now: Position) throws(Rejection) -> String {
        if line.thread.outwardCode != nil { return line.channel }
        if !known.threads.contains(line.thread), let existing = models.thread(line.thread, asOf: now) {
            guard existing.isImported else { throw .identifierTaken }
            return line.channel
        }
        guard let name = ThreadName(imported: line.channel) else { throw .invalidThreadName }
        return name.text
    }

    /// Returns the name and the subject to register for a user of a line; nil if the user exists.
    ///
    /// - Throws: `identifierTaken` if a native user has the id, which a caller can compute and
    ///   take; `invalidUsername` or `invalidSubject` if the name or the subject is invalid.
    private func registration(
        _ user: UserID, _ person: Person, _ models: borrowing ReadModels, _ now: Position
    ) throws(Rejection) -> (name: ImportedName, subject: String?)? {
        if known.users.contains(user) { return nil }
        if let profile = models.profile(user, asOf: now) {
            guard profile.isImported else { throw .identifierTaken }
            return nil
        }
        guard let name = person.name else { throw .invalidUsername }
        guard case .account(_, _, let subject?) = person.imported else { return (name, nil) }
        guard Subject.isValid(subject) else { throw .invalidSubject }
        return (name, subject)
    }

    /// Stages the registration, the opening of the thread and the join, as far as they are needed.
    private mutating func stageMembership(
        _ user: UserID, _ newcomer: (name: ImportedName, subject: String?)?, _ threadName: String, _ line: ParsedLine,
        _ models: borrowing ReadModels, _ now: Position, _ adapted: inout LineAdaptations
    ) {
        if let newcomer { stageUser(user, newcomer.name, newcomer.subject, line.origin, models, now) }
        known.users.insert(user)
        if known.threads.insert(line.thread).inserted, !models.hasThread(line.thread, asOf: now) {
            // The thread of an outward code is opened by its first member and does not belong to
            // the import.
            if line.thread.outwardCode == nil { assumptions.newThreads.insert(line.thread) }
            let policy = line.thread.outwardCode == nil ? policies[line.thread] ?? policy : .open
            append(.openThread(thread: line.thread, name: threadName, by: user, policy: policy), line.origin)
            if !threadName.utf8.elementsEqual(line.channel.utf8) { adapted[.channelRenamed] = line.channel }
        }
        let member = Member(user: user, thread: line.thread)
        if known.members.insert(member).inserted {
            newMembers.insert(member)
            append(.joinThread(user: user, thread: line.thread), line.origin)
        } else if !newMembers.contains(member) {
            assumptions.existingMembers.insert(member)
        }
    }

    /// Stages the memberships of the users whom a message mentions, and returns these users, each once.
    ///
    /// A user who was a member and left does not come back because of a mention; they are left out, as is
    /// one whom the store cannot register, and every user after the 50th.
    private mutating func stageMentions(
        of message: ImportedMessage, _ threadName: String, _ line: ParsedLine, _ models: borrowing ReadModels, _ now: Position,
        _ adapted: inout LineAdaptations
    ) -> [UserID] {
        var mentions: [UserID] = []
        for person in message.mentions.lazy.map(Person.init) {
            if let user = person.user, mentions.contains(user) { continue }
            do throws(Rejection) {
                guard mentions.count < MessageBody.maximumMentionCount else { throw .notAMember }
                guard let user = person.user else { throw .invalidUsername }
                let newcomer = try registration(user, person, models, now)
                guard mayBeMember(user, of: line.thread, models, now) else { throw .notAMember }
                stageMembership(user, newcomer, threadName, line, models, now, &adapted)
                mentions.append(user)
            } catch {
                adapted[.mentionIgnored] = message.id
            }
        }
        return mentions
    }

    /// Whether a user is a member of a thread, or can become one by a mention.
    private func mayBeMember(_ user: UserID, of thread: ThreadID, _ models: borrowing ReadModels, _ now: Position) -> Bool {
        if known.members.contains(Member(user: user, thread: thread)) { return true }
        guard let standing = models.standing(of: user, in: thread, asOf: now) else { return true }
        return standing.role != nil || standing.departure == nil && standing.ban == nil
    }

    /// Stages the registration and the join of a user who reacted, as far as they are needed.
    ///
    /// - Returns: Whether the user is a member then: false for a former member, and if a native user
    ///   has the id.
    private mutating func stageReactingUser(
        _ user: UserID, _ person: Person, _ line: ParsedLine, _ models: borrowing ReadModels, _ now: Position
    ) -> Bool {
        let member = Member(user: user, thread: line.thread)
        if newMembers.contains(member) { return true }
        if models.hasBeenMember(user, of: line.thread, asOf: now) {
            guard models.joinPosition(user, in: line.thread, asOf: now) != nil else { return false }
            assumptions.existingMembers.insert(member)
            return true
        }
        let newcomer: (name: ImportedName, subject: String?)?
        do throws(Rejection) { newcomer = try registration(user, person, models, now) } catch { return false }
        // The thread exists, so its name is not needed.
        var adapted: LineAdaptations = [:]
        stageMembership(user, newcomer, line.channel, line, models, now, &adapted)
        assumptions.newJoins.append(member)
        return true
    }

    private mutating func stageUser(
        _ user: UserID, _ name: ImportedName, _ subject: String?, _ origin: EventOrigin, _ models: ReadModels, _ now: Position
    ) {
        let username = freeUsername(name, models, now)
        newNames.insert(username.foldKey)
        if !username.text.utf8.elementsEqual(name.text.utf8) {
            renamed[user] = RenamedUser(user: user, name: name.text, username: username.text)
        }
        var given = subject
        if let subject, newSubjects.contains(Array(subject.utf8)) || models.userID(withSubject: subject, asOf: now) != nil {
            withoutSubject[user] = UserWithoutSubject(user: user, username: username.text, subject: subject)
            given = nil
        }
        if let given { newSubjects.insert(Array(given.utf8)) }
        assumptions.newUsers[user] = ImportAssumptions.NewUser(username: username, subject: given)
        append(.registerUser(user: user, username: username.text, subject: given), origin)
    }

    /// Returns an unused username: the given one, or the same with the first free suffix.
    private mutating func freeUsername(_ name: ImportedName, _ models: ReadModels, _ now: Position) -> Username {
        var username = name.username
        // The key of the name with a suffix: several long names can be shortened to the same name.
        let key = name.username(suffix: 2)?.foldKey ?? username.foldKey
        var number = known.suffixes[key] ?? 1
        while newNames.contains(username.foldKey) || models.user(withFoldKey: username.foldKey, asOf: now) != nil {
            number += 1
            guard let next = name.username(suffix: number) else { break }
            username = next
            known.suffixes[key] = number
        }
        return username
    }
}
