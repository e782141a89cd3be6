#if Client || canImport(SQLite3)
    import Chat
    import ChatDomain
    import ChatLive
    import ChatValues
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
            try store.executeBlocking(.registerUser(user: ann, username: "Ann"))
            try store.executeBlocking(.setPostcode(user: ann, postcode: "SW1A 1AA"))
            model = ScreenModel(store.chat(of: ann), outbox: outbox)
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
            let outbox = ScriptedOutbox()
            let model = ScreenModel(store.chat(of: ann), outbox: outbox)
            let item = OutboxItem(
                id: 1,
                request: CommandRequest(
                    .postMessage(message: MessageID(bits: 7), thread: try thread, author: ann, body: "late")),
                writtenAt: Timestamp(millisecondsSince1970: 0),
                state: .rejected(Rejection(.threadClosed, "It is closed.")), wasSent: true)
            outbox.items = [item]
            model.note(.rejected(item, Rejection(.threadClosed, "It is closed.")))
            #expect(model.state.status.contains("It is closed."))
            model.show(.outbox)
            model.handle(.up)
            #expect(model.state.status.contains("1 rejected"))
            try await model.run(.retry, "")
            #expect(outbox.replaced.map(\.item) == [1])
            try await model.run(.withdraw, "")
            #expect(outbox.withdrawn == [1])
            try await model.run(.signOut, "")
            #expect(model.state.question?.contains("1 rejected are lost") == true)
        }

        @Test func changesOfAFrameAreReadOnce() async throws {
            let item = item(1, .postMessage(message: MessageID(bits: 7), thread: try thread, author: ann, body: "one"))
            let before = outbox.readCount
            outbox.items = [item]
            for _ in 0..<100 { model.note(.sending(item)) }
            #expect(outbox.readCount == before)
            await model.outboxReading?.value
            #expect(outbox.readCount == before + 1 && model.items == [item])
        }

        @Test func aRetryMentionsNoPersonWhoHasLeft() async throws {
            let post = ChatCommand.postMessage(
                message: MessageID(bits: 7), thread: try thread, author: ann, body: "@Ben", mentions: [UserID(bits: 2)])
            outbox.items = [item(1, post, rejected: Rejection(.notAMember, "Not a member."), wasSent: true)]
            model.show(.outbox)
            try await model.run(.retry, "")
            #expect(outbox.replaced.first?.request.command.mentions == [])
        }

        /// Where the selected item was, another one is now.
        @Test func anItemThatIsGoneIsNotWithdrawn() async throws {
            let items = try (1...3).map {
                item(
                    $0,
                    .postMessage(message: MessageID(bits: UInt128($0)), thread: try thread, author: ann, body: "\($0)"))
            }
            outbox.items = items
            model.show(.outbox)
            model.handle(.down)
            #expect(model.selectedEntry == AnyHashable(OutboxItem.ID(2)))
            outbox.items = [items[0], items[2]]
            await #expect(throws: ArgumentError.self) { try await model.run(.withdraw, "") }
            #expect(outbox.withdrawn.isEmpty)
            model.handle(.down)
            try await model.run(.withdraw, "")
            #expect(outbox.withdrawn == [3])
        }
    }

    /// An outbox with what a test puts into it.
    @MainActor private final class ScriptedOutbox: @MainActor ChatOutbox {
        struct Replacement {
            var item: OutboxItem.ID
            var request: CommandRequest
        }

        var items: [OutboxItem] = []
        private(set) var replaced: [Replacement] = []
        private(set) var withdrawn: [OutboxItem.ID] = []
        private(set) var readCount = 0

        func outbox(after item: OutboxItem.ID, limit: Int) throws(ClientError) -> [OutboxItem] {
            readCount += 1
            return items
        }
        var pendingCount: Int { get throws(ClientError) { items.filter { $0.state == .queued }.count } }
        func withdraw(_ item: OutboxItem.ID) throws { withdrawn.append(item) }
        func replace(_ item: OutboxItem.ID, by request: CommandRequest) throws {
            replaced.append(Replacement(item: item, request: request))
        }
        func connectNow() {}
    }
#endif
