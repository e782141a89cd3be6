#if Server
    internal import Chat
    internal import ChatAccounts
    internal import ChatDomain
    internal import ChatWire

    // What the server has of a user, as a file: JSON lines, written while the client reads them.
    extension ServerCore {
        /// Responds with everything of the user, after a check of the password.
        ///
        /// `POST`, because the password is in the body: addresses and headers are kept in the logs
        /// of proxies, and a browser sends no body with `GET`.
        func export(
            _ request: WireRequest, _ head: HTTPHead, _ user: UserID, _ token: String, _ parameters: RouteParameters,
            _ exchange: HTTPExchange
        ) async throws -> HTTPResponse {
            // The writer has the accounts.
            let account =
                switch role {
                case .writer:
                    try await respond(
                        to: request, head, token, at: AccountRoutes.accountPath, by: AccountRoutes.account, parameters)
                case .reader(let writer):
                    try await pass("POST", AccountRoutes.accountPath, request.body, head, token, to: writer)
                }
            guard account.status == 200, case .bytes(let first) = account.body else { return HTTPResponse(account) }
            try limits.requireStream(beside: streams.count(of: user))
            let (mailbox, delivery) = (Mailbox(try hold(ServerMemory.stream, of: user)), Delivery())
            let id = streams.add(
                .init(
                    mailbox: mailbox, session: (user, token),
                    stop: { end in
                        end()
                        delivery.stop()
                    },
                    lastMessage: { _ in [] }, heartbeat: nil))
            exchange.setCompletion { [streams] _ in
                delivery.stop()
                streams.remove(id)
            }
            await streams.checkSession(of: id, validity: sessions.validity)
            let export = UserExport(store: store, user: user)
            let slots = UserSlots(reading, user)
            delivery.begin(
                Task(executorPreference: executor(of: .user(user))) { [log] in
                    // It holds events all the time.
                    guard await slots.take() else { return }
                    defer { slots.giveBack() }
                    do {
                        try await mailbox.write(first + [UInt8(ascii: "\n")])
                        try await export.write { try await mailbox.write($0) }
                    } catch is Mailbox.Ended {
                        // The client is gone, or the session has ended.
                    } catch {
                        // Without its last line the file is not complete.
                        log.write("exportFailed", ("user", "\(user)"), ("code", AccountService.code(of: error)))
                    }
                    mailbox.end()
                })
            return HTTPResponse(
                status: 200,
                headers: [
                    ("Content-Type", "application/octet-stream"),
                    ("Content-Disposition", "attachment; filename=\"my-data.jsonl\""),
                ],
                body: .stream(mailbox))
        }

        static let exportPath = "/v1/me/export"
    }

    /// What the journal has of a user: the profile, the memberships, and what the user did.
    ///
    /// Nothing of others: no event that another user caused, and no name but those of threads.
    private struct UserExport {
        let store: ChatStore
        let user: UserID

        private struct Line<Value: Encodable>: Encodable {
            let key: String
            let value: Value

            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                try container.encode(value, forKey: Key(stringValue: key))
            }

            struct Key: CodingKey {
                let stringValue: String
                var intValue: Int? { nil }
                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }
        }

        private struct Profile: Encodable {
            let id: UserID
            let username: String?
            let postcode: Postcode?
            let about: String?
            let createdAt: Timestamp
        }

        /// Writes the lines; the last one says that the export is complete.
        func write(_ write: (_ line: [UInt8]) async throws -> Void) async throws {
            func line(_ key: String, _ value: some Encodable) async throws {
                var bytes: [UInt8] = []
                try JSONLineEncoder().encode(Line(key: key, value: value), into: &bytes)
                try await write(bytes + [UInt8(ascii: "\n")])
            }
            let head = store.head.position
            let (viewer, point) = (Viewer.user(user), AsOf.position(head))
            let details = try store.reader(as: viewer, asOf: point).user(user, threads: .latest(0))
            let about = try store.reader(as: viewer, asOf: point).person(user, threads: .latest(0)).about
            try await line(
                "profile",
                Profile(
                    id: user, username: details.username, postcode: details.postcode, about: about,
                    createdAt: details.createdAt))
            // In parts: the memory does not grow with the number of memberships.
            var memberships = try store.reader(as: viewer, asOf: point).accessParts(of: user)
            while let part = memberships.next() {
                for membership in part { try await line("membership", membership) }
            }
            // Events of others about the user name moderators and reporters; of what was erased
            // there is nothing to give.
            for try await event in store.events(upTo: head, matching: EventFilter(as: viewer, users: [user]))
            where event.event.actor == user && !event.event.isErased {
                try await line("event", event.recorded)
            }
            try await line("complete", head)
        }
    }
#endif
