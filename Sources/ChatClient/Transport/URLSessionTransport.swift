#if Client || canImport(SQLite3)
    internal import ChatDomain
    package import ChatValues
    internal import Foundation
    internal import Locking

    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    /// The requests of a client over HTTP, by `URLSession`.
    ///
    /// Bodies are received in pieces by a delegate and never beyond their bound. Redirects are not
    /// followed, so that the token goes to no other server. Nothing is kept: no cookies, no cache, no
    /// credentials. The connections end with the transport and its streams.
    ///
    /// On Linux, swift-corelibs-foundation has two faults that a delegate cannot prevent: it ends the
    /// process if a connection ends within the headers of an answer, and it keeps the whole body of a
    /// redirect in memory, until the deadline of the answer.
    package final class URLSessionTransport: ClientTransport {
        /// The longest silence of a server that has a request.
        package static let requestTimeout = Duration.seconds(30)
        /// The longest time for a whole answer, however steadily it comes.
        package static let answerTime = Duration.seconds(300)
        /// The longest silence of a stream: three heartbeats of the server.
        package static let streamTimeout = Duration.seconds(45)

        private let address: ServerAddress
        private let connections: Connections
        private let timeouts: (request: Duration, answer: Duration, stream: Duration)

        /// Creates a transport.
        ///
        /// - Parameters:
        ///   - address: The address of the server.
        ///   - requestTimeout: The longest silence of a server that has a request.
        ///   - answerTime: The longest time for a whole answer.
        ///   - streamTimeout: The longest silence of a stream.
        package init(
            _ address: ServerAddress, requestTimeout: Duration = URLSessionTransport.requestTimeout,
            answerTime: Duration = URLSessionTransport.answerTime, streamTimeout: Duration = URLSessionTransport.streamTimeout
        ) {
            self.address = address
            connections = Connections()
            timeouts = (requestTimeout, answerTime, streamTimeout)
        }

        package func send(_ request: ClientRequest) async throws(TransportFailure) -> ClientAnswer {
            guard !Task.isCancelled else { throw .cancelled }
            let task = try connections.session.dataTask(with: urlRequest(request, timeout: timeouts.request))
            let receiver = AnswerReceiver(task, limit: request.answerLimit)
            connections.delegate.add(receiver, for: task)
            defer { connections.delegate.remove(task) }
            let deadline = Task { [timeouts] in
                try await Task.sleep(for: timeouts.answer)
                receiver.fail(.unreachable("The answer has not ended in \(timeouts.answer)."))
            }
            defer { deadline.cancel() }
            return try await withTaskCancellationHandler {
                await receiver.answer()
            } onCancel: {
                receiver.fail(.cancelled)
            }.get()
        }

        package func openStream(after token: ResumeToken?, credentials: String) async throws(TransportFailure) -> any ClientStream {
            guard !Task.isCancelled else { throw .cancelled }
            let target = "/v1/events" + (token.map { "?after=\($0)" } ?? "")
            var request = try urlRequest(ClientRequest("GET", target, credentials: credentials), timeout: timeouts.stream)
            request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
            let task = connections.session.dataTask(with: request)
            let receiver = StreamReceiver(task)
            connections.delegate.add(receiver, for: task)
            // Ends the connection unless the caller gets it.
            let stream = EventStream(receiver, connections)
            let deadline = Task { [timeouts] in
                try await Task.sleep(for: timeouts.answer)
                receiver.fail(.unreachable("The stream has not begun in \(timeouts.answer)."))
            }
            defer { deadline.cancel() }
            try await receiver.open()
            return stream
        }

        private func urlRequest(_ request: ClientRequest, timeout: Duration) throws(TransportFailure) -> URLRequest {
            guard let url = address.url(of: request.target) else { throw .unreachable("The target of the request is not a URL.") }
            var made = URLRequest(url: url)
            made.cachePolicy = .reloadIgnoringLocalCacheData
            // Assigned: on Linux, the initializer's argument has no effect.
            made.timeoutInterval = timeout / .seconds(1)
            made.httpMethod = request.method
            made.httpShouldHandleCookies = false
            made.setValue("application/json", forHTTPHeaderField: "Accept")
            made.setValue("ChatJournal", forHTTPHeaderField: "User-Agent")
            if let credentials = request.credentials { made.setValue("Bearer \(credentials)", forHTTPHeaderField: "Authorization") }
            if let body = request.body {
                made.httpBody = body
                made.setValue("application/json", forHTTPHeaderField: "Content-Type")
            }
            return made
        }
    }

    /// A session with its delegate, which it retains until it is invalidated.
    private final class Connections: Sendable {
        let delegate = SessionDelegate()
        let session: URLSession

        init() {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpCookieStorage = nil
            configuration.httpCookieAcceptPolicy = .never
            configuration.httpShouldSetCookies = false
            configuration.urlCache = nil
            configuration.urlCredentialStorage = nil
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
            session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        }

        deinit { session.invalidateAndCancel() }
    }

    /// What receives the answer to one task.
    private protocol TaskReceiver: AnyObject, Sendable {
        /// Receives the status and the headers.
        func receive(_ response: HTTPURLResponse)
        /// Receives the next bytes of the body.
        func receive(_ data: Data)
        /// Ends; nil if the answer is whole.
        func end(_ failure: TransportFailure?)
    }

    /// Passes what a session receives to the receivers of its tasks.
    private final class SessionDelegate: NSObject, URLSessionDataDelegate, Sendable {
        private let receivers = Lock([Int: any TaskReceiver]())

        func add(_ receiver: any TaskReceiver, for task: URLSessionTask) {
            receivers.withLock { $0[task.taskIdentifier] = receiver }
        }

        func remove(_ task: URLSessionTask) { receivers.withLock { _ = $0.removeValue(forKey: task.taskIdentifier) } }

        private func receiver(of task: URLSessionTask) -> (any TaskReceiver)? { receivers.withLock { $0[task.taskIdentifier] } }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            if let response = response as? HTTPURLResponse { receiver(of: dataTask)?.receive(response) }
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            receiver(of: dataTask)?.receive(data)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let receiver = receivers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
            receiver?.end(error.map(TransportFailure.init))
        }

        /// The redirect is the answer: the token goes to no other server.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) { completionHandler(nil) }
    }

    extension TransportFailure {
        /// The failure of a task.
        fileprivate init(_ error: any Error) {
            let code = (error as? URLError)?.code
            self =
                switch code {
                case .cancelled: .cancelled
                case .timedOut: .unreachable("The server does not answer.")
                case .cannotFindHost, .dnsLookupFailed: .unreachable("The name of the server is not known.")
                case .cannotConnectToHost: .unreachable("There is no connection to the server.")
                case .notConnectedToInternet, .dataNotAllowed: .unreachable("This device has no connection.")
                case .networkConnectionLost: .unreachable("The connection to the server has ended.")
                case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
                    .serverCertificateNotYetValid:
                    .unreachable("The certificate of the server is not valid.")
                case let code?: .unreachable("The request has failed (URLError \(code.rawValue)).")
                case nil: .unreachable("The request has failed.")
                }
        }
    }

    extension ClientAnswer {
        /// An answer without its body; its headers lack the cookie, which has the token.
        fileprivate init(_ response: HTTPURLResponse) {
            self.init(status: response.statusCode)
            for (name, value) in response.allHeaderFields {
                guard let name = (name as? String)?.lowercased(), let value = value as? String, name != "set-cookie" else { continue }
                headers[name] = value
            }
        }
    }

    // MARK: Whole answers

    /// Collects one answer, up to its bound.
    private final class AnswerReceiver: TaskReceiver {
        private struct State {
            var answer: ClientAnswer?
            var result: Result<ClientAnswer, TransportFailure>?
            var waiter: CheckedContinuation<Result<ClientAnswer, TransportFailure>, Never>?
        }

        private let task: URLSessionDataTask
        private let limit: Int
        private let state = Lock(State())

        init(_ task: URLSessionDataTask, limit: Int) { (self.task, self.limit) = (task, limit) }

        /// Starts the task and waits for its answer.
        func answer() async -> Result<ClientAnswer, TransportFailure> {
            await withCheckedContinuation { waiter in
                let result = state.withLock { state in
                    if state.result == nil { state.waiter = waiter }
                    return state.result
                }
                if let result { waiter.resume(returning: result) } else { task.resume() }
            }
        }

        func receive(_ response: HTTPURLResponse) {
            let answer = ClientAnswer(response)
            state.withLock { $0.answer = answer }
            if response.expectedContentLength > Int64(limit) { fail(.answerTooLarge) }
        }

        func receive(_ data: Data) {
            let isTooLarge = state.withLock { state in
                guard state.result == nil, let count = state.answer?.body.count else { return false }
                guard count + data.count <= limit else { return true }
                state.answer?.body.append(data)
                return false
            }
            if isTooLarge { fail(.answerTooLarge) }
        }

        func end(_ failure: TransportFailure?) {
            let answer = state.withLock { $0.answer }
            if let failure {
                finish(.failure(failure))
            } else {
                finish(answer.map { .success($0) } ?? .failure(.unreachable("The answer has no status.")))
            }
        }

        /// Ends the task without an answer.
        func fail(_ failure: TransportFailure) {
            finish(.failure(failure))
            task.cancel()
        }

        private func finish(_ result: Result<ClientAnswer, TransportFailure>) {
            let waiter = state.withLock { state -> CheckedContinuation<Result<ClientAnswer, TransportFailure>, Never>? in
                guard state.result == nil else { return nil }
                state.result = result
                state.answer = nil
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume(returning: result)
        }
    }

    // MARK: Streams

    /// The stream of a receiver, which ends the connection when it is released.
    private final class EventStream: ClientStream {
        private let receiver: StreamReceiver
        /// Keeps the session.
        private let connections: Connections

        init(_ receiver: StreamReceiver, _ connections: Connections) { (self.receiver, self.connections) = (receiver, connections) }

        deinit { cancel() }

        func next() async throws(TransportFailure) -> ServerSentEvent? { try await receiver.next() }

        func cancel() {
            receiver.fail(.cancelled)
            connections.delegate.remove(receiver.task)
        }
    }

    /// Receives a stream of events, up to a bound of bytes that wait.
    ///
    /// Darwin suspends the task until its bytes are taken. On Linux a task that is suspended and resumed
    /// sends its request again (swift-corelibs-foundation removes it from libcurl), so a reader that is
    /// too slow gets the bytes up to the bound, then a failure, and opens the stream again after its
    /// last id.
    private final class StreamReceiver: TaskReceiver {
        /// The bytes that may wait; more suspend the task.
        #if canImport(Darwin)
            private static let suspensionBound = 1 << 20
        #else
            private static let suspensionBound = Int.max
        #endif
        /// The bytes that may wait at all.
        private static let bound = 32 << 20
        /// The most bytes of the answer that refuses the stream.
        private static let refusalLimit = 64 << 10

        private struct State {
            /// The answer: of success, or one that refuses and whose body is being received.
            var answer: ClientAnswer?
            var isOpen = false
            var waiting = FirstInFirstOut()
            var parser = EventStreamParser()
            var end: Ending?
            var isSuspended = false
            var waiter: CheckedContinuation<Void, Never>?
        }

        private enum Ending: Error, Equatable {
            /// The server has ended the stream.
            case ended
            case failed(TransportFailure)
        }

        /// The pieces that wait.
        private struct FirstInFirstOut {
            private var pieces: [Data] = []
            private var first = 0
            private(set) var byteCount = 0

            mutating func append(_ piece: Data) {
                pieces.append(piece)
                byteCount += piece.count
            }

            mutating func popFirst() -> Data? {
                guard first < pieces.count else { return nil }
                let piece = pieces[first]
                pieces[first] = Data()
                first += 1
                byteCount -= piece.count
                if first == pieces.count || first >= 1_024 {
                    pieces.removeFirst(first)
                    first = 0
                }
                return piece
            }

            mutating func removeAll() { self = FirstInFirstOut() }
        }

        let task: URLSessionDataTask
        private let state = Lock(State())

        init(_ task: URLSessionDataTask) { self.task = task }

        // MARK: The reader

        /// Starts the task and waits for its head.
        func open() async throws(TransportFailure) {
            task.resume()
            while true {
                let outcome = state.withLock { state -> Result<Void, TransportFailure>? in
                    if state.isOpen { return .success(()) }
                    switch state.end {
                    case nil: return nil
                    case .ended: return .failure(.unreachable("The answer has no status."))
                    case .failed(let failure): return .failure(failure)
                    }
                }
                if let outcome { return try outcome.get() }
                try await wait { $0.isOpen }
            }
        }

        func next() async throws(TransportFailure) -> ServerSentEvent? {
            while true {
                guard !Task.isCancelled else { throw .cancelled }
                switch take() {
                case .success(let event?): return event
                case .success(nil): try await wait { $0.waiting.byteCount > 0 }
                case .failure(.ended): return nil
                case .failure(.failed(let failure)): throw failure
                }
            }
        }

        /// Returns the next event of the bytes that wait; nil if there are too few.
        private func take() -> Result<ServerSentEvent?, Ending> {
            let (result, resumes) = state.withLock { state -> (Result<ServerSentEvent?, Ending>, Bool) in
                if state.end == .failed(.cancelled) { return (.failure(.failed(.cancelled)), false) }
                let event: ServerSentEvent?
                do throws(TransportFailure) { event = try Self.nextEvent(&state) } catch {
                    state.end = .failed(error)
                    return (.failure(.failed(error)), false)
                }
                let resumes = state.isSuspended && state.waiting.byteCount <= Self.suspensionBound / 2
                if resumes { state.isSuspended = false }
                if let event { return (.success(event), resumes) }
                guard let end = state.end else { return (.success(nil), resumes) }
                return (.failure(end), resumes)
            }
            if case .failure = result { task.cancel() }
            if resumes { task.resume() }
            return result
        }

        private static func nextEvent(_ state: inout State) throws(TransportFailure) -> ServerSentEvent? {
            while true {
                if let event = try state.parser.nextEvent() { return event }
                guard let piece = state.waiting.popFirst() else { return nil }
                state.parser.append(piece)
            }
        }

        /// Waits until the condition holds, the stream has ended, or the waiting task is cancelled.
        private func wait(until condition: @Sendable (State) -> Bool) async throws(TransportFailure) {
            await withTaskCancellationHandler {
                await withCheckedContinuation { waiter in
                    let isDone = state.withLock { state in
                        // A cancellation after this line finds the waiter.
                        if condition(state) || state.end != nil || Task.isCancelled { return true }
                        precondition(state.waiter == nil, "one task at a time reads a stream")
                        state.waiter = waiter
                        return false
                    }
                    if isDone { waiter.resume() }
                }
            } onCancel: {
                wake { _ in }
            }
            if Task.isCancelled { throw .cancelled }
        }

        /// Changes the state and wakes the reader.
        private func wake(_ change: (inout State) -> Void) {
            let waiter = state.withLock { state in
                change(&state)
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }

        // MARK: The task

        func receive(_ response: HTTPURLResponse) {
            let answer = ClientAnswer(response)
            let isStream = answer.status == 200 && answer.headers["content-type"]?.lowercased().hasPrefix("text/event-stream") == true
            wake { ($0.answer, $0.isOpen) = (answer, isStream) }
        }

        func receive(_ data: Data) {
            var (suspends, overflows) = (false, false)
            wake { state in
                guard state.end == nil else { return }
                guard state.isOpen else {
                    guard var answer = state.answer else { return }
                    // The beginning says why: the rest is not read.
                    answer.body.append(data.prefix(Self.refusalLimit - answer.body.count))
                    state.answer = answer
                    overflows = answer.body.count >= Self.refusalLimit
                    if overflows { state.end = .failed(.refused(answer)) }
                    return
                }
                state.waiting.append(data)
                suspends = !state.isSuspended && state.waiting.byteCount > Self.suspensionBound
                if suspends { state.isSuspended = true }
                overflows = state.waiting.byteCount > Self.bound
                if overflows { state.end = .failed(.unreachable("The stream was not read fast enough.")) }
            }
            if suspends { task.suspend() }
            if overflows { task.cancel() }
        }

        func end(_ failure: TransportFailure?) {
            wake { state in
                guard state.end == nil else { return }
                state.end =
                    switch (failure, state.answer) {
                    case (let failure?, _): .failed(failure)
                    case (nil, let answer?) where !state.isOpen: .failed(.refused(answer))
                    case (nil, _): .ended
                    }
            }
        }

        /// Ends the task; the bytes that wait are dropped.
        func fail(_ failure: TransportFailure) {
            wake { state in
                state.end = .failed(failure)
                state.waiting.removeAll()
            }
            task.cancel()
        }
    }
#endif
