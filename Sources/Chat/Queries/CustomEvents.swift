public import ChatDomain
import Projections

extension CustomEventsQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> Page<CustomEvent> {
        let ((scan, start), sections) = try reader.sections { models, view throws(ChatError) in
            let start = try models.requireReadable(thread, from: view)
            return (models.scan(customEventsOf: thread), start)
        }
        let position = sections.viewpoint.position
        let positions = sections.compactMap(scan) {
            $0.customEventPosition($1, of: thread, after: start, asOf: position)
        }.sorted()
        let filter = EventFilter(as: reader.viewer, kinds: [.custom], customKinds: kind.map { [$0] })
        return try sections.readPage(
            page, count: positions.count, reading: ThreadEvents.maximumReadCount,
            older: { $0.reversed().makeIterator() }, position: { positions[$0] }
        ) { index throws(ChatError) in
            let event = try reader.store.event(at: positions[index])
            return reader.store.visibleEvent(RecordedEvent(position: positions[index], event: event), through: filter)
                .flatMap(CustomEvent.init)
        }
    }
}

extension ChatReader {
    /// Returns a page of the custom events of a thread, oldest first, by default all.
    ///
    /// Events whose payload is erased are not listed.
    ///
    /// - Parameters:
    ///   - thread: The thread.
    ///   - kind: The only kind that is listed; nil for all.
    ///   - page: The part of the list. A page for which 1,000 events are not enough is cut
    ///     (`Page.isTruncated`).
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember`.
    /// - Complexity: O(*n* log *n*) in the number of the thread's events other than messages and
    ///   reactions; reads at most 1,000 events.
    public func customEvents(
        in thread: ThreadID, kind: CustomKind? = nil, page: PageRequest = .all
    ) throws(ChatError) -> Page<CustomEvent> {
        try answer(CustomEventsQuery(thread: thread, kind: kind, page: page))
    }
}
