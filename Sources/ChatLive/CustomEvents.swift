import ChatDomain
public import ChatValues

/// A source of the custom events of a thread.
package protocol CustomEventsSource: LiveSource where Value == [CustomEvent], Change == LiveCustomEvents.Change {
    /// Returns a page of the events.
    func page(_ request: PageRequest) async throws(LiveFailure) -> Page<CustomEvent>
}

/// A sequence of the custom events of a thread that a user may see, existing ones first, then
/// future ones.
///
/// Each event is delivered once, in journal order, also over lost connections.
///
/// - **End**: the sequence ends when the user can no longer read the thread, when the store or the
///   client is closed, and when the task is cancelled.
/// - **Errors** are ``ChatFailure``s and end the sequence. The first call of `next` throws one if the
///   user cannot read the thread. A client without a network waits.
/// - **Memory**: one page of at most ``pageSize`` events. An event that is erased while it waits in a
///   page can still be delivered; one that is erased earlier is not. ``LiveCustomEvents`` takes erased
///   events away.
public struct CustomEvents: AsyncSequence, Sendable {
    /// A custom event.
    public typealias Element = CustomEvent
    /// A ``ChatFailure``.
    public typealias Failure = any Error

    /// The maximum number of events that are read at once.
    public static let pageSize = 50

    private let source: any CustomEventsSource
    private let start: Position

    package init(source: any CustomEventsSource, after start: Position) { (self.source, self.start) = (source, start) }

    /// Returns an iterator; nothing is read before the first call of `next`.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source, last: start) }

    /// An iterator over the events.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let source: any CustomEventsSource
        /// The position after which the next page is read.
        private var last: Position
        private var events: ArraySlice<CustomEvent> = []
        private var effects: (any LiveEffects<LiveCustomEvents.Change>)?
        /// Whether nothing follows ``last`` before the next effect.
        private var isCurrent = false
        /// Whether the user could read the thread.
        private var hasBegun = false
        private var isOver = false

        fileprivate init(source: any CustomEventsSource, last: Position) { (self.source, self.last) = (source, last) }

        /// Returns the next event; nil at the end of the sequence.
        ///
        /// - Throws: A ``ChatFailure``.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> CustomEvent? {
            do throws(LiveFailure) {
                while !isOver, !Task.isCancelled {
                    if let event = events.popFirst() { return event }
                    if !isCurrent { try await readPage() } else { try await waitForEffect() }
                }
            } catch {
                let isEnd = isOver || Task.isCancelled || error.isEnd || hasBegun && error.error.isRefusal
                isOver = true
                if !isEnd { throw error.error }
            }
            isOver = true
            return nil
        }

        private mutating func readPage(isolation actor: isolated (any Actor)? = #isolation) async throws(LiveFailure) {
            // Before the page is read, so that no event is missed.
            if effects == nil { effects = try await source.load().effects }
            let page = try await source.page(.after(last, limit: CustomEvents.pageSize))
            hasBegun = true
            events = page.entries[...]
            last = Swift.max(last, page.newer.after ?? last)
            isCurrent = page.count < CustomEvents.pageSize && !page.isTruncated
        }

        private mutating func waitForEffect(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(LiveFailure) {
            guard var waiting = effects else { return isCurrent = false }
            switch try await waiting.next() {
            // An event of a page that was read after it happened.
            case .change(.event(let event)) where event.position <= last: effects = waiting
            case .change: (effects, isCurrent) = (waiting, false)
            case .reload: (effects, isCurrent) = (nil, false)
            case nil: isOver = true
            }
        }
    }
}
