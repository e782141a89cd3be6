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
            var known = try copy.token
            let stream: any ClientStream
            do throws(TransportFailure) {
                stream = try await transport.openStream(after: known, credentials: credentials)
            } catch {
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
                guard known.map({ $0.journal == token.journal && $0.position <= token.position }) ?? true else {
                    throw .answerInvalid("The stream goes back, or is that of another journal.")
                }
                if !isConnected {
                    try copy.begin(at: token)
                    isConnected = true
                    connected()
                    beginConnection()
                }
                if let data = event.data {
                    switch try StreamUpdate(event, data, token) {
                    case .update(let update): try apply(update)
                    case .unknown(let token):
                        let changed = try keeping.withLock { _ throws(ClientError) in
                            // What was asked for before can lack what was not understood.
                            state.withLock { state in
                                for key in state.unanswered.keys { state.unanswered[key] = .some(nil) }
                            }
                            return try copy.skip(to: token)
                        }
                        announce(changed)
                    case .end: return
                    case .signedOut: throw await reasonOfSignOut()
                    }
                }
                known = token
            }
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

        private func next(of stream: any ClientStream) async throws(ClientError) -> ServerSentEvent? {
            do throws(TransportFailure) { return try await stream.next() } catch { throw ClientError(error) }
        }

        private func beginConnection() {
            set(.connected)
            sendSignal.set()
            var changed = CopyChanges()
            changed.hasGaps = true
            announce(changed)
        }

        private func apply(_ update: FollowedUpdate) throws(ClientError) {
            try keeping.withLock { _ throws(ClientError) in
                state.withLock { state in
                    for key in state.unanswered.keys {
                        if state.unanswered[key]??.count == Self.mostUpdates { state.unanswered[key] = .some(nil) }
                        state.unanswered[key]??.append(update)
                    }
                }
                try change { copy throws(ClientError) in try copy.apply([update]) }
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
