#if Server && os(Linux)
    internal import Locking

    /// Carries out the messages of one WebSocket, one after another, on a task.
    ///
    /// Messages wait in a bounded inbox; while it is full, the loop does not receive.
    final class SocketSession: SocketReceiver {
        /// The messages that wait before the loop stops receiving, and below which it goes on.
        private static let (capacity, restart) = (32, 8)
        /// The bytes of the messages that wait, beside the last one.
        private static let byteCapacity = 64 << 10

        private struct State {
            var waitingCount = 0
            var waitingByteCount = 0
            var isPaused = false
            var resume: (@Sendable () -> Void)?
            var task: Task<Void, Never>?
            var whenClosed: (@Sendable () -> Void)?
            var isClosed = false
        }

        private let budget: MessageBudget
        private let executor: (any TaskExecutor)?
        private let state = Lock(State())
        private let inbox: AsyncStream<[UInt8]>.Continuation
        private let messages: AsyncStream<[UInt8]>

        /// Creates a session that gives back the bytes of its messages to the budget.
        ///
        /// - Parameter executor: Runs the task that carries out the messages; nil for the default
        ///   one.
        init(_ budget: MessageBudget, on executor: (any TaskExecutor)? = nil) {
            (self.budget, self.executor) = (budget, executor)
            (messages, inbox) = AsyncStream.makeStream()
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
            // Before the task, which lets the socket receive again.
            state.withLock { $0.resume = resume }
            let task = Task(executorPreference: executor) { [messages] in
                // An error means that the socket closes: its mailbox accepts nothing any more.
                do {
                    try await start()
                    for await message in messages {
                        try await handle(message)
                        self.didHandle(message.count)
                    }
                } catch {}
            }
            let isClosed = state.withLock { state in
                (state.task, state.whenClosed) = (task, whenClosed)
                return state.isClosed
            }
            if isClosed { didClose() }
        }

        private func didHandle(_ byteCount: Int) {
            let resume = state.withLock { state -> (@Sendable () -> Void)? in
                // The end has given back all bytes.
                guard !state.isClosed else { return nil }
                budget.giveBack(byteCount)
                state.waitingCount -= 1
                state.waitingByteCount -= byteCount
                guard state.isPaused, state.waitingCount <= Self.restart, state.waitingByteCount < Self.byteCapacity else { return nil }
                state.isPaused = false
                return state.resume
            }
            resume?()
        }

        var waitingByteCount: Int { state.withLock { $0.waitingByteCount } }

        func receive(_ message: [UInt8]) -> Bool {
            let mayReceive = state.withLock { state in
                guard !state.isClosed else {
                    budget.giveBack(message.count)
                    return false
                }
                state.waitingCount += 1
                state.waitingByteCount += message.count
                if state.waitingCount >= Self.capacity || state.waitingByteCount >= Self.byteCapacity { state.isPaused = true }
                return !state.isPaused
            }
            inbox.yield(message)
            return mayReceive
        }

        func didClose() {
            inbox.finish()
            let (task, whenClosed) = state.withLock { state in
                defer { (state.isClosed, state.whenClosed, state.task, state.waitingByteCount) = (true, nil, nil, 0) }
                budget.giveBack(state.waitingByteCount)
                return (state.task, state.whenClosed)
            }
            task?.cancel()
            whenClosed?()
        }
    }
#endif
