import Locking
import Observation
import Testing

/// The error of a test whose awaited event did not occur in time.
struct NeverCame: Error, CustomStringConvertible {
    let awaited: String
    let sourceLocation: SourceLocation

    var description: String { "timed out waiting for \(awaited) at \(sourceLocation.fileID):\(sourceLocation.line)" }
}

/// Sleeps in steps.
///
/// Each step needs a thread of the task pool, so synchronous tests that occupy the pool delay a
/// time limit as much as the tasks that it limits.
private func sleepInSteps(for time: Duration) async throws {
    let step = Duration.milliseconds(10)
    var rest = time
    while rest > .zero {
        try await Task<Never, Never>.sleep(for: step)
        rest -= step
    }
}

/// Runs a body with a time limit.
///
/// Throws ``NeverCame`` and cancels the body if it does not end in time, even if the body ignores
/// the cancellation.
func within<Value: Sendable>(
    limit: Duration = .seconds(60), _ awaited: String, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await Task { try await body() }.ended(within: limit, awaited, sourceLocation: sourceLocation)
}

extension Task where Success: Sendable {
    /// Waits for the end of the task.
    ///
    /// Throws ``NeverCame`` and cancels the task if it does not end in time. A cancellation of the
    /// caller also cancels the task.
    @discardableResult
    func ended(
        within limit: Duration = .seconds(60), _ awaited: String = "the end of a task",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Success {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer = FirstAnswer<Success>(continuation)
                let clock = Task<Void, Never> {
                    do { try await sleepInSteps(for: limit) } catch { return }
                    answer.resume(with: .failure(NeverCame(awaited: awaited, sourceLocation: sourceLocation)))
                    cancel()
                }
                _ = Task<Void, Never> {
                    answer.resume(with: (await result).mapError { $0 as any Error })
                    clock.cancel()
                }
            }
        } onCancel: {
            cancel()
        }
    }
}

/// Waits until an observed property satisfies a condition.
///
/// Waits for notifications by Observation, as a screen does, and never polls.
///
/// Throws ``NeverCame`` with the last value if the condition does not hold half a minute after the
/// latest change.
@MainActor func until<Value>(
    sourceLocation: SourceLocation = #_sourceLocation, _ value: @escaping @MainActor () -> Value,
    _ condition: (Value) -> Bool
) async throws {
    while true {
        let changes = AsyncStream<Bool>.makeStream()
        let now = withObservationTracking(value) {
            changes.continuation.yield(true)
            changes.continuation.finish()
        }
        if condition(now) { return }
        let clock = Task {
            do { try await sleepInSteps(for: .seconds(30)) } catch { return }
            changes.continuation.finish()
        }
        defer { clock.cancel() }
        var hasChanged = false
        for await change in changes.stream { hasChanged = change }
        guard hasChanged, !Task.isCancelled else {
            throw NeverCame(awaited: "a value other than \(now)", sourceLocation: sourceLocation)
        }
    }
}

/// Runs a view's `follow` while the body runs, then cancels it.
@MainActor func showing(
    sourceLocation: SourceLocation = #_sourceLocation, _ follow: @escaping @MainActor () async -> Void,
    _ body: () async throws -> Void
) async throws {
    let task = Task { await follow() }
    defer { task.cancel() }
    try await body()
    task.cancel()
    try await task.ended("the end of a cancelled view", sourceLocation: sourceLocation)
}

/// A continuation that is resumed once, by the first result.
private final class FirstAnswer<Value: Sendable>: Sendable {
    private let continuation: Lock<CheckedContinuation<Value, any Error>?>

    init(_ continuation: CheckedContinuation<Value, any Error>) { self.continuation = Lock(continuation) }

    func resume(with result: Result<Value, any Error>) { continuation.withLock { $0.take() }?.resume(with: result) }
}
