import Columns

extension ChatState {
    /// Returns the rules that an event breaks as the next event of this history.
    ///
    /// The result is empty if the decider of this version could have appended the event. A departure
    /// of the last owner of a thread is not a fault, because earlier versions had no owners.
    ///
    /// After a lost event (``lostEventCount``), the audit tolerates what a lost event can explain:
    ///
    /// - ``HistoryFault/Problem/unknownReference`` if the entity does not exist; a post that
    ///   belongs to another thread is reported,
    /// - ``HistoryFault/Problem/threadNumberGap`` if the number is above the next one,
    /// - ``HistoryFault/Problem/notAMember`` and ``HistoryFault/Problem/alreadyMember``,
    /// - ``HistoryFault/Problem/notResident``,
    /// - ``HistoryFault/Problem/notPermitted`` and ``HistoryFault/Problem/noEffect``,
    /// - ``HistoryFault/Problem/usernameTwice``.
    ///
    /// It reports every other problem as before.
    ///
    /// - Complexity: O(1) on average.
    public func faults(of event: ChatEvent) -> [HistoryFault] {
        var indexes = EventIndexes()
        return rules.faults(of: event.row, event.content, identities, &indexes) + (event.textFault.map { [$0] } ?? [])
    }
}

extension RuleState {
    /// Applies the events of a batch and reports the faults of each event before it is applied.
    ///
    /// See ``ChatState/faults(of:)`` for the rules.
    ///
    /// - Parameters:
    ///   - batch: The next events, not yet resolved.
    ///   - report: Receives the row of each event with faults, and the faults. The fault of the
    ///     event's text (``ChatEvent/textFault``) is not among them.
    /// - Complexity: O(1) on average per event.
    package mutating func audit(
        _ batch: inout EventBatch, _ identities: inout Identities, _ report: (_ row: Int, [HistoryFault]) -> Void
    ) {
        identities.prefetch(batch)
        for row in 0..<batch.count {
            let content = batch.rows[row].kind?.isIndexed == true ? batch.content(of: row).content : .none
            let found = faults(of: batch.rows[row], content, identities, &batch.indexes[row])
            if !found.isEmpty { report(row, found) }
            identities.resolve(&batch, upTo: row + 1)
            apply(batch, row..<row + 1)
        }
    }

    /// Returns the rules that an event breaks, except those of its text.
    ///
    /// See ``ChatState/faults(of:)``.
    ///
    /// - Parameters:
    ///   - content: The event's content; read only if the kind is indexed.
    ///   - indexes: Receives the indexes of the user and the thread, if they exist.
    fileprivate func faults(
        of event: EventRow, _ content: borrowing EventContent, _ identities: borrowing Identities, _ indexes: inout EventIndexes
    ) -> [HistoryFault] {
        var faults: [HistoryFault] = []
        func require(_ condition: Bool, _ problem: HistoryFault.Problem, _ message: @autoclosure () -> String) {
            if !condition { faults.append(HistoryFault(problem: problem, message: message())) }
        }
        /// Requires a condition that a lost event can explain away.
        func requireUnlessLost(_ condition: Bool, _ problem: HistoryFault.Problem, _ message: @autoclosure () -> String) {
            require(condition || lostEventCount > 0, problem, message())
        }
        require(event.recordedAt >= lastRecordedAt, .timeWentBack, "recorded at \(event.recordedAt), before \(lastRecordedAt)")
        guard let kind = event.kind, kind != .lost else { return faults }
        if kind == .contentErased {
            require(event.number <= head, .unknownReference, "the content of position \(event.number) is erased, beyond the head \(head)")
            return faults
        }
        let userID = UserID(bits: event.user)
        let threadID = ThreadID(bits: event.thread)
        let knownUser = identities.users.find(userID)
        // A postcode event names a thread but does not belong to it, so its index stays unresolved
        // here.
        let knownThread = kind.isNumbered || kind == .threadRead ? identities.threads.find(threadID) : nil
        indexes.user = knownUser ?? -1
        indexes.thread = knownThread ?? -1
        if kind.isNumbered {
            let expected = knownThread.map { nextNumber(in: $0) } ?? 1
            require(
                event.number == expected || lostEventCount > 0 && event.number > expected, .threadNumberGap,
                "number \(event.number) of thread \(threadID), expected \(expected)")
        }
        let user = knownUser.flatMap { $0 < users.count && users[$0].registeredAt > 0 ? $0 : nil }
        if kind == .userRegistered {
            require(user == nil, .identifierTwice, "user \(userID) is registered already")
        } else {
            requireUnlessLost(user != nil, .unknownReference, "user \(userID) was never registered")
        }
        if let user, users[user].isErased {
            // A host program can end the session of such a user, moderators and operators act on them.
            let isAllowed = kind.hasOtherActor || kind == .sessionEnded || kind == .operatorRevoked
            require(isAllowed, kind == .userErased ? .noEffect : .notPermitted, "the content of user \(userID) was erased earlier")
        }
        let isStarted = knownThread.map { $0 < threads.count && threads[$0].lastEventNumber > 0 } ?? false
        if kind == .threadOpened {
            require(!isStarted, .identifierTwice, "thread \(threadID) is open already")
        } else if kind.isNumbered || kind == .threadRead {
            requireUnlessLost(isStarted, .unknownReference, "thread \(threadID) was never opened")
        }
        let membership = if let knownUser, let knownThread { identities.memberships.find(knownUser, knownThread) } else { nil as Int? }
        let standing = membership.map { memberships.standing($0) } ?? Standing()
        let isMember = standing.isMember
        /// Requires that a member may write in the thread.
        func requireWritable() {
            guard let membership, let knownThread else { return }
            // The common case without a call.
            if !standing.hasMute, !threads[knownThread].isLocked, !threads[knownThread].isClosed { return }
            do throws(Rejection) { try self.requireWritable(knownThread, membership, at: event.recordedAt) } catch {
                requireUnlessLost(false, .notPermitted, error.message)
            }
        }
        /// Requires that a member may see the message that the event concerns.
        func requireVisible(message: Int?) {
            guard let message, let membership, isMember, identities.messageFacts.parent(message) == knownThread else { return }
            requireUnlessLost(
                isVisible(message: message, to: membership, identities), .unknownReference, "the message was posted before the user joined")
        }
        switch kind {
        case .userRegistered, .usernameChanged:
            if let name = content.username, let owner = owner(ofName: identities.foldKeys.find(name.foldKey)) {
                requireUnlessLost(owner == user, .usernameTwice, "the username \(name.text) belongs to user \(identities.userID(owner))")
            }
            if let subject = content.subject {
                require(owner(ofSubject: identities.subjects.find(subject)) == nil, .subjectTwice, "the subject belongs to another user")
            }
        case .postcodeSet:
            if let postcode = content.postcode {
                require(ThreadID(postcode.outwardCode) == threadID, .threadMismatch, "\(postcode) does not belong to thread \(threadID)")
            }
        case .threadOpened, .threadJoined:
            if kind == .threadJoined {
                requireUnlessLost(!isMember, .alreadyMember, "the user is a member already")
                if let knownUser, let knownThread {
                    let isOpener = threads[knownThread].awaitsOpener && threads[knownThread].openedBy == knownUser
                    let isInvited = isOpener || standing.isInvited || policy(of: knownThread, identities) != .inviteOnly
                    let rejection =
                        lockOrBanRejection(knownUser, knownThread, at: event.recordedAt, identities) ?? (isInvited ? nil : .notInvited)
                    requireUnlessLost(rejection == nil, .notPermitted, rejection?.message ?? "")
                }
            }
            if !event.isImported, threadID.outwardCode != nil, let user {
                requireUnlessLost(residence(of: user, identities) == threadID, .notResident, "the user does not live in \(threadID)")
            }
        // No fault for the last owner: threads had no owners when the first histories were written.
        case .threadLeft: requireUnlessLost(isMember, .notAMember, "the user is not a member")
        case .messagePosted:
            let id = MessageID(bits: event.secondID)
            require(identities.messages.find(id.bits) == nil, .identifierTwice, "message \(id) is posted already")
            requireUnlessLost(isMember, .notAMember, "the author is not a member")
            requireWritable()
        case .replyPosted:
            let id = ReplyID(bits: event.secondID)
            require(identities.replies.find(id.bits) == nil, .identifierTwice, "reply \(id) is posted already")
            requireUnlessLost(isMember, .notAMember, "the author is not a member")
            requireWritable()
            requireVisible(message: identities.messages.find(event.message))
            faults += self.faults(of: .message(MessageID(bits: event.message)), in: threadID, by: nil, unless: .gone, identities)
        case .messageEdited, .messageRetracted:
            let isEdit = kind == .messageEdited
            if isEdit { requireUnlessLost(isMember, .notAMember, "the author is not a member") }
            if isEdit { requireWritable() }
            if isEdit { requireVisible(message: identities.messages.find(event.secondID)) }
            faults += self.faults(
                of: .message(MessageID(bits: event.secondID)), in: threadID, by: userID, unless: isEdit ? .gone : .retracted,
                identities)
        case .replyEdited, .replyRetracted:
            let isEdit = kind == .replyEdited
            if isEdit { requireUnlessLost(isMember, .notAMember, "the author is not a member") }
            if isEdit { requireWritable() }
            if isEdit { requireVisible(message: identities.messages.find(event.message)) }
            faults += self.faults(
                of: .reply(ReplyID(bits: event.secondID)), in: threadID, by: userID, unless: isEdit ? .gone : .retracted,
                identities)
            faults += self.faults(of: .message(MessageID(bits: event.message)), in: threadID, by: nil, unless: [], identities)
        case .threadRead:
            requireUnlessLost(isMember, .notAMember, "the reader is not a member")
            require(event.number <= head, .markerBeyondHead, "read up to \(event.number), beyond the head \(head)")
            require(
                event.number > membership.map { memberships.readUpTo($0) } ?? 0, .markerNotIncreasing,
                "read up to \(event.number), not beyond the current marker")
        case .sessionStarted:
            let id = SessionID(bits: event.secondID)
            require(identities.sessions.find(id) == nil, .identifierTwice, "session \(id) is started already")
        case .sessionEnded:
            let id = SessionID(bits: event.secondID)
            if let session = identities.sessions.find(id) {
                require(!sessions[session].hasEnded, .sessionEndedTwice, "session \(id) has ended already")
                require(Int(sessions[session].user) == knownUser, .notTheAuthor, "session \(id) is owned by another user")
            } else {
                requireUnlessLost(false, .unknownReference, "session \(id) was never started")
            }
        case .threadPolicySet:
            guard let knownThread else { break }
            let (policy, history) = ThreadPolicySet.policyAndHistory(event.value)
            let row = threads[knownThread]
            requireUnlessLost(
                row.awaitsOpener && row.lastEventNumber == 1 && row.openedBy == knownUser && policy != .residents
                    && (policy != .open || history != .all),
                .notPermitted, "the policy was not set by the opening of a named thread")
        case .lost, .userErased, .contentErased: break
        default: if faults.isEmpty, let fault = communityFault(of: kind, event, identities) { faults.append(fault) }
        }
        return faults
    }

    /// Returns the fault of an event whose command the decider would not answer with this event.
    private func communityFault(of kind: EventKind, _ event: EventRow, _ identities: borrowing Identities) -> HistoryFault? {
        guard let command = ChatCommand(causing: EventDetails(kind, event)) else { return nil }
        let isLossPossible = lostEventCount > 0
        if isLossPossible, let post = command.moderatedPost {
            // The loss may hide the role of the acting user, but not the thread of the post.
            let faults = faults(of: post, in: ThreadID(bits: event.thread), by: nil, unless: [], identities)
            if let fault = faults.first { return fault }
        }
        var batch = EventBatch(from: head + 1)
        let request = CommandRequest(command, origin: event.origin)
        do throws(Rejection) {
            switch try decide(request, identities, at: event.recordedAt, freshID: 0, into: &batch) {
            case .append:
                var decided = batch.rows[0]
                (decided.number, decided.flags, decided.recordedAt, decided.createdAt) = (
                    event.number, event.flags, event.recordedAt, event.createdAt
                )
                return decided == event
                    ? nil : HistoryFault(problem: .unknownReference, message: "the ids of the event do not belong together")
            case .unchanged:
                return isLossPossible ? nil : HistoryFault(problem: .noEffect, message: "the effect of the event holds already")
            case .duplicate: return HistoryFault(problem: .identifierTwice, message: "the id of the event is in use")
            }
        } catch {
            if error.code == .identifierTaken { return HistoryFault(problem: .identifierTwice, message: error.message) }
            if isLossPossible { return nil }
            let isUnknown = [.unknownUser, .unknownThread, .unknownMessage, .unknownReply].contains(error.code)
            return HistoryFault(problem: isUnknown ? .unknownReference : .notPermitted, message: error.message)
        }
    }

    private func residence(of user: Int, _ identities: borrowing Identities) -> ThreadID? {
        users[user].oneBasedResidence == 0 ? nil : identities.threadID(Int(users[user].oneBasedResidence) - 1)
    }

    /// Returns the faults of a reference to a post: existence, thread, author and marks.
    ///
    /// - Parameter forbidden: The marks that the post must not have.
    private func faults(
        of post: PostID, in thread: ThreadID, by user: UserID?, unless forbidden: PostMarks, _ identities: borrowing Identities
    ) -> [HistoryFault] {
        let place: Int
        let author: Int
        let marks: PostMarks
        switch post {
        case .message(let id):
            guard let number = identities.messages.find(id.bits) else {
                return lostEventCount > 0 ? [] : [HistoryFault(problem: .unknownReference, message: "message \(id) was never posted")]
            }
            (place, author) = (identities.messageFacts.parent(number), identities.messageFacts.author(number))
            marks = self.marks(message: number)
        case .reply(let id):
            guard let number = identities.replies.find(id.bits) else {
                return lostEventCount > 0 ? [] : [HistoryFault(problem: .unknownReference, message: "reply \(id) was never posted")]
            }
            (place, author) = (identities.messageFacts.parent(identities.replyFacts.parent(number)), identities.replyFacts.author(number))
            marks = self.marks(reply: number)
        }
        var faults: [HistoryFault] = []
        if identities.threads.id(place) != thread {
            faults.append(
                HistoryFault(problem: .unknownReference, message: "it belongs to thread \(identities.threads.id(place)), not \(thread)"))
        }
        if let user, identities.users.id(author) != user {
            faults.append(HistoryFault(problem: .notTheAuthor, message: "its author is \(identities.users.id(author)), not \(user)"))
        }
        if !marks.isDisjoint(with: forbidden) {
            faults.append(HistoryFault(problem: .afterRetraction, message: "it was already retracted or removed"))
        }
        return faults
    }
}

extension ChatEvent {
    /// The fault of the event's text, if it breaks a rule of all versions.
    ///
    /// Rules that depend on the version of Unicode are not checked.
    package var textFault: HistoryFault? { textProblem.map { HistoryFault(problem: .invalidText, message: $0) } }

    private var textProblem: String? {
        // A newer version may record other ids in its own kinds.
        if let correlation, kind != nil, !CorrelationID.isValid(correlation) { return "the correlation id is not 1 to 256 bytes" }
        if let device, !DeviceDescription.isValid(device) { return "the device description is over 1,024 bytes" }
        if let body, !MessageBody.isValid(body) { return "the body is empty or over \(MessageBody.maximumByteCount) bytes" }
        if let name = username?.text, !Self.isPossibleName(name, maximumByteCount: Username.maximumByteCount) {
            return "the username is not valid"
        }
        if case .threadName(let name) = content {
            if !Self.isPossibleName(name, maximumByteCount: ThreadName.maximumByteCount) { return "the thread's name is not valid" }
            if OutwardCode(name) != nil { return "the thread's name is an outward code" }
        }
        if let subject, !Subject.isValid(subject) { return "the subject is not 1 to 256 bytes" }
        if case .erasure(let reason, _) = content {
            return ErasureReason.isValid(reason) ? nil : "the reason of the erasure is not valid"
        }
        if let reason, !ModerationReason.isValid(reason) {
            return "the reason is empty or over \(ModerationReason.maximumByteCount) bytes"
        }
        if let customKind, !CustomKind.isValid(customKind) { return "the kind is not a reverse-DNS name" }
        if let payload, !payload.isWithinLimit || CustomPayload(payload.text) == nil { return "the payload is not valid" }
        return nil
    }

    private static func isPossibleName(_ name: String, maximumByteCount: Int) -> Bool {
        (1...maximumByteCount).contains(name.utf8.count) && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}

extension ChatCommand {
    /// The post that a moderator or a reporter acts on.
    fileprivate var moderatedPost: PostID? {
        switch self {
        case .remove(let post, _, _), .report(let post, _, _), .resolveReport(let post, _): post
        case .pin(let message, _), .unpin(let message, _): .message(message)
        default: nil
        }
    }

    /// Creates the command that causes an event of roles, moderation or custom events.
    ///
    /// The reason, the kind and the payload are placeholders, on which no other rule depends.
    fileprivate init?(causing details: EventDetails) {
        let reason = "-"
        switch details {
        case .userInvited(let details): self = .invite(user: details.user, thread: details.thread, by: details.by)
        case .invitationDeclined(let details): self = .declineInvitation(user: details.user, thread: details.thread)
        case .invitationRevoked(let details): self = .revokeInvitation(user: details.user, thread: details.thread, by: details.by)
        case .roleSet(let details): self = .setRole(user: details.user, thread: details.thread, role: details.role, by: details.by)
        case .operatorGranted(let details): self = .grantOperator(user: details.user)
        case .operatorRevoked(let details): self = .revokeOperator(user: details.user)
        case .messageRemoved(let details): self = .remove(.message(details.message), by: details.by, reason: reason)
        case .replyRemoved(let details): self = .remove(.reply(details.reply), by: details.by, reason: reason)
        case .userMuted(let details):
            self = .mute(user: details.user, thread: details.thread, by: details.by, reason: reason, until: details.until)
        case .userUnmuted(let details): self = .unmute(user: details.user, thread: details.thread, by: details.by)
        case .userBanned(let details):
            self = .ban(user: details.user, thread: details.thread, by: details.by, reason: reason, until: details.until)
        case .userUnbanned(let details): self = .unban(user: details.user, thread: details.thread, by: details.by)
        case .memberRemoved(let details):
            self = .removeMember(user: details.user, thread: details.thread, by: details.by, reason: reason)
        case .messagePinned(let details): self = .pin(message: details.message, by: details.by)
        case .messageUnpinned(let details): self = .unpin(message: details.message, by: details.by)
        case .threadLocked(let details): self = .lockThread(thread: details.thread, by: details.by)
        case .threadUnlocked(let details): self = .unlockThread(thread: details.thread, by: details.by)
        case .threadClosed(let details): self = .closeThread(thread: details.thread, by: details.by)
        case .messageReported(let details): self = .report(.message(details.message), by: details.by, reason: reason)
        case .replyReported(let details): self = .report(.reply(details.reply), by: details.by, reason: reason)
        case .messageReportsResolved(let details): self = .resolveReport(.message(details.message), by: details.by)
        case .replyReportsResolved(let details): self = .resolveReport(.reply(details.reply), by: details.by)
        case .userBlocked(let details): self = .block(user: details.user, by: details.by)
        case .userUnblocked(let details): self = .unblock(user: details.user, by: details.by)
        case .custom(let details):
            self = .custom(
                id: details.id, kind: "com.example", thread: details.thread, by: details.by, payload: CustomPayload(unchecked: "0"))
        default: return nil
        }
    }
}
