#if Server
    internal import Chat
    internal import ChatAccounts
    internal import ChatDomain
    internal import ChatWire
    internal import Locking

    // Whose request it is: who pays for what it holds, and in whose turns it runs.
    extension ServerCore {
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
        func likelyClient(of head: HTTPHead) -> Client {
            let token = SessionCredentials.token(in: head, isSecure: headCheck.isSecure(head))
            if let token, let user = knownUsers.withLock({ $0[token] }) { return .user(user) }
            return client(of: head)
        }

        func note(_ user: UserID, of token: String) {
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
        func decideBody(of head: HTTPHead, _ exchange: HTTPExchange) async {
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
            case .account, .hostSocket:
                if let token, let user = try await sessions.user(ofToken: token) { return .user(user) }
                return client(of: head)
            }
        }
    }
#endif
