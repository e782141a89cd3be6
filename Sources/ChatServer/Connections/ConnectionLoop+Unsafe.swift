#if Server
    // Unsafe, because system calls take the addresses of buffers and structures; each lives longer
    // than the call.
    #if os(Linux)
        internal import CWslay
    #endif
    internal import ChatAccounts
    internal import Foundation
    internal import Locking

    #if canImport(Darwin)
        internal import Darwin
    #elseif canImport(Musl)
        internal import Musl
    #else
        internal import Glibc
    #endif

    /// Serves all connections of a listening socket on one thread: HTTP/1.1, streams and
    /// WebSockets.
    final class ConnectionLoop: Sendable {
        /// The number of connections of one address that is not exempt.
        private static let maximumConnectionCountPerAddress = 256
        /// The bytes that the system holds for a client that does not read; Linux takes twice the
        /// number.
        ///
        /// A buffer that the system enlarges to megabytes takes bytes in steps that are large too:
        /// a slow client would read for longer than a minute between two of them, and be taken for
        /// one that does not read.
        static let sendBufferByteCount: Int32 = 128 << 10
        /// The bytes that are received before it is the turn of other connections.
        static let receiveByteCount = 16 << 10
        /// The streams and sockets that are served before new requests and responses have their
        /// turn.
        static let readyCount = 64
        /// The time for input that is left before it is the turn of what has just come.
        static let queueTime = Duration.milliseconds(1)
        /// The parts of responses that are sent before it is the turn of other connections.
        static let turnCount = 2
        static let listenerID: UInt64 = 1
        /// The connections beyond the maximum, of which the health is answered, and nothing else.
        static let extraCount = 8
        /// The time until more connections are accepted if none could end for a new one: some hundred
        /// that wait for a place are accepted, or refused, within a tenth of a second.
        static let fullPause = Duration.milliseconds(10)
        /// How long the numbers say that there were as many connections as there may be.
        static let fullTime = Duration.seconds(3)

        /// The numbers that other threads ask for.
        struct Counts {
            var connections = 0
            /// Whether there are as many as there may be, or were a moment ago.
            var areFull = false
            /// The requests whose response is not completely sent, with the open streams.
            var exchanges = 0
            var sockets = 0
        }

        let poller: Poller
        let signals: LoopSignals
        let published = Lock(Counts())
        private let hasStopped = DispatchSemaphore(value: 0)

        /// Starts the thread of a loop for a listening socket, which then belongs to it; nil if the
        /// system has no descriptors.
        ///
        /// - Parameters:
        ///   - maximumConnectionCount: The number of connections. For one more the one ends that has
        ///     waited longest without a request; if there is none, the new one is `busy`.
        ///   - isExempt: Whether an address has no limit of connections.
        ///   - memory: The account of what clients hold.
        init?(
            socket: Int32, maximumConnectionCount: Int, isExempt: @escaping @Sendable (ClientAddress) -> Bool,
            handler: any HTTPHandler,
            socketLimits: SocketLimits = SocketLimits(), memory: ClientMemory = ClientMemory()
        ) {
            guard let poller = Poller(), poller.add(socket, id: Self.listenerID) else {
                ListeningSocket.close(socket)
                return nil
            }
            #if os(Linux)
                CMemory_keepLittle()
            #endif
            (self.poller, signals) = (poller, LoopSignals(poller))
            let addresses = AddressCounts(maximum: Self.maximumConnectionCountPerAddress, isExempt: isExempt)
            let thread = Thread { [self] in
                let context = HTTPContext(handler, signals, socketLimits, memory) { peer in
                    guard let peer, !isExempt(peer) else { return .shared }
                    return .address(peer)
                }
                var round = Round(
                    loop: self, context: context, listener: socket, maximumCount: maximumConnectionCount,
                    addresses: addresses)
                round.run()
                hasStopped.signal()
            }
            thread.name = "chat connections"
            thread.start()
        }

        var counts: Counts { published.withLock { $0 } }

        /// Closes the listening socket; the present connections continue.
        func acceptNoMore() { signals.acceptNoMore() }

        /// Ends every connection and the thread.
        ///
        /// Requests without a response get none; what a stream has not sent is dropped.
        func stop() {
            signals.stop()
            hasStopped.wait()
            // For the next call.
            hasStopped.signal()
        }

        // MARK: The thread

        /// The state of the thread.
        struct Round {
            let loop: ConnectionLoop
            let context: HTTPContext
            var listener: Int32
            let maximumCount: Int
            var addresses: AddressCounts
            var connections: [UInt64: HTTPConnection] = [:]
            var lastID = ConnectionLoop.listenerID
            /// Whether the listening socket is polled: not while there are too many connections.
            var isAccepting = true
            var stoppedAccepting = ContinuousClock.now
            /// When there were last as many connections as there may be.
            var lastFull: ContinuousClock.Instant?
            /// Connections that had no request when all were looked through, the first ones first.
            var idle: ArraySlice<UInt64> = []
            /// The connections that may be looked through: some for each one that is accepted.
            var lookCount = 0
            /// The streams and sockets that have something to send.
            var ready: ArraySlice<UInt64> = []
            /// The connections with input that is left.
            var inputQueue = FirstInFirstOut<UInt64>()
            var trims = TrimSchedule()
            var exchangeCount = 0
            var socketCount = 0
            var buffer = [UInt8](repeating: 0, count: ConnectionLoop.receiveByteCount)
            var nextTick = ContinuousClock.now
            var second: time_t = 0
        }
    }

    extension ConnectionLoop.Round {
        mutating func run() {
            while true {
                let isIdle = ready.isEmpty && inputQueue.isEmpty && loop.signals.beginWaiting()
                let events = loop.poller.wait(milliseconds: !isIdle ? 0 : isAccepting || listener < 0 ? 1_000 : 10)
                context.now = .now
                updateDate()
                var hasNewConnections = false
                for event in events {
                    switch event.id {
                    case Poller.wakeID: break
                    case ConnectionLoop.listenerID: hasNewConnections = true
                    default: if let connection = connections[event.id] { service(connection, event) }
                    }
                }
                // After the requests that have come: a connection that has one does not end.
                if hasNewConnections { acceptConnections() }
                resumeAccepting()
                let pending = loop.signals.take()
                #if os(Linux)
                    for id in pending.resumed {
                        guard let connection = connections[id], let socket = connection.socket else { continue }
                        socket.mayReceive = true
                        flush(connection)
                    }
                #endif
                for id in pending.answered { if let connection = connections[id] { flush(connection) } }
                serveInputQueue()
                // A post does not wait until its event has gone to a thousand followers.
                if ready.isEmpty { ready = pending.ready[...] } else { ready += pending.ready }
                for id in ready.prefix(ConnectionLoop.readyCount) {
                    if let connection = connections[id] { flush(connection) }
                }
                ready = ready.dropFirst(ConnectionLoop.readyCount)
                if pending.acceptsNoMore || pending.isStopping { closeListener() }
                if context.now >= nextTick {
                    nextTick = context.now + .seconds(1)
                    context.isFull = connections.count >= maximumCount
                    for connection in connections.values { tick(connection) }
                    giveMemoryBack()
                }
                if pending.isStopping { for connection in connections.values { drop(connection) } }
                let counts = ConnectionLoop.Counts(
                    connections: connections.count,
                    areFull: lastFull.map { context.now - $0 < ConnectionLoop.fullTime } ?? false,
                    exchanges: exchangeCount, sockets: socketCount)
                loop.published.withLock { $0 = counts }
                if pending.isStopping { return }
            }
        }

        /// Gives memory back to the system after clients have.
        private mutating func giveMemoryBack() {
            let held = context.memory.byteCount + connections.count * ServerMemory.connection
            guard trims.isDue(held, at: context.now) else { return }
            #if os(Linux)
                DispatchQueue.global(qos: .utility).async { CMemory_giveBack() }
            #endif
        }

        private mutating func updateDate() {
            var now = time(nil)
            guard now != second else { return }
            second = now
            var parts = unsafe tm()
            var text = [CChar](repeating: 0, count: 32)
            guard unsafe gmtime_r(&now, &parts) != nil else { return }
            let count = unsafe strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
            context.date = String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        // MARK: Connections

        mutating func drop(_ connection: HTTPConnection) {
            guard connections.removeValue(forKey: connection.id) != nil else { return }
            count(connection, -1)
            loop.poller.remove(connection.descriptor)
            connection.drop()
            ListeningSocket.close(connection.descriptor)
            addresses.remove(connection.peer)
            setAccepting(connections.count < maximumCount + ConnectionLoop.extraCount)
        }

        private mutating func count(_ connection: HTTPConnection, _ change: Int) {
            if connection.hasExchange { exchangeCount += change }
            if connection.isSocket { socketCount += change }
        }

        // MARK: Turns

        private mutating func service(_ connection: HTTPConnection, _ event: Poller.Event) {
            // Of a connection that is not read, the poll would report the failure again and again.
            if event.hasFailed, !connection.wantsInput, !connection.isSocket { return drop(connection) }
            #if os(Linux)
                if let socket = connection.socket {
                    if event.hasFailed, !connection.interest.reads { return drop(connection) }
                    socket.isReadable = socket.isReadable || event.isReadable
                    if !connection.isQueued { flush(connection) }
                    return
                }
            #endif
            if event.isReadable {
                if connection.wantsInput {
                    guard receive(connection) else { return drop(connection) }
                } else {
                    // Asked for until now, because most clients send nothing meanwhile.
                    set(Interest(reads: false, writes: connection.interest.writes), connection)
                }
            }
            if !connection.isQueued { flush(connection) }
        }

        /// Does and sends what is possible without waiting, but for the messages of sockets.
        private mutating func flush(_ connection: HTTPConnection) {
            // Another connection has made room by its end.
            guard connections[connection.id] != nil else { return }
            count(connection, -1)
            var turn = 0
            while turn < ConnectionLoop.turnCount {
                connection.advance()
                if connection.output.isEmpty { break }
                turn += 1
                guard sendOutput(connection) else {
                    count(connection, 1)
                    return drop(connection)
                }
                if !connection.output.isEmpty { break }
            }
            count(connection, 1)
            if connection.isOver { return drop(connection) }
            if case .lingering = connection.phase { shutDown(connection) }
            // After its turns a connection goes on as soon as others had theirs. No poll reports the
            // bytes that came with a handshake, or that were left at a turn.
            let hasInput = connection.hasInputLeft
            set(
                connection.wantedInterest(isTurnOver: turn == ConnectionLoop.turnCount && !hasInput), connection)
            if hasInput, !connection.isQueued {
                connection.isQueued = true
                inputQueue.append(connection.id)
            }
            if !connection.countMemory(), let held = connection.endableMemory { makeRoom(for: held.client) }
        }

        private mutating func set(_ interest: Interest, _ connection: HTTPConnection) {
            guard interest != connection.interest else { return }
            connection.interest = interest
            loop.poller.set(interest, connection.descriptor, id: connection.id)
        }

        /// Receives once; false if the connection has failed.
        private mutating func receive(_ connection: HTTPConnection) -> Bool {
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe recv(connection.descriptor, $0.baseAddress, connection.receiveByteCount, 0)
            }
            if count > 0 {
                // A stream whose client sends too much ends.
                self.count(connection, -1)
                connection.receive(buffer[..<count])
                self.count(connection, 1)
            }
            if count == 0 { connection.receiveEnd() }
            return count >= 0 || errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR
        }

        /// Ends connections of a client, or of all if all have too much, until the others are within
        /// the limit, and some bytes more.
        ///
        /// First the one whose head, body or message has begun first: a client that keeps a part of
        /// one for long does not keep others from sending.
        private mutating func makeRoom(for client: Client) {
            let isOfAll = context.memory.isExceeded
            let holders = connections.values.filter { connection in
                connection.endableMemory.map { isOfAll || $0.client == client } ?? false
            }
            for connection in holders.sorted(by: { $0.heldSince < $1.heldSince }) {
                if context.memory.hasRoom(for: client) { return }
                #if os(Linux)
                    if let socket = connection.socket {
                        socket.endForMemory()
                        flush(connection)
                        continue
                    }
                #endif
                drop(connection)
            }
        }

        /// Sends until the system takes no more; false if the connection has failed.
        private func sendOutput(_ connection: HTTPConnection) -> Bool {
            while !connection.output.isEmpty {
                let flags = connection.output.hasMore ? Self.moreFlags : Self.flags
                let (bytes, start) = (connection.output.first, connection.output.sentCount)
                let count = unsafe bytes.withUnsafeBytes { bytes in
                    let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[start...])
                    return unsafe send(connection.descriptor, rest.baseAddress, rest.count, flags)
                }
                if count >= 0 {
                    connection.didSend(count)
                } else if errno != EINTR {
                    return errno == EAGAIN || errno == EWOULDBLOCK
                }
            }
            return true
        }

        #if canImport(Darwin)
            private static let (flags, moreFlags): (Int32, Int32) = (0, 0)
        #else
            private static let (flags, moreFlags) = (Int32(MSG_NOSIGNAL), Int32(MSG_NOSIGNAL) | Int32(MSG_MORE))
        #endif

        /// Tells the client that nothing follows; what it sends is still read, because the system
        /// drops the last answer if bytes wait that were not read.
        private func shutDown(_ connection: HTTPConnection) { _ = shutdown(connection.descriptor, Int32(SHUT_WR)) }

        private mutating func tick(_ connection: HTTPConnection) {
            #if os(Linux)
                if let socket = connection.socket {
                    switch socket.tick(context.now, context.socketLimits) {
                    case .end: drop(connection)
                    case .send: flush(connection)
                    case .wait: break
                    }
                    return
                }
            #endif
            if connection.isLate { drop(connection) }
        }

        // MARK: Input that is left

        /// Goes on with one connection after another that has input left, a part of what has come:
        /// a client that sends many small frames, or many requests at once, does not keep the
        /// requests of others waiting.
        private mutating func serveInputQueue() {
            let end = ContinuousClock.now + ConnectionLoop.queueTime
            while let id = inputQueue.popFirst() {
                guard let connection = connections[id] else { continue }
                connection.isQueued = false
                #if os(Linux)
                    if let socket = connection.socket, socket.hasInput {
                        let isOpen = socket.receive()
                        if !socket.messages.isWithinLimits { makeRoom(for: socket.messages.client) }
                        if !isOpen { drop(connection) }
                    }
                #endif
                flush(connection)
                if ContinuousClock.now >= end { return }
            }
        }
    }
#endif
