#if Server
    // Unsafe, because libmicrohttpd is a C library: its callbacks get the addresses of a daemon and
    // of a connection. The daemon object lives until the library's thread has ended, and a
    // connection is used only by that thread or while it is suspended.
    internal import CMicroHTTPD
    internal import ChatAccounts
    internal import Locking

    #if canImport(Darwin)
        internal import Darwin
    #elseif canImport(Musl)
        internal import Musl
    #else
        internal import Glibc
    #endif

    /// What a daemon calls; the calls of one daemon come from one thread.
    protocol HTTPHandler: Sendable {
        /// Returns a response before the body is read, or nil to read it.
        func check(_ head: HTTPHead) -> HTTPResponse?
        /// The largest body that is read for a request.
        func bodyLimit(of head: HTTPHead) -> Int
        /// The response to a body over its limit.
        var tooLarge: HTTPResponse { get }
        /// The response if the bodies of all requests together are too large.
        var busy: HTTPResponse { get }
        /// Responds to a complete request, at any time and on any thread.
        func handle(_ request: HTTPRequest, _ exchange: HTTPExchange)
    }

    /// A listener for HTTP/1.1 on libmicrohttpd, with one thread.
    ///
    /// A request is read whole, its connection is suspended, and it continues with the response.
    final class HTTPDaemon: Sendable {
        /// The number of connections of one address that is not exempt.
        private static let maximumConnectionCountPerAddress = 256
        /// The bytes of the bodies of all requests together.
        private static let maximumBodyByteCount = 64 << 20
        /// The bytes of the request line and the headers of a request, and of the buffers.
        private static let connectionMemory = 16 << 10
        /// The seconds without a byte after which a connection ends.
        private static let idleSeconds: UInt32 = 60

        let connections: ConnectionTable
        let handler: any HTTPHandler
        /// The bytes of the bodies that are in memory.
        private let bodyBytes = Lock(0)
        private let daemon = Lock<DaemonPointer?>(nil)
        private let open = Lock(OpenExchanges())

        /// The exchanges that are not complete, so that none is suspended when the library stops.
        private struct OpenExchanges {
            var exchanges: [ObjectIdentifier: HTTPExchange] = [:]
            var isStopping = false
        }

        /// The address of the library's daemon.
        ///
        /// Sendable, because the library synchronises the functions that are called with it.
        @safe private struct DaemonPointer: @unchecked Sendable { let pointer: OpaquePointer }

        /// Starts a daemon on a listening socket, which then belongs to it; nil if the library
        /// cannot start its thread.
        ///
        /// - Parameters:
        ///   - maximumConnectionCount: The number of connections.
        ///   - isExempt: Whether an address has no limit of connections.
        init?(
            socket: Int32, maximumConnectionCount: Int, isExempt: @escaping @Sendable (ClientAddress) -> Bool, handler: any HTTPHandler
        ) {
            self.handler = handler
            connections = ConnectionTable(maximumPerAddress: Self.maximumConnectionCountPerAddress, isExempt: isExempt)
            var callbacks = unsafe CMHD_Callbacks(
                accept: Self.accept, handle: Self.handle, completed: Self.completed, connection: Self.connection, target: Self.target,
                unescape: Self.unescape)
            let context = unsafe Unmanaged.passUnretained(self).toOpaque()
            let started = unsafe CMHD_start(
                socket, &callbacks, context, UInt32(clamping: maximumConnectionCount), Self.connectionMemory, Self.idleSeconds)
            guard let started = unsafe started else { return nil }
            daemon.withLock { $0 = unsafe DaemonPointer(pointer: started) }
        }

        /// The number of requests whose response is not completely sent, with the open streams.
        var exchangeCount: Int { open.withLock { $0.exchanges.count } }

        /// Ends each new connection at once; the present ones continue.
        ///
        /// Not `MHD_quiesce_daemon`: the library's thread can remove the listening socket from its
        /// poll at the same moment, which ends the process.
        func quiesce() { connections.close() }

        /// Ends every connection and the thread.
        ///
        /// Requests without a response get none; what a stream has not sent is dropped.
        func stop() {
            guard let stopped = daemon.withLock({ $0.take() }) else { return }
            // The library ends the process if a connection is suspended when it stops. From here on
            // none is suspended, and the present ones are resumed.
            let exchanges = open.withLock { open in
                open.isStopping = true
                return Array(open.exchanges.values)
            }
            for exchange in exchanges { exchange.abandon() }
            unsafe MHD_stop_daemon(stopped.pointer)
        }

        /// Suspends a connection for its exchange; false if the daemon stops.
        private func suspend(_ exchange: HTTPExchange, _ connection: OpaquePointer) -> Bool {
            open.withLock { open in
                guard !open.isStopping else { return false }
                unsafe MHD_suspend_connection(connection)
                exchange.didSuspend()
                return true
            }
        }

        private func add(_ exchange: HTTPExchange) { open.withLock { $0.exchanges[ObjectIdentifier(exchange)] = exchange } }

        func remove(_ exchange: HTTPExchange) { open.withLock { $0.exchanges[ObjectIdentifier(exchange)] = nil } }

        /// Ends the connections that are past their time; called once a second.
        func endLateConnections() {
            connections.endLate(Self.shutDown)
        }

        private static func shutDown(_ socket: Int32) {
            #if canImport(Darwin)
                _ = Darwin.shutdown(socket, SHUT_RDWR)
            #elseif canImport(Musl)
                _ = Musl.shutdown(socket, SHUT_RDWR)
            #else
                _ = Glibc.shutdown(socket, Int32(SHUT_RDWR))
            #endif
        }

        // MARK: Callbacks, on the thread of the daemon

        private static func daemon(_ context: UnsafeMutableRawPointer?) -> HTTPDaemon {
            guard let context = unsafe context else { preconditionFailure("the library returns the context") }
            return unsafe Unmanaged<HTTPDaemon>.fromOpaque(context).takeUnretainedValue()
        }

        private static let accept: MHD_AcceptPolicyCallback = { context, address, _ in
            unsafe HTTPDaemon.daemon(context).connections.mayConnect(clientAddress(address)) ? CMHD_yes() : CMHD_no()
        }

        private static let connection: MHD_NotifyConnectionCallback = { context, connection, socketContext, reason in
            let table = unsafe HTTPDaemon.daemon(context).connections
            guard let socketContext = unsafe socketContext else { return }
            if CMHD_isStart(reason) != 0 {
                let id = unsafe table.add(socket: CMHD_socket(connection), peer: clientAddress(CMHD_peer(connection)))
                unsafe socketContext.pointee = UnsafeMutableRawPointer(bitPattern: id)
            } else {
                table.remove(unsafe UInt(bitPattern: socketContext.pointee))
            }
        }

        private static let target:
            @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) ->
                UnsafeMutableRawPointer? = { context, text, connection in
                    guard let text = unsafe text, let connection = unsafe connection else { return nil }
                    let id = unsafe UInt(bitPattern: CMHD_socketContext(connection))
                    unsafe HTTPDaemon.daemon(context).connections.beginRequest(id, target: String(cString: text))
                    return nil
                }

        /// Leaves the target as it is: the routes decode it, strictly.
        private static let unescape: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<CChar>?) -> Int = {
            _, _, text in unsafe text.map { unsafe strlen($0) } ?? 0
        }

        private static let handle: MHD_AccessHandlerCallback = {
            context, connection, _, method, version, bytes, count, requestContext in
            let daemon = unsafe HTTPDaemon.daemon(context)
            guard let connection = unsafe connection, let count = unsafe count, let requestContext = unsafe requestContext else {
                return CMHD_no()
            }
            guard let known = unsafe requestContext.pointee else {
                let exchange = unsafe HTTPExchange(daemon, connection, head: head(daemon, connection, method, version))
                unsafe requestContext.pointee = Unmanaged.passRetained(exchange).toOpaque()
                daemon.add(exchange)
                guard let response = daemon.handler.check(exchange.head) else { return CMHD_yes() }
                return unsafe exchange.queue(response, on: connection)
            }
            let exchange = unsafe Unmanaged<HTTPExchange>.fromOpaque(known).takeUnretainedValue()
            if exchange.isAbandoned { return CMHD_no() }
            if let response = exchange.response { return unsafe exchange.queue(response, on: connection) }
            if unsafe count.pointee > 0 {
                guard let bytes = unsafe bytes else { return CMHD_no() }
                let isAccepted = unsafe exchange.append(UnsafeRawBufferPointer(start: bytes, count: count.pointee))
                unsafe count.pointee = 0
                return isAccepted ? CMHD_yes() : CMHD_no()
            }
            if let response = exchange.rejection { return unsafe exchange.queue(response, on: connection) }
            // Suspended before the request is handled, because the response may come at once.
            guard unsafe daemon.suspend(exchange, connection) else { return CMHD_no() }
            exchange.begin()
            return CMHD_yes()
        }

        private static let completed: MHD_RequestCompletedCallback = { context, connection, requestContext, _ in
            guard let requestContext = unsafe requestContext, let known = unsafe requestContext.pointee else { return }
            unsafe requestContext.pointee = nil
            let exchange = unsafe Unmanaged<HTTPExchange>.fromOpaque(known).takeRetainedValue()
            exchange.complete()
        }

        private static func head(
            _ daemon: HTTPDaemon, _ connection: OpaquePointer, _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?
        ) -> HTTPHead {
            var headers: [(name: String, value: String)] = []
            unsafe withUnsafeMutablePointer(to: &headers) { headers in
                _ = unsafe CMHD_headers(
                    connection,
                    { context, _, name, value in
                        guard let context = unsafe context, let name = unsafe name else { return CMHD_yes() }
                        let headers = unsafe context.assumingMemoryBound(to: [(name: String, value: String)].self)
                        let text = unsafe value.map { unsafe String(cString: $0) } ?? ""
                        unsafe headers.pointee.append((String(cString: name).lowercased(), text))
                        return CMHD_yes()
                    }, headers)
            }
            let id = unsafe UInt(bitPattern: CMHD_socketContext(connection))
            daemon.connections.beginBody(id)
            let (target, peer) = daemon.connections.request(of: id)
            func text(_ text: UnsafePointer<CChar>?) -> String { unsafe text.map { unsafe String(cString: $0) } ?? "" }
            return unsafe HTTPHead(method: text(method), version: text(version), target: target, headers: headers, peer: peer)
        }

        /// The address of a connection, without its port.
        private static func clientAddress(_ address: UnsafePointer<sockaddr>?) -> ClientAddress? {
            guard let address = unsafe address else { return nil }
            switch Int32(unsafe address.pointee.sa_family) {
            case AF_INET:
                return unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                    var bytes = unsafe address.pointee.sin_addr
                    return unsafe withUnsafeBytes(of: &bytes) { unsafe ClientAddress(bytes: Array($0)) }
                }
            case AF_INET6:
                return unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                    var bytes = unsafe address.pointee.sin6_addr
                    return unsafe withUnsafeBytes(of: &bytes) { unsafe ClientAddress(bytes: Array($0)) }
                }
            default: return nil
            }
        }

        /// Takes room for bytes of a body; false if there is none.
        func takeBodyBytes(_ count: Int) -> Bool {
            bodyBytes.withLock { total in
                guard total + count <= Self.maximumBodyByteCount else { return false }
                total += count
                return true
            }
        }

        func returnBodyBytes(_ count: Int) { bodyBytes.withLock { $0 -= count } }
    }
#endif
