#if Client || canImport(SQLite3)
    import ChatClient
    import ChatDomain
    import ChatLive
    import ChatValues
    import ChatWire
    import Foundation

    /// The mode of `chat` without a terminal: commands and queries as lines of JSON in, answers, changes of
    /// the outbox and of threads that are followed as lines of JSON out.
    struct LinesMode {
        let client: ChatClient

        /// Works until the input has ended and nothing waits, a signal arrives, or the client
        /// stops.
        ///
        /// - Parameter signals: An element for each signal that ends the process.
        /// - Returns: Whether every line was right, and no command is left in the outbox.
        func run(_ signals: AsyncStream<Void>) async throws -> Bool {
            let output = await LinesOutput(client)
            try await withThrowingTaskGroup(of: End.self) { group in
                // Before the client runs, so that no state is missed.
                let states = client.connections
                group.addTask { try await output.report(states) }
                group.addTask { try await output.reportOutbox() }
                group.addTask { try await output.take(InputLines()) }
                group.addTask { try await output.drain() }
                group.addTask {
                    var signals = signals.makeAsyncIterator()
                    await signals.next()
                    return .signal
                }
                group.addTask { [client] in
                    await client.run()
                    return .clientStopped
                }
                while let end = try await group.next() {
                    if end == .input { continue }
                    break
                }
                group.cancelAll()
            }
            try await output.reportEnd(client.connection)
            if case .stopped(let reason) = client.connection { throw ClientStopped(reason: reason) }
            return await output.isClean
        }
    }

    /// The client of `chat` cannot go on.
    struct ClientStopped: Error, CustomStringConvertible {
        let reason: StopReason
        var description: String {
            switch reason {
            case .anotherHistory: "\(reason) With --start-over the copy is forgotten, and what waits is sent to it."
            case .storage(let storage, _): "\(reason)\(storage.hint)"
            case .signedOut, .accountDeleted: "\(reason)"
            }
        }
    }

    /// Why a task of the mode has ended.
    private enum End { case input, drained, signal, clientStopped }

    /// Reads lines of standard input on a thread of its own, one at a time as they are taken.
    private struct InputLines: AsyncSequence, Sendable {
        typealias Element = (number: Int, line: LineReader.Line)
        typealias Failure = any Error

        func makeAsyncIterator() -> Iterator { Iterator() }

        struct Iterator: AsyncIteratorProtocol {
            private let wanted = DispatchSemaphore(value: 0)
            private var lines: AsyncThrowingStream<Element, any Error>.Iterator

            init() {
                let (stream, continuation) = AsyncThrowingStream<Element, any Error>.makeStream()
                lines = stream.makeAsyncIterator()
                // It waits for the input, and ends with the process.
                Thread.detachNewThread { [wanted] in
                    var reader = LineReader.standardInput()
                    do {
                        wanted.wait()
                        while let line = try reader.next() {
                            continuation.yield((reader.lineNumber, line))
                            wanted.wait()
                        }
                        continuation.finish()
                    } catch { continuation.finish(throwing: error) }
                }
            }

            mutating func next() async throws -> Element? { try await next(isolation: #isolation) }

            mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
                wanted.signal()
                return try await lines.next(isolation: actor)
            }
        }
    }

    /// A thread whose messages are written.
    private struct FollowedThread {
        let view: LiveTimeline
        let task: Task<Void, Never>
        /// The position of the last message; nil until the first load, whose messages are not written.
        var last: Position?
    }

    /// Adds the commands of the input to the outbox, and writes what happens.
    @MainActor private final class LinesOutput {
        private let client: ChatClient
        private let outbox: LiveOutbox
        private var output = BufferedOutput()
        private var report = OutboxReport()
        /// Ends when the input has ended and no command waits, or with an error of the outbox or of
        /// the output.
        private let (drained, draining) = AsyncThrowingStream<Void, any Error>.makeStream()
        private var hasWrongLine = false
        private var isInputAtEnd = false
        /// Whether the report has the commands of earlier runs.
        private var hasReadOutbox = false
        private var lastConnection: ConnectionState?
        private var followed: [ThreadID: FollowedThread] = [:]
        /// The position of the last message of each thread that was written.
        private var written: [ThreadID: Position] = [:]

        init(_ client: ChatClient) {
            (self.client, outbox) = (client, client.liveOutbox())
            outbox.onLoad = { [weak self] in self?.note { try $0.reconcile() } }
            outbox.onChange = { [weak self] change in
                self?.note { output in
                    try output.write(output.report.apply(change))
                    try output.output.flush()
                }
            }
        }

        /// Whether every line was right, and the outbox is empty.
        var isClean: Bool { !hasWrongLine && report.isEmpty }

        /// Adds the commands of lines to the outbox.
        func take(_ lines: InputLines) async throws -> End {
            for try await (number, line) in lines {
                try await take(line, number)
                try output.flush()
            }
            isInputAtEnd = true
            note { _ in }
            return .input
        }

        /// Writes a change of the outbox, and ends when none is left to come.
        private func note(_ write: (LinesOutput) throws -> Void) {
            do {
                try write(self)
                if try isDrained() { draining.finish() }
            } catch { draining.finish(throwing: error) }
        }

        /// Waits until the input has ended and no command waits.
        func drain() async throws -> End {
            for try await _ in drained {}
            return .drained
        }

        /// Whether the input has ended, and no command waits of this run or an earlier one.
        private func isDrained() throws -> Bool {
            guard isInputAtEnd, hasReadOutbox, report.isDrained else { return false }
            try reconcile()
            return report.isDrained
        }

        /// Compares with the outbox, and says what has changed: at the start, after changes were
        /// missed, and at the end.
        private func reconcile() throws {
            var present: Set<OutboxItem.ID> = []
            try client.forEachItem { item in
                present.insert(item.id)
                try write(report.apply(item))
            }
            for line in report.end(allBut: present) { try write(line) }
            hasReadOutbox = true
            try output.flush()
        }

        private func take(_ line: LineReader.Line, _ number: Int) async throws {
            let input: InputLine
            switch line.decode(InputLine.self, userInfo: [ChatCommand.actorKey: client.user]) {
            case .success(let decoded): input = decoded
            case .failure(let error): return try reject(CommandAnswer(line: number, error))
            }
            do {
                switch input {
                case .command(let request): try write(report.apply(.queued(try client.enqueue(request)), line: number))
                case .withdraw(let item):
                    try client.withdraw(item)
                    try write(report.withdraw(item))
                case .query(let query): try await answer(query, number)
                case .follow(let thread): try follow(thread)
                case .unfollow(let thread): followed.removeValue(forKey: thread)?.task.cancel()
                case .read(let thread):
                    guard let last = written[thread] else {
                        throw LineError(.invalidValue, "no message of this thread was written", field: "read.thread")
                    }
                    let item = try client.enqueue(
                        CommandRequest(.markRead(thread: thread, upTo: last, by: client.user)))
                    try write(report.apply(.queued(item), line: number))
                }
            } catch ClientError.rejected(let rejection) {
                try reject(CommandAnswer(line: number, .failure(rejection)))
            } catch let error as LineError {
                try reject(CommandAnswer(line: number, error))
            } catch let refusal as OutboxRefusal {
                try reject(CommandAnswer(line: number, LineError(.invalidValue, refusal.description)))
            }
        }

        // MARK: Reading

        /// The threads that are followed, each in a view that holds at most as many posts.
        private static let (mostFollowed, mostPosts) = (50, 500)

        /// Writes the answer to a query, or why there is none.
        private func answer(_ query: LineQuery, _ number: Int) async throws {
            let answer: any Encodable & Sendable
            do { answer = try await query.answer(of: client) } catch let failure as any ChatFailure {
                return try reject(
                    CommandAnswer(line: number, outcome: .error(code: failure.code, message: failure.sentence)))
            }
            if let page = answer as? Page<Post> { for post in page.entries { noteWritten(post) } }
            try output.writeLine(json: QueryAnswerLine(line: number, name: query.name, answer: answer))
        }

        /// Notes up to where the messages of a thread were written.
        private func noteWritten(_ post: Post) {
            guard let thread = post.thread, !post.isPending else { return }
            written[thread] = max(written[thread] ?? 0, post.position)
        }

        /// Writes the messages of a thread that are new or change from now on.
        private func follow(_ thread: ThreadID) throws(LineError) {
            if followed[thread] != nil { return }
            guard followed.count < Self.mostFollowed else {
                throw LineError(.tooMany, "\(Self.mostFollowed) threads are followed at most", field: "follow")
            }
            let view = client.liveTimeline(of: thread)
            view.longest = Self.mostPosts
            view.onLoad = { [weak self] in self?.load($0, of: thread) }
            view.onChange = { [weak self] in self?.write($0, of: thread) }
            let task = Task {
                await view.follow()
                guard let error = view.state.error, followed[thread]?.view === view else { return }
                followed[thread] = nil
                note { try $0.write(FollowedLine(thread: thread, problem: error)) }
            }
            followed[thread] = FollowedThread(view: view, task: task)
        }

        /// Writes what came since the last load, of the latest messages; the first load is the beginning.
        private func load(_ posts: [Post], of thread: ThreadID) {
            let last = followed[thread]?.last
            for post in posts where post.position > last ?? .max { write(post, of: thread) }
            followed[thread]?.last = max(last ?? 0, posts.last { !$0.isPending }?.position ?? 0)
        }

        private func write(_ post: Post, of thread: ThreadID) {
            guard !post.isPending, let last = followed[thread]?.last else { return }
            followed[thread]?.last = max(last, post.position)
            noteWritten(post)
            note { try $0.write(FollowedLine(thread: thread, post: post, isNew: post.position > last)) }
        }

        private func write(_ line: FollowedLine) throws {
            try output.writeLine(json: line)
            try output.flush()
        }

        private func reject(_ answer: CommandAnswer) throws {
            hasWrongLine = true
            try output.writeLine(json: answer)
        }

        /// Writes the changes of the outbox until the task is cancelled.
        func reportOutbox() async throws -> End {
            await outbox.follow()
            if let error = outbox.state.error { throw error }
            return .clientStopped
        }

        /// Writes the states of the connection.
        func report(_ states: AsyncStream<ConnectionState>) async throws -> End {
            for await state in states { try write(state) }
            return .clientStopped
        }

        /// Writes what was not written yet when the work ended: of the outbox, and why the client
        /// has stopped.
        func reportEnd(_ state: ConnectionState) throws {
            for thread in followed.values { thread.task.cancel() }
            followed = [:]
            if case .stopped = state, state != lastConnection { try write(state) }
            // A copy that cannot be read is the reason of the end already.
            if case .stopped(.storage) = state { return }
            try reconcile()
        }

        private func write(_ state: ConnectionState) throws {
            lastConnection = state
            try output.writeLine(json: ConnectionLine(state))
            try output.flush()
        }

        private func write(_ line: OutboxLine?) throws { if let line { try output.writeLine(json: line) } }
    }
#endif
