package import ChatDomain
import ChatValues
import Columns

extension ReadModels {
    /// Returns the positions of the first events of a thread after a position, ascending.
    ///
    /// The events are those with a number in the thread.
    ///
    /// - Parameters:
    ///   - start: The exclusive start.
    ///   - limit: The maximum number of positions.
    ///   - includesMessages: Whether the positions of the messages are included.
    /// - Complexity: O(log *n* + *m* log *m*), where *n* is the number of the thread's events and
    ///   *m* the limit.
    package func eventPositions(
        ofThread id: ThreadID, after start: Position, limit: Int, includesMessages: Bool, asOf position: Position
    ) -> [Position] {
        guard let thread = index(ofThread: id, asOf: position) else { return [] }
        let page = PageRequest.after(start, limit: limit)
        let timeline = views.timelines.threads[thread]
        let messages = timeline.messages
        func positions(_ others: PackedColumn<Position>) -> some Sequence<Position> {
            page.indices(count: others.count) { others[$0] }.map { others[$0] }.prefix { $0 <= position }
        }
        let messageCount = includesMessages ? messageCount(ofThread: thread, asOf: position) : 0
        let messagePositions = page.indices(count: messageCount) {
            identities.posts.messages.position(Int(messages[$0]))
        }
        .map { identities.posts.messages.position(Int(messages[$0])) }
        let all = messagePositions + positions(timeline.nonMessagePositions) + positions(timeline.reactionPositions)
        return Array(all.sorted().prefix(limit))
    }
}

/// The custom events of a thread.
extension ReadModels {
    /// Returns a scan of the numbered events of a thread without messages and reactions: among them
    /// are all of its custom events.
    package func scan(customEventsOf thread: ThreadID) -> Scan {
        Scan(count: timeline(of: thread)?.nonMessagePositions.count ?? 0)
    }

    /// Returns the position of the event of a row if it is a custom event between two positions.
    ///
    /// - Parameters:
    ///   - row: A row of ``scan(customEventsOf:)``.
    ///   - thread: The thread.
    ///   - start: The exclusive start.
    ///   - position: The inclusive end.
    /// - Complexity: O(log *n*) in the number of custom events.
    package func customEventPosition(
        _ row: Int, of thread: ThreadID, after start: Position, asOf position: Position
    ) -> Position? {
        guard let found = timeline(of: thread)?.nonMessagePositions[row], found > start, found <= position else {
            return nil
        }
        let count = identities.customEvents.count(through: found)
        return count > 0 && identities.customEvents.position(count - 1) == found ? found : nil
    }

    private func timeline(of thread: ThreadID) -> ThreadTimeline? {
        identities.index(ofThread: thread).flatMap {
            $0 < views.timelines.threads.count ? views.timelines.threads[$0] : nil
        }
    }
}
