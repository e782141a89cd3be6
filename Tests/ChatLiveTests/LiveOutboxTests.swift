import Chat
import ChatDomain
import ChatLive
import ChatValues
import Testing

/// What a view shows of an outbox, from a source whose changes a test gives.
@Suite(.timeLimit(.minutes(3))) @MainActor struct LiveOutboxTests {
    private let ann = UserID(bits: 1)
    private let thread = ThreadID(bits: 2)
    private let rejection = Rejection(.threadLocked, "This thread is locked.")

    private func item(_ id: OutboxItem.ID, rejected: Rejection? = nil, mentions: [UserID] = []) -> OutboxItem {
        let command = ChatCommand.postMessage(
            id: MessageID(bits: UInt128(id)), thread: thread, body: "\(id)", mentions: mentions, by: ann)
        return OutboxItem(
            id: id, request: CommandRequest(command), writtenAt: Timestamp(millisecondsSince1970: 0),
            state: rejected.map { .rejected($0) } ?? .queued, wasSent: false)
    }

    /// Runs a test while a view follows a source.
    private func following(
        _ source: ScriptedOutbox, limit: Int = 10, _ body: (LiveOutbox) async throws -> Void
    ) async throws {
        let outbox = LiveOutbox(source: source, limit: limit)
        let task = Task { await outbox.follow() }
        try await until({ outbox.state.value }) { $0 != nil }
        try await body(outbox)
        task.cancel()
        await task.value
    }

    @Test func changesAreAppliedInPlace() async throws {
        let source = ScriptedOutbox([item(2), item(5)])
        try await following(source) { outbox in
            var told: [OutboxChange] = []
            outbox.onChange = { told.append($0) }
            let rejected = item(5, rejected: rejection)
            let changes: [OutboxChange] = [
                .queued(item(7)), .rejected(rejected, rejection), .confirmed(item(2), Receipt()), .sending(item(7)),
                // What has happened before the load can come again.
                .queued(item(2)), .confirmed(item(2), Receipt()),
            ]
            for change in changes { source.change(change) }
            try await until({ told.count }) { $0 == changes.count }
            #expect(told == changes)
            #expect(outbox.items == [rejected, item(7)] && outbox.rejected == [rejected])
            #expect(outbox.pending == [item(7)] && !outbox.hasMore)
            source.change(.queued(item(5)))
            source.change(.withdrawn(item(7)))
            try await until({ outbox.items }) { $0 == [item(5)] }
        }
    }

    /// A view of a long outbox has the first commands, and always some.
    @Test(arguments: [1, 2, 6]) func aLongOutboxIsReadInParts(limit: Int) async throws {
        let source = ScriptedOutbox((1...20).map { item($0) }, limit: limit)
        try await following(source, limit: limit) { outbox in
            #expect(outbox.items.map(\.id) == Array(1...Int64(limit)) && outbox.hasMore)
            source.change(.queued(item(21)))
            for id in 1...20 as ClosedRange<Int64> {
                source.change(.confirmed(item(id), Receipt()))
                try await until({ outbox.items.first?.id }) { $0 == id + 1 }
                #expect(outbox.items.count <= limit)
            }
            try await until({ outbox.hasMore }) { !$0 }
            #expect(outbox.items.map(\.id) == [21])
        }
    }

    /// A rejected command that is sent again stands before all that wait.
    @Test func theListedCommandsAreTheFirst() async throws {
        let source = ScriptedOutbox((3...6).map { item($0) }, limit: 3)
        try await following(source, limit: 3) { outbox in
            source.change(.queued(item(1)))
            try await until({ outbox.items.map(\.id) }) { $0 == [1, 3, 4] }
            #expect(outbox.hasMore)
        }
    }

    /// After changes were missed, the outbox is read again, and it is said.
    @Test func missedChangesAreReadAgain() async throws {
        let source = ScriptedOutbox([item(1)])
        try await following(source) { outbox in
            var loads = 0
            outbox.onLoad = { loads += 1 }
            source.set([item(2)])
            source.reload()
            try await until({ outbox.items }) { $0 == [item(2)] }
            #expect(loads == 1)
        }
    }

    @Test func aCommandIsSentAgainWithoutThoseWhoHaveLeft() async throws {
        let left = Rejection(.notAMember, "The user is not a member of this thread.")
        let source = ScriptedOutbox([])
        try await following(source) { outbox in
            try outbox.sendAgain(item(1, rejected: rejection, mentions: [ann]))
            try outbox.sendAgain(item(2, rejected: left, mentions: [ann]))
            try outbox.withdraw(item(3))
            #expect(source.replaced.map(\.id) == [1, 2] && source.withdrawn == [3])
            #expect(source.replaced.map(\.mentions) == [[ann], []])
        }
    }

    /// A store executes a command at once.
    @Test func theOutboxOfAStoreStaysEmpty() async throws {
        let store = try ChatStore.inMemory()
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        let outbox = store.chat(of: ann).liveOutbox()
        let task = Task { await outbox.follow() }
        try await until({ outbox.state.value }) { $0 == [] }
        guard case .loaded = outbox.state else { return _ = Issue.record("\(outbox.state)") }
        task.cancel()
        await task.value
        guard case .ended(last: []?) = outbox.state else { return _ = Issue.record("\(outbox.state)") }
    }
}
