#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import ChatWire
    import Foundation
    import Locking

    @testable import ChatClient

    /// A server in this process, with the routes of the real one, and a network that can fail.
    final class SimulatedServer: Sendable {
        /// What the network does to requests, answers and events: one in so many is concerned, and
        /// none for 0.
        struct Faults {
            /// A request, an answer or a stream is lost.
            var lossRate = 0
            /// An event comes twice.
            var repeatRate = 0
            /// A request or a stream is silent until the client gives up.
            var silenceRate = 0
            /// Each of them is late by up to this time, in the time of the executor.
            var mostDelay = Duration.zero
        }

        struct State {
            var store: ChatStore
            var random: SeededRandom
            var faults = Faults()
            /// Whether the server cannot be reached.
            var isAway = false
            /// The number of times that everything under way was lost.
            var cuts = 0
            var streams: [Int: SimulatedStream] = [:]
            var nextStream = 0
        }

        let state: Lock<State>
        /// Runs the streams, and has the time of the network; nil for that of the system, without
        /// delays.
        let executor: SeededExecutor?

        init(_ store: ChatStore, seed: UInt64 = 1, executor: SeededExecutor? = nil) {
            state = Lock(State(store: store, random: SeededRandom(seed: seed)))
            self.executor = executor
        }

        var store: ChatStore { state.withLock { $0.store } }

        /// Loses what is under way, and cannot be reached until further notice.
        func goAway() {
            let streams = state.withLock { state in
                state.isAway = true
                state.cuts += 1
                defer { state.streams = [:] }
                return state.streams.sorted { $0.key < $1.key }
            }
            for (_, stream) in streams { stream.cut() }
        }

        func comeBack() { state.withLock { $0.isAway = false } }

        func transport(of user: UserID) -> SimulatedTransport { SimulatedTransport(server: self, user: user) }

        /// The number of cuts so far, for ``hasLost(since:)``; nil if the server cannot be reached.
        fileprivate var connection: Int? { state.withLock { $0.isAway ? nil : $0.cuts } }

        /// Whether the network loses what is sent now on a connection.
        fileprivate func loses(_ connection: Int) -> Bool {
            state.withLock {
                $0.isAway || $0.cuts != connection || $0.faults.lossRate > 0 && $0.random.oneIn($0.faults.lossRate)
            }
        }

        fileprivate func repeats() -> Bool {
            state.withLock { $0.faults.repeatRate > 0 && $0.random.oneIn($0.faults.repeatRate) }
        }

        fileprivate func isSilent() -> Bool {
            state.withLock { $0.faults.silenceRate > 0 && $0.random.oneIn($0.faults.silenceRate) }
        }

        /// Waits for as long as something is under way.
        fileprivate func delay() async throws {
            guard let executor else { return }
            let most = state.withLock { $0.faults.mostDelay }
            guard most > .zero else { return }
            let share = state.withLock { Double.random(in: 0...1, using: &$0.random) }
            try await executor.sleep(for: most * share)
        }

        /// Waits until a client gives up.
        fileprivate func beSilent(for duration: Duration) async {
            // Ends with the task of the client, which does not look at what is lost.
            try? await executor?.sleep(for: duration)
        }
    }

    struct SimulatedTransport: ClientTransport {
        let server: SimulatedServer
        let user: UserID

        func send(_ request: ClientRequest) async throws(TransportFailure) -> ClientAnswer {
            guard let connection = server.connection, !server.loses(connection) else {
                throw .unreachable("lost before the server")
            }
            if server.isSilent() {
                await server.beSilent(for: ServerTransport.requestTimeout)
                throw .unreachable("the server is silent")
            }
            // A request that is under way can be carried out although its client has ended.
            try? await server.delay()
            if server.loses(connection) { throw .unreachable("lost before the server") }
            let response = await respond(request)
            try? await server.delay()
            if server.loses(connection) { throw .unreachable("the answer is lost") }
            if Task.isCancelled { throw .cancelled }
            return response
        }

        private func respond(_ request: ClientRequest) async -> ClientAnswer {
            do {
                let wire = try WireRequest(
                    method: request.method, target: request.target, body: [UInt8](request.body ?? Data()))
                let response = await ChatRoutes(server.store).respond(to: wire, as: user)
                guard case .bytes(let bytes) = response.body else { return ClientAnswer(status: 500) }
                let headers = Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) { $1 }
                return ClientAnswer(status: response.status, headers: headers, body: Data(bytes))
            } catch { return ClientAnswer(status: 400) }
        }

        func openStream(after token: ResumeToken?, credentials: String) async throws(TransportFailure)
            -> any ClientStream
        {
            guard let connection = server.connection, !server.loses(connection) else {
                throw .unreachable("lost before the server")
            }
            try? await server.delay()
            let target = "/v1/events" + (token.map { "?after=\($0)" } ?? "")
            do {
                let wire = try WireRequest(method: "GET", target: target)
                let response = await ChatRoutes(server.store).respond(to: wire, as: user)
                if server.loses(connection) { throw TransportFailure.unreachable("the answer is lost") }
                switch response.body {
                case .events(let events): return SimulatedStream(events, server, connection)
                case .bytes(let bytes):
                    throw TransportFailure.refused(ClientAnswer(status: response.status, body: Data(bytes)))
                }
            } catch let error as TransportFailure { throw error } catch { throw .unreachable("\(error)") }
        }
    }

    /// A stream whose bytes pass through the parser of the client.
    final class SimulatedStream: ClientStream {
        private final class Arrivals: Sendable {
            /// What has arrived, and was not read yet.
            let events = Lock<ArraySlice<ServerSentEvent>>([])
            let isCut = Lock(false)
            let signal = Signal()

            func end() {
                isCut.withLock { $0 = true }
                signal.set()
            }
        }

        private let arrivals = Arrivals()
        private let task: Task<Void, Never>
        private let server: SimulatedServer
        private let key: Int

        init(_ stream: EventStream, _ server: SimulatedServer, _ connection: Int) {
            self.server = server
            task = Task(executorPreference: server.executor) { [arrivals] in
                var parser = EventStreamParser()
                do {
                    _ = try await stream.run { block, _ in
                        try await server.delay()
                        if server.loses(connection) { throw CancellationError() }
                        if server.isSilent() {
                            await server.beSilent(for: ServerTransport.streamTimeout)
                            throw CancellationError()
                        }
                        for _ in 0...(server.repeats() ? 1 : 0) { parser.append(block) }
                        while let event = try parser.nextEvent() { arrivals.events.withLock { $0.append(event) } }
                        arrivals.signal.set()
                    }
                } catch { /* The stream is cut, or lost. */  }
                arrivals.end()
            }
            key = server.state.withLock { state in
                state.nextStream += 1
                return state.nextStream
            }
            server.state.withLock { $0.streams[key] = self }
        }

        func next() async throws(TransportFailure) -> ServerSentEvent? {
            while true {
                // Before the events are looked at, so that none is missed.
                let isCut = arrivals.isCut.withLock { $0 }
                if let event = nextReceived() { return event }
                guard !isCut, await arrivals.signal.wait() else { throw .unreachable("the stream is cut") }
            }
        }

        func nextReceived() -> ServerSentEvent? { arrivals.events.withLock { $0.popFirst() } }

        /// Loses what has not arrived.
        func cut() {
            task.cancel()
            arrivals.end()
        }

        func cancel() {
            cut()
            server.state.withLock { $0.streams[key] = nil }
        }
    }
#endif
