#if Client || canImport(SQLite3)
    public import ChatDomain
    public import ChatLive
    public import ChatValues

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
            return try await receipt(of: try enqueue(request), changes)
        }

        /// Executes a command and returns its receipt, or throws when a deadline has passed.
        ///
        /// The command is in the outbox, as with ``execute(_:)``, and stays there after the deadline.
        ///
        /// - Parameters:
        ///   - request: The command.
        ///   - deadline: The time after which the call waits no longer for the server.
        /// - Throws: ``ClientError/deadlinePassed``, and as ``execute(_:)``.
        @concurrent @discardableResult public func execute(
            _ request: CommandRequest, deadline: ContinuousClock.Instant
        ) async throws -> Receipt {
            // Before the command is added, so that no change is missed.
            let changes = engine.changes.elements()
            let item = try enqueue(request)
            return try await withThrowingTaskGroup(of: Receipt.self) { group in
                group.addTask { try await self.receipt(of: item, changes) }
                group.addTask {
                    await self.engine.environment.sleep(ContinuousClock.now.duration(to: deadline))
                    throw Task.isCancelled ? ClientError.cancelled : .deadlinePassed
                }
                defer { group.cancelAll() }
                guard let receipt = try await group.next() else { throw ClientError.cancelled }
                return receipt
            }
        }

        /// Executes a command and returns its receipt, or throws when a deadline has passed.
        @discardableResult public func execute(
            _ command: ChatCommand, deadline: ContinuousClock.Instant
        ) async throws -> Receipt {
            try await execute(CommandRequest(command), deadline: deadline)
        }

        /// Waits for the answer to an item of the outbox.
        ///
        /// - Parameter changes: The changes since before it was added.
        private func receipt(of item: OutboxItem, _ changes: AsyncStream<CopyChanges>) async throws -> Receipt {
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
        @concurrent public func enqueue(_ command: ChatCommand) async throws { try enqueue(CommandRequest(command)) }

        /// Returns the answer of a query: from the copy as far as it has it, else from the server.
        ///
        /// The copy has the user's own details, threads and members, the newest entries of the
        /// inbox, and posts: without a network their first pages, and the pages of posts that it
        /// knows. All else needs the network.
        ///
        /// - Throws: ``ClientError/rejected(_:)`` with `notAllowed` for what is another user's own.
        public func answer<Query: ChatQuery>(_ query: Query) async throws -> Query.Answer {
            var query = query
            if var own = query as? any OwnQuery, own.user == user {
                own.user = nil
                query = own as? Query ?? query
            }
            if let copied = query as? any CopiedQuery, let answer = try await copied.answer(from: self) as? Query.Answer
            {
                return answer
            }
            return try await engine.get(query)
        }

        /// Returns the view of a thread's messages, with those of the outbox last.
        @MainActor public func liveTimeline(of thread: ThreadID, limit: Int) -> LiveTimeline {
            LiveTimeline(source: ClientPosts(engine: engine, list: .messages(thread), limit: max(1, limit)))
        }

        /// Returns the view of the replies to a message, with those of the outbox last.
        @MainActor public func liveReplies(to message: MessageID, limit: Int) -> LiveTimeline {
            LiveTimeline(source: ClientPosts(engine: engine, list: .replies(message), limit: max(1, limit)))
        }

        /// Returns the custom events of a thread, existing ones first, then future ones.
        ///
        /// The copy keeps none: without a network the sequence waits.
        public func customEvents(of thread: ThreadID, kind: CustomKind?, after position: Position) -> CustomEvents {
            CustomEvents(
                source: ClientCustomEvents(engine: engine, thread: thread, kind: kind, limit: 1), after: position)
        }

        /// Returns the view of the latest custom events of a thread; at most 200.
        @MainActor public func liveCustomEvents(
            of thread: ThreadID, kind: CustomKind?, limit: Int
        ) -> LiveCustomEvents {
            let limit = max(1, min(limit, PageRequest.answerLimits.upperBound))
            return LiveCustomEvents(
                source: ClientCustomEvents(engine: engine, thread: thread, kind: kind, limit: limit), limit: limit)
        }

        /// Returns the view of the user's threads; at most 200.
        @MainActor public func liveThreads(limit: Int) -> LiveThreads {
            LiveThreads(
                source: ClientThreads(
                    answer: ClientAnswers(engine: engine, query: ThreadsQuery()), limit: max(1, limit)),
                limit: limit)
        }

        /// Returns the view of the user's own details.
        @MainActor public func liveUser() -> LiveUser {
            LiveUser(source: ClientAnswers(engine: engine, query: UserQuery()))
        }

        /// Returns the view of the user's inbox; at most 50 entries.
        @MainActor public func liveInbox(limit: Int) -> LiveInbox {
            LiveInbox(
                source: ClientInbox(answer: ClientAnswers(engine: engine, query: InboxQuery()), limit: max(1, limit)))
        }

        /// Returns the view of the outbox; at most 999 commands.
        @MainActor public func liveOutbox(limit: Int) -> LiveOutbox {
            let limit = max(1, min(limit, 999))
            return LiveOutbox(source: ClientOutbox(client: self, limit: limit), limit: limit)
        }
    }

    /// A query whose answer the copy has, at least in part.
    package protocol CopiedQuery: ChatQuery {
        /// Returns the answer of the copy, and what it lacks from the server.
        func answer(from client: ChatClient) async throws(ClientError) -> Answer
    }

    extension KeptQuery {
        package func answer(from client: ChatClient) async throws(ClientError) -> Answer {
            guard isInKept else { return try await client.engine.get(self) }
            return part(of: try await client.kept(self))
        }
    }

    extension TimelineQuery: CopiedQuery {
        package func answer(from client: ChatClient) async throws(ClientError) -> Page<Post> {
            if let page = try await client.posts(.messages(thread), page) { return page }
            return try await client.engine.get(self)
        }
    }

    extension RepliesQuery: CopiedQuery {
        package func answer(from client: ChatClient) async throws(ClientError) -> Page<Post> {
            if let page = try await client.posts(.replies(message), page) { return page }
            return try await client.engine.get(self)
        }
    }

    extension MessageQuery: CopiedQuery {
        package func answer(from client: ChatClient) async throws(ClientError) -> Post {
            try await client.post(.message(message), orOf: self)
        }
    }

    extension ReplyQuery: CopiedQuery {
        package func answer(from client: ChatClient) async throws(ClientError) -> Post {
            try await client.post(.reply(reply), orOf: self)
        }
    }

    extension ChatClient {
        /// Returns an answer: that of the copy if it is current, else that of the server, else what
        /// the copy has.
        @concurrent fileprivate func kept<Query: KeptQuery>(_ query: Query) async throws(ClientError) -> Query.Kept {
            let kept = try copy.answer(query)
            if let kept, !kept.isStale || !engine.isConnected { return kept.value }
            do throws(ClientError) { try await engine.read(query) } catch {
                if let kept, case .unreachable = error { return kept.value }
                throw error
            }
            guard let value = try copy.answer(query)?.value else {
                throw .unreachable("More happens than can be read.")
            }
            return value
        }

        /// Returns one post, from the copy if it is there, else from the server.
        @concurrent fileprivate func post<Query: ChatQuery>(_ id: PostID, orOf query: Query)
            async throws(ClientError) -> Post where Query.Answer == Post
        {
            if let post = try copy.post(id) { return post }
            return try await engine.get(query)
        }

        /// Returns a page of posts from the copy as far as it knows them, else from the server; nil
        /// for a page of which only the server knows where it lies.
        fileprivate func posts(_ list: PostList, _ request: PageRequest) async throws(ClientError) -> Page<Post>? {
            // A page that begins after a position, or lies around one, can be in a part that the
            // copy does not know.
            guard request.after == nil, request.around == nil else { return nil }
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
#endif
