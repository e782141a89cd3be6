public import ChatDomain
public import Projections

extension ProjectionHandle {
    /// Follows a value of the projection: the present one, and each that differs from the one
    /// before.
    ///
    /// - Parameter body: Returns the value; runs on a background thread, and need not look at every
    ///   event.
    public func values<Value: Equatable & Sendable>(
        _ body: @escaping @Sendable (Model, Position) -> Value
    ) -> ProjectionValues<Model, Value> {
        ProjectionValues(handle: self, body: body)
    }
}

/// The values of a projection, of which each differs from the one before.
///
/// - **End**: the sequence ends when the store is closed or the task is cancelled.
/// - **Errors** are those of ``ProjectionHandle/read(asOf:_:)``, and end the sequence.
/// - **Pace**: a consumer that is slow gets the latest value and misses those in between.
public struct ProjectionValues<Model: Projection, Value: Equatable & Sendable>: AsyncSequence, Sendable {
    /// A value of the projection.
    public typealias Element = Value
    /// The error that ends the sequence.
    public typealias Failure = ChatError

    let handle: ProjectionHandle<Model>
    let body: @Sendable (Model, Position) -> Value

    /// Returns an iterator, whose first value is the present one.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(handle: handle, body: body) }

    /// An iterator over the values of a projection.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let handle: ProjectionHandle<Model>
        let body: @Sendable (Model, Position) -> Value
        private var last: (value: Value, position: Position)?

        init(handle: ProjectionHandle<Model>, body: @escaping @Sendable (Model, Position) -> Value) {
            (self.handle, self.body) = (handle, body)
        }

        /// Returns the next value; nil once the store is closed or the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(ChatError) -> Value?
        {
            while true {
                if let last {
                    var events = handle.store.events(after: last.position, matching: EventFilter(as: .host))
                        .makeAsyncIterator()
                    guard try await events.next(isolation: actor) != nil else { return nil }
                }
                let body = body
                let found: (value: Value, position: Position)
                do throws(ChatError) {
                    found = try await handle.read { model, position in
                        (value: body(model, position), position: position)
                    }
                } catch {
                    // Closed between an event and the query that it causes.
                    if case .journal(let error) = error, error.code == .closed { return nil }
                    throw error
                }
                let isNew = last?.value != found.value
                last = found
                if isNew { return found.value }
            }
        }
    }
}
