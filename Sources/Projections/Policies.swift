package import ChatDomain
import Columns

extension ReadModels {
    /// Returns the policy with which a thread was opened.
    package func openingPolicy(of thread: ThreadID) -> ThreadPolicy? {
        identities.index(ofThread: thread).map {
            policyAndHistory(ofThread: $0, asOf: openingPosition(of: thread) + 1).policy
        }
    }

    /// Whether the thread of a row is a named one that an import left open, and that never was
    /// `inviteOnly` since.
    package func isOpenImportedThread(_ thread: Int, asOf position: Position) -> Bool {
        guard views.timelines.threads[thread].isImported, identities.threadID(thread).outwardCode == nil else {
            return false
        }
        return views.community.privacy.version(of: thread, asOf: position) == nil
    }

    /// Returns the position after which operators could read a thread: that at which it last ceased
    /// to be `inviteOnly`, 0 if it never was, and nil while it was.
    package func disclosurePosition(ofThread thread: Int, asOf position: Position) -> Position? {
        if views.community.losses.isOpen, !views.timelines.threads[thread].isDistrict {
            if isInOpenDoubt(thread, asOf: position) { return nil }
            let end = views.community.losses.disclosure(of: thread, openedAt: views.timelines.threads[thread].openedAt)
            if end > 0 { return privacyEnd(ofThread: thread, asOf: position).map { max($0, end) } }
        }
        return privacyEnd(ofThread: thread, asOf: position)
    }

    private func privacyEnd(ofThread thread: Int, asOf position: Position) -> Position? {
        guard let version = views.community.privacy.version(of: thread, asOf: position) else { return 0 }
        return version.value == 0 ? version.position : nil
    }

    /// Returns the position of a thread's opening; 0 if it was lost.
    package func openingPosition(of thread: ThreadID) -> Position {
        identities.index(ofThread: thread).map { views.timelines.threads[$0].openedAt } ?? 0
    }

    /// Returns a thread's policy and history; in doubt, the most private ones.
    package func policyAndHistory(ofThread thread: Int, asOf position: Position) -> (
        policy: ThreadPolicy, history: ThreadHistory
    ) {
        if isInOpenDoubt(thread, asOf: position) { return (.inviteOnly, .sinceJoining) }
        if let version = views.community.policies.version(of: thread, asOf: position) {
            if version.value == CommunityHistory.doubt { return (.inviteOnly, .sinceJoining) }
            return EventRow.policyAndHistory(version.value)
        }
        return (identities.threadID(thread).outwardCode == nil ? .open : .residents, .all)
    }

    /// Returns a thread and the number of changes of its privacy, which alternate; nil if the
    /// thread did not exist.
    package func operatedThread(_ thread: Int, asOf position: Position) -> OperatedThread? {
        guard sortKey(ofThread: thread, asOf: position) != nil else { return nil }
        return OperatedThread(
            thread: identities.threadID(thread), index: thread, openedAt: firstPosition(ofThread: thread),
            changeCount: views.community.privacy.count(of: thread, asOf: position))
    }

    /// Returns the periods of a thread that begin with these changes of its privacy, and in which
    /// it was not `inviteOnly`.
    ///
    /// The first change, of rank 1, makes the thread `inviteOnly`. The period before it has the
    /// rank 0; a thread that was opened with that policy has none.
    package func disclosedPeriods(of thread: OperatedThread, changes: Range<Int>) -> [(from: Position, to: Position?)] {
        var periods: [(from: Position, to: Position?)] = changes.lowerBound == 0 ? [(thread.openedAt, nil)] : []
        for version in views.community.privacy.versions(
            of: thread.index, ranks: max(1, changes.lowerBound)..<changes.upperBound)
        {
            if version.value == 0 {
                periods.append((version.position, nil))
            } else if !periods.isEmpty {
                periods[periods.count - 1].to = version.position
            }
        }
        // The policy follows the opening, except that of a direct thread.
        if changes.lowerBound == 0, let end = periods[0].to, end <= thread.openedAt + 1 { periods.removeFirst() }
        return periods
    }
}
