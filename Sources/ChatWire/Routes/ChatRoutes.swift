public import Chat
public import ChatDomain

/// The chat over HTTP, for a user who is signed in: commands, queries and live events.
///
/// Independent of the transport and of accounts: a server identifies the user and passes the
/// request, and adds routes of its own (`ServerCore.routes`).
///
/// - **Who may see what** is decided by the store: every query has the user as its viewer. What
///   does not exist and what the user may not see have the same response.
/// - **Responses** have the JSON of the command-line tool. <doc:HostingTheRoutes> has two servers.
public struct ChatRoutes: Sendable {
    /// Responds to a request of a route; throws a `Problem` or a `ChatError`.
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

    private static let forModerators = "For moderators, owners and operators; for other users the answer is 404."

    /// Every route, in the order of the documentation.
    package static let routes: [Route<Handler>] = [
        route(
            UserQuery.self, .value("Me"), "The user of the session",
            "With the first 200 threads that the user joined; `GET /v1/me/threads` has all, in pages.", token: .earlier
        ) { context in
            var query = try context.query(UserQuery.self)
            // One thread more than the answer has only shows that there are more.
            query.threads = PageRequest.after(0, limit: ListLimit.answer.count + 1)
            return try context.withToken { try WireResponse(json: try context.reader().answer(query)) }
        },
        route(
            UserThreadsQuery.self, of: "UserThread",
            "The threads of which the user is a member, in the order of joining"),
        route(BlocksQuery.self, of: "Block", "The users whom the user has blocked, in the order of the blocks"),
        Route("POST", "/v1/commands") { context in try await context.executeCommands() },
        route(ThreadsQuery.self, of: "Thread", "The threads that the user may read, latest event last"),
        route(
            DirectoryQuery.self, of: "DirectoryEntry",
            "The threads that every user may find and join, latest post last",
            """
            The threads with the policy `listed` that are not closed, without those from which the user is banned. \
            Nothing of what was posted is shown.
            """),
        route(ThreadQuery.self, .value("Thread"), "A thread") { context in
            let (query, reader) = (try context.query(ThreadQuery.self), context.reader())
            let found = try reader.answer(query)
            let standing = try reader.standing(of: context.user, in: query.thread)
            return try WireResponse(json: ThreadAnswer(thread: found, me: ThreadAnswer.Me(standing: standing)))
        },
        route(
            StandingQuery.self, .value("Standing"), "The user's standing in a thread",
            """
            Also for a user who can no longer read the thread, so that a page can say why. A private thread that \
            never concerned the user is 404.
            """),
        route(
            TimelineQuery.self, .page(of: "Message"), "The messages of a thread, oldest first", token: .exact
        ) { context in
            let query = try context.query(TimelineQuery.self)
            // As of the head, so that the token continues exactly after the page.
            let head = context.store.head
            let page = try context.reader(asOf: .position(head.position)).answer(query)
            return try WireResponse(json: page, of: query.page).with(ResumeToken(head))
        },
        Route("GET", "/v1/threads/{thread}/events") { context in try context.events() },
        route(
            CustomEventsQuery.self, of: "CustomEvent", "The custom events of a thread, oldest first",
            """
            Without those whose payload is erased. A page looks at 1,000 events at most; if that is not enough, it has \
            `more`.
            """,
            parameters: [.init("kind", "Only custom events of this kind.")]),
        route(
            ThreadActivityQuery.self, .value("ThreadActivity"),
            "The number of messages on each of the last days, and of their authors",
            """
            Of the messages that the user may read. The days are those of UTC, the last one is today. At most the \
            latest 100,000 messages are counted; then the answer has `more`.
            """,
            parameters: [.init("days", "The number of days.", default: ThreadActivityQuery.defaultDayCount)]),
        route(MembersQuery.self, of: "Member", "The members of a thread, in the order of joining"),
        route(
            ResidentsQuery.self, of: "Resident", "The residents of the outward code of a thread",
            "A named thread has none: 404."),
        route(RolesQuery.self, of: "RoleHolder", "The owners and moderators of a thread"),
        route(
            PinsQuery.self, .list("PinList", of: "Message"),
            "The pinned messages of a thread, in the order in which they were pinned"),
        route(SanctionsQuery.self, of: "Sanction", "The mutes and bans of a thread, oldest first", forModerators),
        route(ReportsQuery.self, of: "Report", "The open reports of a thread, oldest first", forModerators),
        route(
            ThreadInvitationsQuery.self, of: "Invitation", "The open invitations to a thread, oldest first",
            forModerators),
        route(MessageQuery.self, .value("Message"), "A message"),
        route(RepliesQuery.self, of: "Reply", "The replies to a message, oldest first"),
        route(
            MessageReactionsQuery.self, of: "Reaction", "The reactions to a message with their users, oldest first"),
        route(ReplyQuery.self, .value("Reply"), "A reply, with the message that it answers"),
        route(ReplyReactionsQuery.self, of: "Reaction", "The reactions to a reply with their users, oldest first"),
        route(InvitationsQuery.self, of: "Invitation", "The open invitations of the user, oldest first"),
        route(
            InboxQuery.self, .value("InboxPage"), "What happened to the user, newest first",
            """
            Replies to the messages of the user and to those that they answered, mentions, reactions to their posts, \
            invitations, what moderators did to them, and reports in the threads that they moderate. An entry about a \
            post exists as long as the post and the right to read it do, and nothing is from a user whom the user \
            blocks. The page and the number of unread entries each look at 1,000 events at most; if that is not \
            enough, they have `more`. They look at the latest 40 events of each other user before the rest.
            """, token: .exact
        ) { context in
            let query = try context.query(InboxQuery.self)
            // As of one position, so that the count is that of the page.
            let head = context.store.head
            let reader = context.reader(asOf: .position(head.position))
            let (page, unread) = (try reader.answer(query), try reader.unreadInboxCount(of: context.user))
            return try WireResponse(json: InboxAnswer(page: page, unread: unread), of: query.page).with(
                ResumeToken(head))
        },
        route(
            PeopleQuery.self, of: "Person", "The people of the user's threads whose names begin with a text",
            """
            The other members of the threads of which the user is a member, in the order of the first of their joins \
            of the threads in common. Users whose names are erased are not among them. At most 10,000 memberships \
            are looked at, those of the thread that the user came to last first; if that is not enough, people can be \
            missing, and the page has `more`.
            """,
            parameters: [
                .init(
                    "name",
                    """
                    Only the people whose names begin with this text, in any case and without accents: `em` finds \
                    Émile. All of them if it is left out or has no visible character.
                    """)
            ]),
        route(
            PersonQuery.self, .value("PersonDetails"), "What the user is shown of a person",
            """
            The user themself, or a person with whom they have a thread in common: a thread of which both are \
            members. Anyone else is 404, whether or not they exist. The parameters select threads, in the order in \
            which the person joined them.
            """, token: .earlier
        ) { context in
            let query = try context.query(PersonQuery.self)
            return try context.withToken {
                try WireResponse(json: try context.reader().answer(query), of: query.page)
            }
        },
        Route("GET", "/v1/events") { context in try context.follow() },
    ]
}

extension ChatRoutes.Context {
    /// Returns the response with a page of the events of a thread, from the first event on.
    ///
    /// The last page has the token of all events up to it.
    fileprivate func events() throws -> WireResponse {
        try request.requireParameters(["limit", "after", "kinds", "customKinds"])
        let filter = EventFilter(
            as: .user(user), kinds: try request.set("kinds", of: "event kinds", EventKind.init(name:)),
            customKinds: try request.set("customKinds", of: "custom kinds") { CustomKind($0) })
        guard let thread = ThreadID(idOrOutwardCode: parameters["thread"]) else { throw Problem.notFound }
        // As of the head, so that the token continues exactly after the last page.
        let head = store.head
        let after = try request.number("after", in: 0...Position.max) ?? 0
        let events = try store.events(
            of: thread, after: after,
            limit: try request.number("limit", in: PageRequest.answerLimits) ?? PageRequest.latest().limit,
            matching: filter,
            asOf: .position(head.position))
        // A page before the last one has no token: one of the head would leave out what follows the
        // page.
        return try WireResponse(
            json: Page(entries: events.events, newer: .after(events.end), isTruncated: events.hasMore),
            of: PageRequest.after(after), tokenIfWhole: events.isLast ? ResumeToken(head) : nil)
    }

    /// Executes the commands of the body as one batch.
    fileprivate func executeCommands() async throws -> WireResponse {
        try request.requireParameters()
        let commands = try ClientCommands(request.body, actor: user)
        let answers = try await chat.execute(commands, as: user)
        return commands.isBatch ? try WireResponse(json: answers) : try WireResponse(json: answers[0])
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
    /// Executes the commands of a message as one batch.
    package func answer(to commands: ClientCommands, as user: UserID) async -> SocketAnswer {
        do {
            let answers = try await execute(commands, as: user)
            let json = commands.isBatch ? SocketAnswer.json(of: answers) : SocketAnswer.json(of: answers[0])
            return SocketAnswer(json: json, to: commands, isProblem: false)
        } catch {
            return SocketAnswer(Problem(routeError: error))
        }
    }

    /// Executes the commands of a user as one batch.
    ///
    /// - Throws: `ChatError` if they were not decided, and the problem of the host program.
    fileprivate func execute(_ commands: ClientCommands, as user: UserID) async throws -> [CommandAnswer] {
        try willExecute(commands, user)
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
    /// - Throws: `Problem` with `invalidToken` or `notFound`, or `ChatError`.
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
            if !store.couldRead(thread, user, asOf: start.position) {
                _ = try store.reader(as: .user(user)).thread(thread)
            }
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
