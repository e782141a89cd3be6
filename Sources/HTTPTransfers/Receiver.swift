#if Client || canImport(Darwin)
    internal import Foundation
    internal import Locking

    /// A transfer, as its receiver controls it; no function waits.
    protocol TransferControl: Sendable {
        /// Reads on after a pause.
        func resume()
        func cancel()
    }

    /// Passes the answer to one request from its connection to its reader.
    final class Receiver: Sendable {
        enum Reading {
            /// The whole body, up to a limit.
            case whole(limit: Int)
            /// Pieces of the body; while more than ``Receiver/roomForPieces`` waits, no more is
            /// read.
            case pieces
        }

        /// The bytes of pieces that may wait for the reader, before the next read.
        static let roomForPieces = 1 << 20

        private struct State {
            var head: TransferHead?
            var waiting = Data()
            var end: Result<Void, TransferFailure>?
            var isPaused = false
            var control: (any TransferControl)?
            /// The number of changes, so that a reader misses none between its look and its wait.
            var changes = 0
            var waiter: CheckedContinuation<Void, Never>?
        }

        private let reading: Reading
        private let state = Lock(State())

        init(_ reading: Reading) { self.reading = reading }

        // MARK: The connection

        /// Sets what controls the transfer, before it starts.
        func setControl(_ control: any TransferControl) { state.withLock { $0.control = control } }

        /// Whether nothing more is wanted.
        var hasEnded: Bool { state.withLock { $0.end != nil } }

        /// Whether the body is to be decompressed: only if all of it counts for the limit.
        var decompresses: Bool { if case .whole = reading { true } else { false } }

        /// Receives the head; false if nothing more is wanted.
        func receive(_ head: TransferHead) -> Bool {
            if case .whole(let limit) = reading, let length = head.headers["content-length"].flatMap({ Int($0) }),
                length > limit
            {
                fail(.answerTooLarge)
            }
            return wake { state in
                guard state.end == nil else { return false }
                state.head = head
                return true
            }
        }

        /// Receives the next bytes of the body; false if nothing more is wanted.
        func receive(_ bytes: Data) -> Bool {
            let (isWanted, isTooLarge) = wake { state in
                guard state.end == nil else { return (false, false) }
                if case .whole(let limit) = reading, state.waiting.count + bytes.count > limit { return (false, true) }
                state.waiting.append(bytes)
                return (true, false)
            }
            if isTooLarge { fail(.answerTooLarge) }
            return isWanted
        }

        /// Whether the next bytes can be received now; otherwise the control is resumed later.
        ///
        /// - Parameter pause: Is called if not, before the control can be resumed.
        func hasRoom(orElse pause: () -> Void) -> Bool {
            guard case .pieces = reading else { return true }
            return state.withLock { state in
                guard state.end == nil, state.waiting.count >= Self.roomForPieces else { return true }
                state.isPaused = true
                pause()
                return false
            }
        }

        /// Ends the answer as the connection says; nil if it is whole.
        func end(_ failure: TransferFailure?) {
            wake { state in
                state.control = nil
                guard state.end == nil else { return }
                state.end =
                    if let failure { .failure(failure) } else {
                        state.head == nil ? .failure(.unreachable("The answer has no status.")) : .success(())
                    }
            }
        }

        /// Ends the transfer; the bytes that wait are dropped.
        func fail(_ failure: TransferFailure) {
            let control = wake { state -> (any TransferControl)? in
                if state.end == nil || failure == .cancelled {
                    (state.end, state.waiting) = (.failure(failure), Data())
                }
                defer { state.control = nil }
                return state.control
            }
            control?.cancel()
        }

        // MARK: The reader

        /// Fails the transfer unless an operation ends in time.
        func within<Value: Sendable>(
            _ time: Duration, _ what: String, _ operation: (Receiver) async -> Result<Value, TransferFailure>
        ) async throws(TransferFailure) -> Value {
            let deadline = Task {
                try await Task.sleep(for: time)
                fail(.unreachable("\(what) in \(time)."))
            }
            defer { deadline.cancel() }
            return try await operation(self).get()
        }

        /// Waits for the head.
        func head() async -> Result<TransferHead, TransferFailure> {
            await value { state in state.head.map { .success($0) } ?? Self.failure(state) }
        }

        /// Waits for the whole answer.
        func answer() async -> Result<TransferAnswer, TransferFailure> {
            await value { state in
                guard case .success? = state.end, let head = state.head else { return Self.failure(state) }
                return .success(TransferAnswer(head: head, body: state.waiting))
            }
        }

        /// Waits for the bytes that come next; nil at the end.
        func next() async -> Result<Data?, TransferFailure> {
            await value { state in
                guard state.waiting.isEmpty else {
                    let bytes = state.waiting
                    state.waiting = Data()
                    if state.isPaused {
                        state.isPaused = false
                        state.control?.resume()
                    }
                    return .success(bytes)
                }
                if case .success? = state.end { return .success(nil) }
                return Self.failure(state)
            }
        }

        private static func failure<Value>(_ state: State) -> Result<Value, TransferFailure>? {
            if case .failure(let failure)? = state.end { .failure(failure) } else { nil }
        }

        /// Waits until there is a value; a cancelled task gets none.
        private func value<Value: Sendable>(_ take: (inout State) -> Result<Value, TransferFailure>?) async -> Result<
            Value, TransferFailure
        > {
            while true {
                guard !Task.isCancelled else { return .failure(.cancelled) }
                let (result, changes) = state.withLock { state in (take(&state), state.changes) }
                if let result { return result }
                await waitForChange(after: changes)
            }
        }

        /// Waits until there was another change, or the task is cancelled.
        private func waitForChange(after changes: Int) async {
            await withTaskCancellationHandler {
                await withCheckedContinuation { waiter in
                    let isDone = state.withLock { state in
                        // A cancellation after this line finds the waiter.
                        if state.changes != changes || Task.isCancelled { return true }
                        precondition(state.waiter == nil, "one task at a time reads an answer")
                        state.waiter = waiter
                        return false
                    }
                    if isDone { waiter.resume() }
                }
            } onCancel: {
                wake { _ in }
            }
        }

        /// Changes the state and wakes the reader.
        @discardableResult
        private func wake<Value: Sendable>(_ change: (inout State) -> Value) -> Value {
            let (value, waiter) = state.withLock { state in
                let value = change(&state)
                state.changes += 1
                defer { state.waiter = nil }
                return (value, state.waiter)
            }
            waiter?.resume()
            return value
        }
    }
#endif
