import ChatDomain
import EventJournal

/// Who has seen everything and waits for an event that their filter lets pass.
///
/// A pure collection, indexed by what can wake somebody, so that an event costs those whom it may concern and nobody else: a connected viewer stands under each of
/// their threads. Whoever takes waiters out wakes them outside the lock that protects it.
struct FeedWaiters {
    /// What a wait has come to.
    enum Wakeup: Sendable {
        /// Nothing up to this position is for the one who waited; what follows may be.
        case look(after: Position)
        /// The log was closed.
        case ended
        /// The log, or an event, cannot be read.
        case failed(ChatError)
        /// The task that waits was cancelled.
        case cancelled
    }

    typealias Continuation = CheckedContinuation<Wakeup, Never>

    /// What an event has and a waiter stands under.
    enum Key: Hashable {
        /// Each event has it.
        case everything
        /// The thread in which it happened.
        case place(ThreadID)
        /// The user who did it or whom it concerns.
        case user(UserID)
        /// The thread whose readers may be shown it.
        case readers(ThreadID)
    }

    struct Waiter {
        let filter: EventFilter
        /// Everything up to here has been seen.
        let position: Position
        let keys: [Key]
        let task: Continuation

        /// Whether an event is worth waking for: it may pass the filter, or it changes under which keys the viewer has to stand.
        fileprivate func wants(_ event: RecordedEvent) -> Bool {
            guard event.position > position else { return false }
            return filter.matches(event.event.details) || filter.viewer.map(event.event.details.changesMembership) ?? false
        }
    }

    private var waiting: [UInt64: Waiter] = [:]
    private var index: [Key: Set<UInt64>] = [:]
    private var lastID: UInt64 = 0

    var count: Int { waiting.count }
    var isEmpty: Bool { waiting.isEmpty }

    /// An id for one wait, by which a cancellation finds it.
    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    mutating func add(_ id: UInt64, _ waiter: Waiter) {
        waiting[id] = waiter
        for key in waiter.keys { index[key, default: []].insert(id) }
    }

    /// Takes out one; nil when it has been taken out already.
    mutating func remove(_ id: UInt64) -> Continuation? {
        guard let waiter = waiting.removeValue(forKey: id) else { return nil }
        for key in waiter.keys {
            index[key]?.remove(id)
            if index[key]?.isEmpty == true { index[key] = nil }
        }
        return waiter.task
    }

    /// Takes out everyone.
    mutating func removeAll() -> [Continuation] {
        defer { (waiting, index) = ([:], [:]) }
        return waiting.sorted { $0.key < $1.key }.map(\.value.task)
    }

    /// Takes out everyone whom an event may concern.
    ///
    /// - Complexity: O(*k*) in those who stand under the keys.
    mutating func take(_ event: RecordedEvent, _ keys: [Key]) -> [Continuation] {
        var ids: [UInt64] = []
        for key in keys {
            for id in index[key] ?? [] where waiting[id]?.wants(event) == true { ids.append(id) }
        }
        // In the order in which they came: that of a set differs from run to run.
        return ids.sorted().compactMap { remove($0) }
    }
}

extension EventFilter {
    /// The keys that an event must have one of to pass the filter, or to change what they are.
    ///
    /// - Parameter memberships: The threads in which the viewer is, if there is one.
    func keys(_ memberships: [ThreadID]) -> [FeedWaiters.Key] {
        if let viewer { return [.user(viewer)] + memberships.filter(admits).map(FeedWaiters.Key.readers) }
        if let threads { return threads.flatMap { includesUsernames ? [.place($0), .readers($0)] : [.place($0)] } }
        if let outwardCodes { return outwardCodes.map { .place(ThreadID($0)) } }
        if let users { return users.map(FeedWaiters.Key.user) }
        return [.everything]
    }
}

extension EventDetails {
    /// The keys that the event has.
    ///
    /// - Parameter memberships: The threads in which a user has ever been who took another username, asked only then: their readers see the name beside what the user wrote.
    func keys(_ memberships: (UserID) -> [ThreadID]) -> [FeedWaiters.Key] {
        var keys = [FeedWaiters.Key.everything]
        if let place { keys.append(.place(place)) }
        if let user { keys.append(.user(user)) }
        switch audience {
        case .nobody: break
        case .readers(let thread): keys.append(.readers(thread))
        case .acquaintances(let user): keys += memberships(user).map(FeedWaiters.Key.readers)
        }
        return keys
    }
}
