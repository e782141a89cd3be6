#if Server && os(Linux)
    // Unsafe, because system calls take addresses.
    internal import Locking
    internal import CWslay
    #if canImport(Musl)
        internal import Musl
    #else
        internal import Glibc
    #endif

    /// Sends and receives the frames of all WebSockets on one thread, with epoll and libwslay.
    final class SocketLoop: Sendable {
        /// The bytes that the system holds for a client that does not read; Linux takes twice the
        /// number.
        private static let sendBufferByteCount: Int32 = 128 << 10

        private struct Shared {
            var added: [(UInt64, UpgradedSocket, Mailbox, any SocketReceiver)] = []
            /// The peers that have something to send.
            var sending: [UInt64] = []
            /// The peers that may receive again.
            var receiving: [UInt64] = []
            var lastID: UInt64 = 0
            var isStopping = false
            var hasStopped = false
        }

        /// The bytes of the messages of all sockets.
        let budget: MessageBudget
        private let limits: SocketLimits
        private let shared = Lock(Shared())
        private let epoll: Int32
        private let wakeDescriptor: Int32

        /// Creates the loop and its thread; nil if the system has no descriptors.
        init?(_ limits: SocketLimits) {
            (self.limits, budget) = (limits, MessageBudget(limit: limits.totalMessageByteCount))
            epoll = CPoll_create()
            wakeDescriptor = CPoll_makeWaker()
            guard epoll >= 0, wakeDescriptor >= 0, CPoll_add(epoll, wakeDescriptor, 0, 1, 0) != 0 else { return nil }
            var thread = pthread_t()
            let context = unsafe Unmanaged.passRetained(self).toOpaque()
            let status = unsafe pthread_create(
                &thread, nil,
                { context in
                    guard let context = unsafe context else { return nil }
                    let loop = unsafe Unmanaged<SocketLoop>.fromOpaque(context).takeRetainedValue()
                    loop.run()
                    return nil
                }, context)
            guard status == 0 else {
                unsafe Unmanaged<SocketLoop>.fromOpaque(context).release()
                return nil
            }
            pthread_detach(thread)
        }

        deinit {
            if epoll >= 0 { close(epoll) }
            if wakeDescriptor >= 0 { close(wakeDescriptor) }
        }

        /// Adds a socket; its messages come from the mailbox and go to the receiver.
        ///
        /// - Returns: The id of the peer for ``resumeReceiving(_:)``.
        func add(_ socket: UpgradedSocket, _ mailbox: Mailbox, _ receiver: any SocketReceiver) -> UInt64 {
            let id = shared.withLock { shared in
                shared.lastID += 1
                return shared.lastID
            }
            // Before the thread reads the mailbox, so that no wake-up is lost.
            mailbox.setWake { [weak self] in
                self?.shared.withLock { $0.sending.append(id) }
                self?.wake()
            }
            let isAdded = shared.withLock { shared in
                if !shared.isStopping { shared.added.append((id, socket, mailbox, receiver)) }
                return !shared.isStopping
            }
            if isAdded { wake() } else { Self.closeUnregistered(socket, mailbox, receiver) }
            return id
        }

        /// Lets a peer receive again.
        func resumeReceiving(_ id: UInt64) {
            shared.withLock { $0.receiving.append(id) }
            wake()
        }

        /// Closes a socket that no peer has taken.
        private static func closeUnregistered(_ socket: UpgradedSocket, _ mailbox: Mailbox, _ receiver: any SocketReceiver) {
            socket.close()
            mailbox.close()
            receiver.didClose()
        }

        /// Ends the thread after the last bytes of every mailbox are sent, or a few seconds later.
        func stop() {
            shared.withLock { $0.isStopping = true }
            wake()
            while !shared.withLock({ $0.hasStopped }) { usleep(2_000) }
        }

        private func wake() {
            var one: UInt64 = 1
            // A full counter wakes the thread too.
            _ = unsafe write(wakeDescriptor, &one, 8)
        }

        // MARK: The thread

        private func run() {
            var peers: [UInt64: SocketPeer] = [:]
            var events = [CPoll_Event](repeating: CPoll_Event(), count: 256)
            var nextTick = ContinuousClock.now + .seconds(1)
            var stopDeadline: ContinuousClock.Instant?
            while true {
                let count = unsafe CPoll_wait(epoll, &events, 500)
                for index in 0..<max(0, Int(count)) {
                    let id = events[index].id
                    if id == 0 {
                        var value: UInt64 = 0
                        _ = unsafe read(wakeDescriptor, &value, 8)
                    } else if let peer = peers[id] {
                        peer.isReadable = peer.isReadable || events[index].isReadable != 0
                        // Of a peer that is not read, the poll would report the failure again and
                        // again.
                        if events[index].hasFailed != 0, !peer.interest.reads { drop(peer, &peers) } else { service(peer, &peers) }
                    }
                }
                let (added, sending, receiving, isStopping) = shared.withLock { shared in
                    defer { (shared.added, shared.sending, shared.receiving) = ([], [], []) }
                    return (shared.added, shared.sending, shared.receiving, shared.isStopping)
                }
                for (id, socket, mailbox, receiver) in added {
                    guard let peer = SocketPeer(id, socket, mailbox, receiver, limits, budget), register(peer) else {
                        Self.closeUnregistered(socket, mailbox, receiver)
                        continue
                    }
                    peers[id] = peer
                    service(peer, &peers)
                }
                for id in receiving { peers[id]?.mayReceive = true }
                for id in receiving + sending {
                    if let peer = peers[id] { service(peer, &peers) }
                }
                let now = ContinuousClock.now
                if now >= nextTick {
                    nextTick = now + .seconds(1)
                    for peer in peers.values { tick(peer, now, &peers) }
                }
                guard isStopping else { continue }
                if stopDeadline == nil { stopDeadline = now + limits.closing }
                if peers.isEmpty || now >= stopDeadline ?? now {
                    for peer in peers.values { drop(peer, &peers) }
                    shared.withLock { $0.hasStopped = true }
                    return
                }
            }
        }

        private func register(_ peer: SocketPeer) -> Bool {
            let flags = fcntl(peer.socket.descriptor, F_GETFL)
            _ = fcntl(peer.socket.descriptor, F_SETFL, flags | O_NONBLOCK)
            var isOn: Int32 = 1
            // A message is one frame: waiting for more would delay it.
            _ = unsafe setsockopt(
                peer.socket.descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
            // The system would hold megabytes for a client that does not read.
            var size = Self.sendBufferByteCount
            _ = unsafe setsockopt(peer.socket.descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            return CPoll_add(epoll, peer.socket.descriptor, peer.id, 1, 0) != 0
        }

        /// Receives and sends what is possible without waiting.
        private func service(_ peer: SocketPeer, _ peers: inout [UInt64: SocketPeer]) {
            repeat {
                if peer.mayReceive, peer.isReadable || !peer.early.isEmpty, !peer.receive() { return drop(peer, &peers) }
                if budget.isExceeded { makeRoom(&peers) }
                guard peers[peer.id] != nil else { return }
                if !peer.send() { return drop(peer, &peers) }
                // No poll reports the bytes that came with the handshake.
            } while !peer.early.isEmpty && peer.wantedInterest.reads
            didSend(peer, &peers)
        }

        /// Drops a peer whose connection has ended, or lets the poll report what it waits for.
        private func didSend(_ peer: SocketPeer, _ peers: inout [UInt64: SocketPeer]) {
            if peer.isOver { return drop(peer, &peers) }
            let interest = peer.wantedInterest
            guard interest != peer.interest else { return }
            peer.interest = interest
            let isChanged = CPoll_modify(epoll, peer.socket.descriptor, peer.id, interest.reads ? 1 : 0, interest.writes ? 1 : 0)
            if isChanged == 0 { drop(peer, &peers) }
        }

        /// Ends sockets until the messages of the others are within the limit, and some bytes more.
        ///
        /// First the one whose last message has begun first: a client that keeps a part of a
        /// message for long does not keep others from sending.
        private func makeRoom(_ peers: inout [UInt64: SocketPeer]) {
            let holders = peers.values.filter { $0.heldByteCount > 0 }.sorted { $0.messageBegan < $1.messageBegan }
            for peer in holders {
                if budget.hasRoom { return }
                peer.endForBudget()
                if peer.send() { didSend(peer, &peers) } else { drop(peer, &peers) }
            }
        }

        private func tick(_ peer: SocketPeer, _ now: ContinuousClock.Instant, _ peers: inout [UInt64: SocketPeer]) {
            // A peer that may not receive is not silent by itself.
            if !peer.mayReceive { peer.lastReceived = now }
            if now - peer.lastReceived > limits.silence { return drop(peer, &peers) }
            if let ending = peer.closedAt ?? peer.endingSince, now - ending > limits.closing { return drop(peer, &peers) }
            if now - peer.lastPing > limits.pingInterval, peer.closedAt == nil {
                peer.lastPing = now
                peer.ping()
                service(peer, &peers)
            }
        }

        private func drop(_ peer: SocketPeer, _ peers: inout [UInt64: SocketPeer]) {
            guard peers.removeValue(forKey: peer.id) != nil else { return }
            CPoll_remove(epoll, peer.socket.descriptor)
            peer.mailbox.close()
            peer.receiver.didClose()
            peer.free()
        }
    }
#endif
