package import Columns

// What a repair lost, and which threads are in doubt because of it. In one place for the rules and
// the read models:
//
// 1. A repair puts `lost` in the place of each record that it lost, and ends the history with
//    `historyRepaired`, which names the first of them. What lies between is the *window* of the
//    repair.
// 2. In a window, a thread whose next event has the next number has lost nothing up to that event.
//    One whose number is above the next one has lost events, and is in doubt from the first loss after
//    its last event on.
// 3. At `historyRepaired` every thread is in doubt that has no event since the last loss, unless
//    the missing numbers of all threads add up to the number of lost positions. Later events prove
//    nothing, because they use the numbers of a lost end again.
// 4. A window without an end (of an earlier version, or of a copy that ends within it) proves
//    nothing: every thread is in doubt that was there at its last loss. So is an end that does not
//    name the first loss.
// 5. In doubt, a thread is `inviteOnly`, joins show what follows them, and operators have no rights
//    in it, whatever the remaining events say. A later `threadPolicySet` ends the doubt.
// 6. The threads of outward codes are never in doubt: their policy does not change.

/// The losses of the window of a repair, and what the events after them prove.
package struct Losses: Equatable, Sendable {
    /// The position of the first loss of the window; 0 if every window has its end.
    private var first: Position = 0
    /// The position of the last loss of the window.
    private var last: Position = 0
    /// The number of lost positions of the window.
    private var lostCount: UInt64 = 0
    /// The number of numbers that the events of the window skip, in all threads.
    private var skippedCount: UInt64 = 0
    /// By thread: the position of its last numbered event of the window.
    private var lastEvents = SparseColumn()
    /// By thread: the position of the last event of the window that says what its policy is.
    private var settlements = SparseColumn()
    /// By thread: the number of numbers that its events have ever skipped in a window.
    private var skipped = SparseColumn()

    /// Creates the state before the first loss.
    package init() {}

    /// Whether a window has no end yet; stored, because another module calls a function for a
    /// computed property.
    package private(set) var isOpen = false

    /// Returns the number of numbers of a thread that are missing.
    package func skippedCount(of thread: Int) -> UInt64 { skipped[thread] }

    /// Adds a lost position.
    package mutating func lose(at position: Position) {
        if !isOpen { (first, isOpen) = (position, true) }
        (last, lostCount) = (position, lostCount &+ 1)
    }

    /// Adds a numbered event of a thread; the window is open.
    ///
    /// - Parameter next: The number of the thread's next event if it has lost nothing.
    /// - Returns: The position after which the thread has lost events; nil if it has lost none.
    package mutating func add(_ event: EventRow, _ thread: Int, next: UInt64, at position: Position) -> Position? {
        let before = lastEvents[thread]
        lastEvents[thread] = position
        let isNext = event.number == next
        let opens = event.kind == .threadOpened || event.kind == .directOpened
        if event.kind == .threadPolicySet || opens && isNext { settlements[thread] = position }
        if isNext { return nil }
        // Wrapping: a damaged journal can contain any number.
        if event.number > next {
            skippedCount &+= event.number &- next
            skipped[thread] &+= event.number &- next
        }
        return max(before, first &- 1)
    }

    /// Ends the window.
    ///
    /// - Parameter named: The first loss, as the end names it.
    /// - Returns: The window; nil if its end is not this one, so that it stays open.
    package mutating func end(_ named: Position) -> Losses? {
        guard isOpen, named == first else { return nil }
        let window = self
        self = Losses()
        skipped = window.skipped
        return window
    }

    /// Returns the position after which a thread may have lost events before the end of the window;
    /// nil if it has lost none since its last event of the window.
    package func doubt(_ thread: Int) -> Position? {
        let lastEvent = lastEvents[thread]
        return lastEvent > last || skippedCount == lostCount ? nil : max(lastEvent, first - 1)
    }

    /// Returns the position after which a thread may have lost events, as of a position in an open
    /// window; nil if the window has its end, or if an event after the last loss says what the
    /// policy is.
    package func openDoubt(_ thread: Int, asOf position: Position = .max) -> Position? {
        guard isOpen, position >= first else { return nil }
        let settlement = settlements[thread]
        return settlement > last && settlement <= position ? nil : first - 1
    }

    /// Returns the position of the event that ended a doubt in an open window, before which
    /// operators read nothing; 0 without one.
    package func disclosure(of thread: Int, openedAt: Position) -> Position {
        isOpen && openedAt < last ? settlements[thread] : 0
    }
}

/// A thread that may have lost events in a repair, and so may be more private than its events say.
public struct ThreadInDoubt: Hashable, Sendable, Codable {
    /// The thread.
    public var thread: ThreadID
    /// The position after which events of the thread may be lost.
    public var after: Position

    private enum CodingKeys: String, CodingKey {
        case thread = "threadInDoubt"
        case after
    }

    package init(_ thread: ThreadID, after: Position) { (self.thread, self.after) = (thread, after) }
}

extension RuleState {
    /// Whether a thread may have lost events that made it more private; see the rules at the start
    /// of this file.
    package func isInDoubt(_ thread: Int) -> Bool { lostEventCount > 0 && doubt(thread) != nil }

    /// Returns the position after which a thread in doubt may have lost events.
    private func doubt(_ thread: Int) -> Position? {
        if threads[thread].isDistrict || threads[thread].lastEventNumber == 0 { return nil }
        let oneBased = community.doubts[thread]
        return oneBased != 0 ? oneBased - 1 : community.losses.openDoubt(thread)
    }

    /// Whether no doubt keeps a message from operators, who read what follows its end.
    func isDisclosed(_ position: Position, in thread: Int) -> Bool {
        guard lostEventCount > 0 else { return true }
        return doubt(thread) == nil
            && position > community.losses.disclosure(of: thread, openedAt: threads[thread].openedAt)
    }

    /// Returns the threads in doubt, ascending by id.
    ///
    /// - Complexity: O(*n*) in the number of threads, if any event is lost.
    package func threadsInDoubt(_ ids: Identities) -> [ThreadInDoubt] {
        guard lostEventCount > 0 else { return [] }
        var found: [ThreadInDoubt] = []
        for thread in threads.indices {
            if let after = doubt(thread) { found.append(ThreadInDoubt(ids.threads.id(thread), after: after)) }
        }
        return found.sorted { $0.thread < $1.thread }
    }

    /// Sets the policy of a thread in doubt for the host, who acts in the name of a member.
    ///
    /// A direct thread takes none. Neither does a thread whose opening is lost and that has no
    /// owner: it may be a direct one.
    ///
    /// - Parameters:
    ///   - history: The posts that users who join from now on may read; nil for those after their
    ///     join.
    ///   - user: The user whom the event names.
    package func settle(
        _ thread: Int, _ policy: ThreadPolicy, _ history: ThreadHistory?, as user: Int, _ ids: Identities,
        at now: Timestamp,
        into batch: inout EventBatch
    ) throws(Rejection) {
        let row = threads[thread]
        guard !row.isDirect, row.openedAt > 0 || row.ownerCount > 0 else { throw .invalidPolicy }
        let envelope = EventEnvelope(recordedAt: recordingTime(at: now), origin: .native, hasCorrelation: false)
        try appendPolicy(policy, history, of: thread, as: user, ids, envelope, &batch)
    }

    /// Applies an event to the window of a repair, before its number is the last one of its thread.
    @inline(never)
    mutating func applyToLosses(_ event: EventRow, _ thread: Int, at position: Position) {
        switch event.kind {
        case .lost: community.losses.lose(at: position)
        case .historyRepaired:
            guard let window = community.losses.end(event.number) else { return }
            for thread in threads.indices where threads[thread].lastEventNumber > 0 && !threads[thread].isDistrict {
                if let after = window.doubt(thread), community.doubts[thread] == 0 {
                    community.doubts[thread] = after + 1
                }
            }
        default:
            guard community.losses.isOpen, event.kind?.form.isNumbered == true else { return }
            guard
                let after = community.losses.add(
                    event, thread, next: threads[thread].lastEventNumber &+ 1, at: position)
            else { return }
            if !threads[thread].isDistrict { community.doubts[thread] = after + 1 }
        }
    }
}

extension Losses {
    /// Visits the losses of a history with `threads` threads.
    package mutating func visit(_ visitor: inout ColumnVisitor, threads: Int, head: Position)
        throws(ColumnError)
    {
        try visitor.visit(&first)
        try visitor.visit(&last)
        try visitor.visit(&lostCount)
        try visitor.visit(&skippedCount)
        if visitor.isReading {
            isOpen = first != 0
            try require(first <= last && last <= head && (first == 0) == (last == 0), "losses from \(first) to \(last)")
        }
        try lastEvents.visit(&visitor, rows: threads)
        try settlements.visit(&visitor, rows: threads)
        try skipped.visit(&visitor, rows: threads)
    }
}
