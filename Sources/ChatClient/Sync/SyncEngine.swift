#if Client || canImport(SQLite3)
    internal import ChatValues
    internal import Locking

    /// Keeps a copy like its server: follows the stream, reads pages, and sends the outbox in its
    /// order.
    package final class SyncEngine: Sendable {
        let copy: LocalCopy
        let transport: any ClientTransport
        let credentials: String
        let environment: SyncEnvironment
        /// What has changed in the copy.
        let changes = Broadcast<CopyChanges>(.endsBeyond(1_000))
        /// The states of the connection.
        let states = Broadcast<ConnectionState>(.keepsLatest)

        struct State {
            var connection = ConnectionState.idle
            /// The number of streams that the server has opened after the token of the copy, or for
            /// a new copy.
            var connectionCount = 0
            var isRunning = false
            /// The updates since each request that is not answered; nil if they are too many.
            var unanswered: [Int: [FollowedUpdate]?] = [:]
            var nextRequest = 0
            /// The lists whose latest posts a view waits for, and how many; each is read as soon as
            /// the server can be reached.
            var wanted: [PostList: Int] = [:]
            /// The failed attempts to read a part, since it was last given up, or in this connection.
            var failures: [Part: Int] = [:]
            /// What was read ahead of a request in this connection; nil when there is nothing left.
            var firstScreens: FirstScreens?
            /// The number of commands that are sent at once.
            var batchLimit = SyncEngine.mostCommands
        }

        let state = Lock(State())
        /// Held while updates are applied and while an answer is kept: an update is either among
        /// those since the request, or comes after the answer.
        let keeping = Lock(())
        /// Held while the copy is changed and the change is announced, so that what happens to an
        /// item is announced in its order.
        private let changing = Lock(())
        /// Wakes the tasks that wait to send, to read again, to connect, and to write the copy anew.
        let (sendSignal, readSignal, connectSignal, rebuildSignal) = (Signal(), Signal(), Signal(), Signal())
        /// Set when a part was given up.
        let givenUpSignal = Signal()

        package init(
            _ copy: LocalCopy, _ transport: any ClientTransport, credentials: String,
            _ environment: SyncEnvironment = SyncEnvironment()
        ) {
            (self.copy, self.transport, self.credentials, self.environment) = (
                copy, transport, credentials, environment
            )
        }

        /// Works until the task is cancelled, or until trying again would not help: ``connection``
        /// then says why.
        ///
        /// Returns at once while another call runs.
        package func run() async {
            let begins = state.withLock { state in
                defer { state.isRunning = true }
                return !state.isRunning
            }
            guard begins else { return }
            var reason = await withTaskGroup(of: StopReason?.self) { group in
                group.addTask { await self.follow() }
                group.addTask {
                    await self.work(on: self.sendSignal) { () async throws(ClientError) in try await self.sendBatch() }
                }
                group.addTask {
                    await self.work(on: self.readSignal) { () async throws(ClientError) in
                        try await self.readNextOutOfDate()
                    }
                }
                group.addTask { await self.rebuildCopy() }
                group.addTask { await self.takeUpAgain() }
                let reason = await group.next() ?? nil
                group.cancelAll()
                return reason
            }
            if reason == .accountDeleted { reason = forgetUser() }
            // When all tasks have ended, so that none says something else afterwards.
            set(reason.map(ConnectionState.stopped) ?? .idle)
            state.withLock { $0.isRunning = false }
        }

        /// Does steps while there are more and the client is connected, then waits for the signal;
        /// tries again after an error.
        ///
        /// - Parameter step: Returns whether there may be more to do.
        /// - Returns: Why trying again would not help; nil if the task is cancelled.
        private func work(on signal: Signal, _ step: () async throws(ClientError) -> Bool) async -> StopReason? {
            var attempt = 0
            while !Task.isCancelled {
                do throws(ClientError) {
                    let hasMore = isConnected ? try await step() : false
                    attempt = 0
                    if !hasMore, !(await signal.wait()) { return nil }
                } catch {
                    if let reason = StopReason(error) { return reason }
                    attempt += 1
                    await environment.sleep(environment.wait(attempt, error.retryAfter))
                }
            }
            return nil
        }

        /// Writes the copy anew a moment after something was taken away from it, so that updates
        /// that arrive together need one rebuilding, and rebuilding takes a small part of the time.
        private func rebuildCopy() async -> StopReason? {
            while !Task.isCancelled {
                do throws(ClientError) {
                    if let byteCount = try copy.byteCountToRebuild {
                        await environment.sleep(.seconds(1 + byteCount / Self.rebuiltByteCountPerSecond))
                        if Task.isCancelled { return nil }
                        try copy.rebuild()
                    }
                } catch {
                    // With a full disk it is tried again after the next change or the next opening.
                    guard error.storage == .full else { return StopReason(error) }
                }
                if !(await rebuildSignal.wait()) { return nil }
            }
            return nil
        }

        /// The bytes of the copy for each second of a pause before it is written anew, which takes
        /// some 20 ms for as many.
        private static let rebuiltByteCountPerSecond = 4 << 20

        /// Forgets everything of a user whose account was deleted, and returns why the client stops.
        private func forgetUser() -> StopReason? {
            do throws(ClientError) {
                var (changed, last) = (CopyChanges(), OutboxItem.ID(0))
                while case let items = try copy.outbox(after: last, limit: 1_000), let end = items.last {
                    changed.outbox += items.map { .withdrawn($0) }
                    last = end.id
                }
                try copy.forgetEverything(includesOutbox: true)
                try copy.rebuild()
                announce(changed)
                return .accountDeleted
            } catch { return StopReason(error) }
        }

        // MARK: The connection

        package var connection: ConnectionState { state.withLock { $0.connection } }

        var isConnected: Bool { connection == .connected }

        func set(_ connection: ConnectionState) {
            state.withLock { state in
                if connection == .connected {
                    (state.connectionCount, state.failures) = (state.connectionCount + 1, [:])
                    state.firstScreens = FirstScreens()
                }
                state.connection = connection
            }
            states.send(connection)
        }

        /// The number of the connection, for the comparison with a later one; nil if there is none.
        var connectionNumber: Int? { state.withLock { $0.connection == .connected ? $0.connectionCount : nil } }

        /// Waits until the client is connected, or has stopped.
        func waitUntilConnected() async throws(ClientError) {
            // Before the state is looked at, so that no change is missed.
            let states = states.elements()
            if isConnected { return }
            for await state in states {
                switch state {
                case .connected: return
                case .stopped(.signedOut): throw .signedOut
                case .stopped(.accountDeleted): throw .accountDeleted
                case .stopped(.storage(let storage, let file)): throw .storage(storage, file: file)
                case .stopped(.anotherHistory): throw .answerInvalid("The server has another journal.")
                case .idle, .connecting, .waiting: break
                }
            }
            throw .cancelled
        }

        /// Waits until the client is connected, has stopped, or something else happens.
        func waitUntilConnected(or other: @escaping @Sendable () async -> Void) async throws(ClientError) {
            let result = await withTaskGroup(of: Result<Void, ClientError>.self) { group in
                group.addTask {
                    do throws(ClientError) { return .success(try await self.waitUntilConnected()) } catch {
                        return .failure(error)
                    }
                }
                group.addTask {
                    await other()
                    return .success(())
                }
                defer { group.cancelAll() }
                return await group.next() ?? .success(())
            }
            try result.get()
        }

        /// Tries to connect now, for example because the network is back.
        func connectNow() { connectSignal.set() }

        // MARK: Changes

        /// Changes the copy and announces the change.
        func change<Failure: Error>(_ body: (LocalCopy) throws(Failure) -> CopyChanges) throws(Failure) {
            try changing.withLock { _ throws(Failure) in announce(try body(copy)) }
        }

        /// Announces what has changed, and wakes the tasks that have something to do now.
        func announce(_ changed: CopyChanges) {
            guard changed != CopyChanges() else { return }
            changes.send(changed)
            readSignal.set()
            if changed.takesContent { rebuildSignal.set() }
            if changed.outbox.contains(where: { if case .queued = $0 { true } else { false } }) { sendSignal.set() }
        }

        /// Has what is out of date read again, because it is shown.
        func readNow() { readSignal.set() }
    }

    extension StopReason {
        /// The reason of an error after which trying again would not help; nil for another one.
        init?(_ error: ClientError) {
            switch error {
            case .signedOut: self = .signedOut
            case .accountDeleted: self = .accountDeleted
            case .problem(let problem) where problem.code == .invalidToken: self = .anotherHistory
            // There is room again after a while.
            case .storage(.full, _): return nil
            case .storage(let storage, let file): self = .storage(storage, file: file)
            default: return nil
            }
        }
    }
#endif
