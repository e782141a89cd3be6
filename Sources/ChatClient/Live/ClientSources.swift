#if Client || canImport(SQLite3)
    internal import ChatDomain
    internal import ChatLive
    internal import ChatValues

    /// The posts of a list, as the copy has them.
    struct ClientPosts: LivePostsSource {
        let engine: SyncEngine
        let list: PostList
        let limit: Int

        func load() async throws(LiveFailure) -> LiveLoad<[Post], LiveTimeline.Change> {
            // Before the copy is read, so that no change is missed.
            let changes = engine.changes.elements()
            let found = try await engine.whenPossible(orAfter: { $0.concerns(list) }) { engine throws(ClientError) in
                let found = try await engine.posts(in: list, before: nil, limit: limit)
                if try await !isCurrent() { engine.want(list, limit: limit) }
                return found
            }
            return LiveLoad(
                found.posts, hasEarlier: !found.reachesBeginning,
                effects: Effects(changes: changes.makeAsyncIterator(), source: self))
        }

        func loadEarlier(before position: Position) async throws(LiveFailure) -> (posts: [Post], hasEarlier: Bool) {
            do throws(ClientError) {
                let found = try await engine.posts(in: list, before: min(position, .firstPending - 1), limit: limit)
                guard found.isComplete else { throw .unreachable("Earlier posts are at the server only.") }
                return (found.posts, !found.reachesBeginning)
            } catch { throw LiveFailure(error) }
        }

        struct Effects: LiveEffects {
            var changes: AsyncStream<CopyChanges>.AsyncIterator
            let source: ClientPosts
            private var waiting: [LiveTimeline.Change] = []

            init(changes: AsyncStream<CopyChanges>.AsyncIterator, source: ClientPosts) {
                (self.changes, self.source) = (changes, source)
            }

            mutating func next() async throws(LiveFailure) -> LiveEffect<LiveTimeline.Change>? {
                while true {
                    if !waiting.isEmpty { return .change(waiting.removeFirst()) }
                    // A sequence that was too slow has ended.
                    guard let change = await changes.next(isolation: #isolation) else {
                        return Task.isCancelled ? nil : .reload(.outdated)
                    }
                    if change.isErasure || source.isLost(change) { return .reload(.forbidden) }
                    if change.unreadableLists.contains(source.list) { return .reload(.outdated) }
                    do throws(ClientError) {
                        if change.hasGaps || change.lists.contains(source.list) {
                            if try await source.isCurrent() {
                                if change.lists.contains(source.list) { return .reload(.outdated) }
                            } else {
                                // What is shown stays until it can be read again.
                                source.engine.want(source.list, limit: source.limit)
                            }
                        }
                        waiting = try await source.effects(of: change)
                    } catch { throw LiveFailure(error) }
                }
            }
        }

        fileprivate func isLost(_ change: CopyChanges) -> Bool {
            if change.lostLists.contains(list) { return true }
            return switch list {
            case .messages(let thread): change.lostThreads.contains(thread)
            // The message may be in any of them.
            case .replies: !change.lostThreads.isEmpty
            }
        }

        /// Whether the copy has the latest posts and will have those that follow.
        @concurrent fileprivate func isCurrent() async throws(ClientError) -> Bool {
            try engine.copy.follows(list)
        }

        /// Returns the effects of a change, read outside of the main actor.
        @concurrent fileprivate func effects(of change: CopyChanges) async throws(ClientError) -> [LiveTimeline.Change]
        {
            let copy = engine.copy
            var effects: [LiveTimeline.Change] = []
            // What the copy has no room for is shown as it was read.
            for id in change.posts[list] ?? [] { if let post = try copy.post(id) { effects.append(.post(post)) } }
            for case .withdrawn(let item) in change.outbox {
                if let id = item.request.command.createdPost { effects.append(.removed(id)) }
            }
            for user in change.users {
                if let summary = try copy.name(of: user, in: list) { effects.append(.name(user, summary.username)) }
                effects.append(.block(user, isBlocked: try copy.isBlocked(user)))
            }
            // Changes of one kind have no order, and views are easier to follow if they do.
            return effects.sorted { $0.position < $1.position }
        }
    }

    extension LiveTimeline.Change {
        fileprivate var position: Position { if case .post(let post) = self { post.position } else { 0 } }
    }

    /// An answer that the copy keeps whole.
    struct ClientAnswers<Query: KeptQuery>: LiveSource {
        typealias Value = Query.Kept
        typealias Change = Query.Kept
        let engine: SyncEngine
        let query: Query

        func load() async throws(LiveFailure) -> LiveLoad<Value, Value> {
            let changes = engine.changes.elements()
            let value = try await engine.whenPossible { engine throws(ClientError) in
                if let kept = try await current() { return kept }
                try await engine.read(query)
                guard let kept = try await current() else { throw .unreachable("More happens than can be read.") }
                return kept
            }
            engine.readNow()
            return LiveLoad(value, effects: Effects(changes: changes.makeAsyncIterator(), source: self))
        }

        @concurrent func current() async throws(ClientError) -> Value? {
            try engine.copy.answer(query)?.value
        }

        struct Effects: LiveEffects {
            var changes: AsyncStream<CopyChanges>.AsyncIterator
            let source: ClientAnswers

            mutating func next() async throws(LiveFailure) -> LiveEffect<Value>? {
                while true {
                    guard let change = await changes.next(isolation: #isolation) else {
                        return Task.isCancelled ? nil : .reload(.outdated)
                    }
                    if change.isErasure || !change.lostThreads.isEmpty { return .reload(.forbidden) }
                    guard change.answers.contains(KeptAnswer(source.query)) else { continue }
                    do throws(ClientError) { if let value = try await source.current() { return .change(value) } } catch
                    {
                        throw LiveFailure(error)
                    }
                }
            }
        }
    }

    /// The threads of the user, of which a view shows the latest.
    struct ClientThreads: LiveSource {
        let answer: ClientAnswers<ThreadsQuery>
        let limit: Int

        func load() async throws(LiveFailure) -> LiveLoad<[ThreadSummary], LiveThreads.Change> {
            let loaded = try await answer.load()
            let limit = limit
            return LiveLoad(
                loaded.value.entries.suffix(limit),
                effects: MappedEffects(loaded.effects) { .all(Array($0.entries.suffix(limit))) })
        }
    }

    /// The inbox of the user.
    struct ClientInbox: LiveSource {
        let answer: ClientAnswers<InboxQuery>
        let limit: Int

        func load() async throws(LiveFailure) -> LiveLoad<LiveInbox.Inbox, LiveInbox.Inbox> {
            let loaded = try await answer.load()
            let limit = limit
            let inbox = { @Sendable (answer: InboxAnswer) in
                LiveInbox.Inbox(entries: Array(answer.page.entries.prefix(limit)), unread: answer.unread)
            }
            return LiveLoad(inbox(loaded.value), effects: MappedEffects(loaded.effects, inbox))
        }
    }

    /// Effects whose changes are converted.
    private struct MappedEffects<From, Change>: LiveEffects {
        var effects: any LiveEffects<From>
        let convert: @Sendable (From) -> Change

        init(_ effects: any LiveEffects<From>, _ convert: @escaping @Sendable (From) -> Change) {
            (self.effects, self.convert) = (effects, convert)
        }

        mutating func next() async throws(LiveFailure) -> LiveEffect<Change>? {
            switch try await effects.next() {
            case .change(let change): .change(convert(change))
            case .reload(let reason): .reload(reason)
            case nil: nil
            }
        }
    }

    extension SyncEngine {
        /// Reads something now, or when the server can be reached.
        ///
        /// - Parameters:
        ///   - isDue: Whether a change lets it be tried without the server.
        ///   - read: Reads it.
        func whenPossible<Value: Sendable>(
            orAfter isDue: @escaping @Sendable (CopyChanges) -> Bool = { _ in false },
            _ read: (SyncEngine) async throws(ClientError) -> Value
        ) async throws(LiveFailure) -> Value {
            do throws(ClientError) {
                var attempt = 0
                while true {
                    attempt += 1
                    // Before the attempt, so that no change is missed.
                    let changes = changes.elements()
                    do throws(ClientError) { return try await read(self) } catch {
                        guard error.isTransient else { throw error }
                        if case .unreachable = error, !isConnected {
                            try await waitUntilConnected(or: {
                                for await change in changes where isDue(change) { return }
                            })
                        } else {
                            await environment.sleep(environment.wait(attempt, error.retryAfter))
                        }
                    }
                    if Task.isCancelled { throw .cancelled }
                }
            } catch { throw LiveFailure(error, isEnd: error == .cancelled || error.storage == .closed) }
        }
    }
#endif
