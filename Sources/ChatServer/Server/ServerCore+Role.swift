#if Server
    internal import Chat
    internal import ChatAccounts
    internal import ChatDomain
    internal import ChatWire
    internal import EventJournal

    // What a server that writes does itself, and a server that reads passes on to it.
    extension ServerCore {
        /// Who has the accounts and executes commands.
        enum Role: Sendable {
            /// This server.
            case writer(AccountService)
            /// Another one: this server answers queries and delivers events from a read-only store.
            case reader(WriterClient)
        }

        /// The longest time that a response waits until this server's store has what the writer
        /// wrote.
        private static let catchUpLimit = Duration.seconds(2)

        /// Carries out a request about an account.
        func respond(
            to request: WireRequest, _ head: HTTPHead, _ token: String?, at pattern: String,
            by handler: AccountRoutes.Handler,
            _ parameters: RouteParameters
        ) async throws -> WireResponse {
            switch role {
            case .writer(let accounts):
                var signedIn: (session: AccountSession, token: String)?
                if let token, let session = try accounts.session(token) { signedIn = (session, token) }
                let context = AccountRequest(
                    accounts: accounts, streams: streams, request: request, client: headCheck.client(of: head),
                    isSecure: headCheck.isSecure(head),
                    session: signedIn, parameters: parameters)
                return try await handler(context)
            case .reader(let writer):
                // Before the request, which may end the session.
                var user: UserID?
                if !head.isSafe, let token { user = try await writer.user(ofToken: token) }
                let response: WireResponse
                do {
                    // Also without an answer: the request may have been carried out.
                    defer { if let user { writer.forgetSessions(of: user) } }
                    response = try await pass(head.method, head.target, request.body, head, token, to: writer)
                }
                if let user {
                    await streams.checkSessions(of: user, validity: writer.validity)
                } else if pattern == AccountRoutes.resetPath, (200..<300) ~= response.status {
                    // Only the writer knows whose sessions have ended.
                    writer.forgetSessions(of: nil)
                    await streams.checkSessions(validity: writer.validity)
                }
                return response
            }
        }

        /// Carries out another request of a user who is signed in.
        func respond(
            to request: WireRequest, _ head: HTTPHead, as user: UserID, _ token: String, by handler: ChatRoutes.Handler,
            _ parameters: RouteParameters
        ) async throws -> WireResponse {
            if case .reader(let writer) = role, !head.isSafe {
                return try await pass(head.method, head.target, request.body, head, token, to: writer)
            }
            var response = await chatRoutes.respond(to: request, as: user, by: handler, parameters)
            if !head.isSafe, response.status == 200 { response.addResumeToken(of: store) }
            return response
        }

        /// How the commands of a socket are executed; nil: by the store.
        func executor(of head: HTTPHead, _ token: String) -> (@Sendable (ClientCommands) async -> SocketAnswer)? {
            guard case .reader(let writer) = role else { return nil }
            return { [self] commands in
                do throws(Problem) {
                    let response = try await pass("POST", "/v1/commands", commands.body, head, token, to: writer)
                    guard case .bytes(let json) = response.body else { throw .writerUnavailable }
                    return SocketAnswer(json: json, to: commands, isProblem: response.status != 200)
                } catch {
                    return SocketAnswer(error)
                }
            }
        }

        /// Passes a request to the writer; returns when this server can show what it has changed.
        func pass(
            _ method: String, _ target: String, _ body: [UInt8], _ head: HTTPHead, _ token: String?,
            to writer: WriterClient
        ) async throws(Problem) -> WireResponse {
            let response = try await writer.send(
                method, target, body: body, token: token, host: headCheck.publicHost(of: head),
                client: headCheck.client(of: head)?.description)
            if let text = response.headers.first(where: { $0.name == "Resume-Token" })?.value,
                let token = ResumeToken(text)
            {
                await catchUp(to: token.position)
            }
            return response
        }

        /// Reads until the store has a position; gives up after a while, because a response is
        /// owed.
        private func catchUp(to position: Position) async {
            let deadline = ContinuousClock.now + Self.catchUpLimit
            var pause = Duration.milliseconds(1)
            while store.head.position < position, ContinuousClock.now < deadline {
                // The task that follows reports what keeps the store from reading.
                do { if try store.refresh() >= position { return } } catch { return }
                do { try await Task.sleep(for: pause) } catch { return }
                pause = min(pause * 2, .milliseconds(100))
            }
        }

        /// Follows the log, so that the queries of a server that reads show what the writer writes.
        ///
        /// An outage is waited for. Any other failure stops the store: its answers would be stale.
        func followLog() async {
            while !Task.isCancelled {
                do throws(ChatError) {
                    var events = store.events(after: store.head.position, matching: EventFilter(as: .host))
                        .makeAsyncIterator()
                    while try await events.next(isolation: nil) != nil {}
                    return
                } catch {
                    if case .cancelled = error { return }
                    guard case .journal(let failure) = error else {
                        return store.stop(JournalError(.damaged, "The server cannot follow the journal: \(error)"))
                    }
                    if failure.code != .unreachable { return store.stop(failure) }
                    log.write("followingInterrupted", ("code", Problem(routeError: error).code.rawValue))
                }
                do { try await Task.sleep(for: .seconds(1)) } catch { return }
            }
        }
    }

    extension WireResponse {
        /// Adds the token of a state that contains what the request has written: a server that
        /// reads waits for it before it passes the response on.
        mutating func addResumeToken(of store: ChatStore) {
            headers.append(("Resume-Token", "\(ResumeToken(store.head))"))
        }
    }
#endif
