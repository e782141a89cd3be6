#if Server
    import ChatDomain
    import ChatWire
    import Locking
    import Testing

    @testable import ChatServer

    /// The open streams, which end with their session and with the server.
    @Suite struct StreamRegistryTests {
        private let reasons = Box([EventStream.End]())

        private func makeRegistry() -> StreamRegistry {
            StreamRegistry { [reasons] reason in reasons.withLock { $0.append(reason) } }
        }

        /// A stream of a session whose token is its name.
        private final class Stream: Sendable {
            let mailbox = Mailbox()
            let stops = Box(0)
            let token: String
            let user: UserID

            init(_ token: String, user: UInt128 = 1) { (self.token, self.user) = (token, UserID(bits: user)) }

            var entry: StreamRegistry.Entry {
                .init(
                    mailbox: mailbox, session: (user, token),
                    stop: { [stops] end in
                        stops.withLock { $0 += 1 }
                        end()
                    },
                    lastMessage: { EventStream.block($0) }, heartbeat: EventStream.heartbeat)
            }

            /// What waits for the client, and whether the stream has ended.
            func read() -> (text: String, hasEnded: Bool) {
                var text = ""
                while true {
                    switch mailbox.read(joinsMessages: true) {
                    case .bytes(let bytes): text += String(decoding: bytes, as: UTF8.self)
                    case .wait: return (text, false)
                    case .end: return (text, true)
                    }
                }
            }
        }

        private let signedOut = "event: signed-out\ndata: {}\n\n"

        @Test func endIsForTheStreamsThatAreMeant() {
            let registry = makeRegistry()
            let (first, second) = (Stream("a", user: 1), Stream("b", user: 2))
            let ids = [first, second].map { registry.add($0.entry) }
            #expect(Set(ids).count == 2)
            registry.end(.signedOut) { $0.session?.user == UserID(bits: 1) }
            #expect(first.read() == (signedOut, true))
            #expect(second.read() == ("", false))
            #expect((first.stops.withLock { $0 }, second.stops.withLock { $0 }) == (1, 0))
            // The connection removes the stream when it has sent the last block.
            #expect(registry.count == 2)
            ids.forEach(registry.remove)
            #expect(registry.count == 0)
            #expect(second.stops.withLock { $0 } == 1)
            #expect(reasons.withLock { $0 } == [.signedOut])
        }

        /// The session ended between the check of the request and the addition.
        @Test func streamOfAnEndedSessionIsNotOpened() async {
            let registry = makeRegistry()
            let (ended, valid) = (Stream("a"), Stream("b"))
            let asked = Box([String]())
            for stream in [ended, valid] {
                await registry.checkSession(of: registry.add(stream.entry)) { token in
                    asked.withLock { $0.append(token) }
                    return token == "b" ? .valid : .ended
                }
            }
            #expect(asked.withLock { $0 } == ["a", "b"])
            #expect(ended.read() == (signedOut, true))
            #expect(valid.read() == ("", false))
            #expect((ended.stops.withLock { $0 }, valid.stops.withLock { $0 }) == (1, 0))
        }

        @Test func sessionsOfAUserAreChecked() async {
            let registry = makeRegistry()
            let streams = [Stream("a", user: 1), Stream("b", user: 1), Stream("c", user: 2)]
            for stream in streams { _ = registry.add(stream.entry) }
            let asked = Box(Set<String>())
            await registry.checkSessions(of: UserID(bits: 1)) { token in
                asked.withLock { _ = $0.insert(token) }
                return token == "b" ? .valid : .ended
            }
            #expect(asked.withLock { $0 } == ["a", "b"])
            #expect(streams.map { $0.read().hasEnded } == [true, false, false])
            await registry.checkSessions { _ in .ended }
            #expect(streams.map { $0.read().hasEnded } == [true, true, true])
        }

        /// The client must not be told that its session has ended: it connects again.
        @Test func streamOfAnUnknownSessionIsClosed() async {
            let registry = makeRegistry()
            let streams = [Stream("a"), Stream("b")]
            for stream in streams { _ = registry.add(stream.entry) }
            await registry.checkSessions { $0 == "a" ? .unknown : .ended }
            #expect(streams.map { $0.read().text } == ["event: closing\ndata: {}\n\n", signedOut])
        }

        /// One slow look-up does not delay those of other sessions, and the streams of a session
        /// share one.
        @Test func sessionsAreLookedUpTogether() async {
            let registry = makeRegistry()
            let streams = (0..<100).map { Stream("\($0 / 4)") }
            for stream in streams { _ = registry.add(stream.entry) }
            let asked = Box([String]())
            await registry.checkSessions { token in
                asked.withLock { $0.append(token) }
                // Until all look-ups have begun.
                for _ in 0..<1_000_000 where asked.withLock({ $0.count }) < 25 { await Task.yield() }
                return asked.withLock { $0.count } == 25 ? .ended : .valid
            }
            #expect(asked.withLock { $0 }.sorted() == (0..<25).map { "\($0)" }.sorted())
            #expect(streams.allSatisfy { $0.read() == (signedOut, true) })
        }

        /// More sessions than are looked up at once.
        @Test func everySessionIsLookedUp() async {
            let registry = makeRegistry()
            let streams = (0..<500).map { Stream("\($0)") }
            for stream in streams { _ = registry.add(stream.entry) }
            await registry.checkSessions { $0.hasSuffix("7") ? .valid : .ended }
            for stream in streams { #expect(stream.read().hasEnded == !stream.token.hasSuffix("7")) }
        }

        @Test func streamOfAClosingServerIsNotOpened() {
            let registry = makeRegistry()
            let (first, second) = (Stream("a"), Stream("b"))
            _ = registry.add(first.entry)
            registry.close(.closing)
            _ = registry.add(second.entry)
            for stream in [first, second] { #expect(stream.read() == ("event: closing\ndata: {}\n\n", true)) }
            #expect(reasons.withLock { $0 } == [.closing, .closing])
        }

        /// Streams that are added while a failed server closes have its reason too.
        @Test func streamsOfAFailedServerSayThat() {
            let registry = makeRegistry()
            let (first, second) = (Stream("a"), Stream("b"))
            _ = registry.add(first.entry)
            registry.close(.failed)
            _ = registry.add(second.entry)
            for stream in [first, second] { #expect(stream.read() == ("event: failed\ndata: {}\n\n", true)) }
        }

        /// A session is looked up again though its stream is never silent.
        @Test func busyStreamEndsWithItsSession() async throws {
            let registry = makeRegistry()
            let (ended, valid) = (Stream("a"), Stream("b"))
            let start = ContinuousClock.now
            for stream in [ended, valid] { _ = registry.add(stream.entry) }
            // The first look is due an interval later, and the streams are not silent for so long.
            let look = ContinuousClock.now + EventStream.heartbeatInterval
            for stream in [ended, valid] { try await stream.mailbox.write([120]) }
            await registry.checkDueSessions(at: start + .seconds(14)) { _ in .ended }
            #expect(ended.read() == ("x", false))
            await registry.checkDueSessions(at: look) { $0 == "b" ? .valid : .ended }
            #expect(ended.read() == (signedOut, true))
            #expect(valid.read() == ("x", false))
            #expect(registry.count == 1)
            // The next look is after another interval.
            await registry.checkDueSessions(at: look + .seconds(14)) { _ in .ended }
            #expect(valid.read().hasEnded == false)
            await registry.checkDueSessions(at: look + .seconds(16)) { _ in .ended }
            #expect(valid.read().hasEnded)
        }

        @Test func silentStreamGetsAHeartbeat() async throws {
            let registry = makeRegistry()
            let start = ContinuousClock.now
            let stream = Stream("a")
            _ = registry.add(stream.entry)
            registry.checkStreams(at: start + .seconds(14))
            #expect(stream.read() == ("", false))
            let written = ContinuousClock.now
            registry.checkStreams(at: written + .seconds(16))
            #expect(stream.read() == (": heartbeat\n\n", false))
            // It counts as a write.
            registry.checkStreams(at: written + .seconds(14))
            #expect(stream.read() == ("", false))
        }

        @Test func streamThatIsNotReadEnds() async throws {
            let registry = makeRegistry()
            let stream = Stream("a")
            _ = registry.add(stream.entry)
            try await stream.mailbox.write([UInt8](repeating: 120, count: Mailbox.capacity))
            // Not read, but nobody waits.
            registry.checkStreams(at: .now + .seconds(1_000))
            #expect(registry.count == 1)
            let start = ContinuousClock.now
            let writer = Task { try await stream.mailbox.write([121]) }
            while stream.mailbox.idleTimes().writerWaits == nil { await Task.yield() }
            registry.checkStreams(at: start + .seconds(29))
            #expect(registry.count == 1)
            registry.checkStreams(at: .now + .seconds(31))
            // Otherwise the writer waits forever.
            try #require(registry.count == 0)
            await #expect(throws: Mailbox.Ended.self) { try await writer.value }
            let (text, hasEnded) = stream.read()
            #expect(hasEnded && text.hasSuffix("event: lagged\ndata: {}\n\n"))
            #expect(!text.contains("heartbeat") && !text.contains("y"))
            #expect(reasons.withLock { $0 } == [.lagged])
        }

        /// A client that is gone is no stream that the server has ended.
        @Test func lostClientHasNoReason() {
            let registry = makeRegistry()
            let stream = Stream("a")
            let id = registry.add(stream.entry)
            stream.mailbox.close()
            registry.remove(id)
            registry.end(.signedOut) { _ in true }
            #expect(reasons.withLock { $0 }.isEmpty)
            #expect(stream.stops.withLock { $0 } == 1)
        }
    }
#endif
