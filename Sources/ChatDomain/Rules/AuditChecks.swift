import Columns

/// The faults of an event that have been found, and whether a lost event can explain some of them.
struct FaultList {
    private(set) var faults: [HistoryFault] = []
    let isLossPossible: Bool

    init(isLossPossible: Bool) { self.isLossPossible = isLossPossible }

    mutating func append(_ fault: HistoryFault) { faults.append(fault) }

    mutating func append(contentsOf others: [HistoryFault]) { faults += others }

    /// Adds a fault unless a condition holds.
    mutating func require(_ condition: Bool, _ problem: HistoryFault.Problem, _ message: @autoclosure () -> String) {
        if !condition { faults.append(HistoryFault(problem: problem, message: message())) }
    }

    /// Adds a fault unless a condition holds or a lost event can explain why it does not.
    mutating func requireUnlessLost(
        _ condition: Bool, _ problem: HistoryFault.Problem, _ message: @autoclosure () -> String
    ) {
        require(condition || isLossPossible, problem, message())
    }
}

/// An event to check, with the entities that it names.
struct AuditedEvent {
    let kind: EventKind
    let row: EventRow
    let userID: UserID
    let threadID: ThreadID
    /// The index of the user, registered or not; nil if no event has named them.
    let knownUser: Int?
    /// The index of the thread, opened or not; nil if no event has named it.
    ///
    /// A postcode event names a thread but does not belong to it, so it has none.
    let knownThread: Int?
    /// The index of the user if they are registered.
    let user: Int?
    let membership: Int?
    let standing: Standing
}

/// Users.
extension RuleState {
    /// Checks the number in the thread, and that the user and the thread exist or are new.
    func checkUserAndThread(_ event: AuditedEvent, _ faults: inout FaultList) {
        let (kind, number) = (event.kind, event.row.number)
        if kind.form.isNumbered {
            let expected = event.knownThread.map { nextNumber(in: $0) } ?? 1
            faults.require(
                number == expected || faults.isLossPossible && number > expected, .threadNumberGap,
                "number \(number) of thread \(event.threadID), expected \(expected)")
        }
        if kind == .userRegistered {
            faults.require(event.user == nil, .identifierTwice, "user \(event.userID) is registered already")
        } else {
            faults.requireUnlessLost(event.user != nil, .unknownReference, "user \(event.userID) was never registered")
        }
        if let user = event.user, users[user].isErased {
            // A host program can end the session of such a user, moderators and operators act on
            // them. The host closes threads in the name of their openers.
            let isAllowed =
                kind.form.hasOtherActor || kind == .sessionEnded || kind == .operatorRevoked
                || kind == .threadPolicySet && event.row.isImported
            let problem: HistoryFault.Problem = kind == .userErased ? .noEffect : .notPermitted
            faults.require(isAllowed, problem, "the content of user \(event.userID) was erased earlier")
        }
        let isStarted = event.knownThread.map { $0 < threads.count && threads[$0].lastEventNumber > 0 } ?? false
        if kind == .threadOpened || kind == .directOpened {
            faults.require(!isStarted, .identifierTwice, "thread \(event.threadID) is open already")
        } else if kind.form.isNumbered || kind == .threadRead {
            faults.requireUnlessLost(isStarted, .unknownReference, "thread \(event.threadID) was never opened")
        }
    }

    func checkNames(
        _ event: AuditedEvent, _ content: borrowing EventContent, _ ids: borrowing Identities, _ faults: inout FaultList
    ) {
        if let name = content.username, let owner = owner(ofName: ids.foldKeys.find(name.currentFoldKey)),
            !looksLikeNameOfOther(name, than: event.user, ids)
        {
            faults.requireUnlessLost(
                owner == event.user, .usernameTwice, "the username \(name.text) belongs to user \(ids.userID(owner))")
        }
        if let subject = content.subject {
            faults.require(
                owner(ofSubject: ids.subjects.find(subject)) == nil, .subjectTwice,
                "the subject belongs to another user")
        }
    }
}

/// Threads and sessions.
extension RuleState {
    func checkJoin(_ event: AuditedEvent, _ ids: borrowing Identities, _ faults: inout FaultList) {
        faults.requireUnlessLost(!event.standing.isMember, .alreadyMember, "the user is a member already")
        guard let user = event.knownUser, let thread = event.knownThread else { return }
        let isOpener =
            threads[thread].awaitsOpener && threads[thread].openedBy == user
            && threads[thread].lastEventNumber < ThreadRow.maximumNumberOfOpenersJoin
        let isInvited =
            isOpener || event.standing.isInvited || policy(of: thread, ids) != .inviteOnly
            || skipsInvitation(thread, event.row.origin, ids)
            || threads[thread].isDirect && ids.directs.people(of: thread).contains(user)
        let rejection =
            lockOrBanRejection(user, thread, at: event.row.recordedAt, ids) ?? (isInvited ? nil : .notInvited)
        faults.requireUnlessLost(rejection == nil, .notPermitted, rejection?.message ?? "")
    }

    /// Checks that the user lives in the outward code of the thread.
    func checkResidence(_ event: AuditedEvent, _ ids: borrowing Identities, _ faults: inout FaultList) {
        guard !event.row.isImported, event.threadID.outwardCode != nil, let user = event.user else { return }
        let residence = users[user].oneBasedResidence
        let isResident = residence != 0 && ids.threadID(Int(residence) - 1) == event.threadID
        faults.requireUnlessLost(isResident, .notResident, "the user does not live in \(event.threadID)")
    }

    func checkReadMarker(_ event: AuditedEvent, _ faults: inout FaultList) {
        let upTo = event.row.number
        faults.requireUnlessLost(event.standing.isMember, .notAMember, "the reader is not a member")
        faults.require(upTo <= head, .markerBeyondHead, "read up to \(upTo), beyond the head \(head)")
        let current = event.membership.map { memberships.readUpTo($0) } ?? 0
        faults.require(upTo > current, .markerNotIncreasing, "read up to \(upTo), not beyond the current marker")
    }

    /// Whether the event belongs to the opening of a named thread, and sets a policy that an
    /// opening can set.
    func isPolicyOfOpening(_ event: AuditedEvent, _ ids: borrowing Identities) -> Bool {
        guard let thread = event.knownThread else { return false }
        let (policy, history) = event.row.policyAndHistory
        let row = threads[thread]
        guard row.lastEventNumber == 1, row.openedBy == event.knownUser, policy != .residents,
            policy != .open || history != .all
        else {
            return false
        }
        return event.row.isImported ? isImportedNamedThread(thread, ids) && history == .all : row.awaitsOpener
    }

    func checkSession(_ event: AuditedEvent, _ ids: borrowing Identities, _ faults: inout FaultList) {
        let id = SessionID(bits: event.row.secondID)
        let session = ids.sessions.find(id)
        guard event.kind == .sessionEnded else {
            return faults.require(session == nil, .identifierTwice, "session \(id) is started already")
        }
        guard let session else {
            return faults.requireUnlessLost(false, .unknownReference, "session \(id) was never started")
        }
        faults.require(!sessions[session].hasEnded, .sessionEndedTwice, "session \(id) has ended already")
        faults.require(
            Int(sessions[session].user) == event.knownUser, .notTheAuthor, "session \(id) is owned by another user")
    }
}

/// Posts.
extension RuleState {
    /// Checks a message or a reply that is posted, edited or retracted.
    func checkPost(_ event: AuditedEvent, _ ids: borrowing Identities, _ faults: inout FaultList) {
        let post = PostID(bits: event.row.secondID, isReply: event.row.has(.reply))
        let answered: PostID? = post.isReply ? .message(MessageID(bits: event.row.message)) : nil
        let isPosted = event.kind == .messagePosted || event.kind == .replyPosted
        let isEdit = event.kind == .messageEdited || event.kind == .replyEdited
        if isPosted { faults.require(ids.find(post) == nil, .identifierTwice, "\(post.name) is posted already") }
        if let edit = event.row.editID {
            faults.require(ids.edits.find(edit.bits) == nil, .identifierTwice, "edit \(edit) is recorded already")
        }
        if isPosted || isEdit {
            let message = answered ?? (isEdit ? post : nil)
            checkAuthor(event, of: message.flatMap { ids.find($0)?.index }, ids, &faults)
        }
        if !isPosted {
            faults.append(
                contentsOf: self.faults(
                    of: post, in: event.threadID, by: event.userID, unless: isEdit ? .withdrawn : .retracted, ids))
        }
        if let answered {
            faults.append(
                contentsOf: self.faults(
                    of: answered, in: event.threadID, by: nil, unless: isPosted ? .withdrawn : [], ids))
        }
    }

    /// Checks that a list has no user twice, is not too long, and that its users are members of the
    /// thread.
    func checkMentions(
        _ mentions: [UserID], _ event: AuditedEvent, _ ids: borrowing Identities, _ faults: inout FaultList
    ) {
        faults.require(
            mentions.count <= MessageBody.maximumMentionCount && Set(mentions).count == mentions.count, .notPermitted,
            "the event mentions \(mentions.count) users, which is more than \(MessageBody.maximumMentionCount), or one of them twice"
        )
        for user in mentions.prefix(MessageBody.maximumMentionCount) {
            if let thread = event.knownThread, isMember(user, of: thread, ids) { continue }
            faults.requireUnlessLost(false, .notAMember, "user \(user), whom the event mentions, is not a member")
        }
    }

    /// Checks that the author of a post or an edit is a member who may write, and sees the message.
    ///
    /// - Parameter message: The message that is edited or replied to; nil for a new message, or if
    ///   it was never posted.
    private func checkAuthor(
        _ event: AuditedEvent, of message: Int?, _ ids: borrowing Identities, _ faults: inout FaultList
    ) {
        faults.requireUnlessLost(event.standing.isMember, .notAMember, "the author is not a member")
        guard let membership = event.membership, let thread = event.knownThread else { return }
        // The common case needs no call.
        if event.standing.hasMute || threads[thread].isLocked || threads[thread].isClosed || threads[thread].isDirect {
            do throws(Rejection) { try requireWritable(thread, membership, at: event.row.recordedAt, ids) } catch {
                faults.requireUnlessLost(false, .notPermitted, error.message)
            }
        }
        guard let message, event.standing.isMember, ids.posts.messages.parent(message) == thread else { return }
        faults.requireUnlessLost(
            isVisible(message: message, to: membership, ids), .unknownReference,
            "the message was posted before the user joined")
    }

    /// Returns the faults of a reference to a post: existence, thread, author and marks.
    ///
    /// - Parameter forbidden: The marks that the post must not have.
    func faults(
        of post: PostID, in threadID: ThreadID, by userID: UserID?, unless forbidden: PostMarks,
        _ ids: borrowing Identities
    ) -> [HistoryFault] {
        var faults = FaultList(isLossPossible: lostEventCount > 0)
        let found: FoundPost
        do throws(Rejection) { found = try find(post, ids) } catch {
            faults.requireUnlessLost(false, .unknownReference, "\(post.name) was never posted")
            return faults.faults
        }
        let (thread, author) = (ids.threads.id(found.thread), ids.users.id(found.author))
        faults.require(thread == threadID, .unknownReference, "it belongs to thread \(thread), not \(threadID)")
        if let userID { faults.require(author == userID, .notTheAuthor, "its author is \(author), not \(userID)") }
        faults.require(found.marks.isDisjoint(with: forbidden), .afterRetraction, "it was already retracted or removed")
        return faults.faults
    }
}
