#if Client || canImport(SQLite3)
    internal import ChatDomain
    package import ChatValues
    internal import Foundation
    internal import Locking

    /// Keeps a copy like its server: follows the stream, reads pages, and sends the outbox in its order.
    package final class SyncEngine: Sendable {
        let copy: LocalCopy
        let transport: any ClientTransport
        let credentials: String
        let environment: SyncEnvironment
        /// What has changed in the copy.
        package let changes = Broadcast<CopyChanges>()
        /// The states of the connection.
        package let states = Broadcast<ConnectionState>(limit: 100)

        private struct State {
            var connection = ConnectionState.idle
            /// The updates since each request that is not answered; nil if they are too many.
            var unanswered: [Int: [FollowedUpdate]?] = [:]
            var nextRequest = 0
            /// The number of commands that are sent at once.
            var batchLimit = SyncEngine.mostCommands
        }

        private let state = Lock(State())
        /// Held while updates are applied and while an answer is kept: an update is either among those since the request, or comes after
        /// the answer.
        private let keeping = Lock(())
        /// Wakes the tasks that wait to send, to read again, and to connect.
        private let (sendSignal, readSignal, connectSignal) = (Signal(), Signal(), Signal())

        /// The most commands and bytes of a request.
        static let (mostCommands, mostBytes) = (100, 512 << 10)
        /// The most updates that an answer is corrected by.
        private static let mostUpdates = 2_000

        package init(
            _ copy: LocalCopy, _ transport: any ClientTransport, credentials: String, _ environment: SyncEnvironment = SyncEnvironment()
        ) {
            (self.copy, self.transport, self.credentials, self.environment) = (copy, transport, credentials, environment)
        }

        /// Works until the task is cancelled, or until trying again would not help: ``connection`` then says why.
        package func run() async {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.follow() }
                group.addTask { await self.sendOutbox() }
                group.addTask { await self.readWhatIsOutOfDate() }
                await group.next()
                group.cancelAll()
            }
            if case .stopped = connection { return }
            set(.idle)
        }

        package var connection: ConnectionState { state.withLock { $0.connection } }

        /// Waits until the client is connected, or has stopped.
        func waitUntilConnected() async throws(ClientError) {
            // Before the state is looked at, so that no change is missed.
            let states = states.elements()
            if isConnected { return }
            for await state in states {
                switch state {
                case .connected: return
                case .stopped(.signedOut): throw .signedOut
                case .stopped(.storage(let storage)): throw .storage(storage)
                case .stopped(.anotherHistory): throw .answerInvalid("The server has another journal.")
                case .idle, .connecting, .waiting: break
                }
            }
            throw .cancelled
        }

        private func set(_ connection: ConnectionState) {
            state.withLock { $0.connection = connection }
            states.send(connection)
        }

        var isConnected: Bool { connection == .connected }

        /// Announces what has changed, and wakes the tasks that have something to do now.
        func announce(_ changed: CopyChanges) {
            guard changed != CopyChanges() else { return }
            changes.send(changed)
            readSignal.set()
            if changed.outbox.contains(where: { if case .queued = $0 { true } else { false } }) { sendSignal.set() }
        }

        /// Tries to connect now, for example because the network is back.
        package func connectNow() { connectSignal.set() }

        /// Has what is out of date read again, because somebody looks at it.
        package func readNow() { readSignal.set() }

        // MARK: The stream

        private func follow() async {
            var attempt = 0
            while !Task.isCancelled {
                set(.connecting)
                var failure: ClientError
                do throws(ClientError) {
                    try await followOnce { attempt = 0 }
                    failure = .unreachable("The server has ended the stream.")
                } catch { failure = error }
                if Task.isCancelled { return }
                if let reason = StopReason(failure) {
                    set(.stopped(reason))
                    return
                }
                attempt += 1
                let wait = environment.wait(before: attempt, failure.retryAfter)
                set(.waiting(failure, wait))
                await sleep(wait, orUntil: connectSignal)
            }
        }

        /// Follows one stream until its end.
        private func followOnce(connected: () -> Void) async throws(ClientError) {
            let known = try copy.checked { copy throws(CopyError) in try copy.token }
            let stream: any ClientStream
            do throws(TransportFailure) { stream = try await transport.openStream(after: known, credentials: credentials) } catch {
                throw ClientError(error)
            }
            defer { stream.cancel() }
            var isConnected = false
            while let event = try await next(of: stream) {
                // A comment before the first id has none.
                if event.id == nil, event.data == nil { continue }
                guard let token = event.id.flatMap({ ResumeToken(checked: $0) }) else {
                    throw .answerInvalid("An event of the stream has no resume token.")
                }
                if !isConnected {
                    try copy.checked { copy throws(CopyError) in try copy.begin(at: token) }
                    isConnected = true
                    connected()
                    set(.connected)
                    for signal in [sendSignal, readSignal] { signal.set() }
                    var connection = CopyChanges()
                    connection.isConnection = true
                    changes.send(connection)
                }
                guard let data = event.data else { continue }
                let last = try copy.checked { copy throws(CopyError) in try copy.token }
                guard let last, last.journal == token.journal, last.position <= token.position else {
                    throw .answerInvalid("The stream goes back, or is that of another journal.")
                }
                switch event.name {
                case "lagged", "closing", "failed": return
                case "signed-out": throw .signedOut
                // Names of later versions tell nothing that this one keeps.
                default: if let update = try FollowedUpdate(event.name, data, token) { try apply([update]) }
                }
            }
        }

        private func next(of stream: any ClientStream) async throws(ClientError) -> ServerSentEvent? {
            do throws(TransportFailure) { return try await stream.next() } catch { throw ClientError(error) }
        }

        private func apply(_ updates: [FollowedUpdate]) throws(ClientError) {
            let changed = try keeping.withLock { _ throws(ClientError) in
                state.withLock { state in
                    for key in Array(state.unanswered.keys) {
                        guard let known = state.unanswered[key] ?? nil else { continue }
                        state.unanswered[key] = .some(known.count + updates.count > Self.mostUpdates ? nil : known + updates)
                    }
                }
                return try copy.checked { copy throws(CopyError) in try copy.apply(updates) }
            }
            announce(changed)
        }

        // MARK: Requests

        /// Sends a request for a value.
        ///
        /// - Parameter use: Receives the value, the position that it is at least as new as, and the updates since the request, which it may
        ///   lack. No update is applied meanwhile.
        private func get<Value: Decodable & Sendable, Result: Sendable>(
            _ target: String, as type: Value.Type, use: (Value, Position, [FollowedUpdate]) throws(ClientError) -> Result
        ) async throws(ClientError) -> Result {
            for _ in 0..<3 {
                // An answer without a token is at least as new as what was known when it was asked for.
                let before = try copy.checked { copy throws(CopyError) in try copy.token }
                let number = state.withLock { state in
                    state.nextRequest += 1
                    state.unanswered[state.nextRequest] = .some([])
                    return state.nextRequest
                }
                defer { state.withLock { _ = $0.unanswered.removeValue(forKey: number) } }
                let answer: ClientAnswer
                do throws(TransportFailure) {
                    answer = try await transport.send(ClientRequest("GET", target, credentials: credentials))
                } catch {
                    throw ClientError(error)
                }
                let value = try answer.decode(type)
                guard let token = answer.headers["resume-token"].map({ ResumeToken(checked: $0) }) ?? before else {
                    throw .answerInvalid("The answer has no resume token.")
                }
                let known = try copy.checked { copy throws(CopyError) in try copy.token }
                guard known.map({ $0.journal == token.journal }) ?? true else {
                    throw .answerInvalid("The answer is that of another journal.")
                }
                let result: Result? = try keeping.withLock { _ throws(ClientError) in
                    guard let since = state.withLock({ $0.unanswered[number] ?? nil }) else { return nil }
                    return try use(value, token.position, since)
                }
                if let result { return result }
            }
            throw .unreachable("More happens than can be read.")
        }

        /// Returns a value that is not kept.
        func get<Value: Decodable & Sendable>(_ target: String, as type: Value.Type = Value.self) async throws(ClientError) -> Value {
            try await get(target, as: type) { value, _, _ in value }
        }

        /// Reads a page of a list, and keeps it as soon as the client has followed the server once.
        @discardableResult package func read(
            _ list: PostList, in thread: ThreadID, _ request: PageRequest
        ) async throws(ClientError) -> Page<Post> {
            var request = request
            // As many as the server gives: a shorter page is the last one.
            request.limit = max(1, min(request.limit, 200))
            let (page, changed) = try await get(list.target(request), as: Page<Post>.self) {
                [request] page, position, since throws(ClientError) in
                let changed = try copy.checked { copy throws(CopyError) in
                    try copy.keep(page, of: list, in: thread, request, asOf: position, then: since)
                }
                return (page, changed)
            }
            announce(changed)
            return page
        }

        /// Reads an answer again, and keeps it.
        package func read(_ kind: KeptAnswer) async throws(ClientError) {
            switch kind {
            case .me: try await read(kind, "/v1/me", as: UserDetails.self)
            case .threads: try await read(kind, "/v1/threads?limit=200", as: Page<ThreadSummary>.self)
            case .inbox: try await read(kind, "/v1/inbox?limit=50", as: InboxAnswer.self)
            case .members(let thread): try await read(kind, "/v1/threads/\(thread)/members?limit=200", as: Page<ThreadMember>.self)
            }
        }

        private func read<Value: Codable & Sendable>(_ kind: KeptAnswer, _ target: String, as type: Value.Type) async throws(ClientError) {
            for _ in 0..<3 {
                let changed: CopyChanges? = try await get(target, as: type) { value, _, since throws(ClientError) in
                    var isStale = false
                    for update in since {
                        // What was erased meanwhile may be in the answer.
                        guard case .event(let event) = update else { return nil }
                        isStale = isStale || KeptAnswer.outdated(by: event.recorded, of: copy.user).contains(kind)
                    }
                    return try copy.checked { [isStale] copy throws(CopyError) in try copy.keep(value, as: kind, isStale: isStale) }
                }
                guard let changed else { continue }
                announce(changed)
                return
            }
        }

        private func readWhatIsOutOfDate() async {
            while await readSignal.wait() {
                while isConnected, !Task.isCancelled, await readNextOutOfDate() {}
                // At most a few requests a second, however much happens.
                await environment.sleep(.milliseconds(300))
            }
        }

        /// Reads one part again; returns whether there may be more.
        private func readNextOutOfDate() async -> Bool {
            do throws(ClientError) {
                if let (list, thread, request) = try copy.checked({ copy throws(CopyError) in try copy.stalePosts() }) {
                    do throws(ClientError) { try await read(list, in: thread, request) } catch {
                        guard case .notFound = error else { throw error }
                        announce(try copy.checked { copy throws(CopyError) in try copy.forget(list) })
                    }
                    return true
                }
                let stale = try copy.checked { copy throws(CopyError) in try copy.staleAnswers }
                for kind in stale {
                    do throws(ClientError) { try await read(kind) } catch {
                        guard case .notFound = error else { throw error }
                        try copy.checked { copy throws(CopyError) in try copy.forget(kind) }
                    }
                }
                return false
            } catch {
                // The next event or the next connection tries again.
                return false
            }
        }

        // MARK: The outbox

        private func sendOutbox() async {
            var attempt = 0
            while !Task.isCancelled {
                var failure: ClientError?
                var isDone = true
                do throws(ClientError) { if isConnected { isDone = try await !sendBatch() } } catch { failure = error }
                if let failure {
                    if let reason = StopReason(failure) {
                        set(.stopped(reason))
                        return
                    }
                    attempt += 1
                    await environment.sleep(environment.wait(before: attempt, failure.retryAfter))
                } else {
                    attempt = 0
                    if isDone, !(await sendSignal.wait()) { return }
                }
            }
        }

        /// Sends the next commands; returns whether there were any.
        private func sendBatch() async throws(ClientError) -> Bool {
            let limit = state.withLock { $0.batchLimit }
            let batch = try copy.checked { copy throws(CopyError) in try copy.nextBatch(limit: limit, byteLimit: Self.mostBytes) }
            guard !batch.isEmpty else { return false }
            var sending = CopyChanges()
            sending.outbox = batch.map { .sending($0) }
            changes.send(sending)
            let body: Data
            do { body = try JSONEncoder().encode(batch.map(\.request)) } catch { throw .storage(.damaged) }
            let answer: ClientAnswer
            do throws(TransportFailure) {
                answer = try await transport.send(ClientRequest("POST", "/v1/commands", credentials: credentials, body: body))
            } catch { throw ClientError(error) }
            if let error = answer.error() {
                try refuse(batch, error)
                return true
            }
            let answers = try answer.decode([DecodedCommandAnswer].self)
            guard answers.map(\.line) == Array(1...batch.count), zip(answers, batch).allSatisfy({ $0.isAnswer(to: $1.request.command) })
            else {
                throw .answerInvalid("The answers are not those to the commands that were sent.")
            }
            var changed = CopyChanges()
            for (item, answer) in zip(batch, answers) {
                changed.add(
                    try copy.checked { copy throws(CopyError) in
                        switch answer.result {
                        case .success(let receipt): try copy.confirm(item.id, receipt)
                        case .failure(let rejection): try copy.reject(item.id, rejection)
                        }
                    })
            }
            announce(changed)
            state.withLock { $0.batchLimit = min(Self.mostCommands, $0.batchLimit * 2) }
            return true
        }

        /// Handles the refusal of a whole batch, of which the server has executed nothing.
        private func refuse(_ batch: [OutboxItem], _ error: ClientError) throws(ClientError) {
            // Anything else is about the server or the session, and not about what the user wrote.
            guard case .problem(let problem) = error, problem.retryAfter == nil, problem.line != nil || [400, 413].contains(problem.status)
            else { throw error }
            if let line = problem.line, batch.indices.contains(line - 1) {
                reject(batch[line - 1], problem)
            } else if batch.count > 1 {
                // One of them is too much: the first one alone tells.
                state.withLock { $0.batchLimit = max(1, batch.count / 2) }
            } else {
                reject(batch[0], problem)
            }
            func reject(_ item: OutboxItem, _ problem: ServerProblem) {
                let rejection = Rejection(Rejection.Code(rawValue: problem.code.rawValue), problem.detail)
                do throws(ClientError) {
                    announce(try copy.checked { copy throws(CopyError) in try copy.reject(item.id, rejection) })
                } catch {
                    set(.stopped(StopReason(error) ?? .storage(.notWritable)))
                }
            }
        }

        /// Waits for a time, or until a signal is set.
        private func sleep(_ duration: Duration, orUntil signal: Signal) async {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.environment.sleep(duration) }
                group.addTask { _ = await signal.wait() }
                await group.next()
                group.cancelAll()
            }
        }
    }

    /// The clock and the random numbers of an engine.
    package struct SyncEnvironment: Sendable {
        package var now: @Sendable () -> Timestamp = { Timestamp(Date()) }
        /// Waits, at most until the task is cancelled.
        package var sleep: @Sendable (Duration) async -> Void = { duration in
            do { try await Task.sleep(for: duration) } catch { /* The task is cancelled, which the caller looks at. */  }
        }
        package var wait: @Sendable (_ attempt: Int, _ retryAfter: Duration?) -> Duration = { attempt, retryAfter in
            var generator = SystemRandomNumberGenerator()
            return BackOff.wait(before: attempt, retryAfter: retryAfter, using: &generator)
        }

        package init() {}

        func wait(before attempt: Int, _ retryAfter: Duration?) -> Duration { wait(attempt, retryAfter) }
    }

    extension StopReason {
        /// The reason of an error after which trying again would not help; nil for another one.
        init?(_ error: ClientError) {
            switch error {
            case .signedOut: self = .signedOut
            case .problem(let problem) where problem.code == .invalidToken: self = .anotherHistory
            case .storage(let storage): self = .storage(storage)
            default: return nil
            }
        }
    }

    extension ResumeToken {
        /// The token of a text of the server; nil also beyond the positions that a copy can have.
        init?(checked text: String) {
            guard let token = ResumeToken(text), token.position < .firstPending else { return nil }
            self = token
        }
    }

    extension DecodedCommandAnswer {
        /// Whether the answer can be the one to a command: a receipt has the id of what was to be created.
        func isAnswer(to command: ChatCommand) -> Bool {
            guard case .success(let receipt) = result else { return true }
            guard receipt.position < .firstPending else { return false }
            guard let id = command.createdPost else { return true }
            return receipt.message.map(PostID.message) == id || receipt.reply.map(PostID.reply) == id
        }
    }

    extension FollowedUpdate {
        /// Decodes an event of the stream; nil for a name that this version does not know.
        init?(_ name: String, _ data: String, _ token: ResumeToken) throws(ClientError) {
            let decoder = JSONDecoder()
            let bytes = Data(data.utf8)
            do {
                switch name {
                case "message":
                    let recorded = try decoder.decode(RecordedEvent.self, from: bytes)
                    guard recorded.position == token.position else { throw ClientError.answerInvalid("another position") }
                    self = .event(FollowedEvent(recorded: recorded, resumeToken: token))
                case "erased": self = .erased(try decoder.decode(ErasedContent.self, from: bytes), token)
                case "accessLost": self = .accessLost(try decoder.decode(LostThread.self, from: bytes).thread, token)
                default: return nil
                }
            } catch { throw .answerInvalid("An event of the stream is not one of a chat.") }
        }

        private struct LostThread: Decodable { let thread: ThreadID }
    }

    extension PostList {
        func target(_ request: PageRequest) -> String {
            var parts = ["limit=\(max(1, min(request.limit, 200)))"]
            if let before = request.before { parts.append("before=\(before)") }
            if let after = request.after { parts.append("after=\(after)") }
            let place =
                switch self {
                case .messages(let thread): "threads/\(thread)/timeline"
                case .replies(let message): "messages/\(message)/replies"
                }
            return "/v1/\(place)?\(parts.joined(separator: "&"))"
        }
    }

    extension CopyChanges {
        mutating func add(_ other: CopyChanges) {
            posts.merge(other.posts) { $0.union($1) }
            lists.formUnion(other.lists)
            users.formUnion(other.users)
            answers.formUnion(other.answers)
            lostThreads.formUnion(other.lostThreads)
            isErasure = isErasure || other.isErasure
            isConnection = isConnection || other.isConnection
            outbox += other.outbox
        }
    }

    extension LocalCopy {
        /// Uses the copy, and says its errors in those of the client.
        func checked<Value>(_ body: (LocalCopy) throws(CopyError) -> Value) throws(ClientError) -> Value {
            do throws(CopyError) { return try body(self) } catch { throw ClientError(error) }
        }
    }

    extension ClientError {
        init(_ error: CopyError) {
            self =
                switch error {
                case .storage(let error): ClientError(error)
                case .anotherOwner, .newerVersion: .storage(.unknownFormat)
                case .damaged: .storage(.damaged)
                case .invalidAnswer(let text): .answerInvalid(text)
                }
        }
    }
#endif
