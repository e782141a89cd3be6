#if Client || canImport(SQLite3)
    package import ChatDomain
    internal import Foundation

    /// The clock and the random numbers of an engine.
    package struct SyncEnvironment: Sendable {
        package var now: @Sendable () -> Timestamp = { Timestamp(Date()) }
        /// Waits, at most until the task is cancelled.
        package var sleep: @Sendable (Duration) async -> Void = { duration in
            do { try await Task.sleep(for: duration) } catch { /* The task is cancelled, which the caller looks at. */
            }
        }
        /// Returns the random bits of an id.
        package var idBits: @Sendable () -> UInt128 = { UInt128.random(in: 0...UInt128.max) }
        /// Returns the wait before an attempt, from 1, with what the server has asked for.
        package var wait: @Sendable (_ attempt: Int, _ retryAfter: Duration?) -> Duration = { attempt, retryAfter in
            var generator = SystemRandomNumberGenerator()
            return BackOff.wait(before: attempt, retryAfter: retryAfter, using: &generator)
        }
        /// The most threads whose latest posts are read before they are asked for.
        package var firstThreads = 10

        package init() {}
    }
#endif
