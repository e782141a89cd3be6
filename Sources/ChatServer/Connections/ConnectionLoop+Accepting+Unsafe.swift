#if Server
    // Unsafe, because system calls take the addresses of structures; each lives longer than the
    // call.
    internal import ChatAccounts

    #if canImport(Darwin)
        internal import Darwin
    #elseif canImport(Musl)
        internal import Musl
    #else
        internal import Glibc
    #endif

    // The listening socket, and how many connections there may be.
    extension ConnectionLoop.Round {
        mutating func acceptConnections() {
            while isAccepting {
                if connections.count >= maximumCount + ConnectionLoop.extraCount, !endIdleConnection() {
                    return setAccepting(false)
                }
                var storage = sockaddr_storage()
                var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
                let socket = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
                    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        unsafe accept(listener, $0, &length)
                    }
                }
                guard socket >= 0 else {
                    if errno == EINTR || errno == ECONNABORTED { continue }
                    if errno == EAGAIN || errno == EWOULDBLOCK { return }
                    // Without descriptors, the poll would report the waiting connection again and
                    // again.
                    if endIdleConnection() { continue }
                    return setAccepting(false)
                }
                let peer = Self.address(storage)
                guard addresses.add(peer) else {
                    ListeningSocket.close(socket)
                    continue
                }
                prepare(socket)
                lastID += 1
                guard loop.poller.add(socket, id: lastID) else {
                    addresses.remove(peer)
                    ListeningSocket.close(socket)
                    continue
                }
                while connections.count >= maximumCount, endIdleConnection() {}
                let isExtra = connections.count >= maximumCount
                connections[lastID] = HTTPConnection(lastID, socket, peer, context, isExtra: isExtra)
                lookCount += 4
            }
        }

        /// Ends the connection that has waited longest without a request; returns whether there was
        /// one.
        ///
        /// Many that come at once cost no more than four looks at a connection each.
        private mutating func endIdleConnection() -> Bool {
            lastFull = context.now
            while true {
                while let id = idle.popFirst() {
                    guard let connection = connections[id], connection.mayEndForAnother, !hasRequest(connection)
                    else { continue }
                    drop(connection)
                    return true
                }
                guard lookCount >= connections.count else { return false }
                lookCount = 0
                idle =
                    connections.values.filter(\.mayEndForAnother)
                    .sorted { $0.heldSince < $1.heldSince }.map(\.id)[...]
                if idle.isEmpty { return false }
            }
        }

        /// Whether bytes of a request have come that no poll has reported yet: it reports some
        /// connections at once.
        private func hasRequest(_ connection: HTTPConnection) -> Bool {
            guard case .head = connection.phase else { return false }
            var byte: UInt8 = 0
            return unsafe recv(connection.descriptor, &byte, 1, Int32(MSG_PEEK)) > 0
        }

        /// Sets the options of an accepted socket.
        private func prepare(_ socket: Int32) {
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            _ = fcntl(socket, F_SETFL, O_NONBLOCK)
            // A response or a message is written whole: waiting for more would delay it.
            set(Int32(IPPROTO_TCP), TCP_NODELAY, 1, socket)
            set(SOL_SOCKET, SO_SNDBUF, ConnectionLoop.sendBufferByteCount, socket)
            #if canImport(Darwin)
                set(SOL_SOCKET, SO_NOSIGPIPE, 1, socket)
            #endif
        }

        private func set(_ level: Int32, _ option: Int32, _ value: Int32, _ socket: Int32) {
            var value = value
            _ = unsafe setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
        }

        /// The address of a connection, without its port.
        private static func address(_ storage: sockaddr_storage) -> ClientAddress? {
            unsafe withUnsafeBytes(of: storage) { bytes in
                // The addresses of IPv4 and IPv6 follow the family and the port, and the flow.
                switch Int32(storage.ss_family) {
                case AF_INET: unsafe ClientAddress(bytes: Array(bytes[4..<8]))
                case AF_INET6: unsafe ClientAddress(bytes: Array(bytes[8..<24]))
                default: nil
                }
            }
        }

        /// Accepts again a moment after it had to stop: descriptors may be free again, and
        /// connections without a request.
        mutating func resumeAccepting() {
            guard !isAccepting, context.now - stoppedAccepting >= ConnectionLoop.fullPause else { return }
            lookCount = connections.count
            setAccepting(true)
        }

        mutating func setAccepting(_ accepts: Bool) {
            guard accepts != isAccepting, listener >= 0 else { return }
            isAccepting = accepts
            if !accepts { stoppedAccepting = context.now }
            loop.poller.set(Interest(reads: accepts, writes: false), listener, id: ConnectionLoop.listenerID)
        }

        mutating func closeListener() {
            guard listener >= 0 else { return }
            loop.poller.remove(listener)
            ListeningSocket.close(listener)
            (listener, isAccepting) = (-1, false)
        }
    }
#endif
