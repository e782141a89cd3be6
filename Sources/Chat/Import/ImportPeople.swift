import ChatDomain
import Projections

/// The users, threads and memberships of an import: what the lines so far have made of them, and
/// which registrations, openings and joins a further line needs.
struct ImportPeople {
    /// The name and the subject of a user to register.
    struct Registration {
        let name: ImportedName
        let subject: String?
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
    /// The policies of the lines of channels so far.
    private var policies: [ThreadID: ThreadPolicy] = [:]
    private var known = Known()
    /// The users to register, by the fold keys of their names.
    private var newNames: [String: UserID] = [:]
    private var newSubjects: Set<[UInt8]> = []
    private var newMembers: Set<Member> = []
    /// The renamed users of the batch, for the summary.
    private(set) var renamed: [UserID: RenamedUser] = [:]
    private(set) var withoutSubject: [UserID: UserWithoutSubject] = [:]

    init(policy: ThreadPolicy) { self.policy = policy }

    /// Removes what belongs to one batch; what is known of the store and the policies stay.
    mutating func removeNew() {
        let (policies, known) = (policies, known)
        self = ImportPeople(policy: policy)
        (self.policies, self.known) = (policies, known)
    }

    /// Discards the known users, threads and memberships, so that they are looked up again.
    mutating func resetKnown() { known = Known() }
}

// MARK: Threads and joins

extension ImportPeople {
    /// Sets the policy of a channel, which counts when the channel is opened.
    ///
    /// - Throws: `invalidPolicy` if the channel is an outward code, or was opened with another
    ///   policy.
    mutating func setPolicy(
        _ channelPolicy: ThreadPolicy, _ line: ImportBatch.ParsedLine, _ models: borrowing ReadModels, _ now: Position
    ) throws(Rejection) {
        guard line.thread.outwardCode == nil, channelPolicy != .residents else { throw .invalidPolicy }
        _ = try threadName(line, models, now)
        let isOpen = models.hasThread(line.thread, asOf: now)
        let isKnown = isOpen || known.threads.contains(line.thread) || policies[line.thread] != nil
        let given = isOpen ? models.openingPolicy(of: line.thread) : policies[line.thread] ?? policy
        guard !isKnown || given == channelPolicy else { throw .invalidPolicy }
        policies[line.thread] = channelPolicy
    }

    /// Returns whether a thread is open, or a command of the batch opens it.
    func isOpen(_ thread: ThreadID, _ models: ReadModels, _ now: Position) -> Bool {
        models.hasThread(thread, asOf: now) || known.threads.contains(thread)
    }

    /// Stages the join of a line, unless the user was ever a member: an import does not bring back
    /// a user who has left.
    mutating func stageJoin(
        _ user: UserID, _ newcomer: Registration?, _ threadName: String, _ line: ImportBatch.ParsedLine,
        _ models: ReadModels, _ now: Position, _ commands: inout ImportCommands, _ adapted: inout LineAdaptations
    ) {
        let member = Member(user: user, thread: line.thread)
        if known.members.contains(member) || models.hasBeenMember(user, of: line.thread, asOf: now) { return }
        // The same user can occur twice.
        stageMembership(
            user, known.users.contains(user) ? nil : newcomer, threadName, line, models, now, &commands, &adapted)
        commands.assumptions.newJoins.append(member)
    }

    /// Returns the name under which the thread of a line's channel is opened.
    ///
    /// - Throws: `identifierTaken` if a native thread has the id; `invalidThreadName` if the thread
    ///   does not exist and the channel is not a valid name.
    func threadName(_ line: ImportBatch.ParsedLine, _ models: borrowing ReadModels, _ now: Position) throws(Rejection)
        -> String
    {
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
    func registration(
        _ user: UserID, _ person: ImportBatch.Person, _ models: borrowing ReadModels, _ now: Position
    ) throws(Rejection) -> Registration? {
        if known.users.contains(user) { return nil }
        if let profile = models.profile(user, asOf: now) {
            guard profile.isImported else { throw .identifierTaken }
            return nil
        }
        guard let name = person.name else { throw .invalidUsername }
        guard case .account(_, _, let subject?) = person.imported else { return Registration(name: name, subject: nil) }
        guard Subject.isValid(subject) else { throw .invalidSubject }
        return Registration(name: name, subject: subject)
    }

    /// Stages the registration, the opening of the thread and the join, as far as they are needed.
    mutating func stageMembership(
        _ user: UserID, _ newcomer: Registration?, _ threadName: String, _ line: ImportBatch.ParsedLine,
        _ models: borrowing ReadModels, _ now: Position, _ commands: inout ImportCommands,
        _ adapted: inout LineAdaptations
    ) {
        if let newcomer { stageUser(user, newcomer, line.origin, models, now, &commands) }
        known.users.insert(user)
        if known.threads.insert(line.thread).inserted, !models.hasThread(line.thread, asOf: now) {
            // The thread of an outward code is opened by its first member and does not belong to
            // the import.
            if line.thread.outwardCode == nil { commands.assumptions.newThreads.insert(line.thread) }
            let policy = line.thread.outwardCode == nil ? policies[line.thread] ?? policy : .open
            commands.append(.openThread(id: line.thread, name: threadName, policy: policy, by: user), line.origin)
            if !threadName.utf8.elementsEqual(line.channel.utf8) { adapted[.channelRenamed] = line.channel }
        }
        let member = Member(user: user, thread: line.thread)
        if known.members.insert(member).inserted {
            newMembers.insert(member)
            commands.append(.joinThread(thread: line.thread, by: user), line.origin)
        } else if !newMembers.contains(member) {
            commands.assumptions.existingMembers.insert(member)
        }
    }

    /// Stages the memberships of the users whom a message mentions, and returns these users, each
    /// once.
    ///
    /// A user who was a member and left does not come back because of a mention; they are left out,
    /// as is one whom the store cannot register, and every user after the 50th.
    mutating func stageMentions(
        of message: ImportedMessage, _ threadName: String, _ line: ImportBatch.ParsedLine,
        _ models: borrowing ReadModels,
        _ now: Position, _ commands: inout ImportCommands, _ adapted: inout LineAdaptations
    ) -> [UserID] {
        var mentions: [UserID] = []
        for person in message.mentions.lazy.map(ImportBatch.Person.init) {
            if let user = person.user, mentions.contains(user) { continue }
            do throws(Rejection) {
                guard mentions.count < MessageBody.maximumMentionCount else { throw .notAMember }
                guard let user = person.user else { throw .invalidUsername }
                let newcomer = try registration(user, person, models, now)
                guard mayBeMember(user, of: line.thread, models, now) else { throw .notAMember }
                stageMembership(user, newcomer, threadName, line, models, now, &commands, &adapted)
                let member = Member(user: user, thread: line.thread)
                if newMembers.contains(member), !commands.assumptions.newJoins.contains(member) {
                    commands.assumptions.newJoins.append(member)
                }
                mentions.append(user)
            } catch {
                adapted[.mentionIgnored] = message.id
            }
        }
        return mentions
    }

    /// Returns the members of a line's thread whom one of its bodies names.
    ///
    /// Those who join by earlier commands of the batch are members, so that it makes no difference
    /// where a batch ends.
    ///
    /// - Parameters:
    ///   - body: The index of the body; none is searched unless the import looks for names.
    ///   - former: The users whom the text before an edit names.
    func membersNamed(
        inBody body: Int, of line: ImportBatch.ParsedLine, former: [String: UserID] = [:], _ models: ReadModels,
        _ now: Position
    ) -> [UserID] {
        guard line.names.indices.contains(body) else { return [] }
        return line.names[body].users(limit: ChatCommand.maximumFoundCount) { foldKey in
            guard let user = former[foldKey] ?? models.user(withFoldKey: foldKey, asOf: now) ?? newNames[foldKey]
            else { return nil }
            let isMember =
                newMembers.contains(Member(user: user, thread: line.thread))
                || models.canBeMentioned(user, in: line.thread, asOf: now)
            return isMember ? user : nil
        }
    }

    /// Whether a user is a member of a thread, or can become one by a mention.
    private func mayBeMember(_ user: UserID, of thread: ThreadID, _ models: borrowing ReadModels, _ now: Position)
        -> Bool
    {
        if known.members.contains(Member(user: user, thread: thread)) { return true }
        guard let standing = models.standing(of: user, in: thread, asOf: now) else { return true }
        return standing.role != nil || standing.departure == nil && standing.ban == nil
    }

    /// Stages the registration and the join of a user who reacted, as far as they are needed.
    ///
    /// - Returns: Whether the user is a member then: false for a former member, and if a native
    ///   user has the id.
    mutating func stageReactingUser(
        _ user: UserID, _ person: ImportBatch.Person, _ line: ImportBatch.ParsedLine, _ models: borrowing ReadModels,
        _ now: Position,
        _ commands: inout ImportCommands
    ) -> Bool {
        let member = Member(user: user, thread: line.thread)
        if newMembers.contains(member) { return true }
        if models.hasBeenMember(user, of: line.thread, asOf: now) {
            guard models.joinPosition(user, in: line.thread, asOf: now) != nil else { return false }
            commands.assumptions.existingMembers.insert(member)
            return true
        }
        let newcomer: Registration?
        do throws(Rejection) { newcomer = try registration(user, person, models, now) } catch { return false }
        // The thread exists, so its name is not needed.
        var adapted: LineAdaptations = [:]
        stageMembership(user, newcomer, line.channel, line, models, now, &commands, &adapted)
        commands.assumptions.newJoins.append(member)
        return true
    }
}

extension ImportPeople {
    private mutating func stageUser(
        _ user: UserID, _ new: Registration, _ origin: EventOrigin, _ models: ReadModels, _ now: Position,
        _ commands: inout ImportCommands
    ) {
        let (name, subject) = (new.name, new.subject)
        let username = freeUsername(name, models, now)
        newNames[username.foldKey] = user
        if !username.text.utf8.elementsEqual(name.text.utf8) {
            renamed[user] = RenamedUser(user: user, name: name.text, username: username.text)
        }
        var given = subject
        if let subject,
            newSubjects.contains(Array(subject.utf8)) || models.userID(withSubject: subject, asOf: now) != nil
        {
            withoutSubject[user] = UserWithoutSubject(user: user, username: username.text, subject: subject)
            given = nil
        }
        if let given { newSubjects.insert(Array(given.utf8)) }
        commands.assumptions.newUsers[user] = ImportAssumptions.NewUser(username: username, subject: given)
        commands.append(.registerUser(id: user, username: username.text, subject: given), origin)
    }

    /// Returns an unused username: the given one, or the same with the first free suffix.
    private mutating func freeUsername(_ name: ImportedName, _ models: ReadModels, _ now: Position) -> Username {
        var username = name.username
        // The key of the name with a suffix: several long names can be shortened to the same name.
        let key = name.username(suffix: 2)?.foldKey ?? username.foldKey
        var number = known.suffixes[key] ?? 1
        while newNames[username.foldKey] != nil || models.user(withFoldKey: username.foldKey, asOf: now) != nil {
            number += 1
            guard let next = name.username(suffix: number) else { break }
            username = next
            known.suffixes[key] = number
        }
        return username
    }
}
