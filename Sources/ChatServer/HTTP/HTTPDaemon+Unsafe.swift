#if Server
    // Unsafe, because libmicrohttpd is a C library: its callbacks get the addresses of a daemon and of
    // a connection. The daemon object lives until the library's thread has ended, and a connection is
    // used only by that thread or while it is suspended.
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
        /// The limits of a daemon.
        struct Limits: Sendable {
            /// The number of connections.
            var connections = 1_024
            /// The number of connections of one address that is not exempt.
            var connectionsPerAddress = 256
            /// The bytes of the bodies of all requests together.
            var bodyBytes = 64 << 20
            /// The bytes of the request line and the headers of a request, and of the buffers.
            var connectionMemory = 16 << 10
            /// The seconds without a byte after which a connection ends.
            var idleSeconds: UInt32 = 60
        }

        let limits: Limits
        let connections: ConnectionTable
        private let handler: any HTTPHandler
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

        /// Starts a daemon on a listening socket, which then belongs to it; nil if the library cannot
        /// start its thread.
        ///
        /// - Parameter isExempt: Whether an address has no limit of connections.
        init?(
            socket: Int32, limits: Limits, isExempt: @escaping @Sendable (ClientAddress) -> Bool, handler: any HTTPHandler
        ) {
            (self.limits, self.handler) = (limits, handler)
            connections = ConnectionTable(maximumPerAddress: limits.connectionsPerAddress, isExempt: isExempt)
            var callbacks = unsafe CMHD_Callbacks(
                accept: Self.accept, handle: Self.handle, completed: Self.completed, connection: Self.connection, target: Self.target,
                unescape: Self.unescape)
            let context = unsafe Unmanaged.passUnretained(self).toOpaque()
            let started = unsafe CMHD_start(
                socket, &callbacks, context, UInt32(clamping: limits.connections), limits.connectionMemory, limits.idleSeconds)
            guard let started = unsafe started else { return nil }
            daemon.withLock { $0 = unsafe DaemonPointer(pointer: started) }
        }

        /// The number of requests whose response is not completely sent, with the open streams.
        var exchangeCount: Int { open.withLock { $0.exchanges.count } }

        /// Ends each new connection at once; the present ones continue.
        ///
        /// Not `MHD_quiesce_daemon`: the library's thread can remove the listening socket from its poll
        /// at the same moment, which ends the process.
        func quiesce() { connections.close() }

        /// Ends every connection and the thread.
        ///
        /// Requests without a response get none; what a stream has not sent is dropped.
        func stop() {
            guard let stopped = daemon.withLock({ $0.take() }) else { return }
            // The library ends the process if a connection is suspended when it stops. From here on none
            // is suspended, and the present ones are resumed.
            let exchanges = open.withLock { open in
                open.isStopping = true
                return Array(open.exchanges.values)
            }
            for exchange in exchanges { exchange.abandon() }
            unsafe MHD_stop_daemon(stopped.pointer)
        }

        /// Suspends a connection for its exchange; false if the daemon stops.
        fileprivate func suspend(_ exchange: HTTPExchange, _ connection: OpaquePointer) -> Bool {
            open.withLock { open in
                guard !open.isStopping else { return false }
                unsafe MHD_suspend_connection(connection)
                exchange.didSuspend()
                return true
            }
        }

        fileprivate func add(_ exchange: HTTPExchange) { open.withLock { $0.exchanges[ObjectIdentifier(exchange)] = exchange } }

        fileprivate func remove(_ exchange: HTTPExchange) { open.withLock { $0.exchanges[ObjectIdentifier(exchange)] = nil } }

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
            if let response = exchange.takeResponse() { return unsafe exchange.queue(response, on: connection) }
            if unsafe count.pointee > 0 {
                guard let bytes = unsafe bytes else { return CMHD_no() }
                let isAccepted = unsafe exchange.append(UnsafeRawBufferPointer(start: bytes, count: count.pointee))
                unsafe count.pointee = 0
                return isAccepted ? CMHD_yes() : CMHD_no()
            }
            if let response = exchange.refusal { return unsafe exchange.queue(response, on: connection) }
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
            let (target, peer) = daemon.connections.beginBody(id)
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
        fileprivate func takeBodyBytes(_ count: Int) -> Bool {
            bodyBytes.withLock { total in
                guard total + count <= limits.bodyBytes else { return false }
                total += count
                return true
            }
        }

        fileprivate func returnBodyBytes(_ count: Int) { bodyBytes.withLock { $0 -= count } }
        fileprivate var theHandler: any HTTPHandler { handler }
    }

    /// One request and its response.
    final class HTTPExchange: Sendable {
        let head: HTTPHead
        private let daemon: HTTPDaemon
        private let connection: ConnectionPointer
        private let state = Lock(State())

        /// The address of the library's connection.
        ///
        /// Sendable, because other threads use it only to resume the connection, while it is suspended.
        @safe private struct ConnectionPointer: @unchecked Sendable { let pointer: OpaquePointer }

        private struct State {
            var body: [UInt8] = []
            var refusal: HTTPResponse?
            /// The bytes after the refusal.
            var discardedCount = 0
            var isSuspended = false
            var isComplete = false
            /// Whether the connection was resumed without a response.
            var isAbandoned = false
            var response: HTTPResponse?
            var stream: Mailbox?
            var upgrade: (@Sendable (UpgradedSocket) -> Void)?
            /// Called once when the exchange ends, for the statistics.
            var whenComplete: (@Sendable (_ status: Int) -> Void)?
            var status = 0
        }

        fileprivate init(_ daemon: HTTPDaemon, _ connection: OpaquePointer, head: HTTPHead) {
            (self.daemon, self.head) = (daemon, head)
            self.connection = unsafe ConnectionPointer(pointer: connection)
        }

        /// Sets a function that is called when the exchange ends, with the status of the response or 0.
        ///
        /// It is called at once if the exchange has ended already.
        func setCompletion(_ body: @escaping @Sendable (_ status: Int) -> Void) {
            let endedStatus = state.withLock { state -> Int? in
                if state.isComplete { return state.status }
                state.whenComplete = body
                return nil
            }
            if let endedStatus { body(endedStatus) }
        }

        /// Sends the response; only the first call has an effect.
        func respond(_ response: HTTPResponse) {
            state.withLock { state in
                guard state.response == nil, !state.isComplete, !state.isAbandoned else {
                    if case .stream(let mailbox) = response.body { mailbox.close() }
                    return
                }
                state.response = response
                // Under the lock: a suspended connection exists until it is resumed.
                if state.isSuspended {
                    state.isSuspended = false
                    unsafe MHD_resume_connection(connection.pointer)
                }
            }
        }

        /// Ends the exchange without a response, because the daemon stops: resumes its connection, and
        /// ends its stream.
        fileprivate func abandon() {
            let stream = state.withLock { state -> Mailbox? in
                if state.isSuspended {
                    state.isSuspended = false
                    state.isAbandoned = true
                    unsafe MHD_resume_connection(connection.pointer)
                }
                if case .stream(let mailbox) = state.response?.body { return mailbox }
                return nil
            }
            // Not closed: that would not resume the connection.
            stream?.end()
        }

        // MARK: On the thread of the daemon

        /// Notes that the connection is suspended.
        fileprivate func didSuspend() { state.withLock { $0.isSuspended = true } }

        fileprivate var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

        fileprivate var refusal: HTTPResponse? { state.withLock { $0.refusal } }

        fileprivate func takeResponse() -> HTTPResponse? { state.withLock { $0.response } }

        /// Appends bytes of the body; false if the connection is to end, because they do not.
        fileprivate func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
            let limit = daemon.theHandler.bodyLimit(of: head)
            return state.withLock { state in
                if state.refusal != nil {
                    // A client that is a little over the limit gets an answer at its end.
                    state.discardedCount += bytes.count
                    return state.discardedCount <= limit
                }
                if state.body.count + bytes.count > limit {
                    state.refusal = daemon.theHandler.tooLarge
                } else if !daemon.takeBodyBytes(bytes.count) {
                    state.refusal = daemon.theHandler.busy
                } else {
                    unsafe state.body.append(contentsOf: bytes)
                    return true
                }
                daemon.returnBodyBytes(state.body.count)
                state.body = []
                return true
            }
        }

        fileprivate func begin() {
            daemon.connections.beginResponse(unsafe UInt(bitPattern: CMHD_socketContext(connection.pointer)), isStream: true)
            let body = state.withLock { $0.body }
            daemon.theHandler.handle(HTTPRequest(head: head, body: body), self)
        }

        fileprivate func complete() {
            daemon.connections.endRequest(unsafe UInt(bitPattern: CMHD_socketContext(connection.pointer)))
            let (bodyCount, stream, completion, status) = state.withLock { state in
                defer { (state.body, state.whenComplete, state.isComplete) = ([], nil, true) }
                return (state.body.count, state.stream, state.whenComplete, state.status)
            }
            daemon.returnBodyBytes(bodyCount)
            stream?.close()
            completion?(status)
            daemon.remove(self)
        }

        fileprivate func upgrade(_ socket: UpgradedSocket) {
            if let body = state.withLock({ $0.upgrade.take() }) { body(socket) } else { socket.close() }
        }

        fileprivate func queue(_ response: HTTPResponse, on connection: OpaquePointer) -> MHD_Result {
            let made: OpaquePointer?
            var stream: Mailbox?
            switch response.body {
            case .bytes(let bytes):
                unsafe made = unsafe bytes.withUnsafeBytes { unsafe CMHD_response($0.baseAddress, $0.count) }
            case .upgrade(let body):
                state.withLock { $0.upgrade = body }
                unsafe made = unsafe MHD_create_response_for_upgrade(
                    { _, _, requestContext, early, count, socket, handle in
                        guard let known = unsafe requestContext, let handle = unsafe handle else { return }
                        // The exchange lives until the request is completed, which is after the socket is closed.
                        let exchange = unsafe Unmanaged<HTTPExchange>.fromOpaque(known).takeUnretainedValue()
                        let bytes = unsafe early.map { unsafe [UInt8](UnsafeRawBufferPointer(start: $0, count: count)) } ?? []
                        unsafe exchange.upgrade(UpgradedSocket(descriptor: socket, early: bytes, handle: handle))
                    }, nil)
            case .stream(let mailbox):
                stream = mailbox
                let reader = unsafe StreamReader(mailbox, connection)
                let context = unsafe Unmanaged.passRetained(reader).toOpaque()
                unsafe made = unsafe MHD_create_response_from_callback(
                    UInt64.max, 4_096, StreamReader.read, context, { unsafe StreamReader.release($0) })
                if unsafe made == nil { unsafe StreamReader.release(context) }
            }
            guard let made = unsafe made else { return CMHD_no() }
            defer { unsafe MHD_destroy_response(made) }
            for header in response.headers { _ = unsafe MHD_add_response_header(made, header.name, header.value) }
            if response.closesConnection { _ = unsafe MHD_add_response_header(made, "Connection", "close") }
            let result = unsafe MHD_queue_response(connection, UInt32(clamping: response.status), made)
            state.withLock { ($0.stream, $0.status) = (stream, response.status) }
            let id = unsafe UInt(bitPattern: CMHD_socketContext(connection))
            daemon.connections.beginResponse(id, isStream: stream != nil || response.status == 101)
            return result
        }
    }

    /// A socket that libmicrohttpd has handed over after a handshake.
    ///
    /// Sendable, because it moves from the thread of the daemon to that of the loop.
    @safe struct UpgradedSocket: @unchecked Sendable {
        let descriptor: Int32
        /// The bytes that came with the handshake.
        let early: [UInt8]
        /// The library's handle, to close the socket.
        private let handle: OpaquePointer

        init(descriptor: Int32, early: [UInt8], handle: OpaquePointer) {
            (self.descriptor, self.early) = (descriptor, early)
            unsafe self.handle = handle
        }

        func close() { _ = unsafe CMHD_closeUpgraded(handle) }
    }

    /// Reads the bytes of a stream for a connection, which is suspended while there are none.
    @safe private final class StreamReader {
        private let mailbox: Mailbox
        private let connection: OpaquePointer

        /// The address of a suspended connection, to resume it.
        @safe private struct Resumption: @unchecked Sendable { let pointer: OpaquePointer }

        init(_ mailbox: Mailbox, _ connection: OpaquePointer) {
            self.mailbox = mailbox
            unsafe self.connection = connection
            let resumption = unsafe Resumption(pointer: connection)
            // Called under the mailbox's lock while the reader waits, so while the connection is suspended.
            mailbox.setWake { unsafe MHD_resume_connection(resumption.pointer) }
        }

        static func release(_ context: UnsafeMutableRawPointer?) {
            guard let context = unsafe context else { return }
            let reader = unsafe Unmanaged<StreamReader>.fromOpaque(context).takeRetainedValue()
            reader.mailbox.close()
        }

        static let read: MHD_ContentReaderCallback = { context, _, buffer, limit in
            guard let context = unsafe context, let buffer = unsafe buffer else { return -2 }
            let reader = unsafe Unmanaged<StreamReader>.fromOpaque(context).takeUnretainedValue()
            switch reader.mailbox.read(limit: limit, joinsMessages: true, suspend: { unsafe MHD_suspend_connection(reader.connection) }) {
            case .wait: return 0
            case .end: return -1
            case .bytes(let bytes):
                unsafe bytes.withUnsafeBytes { bytes in
                    unsafe UnsafeMutableRawPointer(buffer).copyMemory(from: bytes.baseAddress.unsafelyUnwrapped, byteCount: bytes.count)
                }
                return bytes.count
            }
        }
    }
#endif
