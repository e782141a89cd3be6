#if Server
    internal import Locking

    /// The bytes of a stream between the task that writes them and the thread that sends them.
    ///
    /// Bounded: a writer suspends while the client has not read what is waiting. One task writes, one
    /// thread reads; ``post(_:)`` and ``end(_:)`` may be called by others.
    final class Mailbox: Sendable {
        /// The error of a write after the end.
        struct Ended: Error {}

        /// The result of a read.
        enum Reading {
            case bytes([UInt8])
            /// The reader is called again after `wake`.
            case wait
            case end
        }

        fileprivate struct State {
            var bytes: [UInt8] = []
            var hasEnded = false
            /// Whether the reader has been told to wait.
            var isReaderWaiting = false
            var writer: CheckedContinuation<Bool, Never>?
            var wake: (@Sendable () -> Void)?
            /// The time since which the writer has been waiting.
            var waitingSince: ContinuousClock.Instant?
            /// The time of the last write.
            var lastWrite = ContinuousClock.now
        }

        /// The number of waiting bytes from which a writer suspends.
        static let capacity = 64 << 10

        private let state = Lock(State())

        /// Sets the function that calls the reader again.
        func setWake(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

        /// Appends bytes, after the client has read enough of the earlier ones.
        ///
        /// - Throws: ``Ended`` after ``end(_:)`` or ``close()``.
        func write(_ bytes: [UInt8]) async throws(Ended) {
            while true {
                let isWritten = state.withLock { state -> Bool? in
                    if state.hasEnded { return nil }
                    if state.bytes.count >= Self.capacity { return false }
                    state.append(bytes)
                    return true
                }
                guard let isWritten else { throw Ended() }
                if isWritten { return }
                let isOpen = await withCheckedContinuation { writer in
                    let result = state.withLock { state -> Bool? in
                        if state.hasEnded { return false }
                        if state.bytes.count < Self.capacity { return true }
                        precondition(state.writer == nil, "one task writes")
                        state.writer = writer
                        state.waitingSince = .now
                        return nil
                    }
                    if let result { writer.resume(returning: result) }
                }
                guard isOpen else { throw Ended() }
            }
        }

        /// Appends bytes if there is room, without waiting.
        func post(_ bytes: [UInt8]) {
            state.withLock { state in
                if !state.hasEnded, state.bytes.count < Self.capacity { state.append(bytes) }
            }
        }

        /// Appends the last bytes; what is waiting is still sent.
        func end(_ last: [UInt8] = []) {
            let writer = state.withLock { state in
                if !state.hasEnded { state.append(last) }
                return state.end()
            }
            writer?.resume(returning: false)
        }

        /// Drops what is waiting: the connection is gone.
        func close() {
            let writer = state.withLock { state in
                (state.bytes, state.wake) = ([], nil)
                return state.end()
            }
            writer?.resume(returning: false)
        }

        /// Returns at most `limit` waiting bytes, and lets the writer continue.
        ///
        /// - Parameter suspend: Called under the lock before ``Reading/wait`` is returned, so that no
        ///   wake-up can come before it.
        func read(limit: Int, suspend: () -> Void) -> Reading {
            let (reading, writer) = state.withLock { state -> (Reading, CheckedContinuation<Bool, Never>?) in
                if state.bytes.isEmpty {
                    if state.hasEnded { return (.end, nil) }
                    state.isReaderWaiting = true
                    suspend()
                    return (.wait, nil)
                }
                let bytes: [UInt8]
                if state.bytes.count <= limit {
                    bytes = state.bytes
                    state.bytes = []
                } else {
                    bytes = Array(state.bytes.prefix(limit))
                    state.bytes.removeFirst(limit)
                }
                guard state.bytes.count < Self.capacity else { return (.bytes(bytes), nil) }
                return (.bytes(bytes), state.takeWriter())
            }
            writer?.resume(returning: true)
            return reading
        }

        /// The time since the last write, and the time for which the writer has been waiting.
        func idleTimes() -> (sinceWrite: Duration, writerWaits: Duration?) {
            let now = ContinuousClock.now
            return state.withLock { (now - $0.lastWrite, $0.waitingSince.map { now - $0 }) }
        }
    }

    extension Mailbox.State {
        fileprivate mutating func append(_ new: [UInt8]) {
            if bytes.isEmpty { bytes = new } else { bytes += new }
            lastWrite = .now
            wakeReader()
        }

        fileprivate mutating func end() -> CheckedContinuation<Bool, Never>? {
            hasEnded = true
            wakeReader()
            return takeWriter()
        }

        fileprivate mutating func takeWriter() -> CheckedContinuation<Bool, Never>? {
            waitingSince = nil
            return writer.take()
        }

        private mutating func wakeReader() {
            guard isReaderWaiting else { return }
            isReaderWaiting = false
            // Under the lock, so that the connection cannot end in between.
            wake?()
        }
    }
#endif
