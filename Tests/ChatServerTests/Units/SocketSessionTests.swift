#if Server && os(Linux)
    import Locking
    import TestSupport
    import Testing

    @testable import ChatServer

    /// The messages of one socket, which several tasks carry out in the course of time.
    @Suite struct SocketSessionTests {
        private struct Failure: Error {}

        /// A session whose messages are recorded; an empty one fails.
        private final class Recording: Sendable {
            let memory = ClientMemory()
            let session: SocketSession
            let texts = Lock<[String]>([])
            private let isRunning = Lock(false)

            init() { session = SocketSession(HeldMemory(memory, .shared, isOfMessages: true)) }

            func begin() {
                session.begin(
                    resume: {},
                    handle: { [self] message in
                        let isAlone = isRunning.withLock { isRunning in
                            defer { isRunning = true }
                            return !isRunning
                        }
                        #expect(isAlone, "one message after another")
                        await Task.yield()
                        isRunning.withLock { $0 = false }
                        if message.isEmpty { throw Failure() }
                        texts.withLock { $0.append(String(decoding: message, as: UTF8.self)) }
                    }, start: { [self] in texts.withLock { $0.append("start") } },
                    whenClosed: { [self] in texts.withLock { $0.append("end") } })
            }

            func receive(_ texts: String...) {
                for text in texts {
                    session.messages.add(text.utf8.count)
                    _ = session.receive(Array(text.utf8))
                }
            }

            func expect(_ expected: String...) async throws {
                for _ in 0..<1_000 where texts.withLock({ $0 }) != expected {
                    try await Task.sleep(for: .milliseconds(5))
                }
                #expect(texts.withLock { $0 } == expected)
            }
        }

        @Test func messagesAreCarriedOutInOrderAfterPauses() async throws {
            let recording = Recording()
            recording.receive("a")
            recording.begin()
            recording.receive("b", "c")
            try await recording.expect("start", "a", "b", "c")
            // The task has ended, or is about to.
            recording.receive("d")
            try await recording.expect("start", "a", "b", "c", "d")
            recording.receive("e", "f")
            recording.session.didClose()
            recording.receive("g")
            #expect(recording.memory.messageByteCount == 0 && recording.memory.byteCount == 0)
            #expect(recording.texts.withLock { $0.contains("end") && !$0.contains("g") })
        }

        @Test func nothingFollowsAnError() async throws {
            let recording = Recording()
            recording.begin()
            recording.receive("a", "", "b")
            try await recording.expect("start", "a")
            recording.receive("c")
            try await Task.sleep(for: .milliseconds(50))
            try await recording.expect("start", "a")
            recording.session.didClose()
            try await recording.expect("start", "a", "end")
            #expect(recording.memory.byteCount == 0)
        }
    }
#endif
