#if Client && !canImport(Darwin)
    // Unsafe, because libcurl takes addresses. A handle of libcurl is owned by one object, which
    // frees it when it is released; only the worker's thread uses one, but for `curl_multi_wakeup`,
    // which any thread may call. The context of the callbacks is the address of a CurlTransfer:
    // libcurl calls them only within the functions that the worker calls while it holds that
    // transfer. The bytes that a callback gets are copied before it returns.
    internal import CCurl
    internal import Foundation
    internal import Locking

    #if canImport(Musl)
        internal import Musl
    #else
        internal import Glibc
    #endif

    /// The connections of a client, by libcurl; they end with it.
    final class Connections: Sendable {
        private let worker = Worker()

        deinit { stop() }

        func stop() { worker.stop() }

        /// Starts a transfer.
        func start(_ request: TransferRequest, silence: Duration, _ receiver: Receiver) throws(TransferFailure) {
            try worker.start(request, silence, receiver)
        }
    }

    // MARK: The thread

    /// The thread of all transfers of a client.
    ///
    /// It begins with the first transfer, and ends when it is stopped: then all handles are freed.
    private final class Worker: Sendable {
        enum Command: Sendable {
            case start(id: Int, TransferRequest, silence: Duration, Receiver)
            case resume(id: Int)
            case cancel(id: Int)
        }

        private struct State {
            /// Set while the thread runs.
            var multi: MultiHandle?
            var commands: [Command] = []
            var lastID = 0
            var isStopped = false
        }

        private struct Control: TransferControl {
            let worker: Worker
            let id: Int
            func resume() { worker.enqueue(.resume(id: id)) }
            func cancel() { worker.enqueue(.cancel(id: id)) }
        }

        private let state = Lock(State())

        func start(_ request: TransferRequest, _ silence: Duration, _ receiver: Receiver) throws(TransferFailure) {
            let id = state.withLock { state in
                state.lastID += 1
                return state.lastID
            }
            receiver.setControl(Control(worker: self, id: id))
            try state.withLock { state throws(TransferFailure) in
                guard !state.isStopped else { throw .cancelled }
                if state.multi == nil {
                    guard let multi = MultiHandle() else { throw .unreachable("libcurl cannot be started.") }
                    state.multi = multi
                    Thread.detachNewThread { [self] in run(multi) }
                }
                state.commands.append(.start(id: id, request, silence: silence, receiver))
                state.multi?.wakeUp()
            }
        }

        func stop() {
            state.withLock { state in
                state.isStopped = true
                state.multi?.wakeUp()
            }
        }

        private func enqueue(_ command: Command) {
            state.withLock { state in
                guard let multi = state.multi else { return }
                state.commands.append(command)
                multi.wakeUp()
            }
        }

        /// Returns the commands so far; the thread ends if it is stopped or has failed.
        private func takeCommands(hasFailed: Bool) -> (commands: [Command], goesOn: Bool) {
            state.withLock { state in
                defer { state.commands = [] }
                if state.isStopped || hasFailed { state.multi = nil }
                return (state.commands, state.multi != nil)
            }
        }

        private func run(_ multi: MultiHandle) {
            Self.blockSignals()
            var transfers: [Int: CurlTransfer] = [:]
            var hasFailed = false
            while true {
                let (commands, goesOn) = takeCommands(hasFailed: hasFailed)
                guard goesOn else {
                    let failure = hasFailed ? TransferFailure.unreachable("libcurl has failed.") : .cancelled
                    for case .start(_, _, _, let receiver) in commands { receiver.end(failure) }
                    for transfer in transfers.values {
                        multi.remove(transfer)
                        transfer.receiver.end(failure)
                    }
                    return
                }
                for command in commands { execute(command, &transfers, multi) }
                hasFailed = !multi.perform()
                while let (transfer, result) = multi.nextEnded(of: transfers.values) {
                    multi.remove(transfer)
                    transfers[transfer.id] = nil
                    transfer.receiver.end(result == CURLE_OK ? nil : TransferFailure(result))
                }
                let now = ContinuousClock.now
                for transfer in transfers.values where transfer.silenceEnd.map({ $0 <= now }) == true {
                    multi.remove(transfer)
                    transfers[transfer.id] = nil
                    transfer.receiver.end(.unreachable("The server does not answer."))
                }
                let next = transfers.values.compactMap(\.silenceEnd).min()
                hasFailed = !multi.wait(atMost: next.map { $0 - now } ?? .seconds(3_600)) || hasFailed
            }
        }

        private func execute(_ command: Command, _ transfers: inout [Int: CurlTransfer], _ multi: MultiHandle) {
            switch command {
            case .start(let id, let request, let silence, let receiver):
                // It may have been cancelled before it starts.
                guard !receiver.hasEnded else { return }
                guard let transfer = CurlTransfer(id, request, silence, receiver), multi.add(transfer) else {
                    return receiver.end(.unreachable("libcurl rejects the request."))
                }
                transfers[id] = transfer
            case .resume(let id): transfers[id]?.resume()
            case .cancel(let id):
                guard let transfer = transfers.removeValue(forKey: id) else { return }
                multi.remove(transfer)
                transfer.receiver.end(.cancelled)
            }
        }

        /// Blocks the signals of this thread: those of the process belong to its other threads, and
        /// a broken connection is an error of its call, not SIGPIPE.
        private static func blockSignals() {
            var signals = sigset_t()
            unsafe sigfillset(&signals)
            unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        }
    }

    extension TransferFailure {
        /// The failure of a transfer.
        fileprivate init(_ result: CURLcode) {
            let reason =
                switch result {
                case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: "The name of the server is not known."
                case CURLE_COULDNT_CONNECT: "There is no connection to the server."
                case CURLE_OPERATION_TIMEDOUT: "The server does not answer."
                case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_SEND_FAIL_REWIND:
                    "The connection to the server has ended."
                case CURLE_PEER_FAILED_VERIFICATION: "The certificate of the server is not valid."
                case CURLE_SSL_CONNECT_ERROR: "There is no secure connection to the server."
                case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING:
                    "The answer is not one of HTTP."
                default: "The request has failed (libcurl \(result.rawValue))."
                }
            self = .unreachable(reason)
        }
    }

    // MARK: Handles

    /// The transfers and connections of libcurl.
    ///
    /// Unchecked Sendable: all but `wakeUp` is called by the worker's thread, which releases it
    /// last or after its last call.
    @safe private final class MultiHandle: @unchecked Sendable {
        /// The most connections to the server, so that a client cannot use up its files.
        private static let connectionLimit = 64
        /// Must be called once, before any other function of libcurl.
        private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

        private let handle: UnsafeMutableRawPointer

        init?() {
            guard Self.isReady, let handle = unsafe curl_multi_init() else { return nil }
            unsafe self.handle = handle
            unsafe CCurl_setMultiNumber(handle, CURLMOPT_MAX_HOST_CONNECTIONS, Self.connectionLimit)
        }

        deinit { unsafe curl_multi_cleanup(handle) }

        func wakeUp() { unsafe curl_multi_wakeup(handle) }

        func add(_ transfer: CurlTransfer) -> Bool { unsafe curl_multi_add_handle(handle, transfer.handle) == CURLM_OK }

        func remove(_ transfer: CurlTransfer) { unsafe curl_multi_remove_handle(handle, transfer.handle) }

        /// Moves all transfers on; false if libcurl has failed.
        func perform() -> Bool {
            var running: Int32 = 0
            return unsafe curl_multi_perform(handle, &running) == CURLM_OK
        }

        /// Returns a transfer that has ended; nil if there is none.
        func nextEnded(of transfers: some Sequence<CurlTransfer>) -> (CurlTransfer, CURLcode)? {
            var result = CURLE_OK
            while let ended = unsafe CCurl_nextEnded(handle, &result) {
                if let transfer = transfers.first(where: { unsafe $0.handle == ended }) { return (transfer, result) }
            }
            return nil
        }

        /// Waits for a socket, a timeout of libcurl or `wakeUp`; false if libcurl has failed.
        func wait(atMost time: Duration) -> Bool {
            // Rounded up, so that the time is over afterwards.
            let milliseconds = Int32(clamping: Int64(max(0, time / .milliseconds(1)).rounded(.up)))
            return unsafe curl_multi_poll(handle, nil, 0, milliseconds, nil) == CURLM_OK
        }
    }

    /// One transfer of libcurl, used by the worker's thread only.
    @safe private final class CurlTransfer {
        /// The longest time for the name, the connection and TLS.
        private static let connectTimeout = Duration.seconds(15)
        /// The most bytes of the heads of an answer: of the informational ones and of the final
        /// one.
        private static let headLimit = 64 << 10
        /// The most bytes that libcurl reads or sends at once.
        private static let bufferSize = 16 << 10

        let id: Int
        let receiver: Receiver
        fileprivate let handle: UnsafeMutableRawPointer
        private let silence: Duration
        /// The lines of the head of the request; libcurl reads them, but does not own them.
        private var lines: UnsafeMutablePointer<curl_slist>?
        /// What of the body is not sent yet.
        private var body: Data
        private var headers: [String: String] = [:]
        private var (hasHead, headSize) = (false, 0)
        private var lastActivity = ContinuousClock.now
        private var isPaused = false

        init?(_ id: Int, _ request: TransferRequest, _ silence: Duration, _ receiver: Receiver) {
            guard let handle = unsafe curl_easy_init() else { return nil }
            unsafe self.handle = handle
            (self.id, self.silence, self.receiver, body) = (id, silence, receiver, request.body ?? Data())
            guard setRequest(request), setBounds(), setCallbacks() else { return nil }
        }

        deinit {
            unsafe curl_easy_cleanup(handle)
            unsafe curl_slist_free_all(lines)
        }

        /// The end of the silence, if nothing arrives until then; nil while the reader is not
        /// ready.
        var silenceEnd: ContinuousClock.Instant? { isPaused ? nil : lastActivity + silence }

        /// Reads on after a pause.
        func resume() {
            guard isPaused else { return }
            (isPaused, lastActivity) = (false, .now)
            // Calls the callback for the bytes that wait.
            unsafe curl_easy_pause(handle, CURLPAUSE_CONT)
        }

        // MARK: Options

        private func setRequest(_ request: TransferRequest) -> Bool {
            var headers = request.headers
            // No waiting for 100 Continue, and no type that libcurl makes up.
            headers.append(("Expect", ""))
            if !headers.contains(where: { $0.name.lowercased() == "content-type" }) {
                headers.append(("Content-Type", ""))
            }
            for (name, value) in headers {
                guard let longer = unsafe curl_slist_append(lines, "\(name):\(value.isEmpty ? "" : " ")\(value)") else {
                    return false
                }
                unsafe lines = longer
            }
            let isRead = ["GET", "HEAD"].contains(request.method)
            let hasBody = request.body != nil || !isRead && request.method != "DELETE"
            guard set(CURLOPT_URL, request.url.absoluteString), unsafe CCurl_setHeaders(handle, lines) == CURLE_OK,
                set(CURLOPT_POST, hasBody), set(CURLOPT_NOBODY, request.method == "HEAD"),
                unsafe CCurl_setSize(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)) == CURLE_OK,
                set(CURLOPT_CUSTOMREQUEST, request.method)
            else { return false }
            // libcurl sends a request again if a connection that was in use before ends without an
            // answer. It cannot go back in a body; a change without a body gets a connection of its
            // own.
            guard unsafe CCurl_neverSendAgain(handle) == CURLE_OK, set(CURLOPT_FRESH_CONNECT, !isRead && body.isEmpty)
            else { return false }
            return (!Self.isThisMachine(request.url) || set(CURLOPT_PROXY, ""))
                && (!receiver.decompresses || set(CURLOPT_ACCEPT_ENCODING, "gzip"))
        }

        private func setBounds() -> Bool {
            unsafe CCurl_allowHTTPOnly(handle) == CURLE_OK && CCurl_endQuickly(handle) == CURLE_OK
                && set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1) && set(CURLOPT_FOLLOWLOCATION, false)
                && set(CURLOPT_SSL_VERIFYPEER, true) && set(CURLOPT_SSL_VERIFYHOST, 2) && set(CURLOPT_NOSIGNAL, true)
                // The heads of a proxy are none of the server's.
                && set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
                && set(CURLOPT_CONNECTTIMEOUT_MS, Int(min(silence, Self.connectTimeout) / .milliseconds(1)))
                && set(CURLOPT_BUFFERSIZE, Self.bufferSize) && set(CURLOPT_UPLOAD_BUFFERSIZE, Self.bufferSize)
        }

        private func setCallbacks() -> Bool {
            let context = unsafe Unmanaged.passUnretained(self).toOpaque()
            return unsafe CCurl_setCallback(
                handle, CURLOPT_HEADERFUNCTION,
                { unsafe CurlTransfer.of($3).receiveLine(UnsafeRawBufferPointer(start: $0, count: $1 * $2)) },
                CURLOPT_HEADERDATA, context)
                == CURLE_OK
                && CCurl_setCallback(
                    handle, CURLOPT_WRITEFUNCTION,
                    { unsafe CurlTransfer.of($3).receiveBody(UnsafeRawBufferPointer(start: $0, count: $1 * $2)) },
                    CURLOPT_WRITEDATA,
                    context)
                    == CURLE_OK
                && CCurl_setCallback(
                    handle, CURLOPT_READFUNCTION,
                    { unsafe CurlTransfer.of($3).sendBody(UnsafeMutableRawBufferPointer(start: $0, count: $1 * $2)) },
                    CURLOPT_READDATA,
                    context)
                    == CURLE_OK
        }

        private func set(_ option: CURLoption, _ value: Int) -> Bool {
            unsafe CCurl_setNumber(handle, option, value) == CURLE_OK
        }

        private func set(_ option: CURLoption, _ value: Bool) -> Bool { set(option, value ? 1 : 0) }

        private func set(_ option: CURLoption, _ value: String) -> Bool {
            unsafe CCurl_setText(handle, option, value) == CURLE_OK
        }

        /// Whether a URL is of this machine, which no proxy of the environment reaches.
        private static func isThisMachine(_ url: URL) -> Bool {
            guard let host = url.host()?.lowercased() else { return false }
            return ["localhost", "::1", "[::1]"].contains(host)
                || host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." }
        }

        // MARK: Callbacks

        private static func of(_ context: UnsafeMutableRawPointer?) -> CurlTransfer {
            guard let context = unsafe context else { preconditionFailure("a callback without its context") }
            return unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        }

        /// Receives a line of a head, or of the trailer; another number than that of its bytes ends
        /// the transfer.
        private func receiveLine(_ bytes: UnsafeRawBufferPointer) -> Int {
            lastActivity = .now
            headSize += bytes.count
            guard headSize <= Self.headLimit else {
                receiver.fail(.answerTooLarge)
                return 0
            }
            guard !hasHead else { return bytes.count }
            let line = unsafe String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            if line.hasPrefix("HTTP/") {
                headers = [:]
            } else if line.isEmpty {
                let status = unsafe CCurl_status(handle)
                // The head of an informational answer is followed by another one.
                guard status >= 200 else { return bytes.count }
                hasHead = true
                return receiver.receive(TransferHead(status: status, headers: headers)) ? bytes.count : 0
            } else if let colon = line.firstIndex(of: ":") {
                let name = line[..<colon].lowercased()
                let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                headers[name] = headers[name].map { "\($0), \(value)" } ?? value
            }
            return bytes.count
        }

        /// Receives bytes of the body; another number than theirs pauses or ends the transfer.
        private func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
            lastActivity = .now
            guard receiver.hasRoom(orElse: { isPaused = true }) else { return Int(CURL_WRITEFUNC_PAUSE) }
            return unsafe receiver.receive(Data(bytes)) ? bytes.count : 0
        }

        /// Gives the next bytes of the body of the request; none at its end.
        private func sendBody(_ room: UnsafeMutableRawBufferPointer) -> Int {
            lastActivity = .now
            let piece = body.prefix(room.count)
            unsafe room.copyBytes(from: piece)
            body.removeFirst(piece.count)
            return piece.count
        }
    }
#endif
