#if Server
    import Foundation
    import Locking

    /// A locked value that several tasks capture.
    final class Box<Value: Sendable>: Sendable {
        private let value: Lock<Value>

        init(_ value: Value) { self.value = Lock(value) }

        func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { value.withLock { body(&$0) } }
    }

    /// Runs calls that block on threads of their own, because the tasks of the server share theirs.
    enum Threads {
        static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: body()) }
            }
        }

        static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
            }
        }
    }
#endif
