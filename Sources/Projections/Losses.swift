import ChatDomain
import Columns
package import Primitives

/// Threads that may have lost events in a repair: the rules of `ChatDomain/Rules/Losses.swift`, as
/// of any position.
extension Views {
    /// Applies an event to the window of a repair, before it is counted in its thread.
    @inline(never)
    mutating func applyToLosses(_ event: EventRow, _ thread: Int) {
        switch event.kind {
        case .lost: community.losses.lose(at: position)
        case .historyRepaired:
            guard let window = community.losses.end(event.number) else { return }
            for thread in timelines.threads.indices where timelines.threads[thread].eventCount > 0 {
                if let after = window.doubt(thread) { doubt(thread, after: after) }
            }
        default:
            guard event.kind?.form.isNumbered == true else { return }
            let next = UInt64(timelines.threads[thread].eventCount) &+ community.losses.skippedCount(of: thread) &+ 1
            if let after = community.losses.add(event, thread, next: next, at: position) {
                doubt(thread, after: timelines.threads[thread].eventCount > 0 ? after : position - 1)
            }
        }
    }

    /// Begins a doubt where the thread may have lost events, so that a query as of a position from there
    /// on knows of it.
    private mutating func doubt(_ thread: Int, after: Position) {
        guard !timelines.threads[thread].isDistrict, community.policies.value(of: thread) != CommunityHistory.doubt
        else {
            return
        }
        community.policies.set(CommunityHistory.doubt, at: after + 1, of: thread)
        if community.privacy.value(of: thread) == 0 { community.privacy.set(1, at: after + 1, of: thread) }
    }
}

extension CommunityHistory {
    /// The policy of a thread in doubt; the number of no policy and history.
    static let doubt: UInt64 = 0xFFFF
}

extension ReadModels {
    /// Whether a thread may have lost events that made it more private.
    package func isInDoubt(_ thread: Int, asOf position: Position) -> Bool {
        views.community.policies.value(of: thread, asOf: position) == CommunityHistory.doubt
            || isInOpenDoubt(thread, asOf: position)
    }

    /// Whether a thread is in doubt because a repair has no end, so that no event proves anything.
    func isInOpenDoubt(_ thread: Int, asOf position: Position) -> Bool {
        // The common case first. The thread of a decided event has no row yet.
        guard views.community.losses.isOpen, thread < views.timelines.threads.count else { return false }
        return views.community.losses.openDoubt(thread, asOf: position) != nil
            && !views.timelines.threads[thread].isDistrict
    }
}
