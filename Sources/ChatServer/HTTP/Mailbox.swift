#if Server
    internal import Locking

    /// The messages of a connection between the tasks that write them and the thread that sends
    /// them.
    ///
    /// Bounded: a writer suspends while the client has not read what is waiting, or has no memory
    /// for more. One thread reads.
    final class Mailbox: Sendable {
        /// The error of a write after the end, of the mailbox or of the task.
        struct Ended: Error {}

        /// The result of a read.
        enum Reading {
            case bytes([UInt8])
            /// The reader is called again after `wake`.
            case wait
            case end
        }

        fileprivate struct State {
            var messages: [[UInt8]] = []
            /// The index of the first message that waits.
            var first = 0
            /// The bytes of the messages that wait.
            var byteCount = 0
            /// The bytes that were read and are not sent.
            var unsentByteCount = 0
            /// What the bytes hold of the client's memory, beside that of the mailbox itself.
            var takenByteCount = 0
            var hasEnded = false
            /// Whether the reader has been told to wait.
            var isReaderWaiting = false
            var writers: [CheckedContinuation<Bool, Never>] = []
            var wake: (@Sendable () -> Void)?
            /// The time since which a writer has been waiting, or bytes were refused.
            var waitingSince: ContinuousClock.Instant?
            /// The time of the last write.
            var lastWrite = ContinuousClock.now
        }

        /// The number of waiting bytes from which a writer suspends.
        static let capacity = 32 << 10

        private let state = Lock(State())
        private let memory: HeldMemory?

        /// Creates a mailbox whose bytes are a client's; nil for one whose memory is not counted.
        init(_ memory: HeldMemory? = nil) { self.memory = memory }

        /// Sets the function that calls the reader again; it is called outside the lock.
        func setWake(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

        /// Changes the state, and calls the reader if it waits for the change.
        private func change<Value>(_ body: (inout State) -> Value) -> Value {
            let (value, wake) = state.withLock { state in (body(&state), state.takeWake()) }
            wake?()
            return value
        }

        /// Appends bytes, after the client has read enough of the earlier ones.
        ///
        /// - Throws: ``Ended`` after ``end(_:)`` or ``close()``, and if the task is cancelled: what
        ///   waits for room must not follow the end of its session.
        func write(_ bytes: [UInt8]) async throws(Ended) {
            while true {
                if Task.isCancelled { throw Ended() }
                let isWritten = change { state -> Bool? in
                    if state.hasEnded { return nil }
                    guard state.hasRoom(for: bytes.count, memory) else { return false }
                    state.append(bytes)
                    state.waitingSince = nil
                    return true
                }
                guard let isWritten else { throw Ended() }
                if isWritten { return }
                let isOpen = await withCheckedContinuation { writer in
                    let result = state.withLock { state -> Bool? in
                        if state.hasEnded { return false }
                        if state.hasRoom(for: bytes.count, memory) { return true }
                        if state.waitingSince == nil { state.waitingSince = .now }
                        state.writers.append(writer)
                        return nil
                    }
                    if let result { writer.resume(returning: result) }
                }
                guard isOpen else { throw Ended() }
            }
        }

        /// Appends bytes if there is room, without waiting; returns whether it did.
        @discardableResult
        func post(_ bytes: [UInt8]) -> Bool {
            change { state in
                guard !state.hasEnded else { return false }
                guard state.hasRoom(for: bytes.count, memory) else {
                    // Its writer may wait for something else meanwhile.
                    if state.waitingSince == nil { state.waitingSince = .now }
                    return false
                }
                state.append(bytes)
                return true
            }
        }

        /// Appends the last bytes; what is waiting is still sent.
        ///
        /// - Returns: Whether the mailbox ends with this call.
        @discardableResult
        func end(_ last: [UInt8] = []) -> Bool {
            let (isFirst, writers) = change { state in
                let isFirst = !state.hasEnded
                if isFirst, !last.isEmpty { state.append(last) }
                return (isFirst, state.end())
            }
            for writer in writers { writer.resume(returning: false) }
            return isFirst
        }

        /// Drops what is waiting: the connection is gone.
        func close() {
            let writers = state.withLock { state in
                (state.messages, state.first, state.byteCount, state.wake) = ([], 0, 0, nil)
                state.unsentByteCount = 0
                state.giveBack(memory)
                return state.end()
            }
            for writer in writers { writer.resume(returning: false) }
        }

        /// Returns at most `limit` bytes of the first message that waits, and lets the writers
        /// continue.
        ///
        /// - Parameters:
        ///   - limit: The number of bytes.
        ///   - joinsMessages: Whether the bytes of later messages follow those of the first.
        ///   - afterSending: Whether the bytes of earlier reads are sent.
        func read(limit: Int = .max, joinsMessages: Bool = false, afterSending: Bool = true) -> Reading {
            let (reading, writers) = state.withLock { state -> (Reading, [CheckedContinuation<Bool, Never>]) in
                if afterSending { state.unsentByteCount = 0 }
                state.giveBack(memory)
                guard var bytes = state.take(limit) else {
                    if state.hasEnded { return (.end, []) }
                    state.isReaderWaiting = true
                    return (.wait, [])
                }
                while joinsMessages, bytes.count < limit, let more = state.take(limit - bytes.count) { bytes += more }
                state.unsentByteCount += bytes.count
                return (.bytes(bytes), state.byteCount < Self.capacity ? state.takeWriters() : [])
            }
            for writer in writers { writer.resume(returning: true) }
            return reading
        }

        /// Lets the writers look again whether the client has memory; called once a second.
        func retry() {
            let writers = state.withLock { state in
                state.byteCount < Self.capacity ? state.takeWriters(keepsTime: true) : []
            }
            for writer in writers { writer.resume(returning: true) }
        }

        /// The time since the last write, and the time for which the client has not made room for
        /// another one.
        func idleTimes(at now: ContinuousClock.Instant = .now) -> (sinceWrite: Duration, writerWaits: Duration?) {
            state.withLock { (now - $0.lastWrite, $0.waitingSince.map { now - $0 }) }
        }
    }

    extension Mailbox.State {
        /// Whether a message may be appended; takes the memory that it needs.
        fileprivate mutating func hasRoom(for count: Int, _ memory: HeldMemory?) -> Bool {
            if byteCount >= Mailbox.capacity { return false }
            let more = byteCount + unsentByteCount + count - ServerMemory.mailbox - takenByteCount
            guard more > 0, let memory else { return true }
            let step = ServerMemory.mailboxStep
            let taken = (more + step - 1) / step * step
            guard memory.take(taken) else { return false }
            takenByteCount += taken
            return true
        }

        /// Gives back the memory of bytes that are sent.
        fileprivate mutating func giveBack(_ memory: HeldMemory?) {
            guard takenByteCount > 0, byteCount + unsentByteCount <= ServerMemory.mailbox else { return }
            memory?.add(-takenByteCount)
            takenByteCount = 0
        }

        fileprivate mutating func append(_ message: [UInt8]) {
            messages.append(message)
            byteCount += message.count
            lastWrite = .now
        }

        /// Removes at most `limit` bytes of the first message; nil if none waits.
        fileprivate mutating func take(_ limit: Int) -> [UInt8]? {
            guard first < messages.count else { return nil }
            var message: [UInt8] = []
            swap(&message, &messages[first])
            if message.count > limit {
                messages[first] = Array(message[limit...])
                message.removeSubrange(limit...)
            } else {
                first += 1
                // The places of read messages are given back, also if some message always waits.
                if first == messages.count || first >= 1_024 {
                    messages.removeFirst(first)
                    first = 0
                }
            }
            byteCount -= message.count
            return message
        }

        fileprivate mutating func end() -> [CheckedContinuation<Bool, Never>] {
            hasEnded = true
            return takeWriters()
        }

        fileprivate mutating func takeWriters(keepsTime: Bool = false) -> [CheckedContinuation<Bool, Never>] {
            if !keepsTime { waitingSince = nil }
            defer { writers = [] }
            return writers
        }

        /// Returns the function that calls the reader, once, if it waits for what there is now.
        fileprivate mutating func takeWake() -> (@Sendable () -> Void)? {
            guard isReaderWaiting, first < messages.count || hasEnded else { return nil }
            isReaderWaiting = false
            return wake
        }
    }
#endif
