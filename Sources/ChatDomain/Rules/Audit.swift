import Columns

extension ChatState {
    /// Returns the rules that an event breaks as the next event of this history.
    ///
    /// The result is empty if the decider of this version could have appended the event. A
    /// departure of the last owner of a thread is not a fault, because earlier versions had no
    /// owners. Neither is what an ``EarlierRule`` covers: ``earlierRules(of:)``.
    ///
    /// After a lost event (``lostEventCount``), the audit tolerates what a lost event can explain:
    ///
    /// - ``HistoryFault/Problem/unknownReference`` if the entity does not exist; a post that
    ///   belongs to another thread is reported,
    /// - ``HistoryFault/Problem/threadNumberGap`` if the number is above the next one,
    /// - ``HistoryFault/Problem/notAMember`` and ``HistoryFault/Problem/alreadyMember``,
    /// - ``HistoryFault/Problem/notResident``,
    /// - ``HistoryFault/Problem/notPermitted``, except for a list of mentions that is too long or
    ///   has a user twice, and ``HistoryFault/Problem/noEffect``,
    /// - ``HistoryFault/Problem/usernameTwice``.
    ///
    /// It reports every other problem as before.
    ///
    /// - Complexity: O(1) on average.
    public func faults(of event: ChatEvent) -> [HistoryFault] {
        var indexes = EventIndexes()
        return rules.faults(of: event.row, event.content, event.mentions, identities, &indexes)
            + (event.textFault.map { [$0] } ?? [])
    }
}

extension RuleState {
    /// Applies the events of a batch and reports the faults of each event, or the earlier rules
    /// that it follows, before it is applied.
    ///
    /// See ``ChatState/faults(of:)`` for the rules.
    ///
    /// - Parameters:
    ///   - batch: The next events, not yet resolved.
    ///   - report: Receives the row of each event with faults, and the faults. The fault of the
    ///     event's text (``ChatEvent/textFault``) is not among them.
    ///   - note: Receives the row of each event that has no faults because of an earlier rule, and
    ///     the rule.
    /// - Complexity: O(1) on average per event.
    package mutating func audit(
        _ batch: inout EventBatch, _ identities: inout Identities, _ report: (_ row: Int, [HistoryFault]) -> Void,
        note: (_ row: Int, EarlierRule) -> Void
    ) {
        identities.prefetch(batch)
        for row in 0..<batch.count {
            let content = batch.rows[row].kind?.form.isIndexed == true ? batch.content(of: row).content : .none
            let found = faults(of: batch.rows[row], content, batch.mentions(of: row), identities, &batch.indexes[row])
            if found.isEmpty {
                for rule in earlierRules(of: batch.rows[row], content, batch.mentions(of: row), identities) {
                    note(row, rule)
                }
            } else {
                report(row, found)
            }
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
    ///   - mentions: The users whom the text mentions.
    ///   - indexes: Receives the indexes of the user and the thread, if they exist.
    fileprivate func faults(
        of row: EventRow, _ content: borrowing EventContent, _ mentions: [UserID], _ ids: borrowing Identities,
        _ indexes: inout EventIndexes
    ) -> [HistoryFault] {
        var faults = FaultList(isLossPossible: lostEventCount > 0)
        faults.require(
            row.recordedAt >= lastRecordedAt || mayBeginLower(row), .timeWentBack,
            "recorded at \(row.recordedAt), before \(lastRecordedAt)")
        guard let kind = row.kind, kind != .lost else { return faults.faults }
        if kind == .clockCorrected {
            faults.requireUnlessLost(
                row.recordedAt < lastRecordedAt, .noEffect,
                "the clock is corrected to \(row.recordedAt), not before \(lastRecordedAt)")
            return faults.faults
        }
        if kind == .historyRepaired {
            faults.require(
                row.number <= head, .unknownReference,
                "the history is repaired from \(row.number), beyond the head \(head)")
            return faults.faults
        }
        if kind == .contentErased {
            faults.require(
                row.number <= head, .unknownReference,
                "the content of position \(row.number) is erased, beyond the head \(head)")
            return faults.faults
        }
        let event = auditedEvent(kind, row, ids)
        indexes.user = event.knownUser ?? -1
        indexes.thread = event.knownThread ?? -1
        checkUserAndThread(event, &faults)
        if !mentions.isEmpty, !kind.form.listsPeople { checkMentions(mentions, event, ids, &faults) }
        switch kind {
        case .userRegistered, .usernameChanged: checkNames(event, content, ids, &faults)
        case .postcodeSet:
            if let postcode = content.postcode {
                let isOfThread = ThreadID(postcode.outwardCode) == event.threadID
                faults.require(isOfThread, .threadMismatch, "\(postcode) does not belong to thread \(event.threadID)")
            }
        case .threadOpened: checkResidence(event, ids, &faults)
        case .threadJoined:
            checkJoin(event, ids, &faults)
            checkResidence(event, ids, &faults)
        // No fault for the last owner: threads had no owners when the first histories were written.
        case .threadLeft: faults.requireUnlessLost(event.standing.isMember, .notAMember, "the user is not a member")
        case .threadRead: checkReadMarker(event, &faults)
        case .threadPolicySet where isPolicyOfOpening(event, ids): break
        case .messagePosted, .messageEdited, .messageRetracted, .replyPosted, .replyEdited, .replyRetracted:
            checkPost(event, ids, &faults)
        case .sessionStarted, .sessionEnded: checkSession(event, ids, &faults)
        case .lost, .userErased, .contentErased, .clockCorrected, .historyRepaired: break
        default:
            if faults.faults.isEmpty, let fault = commandFault(of: row, content, mentions, ids) { faults.append(fault) }
        }
        return faults.faults
    }

    private func auditedEvent(_ kind: EventKind, _ row: EventRow, _ ids: borrowing Identities) -> AuditedEvent {
        let (userID, threadID) = (UserID(bits: row.user), ThreadID(bits: row.thread))
        let knownUser = ids.users.find(userID)
        let knownThread = kind.form.isNumbered || kind == .threadRead ? ids.threads.find(threadID) : nil
        let membership =
            if let knownUser, let knownThread { ids.memberships.find(knownUser, knownThread) } else { nil as Int? }
        return AuditedEvent(
            kind: kind, row: row, userID: userID, threadID: threadID, knownUser: knownUser, knownThread: knownThread,
            user: knownUser.flatMap { $0 < users.count && users[$0].registeredAt > 0 ? $0 : nil },
            membership: membership,
            standing: membership.map { memberships.standing($0) } ?? Standing())
    }
}
