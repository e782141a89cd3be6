internal import Chat
internal import ChatDomain

/// The routes of queries: the value of the path and the parameters, and its answer; and what the
/// OpenAPI document says of them (``QueryDescription``).
extension ChatRoutes {
    /// The route of a query whose answer is a page of a list.
    ///
    /// - Parameter item: The name of the schema of an item.
    static func route<Query: StoreQuery & PageQuery, Entry: PageEntry>(
        _ type: Query.Type, of item: String, _ summary: String, _ details: String? = nil,
        parameters: [QueryDescription.Parameter] = []
    ) -> Route<Handler> where Query.Answer == Page<Entry> {
        let description = QueryDescription(
            type, .page(of: item), summary, details, isNewestFirst: Entry.isNewestFirst, parameters: parameters)
        return Route("GET", Query.path, description: description) { context in
            let query = try context.query(type)
            return try context.withToken {
                try WireResponse(json: try context.reader().answer(query), of: query.page)
            }
        }
    }

    /// The route of a query with any other answer.
    static func route<Query: StoreQuery>(
        _ type: Query.Type, _ answer: QueryDescription.Answer, _ summary: String, _ details: String? = nil,
        parameters: [QueryDescription.Parameter] = []
    ) -> Route<Handler> {
        route(type, answer, summary, details, parameters: parameters) { context in
            try WireResponse(json: try context.reader().answer(try context.query(type)))
        }
    }

    /// The route of a query whose answer has more than a store's.
    static func route(
        _ type: (some ChatQuery).Type, _ answer: QueryDescription.Answer, _ summary: String,
        _ details: String? = nil, token: QueryDescription.Token? = nil,
        parameters: [QueryDescription.Parameter] = [], _ handler: @escaping Handler
    ) -> Route<Handler> {
        Route(
            "GET", type.path,
            description: QueryDescription(type, answer, summary, details, token: token, parameters: parameters),
            handler)
    }
}

extension ChatRoutes.Context {
    /// The queries of the user.
    func reader(asOf point: AsOf = .now) -> ChatReader { store.reader(as: .user(user), asOf: point) }

    /// Returns the query of the path and the parameters.
    func query<Query: ChatQuery>(_ type: Query.Type) throws -> Query { try received(type).query }

    /// Returns the query of the path and the parameters, with the position of the parameter `at`.
    func query<Query: PageQuery>(_ type: Query.Type) throws -> Query {
        var received = try received(type)
        if let start = received.start { received.query.page.after = try store.lastPosition(before: start) }
        return received.query
    }

    private func received<Query: ChatQuery>(_ type: Query.Type) throws(Problem) -> ReceivedQuery<Query> {
        do throws(QueryProblem) {
            return try type.received(path: parameters.values, parameters: request.query)
        } catch { throw Problem(error) }
    }

    /// Adds the token of a state that the response contains: a stream after it misses nothing.
    func withToken(_ respond: () throws -> WireResponse) rethrows -> WireResponse {
        let head = store.head
        return try respond().with(ResumeToken(head))
    }
}

extension WireResponse {
    /// Returns the response with a token, from which a stream continues.
    func with(_ token: ResumeToken) -> WireResponse {
        var response = self
        response.headers.append(("Resume-Token", "\(token)"))
        return response
    }
}

extension Problem {
    fileprivate init(_ problem: QueryProblem) {
        switch problem {
        // Of a query that no route can have there is no answer either.
        case .notFound, .unsupported: self = .notFound
        case .unknown(let name): self = .unknownParameter(name)
        case .repeated(let name): self = .repeatedParameter(name)
        case .missing(let name): self.init(400, .invalidQuery, "The parameter is required.", field: name)
        case .invalid(let name, let form): self.init(400, .invalidQuery, "The parameter is \(form).", field: name)
        case .secondBound(let name):
            self.init(400, .invalidQuery, "Only one of before, after, around and at is allowed.", field: name)
        }
    }

    static func unknownParameter(_ name: String) -> Problem {
        Problem(400, .invalidQuery, "This route has no such parameter.", field: LineError.excerpt(name))
    }

    static func repeatedParameter(_ name: String) -> Problem {
        Problem(400, .invalidQuery, "The parameter is given twice.", field: name)
    }
}
