import EventJournal

extension ChatStore {
    /// Runs queries, an import or other blocking calls without blocking a thread of the caller.
    ///
    /// Queries as of now read memory and take microseconds; they need no background. Use this
    /// method in an `async` function for calls that read many texts from the disk, replay, import
    /// or copy:
    ///
    /// ```swift
    /// let oldest = try await store.inBackground { store in
    ///     try store.reader(as: .host).timeline(sw1a, page: .after(0, limit: 500))
    /// }
    /// ```
    ///
    /// The calls of one closure are separate queries; pass the same `AsOf` to each for a consistent
    /// answer. Cancelling the task does not end a call that has begun.
    ///
    /// - Parameter body: Runs on a background thread, or on the executor of
    ///   `JournalOptions.executor`; several run concurrently.
    /// - Returns: The result of the closure.
    /// - Throws: What the closure throws; `CancellationError` if the task is cancelled before.
    public func inBackground<Value: Sendable>(_ body: @escaping @Sendable (ChatStore) throws -> Value) async throws
        -> Value
    {
        try Task.checkCancellation()
        return try await background.result { try body(self) }
    }
}
