#if Client || canImport(SQLite3)
    internal import Locking

    /// Wakes one task: however often it was set, it wakes the task once.
    final class Signal: Sendable {
        private let stream: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation

        init() { (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

        func set() { continuation.yield() }

        /// Waits until it is set; returns false if the task is cancelled.
        func wait() async -> Bool {
            var iterator = stream.makeAsyncIterator()
            return await iterator.next() != nil && !Task.isCancelled
        }
    }

    /// Tells several tasks of each element.
    ///
    /// What waits for a task is bounded: the sequence of a task that is too slow ends.
    package final class Broadcast<Element: Sendable>: Sendable {
        private struct Listeners {
            var next = 0
            var all: [Int: AsyncStream<Element>.Continuation] = [:]
            var isOver = false
        }

        private let listeners = Lock(Listeners())
        private let limit: Int

        init(limit: Int = 1_000) { self.limit = limit }

        func send(_ element: Element) {
            listeners.withLock { listeners in
                for (key, continuation) in listeners.all {
                    guard case .dropped = continuation.yield(element) else { continue }
                    continuation.finish()
                    listeners.all[key] = nil
                }
            }
        }

        func finish() {
            listeners.withLock { listeners in
                listeners.isOver = true
                for continuation in listeners.all.values { continuation.finish() }
                listeners.all = [:]
            }
        }

        /// Returns the elements from now on.
        func elements() -> AsyncStream<Element> {
            let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: .bufferingOldest(limit))
            let key: Int? = listeners.withLock { listeners in
                guard !listeners.isOver else { return nil }
                listeners.next += 1
                listeners.all[listeners.next] = continuation
                return listeners.next
            }
            guard let key else {
                continuation.finish()
                return stream
            }
            continuation.onTermination = { [weak self] _ in self?.remove(key) }
            return stream
        }

        private func remove(_ key: Int) { listeners.withLock { $0.all[key] = nil } }
    }
#endif
