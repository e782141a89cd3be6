import Columns

extension RuleState {
    /// Decides a command and appends its events to a batch: see
    /// ``ChatState/decide(_:at:freshID:)``.
    ///
    /// - Parameters:
    ///   - ids: The identities; they include the events that the batch already contains, which are
    ///     those of earlier commands.
    ///   - batch: Receives the events; unchanged if the command is rejected.
    package func decide(
        _ request: borrowing CommandRequest, _ ids: borrowing Identities, at now: Timestamp, freshID: UInt128, into batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let time = max(min(max(now, ChatEvent.recordableTimes.lowerBound), ChatEvent.recordableTimes.upperBound), lastRecordedAt)
        let frame = EventEnvelope(recordedAt: time, origin: request.origin, hasCorrelation: request.correlation != nil)
        let count = batch.count
        let decision = try decide(request.command, ids, freshID, frame, &batch)
        // The correlation id is checked last: the command's own rules take precedence, and a
        // duplicate stays a duplicate whatever its correlation id.
        if case .duplicate = decision { return decision }
        if let correlation = request.correlation, !(1...256).contains(correlation.utf8.count) {
            batch.truncate(to: count)
            throw .invalidCorrelation
        }
        return decision
    }

    private func decide(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ freshID: UInt128, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        switch command {
        case .registerUser(let user, let username, let subject):
            return try registerUser(user, username, subject, fresh: freshID, ids, frame, &batch)
        case .changeUsername(let user, let username): return try changeUsername(user, username, ids, frame, &batch)
        case .setPostcode(let user, let postcode): return try setPostcode(user, postcode, ids, frame, &batch)
        case .openThread(let thread, let name, let by, let policy, let history):
            return try openThread(thread, name, by, policy, history, fresh: freshID, ids, frame, &batch)
        case .joinThread(let user, let thread): return try joinThread(user, thread, ids, frame, &batch)
        case .leaveThread(let user, let thread): return try leaveThread(user, thread, ids, frame, &batch)
        case .postMessage(let message, let thread, let author, let body):
            return try postMessage(message, thread, author, body, fresh: freshID, ids, frame, &batch)
        case .reply(let reply, let message, let author, let body):
            return try postReply(reply, message, author, body, fresh: freshID, ids, frame, &batch)
        case .edit(let post, let by, let body): return try edit(post, by, body, ids, frame, &batch)
        case .retract(let post, let by): return try retract(post, by, ids, frame, &batch)
        case .markRead(let user, let thread, let upTo): return try markRead(user, thread, upTo, ids, frame, &batch)
        case .startSession(let user, let session, let device):
            return try startSession(user, session, device, fresh: freshID, ids, frame, &batch)
        case .endSession(let session): return try endSession(session, ids, frame, &batch)
        case .custom(let id, let kind, let thread, let by, let payload):
            return try custom(id, kind, thread, by, payload, fresh: freshID, ids, frame, &batch)
        default: return try decideCommunity(command, ids, frame, &batch)
        }
    }
}

/// The fields that all events of a decision share.
struct EventEnvelope {
    let recordedAt: Timestamp
    let origin: EventOrigin
    let hasCorrelation: Bool

    /// Makes the row of an event, without its ids.
    func row(_ kind: EventKind) -> EventRow {
        EventRow(
            kind: kind, flags: EventFlags(origin, hasCorrelation: hasCorrelation), recordedAt: recordedAt,
            createdAt: origin.sentAt ?? recordedAt)
    }

    /// Makes the row of an event that a user causes and that concerns another user.
    func row(
        _ kind: EventKind, _ thread: ThreadID, _ number: UInt64, _ user: UserID, actor: UserID, value: UInt64 = 0
    ) -> EventRow {
        var row = row(kind, thread, number, user, post: actor.bits)
        row.value = value
        return row
    }

    /// Makes the row of an event that belongs to a thread.
    func row(_ kind: EventKind, _ thread: ThreadID, _ number: UInt64, _ user: UserID, post: UInt128 = 0, message: UInt128 = 0) -> EventRow {
        var row = row(kind)
        (row.user, row.thread, row.postOrSession, row.message, row.number) = (user.bits, thread.bits, post, message, number)
        return row
    }
}

extension RuleState {
    /// Returns the index of a registered user.
    package func registeredUser(_ id: UserID, _ ids: borrowing Identities) -> Int? {
        guard let user = ids.users.find(id), user < users.count, users[user].registeredAt > 0 else { return nil }
        return user
    }

    /// Returns the index of a thread that has events, even if its opening event was lost.
    package func existingThread(_ id: ThreadID, _ ids: borrowing Identities) -> Int? {
        guard let thread = ids.threads.find(id), thread < threads.count, threads[thread].lastEventNumber > 0 else { return nil }
        return thread
    }

    func requireUser(_ id: UserID, _ ids: borrowing Identities) throws(Rejection) -> Int {
        guard let user = registeredUser(id, ids) else { throw .unknownUser }
        return user
    }

    func requireThread(_ id: ThreadID, _ ids: borrowing Identities) throws(Rejection) -> Int {
        guard let thread = existingThread(id, ids) else { throw .unknownThread }
        return thread
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
        if isMuted(membership, at: time) { throw .muted }
    }
}

/// Users and sessions.
extension RuleState {
    func registerUser(
        _ id: UserID?, _ text: String, _ subject: String?, fresh: UInt128, _ ids: borrowing Identities, _ frame: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id, let user = registeredUser(id, ids) {
            guard users[user].oneBasedFoldKeyAtRegistration > 0,
                ids.foldKeys.text(Int(users[user].oneBasedFoldKeyAtRegistration) - 1) == Username.foldKey(text)
            else {
                throw .identifierTaken
            }
            // Two subjects are two people: the second must not receive the first one's receipt.
            if let subject, subject.utf8.count > 256 || owner(ofSubject: ids.subjects.find(subject)) != user { throw .subjectMismatch }
            return .duplicate(of: users[user].registeredAt...users[user].registeredAt)
        }
        guard let username = Username(text) else { throw .invalidUsername }
        guard owner(ofName: ids.foldKeys.find(username.foldKey)) == nil else { throw .usernameTaken }
        if let subject {
            guard (1...256).contains(subject.utf8.count) else { throw .invalidSubject }
            guard owner(ofSubject: ids.subjects.find(subject)) == nil else { throw .subjectTaken }
        }
        var row = frame.row(.userRegistered)
        row.user = id?.bits ?? fresh
        batch.append(row, .registration(username, subject: subject))
        return .append
    }

    func changeUsername(
        _ id: UserID, _ text: String, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(id, ids)
        // Precedes the check of the name: an earlier version may have accepted the current name
        // under wider rules.
        if let present = users[user].username, let name = NameRules.trimmed(text), present.utf8.elementsEqual(name.utf8) {
            return .unchanged
        }
        guard let username = Username(text) else { throw .invalidUsername }
        if let owner = owner(ofName: ids.foldKeys.find(username.foldKey)), owner != user { throw .usernameTaken }
        var row = frame.row(.usernameChanged)
        row.user = id.bits
        batch.append(row, .username(username), EventIndexes(user: user))
        return .append
    }

    func setPostcode(
        _ id: UserID, _ text: String, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(id, ids)
        guard let postcode = Postcode(text) else { throw .invalidPostcode }
        guard users[user].postcode != postcode else { return .unchanged }
        let thread = ThreadID(postcode.outwardCode)
        var row = frame.row(.postcodeSet)
        (row.user, row.thread) = (id.bits, thread.bits)
        batch.append(row, .postcode(postcode), EventIndexes(user: user))
        guard let known = existingThread(thread, ids) else {
            appendOpening(thread, .none, id, user, frame, &batch)
            return .append
        }
        // A banned user, or a locked or closed thread, is no reason to reject the postcode.
        if !isMember(user, of: known, ids), joinStop(user, known, at: frame.recordedAt, ids) == nil {
            batch.append(frame.row(.threadJoined, thread, nextNumber(in: known), id), .none, EventIndexes(user: user, thread: known))
        }
        return .append
    }

    func startSession(
        _ id: UserID, _ session: SessionID?, _ device: String, fresh: UInt128, _ ids: borrowing Identities, _ frame: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let session, let known = ids.sessions.find(session) {
            guard ids.users.id(Int(sessions[known].user)) == id else { throw .identifierTaken }
            return .duplicate(of: sessions[known].startedAt...sessions[known].startedAt)
        }
        let user = try requireUser(id, ids)
        guard device.utf8.count <= 1_024 else { throw .invalidDevice }
        var row = frame.row(.sessionStarted)
        (row.user, row.postOrSession) = (id.bits, session?.bits ?? fresh)
        batch.append(row, .none, EventIndexes(user: user))
        return .append
    }

    func endSession(
        _ session: SessionID, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        guard let known = ids.sessions.find(session) else { throw .unknownSession }
        guard !sessions[known].hasEnded else { return .unchanged }
        let user = Int(sessions[known].user)
        var row = frame.row(.sessionEnded)
        (row.user, row.postOrSession) = (ids.users.id(user).bits, session.bits)
        batch.append(row, .none, EventIndexes(user: user))
        return .append
    }
}

/// Threads, membership and read markers.
extension RuleState {
    func openThread(
        _ id: ThreadID?, _ text: String, _ by: UserID, _ policy: ThreadPolicy, _ history: ThreadHistory, fresh: UInt128,
        _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id {
            if let code = id.outwardCode { return try openImportedThread(of: code, text, by, policy, history, ids, frame, &batch) }
            if let thread = existingThread(id, ids) {
                guard threads[thread].openedAt > 0, ids.users.id(threads[thread].openedBy) == by else { throw .identifierTaken }
                return duplicateOpening(ofThread: thread)
            }
        }
        let user = try requireUser(by, ids)
        guard let name = ThreadName(text) else { throw .invalidThreadName }
        try requirePolicy(policy, history, frame)
        appendOpening(id ?? ThreadID(bits: fresh), .threadName(name.text), by, user, frame, &batch, policy: policy, history: history)
        return .append
    }

    /// Appends the events that open a thread; its opener joins it.
    ///
    /// - Parameters:
    ///   - by: The opener's id.
    ///   - user: The opener's index.
    func appendOpening(
        _ thread: ThreadID, _ name: EventContent, _ by: UserID, _ user: Int, _ frame: EventEnvelope, _ batch: inout EventBatch,
        policy: ThreadPolicy = .open, history: ThreadHistory = .all
    ) {
        batch.append(frame.row(.threadOpened, thread, 1, by), name, EventIndexes(user: user))
        var joinNumber: UInt64 = 2
        if policy != .open || history != .all {
            var row = frame.row(.threadPolicySet, thread, joinNumber, by)
            row.value = ThreadPolicySet.value(policy, history)
            batch.append(row, .none, EventIndexes(user: user))
            joinNumber += 1
        }
        batch.append(frame.row(.threadJoined, thread, joinNumber, by), .none, EventIndexes(user: user))
    }

    /// Returns the positions of a thread's opening: `threadOpened`, `threadPolicySet` if there is
    /// one, and the opener's `threadJoined`.
    private func duplicateOpening(ofThread thread: Int) -> BatchDecision {
        let hasPolicy = threads[thread].policy != .open || threads[thread].history != .all
        return .duplicate(of: threads[thread].openedAt...threads[thread].openedAt + (hasPolicy ? 2 : 1))
    }

    /// Throws unless a thread can be opened with this policy and history; an import has the defaults.
    private func requirePolicy(_ policy: ThreadPolicy, _ history: ThreadHistory, _ frame: EventEnvelope) throws(Rejection) {
        guard policy != .residents, frame.origin == .native || policy == .open && history == .all else { throw .invalidPolicy }
    }

    /// Opens the thread of an outward code, whose id is reserved, for an import.
    ///
    /// Outside an import such a thread is opened only by a user who sets their postcode.
    private func openImportedThread(
        of code: OutwardCode, _ text: String, _ by: UserID, _ policy: ThreadPolicy, _ history: ThreadHistory,
        _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        guard case .imported = frame.origin, OutwardCode(text) == code else { throw .identifierTaken }
        let thread = ThreadID(code)
        let known = existingThread(thread, ids)
        if let known, threads[known].openedAt > 0, ids.users.id(threads[known].openedBy) == by {
            return duplicateOpening(ofThread: known)
        }
        let user = try requireUser(by, ids)
        try requirePolicy(policy, history, frame)
        // Two imports that open the same outward code share one thread.
        guard known == nil else { return .unchanged }
        appendOpening(thread, .none, by, user, frame, &batch)
        return .append
    }

    func joinThread(
        _ id: UserID, _ threadID: ThreadID, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(id, ids)
        let thread = try requireThread(threadID, ids)
        let standing = standing(of: user, in: thread, ids)
        guard !standing.isMember else { return .unchanged }
        if let rejection = joinRejection(user, thread, frame, isAccepting: false, ids) { throw rejection }
        appendJoin(id, user, thread, ids, frame, &batch)
        return .append
    }

    /// Returns the rejection of a join by a lock or a ban, whatever the policy; nil if none applies.
    func joinStop(_ user: Int, _ thread: Int, at time: Timestamp, _ ids: borrowing Identities) -> Rejection? {
        if threads[thread].isClosed { return .threadClosed }
        if threads[thread].isLocked { return .threadLocked }
        return isBanned(user, from: thread, at: time, ids) ? .banned : nil
    }

    /// Returns the rejection of a join by a user who is no member; nil if they may join.
    ///
    /// - Parameter isAccepting: Whether the user accepts an invitation, which they must then have.
    func joinRejection(
        _ user: Int, _ thread: Int, _ frame: EventEnvelope, isAccepting: Bool, _ ids: borrowing Identities
    ) -> Rejection? {
        if let stop = joinStop(user, thread, at: frame.recordedAt, ids) { return stop }
        let policy = policy(of: thread, ids)
        if isAccepting || policy == .inviteOnly, !standing(of: user, in: thread, ids).isInvited { return .notInvited }
        // An import skips the residence rule.
        if policy == .residents, frame.origin == .native, users[user].residence != EventIndexes.oneBased(thread) { return .notResident }
        return nil
    }

    func appendJoin(
        _ id: UserID, _ user: Int, _ thread: Int, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) {
        batch.append(
            frame.row(.threadJoined, ids.threads.id(thread), nextNumber(in: thread), id), .none, EventIndexes(user: user, thread: thread))
    }

    func leaveThread(
        _ id: UserID, _ threadID: ThreadID, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(id, ids)
        let thread = try requireThread(threadID, ids)
        let standing = standing(of: user, in: thread, ids)
        guard standing.isMember else { return .unchanged }
        guard !isLastOwner(standing, of: thread) else { throw .lastOwner }
        batch.append(frame.row(.threadLeft, threadID, nextNumber(in: thread), id), .none, EventIndexes(user: user, thread: thread))
        return .append
    }

    func markRead(
        _ id: UserID, _ threadID: ThreadID, _ upTo: Position, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(id, ids)
        let thread = try requireThread(threadID, ids)
        let membership = try requireMember(user, of: thread, ids)
        guard upTo <= head else { throw .invalidPosition }
        guard upTo > memberships.readUpTo(membership) else { return .unchanged }
        batch.append(frame.row(.threadRead, threadID, upTo, id), .none, EventIndexes(user: user, thread: thread))
        return .append
    }
}

/// Messages and replies.
extension RuleState {
    func postMessage(
        _ id: MessageID?, _ threadID: ThreadID, _ authorID: UserID, _ body: String, fresh: UInt128, _ ids: borrowing Identities,
        _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id, let known = ids.messages.find(id.bits) {
            guard ids.threads.id(ids.messageFacts.parent(known)) == threadID, ids.users.id(ids.messageFacts.author(known)) == authorID
            else {
                throw .identifierTaken
            }
            return .duplicate(of: ids.messageFacts.position(known)...ids.messageFacts.position(known))
        }
        let author = try requireUser(authorID, ids)
        let thread = try requireThread(threadID, ids)
        let membership = try requireMember(author, of: thread, ids)
        try requireWritable(thread, membership, at: frame.recordedAt)
        guard MessageBody.isValid(body) else { throw .invalidBody }
        batch.append(
            frame.row(.messagePosted, threadID, nextNumber(in: thread), authorID, post: id?.bits ?? fresh), .none,
            EventIndexes(user: author, thread: thread, membership: membership))
        return .append
    }

    func postReply(
        _ id: ReplyID?, _ messageID: MessageID, _ authorID: UserID, _ body: String, fresh: UInt128, _ ids: borrowing Identities,
        _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id, let known = ids.replies.find(id.bits) {
            guard MessageID(bits: ids.messages.id(ids.replyFacts.parent(known))) == messageID,
                ids.users.id(ids.replyFacts.author(known)) == authorID
            else {
                throw .identifierTaken
            }
            return .duplicate(of: ids.replyFacts.position(known)...ids.replyFacts.position(known))
        }
        let author = try requireUser(authorID, ids)
        guard let message = ids.messages.find(messageID.bits) else { throw .unknownMessage }
        let thread = ids.messageFacts.parent(message)
        let membership = try requireMember(author, of: thread, ids)
        guard isVisible(message: message, to: membership, ids) else { throw .unknownMessage }
        try requireWritable(thread, membership, at: frame.recordedAt)
        guard !marks(message: message).isGone else { throw .retracted }
        guard MessageBody.isValid(body) else { throw .invalidBody }
        batch.append(
            frame.row(
                .replyPosted, ids.threads.id(thread), nextNumber(in: thread), authorID, post: id?.bits ?? fresh, message: messageID.bits),
            .none, EventIndexes(user: author, thread: thread, message: message))
        return .append
    }

    func edit(
        _ post: PostID, _ by: UserID, _ body: String, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(by, ids)
        let found = try find(post, ids)
        let membership = try requireMember(user, of: found.thread, ids)
        guard isVisible(message: found.message, to: membership, ids) else { throw .unknown(post) }
        try requireWritable(found.thread, membership, at: frame.recordedAt)
        guard found.author == user else { throw .notTheAuthor }
        guard !found.marks.isGone else { throw .retracted }
        guard MessageBody.isValid(body) else { throw .invalidBody }
        appendChange(post, found, by, ifMessage: .messageEdited, ifReply: .replyEdited, ids, frame, &batch)
        return .append
    }

    func retract(
        _ post: PostID, _ by: UserID, _ ids: borrowing Identities, _ frame: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireUser(by, ids)
        let found = try find(post, ids)
        guard found.author == user else { throw .notTheAuthor }
        guard !found.marks.contains(.retracted) else { return .unchanged }
        appendChange(post, found, by, ifMessage: .messageRetracted, ifReply: .replyRetracted, ids, frame, &batch)
        return .append
    }

    /// A post's indexes: author, thread, the post itself, and its message (for a message, itself).
    typealias FoundPost = (author: Int, marks: PostMarks, thread: Int, post: Int, message: Int)

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

    /// Appends a change of a post by its author, or by a moderator.
    ///
    /// - Parameter user: The index of the acting user; nil for the author.
    func appendChange(
        _ post: PostID, _ found: FoundPost, _ by: UserID, _ user: Int? = nil, ifMessage: EventKind, ifReply: EventKind,
        _ ids: borrowing Identities,
        _ frame: EventEnvelope, _ batch: inout EventBatch
    ) {
        let thread = ids.threads.id(found.thread)
        let number = nextNumber(in: found.thread)
        let row =
            switch post {
            case .message(let message): frame.row(ifMessage, thread, number, by, post: message.bits)
            case .reply(let reply):
                frame.row(ifReply, thread, number, by, post: reply.bits, message: ids.messages.id(found.message))
            }
        batch.append(row, .none, EventIndexes(user: user ?? found.author, thread: found.thread, post: found.post))
    }
}
