/// A sequence of the events that a viewer may see, with what they must no longer see.
///
/// For a client that keeps what it was sent, such as a page or an app. It has the events of
/// ``ChatEvents`` with the same filter, and two kinds of notices between them:
///
/// - `FollowedUpdate.erased(_:_:)` at the position of each order of an erasure, in pieces of at
///   most `ErasedContent.maximumEventCount` events, with what the viewer could be shown of it;
/// - `FollowedUpdate.accessLost(_:_:)` at the position of each event after which the viewer can
///   no longer read a thread: they left or were removed, or are no operator any more.
///
/// Both are delivered after a resume too: the order lies after the token, also if the erased events
/// lie before it. ``EventFilter/threads`` and ``EventFilter/outwardCodes`` apply to notices; the
/// other conditions do not. Without a viewer there are no notices: the host sees the orders.
///
/// A notice comes before its event, if the viewer sees that, and then has the token before it; so
/// have all pieces of an erasure but the last. A client that continues between them receives them
/// again, which changes nothing.
public struct ChatUpdates: AsyncSequence, Sendable {
    /// An event or a notice.
    public typealias Element = FollowedUpdate
    /// The error that ends the sequence.
    public typealias Failure = ChatError

    let follower: Follower

    /// Returns an iterator; nothing is read before the first call of `next`.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(updates: FollowerIterator(follower: follower)) }

    /// An iterator over the updates.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        fileprivate var updates: FollowerIterator

        /// Returns the next update; nil at the end of the sequence.
        ///
        /// - Throws: As ``ChatEvents/AsyncIterator/next(isolation:)``.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(ChatError)
            -> FollowedUpdate?
        {
            try await updates.next()
        }
    }
}

extension ChatUpdates {
    /// Delivers every update until the sequence ends: each new event that the follower has nothing
    /// before, with `push`, and the others, one after another, with `write`.
    ///
    /// For a server with many followers: a new event costs no task, and its text is made once for
    /// all that are shown the same.
    ///
    /// - Parameters:
    ///   - push: Is not called any more when the function has returned, and never beside `write`;
    ///     nil to have every update written.
    ///   - slots: What the follower needs while it holds events that are not written.
    ///   - write: Receives updates as an iterator returns them.
    /// - Throws: `ChatError` as the iterator, and what `write` throws.
    package func deliver(
        _ push: LivePush?, _ slots: (any FollowerSlots)?, write: (FollowedUpdate) async throws -> Void
    ) async throws {
        let delivery = UpdateDelivery(follower.pushing(push), slots)
        defer { delivery.giveBackSlot() }
        while try await delivery.writeUpdates(with: write), try await delivery.wait() {}
    }
}

/// The state of ``ChatUpdates/deliver(_:_:write:)``.
///
/// An object with two functions that are not inlined: a follower that waits for new events holds
/// the small frame of one of them, and not the places of the updates that the other one writes,
/// which are most of what a follower would hold.
private final class UpdateDelivery {
    private var updates: FollowerIterator
    private let slots: (any FollowerSlots)?
    private var hasSlot = false

    init(_ follower: Follower, _ slots: (any FollowerSlots)?) {
        (updates, self.slots) = (FollowerIterator(follower: follower), slots)
    }

    /// Writes the updates that exist; returns false at the end of the sequence.
    @inline(never) func writeUpdates(with write: (FollowedUpdate) async throws -> Void) async throws -> Bool {
        while !Task.isCancelled {
            if let slots, !hasSlot {
                guard await slots.take() else { return false }
                hasSlot = true
            }
            switch try await updates.refill() {
            case .updates: while !Task.isCancelled, let update = updates.takeUpdate() { try await write(update) }
            case .wait:
                giveBackSlot()
                return true
            case .end: return false
            }
        }
        return false
    }

    /// Waits for new updates; returns false at the end of the sequence.
    @inline(never) func wait() async throws(ChatError) -> Bool { try await updates.wait() }

    func giveBackSlot() {
        if hasSlot { slots?.giveBack() }
        hasSlot = false
    }
}

extension ChatEvents {
    /// The same events with what the viewer must no longer see, for a client that keeps them.
    public var updates: ChatUpdates { ChatUpdates(follower: follower.withNotices) }
}

/// Delivers the updates of a follower one by one.
struct FollowerIterator: Sendable {
    private(set) var follower: Follower
    private var updates: [FollowedUpdate] = []
    /// The index of the next update in the batch.
    private var next = 0
    private var isOver = false

    init(follower: Follower) { self.follower = follower }

    /// The next update of the batch; nil if all are delivered.
    var waiting: FollowedUpdate? { next < updates.count ? updates[next] : nil }
    /// The last update of the batch that was delivered.
    var delivered: FollowedUpdate? { next > 0 ? updates[next - 1] : nil }

    /// What a batch begins with.
    enum Refill {
        /// There is at least one update.
        case updates
        /// All existing updates have been returned.
        case wait
        case end
    }

    mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(ChatError) -> FollowedUpdate? {
        do throws(ChatError) {
            while !isOver, !Task.isCancelled {
                if let update = takeUpdate() { return update }
                switch try await refill() {
                case .updates: break
                case .wait: isOver = !(try await wait())
                case .end: isOver = true
                }
            }
        } catch {
            isOver = true
            throw error
        }
        isOver = true
        return nil
    }

    /// Returns the next update of the batch; nil if all are returned.
    mutating func takeUpdate() -> FollowedUpdate? {
        while next < updates.count {
            next += 1
            guard case .event(let event) = updates[next - 1] else { return updates[next - 1] }
            // Checked again: the viewer's rights may have changed since the batch was read.
            if let visibleEvent = follower.store.visibleEvent(event.recorded, through: follower.filter) {
                return .event(FollowedEvent(recorded: visibleEvent, resumeToken: event.resumeToken))
            }
        }
        return nil
    }

    /// Reads the next batch, after all updates of the former one are returned.
    mutating func refill() async throws(ChatError) -> Refill {
        // Frees the batch, so that a waiting iterator holds no events.
        (updates, next) = ([], 0)
        let step: Follower.Step
        let current = follower
        (follower, step) = try await current.store.onReadExecutor { () async throws(ChatError) in
            try await Follower.step(of: current)
        }
        switch step {
        case .updates(let found):
            updates = found
            return .updates
        case .wait: return .wait
        case .end: return .end
        }
    }

    /// Waits for new events; returns false at the end of the sequence.
    mutating func wait() async throws(ChatError) -> Bool { try await follower.wait() }
}
