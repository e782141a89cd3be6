#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import Locking
    import TestSupport
    import Testing

    @testable import ChatClient

    /// The custom events of a thread, of a store and of a client of it.
    @MainActor @Suite(.timeLimit(.minutes(3))) struct CustomEventTests {
        private static let (poll, vote): (CustomKind, CustomKind) = ("com.example.poll", "com.example.vote")

        private let neighbours: Neighbours
        private var store: ChatStore { neighbours.store }

        init() throws { neighbours = try Neighbours() }

        private func record(_ text: String, _ kind: CustomKind = vote, by user: UserID? = nil) throws {
            let payload = try #require(CustomPayload(text))
            _ = try store.executeBlocking(
                .custom(kind: kind, thread: neighbours.thread, payload: payload, by: user ?? neighbours.bob))
        }

        /// What a sequence has delivered.
        @MainActor private final class Delivered {
            var payloads: [String] = []
            var hasEnded = false
            var problem: (any ChatFailure)?
        }

        /// Iterates a sequence until it ends.
        private func iterate(_ events: CustomEvents) -> (delivered: Delivered, task: Task<Void, Never>) {
            let delivered = Delivered()
            return (
                delivered,
                Task {
                    do {
                        for try await event in events { delivered.payloads.append(event.payload.text) }
                    } catch { delivered.problem = error as? any ChatFailure }
                    delivered.hasEnded = true
                }
            )
        }

        @Test(arguments: [false, true]) func aSequenceEndsWithTheAccess(isClient: Bool) async throws {
            let client = try neighbours.client(neighbours.ann)
            let running = Task { if isClient { await client.run() } }
            let chat: any UserChat = isClient ? client : store.chat(of: neighbours.ann)
            for number in 0..<120 { try record("\(number)", number % 2 == 0 ? Self.vote : Self.poll) }
            let (all, _) = iterate(chat.customEvents(of: neighbours.thread))
            let (votes, _) = iterate(chat.customEvents(of: neighbours.thread, kind: Self.vote))
            try await until { all.payloads.count == 120 && votes.payloads.count == 60 }
            try record("120")
            try record("121", Self.poll)
            try await until { all.payloads.count == 122 && votes.payloads.count == 61 }
            #expect(all.payloads == (0..<122).map(String.init))
            #expect(votes.payloads == stride(from: 0, through: 120, by: 2).map(String.init))
            // It continues after an event that is known.
            let known = try #require(try store.reader(as: .host).customEvents(in: neighbours.thread).dropLast().last)
            let (rest, _) = iterate(chat.customEvents(of: neighbours.thread, kind: nil, after: known.position))
            try await until { rest.payloads == ["121"] }
            #expect(!all.hasEnded && !votes.hasEnded && !rest.hasEnded)
            _ = try store.executeBlocking(.leaveThread(thread: neighbours.thread, by: neighbours.ann))
            try record("122")
            try await until { all.hasEnded && votes.hasEnded && rest.hasEnded }
            #expect(all.problem == nil && votes.problem == nil && rest.problem == nil)
            #expect(all.payloads.last == "121" && votes.payloads.last == "120" && rest.payloads == ["121"])
            // Who cannot read the thread is told so.
            let (none, _) = iterate(chat.customEvents(of: neighbours.thread))
            try await until { none.hasEnded }
            #expect(none.problem?.code == (isClient ? "notFound" : "notAMember") && none.payloads.isEmpty)
            running.cancel()
        }

        @Test(arguments: [false, true]) func aSequenceEndsWithItsTaskAndItsChat(isClient: Bool) async throws {
            let client = try neighbours.client(neighbours.ann)
            let running = Task { if isClient { await client.run() } }
            let chat: any UserChat = isClient ? client : store.chat(of: neighbours.ann)
            try record("1")
            let (cancelled, task) = iterate(chat.customEvents(of: neighbours.thread))
            let (closed, _) = iterate(chat.customEvents(of: neighbours.thread))
            try await until { cancelled.payloads == ["1"] && closed.payloads == ["1"] }
            task.cancel()
            try await until { cancelled.hasEnded }
            #expect(!closed.hasEnded)
            if isClient { client.close() } else { try store.close() }
            try await until { closed.hasEnded }
            #expect(cancelled.problem == nil && closed.problem == nil)
            running.cancel()
        }

        @Test(arguments: [false, true]) func theViewIsKeptCurrent(isClient: Bool) async throws {
            let client = try neighbours.client(neighbours.ann)
            let running = Task { if isClient { await client.run() } }
            let chat: any UserChat = isClient ? client : store.chat(of: neighbours.ann)
            try record("1")
            try record("2", Self.poll)
            try record("3", by: neighbours.ann)
            let view = chat.liveCustomEvents(of: neighbours.thread, kind: Self.vote, limit: 3)
            let following = Task { await view.follow() }
            try await until { view.events.map(\.payload.text) == ["1", "3"] }
            #expect(!view.hasEarlier)
            for text in ["4", "5"] { try record(text) }
            try await until { view.events.map(\.payload.text) == ["3", "4", "5"] }
            #expect(view.hasEarlier && view.events.map(\.by) == [neighbours.ann, neighbours.bob, neighbours.bob])
            // A block marks what the blocked user recorded.
            _ = try store.executeBlocking(.block(user: neighbours.bob, by: neighbours.ann))
            try await until { view.events.map(\.isFromBlockedUser) == [false, true, true] }
            // Erased events disappear.
            _ = try store.eraseUser(neighbours.bob, reason: "asked")
            try await until { view.events.map(\.payload.text) == ["3"] }
            try record("6", by: neighbours.ann)
            try await until { view.events.map(\.payload.text) == ["3", "6"] }
            // Ann has become the owner: she leaves the thread to another one.
            let cem = try #require(try store.executeBlocking(.registerUser(username: "Cem")).user)
            for command in [
                ChatCommand.joinThread(thread: neighbours.thread, by: cem),
                .setRole(user: cem, thread: neighbours.thread, role: .owner, by: neighbours.ann),
                .leaveThread(thread: neighbours.thread, by: neighbours.ann),
            ] { _ = try store.executeBlocking(command) }
            await following.value
            #expect(view.events.isEmpty && view.state.error != nil)
            running.cancel()
        }

        /// Over lost connections and answers, a sequence delivers each event once, and the view has all.
        @Test func nothingIsMissingOrTwiceOverLostConnections() async throws {
            let client = try neighbours.client(neighbours.ann)
            let running = Task { await client.run() }
            let view = client.liveCustomEvents(of: neighbours.thread, kind: nil, limit: 200)
            let following = Task { await view.follow() }
            let (delivered, _) = iterate(client.customEvents(of: neighbours.thread))
            var random = SplitMix64(seed: Repetitions.seed)
            for number in 0..<60 {
                switch Int.random(in: 0..<4, using: &random) {
                case 0: neighbours.server.goAway()
                case 1: neighbours.server.comeBack()
                case 2: try await Task.sleep(for: .milliseconds(Int.random(in: 0..<5, using: &random)))
                default: break
                }
                try record("\(number)")
            }
            neighbours.server.comeBack()
            let expected = (0..<60).map(String.init)
            try await until { delivered.payloads.count >= 60 && view.events.count == 60 }
            #expect(delivered.payloads == expected && view.events.map(\.payload.text) == expected)
            following.cancel()
            running.cancel()
        }

        /// While the server cannot be reached, a view that may have what was erased shows nothing.
        ///
        /// - Parameter isFollowing: Whether the client follows the server when it happens. A new client that
        ///   begins afterwards is told of nothing before.
        @Test(arguments: [false, true])
        func whatWasErasedIsGoneBeforeItCanBeReadAgain(isFollowing: Bool) async throws {
            let isHeld = Flag()
            let client = try neighbours.client(
                neighbours.ann,
                answers: { request, answer in
                    request.target.contains("custom-events") && isHeld.value ? nil : answer
                })
            let begins = Signal()
            let running = Task { if await begins.wait() { await client.run() } }
            if isFollowing {
                begins.set()
                try await until { client.connection == .connected }
            }
            try record("\"secret\"")
            let view = client.liveCustomEvents(of: neighbours.thread)
            let following = Task { await view.follow() }
            try await until { view.events.count == 1 }
            isHeld.value = true
            _ = try store.eraseUser(neighbours.bob, reason: "asked")
            begins.set()
            try await until { view.events.isEmpty }
            isHeld.value = false
            following.cancel()
            running.cancel()
        }

        private final class Flag: Sendable {
            private let state = Lock(false)
            var value: Bool {
                get { state.withLock { $0 } }
                set { state.withLock { $0 = newValue } }
            }
        }
    }
#endif
