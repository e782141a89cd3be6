#if Client || canImport(SQLite3)
    internal import Locking

    /// Wakes one task: however often it was set, it wakes the task once.
    ///
    /// Not an `AsyncStream`, which ends when a task that waits for it is cancelled.
    final class Signal: Sendable {
        private enum State {
            case unset, set
            case waited(CheckedContinuation<Void, Never>)
        }

        private let state = Lock(State.unset)

        func set() {
            let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
                guard case .waited(let waiter) = state else {
                    state = .set
                    return nil
                }
                state = .unset
                return waiter
            }
            waiter?.resume()
        }

        /// Waits until it is set; returns false if the task is cancelled.
        ///
        /// One task waits at a time.
        func wait() async -> Bool {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isOver: Bool = state.withLock { state in
                        if case .unset = state, !Task.isCancelled {
                            state = .waited(continuation)
                            return false
                        }
                        if !Task.isCancelled { state = .unset }
                        return true
                    }
                    if isOver { continuation.resume() }
                }
            } onCancel: {
                let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
                    guard case .waited(let waiter) = state else { return nil }
                    state = .unset
                    return waiter
                }
                waiter?.resume()
            }
            return !Task.isCancelled
        }
    }

    /// Tells several tasks of each element; what waits for a task is bounded.
    final class Broadcast<Element: Sendable>: Sendable {
        enum Bound {
            /// The sequence of a task ends when more elements than these wait.
            case endsBeyond(Int)
            /// A task gets the latest element only.
            case keepsLatest
        }

        private struct Listeners {
            var next = 0
            var all: [Int: AsyncStream<Element>.Continuation] = [:]
            var isOver = false
        }

        private let listeners = Lock(Listeners())
        private let bound: Bound

        init(_ bound: Bound) { self.bound = bound }

        func send(_ element: Element) {
            // Outside of the lock: a sequence that ends takes it, while its task is cancelled and
            // cannot be resumed.
            let all = listeners.withLock { $0.all }
            let slow = all.filter { if case .dropped = $0.value.yield(element) { true } else { false } }
            guard case .endsBeyond = bound else { return }
            for (key, continuation) in slow {
                remove(key)
                continuation.finish()
            }
        }

        func finish() {
            let all = listeners.withLock { listeners in
                listeners.isOver = true
                defer { listeners.all = [:] }
                return listeners.all
            }
            for continuation in all.values { continuation.finish() }
        }

        /// Whether nothing more is told.
        var isOver: Bool { listeners.withLock { $0.isOver } }

        /// Returns the elements from now on.
        func elements() -> AsyncStream<Element> {
            let policy: AsyncStream<Element>.Continuation.BufferingPolicy =
                switch bound {
                case .endsBeyond(let limit): .bufferingOldest(limit)
                case .keepsLatest: .bufferingNewest(1)
                }
            let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: policy)
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
