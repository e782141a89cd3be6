#if Client || canImport(SQLite3)
    import Chat
    import ChatClient
    import ChatTesting
    import ChatWire
    import Foundation
    import Locking

    /// A server in this process, with the routes of the real one, whose network loses requests, answers and streams at random.
    final class SimulatedServer: Sendable {
        struct State {
            var store: ChatStore
            var random: SeededRandom
            /// One request or event in so many is lost; 0 for none.
            var lossRate = 0
            /// Whether nobody can reach the server.
            var isAway = false
            var streams: [Int: SimulatedStream] = [:]
            var nextStream = 0
            /// The batches that were executed, each with its author.
            var executed: [[CommandRequest]] = []
        }

        let state: Lock<State>

        init(_ store: ChatStore, seed: UInt64 = 1) { state = Lock(State(store: store, random: SeededRandom(seed: seed))) }

        var store: ChatStore { state.withLock { $0.store } }

        /// Loses what is under way, and cannot be reached until further notice.
        func goAway() {
            let streams = state.withLock { state in
                state.isAway = true
                defer { state.streams = [:] }
                return state.streams.values.map { $0 }
            }
            for stream in streams { stream.cut() }
        }

        func comeBack() { state.withLock { $0.isAway = false } }

        func transport(of user: UserID) -> SimulatedTransport { SimulatedTransport(server: self, user: user) }

        /// Whether the network loses what is sent now.
        fileprivate func loses() -> Bool {
            state.withLock { state in state.isAway || (state.lossRate > 0 && state.random.oneIn(state.lossRate)) }
        }
    }

    struct SimulatedTransport: ClientTransport {
        let server: SimulatedServer
        let user: UserID

        func send(_ request: ClientRequest) async throws(TransportFailure) -> ClientAnswer {
            if server.loses() { throw .unreachable("lost before the server") }
            let response = await respond(request)
            if server.loses() { throw .unreachable("the answer is lost") }
            return response
        }

        private func respond(_ request: ClientRequest) async -> ClientAnswer {
            do {
                let wire = try WireRequest(method: request.method, target: request.target, body: [UInt8](request.body ?? Data()))
                let response = await ChatRoutes(server.store).respond(to: wire, as: user)
                guard case .bytes(let bytes) = response.body else { return ClientAnswer(status: 500) }
                let headers = Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) { $1 }
                return ClientAnswer(status: response.status, headers: headers, body: Data(bytes))
            } catch { return ClientAnswer(status: 400) }
        }

        func openStream(after token: ResumeToken?, credentials: String) async throws(TransportFailure) -> any ClientStream {
            if server.loses() { throw .unreachable("lost before the server") }
            let target = "/v1/events" + (token.map { "?after=\($0)" } ?? "")
            do {
                let wire = try WireRequest(method: "GET", target: target)
                let response = await ChatRoutes(server.store).respond(to: wire, as: user)
                switch response.body {
                case .events(let events): return SimulatedStream(events, server)
                case .bytes(let bytes): throw TransportFailure.refused(ClientAnswer(status: response.status, body: Data(bytes)))
                }
            } catch let error as TransportFailure { throw error } catch { throw .unreachable("\(error)") }
        }
    }

    /// A stream whose bytes pass through the parser of the client.
    final class SimulatedStream: ClientStream {
        private let events: AsyncStream<ServerSentEvent>
        private let continuation: AsyncStream<ServerSentEvent>.Continuation
        private let task: Task<Void, Never>
        private let isCut = Lock(false)
        private let iterator: Lock<AsyncStream<ServerSentEvent>.AsyncIterator>
        private let server: SimulatedServer
        private let key: Int

        init(_ stream: EventStream, _ server: SimulatedServer) {
            let (events, continuation) = AsyncStream<ServerSentEvent>.makeStream()
            (self.events, self.continuation, self.server) = (events, continuation, server)
            iterator = Lock(events.makeAsyncIterator())
            task = Task {
                var parser = EventStreamParser()
                do {
                    _ = try await stream.run { block, _ in
                        if server.loses() { throw CancellationError() }
                        parser.append(block)
                        while let event = try parser.nextEvent() { continuation.yield(event) }
                    }
                } catch { /* The stream is cut, or lost. */  }
                continuation.finish()
            }
            key = server.state.withLock { state in
                state.nextStream += 1
                return state.nextStream
            }
            server.state.withLock { $0.streams[key] = self }
        }

        func next() async throws(TransportFailure) -> ServerSentEvent? {
            var iterator = iterator.withLock { $0 }
            guard let event = await iterator.next() else { throw .unreachable("the stream is cut") }
            return event
        }

        /// Loses what has not arrived.
        func cut() {
            task.cancel()
            continuation.finish()
        }

        func cancel() {
            cut()
            server.state.withLock { $0.streams[key] = nil }
        }
    }
#endif
