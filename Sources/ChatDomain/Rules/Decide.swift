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
    package func decide(
        _ request: borrowing CommandRequest, _ ids: Identities, at now: Timestamp, freshID: UInt128,
        into batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let once = request.once, let first = try position(ofRepeated: request.command, once, ids) {
            return .duplicate(of: first...min(first + Position(request.command.kind.form.eventCount) - 1, head))
        }
        let envelope = EventEnvelope(
            recordedAt: recordingTime(at: now), origin: request.origin, hasCorrelation: request.correlation != nil,
            id: request.command.id ?? freshID)
        let count = batch.count
        let decision = try decide(request.command, ids, envelope, &batch)
        // The correlation id is checked last: the command's own rules take precedence, and a
        // duplicate stays a duplicate whatever its correlation id.
        if case .duplicate = decision { return decision }
        if let correlation = request.correlation, !CorrelationID.isValid(correlation) {
            batch.truncate(to: count)
            throw .invalidCorrelation
        }
        if envelope.hasCorrelation, let actor = request.command.actor {
            batch.removeCorrelations(from: count, exceptOf: actor)
        }
        if let once = request.once, case .append = decision { batch.setOnce(once, of: count) }
        return decision
    }

    /// Returns the position of the first event of a command that the acting user, or the host, has given
    /// with the same id; nil if there is none.
    ///
    /// Before all other rules, so that a command that has taken effect is a duplicate whatever has
    /// happened since.
    private func position(
        ofRepeated command: borrowing ChatCommand, _ once: CommandID, _ ids: Identities
    ) throws(Rejection) -> Position? {
        guard command.kind.takesOnce else { return nil }
        var actor: Int?
        if let actorID = command.actor {
            actor = ids.users.find(actorID)
            if actor == nil { return nil }
        }
        guard let found = ids.onces.find(once, of: actor) else { return nil }
        guard found.subject == command.subject else { throw .identifierTaken }
        return found.position
    }

    /// Decides a command under an envelope: the time, the ids and the correlation of its events.
    ///
    /// An audit decides each recorded command again, under the envelope of its event.
    func decide(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        switch command.kind {
        case .registerUser: try registerUser(command, ids, envelope, &batch)
        case .changeUsername: try changeUsername(command, ids, envelope, &batch)
        case .setPostcode: try setPostcode(command, ids, envelope, &batch)
        case .openDirect: try openDirect(command, ids, envelope, &batch)
        case .openThread: try openThread(command, ids, envelope, &batch)
        case .joinThread: try joinThread(command, ids, envelope, &batch)
        case .leaveThread: try leaveThread(command, ids, envelope, &batch)
        case .postMessage: try post(command, isReply: false, ids, envelope, &batch)
        case .reply: try post(command, isReply: true, ids, envelope, &batch)
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
        case .renameThread: try renameThread(command, ids, envelope, &batch)
        case .report: try report(command, ids, envelope, &batch)
        case .resolveReport: try resolveReport(command, ids, envelope, &batch)
        case .block: try setBlock(command, true, ids, envelope, &batch)
        case .unblock: try setBlock(command, false, ids, envelope, &batch)
        case .react: try react(command, ids, envelope, &batch)
        case .unreact: try unreact(command, ids, envelope, &batch)
        case .custom: try custom(command, ids, envelope, &batch)
        case .markUnread: try markUnread(command, ids, envelope, &batch)
        case .setNotifications: try setNotifications(command, ids, envelope, &batch)
        case .markInboxRead: try markInboxRead(command, ids, envelope, &batch)
        case .setProfile: try setProfile(command, ids, envelope, &batch)
        }
    }
}

/// The fields that all events of a decision share, and the rules that it follows.
struct EventEnvelope {
    let recordedAt: Timestamp
    let origin: EventOrigin
    let hasCorrelation: Bool
    /// The id of what the command creates: its own or a fresh one.
    var id: UInt128 = 0
    /// The content of the event that an audit compares, which is not checked again; nil if a user
    /// asks.
    var recorded: EventContent?

    /// Whether an audit asks, which accepts what an ``EarlierRule`` permitted and knows every
    /// thread.
    var isAudit: Bool { recorded != nil }

    /// Makes the row of an event, without its ids.
    func row(_ kind: EventKind) -> EventRow {
        EventRow(
            kind: kind, flags: EventFlags(origin, hasCorrelation: hasCorrelation), recordedAt: recordedAt,
            createdAt: origin.sentAt ?? recordedAt)
    }

    /// Makes the row of an event that a user causes and that concerns another user.
    func row(
        _ kind: EventKind, _ threadID: ThreadID, _ number: UInt64, _ userID: UserID, otherActor: UserID,
        value: UInt64 = 0
    ) -> EventRow {
        var row = row(kind, threadID, number, userID, secondID: otherActor.bits)
        row.value = value
        return row
    }

    /// Makes the row of an event that belongs to a thread.
    func row(
        _ kind: EventKind, _ threadID: ThreadID, _ number: UInt64, _ userID: UserID, secondID: UInt128 = 0,
        message: UInt128 = 0
    ) -> EventRow {
        var row = row(kind)
        (row.user, row.thread, row.secondID, row.message, row.number) = (
            userID.bits, threadID.bits, secondID, message, number
        )
        return row
    }
}
