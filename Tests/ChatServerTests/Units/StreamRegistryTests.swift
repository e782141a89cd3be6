#if Server
    import ChatAccounts
    import ChatDomain
    import ChatWire
    import Locking
    import Testing

    @testable import ChatAccounts
    @testable import ChatServer

    /// The open streams, which end with their session and with the server.
    @Suite struct StreamRegistryTests {
        private let reasons = Box([EventStream.End]())

        private func makeRegistry() -> StreamRegistry { StreamRegistry { [reasons] reason in reasons.withLock { $0.append(reason) } } }

        /// A stream of a session whose token is its name.
        private final class Stream: Sendable {
            let mailbox = Mailbox()
            let stops = Box(0)
            let token: String
            let session: AccountSession

            init(_ token: String, user: UInt128 = 1) {
                self.token = token
                let time = Timestamp(millisecondsSince1970: 0)
                session = AccountSession(
                    id: AccountSessionID(bits: UInt128(token.utf8.first ?? 0)), user: UserID(bits: user), created: time, lastUsed: time,
                    device: nil)
            }

            var entry: StreamRegistry.Entry {
                .init(
                    mailbox: mailbox, session: (session, token), stop: { [stops] in stops.withLock { $0 += 1 } },
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
            let ids = [first, second].map { registry.add($0.entry) { _ in true } }
            #expect(Set(ids).count == 2)
            registry.end(.signedOut) { $0.session?.session.user == UserID(bits: 1) }
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
        @Test func streamOfAnEndedSessionIsNotOpened() {
            let registry = makeRegistry()
            let stream = Stream("a")
            var asked: [String] = []
            _ = registry.add(stream.entry) { token in
                asked.append(token)
                return false
            }
            #expect(asked == ["a"])
            #expect(stream.read() == (signedOut, true))
            #expect(stream.stops.withLock { $0 } == 1)
        }

        @Test func streamOfAClosingServerIsNotOpened() {
            let registry = makeRegistry()
            let (first, second) = (Stream("a"), Stream("b"))
            _ = registry.add(first.entry) { _ in true }
            registry.close()
            _ = registry.add(second.entry) { _ in true }
            for stream in [first, second] { #expect(stream.read() == ("event: closing\ndata: {}\n\n", true)) }
            #expect(reasons.withLock { $0 } == [.closing, .closing])
        }

        /// A session is looked up again though its stream is never silent.
        @Test func busyStreamEndsWithItsSession() async throws {
            let registry = makeRegistry()
            let (ended, valid) = (Stream("a"), Stream("b"))
            let start = ContinuousClock.now
            for stream in [ended, valid] {
                _ = registry.add(stream.entry) { _ in true }
                try await stream.mailbox.write([])
            }
            registry.tend(at: start + .seconds(14)) { _ in false }
            #expect(ended.read().hasEnded == false)
            let look = ContinuousClock.now + .seconds(16)
            registry.tend(at: look) { $0 == "b" }
            #expect(ended.read().text.hasSuffix(signedOut))
            #expect(valid.read().hasEnded == false)
            #expect(registry.count == 1)
            // The next look is after another interval.
            registry.tend(at: look + .seconds(14)) { _ in false }
            #expect(valid.read().hasEnded == false)
            registry.tend(at: look + .seconds(16)) { _ in false }
            #expect(valid.read().hasEnded)
        }

        @Test func silentStreamGetsAHeartbeat() async throws {
            let registry = makeRegistry()
            let start = ContinuousClock.now
            let stream = Stream("a")
            _ = registry.add(stream.entry) { _ in true }
            registry.tend(at: start + .seconds(14)) { _ in true }
            #expect(stream.read() == ("", false))
            let written = ContinuousClock.now
            registry.tend(at: written + .seconds(16)) { _ in true }
            #expect(stream.read() == (": heartbeat\n\n", false))
            // It counts as a write.
            registry.tend(at: written + .seconds(14)) { _ in true }
            #expect(stream.read() == ("", false))
        }

        @Test func streamThatIsNotReadEnds() async throws {
            let registry = makeRegistry()
            let stream = Stream("a")
            _ = registry.add(stream.entry) { _ in true }
            try await stream.mailbox.write([UInt8](repeating: 120, count: Mailbox.capacity))
            // Not read, but nobody waits.
            registry.tend(at: .now + .seconds(1_000)) { _ in true }
            #expect(registry.count == 1)
            let start = ContinuousClock.now
            let writer = Task { try await stream.mailbox.write([121]) }
            while stream.mailbox.idleTimes().writerWaits == nil { await Task.yield() }
            registry.tend(at: start + .seconds(29)) { _ in true }
            #expect(registry.count == 1)
            registry.tend(at: .now + .seconds(31)) { _ in true }
            #expect(registry.count == 0)
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
            let id = registry.add(stream.entry) { _ in true }
            stream.mailbox.close()
            registry.remove(id)
            registry.end(.signedOut) { _ in true }
            #expect(reasons.withLock { $0 }.isEmpty)
            #expect(stream.stops.withLock { $0 } == 1)
        }
    }
#endif
