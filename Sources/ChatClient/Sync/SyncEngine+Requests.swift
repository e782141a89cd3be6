#if Client || canImport(SQLite3)
    package import ChatDomain
    package import ChatValues
    internal import Locking

    // Reads from the server, and keeps what was read.
    extension SyncEngine {
        /// The most updates that an answer is corrected by.
        static let mostUpdates = 2_000
        /// The most entries of a page of the server.
        private static let mostEntries = 200
        /// The most lists that views can wait for.
        private static let mostWanted = 1_000

        /// Returns an answer that is not kept.
        @concurrent func get<Query: ChatQuery>(_ query: Query) async throws(ClientError) -> Query.Answer {
            try await answer(to: query.requestTarget).decode(Query.Answer.self)
        }

        func answer(to target: String) async throws(ClientError) -> ClientAnswer {
            do throws(TransportFailure) {
                return try await transport.send(ClientRequest("GET", target, credentials: credentials))
            } catch { throw ClientError(error) }
        }

        /// Keeps an answer that is as new as the copy.
        ///
        /// - Parameter keep: Receives the value, the position that it is at least as new as, and
        ///   the updates since the request, which it may lack. No update is applied meanwhile.
        private func get<Value: Decodable & Sendable, Result: Sendable>(
            _ target: String, as type: Value.Type,
            keep: (Value, Position, [FollowedUpdate]) throws(ClientError) -> Result
        ) async throws(ClientError) -> Result {
            for _ in 0..<3 {
                let known = try copy.token
                let number = state.withLock { state in
                    state.nextRequest += 1
                    state.unanswered[state.nextRequest] = .some([])
                    return state.nextRequest
                }
                defer { state.withLock { _ = $0.unanswered.removeValue(forKey: number) } }
                let answer = try await answer(to: target)
                let value = try answer.decode(type)
                guard let token = answer.headers["resume-token"].flatMap({ ResumeToken(checked: $0) }) else {
                    throw .answerInvalid("The answer has no resume token.")
                }
                if let known {
                    guard known.journal == token.journal else {
                        throw .answerInvalid("The answer is that of another journal.")
                    }
                    // It could bring back what was edited or erased. A server that only reads can
                    // be behind another one.
                    guard known.position <= token.position else {
                        throw .unreachable("The server is behind what was read before.")
                    }
                }
                let result: Result? = try keeping.withLock { _ throws(ClientError) in
                    guard let since = state.withLock({ $0.unanswered[number] ?? nil }) else { return nil }
                    return try keep(value, token.position, since)
                }
                if let result { return result }
            }
            throw .unreachable("More happens than can be read.")
        }

        /// Reads a page of a list, and keeps it while the client follows the server.
        ///
        /// Only a server that has accepted the token of the copy has the same history: one that was
        /// set back can have other events at the same positions.
        @discardableResult package func read(
            _ list: PostList, in thread: ThreadID, _ request: PageRequest
        ) async throws(ClientError) -> Page<Post> {
            var request = request
            // As many as the server gives: a shorter page is the last one.
            request.limit = max(1, min(request.limit, Self.mostEntries))
            let connection = connectionNumber
            let (page, changed) = try await get(list.target(request), as: Page<Post>.self) {
                [request] page, position, since throws(ClientError) in
                guard connection != nil, connection == connectionNumber else { return (page, CopyChanges()) }
                let changed = try copy.keep(page, of: list, in: thread, request, asOf: position, then: since)
                return (page, changed)
            }
            announce(changed)
            return page
        }

        /// Returns an answer of the server that is as new as the copy, which does not keep it.
        func readCurrent<Query: ChatQuery>(_ query: Query) async throws(ClientError) -> Query.Answer {
            try await get(query.requestTarget, as: Query.Answer.self) { answer, _, _ throws(ClientError) in answer }
        }

        /// Reads an answer again, and keeps it.
        package func read<Query: KeptQuery>(_ query: Query) async throws(ClientError) {
            // The key has nothing of the page that is asked for, and the whole is kept.
            let query = Query(key: query.key) ?? query
            let changed = try await get(query.requestTarget, as: Query.Kept.self) {
                value, position, since throws(ClientError) in
                try copy.keep(value, of: query, asOf: position, then: since)
            }
            announce(changed)
        }

        /// Has the latest posts of a list read when the server can be reached, and announced.
        func want(_ list: PostList, limit: Int) {
            state.withLock { state in
                guard state.wanted.count < Self.mostWanted, state.failures[.posts(list)] ?? 0 < Self.attempts else {
                    return
                }
                state.wanted[list] = max(limit, state.wanted[list] ?? 0)
            }
            readSignal.set()
        }

        /// Reads a list that a view waits for; returns false if there is none.
        private func readNextWanted() async throws(ClientError) -> Bool {
            guard let (list, limit) = state.withLock({ $0.wanted.first.map { ($0.key, $0.value) } }) else {
                return false
            }
            try await attempt(.posts(list)) { () async throws(ClientError) in
                try await read(list, in: try await thread(of: list), PageRequest.latest(limit))
                var changed = CopyChanges()
                changed.lists = [list]
                announce(changed)
            }
            state.withLock { _ = $0.wanted.removeValue(forKey: list) }
            return true
        }

        /// Something that is read again by itself.
        enum Part: Hashable {
            case posts(PostList)
            case answer(KeptAnswer)
        }

        /// The attempts to read a part before it is given up: one that cannot be read stops no other.
        private static let attempts = 3
        /// For how long a part is given up, or until the next connection.
        private static let pause = Duration.seconds(60)

        /// Has parts that were given up read again after a pause: a connection can last for days.
        func takeUpAgain() async -> StopReason? {
            while await givenUpSignal.wait() {
                await environment.sleep(Self.pause)
                state.withLock { $0.failures = [:] }
                readSignal.set()
            }
            return nil
        }

        /// Reads a part again, and forgets it if the server refuses it; gives it up for a while after some
        /// attempts.
        func attempt(_ part: Part, _ read: () async throws(ClientError) -> Void) async throws(ClientError) {
            do throws(ClientError) {
                try await read()
                state.withLock { $0.failures[part] = nil }
            } catch {
                switch error {
                case .notFound:
                    switch part {
                    case .posts(let list):
                        announce(try copy.forget(list))
                    case .answer(let answer):
                        announce(try copy.forget(answer))
                    }
                // They concern all parts.
                case .unreachable, .tooManyAttempts, .cancelled, .signedOut, .accountDeleted, .storage: throw error
                default:
                    let count = state.withLock { state in
                        state.failures[part, default: 0] += 1
                        return state.failures[part] ?? 0
                    }
                    guard count >= Self.attempts else { throw error }
                    // A view of the list meets the error itself.
                    var changed = CopyChanges()
                    if case .posts(let list) = part { changed.unreadableLists = [list] }
                    announce(changed)
                    givenUpSignal.set()
                }
            }
        }

        /// The parts that were given up for now.
        var givenUp: Set<Part> { state.withLock { Set($0.failures.filter { $0.value >= Self.attempts }.keys) } }

        /// Reads one part that a view waits for, that is out of date, or that the first screens
        /// show; returns whether there may be more.
        func readNextOutOfDate() async throws(ClientError) -> Bool {
            if try await readNextWanted() { return true }
            let givenUp = givenUp
            if let stale = try stalePosts(except: givenUp) {
                try await attempt(.posts(stale.list)) { () async throws(ClientError) in
                    try await read(stale.list, in: stale.thread, stale.request)
                    guard let next = try stalePosts(except: givenUp), next == stale else { return }
                    throw .answerInvalid("A page lacks the posts that were asked for.")
                }
                return true
            }
            for stale in try copy.staleAnswers
            where !givenUp.contains(.answer(stale)) {
                try await attempt(.answer(stale)) { () async throws(ClientError) in try await read(stale.query) }
            }
            if try await readNextOfFirstScreens() { return true }
            // At most a few requests a second, however much happens.
            await environment.sleep(.milliseconds(300))
            return false
        }

        private func stalePosts(except parts: Set<Part>) throws(ClientError) -> (
            list: PostList, thread: ThreadID, request: PageRequest
        )? {
            try copy.stalePosts(in: { !parts.contains(.posts($0)) })
        }

        // MARK: Posts

        /// Returns posts from the copy, and reads from the server what the copy lacks, if it can be
        /// reached.
        @concurrent func posts(in list: PostList, before: Position?, limit: Int) async throws(ClientError)
            -> CopiedPosts
        {
            let found = try copy.posts(in: list, before: before, limit: limit)
            let isOpen = try copy.follows(list)
            if found.isComplete, before != nil || isOpen { return found }
            if case .waiting = connection, !found.posts.isEmpty { return found }
            // What the copy has of an open part is a beginning: the server has what is before it.
            let first = before == nil && !isOpen ? nil : found.posts.first { !$0.isPending }?.position ?? before
            let page: Page<Post>
            do throws(ClientError) {
                page = try await read(list, in: try await thread(of: list), PageRequest(limit: limit, before: first))
            } catch {
                if error.isTransient, !found.posts.isEmpty { return found }
                throw error
            }
            let kept = try copy.posts(in: list, before: before, limit: limit)
            if kept.isComplete { return kept }
            // The copy keeps no page before the client has followed the server once, and has no
            // room for the oldest posts of all.
            let later = first == nil ? found.posts.filter(\.isPending) : found.posts
            return CopiedPosts(posts: page.entries + later, reachesBeginning: page.older == nil, isComplete: true)
        }

        /// The thread of a list.
        private func thread(of list: PostList) async throws(ClientError) -> ThreadID {
            switch list {
            case .messages(let thread): return thread
            case .replies(let message):
                if let thread = try copy.post(.message(message))?.thread { return thread }
                guard let thread = try await get(MessageQuery(message: message)).thread else {
                    throw .answerInvalid("A message has no thread.")
                }
                return thread
            }
        }
    }

    extension PostList {
        func target(_ request: PageRequest) throws(ClientError) -> String {
            switch self {
            case .messages(let thread): try TimelineQuery(thread: thread, page: request).requestTarget
            case .replies(let message): try RepliesQuery(message: message, page: request).requestTarget
            }
        }
    }

    extension ChatQuery {
        /// What the server is asked for.
        ///
        /// - Throws: ``ClientError/rejected(_:)`` for a query that is not one of the own user.
        var requestTarget: String {
            get throws(ClientError) {
                do throws(QueryProblem) { return try target } catch {
                    throw .rejected(Rejection(.notAllowed, "The user of this session cannot send this query."))
                }
            }
        }
    }
#endif
