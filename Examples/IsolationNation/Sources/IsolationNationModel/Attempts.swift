#if Client || canImport(SQLite3)
    import Observation

    /// Follows a live view, and follows it again each time the user asks for it after a failure.
    @MainActor @Observable final class Attempts {
        private var count = 0

        /// Calls a function now and after each ``tryAgain()``, until the task is cancelled.
        func repeating(_ follow: @MainActor () async -> Void) async {
            for await _ in Observations({ self.count }) { await follow() }
        }

        /// Has the live view followed again.
        func tryAgain() { count += 1 }
    }
#endif
