public import Chat
public import ChatDomain

/// The chat over HTTP, for a user who is signed in: commands, queries and live events.
///
/// Independent of the transport and of accounts: a server identifies the user and passes the
/// request.
///
/// - **Who may see what** is decided by the store: every query has the user as its viewer. What
///   does not exist and what the user may not see have the same response.
/// - **Responses** have the JSON of the command-line tool. <doc:HostingTheRoutes> has two servers.
public struct ChatRoutes: Sendable {
    /// Responds to a request of a route; throws a ``Problem`` or a `ChatError`.
    package typealias Handler = @Sendable (Context) async throws -> WireResponse

    /// A request of a user, with the values of its route.
    package struct Context: Sendable {
        let chat: ChatRoutes
        package let user: UserID
        package let request: WireRequest
        package let parameters: RouteParameters

        var store: ChatStore { chat.store }
    }

    private let store: ChatStore
    private let willExecute: @Sendable (ClientCommands, UserID) throws(Problem) -> Void

    /// Creates the routes over a store.
    public init(_ store: ChatStore) { self.init(store) { (_, _) throws(Problem) in } }

    /// Creates the routes over a store.
    ///
    /// - Parameter willExecute: Is called before commands of a user are executed; what it throws is
    ///   the response.
    package init(_ store: ChatStore, willExecute: @escaping @Sendable (ClientCommands, UserID) throws(Problem) -> Void)
    {
        (self.store, self.willExecute) = (store, willExecute)
    }

    /// Responds to a request of a signed-in user.
    ///
    /// A response to `HEAD` has the body of `GET`, which the server omits.
    public func respond(to request: WireRequest, as user: UserID) async -> WireResponse {
        switch Self.router.match(method: request.method, path: request.path) {
        case .notFound: WireResponse(.notFound)
        case .methodNotAllowed(let routes): WireResponse(allowing: routes.map(\.method))
        case .route(let route, let parameters): await respond(to: request, as: user, by: route.handler, parameters)
        }
    }

    /// Responds to a request of a signed-in user whose route was found.
    package func respond(
        to request: WireRequest, as user: UserID, by handler: Handler, _ parameters: RouteParameters
    ) async -> WireResponse {
        do {
            return try await handler(Context(chat: self, user: user, request: request, parameters: parameters))
        } catch {
            return WireResponse(Problem(routeError: error))
        }
    }

    private static let router = Router(routes)

    /// Every route, in the order of the documentation.
    package static let routes: [Route<Handler>] = [
        Route("GET", "/v1/me") { context in
            try context.request.requireParameters()
            // One thread more than the answer has only shows that there are more.
            let page = PageRequest(limit: ListLimit.answer.count + 1, after: 0)
            return try context.withToken {
                try WireResponse(json: try context.store.user(context.user, threads: page, as: .user(context.user)))
            }
        },
        Route("GET", "/v1/me/threads") { context in
            try context.answer(by: \.since) {
                try context.store.threads(of: context.user, page: $0, as: .user(context.user))
            }
        },
        Route("GET", "/v1/me/blocks") { context in
            try context.answer(by: \.since) {
                try context.store.blocks(by: context.user, page: $0, as: .user(context.user))
            }
        },
        Route("POST", "/v1/commands") { context in try await context.executeCommands() },
        Route("GET", "/v1/threads") { context in
            try context.answer(by: \.lastPosition) { try context.store.threads(page: $0, as: .user(context.user)) }
        },
        Route("GET", "/v1/directory") { context in
            try context.answer(by: \.position) { try context.store.directory(page: $0, as: .user(context.user)) }
        },
        Route("GET", "/v1/threads/{thread}") { context in
            try context.request.requireParameters()
            let (store, thread) = (context.store, try context.thread())
            let found = try store.thread(thread, as: .user(context.user))
            let standing = try store.standing(of: context.user, in: thread, as: .user(context.user))
            return try WireResponse(json: ThreadAnswer(thread: found, me: ThreadAnswer.Me(standing: standing)))
        },
        Route("GET", "/v1/threads/{thread}/standing") { context in
            try context.request.requireParameters()
            return try WireResponse(
                json: try context.store.standing(of: context.user, in: try context.thread(), as: .user(context.user)))
        },
        Route("GET", "/v1/threads/{thread}/timeline") { context in
            // As of the head, so that the token continues exactly after the page.
            let head = context.store.head
            let request = try context.page()
            let page = try context.store.timeline(
                try context.thread(), page: request, as: .user(context.user), asOf: .position(head.position))
            var response = try WireResponse(json: PageAnswer(page, request, position: \.position))
            response.headers.append(("Resume-Token", "\(ResumeToken(head))"))
            return response
        },
        Route("GET", "/v1/threads/{thread}/events") { context in try context.events() },
        Route("GET", "/v1/threads/{thread}/activity") { context in
            try context.request.requireParameters(["days"])
            let days = try context.request.number("days", in: 1...ChatStore.maximumActivityDayCount) ?? 28
            return try WireResponse(
                json: try context.store.activity(in: try context.thread(), days: days, as: .user(context.user)))
        },
        Route("GET", "/v1/threads/{thread}/members") { context in
            try context.answer(by: \.since) {
                try context.store.members(of: try context.thread(), page: $0, as: .user(context.user))
            }
        },
        Route("GET", "/v1/threads/{thread}/residents") { context in
            try context.answer(by: \.since) { page in
                guard let code = try context.thread().outwardCode else { throw Problem.notFound }
                return try context.store.residents(of: code, page: page, as: .user(context.user))
            }
        },
        Route("GET", "/v1/threads/{thread}/roles") { context in
            try context.answer(by: \.since) {
                try context.store.roles(in: try context.thread(), page: $0, as: .user(context.user))
            }
        },
        Route("GET", "/v1/threads/{thread}/pins") { context in
            try context.request.requireParameters()
            return try WireResponse(
                json: ListAnswer(items: try context.store.pins(in: try context.thread(), as: .user(context.user))))
        },
        Route("GET", "/v1/threads/{thread}/sanctions") { context in
            try context.answer(by: \.position) {
                try context.store.sanctions(in: try context.thread(), page: $0, as: .user(context.user))
            }
        },
        Route("GET", "/v1/threads/{thread}/reports") { context in
            try context.answer(by: \.position) {
                try context.store.reports(in: try context.thread(), page: $0, as: .user(context.user))
            }
        },
        Route("GET", "/v1/threads/{thread}/invitations") { context in
            try context.answer(by: \.position) {
                try context.store.invitations(to: try context.thread(), page: $0, as: .user(context.user))
            }
        },
        Route("GET", "/v1/messages/{message}") { context in
            try context.request.requireParameters()
            return try WireResponse(json: try context.store.message(try context.message(), as: .user(context.user)))
        },
        Route("GET", "/v1/messages/{message}/replies") { context in
            try context.answer(by: \.position) {
                try context.store.replies(to: try context.message(), page: $0, as: .user(context.user))
            }
        },
        Route("GET", "/v1/messages/{message}/reactions") { context in
            try context.reactions(to: .message(try context.message()))
        },
        Route("GET", "/v1/replies/{reply}") { context in
            try context.request.requireParameters()
            return try WireResponse(json: try context.store.reply(try context.reply(), as: .user(context.user)))
        },
        Route("GET", "/v1/replies/{reply}/reactions") { context in
            try context.reactions(to: .reply(try context.reply()))
        },
        Route("GET", "/v1/invitations") { context in
            try context.answer(by: \.position) {
                try context.store.invitations(of: context.user, page: $0, as: .user(context.user))
            }
        },
        Route("GET", "/v1/inbox") { context in
            let page = try context.page()
            // As of one position, so that the count is that of the page.
            let head = context.store.head
            let reader = context.store.reader(as: .user(context.user), asOf: .position(head.position))
            let (found, unread) = (
                try reader.inbox(of: context.user, page: page), try reader.unreadInboxCount(of: context.user)
            )
            var response = try WireResponse(json: PageAnswer(found, page, unread: unread, position: \.position))
            response.headers.append(("Resume-Token", "\(ResumeToken(head))"))
            return response
        },
        Route("GET", "/v1/people") { context in
            try context.answer(by: \.since, beside: ["name"]) {
                try context.store.people(
                    named: context.request.parameter("name") ?? "", page: $0, as: .user(context.user))
            }
        },
        Route("GET", "/v1/people/{user}") { context in
            guard let user = UserID(context.parameters["user"]) else { throw Problem.notFound }
            let page = try context.page()
            return try context.withToken {
                try WireResponse(
                    json: PersonAnswer(try context.store.person(user, threads: page, as: .user(context.user)), page))
            }
        },
        Route("GET", "/v1/events") { context in try context.follow() },
    ]
}

extension ChatRoutes.Context {
    fileprivate func thread() throws(Problem) -> ThreadID {
        guard let thread = ThreadID(idOrOutwardCode: parameters["thread"]) else { throw .notFound }
        return thread
    }

    private var defaultPageSize: Int { 50 }

    fileprivate func message() throws(Problem) -> MessageID {
        guard let message = MessageID(parameters["message"]) else { throw .notFound }
        return message
    }

    fileprivate func reply() throws(Problem) -> ReplyID {
        guard let reply = ReplyID(parameters["reply"]) else { throw .notFound }
        return reply
    }

    /// The page of `limit` and one of `before`, `after`, `around` and `at`.
    ///
    /// - Parameter others: Other parameters of the route.
    fileprivate func page(beside others: [String] = []) throws -> PageRequest {
        let bounds = ["before", "after", "around", "at"]
        try request.requireParameters(["limit"] + bounds + others)
        let given = bounds.filter { request.parameter($0) != nil }
        guard given.count < 2 else {
            throw Problem(400, .invalidQuery, "Only one of before, after, around and at is allowed.", field: given[1])
        }
        var page = PageRequest(
            limit: try request.number("limit", in: 1...ListLimit.answer.count) ?? defaultPageSize,
            before: try request.number("before", in: 0...Position.max),
            after: try request.number("after", in: 0...Position.max),
            around: try request.number("around", in: 0...Position.max))
        if let text = request.parameter("at") {
            guard let time = Timestamp(text) else {
                throw Problem(400, .invalidQuery, "The parameter is a time such as 2026-11-21T05:03:12Z.", field: "at")
            }
            page.after = try store.lastPosition(before: time)
        }
        return page
    }

    /// Returns the response with a page of the events of a thread, from the first event on.
    ///
    /// The last page has the token of all events up to it.
    fileprivate func events() throws -> WireResponse {
        try request.requireParameters(["limit", "after", "kinds", "customKinds"])
        let filter = EventFilter(
            as: .user(user), kinds: try request.set("kinds", of: "event kinds", EventKind.init(name:)),
            customKinds: try request.set("customKinds", of: "custom kinds") { CustomKind($0) })
        // As of the head, so that the token continues exactly after the last page.
        let head = store.head
        let events = try store.events(
            of: try thread(), after: try request.number("after", in: 0...Position.max) ?? 0,
            limit: try request.number("limit", in: 1...ListLimit.answer.count) ?? defaultPageSize, matching: filter,
            asOf: .position(head.position))
        // A page before the last one has no token: one of the head would leave out what follows the
        // page.
        return try WireResponse(json: PageAnswer(events), resumeToken: events.isLast ? ResumeToken(head) : nil)
    }

    /// Adds the token of a state that the response contains: a stream after it misses nothing.
    fileprivate func withToken(_ respond: () throws -> WireResponse) rethrows -> WireResponse {
        let head = store.head
        var response = try respond()
        response.headers.append(("Resume-Token", "\(ResumeToken(head))"))
        return response
    }

    /// Returns the response with the page that the parameters ask for.
    ///
    /// - Parameters:
    ///   - position: The key of the pages.
    ///   - names: The parameters of the route beside those of a page.
    ///   - list: The query.
    fileprivate func answer<Item: Encodable & Sendable>(
        by position: @escaping (Item) -> Position, beside names: [String] = [],
        _ list: (PageRequest) throws -> Page<Item>
    ) throws -> WireResponse {
        let page = try page(beside: names)
        return try withToken { try WireResponse(json: PageAnswer(try list(page), page, position: position)) }
    }

    /// Returns the response with a page of the reactions to a post.
    fileprivate func reactions(to post: PostID) throws -> WireResponse {
        let emoji = try request.parameter("emoji").map { text in
            guard let emoji = Emoji(text) else {
                throw Problem(
                    400, .invalidQuery, "The parameter is an emoji of Unicode, or a name such as :wave:.",
                    field: "emoji")
            }
            return emoji
        }
        return try answer(by: \.position, beside: ["emoji"]) {
            try store.reactions(to: post, emoji: emoji, page: $0, as: .user(user))
        }
    }

    /// Executes the commands of the body as one batch.
    fileprivate func executeCommands() async throws -> WireResponse {
        try request.requireParameters()
        return await chat.response(to: try ClientCommands(request.body, actor: user), as: user)
    }

    /// Follows the events that the user may see.
    fileprivate func follow() throws -> WireResponse {
        try request.requireParameters(["after", "thread"])
        let (start, updates) = try chat.updates(
            after: request.lastEventID ?? request.parameter("after"), thread: request.parameter("thread"), as: user)
        return WireResponse(
            status: 200, headers: [("Content-Type", "text/event-stream"), ("X-Accel-Buffering", "no")],
            body: .events(EventStream(updates, from: start)))
    }
}

extension ChatRoutes {
    /// The response of `POST /v1/commands`: an answer, or an array of them.
    package func response(to commands: ClientCommands, as user: UserID) async -> WireResponse {
        do {
            try willExecute(commands, user)
            let answers = try await execute(commands, as: user)
            return commands.isBatch ? try WireResponse(json: answers) : try WireResponse(json: answers[0])
        } catch {
            return WireResponse(Problem(routeError: error))
        }
    }

    /// Executes the commands of a user as one batch.
    ///
    /// - Throws: `ChatError` if they were not decided.
    private func execute(_ commands: ClientCommands, as user: UserID) async throws(ChatError) -> [CommandAnswer] {
        // `endSession` has no acting user, so a session of another user counts as unknown.
        let isForeign = commands.requests.map { request in
            guard request.command.kind == .endSession, let id = request.command.id else { return false }
            return store.userID(ofSession: SessionID(bits: id)).map { $0 != user } ?? false
        }
        let own = zip(commands.requests, isForeign).filter { !$1 }.map(\.0)
        var results = try await store.execute(own)[...]
        return isForeign.enumerated().map { index, isForeign in
            CommandAnswer(line: index + 1, isForeign ? .failure(.unknownSession) : results.removeFirst())
        }
    }

    /// Returns the events that a user may see, after a token or the present end, in one thread or
    /// in all, with what the user must no longer see.
    ///
    /// - Throws: ``Problem`` with `invalidToken` or `notFound`, or `ChatError`.
    func updates(after text: String?, thread: String?, as user: UserID) throws -> (
        start: ResumeToken, updates: ChatUpdates
    ) {
        var filter = EventFilter(as: .user(user))
        var start = ResumeToken(store.head)
        if let text {
            guard let token = ResumeToken(text) else {
                throw Problem(400, .invalidToken, "This is not a resume token.")
            }
            try store.requireValid(token)
            start = token
        }
        if let thread {
            guard let thread = ThreadID(idOrOutwardCode: thread) else { throw Problem.notFound }
            // The thread must exist for the user now, or as of the token: then the stream tells of
            // the end of the access. The rights are decided again for each event.
            if !store.couldRead(thread, user, asOf: start.position) { _ = try store.thread(thread, as: .user(user)) }
            filter.threads = [thread]
        }
        return (start, store.events(after: start, matching: filter).updates)
    }
}

extension Problem {
    /// The problem of an error of a route.
    package init(routeError error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as ChatError: self.init(error)
        case is CancellationError: self = .closing
        default: self = .storage
        }
    }

    init(_ error: ChatError) {
        switch error {
        case .rejected(let rejection):
            switch rejection.code {
            case .invalidPosition: self.init(400, .invalidQuery, "The position is beyond the end of the journal.")
            case .storageFull: self.init(503, .storageFull, rejection.message, retryAfter: 30)
            case .clockStepped: self.init(503, .clockStepped, rejection.message, retryAfter: 30)
            // Unknown and not visible are the same.
            default: self = .notFound
            }
        case .foreignToken, .futureToken, .rolledBackToken:
            self.init(400, .invalidToken, "The resume token does not belong to the history of this journal.")
        case .batchTooLarge: self.init(413, .tooLarge, "The batch is too large for one commit.")
        case .cancelled: self = .closing
        case .journal(let error): self = error.code == .closed ? .closing : .storage
        case .undecodable, .newerEvents, .erasureUnfinished, .lagged, .incompleteThread: self = .storage
        }
    }
}
