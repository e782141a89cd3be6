import Columns

/// An event is sound if the rules decide a command to it: the audit makes the command that can have
/// caused the event, and decides it again.
extension RuleState {
    /// Adds the fault of an event to which the decider answers no command.
    ///
    /// - Parameters:
    ///   - content: The event's content; read only if the kind is indexed.
    ///   - listed: The users whom the event lists.
    ///   - indexes: The indexes of the user and the thread; -1 for one that does not exist.
    ///   - scratch: An empty batch; empty again afterwards.
    func checkCommand(
        _ kind: EventKind, _ event: EventRow, _ content: borrowing EventContent, _ listed: [UserID],
        _ ids: Identities, _ indexes: EventIndexes, _ scratch: inout EventBatch, _ faults: inout FaultList
    ) {
        // An erased name or postcode cannot be decided again.
        switch kind {
        case .userRegistered, .usernameChanged: if content.username == nil { return }
        case .postcodeSet: if content.postcode == nil { return }
        case .threadPolicySet, .threadJoined:
            if continuesOpening(event, of: indexes.thread, ids, &scratch) { return }
        default: break
        }
        guard let cause = kind.form.cause else { return }
        // Filled in its place: a copy for each event is most of what an audit costs.
        var command = ChatCommand(cause)
        command.setFields(of: event, kind, cause)
        if let once = event.once {
            let actor = command.actor.flatMap { ids.users.find($0) }
            faults.require(
                ids.onces.find(once, of: actor) == nil, .identifierTwice,
                "the user has given another command the id \(once)")
        }
        complete(&command, event, kind, content, listed, ids, indexes)
        guard let fault = fault(of: event, kind, content, listed, by: command, ids, &scratch) else { return }
        let isExplained = faults.isLossPossible && fault.isExplainedByLoss
        faults.require(isExplained || faults.has(fault.problem), fault.problem, fault.message)
        // A loss explains why the command is rejected, but nothing about a post that exists.
        switch command.kind {
        case .edit: checkPost(command.postID, event, by: command.actorID, unless: .withdrawn, ids, &faults)
        case .retract: checkPost(command.postID, event, by: command.actorID, unless: .retracted, ids, &faults)
        case .reply: checkPost(command.postID, event, unless: .withdrawn, ids, &faults)
        case let other where other.form.concernsPost: checkPost(command.postID, event, ids, &faults)
        default: break
        }
    }

    /// Returns the fault of an event whose command the decider does not answer with this event.
    private func fault(
        of event: EventRow, _ kind: EventKind, _ content: borrowing EventContent, _ listed: [UserID],
        by command: borrowing ChatCommand, _ ids: Identities, _ scratch: inout EventBatch
    ) -> AuditFault? {
        defer { scratch.truncate(to: 0) }
        do throws(Rejection) {
            switch try decide(command, ids, envelope(of: event, command.id ?? 0, copy content), &scratch) {
            case .append:
                let isSame =
                    scratch.rows[0].isDecision(event) && (!kind.form.listsPeople || scratch.mentions(of: 0) == listed)
                return isSame ? nil : .different(kind)
            case .unchanged:
                // The reaction that is taken back can have been erased.
                let mayHaveErased = kind == .reactionRemoved && (content.emoji == nil || ids.reactions.hasErased)
                return mayHaveErased ? nil : .unchanged(kind)
            case .duplicate: return .duplicate(kind)
            }
        } catch {
            return AuditFault(kind, error)
        }
    }

    /// Whether the commit that opened a named thread goes on with an event: its policy, and the
    /// join of its opener.
    ///
    /// The opening is decided again with the id of the thread as the fresh one. Both are imported
    /// or neither: only a thread that was not imported can have owners.
    private func continuesOpening(
        _ event: EventRow, of thread: Int, _ ids: Identities, _ scratch: inout EventBatch
    ) -> Bool {
        guard thread >= 0, thread < threads.count, case let row = threads[thread], row.openedAt > 0, !row.isDirect,
            row.lastEventNumber < ThreadRow.maximumNumberOfOpenersJoin, row.canHaveOwners != event.isImported,
            ids.users.id(row.openedBy).bits == event.user
        else { return false }
        var command = ChatCommand(.openThread)
        (command.actorID, command.text) = (UserID(bits: event.user), "0")
        (command.policy, command.history) =
            event.kind == .threadPolicySet ? event.policyAndHistory : (row.policy, row.history)
        defer { scratch.truncate(to: 0) }
        guard event.once == nil else { return false }
        _ = try? decide(command, ids, envelope(of: event, event.thread, .none), &scratch)
        return scratch.rows.contains { $0.number == event.number && $0.isDecision(event) }
    }

    /// Returns the envelope under which the command of a recorded event is decided.
    private func envelope(of event: EventRow, _ id: UInt128, _ content: EventContent) -> EventEnvelope {
        EventEnvelope(
            recordedAt: recordingTime(at: event.recordedAt), origin: event.origin, hasCorrelation: false, id: id,
            recorded: content)
    }

    /// Checks the reference to a post: its existence, thread, author and marks.
    ///
    /// - Parameters:
    ///   - userID: The user who must be its author; nil for any.
    ///   - forbidden: The marks that the post must not have.
    private func checkPost(
        _ post: PostID, _ event: EventRow, by userID: UserID? = nil, unless forbidden: PostMarks = [],
        _ ids: Identities, _ faults: inout FaultList
    ) {
        let found: FoundPost
        do throws(Rejection) { found = try find(post, ids) } catch {
            return faults.requireUnlessLost(faults.has(.unknownReference), .unknownReference, error.message)
        }
        let (thread, author) = (ids.threads.id(found.thread), ids.users.id(found.author))
        let isOfMessage = !post.isReply || ids.posts.messages.id(found.message) == event.message
        faults.require(
            thread == ThreadID(bits: event.thread) && isOfMessage || faults.has(.unknownReference), .unknownReference,
            "the post belongs to thread \(thread), or to another message")
        faults.require(
            userID == nil || author == userID || faults.has(.notTheAuthor), .notTheAuthor,
            "the author of the post is \(author)")
        faults.require(
            found.marks.isDisjoint(with: forbidden) || faults.has(.afterRetraction), .afterRetraction,
            "the post was already retracted or removed")
    }

    /// Sets what the row of an event does not have: its texts, its list and the people of its thread.
    @inline(__always)
    private func complete(
        _ command: inout ChatCommand, _ event: EventRow, _ kind: EventKind, _ content: borrowing EventContent,
        _ listed: [UserID], _ ids: Identities, _ indexes: EventIndexes
    ) {
        switch kind {
        case .userRegistered: command.label = content.subject
        case .threadOpened:
            if let code = ThreadID(bits: event.thread).outwardCode { command.text = code.description }
        case .directOpened: command.mentions = listed
        case .usernameChanged: command.text = content.username?.text ?? ""
        case .threadJoined:
            // The people of a direct thread join it by its opening, and come back by another one.
            guard indexes.thread >= 0, indexes.thread < threads.count, threads[indexes.thread].isDirect else { break }
            let people = ids.directs.people(of: indexes.thread)
            guard people.contains(indexes.user) else { break }
            command = ChatCommand(.openDirect)
            (command.actorID, command.mentions) = (UserID(bits: event.user), people.map { ids.users.id($0) })
        default: break
        }
    }
}

/// Why the rules decide no command to an event.
private struct AuditFault {
    let problem: HistoryFault.Problem
    let message: String
    /// Whether a lost event before this one can be the reason.
    let isExplainedByLoss: Bool

    /// The decision is another event.
    static func different(_ kind: EventKind) -> AuditFault {
        switch kind {
        case .postcodeSet: AuditFault(.threadMismatch, "the postcode does not belong to the thread")
        case .sessionEnded: AuditFault(.notTheAuthor, "the session is owned by another user")
        default: AuditFault(.unknownReference, "the ids of the event do not belong together", isExplainedByLoss: false)
        }
    }

    /// The effect of the event holds already.
    static func unchanged(_ kind: EventKind) -> AuditFault {
        switch kind {
        case .threadJoined: AuditFault(.alreadyMember, "the user is a member already")
        case .threadLeft: AuditFault(.notAMember, "the user is not a member")
        case .threadRead: AuditFault(.markerNotIncreasing, "the position is not beyond the current marker")
        case .sessionEnded: AuditFault(.sessionEndedTwice, "the session has ended already")
        case .messageRetracted, .replyRetracted: AuditFault(.afterRetraction, "the post was retracted earlier")
        default: AuditFault(.noEffect, "the effect of the event holds already")
        }
    }

    /// The command was given before.
    static func duplicate(_ kind: EventKind) -> AuditFault {
        kind == .threadJoined ? unchanged(kind) : AuditFault(.identifierTwice, "the id of the event is in use")
    }

    /// Creates the fault of a rejection; nil for that of a text (``ChatEvent/textFault``).
    init?(_ kind: EventKind, _ rejection: Rejection) {
        if rejection == .invalidSubject { return nil }
        self.init(Self.problem(kind, rejection.code), rejection.message)
    }

    private init(_ problem: HistoryFault.Problem, _ message: String, isExplainedByLoss: Bool = true) {
        let explained: Set<HistoryFault.Problem> = [
            .unknownReference, .notAMember, .alreadyMember, .notResident, .notPermitted, .noEffect, .usernameTwice,
        ]
        (self.problem, self.message) = (problem, message)
        self.isExplainedByLoss = isExplainedByLoss && explained.contains(problem)
    }

    /// Returns the stable name of a fault: the kinds of the first version have more of them.
    private static func problem(_ kind: EventKind, _ code: Rejection.Code) -> HistoryFault.Problem {
        let isOfFirstVersion = kind.rawValue <= EventKind.sessionEnded.rawValue
        switch code {
        // The thread itself is reported too.
        case .unknownThread where isOfFirstVersion && kind != .threadJoined: return .notAMember
        case .unknownUser, .unknownThread, .unknownMessage, .unknownReply, .unknownSession: return .unknownReference
        case .identifierTaken: return .identifierTwice
        case .notAMember where isOfFirstVersion: return .notAMember
        case .notTheAuthor where isOfFirstVersion: return .notTheAuthor
        case .retracted where isOfFirstVersion: return .afterRetraction
        case .invalidPosition where isOfFirstVersion: return .markerBeyondHead
        case .usernameTaken: return .usernameTwice
        case .subjectTaken: return .subjectTwice
        case .notResident: return .notResident
        default: return .notPermitted
        }
    }
}

extension EventRow {
    /// Whether a decision's row is an event, whatever its number, origin, times and the id of its command.
    fileprivate func isDecision(_ event: EventRow) -> Bool {
        var decided = self
        decided.once = event.once
        (decided.number, decided.flags, decided.recordedAt, decided.createdAt) = (
            event.number, event.flags, event.recordedAt, event.createdAt
        )
        return decided == event
    }
}
