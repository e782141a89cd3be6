public import ChatDomain
import EventJournal

/// The buffering policy for a slow consumer.
public enum BufferingPolicy: Hashable, Sendable {
    /// Undelivered events stay in the journal; the consumer reads them at its own pace.
    ///
    /// No event is lost. A consumer that is far behind causes reads from the disk.
    case paced
    /// At most this many undelivered events are kept; a slower consumer gets an error.
    ///
    /// The limit applies once the consumer has reached the end of the journal for the first time.
    /// From then on the next call throws ``ChatError/lagged(from:)`` if more matching events than
    /// the limit wait, or if a newer event has displaced one of them from the shared buffer
    /// (``StoreOptions/recentEventCount``). A limit below 1 counts as 1.
    ///
    /// Use this policy for a view of the current state, which loads a page instead of the missed
    /// events. All events of a commit arrive at once: choose a limit larger than the largest batch.
    case bounded(Int)
}

/// A sequence of the events after a position, both existing and future ones.
///
/// Delivers every event after the position that matches the filter, exactly once, in journal order,
/// after the event is durable. A query that starts after the delivery of an event reflects that
/// event. The sequence can be iterated any number of times; every iteration starts at the same
/// position. A client of a viewer that keeps what it was sent iterates ``updates`` instead, which
/// also say what was erased. Create one with
/// ``ChatStore/events(after:upTo:matching:bufferingPolicy:)-(Position,_,_,_)``.
///
/// - **End**: the sequence ends after its last position, if it has one, and when the store is
///   closed or the task is cancelled.
/// - **Errors** are ``ChatError``s and end the sequence. An unreadable event is never skipped; all
///   events before it are delivered first.
/// - **Memory**: one batch of at most 256 events, or of 64 KiB of text and one event; with a
///   bounded buffer, at most 256 events more than its limit. A waiting iterator holds no events.
public struct ChatEvents: AsyncSequence, Sendable {
    /// An event with its position and the token that continues after it.
    public typealias Element = FollowedEvent
    /// The error that ends the sequence.
    public typealias Failure = ChatError

    let follower: Follower

    /// Returns an iterator; nothing is read before the first call of `next`.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(follower: follower) }

    /// An iterator over the events of a store; a copy continues independently from the same
    /// position.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        private var updates: FollowerIterator

        fileprivate init(follower: Follower) { updates = FollowerIterator(follower: follower) }

        /// The position up to which every event was delivered or did not match the filter.
        ///
        /// Continue after this position.
        public var position: Position {
            if case .event(let event) = updates.waiting {
                event.recorded.position - 1
            } else {
                updates.follower.position
            }
        }

        /// Returns the next event; nil at the end of the sequence.
        ///
        /// - Throws: ``ChatError/rejected(_:)`` with `invalidPosition` if the start position lies
        ///   beyond the last durable one, and with `unknownUser` if the viewer does not exist;
        ///   ``ChatError/foreignToken``, ``ChatError/futureToken`` or ``ChatError/rolledBackToken``
        ///   if the resume token does not belong to the history of this journal;
        ///   ``ChatError/lagged(from:)``; ``ChatError/journal(_:)`` if the journal has stopped, is
        ///   damaged or cannot be read; ``ChatError/undecodable(position:_:)`` if a record cannot
        ///   be decoded as an event.
        /// - Complexity: O(1) in memory for most events; O(*n*) in the events that do not match.
        ///   Reads from the disk run outside the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(ChatError)
            -> FollowedEvent?
        {
            // Without notices, every update is an event.
            while let update = try await updates.next() {
                if case .event(let event) = update { return event }
            }
            return nil
        }

        /// Returns a token that continues after ``position``, later or in another store of the same
        /// journal.
        ///
        /// With a filter, the token can be later than that of the last event delivered.
        ///
        /// - Throws: As ``ChatStore/resumeToken(after:)``.
        /// - Complexity: O(1), except before the first event and after events of other commits that
        ///   do not match the filter: then as ``ChatStore/resumeToken(after:)``.
        public func resumeToken() throws(ChatError) -> ResumeToken {
            if updates.waiting == nil, let token = updates.follower.resumeToken { return token }
            if let commit = updates.delivered?.resumeToken.head, commit.position >= position {
                return ResumeToken(after: position, in: commit)
            }
            return try updates.follower.store.resumeToken(after: position)
        }
    }
}

extension ChatStore {
    /// Follows the store: returns the events after a position, existing ones first, then future
    /// ones.
    ///
    /// A store that is open for reading only follows the process that writes the journal. It checks
    /// for new events at least every 50 ms.
    ///
    /// - Parameters:
    ///   - position: The sequence starts after this position: 0 for all events, `head.position` for
    ///     future events only.
    ///   - last: The last position of the sequence; nil for a sequence that ends with the store.
    ///   - filter: The events to deliver. With a viewer, each event has the form that
    ///     ``EventFilter/viewer`` describes, as of its delivery. For the time before the viewer
    ///     joined, query ``ChatReader/timeline(_:page:)``.
    ///   - bufferingPolicy: The policy for a slow consumer. By default all events stay available on
    ///     disk.
    /// - Returns: A sequence. The first call of `next` throws if the position or the viewer is
    ///   invalid.
    /// - Complexity: All followers share one wait on the log and one read of each new event. A
    ///   commit wakes only the followers that its events may concern.
    public func events(
        after position: Position = 0, upTo last: Position? = nil, matching filter: EventFilter,
        bufferingPolicy: BufferingPolicy = .paced
    ) -> ChatEvents {
        ChatEvents(follower: Follower(self, after: position, upTo: last, nil, filter, bufferingPolicy))
    }

    /// Follows the store from the position of a resume token.
    ///
    /// The sequence is otherwise that of
    /// ``events(after:upTo:matching:bufferingPolicy:)-(Position,_,_,_)``.
    ///
    /// - Parameters:
    ///   - token: A token of this journal, checked by the first call of `next`. A token of another
    ///     journal, or of a history that this journal does not contain, is an error, never a gap.
    ///   - last: The last position of the sequence; nil for a sequence that ends with the store.
    ///   - filter: The events to deliver.
    ///   - bufferingPolicy: The policy for a slow consumer.
    public func events(
        after token: ResumeToken, upTo last: Position? = nil, matching filter: EventFilter,
        bufferingPolicy: BufferingPolicy = .paced
    ) -> ChatEvents {
        ChatEvents(follower: Follower(self, after: token.position, upTo: last, token, filter, bufferingPolicy))
    }

    /// Returns the events at a range of positions: a sequence that ends, for an audit.
    ///
    /// The range may end beyond the last durable position: the sequence then waits for the events
    /// up to its end. It begins at most one position after the last durable one; otherwise the
    /// first call of `next` throws ``ChatError/rejected(_:)`` with `invalidPosition`.
    ///
    /// - Parameters:
    ///   - positions: The range; positions begin with 1.
    ///   - filter: The events to deliver, as for
    ///     ``events(after:upTo:matching:bufferingPolicy:)-(Position,_,_,_)``.
    public func events(in positions: ClosedRange<Position>, matching filter: EventFilter) -> ChatEvents {
        events(after: max(positions.lowerBound, 1) - 1, upTo: positions.upperBound, matching: filter)
    }
}
