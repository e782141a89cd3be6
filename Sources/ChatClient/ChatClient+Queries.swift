#if Client || canImport(SQLite3)
    public import ChatDomain
    public import ChatLive
    public import ChatValues
    internal import Foundation

    extension ChatClient: UserChat {
        /// Executes a command and returns its receipt, once the server has it.
        ///
        /// The command is in the outbox meanwhile: it is sent also if the task is cancelled, or the
        /// app ends. Waits for as long as ``run()`` does not run, or the server cannot be reached.
        ///
        /// - Throws: ``ClientError/cancelled`` if the task is cancelled, the client is closed or
        ///   the command is withdrawn; ``ClientError/rejected(_:)``.
        @concurrent @discardableResult public func execute(_ request: CommandRequest) async throws -> Receipt {
            // Before the command is added, so that no change is missed.
            let changes = engine.changes.elements()
            let item = try enqueue(request)
            for await change in changes {
                for change in change.outbox {
                    switch change {
                    case .confirmed(let ended, let receipt) where ended.id == item.id: return receipt
                    case .rejected(let ended, let rejection) where ended.id == item.id:
                        throw ClientError.rejected(rejection)
                    case .withdrawn(let ended) where ended.id == item.id: throw ClientError.cancelled
                    default: break
                    }
                }
            }
            throw ClientError.cancelled
        }

        /// Adds a command to the outbox; it survives a power cut when the call returns.
        @concurrent public func send(_ command: ChatCommand) async throws { try enqueue(CommandRequest(command)) }

        /// Returns the user's own details: those of the server, or without a network those of the
        /// copy.
        public func me() async throws -> UserDetails { try await answer(.me, as: UserDetails.self) }

        /// Returns the user's threads, as ``me()``; other pages than the first need the network.
        public func threads(page: PageRequest) async throws -> Page<ThreadSummary> {
            guard page.isFirst else { return try await get("/v1/threads", page) }
            var kept = try await answer(.threads, as: Page<ThreadSummary>.self)
            if kept.count > page.limit {
                kept.entries = Array(kept.entries.suffix(max(0, page.limit)))
                kept.older = PageRequest(limit: page.limit, before: kept.first?.lastPosition)
            }
            return kept
        }

        /// Returns the newest entries of the inbox, as ``me()``; other pages need the network.
        public func inbox(page: PageRequest) async throws -> Page<InboxEntry> {
            guard page.isFirst, page.limit <= 50 else { return try await get("/v1/inbox", page) }
            var kept = try await answer(.inbox, as: InboxAnswer.self).page
            if kept.count > page.limit {
                kept.entries = Array(kept.entries.prefix(max(0, page.limit)))
                kept.older = PageRequest(limit: page.limit, before: kept.last?.position)
            }
            return kept
        }

        /// Returns the members of a thread, as ``me()``; other pages than the first need the
        /// network.
        public func members(of thread: ThreadID, page: PageRequest) async throws -> Page<ThreadMember> {
            guard page.isFirst else { return try await get("/v1/threads/\(thread)/members", page) }
            var kept = try await answer(.members(thread), as: Page<ThreadMember>.self)
            if kept.count > page.limit {
                kept.entries = Array(kept.entries.suffix(max(0, page.limit)))
                kept.older = PageRequest(limit: page.limit, before: kept.first?.since)
            }
            return kept
        }

        /// Returns a page of a thread's messages: from the copy as far as it knows them, else from
        /// the server.
        public func timeline(_ thread: ThreadID, page: PageRequest) async throws -> Page<Post> {
            try await posts(.messages(thread), page)
        }

        /// Returns a page of the replies to a message, as ``timeline(_:page:)``.
        public func replies(to message: MessageID, page: PageRequest) async throws -> Page<Post> {
            try await posts(.replies(message), page)
        }

        /// Returns one message or reply, from the copy if it is there, else from the server.
        @concurrent public func post(_ id: PostID) async throws -> Post {
            if let post = try copy.checked({ copy throws(CopyError) in try copy.post(id) }) { return post }
            switch id {
            case .message(let message): return try await engine.get("/v1/messages/\(message)", as: Post.self)
            case .reply(let reply): return try await engine.get("/v1/replies/\(reply)", as: Post.self)
            }
        }

        /// Returns one thread, from the server.
        @concurrent public func thread(_ id: ThreadID) async throws -> ThreadSummary {
            try await engine.get("/v1/threads/\(id)", as: ThreadSummary.self)
        }

        /// Returns a page of the threads that everybody finds, from the server.
        public func directory(page: PageRequest) async throws -> Page<DirectoryEntry> {
            try await get("/v1/directory", page)
        }

        /// Returns what the user is shown of a person, from the server.
        @concurrent public func person(_ user: UserID, threads page: PageRequest) async throws -> PersonDetails {
            try await engine.get("/v1/people/\(user)?\(page.query)", as: PersonDetails.self)
        }

        /// Returns people of the user's threads, from the server.
        @concurrent public func people(named prefix: String, page: PageRequest) async throws -> Page<PersonSummary> {
            let name = prefix.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            return try await engine.get("/v1/people?name=\(name)&\(page.query)", as: Page<PersonSummary>.self)
        }

        /// Returns the view of a thread's messages, with those of the outbox last.
        @MainActor public func liveTimeline(of thread: ThreadID, limit: Int) -> LiveTimeline {
            LiveTimeline(source: ClientPosts(engine: engine, list: .messages(thread), limit: max(1, limit)))
        }

        /// Returns the view of the replies to a message, with those of the outbox last.
        @MainActor public func liveReplies(to message: MessageID, limit: Int) -> LiveTimeline {
            LiveTimeline(source: ClientPosts(engine: engine, list: .replies(message), limit: max(1, limit)))
        }

        /// Returns the view of the user's threads; at most 200.
        @MainActor public func liveThreads(limit: Int) -> LiveThreads {
            LiveThreads(
                source: ClientThreads(answer: ClientAnswers(engine: engine, kind: .threads), limit: max(1, limit)),
                limit: limit)
        }

        /// Returns the view of the user's own details.
        @MainActor public func liveUser() -> LiveUser {
            LiveUser(source: ClientAnswers<UserDetails>(engine: engine, kind: .me))
        }

        /// Returns the view of the user's inbox; at most 50 entries.
        @MainActor public func liveInbox(limit: Int) -> LiveInbox {
            LiveInbox(source: ClientInbox(answer: ClientAnswers(engine: engine, kind: .inbox), limit: max(1, limit)))
        }
    }

    extension ChatClient {
        /// Returns an answer: that of the copy if it is current, else that of the server, else what
        /// the copy has.
        @concurrent private func answer<Value: KeptValue>(_ kind: KeptAnswer, as type: Value.Type)
            async throws(ClientError) -> Value
        {
            let kept = try copy.checked { copy throws(CopyError) in try copy.answer(kind, as: type) }
            if let kept, !kept.isStale || !engine.isConnected { return kept.value }
            do throws(ClientError) { try await engine.read(kind) } catch {
                if let kept, case .unreachable = error { return kept.value }
                throw error
            }
            guard let value = try copy.checked({ copy throws(CopyError) in try copy.answer(kind, as: type) })?.value
            else {
                throw .unreachable("More happens than can be read.")
            }
            return value
        }

        @concurrent private func get<Entry: Decodable & Sendable>(_ path: String, _ page: PageRequest)
            async throws(ClientError) -> Page<
                Entry
            >
        {
            try await engine.get("\(path)?\(page.query)", as: Page<Entry>.self)
        }

        private func posts(_ list: PostList, _ request: PageRequest) async throws(ClientError) -> Page<Post> {
            // A page that begins after a position, or lies around one, can be in a part that the
            // copy does not know.
            guard request.after == nil, request.around == nil else {
                return try await engine.get(list.target(request), as: Page<Post>.self)
            }
            let found = try await engine.posts(in: list, before: request.before, limit: request.limit)
            let confirmed = found.posts.filter { !$0.isPending }
            return Page(
                entries: found.posts,
                older: found.reachesBeginning
                    ? nil : PageRequest(limit: request.limit, before: confirmed.first?.position ?? request.before),
                newer: PageRequest(
                    limit: request.limit, after: confirmed.last?.position ?? request.before.map { max($0, 1) - 1 } ?? 0)
            )
        }
    }

    extension PageRequest {
        /// Whether the latest entries are meant.
        fileprivate var isFirst: Bool { before == nil && after == nil && around == nil && limit <= 200 }
    }
#endif
