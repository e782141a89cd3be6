#if Server
    internal import ChatAccounts

    /// One connection: reads requests, one after the other, and writes their responses.
    ///
    /// A state machine without system calls. The loop gives it the bytes that come with
    /// ``receive(_:)``, calls ``advance()``, and sends its ``output``.
    final class HTTPConnection {
        /// A client that reads less than this in the time for an unread response loses its
        /// connection.
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
        /// Whether the connection is beyond the maximum: one request for the health is answered, any
        /// other with 503 `busy`, and the connection ends.
        private let isExtra: Bool
        private let peerText: String?
        let context: HTTPContext
        private(set) var phase = Phase.head(nil)
        /// The bytes to send.
        private(set) var output = OutputBuffer()
        /// Whether the connection waits for its turn with the input that it has left.
        var isQueued = false
        /// What the poll reports.
        var interest = Interest(reads: true, writes: false)
        /// Whether the client sends nothing more.
        private(set) var hasInputEnded = false
        private(set) var input: [UInt8] = []
        /// The memory of what was received and is not handed on, and of an answer without a request.
        private(set) var held: HeldMemory?
        /// The time since which the limit of the phase counts.
        private(set) var since: ContinuousClock.Instant
        /// The bytes that were sent since then, or that were dropped while lingering.
        private var progressByteCount = 0

        init(
            _ id: UInt64, _ descriptor: Int32, _ peer: ClientAddress?, _ context: HTTPContext, isExtra: Bool = false
        ) {
            (self.id, self.descriptor, self.peer, self.context, since) = (id, descriptor, peer, context, context.now)
            self.isExtra = isExtra
            peerText = peer?.description
        }

        /// Counts the memory of the connection; returns false if its client holds more than it may.
        func countMemory() -> Bool {
            var byteCount = input.isEmpty ? 0 : input.capacity
            switch phase {
            case .head(let parser): byteCount += parser?.heldByteCount ?? 0
            case .admission(let partial, _), .body(let partial, _): byteCount += partial.heldByteCount
            // The answer of an exchange is counted with it, and that of a stream by its mailbox.
            case .response(let request): if request.exchange == nil { byteCount += output.byteCount }
            default: break
            }
            guard byteCount > 0 || held != nil else { return true }
            let held = held ?? HeldMemory(context.memory, context.client(peer))
            held.set(byteCount)
            self.held = byteCount > 0 ? held : nil
            return held.isWithinLimits
        }

        // MARK: Input

        func receive(_ bytes: ArraySlice<UInt8>) {
            guard case .lingering = phase else {
                input += bytes
                // Nobody sends requests behind an endless response.
                if case .stream = phase, input.count > Self.maximumEarlyByteCount { end() }
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
                case .head(let parser): if !readHead(parser) { return }
                case .admission(let partial, let request): if !beginBody(partial, request) { return }
                case .body(let partial, let request): if !readBody(partial, request) { return }
                case .handling(let request):
                    guard let response = request.exchange?.takeResponse() else { return }
                    send(response, to: request)
                case .response(let request): if !endResponse(to: request) { return }
                case .stream(let mailbox, let request):
                    readStream(mailbox, request)
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
        private func readHead(_ begun: HTTPHeadParser?) -> Bool {
            guard !input.isEmpty else {
                if hasInputEnded { end() }
                return false
            }
            if begun == nil { restartTime() }
            var parser = begun ?? HTTPHeadParser()
            do throws(HTTPError) {
                guard let parsed = try parser.parse(input) else {
                    phase = .head(parser)
                    if hasInputEnded { end() }
                    return false
                }
                removeInput(parsed.byteCount)
                var head = parsed.head
                head.peer = peerText
                begin(head)
            } catch {
                // An error of the head itself is answered in full.
                reject(error, AnsweredRequest(isToHead: false, isChunked: false, isLast: true))
            }
            return true
        }

        private func begin(_ head: HTTPHead) {
            var request = AnsweredRequest(
                isToHead: head.method == "HEAD", isChunked: head.version == "HTTP/1.1",
                isLast: isExtra || !head.keepsAlive)
            if isExtra, !head.isHealthCheck { return reject(.busy, request) }
            if let response = context.handler.check(head) {
                // A body that is not read would be the next request.
                if head.framing != .none { request.isLast = true }
                return send(response, to: request)
            }
            let limit = context.handler.bodyLimit(of: head)
            let partial: PartialRequest
            switch head.framing {
            case .none: return handle(head, [], request)
            case .length(let count):
                if count > limit { return reject(.bodyTooLarge, request) }
                if count <= input.count {
                    let body = Array(input.prefix(count))
                    removeInput(count)
                    return handle(head, body, request)
                }
                partial = PartialRequest(head, limit: count)
            case .chunked: partial = PartialRequest(head, limit: limit, ChunkDecoder())
            }
            let exchange = makeExchange()
            request.exchange = exchange
            enter(.admission(partial, request))
            context.handler.admit(head, exchange)
        }

        /// Begins to read the body if it may be read; returns whether there is more to do.
        private func beginBody(_ partial: PartialRequest, _ request: AnsweredRequest) -> Bool {
            if let response = request.exchange?.takeResponse() {
                var request = request
                // The body would be the next request.
                request.isLast = true
                send(response, to: request)
                return true
            }
            guard let payer = request.exchange?.takePayer() else { return false }
            guard let memory = context.memory.hold(partial.heldByteCount, by: payer) else {
                reject(.busy, request)
                return true
            }
            held = memory
            // A client that has sent some of the body does not wait.
            if partial.head.expectsContinue, input.isEmpty {
                output.append(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
            }
            enter(.body(partial, request))
            return true
        }

        private func makeExchange() -> HTTPExchange {
            HTTPExchange { [signals = context.signals, id] in signals.answer(id) }
        }

        /// Reads a part of the body; returns whether there is more to do.
        private func readBody(_ partial: PartialRequest, _ request: AnsweredRequest) -> Bool {
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
                    handle(partial.head, partial.content, request, held)
                    return true
                }
                if hasInputEnded { end() }
                return false
            } catch {
                reject(error, request)
                return true
            }
        }

        /// Removes read bytes, and gives the memory back if no bytes are left.
        private func removeInput(_ count: Int) {
            if count == input.count { input = [] } else { input.removeFirst(count) }
        }

        /// - Parameter memory: What holds the memory of a body that was read by itself.
        private func handle(
            _ head: HTTPHead, _ body: [UInt8], _ request: AnsweredRequest, _ memory: HeldMemory? = nil
        ) {
            var request = request
            let exchange = request.exchange ?? makeExchange()
            request.exchange = exchange
            enter(.handling(request))
            held = nil
            context.handler.handle(HTTPRequest(head: head, body: body, held: memory), exchange)
        }

        /// Answers a request that cannot be read; what follows it is not read either.
        private func reject(_ error: HTTPError, _ request: AnsweredRequest) {
            var request = request
            (request.isLast, input) = (true, [])
            send(context.handler.response(to: error), to: request)
        }

        // MARK: Responses

        private func send(_ response: HTTPResponse, to request: AnsweredRequest) {
            var request = request
            if response.closesConnection { request.isLast = true }
            request.status = response.status
            // HTTP/1.0 has no chunks: the end of the connection is that of the stream.
            if case .stream = response.body, !request.isChunked { request.isLast = true }
            enter(.response(request))
            output.append(
                response.headBytes(date: context.date, isLast: request.isLast, isChunked: request.isChunked))
            switch response.body {
            case .none: break
            case .bytes(let bytes):
                if !request.isToHead, request.status != 204, request.status != 304 { output.append(bytes) }
            case .stream(let mailbox):
                mailbox.setWake { [signals = context.signals, id] in signals.wake(id) }
                phase = .stream(mailbox, request)
                if input.count > Self.maximumEarlyByteCount { end() }
            case .upgrade(let open): upgrade(open, request)
            }
        }

        private func upgrade(
            _ open: (@escaping @Sendable () -> Void) -> (mailbox: Mailbox, receiver: any SocketReceiver),
            _ request: AnsweredRequest
        ) {
            #if os(Linux)
                let (mailbox, receiver) = open { [signals = context.signals, id] in signals.resume(id) }
                // Before the mailbox is read, so that no wake-up is lost.
                mailbox.setWake { [signals = context.signals, id] in signals.wake(id) }
                request.complete()
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
                end()
            #endif
        }

        /// Reads what waits in a stream into the empty output.
        private func readStream(_ mailbox: Mailbox, _ request: AnsweredRequest) {
            guard output.isEmpty else { return }
            // A client that sends nothing more is most likely gone.
            guard !hasInputEnded else { return end() }
            switch mailbox.read(limit: Self.maximumChunkByteCount, joinsMessages: true) {
            case .wait: break
            case .bytes(let bytes):
                restartTime()
                let size = String(bytes.count, radix: 16)
                output.append(request.isChunked ? Array("\(size)\r\n".utf8) + bytes + [0x0D, 0x0A] : bytes)
            case .end:
                enter(.response(request))
                if request.isChunked { output.append(Array("0\r\n\r\n".utf8)) }
            }
        }

        /// Ends the request whose response is sent; returns whether there is more to do.
        private func endResponse(to request: AnsweredRequest) -> Bool {
            guard output.isEmpty else { return false }
            request.complete()
            guard request.isLast else {
                enter(.head(nil))
                return true
            }
            input = []
            enter(hasInputEnded ? .over : .lingering)
            return false
        }

        /// Ends the request and its stream, whose writer waits for room that never comes.
        private func end() {
            switch phase {
            case .admission(_, let request), .body(_, let request), .handling(let request), .response(let request):
                request.complete()
            case .stream(let mailbox, let request):
                mailbox.close()
                request.complete()
            default: break
            }
            phase = .over
        }

        /// Ends what belongs to the connection, which is closed.
        func drop() {
            #if os(Linux)
                socket?.drop()
            #endif
            end()
            held = nil
        }
    }
#endif
