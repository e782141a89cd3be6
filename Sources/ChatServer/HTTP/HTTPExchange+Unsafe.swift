#if Server
    // Unsafe, because libmicrohttpd is a C library: an exchange has the address of its connection,
    // which is used only by the thread of the library or while the connection is suspended.
    internal import CMicroHTTPD
    internal import Locking

    /// One request and its response.
    final class HTTPExchange: Sendable {
        let head: HTTPHead
        private let daemon: HTTPDaemon
        private let connection: ConnectionPointer
        private let state = Lock(State())

        /// The address of the library's connection.
        ///
        /// Sendable, because other threads use it only to resume the connection, while it is
        /// suspended.
        @safe private struct ConnectionPointer: @unchecked Sendable { let pointer: OpaquePointer }

        private struct State {
            var body: [UInt8] = []
            /// The response to a body that is too large.
            var rejection: HTTPResponse?
            /// The bytes after the rejection.
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

        init(_ daemon: HTTPDaemon, _ connection: OpaquePointer, head: HTTPHead) {
            (self.daemon, self.head) = (daemon, head)
            self.connection = unsafe ConnectionPointer(pointer: connection)
        }

        /// Sets a function that is called when the exchange ends, with the status of the response
        /// or 0.
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

        /// Ends the exchange without a response, because the daemon stops: resumes its connection,
        /// and ends its stream.
        func abandon() {
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
        func didSuspend() { state.withLock { $0.isSuspended = true } }

        var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

        var rejection: HTTPResponse? { state.withLock { $0.rejection } }

        var response: HTTPResponse? { state.withLock { $0.response } }

        /// Appends bytes of the body; false if the connection is to end, because they do not.
        func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
            let limit = daemon.handler.bodyLimit(of: head)
            return state.withLock { state in
                if state.rejection != nil {
                    // A client that is a little over the limit gets an answer at its end.
                    state.discardedCount += bytes.count
                    return state.discardedCount <= limit
                }
                if state.body.count + bytes.count > limit {
                    state.rejection = daemon.handler.tooLarge
                } else if !daemon.takeBodyBytes(bytes.count) {
                    state.rejection = daemon.handler.busy
                } else {
                    unsafe state.body.append(contentsOf: bytes)
                    return true
                }
                daemon.returnBodyBytes(state.body.count)
                state.body = []
                return true
            }
        }

        /// Passes the complete request to the handler.
        func begin() {
            daemon.connections.beginHandling(unsafe UInt(bitPattern: CMHD_socketContext(connection.pointer)))
            let body = state.withLock { $0.body }
            daemon.handler.handle(HTTPRequest(head: head, body: body), self)
        }

        func complete() {
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

        private func upgrade(_ socket: UpgradedSocket) {
            if let body = state.withLock({ $0.upgrade.take() }) { body(socket) } else { socket.close() }
        }

        func queue(_ response: HTTPResponse, on connection: OpaquePointer) -> MHD_Result {
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
                        // The exchange lives until the request is completed, which is after the
                        // socket is closed.
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
        ///
        /// Sendable, because a suspended connection is used by no other thread until it is resumed.
        @safe private struct Resumption: @unchecked Sendable { let pointer: OpaquePointer }

        init(_ mailbox: Mailbox, _ connection: OpaquePointer) {
            self.mailbox = mailbox
            unsafe self.connection = connection
            let resumption = unsafe Resumption(pointer: connection)
            // Called under the mailbox's lock while the reader waits, so while the connection is
            // suspended.
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
