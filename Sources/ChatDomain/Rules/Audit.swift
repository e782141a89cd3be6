import Columns

extension ChatState {
    /// Returns the rules that an event breaks as the next event of this history.
    ///
    /// The result is empty if a command exists that the decider of this version answers with the
    /// event, alone or as a part of a commit. A departure of the last owner of a thread is not a
    /// fault, because earlier versions had no owners. Neither is what an ``EarlierRule`` covers:
    /// ``earlierRules(of:)``.
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
        var scratch = EventBatch(from: 1)
        return rules.faults(of: event.row, event.content, event.mentions, identities, &indexes, &scratch)
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
        var scratch = EventBatch(from: 1, capacity: 1)
        for row in 0..<batch.count {
            let content = batch.rows[row].kind?.form.isIndexed == true ? batch.content(of: row).content : .none
            let found = faults(
                of: batch.rows[row], content, batch.mentions(of: row), identities, &batch.indexes[row], &scratch)
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
    ///   - listed: The users whom the event lists.
    ///   - indexes: Receives the indexes of the user and the thread, if they exist.
    ///   - scratch: An empty batch; empty again afterwards.
    fileprivate func faults(
        of event: EventRow, _ content: borrowing EventContent, _ listed: [UserID], _ ids: Identities,
        _ indexes: inout EventIndexes, _ scratch: inout EventBatch
    ) -> [HistoryFault] {
        var faults = FaultList(isLossPossible: lostEventCount > 0)
        faults.require(
            event.recordedAt >= lastRecordedAt || mayBeginLower(event), .timeWentBack,
            "recorded at \(event.recordedAt), before \(lastRecordedAt)")
        guard let kind = event.kind else { return faults.faults }
        switch kind {
        case .lost: break
        case .clockCorrected:
            faults.requireUnlessLost(
                event.recordedAt < lastRecordedAt, .noEffect,
                "the clock is corrected to \(event.recordedAt), not before \(lastRecordedAt)")
        case .historyRepaired:
            faults.require(
                event.number <= head, .unknownReference,
                "the history is repaired from \(event.number), beyond the head \(head)")
        case .contentErased:
            faults.require(
                event.number <= head, .unknownReference,
                "the content of position \(event.number) is erased, beyond the head \(head)")
        default:
            checkUserAndThread(kind, event, content, ids, &indexes, &faults)
            checkCommand(kind, event, content, listed, ids, indexes, &scratch, &faults)
            if !listed.isEmpty, !kind.form.listsPeople { checkMentions(listed, event, ids, &faults) }
        }
        return faults.faults
    }

    /// Checks what no other event of the same commit explains: the number in the thread, and that
    /// the user and the thread exist or are new.
    private func checkUserAndThread(
        _ kind: EventKind, _ event: EventRow, _ content: borrowing EventContent, _ ids: Identities,
        _ indexes: inout EventIndexes, _ faults: inout FaultList
    ) {
        let (userID, threadID, form) = (UserID(bits: event.user), ThreadID(bits: event.thread), kind.form)
        let knownThread = form.isNumbered || kind == .threadRead ? ids.threads.find(threadID) : nil
        indexes.user = ids.users.find(userID) ?? -1
        indexes.thread = knownThread ?? -1
        if form.isNumbered {
            let expected = knownThread.map { nextNumber(in: $0) } ?? 1
            faults.require(
                event.number == expected || faults.isLossPossible && event.number > expected, .threadNumberGap,
                "number \(event.number) of thread \(threadID), expected \(expected)")
        }
        let isRegistered = indexes.user >= 0 && indexes.user < users.count && users[indexes.user].registeredAt > 0
        if kind == .userRegistered {
            faults.require(!isRegistered, .identifierTwice, "user \(userID) is registered already")
            if let subject = content.subject {
                faults.require(
                    owner(ofSubject: ids.subjects.find(subject)) == nil, .subjectTwice,
                    "the subject belongs to another user")
            }
        } else {
            faults.requireUnlessLost(isRegistered, .unknownReference, "user \(userID) was never registered")
        }
        if isRegistered, users[indexes.user].isErased {
            // A host program can end the session of such a user, moderators and operators act on
            // them. The host closes threads in the name of their openers.
            let isAllowed =
                form.hasOtherActor || kind == .sessionEnded || kind == .operatorRevoked
                || kind == .threadPolicySet && event.isImported
            let problem: HistoryFault.Problem = kind == .userErased ? .noEffect : .notPermitted
            faults.require(isAllowed, problem, "the content of user \(userID) was erased earlier")
        }
        let isStarted = knownThread.map { $0 < threads.count && threads[$0].lastEventNumber > 0 } ?? false
        if kind == .threadOpened || kind == .directOpened {
            faults.require(!isStarted, .identifierTwice, "thread \(threadID) is open already")
        } else if form.isNumbered || kind == .threadRead {
            faults.requireUnlessLost(isStarted, .unknownReference, "thread \(threadID) was never opened")
        }
        if kind == .threadRead {
            faults.require(
                event.number <= head, .markerBeyondHead, "read up to \(event.number), beyond the head \(head)")
        }
    }

    /// Checks that a list has no user twice, is not too long, and that its users are members of the
    /// thread.
    private func checkMentions(
        _ mentions: [UserID], _ event: EventRow, _ ids: Identities, _ faults: inout FaultList
    ) {
        faults.require(
            mentions.count <= MessageBody.maximumMentionCount && Set(mentions).count == mentions.count, .notPermitted,
            "the event mentions \(mentions.count) users, which is more than \(MessageBody.maximumMentionCount), or one of them twice"
        )
        let thread = ids.threads.find(ThreadID(bits: event.thread))
        for user in mentions.prefix(MessageBody.maximumMentionCount) {
            if let thread, isMember(user, of: thread, ids) { continue }
            faults.requireUnlessLost(false, .notAMember, "user \(user), whom the event mentions, is not a member")
        }
    }
}

/// The faults of an event that have been found, and whether a lost event can explain some of them.
struct FaultList {
    private(set) var faults: [HistoryFault] = []
    let isLossPossible: Bool

    init(isLossPossible: Bool) { self.isLossPossible = isLossPossible }

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

    /// Whether a problem has been found.
    func has(_ problem: HistoryFault.Problem) -> Bool { faults.contains { $0.problem == problem } }
}
