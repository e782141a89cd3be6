#if Client || canImport(SQLite3)
    import Chat
    import ChatDomain
    import ChatLive
    import ChatValues
    import Locking
    import Testing

    @testable import ChatClient
    @testable import chat_journal

    /// The screen of a client that cannot reach its server: what waits is changed in the outbox.
    @MainActor @Suite struct ScreenOutboxTests {
        private let ann = UserID(bits: 1)
        private let store: ChatStore
        private let outbox = ScriptedOutbox()
        private let model: ScreenModel

        init() throws {
            store = try ChatStore.inMemory()
            try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
            try store.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: ann))
            model = ScreenModel(
                store.chat(of: ann), client: outbox, outbox: LiveOutbox(source: outbox, limit: 200))
        }

        /// Runs a test while the model follows the outbox.
        private func following(_ items: [OutboxItem], _ body: () async throws -> Void) async throws {
            outbox.set(items)
            let following = Task { await model.outbox.follow() }
            try await until { model.items == items }
            try await body()
            following.cancel()
            await following.value
        }

        private func until(_ condition: () -> Bool) async throws {
            for _ in 0..<10_000 {
                if condition() { return }
                try await Task.sleep(for: .milliseconds(1))
            }
            Issue.record("it did not happen")
        }

        private var thread: ThreadID { get throws { ThreadID(try #require(OutwardCode("SW1A"))) } }

        private func item(
            _ id: OutboxItem.ID, _ command: ChatCommand, rejected: Rejection? = nil, wasSent: Bool = false
        ) -> OutboxItem {
            OutboxItem(
                id: id, request: CommandRequest(command), writtenAt: Timestamp(millisecondsSince1970: 0),
                state: rejected.map { .rejected($0) } ?? .queued, wasSent: wasSent)
        }

        @Test func aRejectedMessageSaysWhy() async throws {
            let post = ChatCommand.postMessage(id: MessageID(bits: 7), thread: try thread, body: "late", by: ann)
            let rejection = Rejection(.threadClosed, "It is closed.")
            let rejected = item(1, post, rejected: rejection, wasSent: true)
            try await following([item(1, post, wasSent: true)]) {
                #expect(model.state.status.contains("1 waiting"))
                outbox.change(.rejected(rejected, rejection))
                try await until { model.items == [rejected] }
                #expect(model.state.status.contains("It is closed."))
                model.show(.outbox)
                model.handle(.up)
                #expect(model.state.status.contains("1 rejected") && !model.state.status.contains("waiting"))
                try await model.run(.retry, "")
                #expect(outbox.replaced.map(\.item) == [1])
                try await model.run(.withdraw, "")
                #expect(outbox.withdrawn == [1])
                try await model.run(.signOut, "")
                #expect(model.state.question?.contains("0 waiting and 1 rejected are lost") == true)
            }
        }

        @Test func aRetryMentionsNoPersonWhoHasLeft() async throws {
            let post = ChatCommand.postMessage(
                id: MessageID(bits: 7), thread: try thread, body: "@Ben", mentions: [UserID(bits: 2)], by: ann)
            let rejected = item(1, post, rejected: Rejection(.notAMember, "Not a member."), wasSent: true)
            try await following([rejected]) {
                model.show(.outbox)
                try await model.run(.retry, "")
                #expect(outbox.replaced.first?.request.command.mentions == [])
            }
        }

        /// Where the selected item was, another one is now.
        @Test func anItemThatIsGoneIsNotWithdrawn() async throws {
            let items = try (1...3).map {
                item(
                    $0,
                    .postMessage(id: MessageID(bits: UInt128($0)), thread: try thread, body: "\($0)", by: ann))
            }
            try await following(items) {
                model.show(.outbox)
                model.handle(.down)
                #expect(model.selectedEntry == AnyHashable(OutboxItem.ID(2)))
                outbox.change(.confirmed(items[1], Receipt()))
                try await until { model.items == [items[0], items[2]] }
                await #expect(throws: ArgumentError.self) { try await model.run(.withdraw, "") }
                #expect(outbox.withdrawn.isEmpty)
                model.handle(.down)
                try await model.run(.withdraw, "")
                #expect(outbox.withdrawn == [3])
            }
        }

        @Test func marksAreNotWhatTheUserWrote() async throws {
            let mark = item(1, .markInboxRead(upTo: 1, by: ann))
            outbox.set([mark])
            let following = Task { await model.outbox.follow() }
            try await until { model.outbox.items == [mark] }
            #expect(model.items.isEmpty && !model.state.status.contains("waiting"))
            try await model.run(.signOut, "")
            #expect(model.state.question?.contains("lost") == false)
            following.cancel()
            await following.value
        }
    }

    /// An outbox with what a test puts into it.
    private final class ScriptedOutbox: LiveOutboxSource, ScreenClient {
        private struct State {
            var items: [OutboxItem] = []
            var replaced: [(item: OutboxItem.ID, request: CommandRequest)] = []
            var withdrawn: [OutboxItem.ID] = []
        }

        private let state = Lock(State())
        private let (changes, continuation) = AsyncStream<OutboxChange>.makeStream()

        var replaced: [(item: OutboxItem.ID, request: CommandRequest)] { state.withLock { $0.replaced } }
        var withdrawn: [OutboxItem.ID] { state.withLock { $0.withdrawn } }

        func set(_ items: [OutboxItem]) { state.withLock { $0.items = items } }

        func change(_ change: OutboxChange) {
            state.withLock { state in
                state.items.removeAll { $0.id == change.item.id }
                if case .rejected(let item, _) = change { state.items.append(item) }
            }
            continuation.yield(change)
        }

        func load() -> LiveLoad<[OutboxItem], OutboxChange> {
            LiveLoad(items(after: 0).items, effects: Effects(changes: changes.makeAsyncIterator()))
        }

        func items(after item: OutboxItem.ID) -> (items: [OutboxItem], hasMore: Bool) {
            (state.withLock { $0.items.filter { $0.id > item } }, false)
        }

        func withdraw(_ item: OutboxItem.ID) { state.withLock { $0.withdrawn.append(item) } }
        func replace(_ item: OutboxItem.ID, by request: CommandRequest) {
            state.withLock { $0.replaced.append((item, request)) }
        }

        func outboxLoss() -> OutboxLoss {
            var loss = OutboxLoss()
            for item in items(after: 0).items { loss.add(item) }
            return loss
        }

        func connectNow() {}

        private struct Effects: LiveEffects {
            var changes: AsyncStream<OutboxChange>.AsyncIterator
            mutating func next() async -> LiveEffect<OutboxChange>? {
                await changes.next(isolation: #isolation).map(LiveEffect.change)
            }
        }
    }
#endif
