#if Server
    internal import Chat
    internal import ChatAccounts
    internal import ChatDomain
    internal import ChatWire

    /// A request about an account.
    struct AccountRequest: Sendable {
        let accounts: AccountService
        let streams: StreamRegistry
        let request: WireRequest
        let client: ClientAddress?
        let isSecure: Bool
        /// The session and its token; nil if the request has none that is valid.
        let session: (session: AccountSession, token: String)?
        let parameters: RouteParameters

        func requireSession() throws(Problem) -> (session: AccountSession, token: String) {
            guard let session else { throw .notSignedIn }
            return session
        }

        /// Decodes a body that is an object of texts.
        ///
        /// - Throws: ``Problem`` for a field that is unknown, missing or no text.
        func fields(_ required: String..., optional: [String] = []) throws(Problem) -> AccountFields {
            do throws(LineError) {
                let fields = try decodeLine([String: String].self, from: request.body)
                for name in fields.keys.sorted() where !required.contains(name) && !optional.contains(name) {
                    throw LineError(.unknownField, "there is no such field", field: LineError.excerpt(name))
                }
                for name in required where fields[name] == nil {
                    throw LineError(.missingField, "the field is missing", field: name)
                }
                return AccountFields(values: fields)
            } catch {
                throw Problem(error)
            }
        }
    }

    /// The fields of a body that ``AccountRequest/fields(_:optional:)`` has checked.
    struct AccountFields: Sendable {
        fileprivate let values: [String: String]

        /// The text of a required field.
        subscript(_ name: String) -> String {
            guard let value = values[name] else { preconditionFailure("the field \(name) was not required") }
            return value
        }

        /// The text of an optional field; nil if it is missing.
        subscript(optional name: String) -> String? { values[name] }
    }

    /// The routes of accounts and sessions.
    enum AccountRoutes {
        /// Responds; throws a `Problem`, or what the stores throw.
        typealias Handler = @Sendable (AccountRequest) async throws -> WireResponse

        /// The path of the password reset, which ends sessions without having one: a server that
        /// reads must forget all.
        static let resetPath = "/v1/reset-password"

        static let routes = signUpRoutes + sessionRoutes + passwordRoutes + emailRoutes

        private static let signUpRoutes: [Route<Handler>] = [
            Route("POST", "/v1/sign-up") { context in
                let fields = try context.fields("username", "email", "password")
                try await context.accounts.runHashing {
                    try $0.signUp(
                        username: fields["username"], email: fields["email"], password: fields["password"],
                        address: context.client)
                }
                return try accepted()
            },
            Route("POST", "/v1/resend-code") { context in
                let fields = try context.fields("email")
                try await context.accounts.run { try $0.resendCode(email: fields["email"], address: context.client) }
                return try accepted()
            },
            Route("POST", "/v1/confirm") { context in
                let fields = try context.fields("email", "code", optional: ["username", "password"])
                let confirm = { @Sendable (accounts: AccountStore) in
                    try accounts.confirm(
                        email: fields["email"], code: fields["code"], username: fields[optional: "username"],
                        password: fields[optional: "password"], address: context.client)
                }
                let registration =
                    fields[optional: "password"] == nil
                    ? try await context.accounts.run(confirm) : try await context.accounts.runHashing(confirm)
                try await context.accounts.register(registration)
                var response = try WireResponse(json: UserAnswer(user: context.accounts.summary(of: registration.user)))
                context.accounts.addResumeToken(to: &response)
                return response
            },
        ]

        private static let sessionRoutes: [Route<Handler>] = [
            Route("POST", "/v1/sign-in") { context in
                let fields = try context.fields("email", "password", optional: ["device"])
                let signedIn = try await context.accounts.runHashing {
                    try $0.signIn(
                        email: fields["email"], password: fields["password"], device: fields[optional: "device"],
                        address: context.client)
                }
                var response = try WireResponse(
                    json: SignedInAnswer(
                        token: signedIn.token, user: context.accounts.summary(of: signedIn.session.user)))
                response.headers.append(
                    ("Set-Cookie", SessionCredentials.cookie(signedIn.token, isSecure: context.isSecure)))
                return response
            },
            Route("POST", "/v1/sign-out") { context in
                let token = try context.requireSession().token
                try await context.accounts.run { try $0.signOut(token: token) }
                context.streams.end(.signedOut) { $0.session?.token == token }
                return context.signedOut()
            },
            Route("POST", "/v1/sign-out-everywhere") { context in
                let user = try context.requireSession().session.user
                try await context.accounts.run { try $0.signOutEverywhere(user: user) }
                context.streams.end(.signedOut) { $0.session?.user == user }
                return context.signedOut()
            },
            Route("GET", "/v1/sessions") { context in
                let present = try context.requireSession().session
                let sessions = try await context.accounts.run { try $0.sessions(of: present.user) }
                return try WireResponse(
                    json: SessionsAnswer(
                        items: sessions.map { SessionAnswer(session: $0, current: $0.id == present.id) }))
            },
            Route("DELETE", "/v1/sessions/{session}") { context in
                let present = try context.requireSession().session
                guard let id = AccountSessionID(context.parameters["session"]) else { throw Problem.notFound }
                let hasEnded = try await context.accounts.run { try $0.endSession(id: id, of: present.user) }
                guard hasEnded else { throw Problem.notFound }
                await context.streams.checkSessions(of: present.user, validity: context.accounts.validity)
                return id == present.id ? context.signedOut() : WireResponse(status: 204)
            },
        ]

        /// The password, and the end of the account.
        private static let passwordRoutes: [Route<Handler>] = [
            Route("POST", "/v1/forgot-password") { context in
                let fields = try context.fields("email")
                try await context.accounts.run { try $0.requestReset(email: fields["email"], address: context.client) }
                return try accepted()
            },
            Route("POST", resetPath) { context in
                let fields = try context.fields("email", "code", "password")
                try await context.accounts.runHashing {
                    try $0.reset(
                        email: fields["email"], code: fields["code"], new: fields["password"], address: context.client)
                }
                await context.streams.checkSessions(validity: context.accounts.validity)
                return WireResponse(status: 204)
            },
            Route("POST", "/v1/change-password") { context in
                let present = try context.requireSession().session
                let fields = try context.fields("old", "new")
                try await context.accounts.runHashing {
                    try $0.changePassword(
                        user: present.user, old: fields["old"], new: fields["new"], keeping: present.id)
                }
                await context.streams.checkSessions(of: present.user, validity: context.accounts.validity)
                return WireResponse(status: 204)
            },
            Route("POST", "/v1/delete-account") { context in
                let user = try context.requireSession().session.user
                let fields = try context.fields("password")
                let deletion = try await context.accounts.runHashing {
                    try $0.beginDeletion(user: user, password: fields["password"])
                }
                context.streams.end(.signedOut) { $0.session?.user == user }
                try await context.accounts.finish(deletion)
                var response = context.signedOut()
                context.accounts.addResumeToken(to: &response)
                return response
            },
        ]

        private static let emailRoutes: [Route<Handler>] = [
            Route("POST", accountPath, account),
            Route("GET", "/v1/email") { context in
                let user = try context.requireSession().session.user
                guard let found = try await context.accounts.run({ try $0.addresses(of: user) }) else {
                    throw Problem.notSignedIn
                }
                return try WireResponse(json: EmailAnswer(email: found.present.text, newEmail: found.next?.text))
            },
            Route("POST", "/v1/change-email") { context in
                let user = try context.requireSession().session.user
                let fields = try context.fields("email", "password")
                try await context.accounts.runHashing {
                    try $0.requestEmailChange(
                        user: user, password: fields["password"], email: fields["email"], address: context.client)
                }
                return try accepted()
            },
            Route("POST", "/v1/confirm-email") { context in
                let present = try context.requireSession().session
                let fields = try context.fields("code", "newCode")
                try await context.accounts.run {
                    try $0.confirmEmailChange(
                        user: present.user, present: fields["code"], new: fields["newCode"], keeping: present.id,
                        address: context.client)
                }
                await context.streams.checkSessions(of: present.user, validity: context.accounts.validity)
                await context.accounts.grantOperator(present.user)
                return WireResponse(status: 204)
            },
        ]

        static let accountPath = "/v1/account"

        /// What only the accounts have of a user: the first line of an export.
        static let account: Handler = { context in
            let present = try context.requireSession().session
            let fields = try context.fields("password")
            let (addresses, sessions) = try await context.accounts.runHashing { accounts in
                try accounts.checkPassword(user: present.user, password: fields["password"])
                return (try accounts.addresses(of: present.user), try accounts.sessions(of: present.user))
            }
            let items = sessions.map { SessionAnswer(session: $0, current: $0.id == present.id) }
            return try WireResponse(
                json: ExportedAccount(account: .init(email: addresses?.present.text, sessions: items)))
        }

        private static func accepted() throws -> WireResponse { try WireResponse(202, json: EmptyAnswer()) }
    }

    extension AccountRequest {
        /// The response that removes the cookie.
        fileprivate func signedOut() -> WireResponse {
            WireResponse(status: 204, headers: [("Set-Cookie", SessionCredentials.cookie(nil, isSecure: isSecure))])
        }
    }

    // MARK: Answers

    private struct EmptyAnswer: Encodable {}

    private struct EmailAnswer: Encodable {
        let email: String
        let newEmail: String?

        private enum CodingKeys: CodingKey { case email, newEmail }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(email, forKey: .email)
            try container.encode(newEmail, forKey: .newEmail)
        }
    }

    private struct ExportedAccount: Encodable {
        struct Account: Encodable {
            let email: String?
            let sessions: [SessionAnswer]
        }

        let account: Account
    }

    private struct UserAnswer: Encodable {
        let user: UserSummary
    }

    private struct SignedInAnswer: Encodable {
        let token: String
        let user: UserSummary
    }

    private struct SessionsAnswer: Encodable {
        let items: [SessionAnswer]
    }

    private struct SessionAnswer: Encodable {
        let session: AccountSession
        let current: Bool

        private enum CodingKeys: CodingKey { case id, createdAt, lastUsedAt, device, current }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode("\(session.id)", forKey: .id)
            try container.encode(session.created, forKey: .createdAt)
            try container.encode(session.lastUsed, forKey: .lastUsedAt)
            try container.encode(session.device, forKey: .device)
            try container.encode(current, forKey: .current)
        }
    }
#endif
