#if Server
    internal import Chat
    internal import ChatAccounts
    internal import ChatDomain
    internal import ChatWire
    internal import Foundation
    internal import Locking

    /// Responds to the requests of all connections.
    final class ServerCore: Sendable {
        let streams: StreamRegistry
        let metrics = ServerMetrics()
        let log: ServerLog
        private let store: ChatStore
        private let accountStore: AccountStore
        private let gate: RequestGate
        private let chatRoutes: ChatRoutes
        private let files = StaticFiles()
        private let logsRequests: Bool
        private let accountRouter = Router(AccountRoutes.routes)
        private let chatRouter = Router(ChatRoutes.routes)
        /// Hash passwords: as many threads as run at once.
        private let passwordThreads = WorkerThreads("chat passwords", count: 2, limit: 64)
        /// Read and write accounts.
        private let accountThreads = WorkerThreads("chat accounts", count: 2, limit: 256)
        /// Erases users; a call takes the time of a replay.
        private let erasureThread = WorkerThreads("chat erasure", count: 1, limit: 64)
        #if os(Linux)
            private let sockets: SocketLoop
            private let tutorial: TutorialChat?
            private let isTutorialPublic: Bool
        #endif
        private let closing = Lock(false)
        /// The requests that have no response yet.
        private let pending = Lock(0)

        init(
            _ store: ChatStore, _ accounts: AccountStore, _ gate: RequestGate, _ options: ServerOptions
        ) throws(ServerError) {
            let (logsRequests, tutorialThread, isTutorialPublic) = (options.logsRequests, options.tutorialThread, options.isTutorialPublic)
            (self.store, accountStore, self.gate, log) = (store, accounts, gate, ServerLog(options.log))
            self.logsRequests = logsRequests
            streams = StreamRegistry { [metrics] in metrics.count(ended: $0) }
            chatRoutes = ChatRoutes(store)
            #if os(Linux)
                tutorial = try tutorialThread.map { name throws(ServerError) in
                    do throws(ChatError) { return try TutorialChat(store, thread: name) } catch {
                        throw ServerError(.tutorialThread, "The thread of the tutorials' chat cannot be opened: \(error)")
                    }
                }
                self.isTutorialPublic = isTutorialPublic
                guard let sockets = SocketLoop(options.socketLimits) else {
                    throw ServerError(.cannotStart, "The thread of the WebSockets cannot be started.")
                }
                self.sockets = sockets
            #endif
        }

        // MARK: Accounts

        /// Calls the account store on a thread that may hash a password.
        func passwords<Value: Sendable>(_ body: @escaping @Sendable (AccountStore) throws(AccountError) -> Value) async throws -> Value {
            try await passwordThreads.run { [accountStore] in try body(accountStore) }
        }

        /// Calls the account store on a thread that waits for its file only.
        func accounts<Value: Sendable>(_ body: @escaping @Sendable (AccountStore) throws(AccountError) -> Value) async throws -> Value {
            try await accountThreads.run { [accountStore] in try body(accountStore) }
        }

        func summary(of user: UserID) -> UserSummary { store.summary(of: user) ?? UserSummary(id: user, username: nil) }

        /// Registers a confirmed account in the journal, and notes that.
        ///
        /// Idempotent: after a crash in between, the registration is a duplicate.
        ///
        /// - Throws: ``Problem`` with `usernameTaken`, or what the stores throw.
        func register(_ registration: AccountRegistration) async throws {
            let account = "\(registration.account)"
            let command = ChatCommand.registerUser(
                user: registration.user, username: registration.username.text, subject: account)
            // As a batch, because the compiler crashes on a pattern of the thrown error here.
            if case .failure(let rejection) = try await store.execute([CommandRequest(command)])[0] {
                switch rejection.code {
                case .usernameTaken: throw Problem.usernameTaken
                case .identifierTaken where store.user(withSubject: account) == registration.user:
                    // The person has confirmed again with another username after the journal had registered
                    // the first one: the user exists, with that name.
                    break
                default: throw ChatError.rejected(rejection)
                }
            }
            try await accounts { accounts throws(AccountError) in try accounts.markRegistered(account: registration.account) }
        }

        /// Erases the user of an account whose deletion has begun, and deletes its row.
        func finish(_ deletion: AccountDeletion) async throws {
            try await erasureThread.run { [store, accountStore] in
                do throws(ChatError) {
                    try store.eraseUser(deletion.user, reason: "account-deleted")
                } catch .rejected(let rejection) where rejection.code == .unknownUser {
                    // The account was never registered in this journal.
                }
                try accountStore.finishDeletion(account: deletion.account)
            }
        }

        /// Completes what a crash has interrupted: registrations and deletions.
        func completeInterrupted() async {
            do {
                for registration in try await accounts({ accounts throws(AccountError) in try accounts.unregistered() }) {
                    do { try await register(registration) } catch {
                        // The person confirms again, for example with another username.
                        log.write(
                            "registrationPending", ("user", "\(registration.user)"), ("code", Problem(serverError: error).code.rawValue))
                    }
                }
                for deletion in try await accounts({ accounts throws(AccountError) in try accounts.pendingDeletions() }) {
                    do { try await finish(deletion) } catch {
                        log.write("deletionPending", ("user", "\(deletion.user)"), ("code", Problem(serverError: error).code.rawValue))
                    }
                }
            } catch {
                log.write("accountsUnreadable", ("code", Problem(serverError: error).code.rawValue))
            }
        }

        private func session(_ token: String) throws(AccountError) -> AccountSession? { try accountStore.session(token: token) }

        /// Ends the streams whose session has ended.
        func endStreamsOfEndedSessions() {
            streams.end(.signedOut) { entry in entry.session.map { !isValid($0.token) } ?? false }
        }

        /// Whether a token belongs to a session; an error of the file leaves the session as it is.
        private func isValid(_ token: String) -> Bool {
            do throws(AccountError) { return try session(token) != nil } catch { return true }
        }

        // MARK: Requests

        /// Called once a second.
        func tend() {
            streams.tend(isValid: isValid)
        }

        /// The pattern of the request's route, for the statistics.
        private func pattern(_ request: WireRequest) -> String {
            if request.path == Self.socketPath { return "GET /v1/socket" }
            if request.path == Self.tutorialPath { return "GET /chat" }
            if case .route(let route, _) = accountRouter.match(method: request.method, path: request.path) {
                return "\(route.method) \(route.pattern)"
            }
            if case .route(let route, _) = chatRouter.match(method: request.method, path: request.path) {
                return "\(route.method) \(route.pattern)"
            }
            return "other"
        }

        fileprivate func respond(to request: HTTPRequest, _ exchange: HTTPExchange) async {
            let start = ContinuousClock.now
            defer { pending.withLock { $0 -= 1 } }
            var route = "other"
            var response: HTTPResponse
            do {
                if closing.withLock({ $0 }) { throw Problem.closing }
                let wire = try WireRequest(
                    method: request.head.method, target: request.head.target, lastEventID: request.head["last-event-id"], body: request.body
                )
                route = pattern(wire)
                response = try await self.response(to: wire, request.head, exchange)
            } catch {
                let problem = Problem(serverError: error)
                if problem.status == 500 { log.write("requestFailed", ("route", route), ("error", Self.logged(error))) }
                response = HTTPResponse(WireResponse(problem))
            }
            if closing.withLock({ $0 }) { response.closesConnection = true }
            let status = response.status
            exchange.respond(response.withStandardHeaders)
            let microseconds = (ContinuousClock.now - start).microseconds
            metrics.count(route: route, status: status, microseconds: microseconds)
            if logsRequests { log.write("request", ("route", route), ("status", "\(status)"), ("microseconds", "\(microseconds)")) }
        }

        /// The text of an error for the log: errors of the journal and the accounts name files, no content.
        private static func logged(_ error: any Error) -> String {
            switch error {
            case let error as ChatError: "\(error)"
            case let error as AccountError: "\(error)"
            default: "\(type(of: error))"
            }
        }

        private func response(to request: WireRequest, _ head: HTTPHead, _ exchange: HTTPExchange) async throws -> HTTPResponse {
            let isSecure = gate.isSecure(head)
            let token = SessionCredentials.token(in: head, isSecure: isSecure)
            switch accountRouter.match(method: request.method, path: request.path) {
            case .route(let route, let parameters):
                try request.requireParameters()
                var signedIn: (session: AccountSession, token: String)?
                if let token, let session = try session(token) { signedIn = (session, token) }
                let context = AccountRequest(
                    server: self, request: request, client: gate.client(of: head), isSecure: isSecure, session: signedIn)
                return HTTPResponse(try await route.respond(context, parameters))
            case .methodNotAllowed(let methods):
                // A path can have routes of both kinds only if a list of them is wrong.
                var response = WireResponse(.methodNotAllowed)
                response.headers.append(("Allow", methods.joined(separator: ", ")))
                return HTTPResponse(response)
            case .notFound: break
            }
            if let response = files.response(to: head.target, method: head.method, ifNoneMatch: head["if-none-match"]) {
                return HTTPResponse(response)
            }
            if request.path == ["healthz"] { return try healthResponse(request) }
            #if os(Linux)
                if request.path == Self.tutorialPath, let tutorial { return try upgrade(head, tutorial) }
            #endif
            guard request.path.first == "v1" else { throw Problem.notFound }
            guard let token, let session = try session(token) else {
                // A path that does not exist is not a secret.
                if request.path != Self.socketPath, case .notFound = chatRouter.match(method: request.method, path: request.path) {
                    throw Problem.notFound
                }
                throw Problem.notSignedIn
            }
            #if os(Linux)
                if request.path == Self.socketPath {
                    try request.requireParameters()
                    return try upgrade(head, session, token)
                }
            #endif
            let response = await chatRoutes.respond(to: request, as: session.user)
            guard case .events(let stream) = response.body else { return HTTPResponse(response) }
            if request.method == "HEAD" { return HTTPResponse(WireResponse(status: response.status, headers: response.headers)) }
            return open(stream, response, session, token, exchange)
        }

        private func healthResponse(_ request: WireRequest) throws -> HTTPResponse {
            guard request.method == "GET" || request.method == "HEAD" else {
                var response = WireResponse(.methodNotAllowed)
                response.headers.append(("Allow", "GET, HEAD"))
                return HTTPResponse(response)
            }
            if let failure = store.failure {
                throw failure.code == .closed ? Problem.closing : Problem(503, .storage, "The journal has stopped. Start the server again.")
            }
            return HTTPResponse(try WireResponse(json: ["status": "ok"]))
        }

        private func open(
            _ stream: EventStream, _ response: WireResponse, _ session: AccountSession, _ token: String, _ exchange: HTTPExchange
        ) -> HTTPResponse {
            let mailbox = Mailbox()
            let openedAt = now
            let task = Task(executorPreference: store.readExecutor) { [metrics] in
                var end = EventStream.End.closing
                do {
                    end = try await stream.run { block, recordedAt in
                        try await mailbox.write(block)
                        // Earlier events are delivered late on purpose.
                        if let recordedAt, recordedAt >= openedAt {
                            let delay = now.millisecondsSince1970 - recordedAt.millisecondsSince1970
                            metrics.countDelivery(milliseconds: UInt64(max(delay, 0)))
                        }
                    }
                } catch {
                    // The client is gone, or the stream was ended by its registry.
                    return
                }
                // A stream that was ended by its registry, or whose client is gone, has a reason already.
                if mailbox.end(EventStream.block(end)) { metrics.count(ended: end) }
            }
            let id = streams.add(
                .init(
                    mailbox: mailbox, session: (session, token), stop: { task.cancel() }, lastMessage: { EventStream.block($0) },
                    heartbeat: EventStream.heartbeat), isValid: isValid)
            exchange.setCompletion { [streams] _ in streams.remove(id) }
            return HTTPResponse(status: response.status, headers: response.headers, body: .stream(mailbox))
        }

        // MARK: WebSockets

        private static let socketPath = ["v1", "socket"]
        private static let tutorialPath = ["chat"]

        #if os(Linux)
            private func upgrade(_ head: HTTPHead, _ session: AccountSession, _ token: String) throws -> HTTPResponse {
                let headers = try SocketHandshake.headers(for: head, subprotocol: WireConnection.subprotocol)
                return HTTPResponse(
                    status: 101, headers: headers, body: .upgrade { [self] socket in open(socket, session, token) })
            }

            private func upgrade(_ head: HTTPHead, _ tutorial: TutorialChat) throws -> HTTPResponse {
                guard isTutorialPublic || gate.client(of: head)?.isLoopback == true else { throw Problem.notFound }
                let headers = try SocketHandshake.headers(for: head)
                return HTTPResponse(status: 101, headers: headers, body: .upgrade { [self] socket in open(socket, tutorial) })
            }

            private func open(_ socket: UpgradedSocket, _ tutorial: TutorialChat) {
                let mailbox = Mailbox()
                let receiver = SocketSession(sockets.budget, on: store.readExecutor)
                let delivery = Task(executorPreference: store.readExecutor) {
                    do {
                        try await tutorial.deliver { try await mailbox.write($0) }
                        mailbox.end()
                    } catch {
                        // The client is gone, or the journal cannot be read: the client connects again.
                        mailbox.end()
                    }
                }
                let entry = streams.add(
                    .init(mailbox: mailbox, session: nil, stop: { delivery.cancel() }, lastMessage: { _ in [] }, heartbeat: nil),
                    isValid: isValid)
                let id = sockets.add(socket, mailbox, receiver)
                let connection = Lock(TutorialChat.Connection())
                receiver.begin(on: (sockets, id)) {
                } handle: { message in
                    // One message after another: no one else uses the connection meanwhile.
                    var state = connection.withLock { $0 }
                    try await tutorial.receive(message, &state)
                    connection.withLock { $0 = state }
                } whenClosed: { [streams] in
                    delivery.cancel()
                    streams.remove(entry)
                }
            }

            private func open(_ socket: UpgradedSocket, _ session: AccountSession, _ token: String) {
                let mailbox = Mailbox()
                let wire = WireSession(store, user: session.user) { try await mailbox.write($0) }
                let receiver = SocketSession(sockets.budget, on: store.readExecutor)
                let entry = streams.add(
                    .init(
                        mailbox: mailbox, session: (session, token), stop: { wire.end() },
                        lastMessage: { WireConnection.end($0) }, heartbeat: nil), isValid: isValid)
                let id = sockets.add(socket, mailbox, receiver)
                receiver.begin(on: (sockets, id)) {
                    try await wire.begin()
                } handle: { message in
                    try await wire.receive(message)
                } whenClosed: { [streams] in
                    wire.end()
                    streams.remove(entry)
                }
            }
        #endif

        // MARK: Closing

        /// Refuses new requests, ends the streams, and waits for the requests that have no response, and
        /// then a moment until their responses and the ends of the streams are sent.
        ///
        /// - Parameters:
        ///   - timeout: The longest time for the responses.
        ///   - sendTimeout: The longest time for sending them.
        ///   - exchangeCount: The number of requests whose response is not completely sent.
        func drain(timeout: Duration, sendTimeout: Duration, exchangeCount: () -> Int) async {
            closing.withLock { $0 = true }
            streams.close()
            await wait(timeout) { pending.withLock { $0 } == 0 }
            #if os(Linux)
                // On a thread that may wait: the last messages are sent before.
                try? await erasureThread.run { [sockets] in sockets.stop() }
            #endif
            await wait(sendTimeout) { exchangeCount() == 0 }
            for threads in [passwordThreads, accountThreads, erasureThread] { threads.stop() }
        }

        private func wait(_ timeout: Duration, until isOver: () -> Bool) async {
            let deadline = ContinuousClock.now + timeout
            while !isOver(), ContinuousClock.now < deadline {
                // A wait of milliseconds, once in the life of a server.
                try? await Task.sleep(for: .milliseconds(5))
            }
        }

        /// The text of the metrics.
        func metricsText(connections: Int) -> String {
            #if os(Linux)
                let messageByteCount = sockets.budget.byteCount
            #else
                let messageByteCount = 0
            #endif
            return metrics.text(
                continuing: store.statistics.openMetrics(), connections: connections, streams: streams.count,
                waitingPasswords: passwordThreads.waitingCount, messageBytes: messageByteCount)
        }
    }

    extension ServerCore: HTTPHandler {
        func check(_ head: HTTPHead) -> HTTPResponse? {
            gate.problem(of: head).map { problem in
                metrics.count(route: "rejected", status: problem.status, microseconds: 0)
                return HTTPResponse(WireResponse(problem)).withStandardHeaders
            }
        }

        func bodyLimit(of head: HTTPHead) -> Int { gate.bodyLimit(of: head) }
        var tooLarge: HTTPResponse { HTTPResponse(WireResponse(.tooLarge)).withStandardHeaders }
        var busy: HTTPResponse { HTTPResponse(WireResponse(.busy)).withStandardHeaders }

        func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
            // Before the task runs, so that the server waits for it when it closes.
            pending.withLock { $0 += 1 }
            // A log of other machines is read on threads of its own: the others go on in an outage.
            Task(executorPreference: store.readExecutor) { await self.respond(to: request, exchange) }
        }
    }

    private var now: Timestamp { Timestamp(millisecondsSince1970: Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down))) }

    extension Problem {
        /// The problem of any error of a route.
        init(serverError error: any Error) {
            if let error = error as? AccountError { self.init(error) } else { self.init(routeError: error) }
        }
    }

    extension HTTPResponse {
        /// Creates the response of a route, which is no stream.
        init(_ response: WireResponse) {
            guard case .bytes(let bytes) = response.body else { preconditionFailure("a stream is opened with its exchange") }
            self.init(status: response.status, headers: response.headers, body: .bytes(bytes))
        }

        /// The response with the headers that every response has.
        var withStandardHeaders: HTTPResponse {
            var response = self
            if !headers.contains(where: { $0.name == "Cache-Control" }) { response.headers.append(("Cache-Control", "no-store")) }
            response.headers += [
                ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
                ("Cross-Origin-Resource-Policy", "same-origin"),
            ]
            if status == 401 { response.headers.append(("WWW-Authenticate", "Bearer")) }
            if status == 426 { response.headers += [("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")] }
            return response
        }
    }

    extension Duration {
        fileprivate var microseconds: UInt64 {
            UInt64(clamping: components.seconds) * 1_000_000 + UInt64(clamping: components.attoseconds / 1_000_000_000_000)
        }
    }
#endif
