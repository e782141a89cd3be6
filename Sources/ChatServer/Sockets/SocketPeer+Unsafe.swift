#if Server && os(Linux)
    // Unsafe, because libwslay is a C library whose callbacks get the address of a peer. A peer
    // lives until its context is freed, and belongs to the thread of the loop alone.
    internal import CWslay
    internal import ChatWire
    #if canImport(Musl)
        internal import Musl
    #else
        internal import Glibc
    #endif

    /// One WebSocket, on the thread of the loop.
    @safe final class SocketPeer {
        /// The bytes of frames that are sent together; more stay in the mailbox.
        private static let outputLimit = 32 << 10
        /// Messages and pongs that wait in the library before nothing more is received.
        private static let pongLimit = 16
        /// The code of a close that the registry of RFC 6455 has added; the library has no name for
        /// it.
        private static let tryAgainLater: UInt16 = 1013
        /// Bytes and frames that are received before it is the turn of other peers.
        private static let (turnLimit, turnFrameLimit) = (256 << 10, 64)

        /// What the loop does after a second.
        enum Tick { case wait, send, end }

        private let descriptor: Int32
        /// Whether the handshake is sent: before it nothing is received.
        private(set) var isOpen = false
        /// The frames that are not taken.
        private var frames: [UInt8] = []
        private let mailbox: Mailbox
        private let receiver: any SocketReceiver
        /// The bytes that came with the handshake.
        private(set) var early: ArraySlice<UInt8>
        var isReadable = true
        var mayReceive = true
        private var lastReceived = ContinuousClock.now
        private var lastPing = ContinuousClock.now
        /// Whether the mailbox has ended.
        private var hasLastMessage = false
        /// The time at which a close was queued.
        private var closedAt: ContinuousClock.Instant?
        private var context: wslay_event_context_ptr?
        /// The message of which frames have come; the library would keep a block of memory for each
        /// frame.
        private var partial: MessageAssembly
        /// The time at which the last message began.
        private(set) var messageBegan = ContinuousClock.now
        private var isControlFrame = false
        private var gate: FrameGate
        /// Whether the library has found a frame that it cannot read.
        private var hasWrongFrame = false
        private var hasConnectionFailed = false
        private var (turnByteCount, turnFrameCount) = (0, 0)

        init?(
            _ descriptor: Int32, _ early: [UInt8], _ mailbox: Mailbox, _ receiver: any SocketReceiver,
            _ limits: SocketLimits
        ) {
            (self.descriptor, self.mailbox, self.receiver) = (descriptor, mailbox, receiver)
            partial = MessageAssembly(limit: limits.messageByteCount)
            gate = FrameGate(messageLimit: limits.messageByteCount)
            self.early = early[...]
            var callbacks = wslay_event_callbacks()
            unsafe callbacks.recv_callback = { context, buffer, count, _, peer in
                guard let buffer = unsafe buffer else { return -1 }
                return unsafe SocketPeer.at(peer).read(context, buffer, count)
            }
            unsafe callbacks.send_callback = { _, bytes, count, _, peer in
                unsafe SocketPeer.at(peer).append(UnsafeBufferPointer(start: bytes, count: count))
            }
            unsafe callbacks.on_frame_recv_start_callback = { _, frame, peer in
                guard let frame = unsafe frame else { return }
                unsafe SocketPeer.at(peer).isControlFrame =
                    frame.pointee.opcode >= UInt8(WSLAY_CONNECTION_CLOSE.rawValue)
                unsafe SocketPeer.at(peer).turnFrameCount += 1
            }
            unsafe callbacks.on_frame_recv_chunk_callback = { _, chunk, peer in
                guard let chunk = unsafe chunk else { return }
                unsafe SocketPeer.at(peer).didReceive(chunk.pointee)
            }
            unsafe callbacks.on_msg_recv_callback = { _, message, peer in
                guard let message = unsafe message else { return }
                unsafe SocketPeer.at(peer).didReceive(message.pointee)
            }
            let address = unsafe Unmanaged.passUnretained(self).toOpaque()
            guard unsafe wslay_event_context_server_init(&context, &callbacks, address) == 0 else { return nil }
            unsafe wslay_event_config_set_max_recv_msg_length(context, UInt64(limits.messageByteCount))
            unsafe wslay_event_config_set_no_buffering(context, 1)
        }

        /// Ends what belongs to the socket, whose connection has ended.
        func drop() {
            mailbox.close()
            receiver.didClose()
            dropPartial()
            unsafe wslay_event_context_free(context)
            unsafe context = nil
        }

        /// Called once a second.
        func tick(_ now: ContinuousClock.Instant, _ limits: SocketLimits) -> Tick {
            // A peer that may not receive is not silent by itself.
            if !mayReceive { lastReceived = now }
            if now - lastReceived > limits.silence { return .end }
            if let closedAt, now - closedAt > limits.closing { return .end }
            guard now - lastPing > limits.pingInterval, closedAt == nil else { return .wait }
            lastPing = now
            ping()
            return .send
        }

        private static func at(_ address: UnsafeMutableRawPointer?) -> SocketPeer {
            guard let address = unsafe address else { preconditionFailure("the library returns the address") }
            return unsafe Unmanaged<SocketPeer>.fromOpaque(address).takeUnretainedValue()
        }

        /// The bytes of the messages that are received, wait or are carried out.
        var messages: HeldMemory { receiver.messages }

        /// Begins to end the connection, and drops its messages, because its client holds more than
        /// it may.
        func endForMemory() {
            dropPartial()
            receiver.didClose()
            end(Self.tryAgainLater)
        }

        private func dropPartial() { messages.add(-partial.finish().count) }

        /// Queues a close, and receives nothing more.
        private func end(_ code: UInt16) {
            unsafe wslay_event_queue_close(context, code, nil, 0)
            unsafe wslay_event_shutdown_read(context)
            if closedAt == nil { closedAt = .now }
        }

        /// Whether the close handshake is complete, but for what was taken.
        var isOver: Bool { unsafe wslay_event_want_read(context) == 0 && wslay_event_want_write(context) == 0 }

        var wantsInput: Bool { unsafe isOpen && canReceive && wslay_event_want_read(context) != 0 }

        /// Whether there are bytes to receive, as far as the peer knows.
        var hasInput: Bool { wantsInput && (isReadable || !early.isEmpty) }

        /// Whether the messages of the client are carried out fast enough, and its pongs are sent.
        private var canReceive: Bool { unsafe mayReceive && wslay_event_get_queued_msg_count(context) < Self.pongLimit }

        /// Receives what has come; false if the connection has ended.
        func receive() -> Bool {
            (turnByteCount, turnFrameCount) = (0, 0)
            let status = unsafe wslay_event_recv(context)
            // A close of the client or a wrong frame has queued a close, and no message follows it.
            if unsafe wslay_event_want_read(context) == 0 || wslay_event_get_close_sent(context) != 0, closedAt == nil {
                closedAt = .now
            }
            if closedAt != nil { dropPartial() }
            if status != 0, !hasConnectionFailed {
                // The library has queued a close without a code, which is still sent.
                hasWrongFrame = true
                return true
            }
            return status == 0
        }

        /// Returns frames to send, pings and pongs before messages; called when those before are
        /// sent.
        func takeFrames() -> [UInt8] {
            isOpen = true
            appendControlFrames()
            var (isMailboxEmpty, isFirst) = (false, true)
            while !isMailboxEmpty, !hasLastMessage, closedAt == nil, frames.count < Self.outputLimit {
                defer { isFirst = false }
                switch mailbox.read(afterSending: isFirst) {
                case .wait: isMailboxEmpty = true
                case .bytes(let message): appendFrame(message)
                case .end:
                    hasLastMessage = true
                    unsafe wslay_event_queue_close(context, UInt16(WSLAY_CODE_GOING_AWAY.rawValue), nil, 0)
                    closedAt = .now
                    appendControlFrames()
                }
            }
            defer { frames = [] }
            return frames
        }

        /// Appends the pings, pongs and the close that wait in the library.
        private func appendControlFrames() {
            // Cannot fail: every frame is appended at once.
            _ = unsafe wslay_event_send(context)
        }

        /// Appends a text message as one frame (RFC 6455, section 5.2).
        ///
        /// The library would copy the message, and send its header and its payload in two calls.
        private func appendFrame(_ message: [UInt8]) {
            frames.append(0x80 | UInt8(WSLAY_TEXT_FRAME.rawValue))
            let count = message.count
            let byteCount = count < 126 ? 0 : count <= UInt16.max ? 2 : 8
            frames.append(byteCount == 0 ? UInt8(count) : byteCount == 2 ? 126 : 127)
            for index in (0..<byteCount).reversed() { frames.append(UInt8(truncatingIfNeeded: count >> (8 * index))) }
            frames += message
        }

        /// Appends bytes of a frame of the library.
        private func append(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
            if hasWrongFrame, unsafe bytes.elementsEqual([0x88, 0]) {
                // The close with the code 1002 instead of the library's, which has none.
                frames += [0x88, 2, 0x03, 0xEA]
            } else {
                unsafe frames.append(contentsOf: bytes)
            }
            return bytes.count
        }

        private func ping() {
            var message = unsafe wslay_event_msg(opcode: UInt8(WSLAY_PING.rawValue), msg: nil, msg_length: 0)
            _ = unsafe wslay_event_queue_msg(context, &message)
        }

        private func didReceive(_ chunk: wslay_event_on_frame_recv_chunk_arg) {
            guard !isControlFrame else { return }
            let bytes = unsafe UnsafeBufferPointer(start: chunk.data, count: chunk.data_length)
            if partial.byteCount == 0 { messageBegan = .now }
            if unsafe partial.append(bytes) { messages.add(bytes.count) }
        }

        private func didReceive(_ message: wslay_event_on_msg_recv_arg) {
            guard UInt32(unsafe message.opcode) < WSLAY_CONNECTION_CLOSE.rawValue else { return }
            // After the last message of the server, and after a close, nothing of the client
            // counts.
            guard !hasLastMessage, closedAt == nil, unsafe wslay_event_want_read(context) != 0 else {
                return dropPartial()
            }
            mayReceive = receiver.receive(partial.finish())
        }

        private func read(_ context: wslay_event_context_ptr?, _ buffer: UnsafeMutablePointer<UInt8>, _ count: Int)
            -> Int
        {
            // Nothing more until the message before is carried out, and other peers had their turn.
            if gate.isMessageTooLong { end(UInt16(WSLAY_CODE_MESSAGE_TOO_BIG.rawValue)) }
            let isTurnOver = turnByteCount >= Self.turnLimit || turnFrameCount >= Self.turnFrameLimit
            guard canReceive, !gate.isMessageTooLong, !isTurnOver else {
                unsafe wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK.rawValue)
                return -1
            }
            let bytes = unsafe UnsafeMutableBufferPointer(start: buffer, count: count)
            while true {
                let heldCount = unsafe bytes.update(fromContentsOf: gate.held)
                let received = unsafe receive(in: bytes[heldCount...])
                if received > 0 {
                    lastReceived = .now
                    turnByteCount += received
                    let passed = unsafe gate.pass(UnsafeBufferPointer(rebasing: bytes[..<(heldCount + received)]).span)
                    if passed == 0 { continue }
                    return passed
                }
                if received < 0 && errno == EINTR { continue }
                let isEmpty = received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)
                if isEmpty { isReadable = false } else { hasConnectionFailed = true }
                unsafe wslay_event_set_error(
                    context, isEmpty ? WSLAY_ERR_WOULDBLOCK.rawValue : WSLAY_ERR_CALLBACK_FAILURE.rawValue)
                return -1
            }
        }

        /// Receives the bytes that came with the handshake, and then those of the socket; the value
        /// is that of `recv`.
        private func receive(in buffer: Slice<UnsafeMutableBufferPointer<UInt8>>) -> Int {
            let free = unsafe UnsafeMutableBufferPointer(rebasing: buffer)
            guard early.isEmpty else {
                let taken = early.prefix(free.count)
                early = early.dropFirst(taken.count)
                return unsafe free.update(fromContentsOf: taken)
            }
            return unsafe recv(descriptor, free.baseAddress, free.count, 0)
        }
    }
#endif
