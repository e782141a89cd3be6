#if Client || canImport(SQLite3)
    import ChatClient
    import ChatDomain
    import ChatLive
    import ChatValues
    import ChatWire

    /// A query of a line of the input: `{"timeline":{"thread":"SW1A","limit":20}}`.
    ///
    /// The name is that of the query, the fields are the values of the path and the parameters of its
    /// route of the HTTP API.
    struct LineQuery {
        /// The queries by their names.
        ///
        /// A reply is read with its message's replies: `reply` is a command.
        private static let types: [String: any ChatQuery.Type] = Dictionary(
            uniqueKeysWithValues: ([
                ThreadsQuery.self, ThreadQuery.self, TimelineQuery.self, RepliesQuery.self, MessageQuery.self,
                PinsQuery.self, MessageReactionsQuery.self, ReplyReactionsQuery.self, InboxQuery.self, UserQuery.self,
                PersonQuery.self, PeopleQuery.self, MembersQuery.self, RolesQuery.self, StandingQuery.self,
                DirectoryQuery.self, InvitationsQuery.self, BlocksQuery.self,
            ] as [any ChatQuery.Type]).map { ($0.name, $0) })

        /// Whether a query has a name.
        static func isName(_ name: String) -> Bool { types[name] != nil }

        /// The name, which is the field of the answer too.
        let name: String
        private let query: any ChatQuery

        /// Creates the query of a name.
        ///
        /// - Parameters:
        ///   - name: The name of a query.
        ///   - fields: The values of the path and the parameters, by name.
        /// - Throws: `LineError` with the name of the wrong field.
        init(_ name: String, _ fields: [String: String]) throws(LineError) {
            guard let type = Self.types[name] else {
                throw LineError(.unknownField, "there is no such query", field: name)
            }
            (self.name, query) = (name, try Self.query(type, fields))
        }

        private static func query<Query: ChatQuery>(
            _ type: Query.Type, _ fields: [String: String]
        ) throws(LineError) -> Query {
            var rest = fields
            var path: [String: String] = [:]
            for parameter in type.parameters where parameter.isInPath {
                guard let value = rest.removeValue(forKey: parameter.name) else {
                    throw LineError(.missingField, "is missing", field: "\(type.name).\(parameter.name)")
                }
                path[parameter.name] = value
            }
            // Only a store knows the position of a time.
            if rest["at"] != nil { throw LineError(.unknownField, "there is no such field", field: "\(type.name).at") }
            let parameters = rest.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
            do throws(QueryProblem) { return try type.received(path: path, parameters: parameters).query } catch {
                throw LineError(error, of: type.name)
            }
        }

        /// Returns the answer, from the copy or the server.
        ///
        /// - Throws: A `ChatFailure`.
        func answer(of chat: some UserChat) async throws -> any Encodable & Sendable {
            try await query.anyAnswer(of: chat)
        }
    }

    extension ChatQuery {
        fileprivate func anyAnswer(of chat: some UserChat) async throws -> any Encodable & Sendable {
            try await chat.answer(self)
        }
    }

    extension LineError {
        fileprivate init(_ problem: QueryProblem, of query: String) {
            switch problem {
            case .notFound, .unsupported: self.init(.invalidValue, "names nothing", field: query)
            case .unknown(let name), .repeated(let name):
                self.init(.unknownField, "there is no such field", field: "\(query).\(Self.excerpt(name))")
            case .missing(let name): self.init(.missingField, "is missing", field: "\(query).\(name)")
            case .invalid(let name, let form): self.init(.invalidValue, "must be \(form)", field: "\(query).\(name)")
            case .secondBound(let name):
                self.init(.invalidValue, "only one of before, after and around is allowed", field: "\(query).\(name)")
            }
        }
    }

    /// A line of the output with the answer to a query.
    struct QueryAnswerLine: Encodable {
        let line: Int
        let name: String
        let answer: any Encodable & Sendable

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: FieldName.self)
            try container.encode(line, forKey: FieldName("line"))
            try container.encode(answer, forKey: FieldName(name))
        }
    }

    /// A line of the output about a thread that is followed: a post that is new or has changed, or why no
    /// more will come.
    struct FollowedLine: Encodable {
        let thread: ThreadID
        var post: Post?
        /// Whether the post was not there before.
        var isNew = false
        var problem: (any ChatFailure)?

        private enum CodingKeys: String, CodingKey {
            case thread, post, error
            case isNew = "new"
        }
        private enum ErrorKeys: CodingKey { case code, message }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(thread, forKey: .thread)
            if isNew { try container.encode(true, forKey: .isNew) }
            try container.encodeIfPresent(post, forKey: .post)
            guard let problem else { return }
            var fields = container.nestedContainer(keyedBy: ErrorKeys.self, forKey: .error)
            try fields.encode(problem.code, forKey: .code)
            try fields.encode(problem.sentence, forKey: .message)
        }
    }

    /// The name of any field of an object.
    struct FieldName: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ name: String) { stringValue = name }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
#endif
