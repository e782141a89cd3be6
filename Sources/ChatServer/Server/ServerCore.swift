#if Server
    internal import Chat
    internal import ChatAccounts
    internal import ChatDomain
    internal import ChatWire
    internal import EventJournal
    internal import Foundation
    internal import Locking

    /// Responds to the requests of all connections.
    ///
    /// ``Role`` says who has the accounts and executes commands: this server, or another one
    /// that it passes such requests to.
    final class ServerCore: Sendable {
        /// What responds to the requests of a route.
        enum Handler: Sendable {
            /// For everybody; looks up the session itself.
            case account(AccountRoutes.Handler)
            /// For a user who is signed in; also a route of the host program.
            case chat(ChatRoutes.Handler)
            /// A WebSocket of a user.
            case socket
            /// A WebSocket of the host program.
            case hostSocket(HostSocket)
            /// Everything of the user who is signed in, as a stream.
            case export
        }

        let streams: StreamRegistry
        let metrics = ServerMetrics()
        let log: ServerLog
        let store: ChatStore
        let role: Role
        let sessions: any SessionSource
        let headCheck: HeadCheck
        let chatRoutes: ChatRoutes
        let limits: UsedLimits
        /// What the streams and sockets that are behind may read at once.
        let reading: ReadingSlots
        /// The account of what clients hold.
        let memory: ClientMemory
        /// The number of follows of each user: accounts of counts, not of bytes.
        let follows: ClientMemory
        /// The threads on which the clients' work runs in turns.
        let turns: Turns
        /// The users of tokens that were valid, so that a request begins in the turns of its user.
        ///
        /// The session of the token is looked up all the same.
        let knownUsers = Lock([String: UserID]())
        private let files: StaticFiles
        private let logsRequests: Bool
        let router: Router<Handler>
        private static let routes =
            AccountRoutes.routes.map { Route($0.method, $0.pattern, Handler.account($0.handler)) }
            + ChatRoutes.routes.map { Route($0.method, $0.pattern, Handler.chat($0.handler)) }
            + [
                Route("GET", "/v1/socket", takesEveryMethod: true, .socket),
                Route("POST", exportPath, .export),
            ]
        /// Follows the log, so that queries of a server that reads see what others write.
        let followTask = Lock<Task<Void, Never>?>(nil)
        let socketLimits: SocketLimits
        /// The last look at what `/healthz` tells.
        let look = Lock(Health.Look())
        /// The status and the warnings of the health that the log has last.
        let loggedHealth = Lock(["ok"])
        let closing = Lock(false)
        /// The requests that have no response yet.
        let pending = Lock(0)

        init(
            _ store: ChatStore, _ headCheck: HeadCheck, _ options: ServerOptions, _ extensions: ServerExtensions,
            _ makeRole: (ServerLog) -> Role
        ) throws(ServerError) {
            (self.store, self.headCheck, log) = (store, headCheck, ServerLog(options.log))
            files = StaticFiles(siteName: options.siteName, about: options.about)
            logsRequests = options.logsRequests
            role = makeRole(log)
            switch role {
            case .writer(let accounts): sessions = accounts
            case .reader(let writer): sessions = writer
            }
            streams = StreamRegistry { [metrics] in metrics.count(ended: $0) }
            let limits = UsedLimits(options.userLimits)
            self.limits = limits
            router = Router(try extensions.routes(addedTo: Self.routes, limits, log))
            chatRoutes = ChatRoutes(store) { (commands, user) throws(Problem) in
                try limits.use(by: commands, of: user)
                try extensions.willExecute(commands, user)
            }
            (socketLimits, memory) = (options.socketLimits, ClientMemory(options.clientBudget))
            reading = ReadingSlots(memory)
            follows = ClientMemory(.numbers(userMaximum: options.userLimits[.follows]))
            // Last, because its threads go on until it is stopped.
            turns = Turns()
        }

        // MARK: Requests

        /// Begins the work beside requests: completes registrations and deletions that a crash has
        /// interrupted, or follows the log.
        func begin() async {
            await lookAtHealth(areConnectionsFull: false)
            switch role {
            case .writer(let accounts): await accounts.completeInterrupted()
            case .reader:
                followTask.withLock { $0 = Task(executorPreference: store.readExecutor) { await self.followLog() } }
            }
        }

        /// Called once a second, by one task.
        func checkStreams() { streams.checkStreams() }

        /// Called once a second, by another task: looking up sessions may wait.
        func checkSessions() async { await streams.checkDueSessions(validity: sessions.validity) }

        /// Responds at once to a request for the health.
        func respondToHealthCheck(_ request: HTTPRequest, _ exchange: HTTPExchange) {
            let start = ContinuousClock.now
            let response: HTTPResponse
            do {
                try requireRunning()
                response = try healthResponse(request.head.method)
            } catch {
                response = HTTPResponse(WireResponse(Problem(serverError: error)))
            }
            send(response, of: "other", from: start, exchange)
        }

        func respond(to request: HTTPRequest, of client: Client, _ exchange: HTTPExchange) async {
            let start = ContinuousClock.now
            defer { pending.withLock { $0 -= 1 } }
            var route = "other"
            let response: HTTPResponse
            do {
                let wire = try WireRequest(
                    method: request.head.method, target: request.head.target,
                    lastEventID: request.head[.lastEventID], body: request.body
                )
                let match = router.match(method: wire.method, path: wire.path)
                if case .route(let found, _) = match { route = found.name }
                try requireRunning()
                response = try await self.response(to: wire, request.head, at: match, exchange, client)
            } catch {
                let problem = Problem(serverError: error)
                if problem.status == 500 { log.write("requestFailed", ("route", route), ("error", Self.logged(error))) }
                response = HTTPResponse(WireResponse(problem))
            }
            send(response, of: route, from: start, exchange)
        }

        /// Sends a response, counts it, and logs it if asked.
        private func send(
            _ response: HTTPResponse, of route: String, from start: ContinuousClock.Instant, _ exchange: HTTPExchange
        ) {
            var response = response
            if closing.withLock({ $0 }) { response.closesConnection = true }
            let status = response.status
            exchange.respond(response.withStandardHeaders)
            let microseconds = (ContinuousClock.now - start).microseconds
            metrics.count(route: route, status: status, microseconds: microseconds)
            if logsRequests {
                log.write("request", ("route", route), ("status", "\(status)"), ("microseconds", "\(microseconds)"))
            }
        }

        /// The text of an error for the log: errors of the journal and the accounts name files, no
        /// content.
        private static func logged(_ error: any Error) -> String {
            switch error {
            case let error as ChatError: "\(error)"
            case let error as AccountError: "\(error)"
            default: "\(type(of: error))"
            }
        }

        func response(
            to request: WireRequest, _ head: HTTPHead, at match: Router<Handler>.Match, _ exchange: HTTPExchange,
            _ client: Client
        ) async throws -> HTTPResponse {
            let token = SessionCredentials.token(in: head, isSecure: headCheck.isSecure(head))
            switch match {
            case .notFound:
                if let file = files.response(to: head) { return try hold(file, of: client, exchange) }
                if request.path == ["healthz"] { return try healthResponse(request.method) }
                throw Problem.notFound
            case .methodNotAllowed(let routes):
                if case .chat = routes[0].handler { _ = try await requireSession(token) }
                return HTTPResponse(WireResponse(allowing: routes.map(\.method)))
            case .route(let route, let parameters):
                switch route.handler {
                case .account(let handler):
                    try request.requireParameters()
                    let answer = try await respond(
                        to: request, head, token, at: route.pattern, by: handler, parameters)
                    return try hold(answer, of: client, exchange)
                case .chat(let handler):
                    let (user, token) = try await requireSession(token)
                    // As a rule the task is there already.
                    if client == .user(user) {
                        return try await respond(to: request, head, as: user, token, by: handler, parameters, exchange)
                    }
                    note(user, of: token)
                    return try await withTaskExecutorPreference(executor(of: .user(user))) {
                        try await respond(to: request, head, as: user, token, by: handler, parameters, exchange)
                    }
                case .socket:
                    let (user, token) = try await requireSession(token)
                    #if os(Linux)
                        try request.requireParameters()
                        return try upgrade(head, user, token)
                    #else
                        throw Problem.notFound
                    #endif
                case .export:
                    let (user, token) = try await requireSession(token)
                    try request.requireParameters()
                    return try await export(request, head, user, token, parameters, exchange)
                case .hostSocket(let socket):
                    #if os(Linux)
                        return try upgrade(head, socket)
                    #else
                        throw Problem.notFound
                    #endif
                }
            }
        }

        /// Holds what the connection keeps of an answer that is no query's, until it is sent.
        ///
        /// The bytes of a large file are those of all connections.
        private func hold(_ response: WireResponse, of client: Client, _ exchange: HTTPExchange) throws(Problem)
            -> HTTPResponse
        {
            let response = HTTPResponse(response)
            if case .bytes(let bytes) = response.body {
                let byteCount = min(bytes.count, OutputBuffer.maximumCopyByteCount)
                guard let held = memory.hold(byteCount, by: client) else { throw .busy }
                exchange.hold(held)
            }
            return response
        }

        private func respond(
            to request: WireRequest, _ head: HTTPHead, as user: UserID, _ token: String, by handler: ChatRoutes.Handler,
            _ parameters: RouteParameters, _ exchange: HTTPExchange
        ) async throws -> HTTPResponse {
            // Nobody waits any more for what had to wait for its turn.
            if exchange.hasEnded { throw Problem.closing }
            if head.isSafe { try limits.requireQueries(by: user) }
            // Before the work, so that commands that are executed are answered.
            let byteCount =
                head.isSafe ? ServerMemory.query : ServerMemory.commands(ofBody: request.body.count)
            guard let held = memory.hold(byteCount, by: .user(user)) else { throw Problem.busy }
            defer { withExtendedLifetime(held) {} }
            let start = ContinuousClock.now
            let response = try await respond(to: request, head, as: user, token, by: handler, parameters)
            guard case .events(let stream) = response.body else {
                let answer = HTTPResponse(response).compressed(for: head)
                if head.isSafe { limits.charge(.now - start, to: user) }
                if case .bytes(let bytes) = answer.body { held.set(bytes.capacity) }
                exchange.hold(held)
                return answer
            }
            if head.isSafe { limits.charge(.now - start, to: user) }
            if request.method == "HEAD" {
                return HTTPResponse(status: response.status, headers: response.headers, body: .none)
            }
            try limits.requireStream(beside: streams.count(of: user))
            return await open(stream, response, user, token, Mailbox(try hold(ServerMemory.stream, of: user)), exchange)
        }

        /// Returns the user of the session that a token belongs to, and the token.
        func requireSession(_ token: String?) async throws -> (user: UserID, token: String) {
            guard let token else { throw Problem.notSignedIn }
            if let user = try await sessions.user(ofToken: token) { return (user, token) }
            throw try await sessions.isOfDeletedAccount(token: token) ? Problem.accountDeleted : Problem.notSignedIn
        }

        /// Throws if the store has stopped: no answer may come from it any more.
        private func requireRunning() throws(Problem) {
            if closing.withLock({ $0 }) { throw .closing }
            guard let failure = store.failure else { return }
            throw failure.code == .closed
                ? .closing : Problem(503, .storage, "The journal has stopped. Start the server again.")
        }

        // MARK: Closing

        /// Rejects new requests, ends the streams, and waits for the requests that have no
        /// response, and then a moment until their responses and the ends of the streams are sent.
        ///
        /// - Parameters:
        ///   - timeout: The longest time for the responses.
        ///   - sendTimeout: The longest time for sending them.
        ///   - counts: The numbers of WebSockets, and of requests whose response is not completely
        ///     sent.
        func drain(timeout: Duration, sendTimeout: Duration, counts: () -> (sockets: Int, exchanges: Int)) async {
            closing.withLock { $0 = true }
            streams.close(store.failure == nil ? .closing : .failed)
            await wait(timeout) { pending.withLock { $0 } == 0 }
            // The loop ends a socket that does not answer its close.
            await wait(socketLimits.closing) { counts().sockets == 0 }
            await wait(sendTimeout) { counts().exchanges == 0 }
            followTask.withLock { $0 }?.cancel()
            switch role {
            case .writer(let accounts): accounts.stop()
            case .reader(let writer): writer.stop()
            }
            turns.stop()
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
            var waitingPasswordCount = 0
            if case .writer(let accounts) = role { waitingPasswordCount = accounts.waitingPasswordCount }
            return metrics.text(
                continuing: store.statistics.openMetrics(), store.logContact, connections: connections,
                streams: streams.count,
                waitingPasswords: waitingPasswordCount, memoryBytes: memory.byteCount,
                messageBytes: memory.messageByteCount,
                refused: limits.refusedCounts)
        }
    }

    extension Duration {
        fileprivate var microseconds: UInt64 {
            UInt64(clamping: components.seconds) * 1_000_000
                + UInt64(clamping: components.attoseconds / 1_000_000_000_000)
        }
    }
#endif
