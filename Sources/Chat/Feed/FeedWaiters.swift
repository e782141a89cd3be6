import ChatDomain
import EventJournal

/// The consumers that wait for an event that matches their filter.
///
/// A plain value, indexed by the keys of the events that can wake a waiter: a viewer is registered
/// under each of their threads. The cost of an event is thus proportional to the waiters it
/// concerns. The caller resumes removed waiters outside the lock that protects this value.
struct FeedWaiters {
    /// The reason why a wait ended.
    enum Wakeup: Sendable {
        /// Read again: an event after this position may match, and none up to it does.
        case recheck(after: Position)
        /// The log was closed.
        case ended
        /// The log or an event cannot be read.
        case failed(ChatError)
        /// The waiting task was cancelled.
        case cancelled
    }

    typealias Continuation = CheckedContinuation<Wakeup, Never>

    /// A property of an event under which waiters are registered.
    enum Key: Hashable {
        /// Matches every event.
        case everything
        /// Matches the orders of erasures.
        case erasures
        /// The thread of the event.
        case thread(ThreadID)
        /// The user who caused the event or whom it concerns.
        case user(UserID)
        /// As ``user(_:)``, and the thread of the event; nil for an event without a thread.
        case userIn(UserID, ThreadID?)
        /// The thread whose readers may see the event.
        case readers(ThreadID)
    }

    /// What a consumer waits for.
    ///
    /// An object: a waiting task holds a reference, and not the places of a filter.
    final class Waiter: Sendable {
        let id: UInt64
        let filter: EventFilter
        /// The last position that the consumer has seen.
        let position: Position
        let keys: [Key]
        /// Receives events while the consumer waits; nil for one that each event wakes.
        let push: LivePush?

        init(_ id: UInt64, _ filter: EventFilter, _ position: Position, _ keys: [Key], _ push: LivePush?) {
            (self.id, self.filter, self.position, self.keys, self.push) = (id, filter, position, keys, push)
        }

        /// Whether the event may match the filter or changes the viewer's keys.
        fileprivate func isConcerned(_ event: RecordedEvent) -> Bool {
            guard event.position > position else { return false }
            let event = event.event
            if filter.matches(event) || filter.viewer.user.map(event.changesRights) ?? false { return true }
            return filter.includesNotices && (event.isErasure || event.mayEndAccess)
        }
    }

    private var waiting: [UInt64: (waiter: Waiter, task: Continuation)] = [:]
    private var index: [Key: Set<UInt64>] = [:]
    private var lastID: UInt64 = 0

    var count: Int { waiting.count }
    var isEmpty: Bool { waiting.isEmpty }

    /// Returns an id for one wait, which a cancellation uses.
    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    mutating func add(_ waiter: Waiter, _ task: Continuation) {
        waiting[waiter.id] = (waiter, task)
        for key in waiter.keys { index[key, default: []].insert(waiter.id) }
    }

    /// Removes one waiter; nil if it has been removed already.
    mutating func remove(_ waiter: Waiter) -> Continuation? {
        guard let (_, task) = waiting.removeValue(forKey: waiter.id) else { return nil }
        for key in waiter.keys {
            index[key]?.remove(waiter.id)
            if index[key]?.isEmpty == true { index[key] = nil }
        }
        return task
    }

    /// Removes every waiter.
    mutating func removeAll() -> [Continuation] {
        defer { (waiting, index) = ([:], [:]) }
        return waiting.sorted { $0.key < $1.key }.map(\.value.task)
    }

    /// Whether the waiter has been added and not removed.
    func contains(_ waiter: Waiter) -> Bool { waiting[waiter.id] != nil }

    /// Returns every waiter that the event may concern.
    ///
    /// - Complexity: O(*k* log *k*) in the number of waiters registered under the keys.
    func waiters(for event: RecordedEvent, _ keys: [Key]) -> [Waiter] {
        var found: Set<UInt64> = []
        for key in keys { if let ids = index[key] { if found.isEmpty { found = ids } else { found.formUnion(ids) } } }
        // Sorted by arrival, because the order of a set differs between runs.
        return found.sorted().compactMap { id in
            guard let waiter = waiting[id]?.waiter, waiter.isConcerned(event) else { return nil }
            return waiter
        }
    }
}

extension EventFilter {
    /// Returns the keys of the events that can match the filter or change its keys.
    ///
    /// - Parameter memberships: The viewer's threads; empty for the host, nil for an operator
    ///   of the community, who reads more than these.
    func keys(_ memberships: [ThreadID]?) -> [FeedWaiters.Key] {
        conditionKeys(memberships) + (includesErasures || includesNotices ? [.erasures] : [])
    }

    private func conditionKeys(_ memberships: [ThreadID]?) -> [FeedWaiters.Key] {
        guard let memberships else { return [.everything] }
        if let viewer = viewer.user {
            // Someone may follow each of their threads apart.
            let own =
                threads.map { [.userIn(viewer, nil)] + $0.map { .userIn(viewer, $0) } } ?? [
                    FeedWaiters.Key.user(viewer)
                ]
            return own + memberships.filter(admits).map(FeedWaiters.Key.readers)
        }
        if let threads {
            let keys = threads.flatMap {
                includesThreadlessEvents ? [.thread($0), .readers($0)] : [FeedWaiters.Key.thread($0)]
            }
            return keys + (liveViewer.map { [.userIn($0, nil)] } ?? [])
        }
        if let outwardCodes { return outwardCodes.map { .thread(ThreadID($0)) } }
        if let users { return users.map(FeedWaiters.Key.user) }
        return [.everything]
    }
}

extension ChatEvent {
    /// Returns the keys of the event.
    ///
    /// - Parameters:
    ///   - memberships: Returns the threads that a user has ever joined. Called for username
    ///     changes, because the readers of those threads see the name beside the user's posts.
    ///   - author: Returns the author of a post. Called for removals, which concern the author.
    func keys(_ memberships: (UserID) -> [ThreadID], author: (PostID) -> UserID?) -> [FeedWaiters.Key] {
        var keys = [FeedWaiters.Key.everything]
        if isErasure { keys.append(.erasures) }
        if let relatedThread { keys.append(.thread(relatedThread)) }
        for case let user? in [user, otherActor, removedPost.flatMap(author)] {
            keys += [.user(user), .userIn(user, thread)]
        }
        switch audience {
        case .noOtherUser: break
        case .readers(let thread), .moderators(let thread): keys.append(.readers(thread))
        case .coMembers(let user): keys += memberships(user).map(FeedWaiters.Key.readers)
        }
        return keys
    }
}
