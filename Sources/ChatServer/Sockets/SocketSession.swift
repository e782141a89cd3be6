#if Server && os(Linux)
    internal import Locking

    /// Carries out the messages of one WebSocket, one after another.
    ///
    /// A task begins with a message and ends when none waits: a socket with nothing to do has no
    /// task. Messages wait in a bounded queue; while it is full, the loop does not receive.
    final class SocketSession: SocketReceiver {
        /// The messages that wait before the loop stops receiving, and below which it goes on.
        private static let (capacity, restart) = (32, 8)
        /// The bytes of the messages that wait, beside the last one.
        private static let byteCapacity = 64 << 10

        private typealias Handler = @Sendable ([UInt8]) async throws -> Void

        private struct State {
            var queue = FirstInFirstOut<[UInt8]>()
            /// The messages in the queue and the one that is being carried out.
            var waitingCount = 0
            var waitingByteCount = 0
            var isPaused = false
            var resume: (@Sendable () -> Void)?
            var handle: Handler?
            /// Carries out what is in the queue; an ended one after an error, after which nothing
            /// follows.
            var task: Task<Void, Never>?
            var whenClosed: (@Sendable () -> Void)?
            var isClosed = false
        }

        let messages: HeldMemory
        private let executor: (any TaskExecutor)?
        private let state = Lock(State())

        /// Creates a session that gives back the bytes of its messages.
        ///
        /// - Parameter executor: Runs the tasks that carry out the messages; nil for the default
        ///   one.
        init(_ messages: HeldMemory, on executor: (any TaskExecutor)? = nil) {
            (self.messages, self.executor) = (messages, executor)
        }

        /// Begins to carry out messages, until the body throws or the socket closes.
        ///
        /// - Parameters:
        ///   - resume: Lets the socket receive again.
        ///   - handle: Carries out one message.
        ///   - start: Is called before the first message.
        ///   - whenClosed: Is called once when the socket is closed.
        func begin(
            resume: @escaping @Sendable () -> Void, handle: @escaping @Sendable ([UInt8]) async throws -> Void,
            start: @escaping @Sendable () async throws -> Void = {}, whenClosed: @escaping @Sendable () -> Void
        ) {
            let isClosed = state.withLock { state in
                (state.resume, state.handle, state.whenClosed) = (resume, handle, whenClosed)
                carryOut(&state, handle, after: start)
                return state.isClosed
            }
            if isClosed { didClose() }
        }

        /// Carries out the messages of the queue on a new task.
        private func carryOut(
            _ state: inout State, _ handle: @escaping Handler, after start: (@Sendable () async throws -> Void)? = nil
        ) {
            state.task = Task(executorPreference: executor) { [self] in
                // An error means that the socket closes: its mailbox accepts nothing any more.
                do {
                    if let start { try await start() }
                    while let message = nextMessage() {
                        try await handle(message)
                        didHandle(message.count)
                    }
                } catch {}
            }
        }

        /// Removes the first message; without one the task is over.
        private func nextMessage() -> [UInt8]? {
            state.withLock { state in
                if let message = state.queue.popFirst() { return message }
                state.task = nil
                return nil
            }
        }

        private func didHandle(_ byteCount: Int) {
            let resume = state.withLock { state -> (@Sendable () -> Void)? in
                // The end has given back all bytes.
                guard !state.isClosed else { return nil }
                messages.add(-byteCount)
                state.waitingCount -= 1
                state.waitingByteCount -= byteCount
                guard state.isPaused, state.waitingCount <= Self.restart, state.waitingByteCount < Self.byteCapacity
                else { return nil }
                state.isPaused = false
                return state.resume
            }
            resume?()
        }

        func receive(_ message: [UInt8]) -> Bool {
            state.withLock { state in
                guard !state.isClosed else {
                    messages.add(-message.count)
                    return false
                }
                state.queue.append(message)
                // Before the session has begun there is no handler.
                if state.task == nil, let handle = state.handle { carryOut(&state, handle) }
                state.waitingCount += 1
                state.waitingByteCount += message.count
                if state.waitingCount >= Self.capacity || state.waitingByteCount >= Self.byteCapacity {
                    state.isPaused = true
                }
                return !state.isPaused
            }
        }

        func didClose() {
            let ended = state.withLock { state in
                defer {
                    state = State()
                    state.isClosed = true
                }
                return state
            }
            messages.add(-ended.waitingByteCount)
            ended.task?.cancel()
            ended.whenClosed?()
        }
    }
#endif
