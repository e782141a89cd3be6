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
            /// WebSockets, of users and of the tutorials.
            case socket, tutorial
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
        let reading: ReadingSlots
        /// The account of what clients hold.
        let memory: ClientMemory
        /// The number of follows of each user.
        private let follows: ClientMemory
        private let turns: Turns
        /// The users of tokens that were valid, so that a request begins in the turns of its user.
        ///
        /// Its session is looked up all the same.
        private let knownUsers = Lock([String: UserID]())
        private let files: StaticFiles
        private let logsRequests: Bool
        private let router: Router<Handler>
        private static let routes =
            AccountRoutes.routes.map { Route($0.method, $0.pattern, Handler.account($0.handler)) }
            + ChatRoutes.routes.map { Route($0.method, $0.pattern, Handler.chat($0.handler)) }
            + [
                Route("GET", "/v1/socket", takesEveryMethod: true, .socket),
                Route("GET", "/chat", takesEveryMethod: true, .tutorial),
                Route("POST", exportPath, .export),
            ]
        /// Follows the log, so that queries of a server that reads see what others write.
        private let followTask = Lock<Task<Void, Never>?>(nil)
        private let socketLimits: SocketLimits
        #if os(Linux)
            private let tutorial: TutorialChat?
            let isTutorialPublic: Bool
        #endif
        /// The last look at what `/healthz` tells.
        let look = Lock(Health.Look())
        /// The status and the warnings of the health that the log has last.
        let loggedHealth = Lock(["ok"])
        private let closing = Lock(false)
        /// The requests that have no response yet.
        private let pending = Lock(0)

        init(
            _ store: ChatStore, _ headCheck: HeadCheck, _ options: ServerOptions, _ extensions: ServerExtensions,
            _ makeRole: (ServerLog) -> Role
        ) async throws(ServerError) {
            let (logsRequests, tutorialThread, isTutorialPublic) = (
                options.logsRequests, options.tutorialThread, options.isTutorialPublic
            )
            (self.store, self.headCheck, log) = (store, headCheck, ServerLog(options.log))
            files = StaticFiles(siteName: options.siteName, about: options.about)
            self.logsRequests = logsRequests
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
            #if os(Linux)
                var tutorial: TutorialChat?
                if let tutorialThread {
                    do throws(ChatError) { tutorial = try await TutorialChat(store, thread: tutorialThread) } catch {
                        throw ServerError(
                            .tutorialThread, "The thread of the tutorials' chat cannot be opened: \(error)")
                    }
                }
                self.tutorial = tutorial
                self.isTutorialPublic = isTutorialPublic
            #endif
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
        fileprivate func respondToHealthCheck(_ request: HTTPRequest, _ exchange: HTTPExchange) {
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

        fileprivate func respond(to request: HTTPRequest, of client: Client, _ exchange: HTTPExchange) async {
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

        private func response(
            to request: WireRequest, _ head: HTTPHead, at match: Router<Handler>.Match, _ exchange: HTTPExchange,
            _ client: Client
        ) async throws -> HTTPResponse {
            let token = SessionCredentials.token(in: head, isSecure: headCheck.isSecure(head))
            switch match {
            case .notFound:
                if let file = files.response(to: head) { return HTTPResponse(file) }
                if request.path == ["healthz"] { return try healthResponse(request.method) }
                throw Problem.notFound
            case .methodNotAllowed(let routes):
                if case .chat = routes[0].handler { _ = try await requireSession(token) }
                return HTTPResponse(WireResponse(allowing: routes.map(\.method)))
            case .route(let route, let parameters):
                switch route.handler {
                case .account(let handler):
                    try request.requireParameters()
                    return HTTPResponse(
                        try await respond(to: request, head, token, at: route.pattern, by: handler, parameters))
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
                case .tutorial:
                    #if os(Linux)
                        if let tutorial { return try upgrade(head, tutorial) }
                    #endif
                    throw Problem.notFound
                }
            }
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

        /// Takes memory of a user for something that stands.
        func hold(_ byteCount: Int, of user: UserID) throws(Problem) -> HeldMemory {
            guard let held = memory.hold(byteCount, by: .user(user)) else { throw .busy }
            return held
        }

        /// Takes what a follow of a user holds while it exists.
        func holdFollow(of user: UserID) throws(Problem) -> any Sendable {
            guard let place = follows.hold(1, by: .user(user)) else { throw limits.refusal(.follows) }
            return [place, try hold(ServerMemory.follow, of: user)]
        }

        /// Runs the work of a client, in turns with that of others.
        ///
        /// A log of other machines is read on threads of its own: the others go on in an outage.
        func executor(of client: Client) -> any TaskExecutor { store.readExecutor ?? turns.executor(of: client) }

        /// The client in whose turns a request begins.
        private func likelyClient(of head: HTTPHead) -> Client {
            let token = SessionCredentials.token(in: head, isSecure: headCheck.isSecure(head))
            if let token, let user = knownUsers.withLock({ $0[token] }) { return .user(user) }
            return client(of: head)
        }

        private func note(_ user: UserID, of token: String) {
            knownUsers.withLock { known in
                if known.count >= KnownSessions.maximumCount { known = [:] }
                known[token] = user
            }
        }

        /// The client of a request whose session is not known.
        private func client(of head: HTTPHead) -> Client {
            guard let client = headCheck.client(of: head), !headCheck.isShared(client) else { return .shared }
            return .address(client)
        }

        /// Lets the body of a request be read, or responds: the request has no route, or needs a
        /// session.
        fileprivate func decideBody(of head: HTTPHead, _ exchange: HTTPExchange) async {
            defer { pending.withLock { $0 -= 1 } }
            do {
                if closing.withLock({ $0 }) { throw Problem.closing }
                let request = try WireRequest(method: head.method, target: head.target, lastEventID: nil, body: [])
                let match = router.match(method: request.method, path: request.path)
                guard case .route(let route, _) = match else {
                    return exchange.respond(
                        try await response(to: request, head, at: match, exchange, .shared).withStandardHeaders)
                }
                exchange.admit(try await payer(for: head, at: route))
            } catch {
                exchange.respond(rejection(Problem(serverError: error)))
            }
        }

        /// Returns who pays for the body of a request.
        ///
        /// - Throws: `notSignedIn` if the route needs a session and the request has none.
        private func payer(for head: HTTPHead, at route: Route<Handler>) async throws -> Client {
            let token = SessionCredentials.token(in: head, isSecure: headCheck.isSecure(head))
            switch route.handler {
            case .chat, .socket, .export: return .user(try await requireSession(token).user)
            case .account, .tutorial:
                if let token, let user = try await sessions.user(ofToken: token) { return .user(user) }
                return client(of: head)
            }
        }

        /// Returns the user of the session that a token belongs to, and the token.
        private func requireSession(_ token: String?) async throws -> (user: UserID, token: String) {
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

    extension ServerCore: HTTPHandler {
        func check(_ head: HTTPHead) -> HTTPResponse? {
            headCheck.problem(of: head).map(rejection)
        }

        func bodyLimit(of head: HTTPHead) -> Int { headCheck.bodyLimit(of: head) }

        func response(to error: HTTPError) -> HTTPResponse { rejection(Problem(error)) }

        fileprivate func rejection(_ problem: Problem) -> HTTPResponse {
            metrics.count(route: "rejected", status: problem.status, microseconds: 0)
            return HTTPResponse(WireResponse(problem)).withStandardHeaders
        }

        func admit(_ head: HTTPHead, _ exchange: HTTPExchange) {
            pending.withLock { $0 += 1 }
            Task(executorPreference: executor(of: likelyClient(of: head))) { await self.decideBody(of: head, exchange) }
        }

        func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
            if request.head.isHealthCheck { return respondToHealthCheck(request, exchange) }
            // Before the task runs, so that the server waits for it when it closes.
            let client = likelyClient(of: request.head)
            let byteCount =
                ServerMemory.request + request.head.heldByteCount + (request.held == nil ? request.body.count : 0)
            guard let held = memory.hold(byteCount, by: client) else { return exchange.respond(rejection(.busy)) }
            exchange.hold(held)
            if let body = request.held { exchange.hold(body) }
            pending.withLock { $0 += 1 }
            Task(executorPreference: executor(of: client)) { await self.respond(to: request, of: client, exchange) }
        }
    }

    extension HTTPResponse {
        /// Creates the response of a route, which is no stream.
        init(_ response: WireResponse) {
            guard case .bytes(let bytes) = response.body else {
                preconditionFailure("a stream is opened with its exchange")
            }
            self.init(status: response.status, headers: response.headers, body: .bytes(bytes))
        }

        /// The response with the headers that every response has.
        var withStandardHeaders: HTTPResponse {
            var response = self
            if !headers.contains(where: { $0.name == "Cache-Control" }) {
                response.headers.append(("Cache-Control", "no-store"))
            }
            response.headers += [
                ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
                ("Cross-Origin-Resource-Policy", "same-origin"),
            ]
            if status == 401 { response.headers.append(("WWW-Authenticate", "Bearer")) }
            if status == 426 {
                response.headers += [
                    ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
                ]
            }
            return response
        }
    }

    extension Duration {
        fileprivate var microseconds: UInt64 {
            UInt64(clamping: components.seconds) * 1_000_000
                + UInt64(clamping: components.attoseconds / 1_000_000_000_000)
        }
    }
#endif
