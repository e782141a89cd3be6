#if Server
    internal import ChatAccounts

    /// One connection: reads requests, one after the other, and writes their responses.
    ///
    /// A state machine without system calls. The loop gives it the bytes that come with
    /// ``receive(_:)``, calls ``advance()``, and sends its ``output``.
    final class HTTPConnection {
        enum Phase {
            /// Reads a head, or waits for one.
            case head
            /// The handler decides whether the body is read.
            case admission
            case body
            /// The handler responds.
            case handling
            /// The output has the rest of a response.
            case response
            case stream
            #if os(Linux)
                case socket(SocketPeer)
            #endif
            /// All is sent; the client gets time to read it, and what it sends is dropped.
            case lingering
            case over
        }

        /// A request whose body is not complete.
        private struct PartialRequest {
            let head: HTTPHead
            let limit: Int
            var content: [UInt8] = []
            var chunks: ChunkDecoder?

            var heldByteCount: Int { content.count + head.heldByteCount }
        }

        /// The longest times of the phases.
        private enum Limit {
            static let idle = Duration.seconds(60)
            /// While others wait to be accepted.
            static let idleOfMany = Duration.seconds(5)
            /// While new ones need their places: clients send a request with its body when they have
            /// connected.
            static let shortestIdle = Duration.milliseconds(10)
            /// From the first byte of a head to its last one.
            static let head = Duration.seconds(10)
            static let body = Duration.seconds(30)
            /// In which a client reads ``progress`` bytes of a response, or the rest.
            static let unread = Duration.seconds(60)
            static let lingering = Duration.seconds(10)
        }

        private static let progress = 64 << 10
        /// The bytes that may come during a stream, which is read to notice its end.
        private static let maximumEarlyByteCount = 1 << 10
        /// The bytes that are dropped after the last response.
        private static let maximumLingeringByteCount = 1 << 20
        /// The bytes of a stream that are sent in one chunk.
        private static let maximumChunkByteCount = 32 << 10

        let id: UInt64
        let descriptor: Int32
        let peer: ClientAddress?
        /// Whether the connection is beyond the maximum: it gets one answer, of the health or `busy`.
        private let isExtra: Bool
        private let peerText: String?
        private let context: HTTPContext
        private(set) var phase = Phase.head
        /// The bytes to send.
        private(set) var output = OutputBuffer()
        /// What the poll reports.
        var interest = Interest(reads: true, writes: false)
        /// Whether the client sends nothing more.
        private(set) var hasInputEnded = false
        private var input: [UInt8] = []
        private var parser = HTTPHeadParser()
        private var hasHeadBegun = false
        private var request: PartialRequest?
        private var exchange: HTTPExchange?
        /// What a stream sends, until it has ended.
        private var mailbox: Mailbox?
        /// The memory of what was received and is not handed on, and of an answer without a request.
        private var held: HeldMemory?
        /// Of the present request: whether its response has no body, is in chunks, or is the last.
        private var (isToHead, isChunked, isLast) = (false, false, false)
        private var status = 0
        /// The time since which the limit of the phase counts.
        private var since: ContinuousClock.Instant
        /// The bytes that were sent since then, or that were dropped while lingering.
        private var progressByteCount = 0

        init(
            _ id: UInt64, _ descriptor: Int32, _ peer: ClientAddress?, _ context: HTTPContext, isExtra: Bool = false
        ) {
            (self.id, self.descriptor, self.peer, self.context, since) = (id, descriptor, peer, context, context.now)
            self.isExtra = isExtra
            peerText = peer?.description
        }

        // MARK: What the loop asks

        /// Counts the memory of the connection; returns false if its client holds more than it may.
        func countMemory() -> Bool {
            var byteCount = request?.heldByteCount ?? 0
            if !input.isEmpty { byteCount += input.capacity }
            if hasHeadBegun { byteCount += parser.heldByteCount }
            // The answer of an exchange is counted with it, and that of a stream by its mailbox.
            if exchange == nil, mailbox == nil, !isSocket, !output.isEmpty { byteCount += output.byteCount }
            guard byteCount > 0 || held != nil else { return true }
            let held = held ?? HeldMemory(context.memory, context.client(peer))
            held.set(byteCount)
            self.held = byteCount > 0 ? held : nil
            return held.isWithinLimits
        }

        /// The memory that the end of the connection gives back at once; nil for none.
        var endableMemory: HeldMemory? {
            #if os(Linux)
                if let socket { return socket.messages.byteCount > 0 ? socket.messages : nil }
            #endif
            return held
        }

        /// The time at which the head, the body or the message began that holds memory.
        var heldSince: ContinuousClock.Instant {
            #if os(Linux)
                if let socket { return socket.messageBegan }
            #endif
            return since
        }

        /// Whether bytes of the client are read.
        var wantsInput: Bool {
            guard !hasInputEnded else { return false }
            switch phase {
            case .head, .body, .lingering, .stream: return true
            default: return false
            }
        }

        #if os(Linux)
            /// The WebSocket that the connection has become.
            var socket: SocketPeer? { if case .socket(let socket) = phase { socket } else { nil } }
        #endif

        var isSocket: Bool {
            #if os(Linux)
                socket != nil
            #else
                false
            #endif
        }

        /// Whether nothing more is sent or read.
        var isOver: Bool {
            if case .over = phase { return true }
            #if os(Linux)
                if output.isEmpty, let socket { return socket.isOver }
            #endif
            return false
        }

        /// What the poll reports from now on.
        func wantedInterest(isTurnOver: Bool) -> Interest {
            var reads = interest.reads || wantsInput
            #if os(Linux)
                // Of a WebSocket that is not read, the poll would report the bytes again and again.
                if let socket { reads = socket.wantsInput }
            #endif
            return Interest(reads: reads, writes: !output.isEmpty || isTurnOver)
        }

        /// Whether the request has begun and its response is not sent.
        var hasExchange: Bool {
            switch phase {
            case .admission, .body, .handling, .response, .stream: true
            default: false
            }
        }

        /// Whether the connection may end for a new one, because nothing of a request has come for a
        /// while and all is sent.
        var mayEndForAnother: Bool {
            guard output.isEmpty, context.now - since >= Limit.shortestIdle else { return false }
            switch phase {
            case .head: return !hasHeadBegun && input.isEmpty
            case .lingering: return true
            default: return false
            }
        }

        /// Whether the connection is past the time that it may take for what it does.
        var isLate: Bool {
            let limit: Duration
            switch phase {
            case .head: limit = hasHeadBegun ? Limit.head : context.isFull ? Limit.idleOfMany : Limit.idle
            case .body: limit = Limit.body
            case .lingering: limit = Limit.lingering
            default:
                if output.isEmpty { return false }
                limit = Limit.unread
            }
            return context.now - since > limit
        }

        // MARK: Input

        func receive(_ bytes: ArraySlice<UInt8>) {
            guard case .lingering = phase else {
                input += bytes
                // Nobody sends requests behind an endless response.
                if case .stream = phase, input.count > Self.maximumEarlyByteCount { phase = .over }
                return
            }
            progressByteCount += bytes.count
            if progressByteCount > Self.maximumLingeringByteCount { phase = .over }
        }

        /// Notes that the client sends nothing more; it gets the answers to what it has sent.
        func receiveEnd() {
            hasInputEnded = true
            if case .lingering = phase { phase = .over }
        }

        /// Notes that the first bytes of the output are sent.
        func didSend(_ count: Int) {
            output.removeFirst(count)
            progressByteCount += count
            if progressByteCount >= Self.progress { restartTime() }
        }

        // MARK: Work

        /// Does what is possible without more input and without sending.
        func advance() {
            while true {
                switch phase {
                case .head: if !readHead() { return }
                case .admission: if !beginBody() { return }
                case .body: if !readBody() { return }
                case .handling:
                    guard let response = exchange?.takeResponse() else { return }
                    send(response)
                case .response: if !endResponse() { return }
                case .stream:
                    readStream()
                    if case .stream = phase { return }
                #if os(Linux)
                    case .socket(let socket):
                        if output.isEmpty { output.append(socket.takeFrames()) }
                        return
                #endif
                default: return
                }
            }
        }

        private func enter(_ phase: Phase) {
            self.phase = phase
            restartTime()
        }

        private func restartTime() { (since, progressByteCount) = (context.now, 0) }

        /// Reads a head; returns whether there is more to do.
        private func readHead() -> Bool {
            guard !input.isEmpty else {
                if hasInputEnded { phase = .over }
                return false
            }
            if !hasHeadBegun {
                hasHeadBegun = true
                restartTime()
            }
            // An error of the head itself is answered in full.
            isToHead = false
            do throws(HTTPError) {
                guard let parsed = try parser.parse(input) else {
                    if hasInputEnded { phase = .over }
                    return false
                }
                removeInput(parsed.byteCount)
                (parser, hasHeadBegun) = (HTTPHeadParser(), false)
                var head = parsed.head
                head.peer = peerText
                try begin(head)
            } catch {
                reject(error)
            }
            return true
        }

        private func begin(_ head: HTTPHead) throws(HTTPError) {
            (isToHead, isChunked) = (head.method == "HEAD", head.version == "HTTP/1.1")
            isLast = isExtra || !head.keepsAlive
            if isExtra, !head.isHealthCheck { throw .busy }
            if let response = context.handler.check(head) {
                // A body that is not read would be the next request.
                if head.framing != .none { isLast = true }
                return send(response)
            }
            let limit = context.handler.bodyLimit(of: head)
            switch head.framing {
            case .none: return handle(head, [])
            case .length(let count):
                if count > limit { throw .bodyTooLarge }
                if count <= input.count {
                    let body = Array(input.prefix(count))
                    removeInput(count)
                    return handle(head, body)
                }
                request = PartialRequest(head: head, limit: count)
            case .chunked: request = PartialRequest(head: head, limit: limit, chunks: ChunkDecoder())
            }
            exchange = makeExchange()
            enter(.admission)
            if let exchange { context.handler.admit(head, exchange) }
        }

        /// Begins to read the body if it may be read; returns whether there is more to do.
        private func beginBody() -> Bool {
            if let response = exchange?.takeResponse() {
                // The body would be the next request.
                (isLast, request) = (true, nil)
                send(response)
                return true
            }
            guard let payer = exchange?.takePayer(), let partial = request else { return false }
            let memory = context.memory.hold(partial.heldByteCount, by: payer)
            guard let memory else {
                reject(.busy)
                return true
            }
            held = memory
            // A client that has sent some of the body does not wait.
            if partial.head.expectsContinue, input.isEmpty {
                output.append(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
            }
            enter(.body)
            return true
        }

        private func makeExchange() -> HTTPExchange {
            HTTPExchange { [signals = context.signals, id] in signals.answer(id) }
        }

        /// Reads a part of the body; returns whether there is more to do.
        private func readBody() -> Bool {
            guard var partial = request.take() else { preconditionFailure("a body belongs to a request") }
            do throws(HTTPError) {
                let count = partial.content.count
                // An array of its own would double: a body waits for as long as its client likes.
                let needed = min(partial.limit, count + input.count)
                if needed > partial.content.capacity {
                    partial.content.reserveCapacity(min(partial.limit, needed + needed / 4))
                }
                var isComplete: Bool
                if partial.chunks != nil {
                    isComplete = try partial.chunks?.decode(&input, into: &partial.content) ?? false
                    if input.isEmpty { input = [] }
                } else {
                    let part = input.prefix(partial.limit - count)
                    partial.content += part
                    removeInput(part.count)
                    isComplete = partial.content.count == partial.limit
                }
                guard partial.content.count <= partial.limit else { throw .bodyTooLarge }
                guard held?.take(partial.content.count - count) ?? true else { throw .busy }
                if isComplete {
                    handle(partial.head, partial.content, held)
                    return true
                }
                request = partial
                if hasInputEnded { phase = .over }
                return false
            } catch {
                reject(error)
                return true
            }
        }

        /// Removes read bytes, and gives the memory back if no bytes are left.
        private func removeInput(_ count: Int) {
            if count == input.count { input = [] } else { input.removeFirst(count) }
        }

        /// - Parameter memory: What holds the memory of a body that was read by itself.
        private func handle(_ head: HTTPHead, _ body: [UInt8], _ memory: HeldMemory? = nil) {
            let exchange = exchange ?? makeExchange()
            self.exchange = exchange
            enter(.handling)
            held = nil
            context.handler.handle(HTTPRequest(head: head, body: body, held: memory), exchange)
        }

        /// Answers a request that cannot be read; what follows it is not read either.
        private func reject(_ error: HTTPError) {
            (isLast, input) = (true, [])
            send(context.handler.response(to: error))
        }

        // MARK: Responses

        private func send(_ response: HTTPResponse) {
            if response.closesConnection { isLast = true }
            status = response.status
            enter(.response)
            // HTTP/1.0 has no chunks: the end of the connection is that of the stream.
            if case .stream = response.body, !isChunked { isLast = true }
            output.append(response.headBytes(date: context.date, isLast: isLast, isChunked: isChunked))
            switch response.body {
            case .none: break
            case .bytes(let bytes): if !isToHead, status != 204, status != 304 { output.append(bytes) }
            case .stream(let mailbox):
                mailbox.setWake { [signals = context.signals, id] in signals.wake(id) }
                (phase, self.mailbox) = (.stream, mailbox)
                if input.count > Self.maximumEarlyByteCount { phase = .over }
            case .upgrade(let open): upgrade(open)
            }
        }

        private func upgrade(
            _ open: (@escaping @Sendable () -> Void) -> (mailbox: Mailbox, receiver: any SocketReceiver)
        ) {
            #if os(Linux)
                let (mailbox, receiver) = open { [signals = context.signals, id] in signals.resume(id) }
                // Before the mailbox is read, so that no wake-up is lost.
                mailbox.setWake { [signals = context.signals, id] in signals.wake(id) }
                endExchange()
                guard
                    let socket = SocketPeer(descriptor, input, mailbox, receiver, context.socketLimits)
                else {
                    mailbox.close()
                    receiver.didClose()
                    phase = .over
                    return
                }
                (phase, input) = (.socket(socket), [])
            #else
                phase = .over
            #endif
        }

        /// Reads what waits in a stream into the empty output.
        private func readStream() {
            guard output.isEmpty, let mailbox else { return }
            // A client that sends nothing more is most likely gone.
            guard !hasInputEnded else {
                phase = .over
                return
            }
            switch mailbox.read(limit: Self.maximumChunkByteCount, joinsMessages: true) {
            case .wait: break
            case .bytes(let bytes):
                restartTime()
                output.append(
                    isChunked ? Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [0x0D, 0x0A] : bytes)
            case .end:
                self.mailbox = nil
                enter(.response)
                if isChunked { output.append(Array("0\r\n\r\n".utf8)) }
            }
        }

        /// Ends the request whose response is sent; returns whether there is more to do.
        private func endResponse() -> Bool {
            guard output.isEmpty else { return false }
            endExchange()
            guard isLast else {
                enter(.head)
                return true
            }
            input = []
            enter(hasInputEnded ? .over : .lingering)
            return false
        }

        private func endExchange() {
            exchange?.complete(status)
            (exchange, request, status) = (nil, nil, 0)
        }

        /// Ends what belongs to the connection, which is closed.
        func drop() {
            #if os(Linux)
                socket?.drop()
            #endif
            // Its writer waits for room that never comes.
            mailbox?.close()
            (phase, held) = (.over, nil)
            endExchange()
        }
    }
#endif
