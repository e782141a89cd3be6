import Columns

// The functions of the rules name an id `userID` or `threadID`, and the dense index of the same
// entity `user` or `thread`. Where a command concerns a user or a post, `actorID` and `actor` are
// those of the user who acts.

extension RuleState {
    /// Decides a command and appends its events to a batch: see
    /// ``ChatState/decide(_:at:freshID:)``.
    ///
    /// - Parameters:
    ///   - ids: The identities; they include the events that the batch already contains, which are
    ///     those of earlier commands.
    ///   - batch: Receives the events; unchanged if the command is rejected.
    ///   - isAudit: Whether an audit asks, not a user: what an ``EarlierRule`` permitted is accepted.
    package func decide(
        _ request: borrowing CommandRequest, _ ids: borrowing Identities, at now: Timestamp, freshID: UInt128, into batch: inout EventBatch,
        isAudit: Bool = false
    ) throws(Rejection) -> BatchDecision {
        let envelope = EventEnvelope(
            recordedAt: recordingTime(at: now), origin: request.origin, hasCorrelation: request.correlation != nil,
            id: request.command.id ?? freshID, isAudit: isAudit)
        let count = batch.count
        let decision = try decide(request.command, ids, envelope, &batch)
        // The correlation id is checked last: the command's own rules take precedence, and a
        // duplicate stays a duplicate whatever its correlation id.
        if case .duplicate = decision { return decision }
        if let correlation = request.correlation, !CorrelationID.isValid(correlation) {
            batch.truncate(to: count)
            throw .invalidCorrelation
        }
        return decision
    }

    private func decide(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        switch command.kind {
        case .registerUser: try registerUser(command, ids, envelope, &batch)
        case .changeUsername: try changeUsername(command, ids, envelope, &batch)
        case .setPostcode: try setPostcode(command, ids, envelope, &batch)
        case .openThread: try openThread(command, ids, envelope, &batch)
        case .joinThread: try joinThread(command, ids, envelope, &batch)
        case .leaveThread: try leaveThread(command, ids, envelope, &batch)
        case .postMessage: try postMessage(command, ids, envelope, &batch)
        case .reply: try postReply(command, ids, envelope, &batch)
        case .edit: try edit(command, ids, envelope, &batch)
        case .retract: try retract(command, ids, envelope, &batch)
        case .markRead: try markRead(command, ids, envelope, &batch)
        case .startSession: try startSession(command, ids, envelope, &batch)
        case .endSession: try endSession(command, ids, envelope, &batch)
        case .invite: try invite(command, ids, envelope, &batch)
        case .acceptInvitation: try joinThread(command, isAccepting: true, ids, envelope, &batch)
        case .declineInvitation: try declineInvitation(command, ids, envelope, &batch)
        case .revokeInvitation: try revokeInvitation(command, ids, envelope, &batch)
        case .setRole: try setRole(command, ids, envelope, &batch)
        case .grantOperator: try setOperator(command, true, ids, envelope, &batch)
        case .revokeOperator: try setOperator(command, false, ids, envelope, &batch)
        case .remove: try remove(command, ids, envelope, &batch)
        case .mute: try sanction(command, .mute, ids, envelope, &batch)
        case .unmute: try endSanction(command, .mute, ids, envelope, &batch)
        case .ban: try sanction(command, .ban, ids, envelope, &batch)
        case .unban: try endSanction(command, .ban, ids, envelope, &batch)
        case .removeMember: try removeMember(command, ids, envelope, &batch)
        case .pin: try setPin(command, true, ids, envelope, &batch)
        case .unpin: try setPin(command, false, ids, envelope, &batch)
        case .lockThread: try setLock(command, true, ids, envelope, &batch)
        case .unlockThread: try setLock(command, false, ids, envelope, &batch)
        case .closeThread: try closeThread(command, ids, envelope, &batch)
        case .setThreadPolicy: try setThreadPolicy(command, ids, envelope, &batch)
        case .report: try report(command, ids, envelope, &batch)
        case .resolveReport: try resolveReport(command, ids, envelope, &batch)
        case .block: try setBlock(command, true, ids, envelope, &batch)
        case .unblock: try setBlock(command, false, ids, envelope, &batch)
        case .custom: try custom(command, ids, envelope, &batch)
        }
    }
}

/// What a command does in a thread, which decides whether the thread exists for its acting user.
enum ThreadAct {
    /// What readers do: join, leave, write, report.
    case ofReader
    /// What moderators do, and with them the operators of the community.
    case ofModerator
    /// What the author of a post does with it without being a reader.
    case ofAuthor
}

/// The acting user, the user concerned and the thread of a command, as ids and as indexes.
struct UserAction {
    let actorID: UserID
    let userID: UserID
    let threadID: ThreadID
    let actor: Int
    let user: Int
    let thread: Int
    /// The standing of the acting user.
    let actorStanding: Standing
    /// The standing of the user concerned.
    let userStanding: Standing
    /// The index of the concerned user's membership; nil if no event has named the pair.
    let membership: Int?
}

/// The fields that all events of a decision share, and the rules that it follows.
struct EventEnvelope {
    let recordedAt: Timestamp
    let origin: EventOrigin
    let hasCorrelation: Bool
    /// The id of what the command creates: its own or a fresh one.
    var id: UInt128 = 0
    /// Whether an audit asks, which accepts what an ``EarlierRule`` permitted and knows every thread.
    var isAudit = false

    /// Makes the row of an event, without its ids.
    func row(_ kind: EventKind) -> EventRow {
        EventRow(
            kind: kind, flags: EventFlags(origin, hasCorrelation: hasCorrelation), recordedAt: recordedAt,
            createdAt: origin.sentAt ?? recordedAt)
    }

    /// Makes the row of an event that a user causes and that concerns another user.
    func row(
        _ kind: EventKind, _ threadID: ThreadID, _ number: UInt64, _ userID: UserID, otherActor: UserID, value: UInt64 = 0
    ) -> EventRow {
        var row = row(kind, threadID, number, userID, secondID: otherActor.bits)
        row.value = value
        return row
    }

    /// Makes the row of an event that belongs to a thread.
    func row(
        _ kind: EventKind, _ threadID: ThreadID, _ number: UInt64, _ userID: UserID, secondID: UInt128 = 0, message: UInt128 = 0
    ) -> EventRow {
        var row = row(kind)
        (row.user, row.thread, row.secondID, row.message, row.number) = (userID.bits, threadID.bits, secondID, message, number)
        return row
    }
}

extension RuleState {
    /// Returns `now`, clamped to the range of recording times, or the last recording time if that is
    /// later.
    func recordingTime(at now: Timestamp) -> Timestamp { max(recordableTime(at: now), lastRecordedAt) }

    /// Returns `now`, clamped to the range of recording times.
    func recordableTime(at now: Timestamp) -> Timestamp {
        min(max(now, ChatEvent.recordableTimes.lowerBound), ChatEvent.recordableTimes.upperBound)
    }

    /// Returns the index of a registered user.
    package func registeredUser(_ userID: UserID, _ ids: borrowing Identities) -> Int? {
        guard let user = ids.users.find(userID), user < users.count, users[user].registeredAt > 0 else { return nil }
        return user
    }

    /// Returns the index of a thread that has events, even if its opening event was lost.
    package func existingThread(_ threadID: ThreadID, _ ids: borrowing Identities) -> Int? {
        guard let thread = ids.threads.find(threadID), thread < threads.count, threads[thread].lastEventNumber > 0 else { return nil }
        return thread
    }

    /// Returns the index of a user who acts; they are registered and not erased.
    func requireUser(_ userID: UserID, _ ids: borrowing Identities) throws(Rejection) -> Int {
        let user = try requireRegistered(userID, ids)
        guard !users[user].isErased else { throw .userErased }
        return user
    }

    /// Returns the index of a user whom a command concerns.
    func requireRegistered(_ userID: UserID, _ ids: borrowing Identities) throws(Rejection) -> Int {
        guard let user = registeredUser(userID, ids) else { throw .unknownUser }
        return user
    }

    /// Returns the index of a user who is invited, muted, banned or blocked: an erased user is not.
    func requireNotErased(_ userID: UserID, _ ids: borrowing Identities, _ envelope: EventEnvelope) throws(Rejection) -> Int {
        let user = try requireRegistered(userID, ids)
        if users[user].isErased, !envelope.isAudit { throw .userErased }
        return user
    }

    /// Returns the index of a thread that the acting user knows (``isKnown(_:to:as:_:_:)``).
    ///
    /// Every command that names a thread uses this function, so that a thread that a user does not
    /// know is rejected as one that does not exist.
    func requireThread(
        _ threadID: ThreadID, for actor: Int, as act: ThreadAct = .ofReader, _ ids: borrowing Identities, _ envelope: EventEnvelope
    ) throws(Rejection) -> Int {
        guard let thread = existingThread(threadID, ids), isKnown(thread, to: actor, as: act, ids, envelope) else { throw .unknownThread }
        return thread
    }

    /// Whether a thread exists for a user who acts.
    ///
    /// An `inviteOnly` thread exists for its members and for the users with an invitation, and for
    /// the operators of the community when they moderate it. An import and an audit know every thread.
    func isKnown(_ thread: Int, to actor: Int, as act: ThreadAct, _ ids: borrowing Identities, _ envelope: EventEnvelope) -> Bool {
        guard isInviteOnly(thread, ids), envelope.origin == .native, !envelope.isAudit else { return true }
        let standing = standing(of: actor, in: thread, ids)
        return standing.isMember || standing.isInvited || act == .ofModerator && isOperator(actor)
    }

    /// Returns a user's standing in a thread.
    package func standing(of user: Int, in thread: Int, _ ids: borrowing Identities) -> Standing {
        ids.memberships.find(user, thread).map { memberships.standing($0) } ?? Standing()
    }

    func isMember(_ user: Int, of thread: Int, _ ids: borrowing Identities) -> Bool { standing(of: user, in: thread, ids).isMember }

    /// Returns the membership of a member.
    func requireMember(_ user: Int, of thread: Int, _ ids: borrowing Identities) throws(Rejection) -> Int {
        guard let membership = ids.memberships.find(user, thread), memberships.standing(membership).isMember else { throw .notAMember }
        return membership
    }

    /// Throws if the thread is closed or locked.
    func requireUnlocked(_ thread: Int) throws(Rejection) {
        if threads[thread].isClosed { throw .threadClosed }
        if threads[thread].isLocked { throw .threadLocked }
    }

    /// Throws if a member may not write in a thread now.
    @inline(__always)
    func requireWritable(_ thread: Int, _ membership: Int, at time: Timestamp) throws(Rejection) {
        try requireUnlocked(thread)
        if isSanctioned(.mute, membership, at: time) { throw .muted }
    }

    /// Whether a user is banned from a thread at a time.
    func isBanned(_ user: Int, from thread: Int, at time: Timestamp, _ ids: borrowing Identities) -> Bool {
        ids.memberships.find(user, thread).map { isSanctioned(.ban, $0, at: time) } ?? false
    }

    /// Whether a member is the only owner of a thread that is not closed.
    func isLastOwner(_ standing: Standing, of thread: Int) -> Bool {
        standing.role == .owner && threads[thread].ownerCount == 1 && !threads[thread].isClosed
    }

    /// Throws unless a user moderates a thread.
    func requireModerator(_ user: Int, of thread: Int, _ ids: borrowing Identities) throws(Rejection) {
        if let role = standing(of: user, in: thread, ids).role, role >= .moderator { return }
        guard isOperator(user) else { throw .notAModerator }
    }

    /// Finds the two users and the thread of a moderator's command.
    ///
    /// - Parameter sparesErased: Whether an erased user is rejected; false for a command that ends
    ///   what the user has.
    func userAction(
        _ command: borrowing ChatCommand, sparesErased: Bool = false, _ ids: borrowing Identities, _ envelope: EventEnvelope
    ) throws(Rejection) -> UserAction {
        let actor = try requireUser(command.actorID, ids)
        let user = sparesErased ? try requireNotErased(command.userID, ids, envelope) : try requireRegistered(command.userID, ids)
        let thread = try requireThread(command.threadID, for: actor, as: .ofModerator, ids, envelope)
        return UserAction(
            actorID: command.actorID, userID: command.userID, threadID: command.threadID, actor: actor, user: user, thread: thread,
            actorStanding: standing(of: actor, in: thread, ids), userStanding: standing(of: user, in: thread, ids),
            membership: ids.memberships.find(user, thread))
    }

    /// Appends an event about the user concerned.
    ///
    /// - Parameter pending: The number of events of the same decision in the thread before this one.
    func append(
        _ kind: EventKind, _ action: UserAction, after pending: UInt64 = 0, value: UInt64 = 0, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) {
        let row = envelope.row(
            kind, action.threadID, nextNumber(in: action.thread) &+ pending, action.userID, otherActor: action.actorID, value: value)
        batch.append(row, .none, EventIndexes(user: action.user, thread: action.thread))
    }

    /// A post's indexes: author, thread, the post itself, and its message (for a message, itself).
    typealias FoundPost = (author: Int, marks: PostMarks, thread: Int, post: Int, message: Int)

    /// Finds a post in a thread that the acting user knows.
    ///
    /// Every command that names a post uses this function, as those that name a thread use
    /// ``requireThread(_:for:as:_:_:)``.
    func find(
        _ post: PostID, for actor: Int, as act: ThreadAct = .ofReader, _ ids: borrowing Identities, _ envelope: EventEnvelope
    ) throws(Rejection) -> FoundPost {
        let found = try find(post, ids)
        let isOwn = act == .ofAuthor && found.author == actor
        guard isOwn || isKnown(found.thread, to: actor, as: act, ids, envelope) else { throw .unknown(post) }
        return found
    }

    /// Finds a post, whoever asks.
    func find(_ post: PostID, _ ids: borrowing Identities) throws(Rejection) -> FoundPost {
        switch post {
        case .message(let id):
            guard let message = ids.messages.find(id.bits) else { throw .unknownMessage }
            return (ids.messageFacts.author(message), marks(message: message), ids.messageFacts.parent(message), message, message)
        case .reply(let id):
            guard let reply = ids.replies.find(id.bits) else { throw .unknownReply }
            let message = ids.replyFacts.parent(reply)
            return (ids.replyFacts.author(reply), marks(reply: reply), ids.messageFacts.parent(message), reply, message)
        }
    }
}

extension Rejection {
    /// The rejection of a post that does not exist, or not for this user.
    static func unknown(_ post: PostID) -> Rejection {
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
