#if Client || canImport(SQLite3)
    internal import ChatValues
    internal import Locking

    // Follows the stream of the server.
    extension SyncEngine {
        /// The attempts after which a token that the server does not know means another journal: a
        /// server that only reads can be behind the one that gave the token, for a moment.
        private static let attemptsWithUnknownToken = 4

        /// Follows the server until the task is cancelled, or trying again would not help, and
        /// returns why.
        func follow() async -> StopReason? {
            var attempt = 0
            while !Task.isCancelled {
                set(.connecting)
                var failure: ClientError
                do throws(ClientError) {
                    try await followOnce { attempt = 0 }
                    failure = .unreachable("The server has ended the stream.")
                } catch { failure = error }
                if Task.isCancelled { return nil }
                attempt += 1
                if let reason = StopReason(failure),
                    reason != .anotherHistory || attempt >= Self.attemptsWithUnknownToken
                {
                    return reason
                }
                let wait = environment.wait(attempt, failure.retryAfter)
                set(.waiting(failure, wait))
                await sleep(wait, orUntil: connectSignal)
            }
            return nil
        }

        /// Follows one stream until its end.
        private func followOnce(connected: () -> Void) async throws(ClientError) {
            let known = try copy.token
            let stream: any ClientStream
            do throws(TransportFailure) {
                stream = try await transport.openStream(after: known, credentials: credentials)
            } catch {
                throw ClientError(error)
            }
            defer { stream.cancel() }
            var reader = StreamReader(stream, after: known)
            var isConnected = false
            while let batch = try await reader.next() {
                if !isConnected {
                    let isFirst = try copy.begin(at: batch.first)
                    try change { copy throws(ClientError) in try copy.settle() }
                    isConnected = true
                    connected()
                    beginConnection(isFirst: isFirst)
                }
                try apply(batch.updates)
                switch try batch.end?.get() {
                case .unknown(let token): try skip(to: token)
                case .end: return
                case .signedOut: throw await reasonOfSignOut()
                case .update, nil: break
                }
            }
        }

        /// Passes over an event that was not understood.
        private func skip(to token: ResumeToken) throws(ClientError) {
            let changed = try keeping.withLock { _ throws(ClientError) in
                // What was asked for before can lack what was not understood.
                state.withLock { state in
                    for key in state.unanswered.keys { state.unanswered[key] = .some(nil) }
                }
                return try copy.skip(to: token)
            }
            announce(changed)
        }

        /// Why the server has ended the session: it is asked once more, which says whether the account
        /// still exists.
        private func reasonOfSignOut() async -> ClientError {
            let request = ClientRequest("GET", UserQuery.path, credentials: credentials, body: nil)
            do throws(TransportFailure) {
                if let error = try await transport.send(request).error(), error == .accountDeleted { return error }
            } catch {
                // The next connection says it.
            }
            return .signedOut
        }

        private func beginConnection(isFirst: Bool) {
            set(.connected)
            sendSignal.set()
            var changed = CopyChanges()
            changed.hasGaps = true
            changed.isFirst = isFirst
            announce(changed)
        }

        /// Applies updates that have arrived together, in one transaction.
        private func apply(_ updates: [FollowedUpdate]) throws(ClientError) {
            guard !updates.isEmpty else { return }
            try keeping.withLock { _ throws(ClientError) in
                state.withLock { state in
                    for case (let key, let since?) in state.unanswered {
                        state.unanswered[key] =
                            since.count + updates.count > Self.mostUpdates ? .some(nil) : .some(since + updates)
                    }
                }
                do throws(ClientError) { try applyTogether(updates) } catch {
                    // If one of them fails, those before it are kept. A log that cannot be emptied
                    // fails when all are applied, and a full disk is full for each of them.
                    guard updates.count > 1, ![.held, .full].contains(error.storage) else { throw error }
                    for update in updates { try applyTogether([update]) }
                }
            }
        }

        private func applyTogether(_ updates: [FollowedUpdate]) throws(ClientError) {
            try change { copy throws(ClientError) in
                try copy.apply(updates)
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
#endif
