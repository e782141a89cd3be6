public import ChatDomain
import EventJournal

// This folder: the events of a store from any position on into what comes, for any number of followers. `ChatEvents` is the sequence that they see, `Follower` one of them,
// `EventFeed` what all of them share, `ResumeToken` where one of them goes on another day.

/// What becomes of a consumer who is slower than the events come.
public enum BufferingPolicy: Hashable, Sendable {
    /// What they have not taken stays in the journal, and they read it from there at their own pace: nothing is lost, and whoever is far behind costs the disk.
    case paced
    /// Nothing is kept for them but the events that all followers share: once they have caught up with the journal for the first time, they are told
    /// ``ChatError/lagged(from:)`` when they come back and more than so many of their events wait (1 if the number is smaller), or what waits has given way to newer
    /// events (``StoreOptions/recentEventCount``).
    ///
    /// For who shows what is now, and asks for a page instead of what they missed. All events of a commit come at once: choose a limit beyond the largest batch.
    case bounded(Int)
}

/// The events of a store from a position on, for ever: ``ChatStore/events(after:matching:bufferingPolicy:)-(Position,_,_)``.
///
/// Every event after the position that the filter lets pass, once, in the order of the journal, once it is durable; those that are there already and those to come. An event that was
/// delivered is seen by every query that is asked afterwards. May be iterated any number of times, each from the beginning.
///
/// - **Ends** when the store is closed, wherever the follower stands by then, and at once when the task is cancelled.
/// - **Errors** are ``ChatError``s and the last that comes: an event that cannot be read is never passed over. Everything before it was delivered.
/// - **Memory** is that of a batch of events, at most 256 of them or 64 KiB of text and one event, and nothing but a wait while none comes.
public struct ChatEvents: AsyncSequence, Sendable {
    /// What comes.
    public typealias Element = RecordedEvent
    /// Why it ended before its time.
    public typealias Failure = ChatError

    let follower: Follower

    /// Begins to follow; nothing is read before the first event is asked for.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(follower: follower) }

    /// One who follows a store; a copy is another, who goes on from the same place.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        private var follower: Follower
        private var events: [RecordedEvent] = []
        /// Of the next event in the batch.
        private var next = 0
        private var isOver = false

        fileprivate init(follower: Follower) { self.follower = follower }

        /// Up to where everything was delivered, or did not pass the filter: the place to go on from.
        public var position: Position { next < events.count ? events[next].position - 1 : follower.position }

        /// The next event; nil when the store was closed or the task cancelled.
        ///
        /// - Throws: ``ChatError/rejected(_:)`` with `invalidPosition` if the position to begin after lies beyond the last durable one, and with `unknownUser` for a viewer
        ///   whom there is not; ``ChatError/foreignToken``, ``ChatError/futureToken`` and ``ChatError/rolledBackToken`` for a token from elsewhere;
        ///   ``ChatError/lagged(from:)``; ``ChatError/journal(_:)`` if the journal has stopped, is damaged or cannot be read;
        ///   ``ChatError/undecodable(position:_:)`` if a record is no event.
        /// - Complexity: A step in memory for most events; O(*n*) in the events that do not pass. Whatever is read, is read outside the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(ChatError) -> RecordedEvent? {
            while !isOver, !Task.isCancelled {
                if next == events.count {
                    // Nothing is held while none comes.
                    (events, next) = ([], 0)
                    do throws(ChatError) {
                        guard try await refill() else { return end() }
                    } catch {
                        isOver = true
                        throw error
                    }
                }
                next += 1
                // Asked anew, because what a viewer may be shown can have changed since the batch was read.
                if let event = follower.store.shown(events[next - 1], through: follower.filter) { return event }
            }
            return end()
        }

        /// Gets the next events, at least one; false at the end.
        private mutating func refill() async throws(ChatError) -> Bool {
            while true {
                let step: Follower.Step
                (follower, step) = try await Follower.step(of: follower)
                switch step {
                case .events(let found):
                    events = found
                    return true
                case .wait: guard try await follower.wait() else { return false }
                case .end: return false
                }
            }
        }

        private mutating func end() -> RecordedEvent? {
            isOver = true
            return nil
        }

        /// The token with which to go on after ``position``, on another day or another store of the same journal.
        ///
        /// - Throws: As ``ChatStore/resumeToken(after:)``.
        public func resumeToken() throws(ChatError) -> ResumeToken { try follower.store.resumeToken(after: position) }
    }
}

extension ChatStore {
    /// Follows the store: the events after a position, those that are there and then those to come.
    ///
    /// A store that is open for reading only follows what another process writes: it takes in what is new by itself, within 50 ms.
    ///
    /// - Parameters:
    ///   - position: The events after this one; 0 for all, `head.position` for those to come alone.
    ///   - filter: Which of them. A viewer is shown each event as ``EventFilter/viewer`` says, at the moment of its delivery; what a viewer may read of the time before they
    ///     joined, ``timeline(_:_:viewer:asOf:)`` tells.
    ///   - bufferingPolicy: What becomes of a slow consumer: by default everything is kept for them, on disk.
    /// - Returns: A sequence; what is wrong with the position or the viewer is thrown when the first event is asked for.
    /// - Complexity: Any number of followers share one wait on the log and one reading of what is new, and a commit wakes those whom its events may concern.
    public func events(
        after position: Position = 0, matching filter: EventFilter = EventFilter(), bufferingPolicy: BufferingPolicy = .paced
    ) -> ChatEvents {
        ChatEvents(follower: Follower(self, after: position, nil, filter, bufferingPolicy))
    }

    /// Follows the store from where a token was made; otherwise as from a position.
    ///
    /// - Parameter token: Of this journal, which is checked when the first event is asked for: one of another journal, or of a history that this one does not have, is an
    ///   error and never a gap.
    public func events(
        after token: ResumeToken, matching filter: EventFilter = EventFilter(), bufferingPolicy: BufferingPolicy = .paced
    ) -> ChatEvents {
        ChatEvents(follower: Follower(self, after: token.position, token, filter, bufferingPolicy))
    }
}
