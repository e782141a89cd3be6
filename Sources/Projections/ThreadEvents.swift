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
