import Chat
import Observation
import Testing

/// A conversation for a screen: it does not know whether a store or a server is behind it.
@MainActor @Observable private final class ConversationModel {
    let timeline: LiveTimeline
    let threads: LiveThreads
    private(set) var replies: LiveTimeline?
    private(set) var problem: Rejection.Code?
    private let chat: any UserChat
    private let thread: ThreadID

    init(_ chat: any UserChat, thread: ThreadID) {
        (self.chat, self.thread) = (chat, thread)
        (timeline, threads) = (chat.liveTimeline(of: thread, limit: 2), chat.liveThreads())
    }

    func run() async {
        async let timeline: Void = timeline.follow()
        await threads.follow()
        await timeline
    }

    func post(_ body: String) async {
        await reporting { try await chat.enqueue(.postMessage(thread: thread, body: body, by: chat.user)) }
    }

    func reply(to message: MessageID, _ body: String) async {
        await reporting { try await chat.execute(.reply(to: message, body: body, by: chat.user)) }
    }

    func rename(to name: String) async {
        await reporting {
            try await chat.execute(CommandRequest(.renameThread(thread: thread, name: name, by: chat.user)))
        }
    }

    func showReplies(to message: MessageID) async {
        let view = chat.liveReplies(to: message)
        replies = view
        await view.follow()
    }

    private func reporting(_ action: () async throws -> Void) async {
        do { try await action() } catch { problem = (error as? any ChatFailure)?.rejection?.code }
    }
}

@Suite(.timeLimit(.minutes(3))) @MainActor struct UserChatTests {
    private let ann = UserID(bits: 1)
    private let ben = UserID(bits: 2)
    private let cat = UserID(bits: 3)
    private let garden = ThreadID(bits: 30)

    /// Returns a store with a thread of Ann and Ben.
    private func store() throws -> ChatStore {
        let store = try ChatStore.inMemory()
        for (id, name) in [(ann, "Ann"), (ben, "Ben"), (cat, "Cat")] {
            try store.executeBlocking(.registerUser(id: id, username: name))
        }
        try store.executeBlocking(.openThread(id: garden, name: "Garden", by: ann))
        try store.executeBlocking(.joinThread(thread: garden, by: ben))
        return store
    }

    @Test func viewModelOfAStore() async throws {
        let store = try store()
        let model = ConversationModel(store.chat(of: ben), thread: garden)
        let running = Task { await model.run() }
        try await until({ model.threads.threads.map(\.name) }) { $0 == ["Garden"] }
        for body in ["Milk?", "Eggs?", "Bread?"] { await model.post(body) }
        try await until({ model.timeline.messages.map(\.body) }) { $0.suffix(2) == ["Eggs?", "Bread?"] }
        try await store.execute(.postMessage(thread: garden, body: "Yes.", by: ann))
        try await until({ model.timeline.messages.map(\.body) }) { $0.last == "Yes." }
        #expect(!model.timeline.messages.contains(where: \.isPending) && model.problem == nil)
        await model.rename(to: "Shed")
        #expect(model.problem == .notAnOwner)
        running.cancel()
        await running.value
        guard case .ended(_?) = model.timeline.state else { return _ = Issue.record("\(model.timeline.state)") }
    }

    @Test func repliesFollowTheirMessage() async throws {
        let store = try store()
        let (milk, bread) = (MessageID(bits: 40), MessageID(bits: 41))
        for message in [milk, bread] {
            try await store.execute(.postMessage(id: message, thread: garden, body: "?", by: ann))
        }
        let model = ConversationModel(store.chat(of: ben), thread: garden)
        let showing = Task { await model.showReplies(to: milk) }
        try await until({ if case .loaded = model.replies?.state { true } else { false } }) { $0 }
        let view = try #require(model.replies)
        await model.reply(to: milk, "No")
        try await store.execute(.reply(to: bread, body: "of another message", by: ann))
        let reply = try #require(try await store.execute(.reply(to: milk, body: "Yes", by: ann)).reply)
        try await until({ view.messages.map(\.body) }) { $0 == ["No", "Yes"] }
        try await store.execute(.edit(.reply(reply), body: "Oat milk", by: ann))
        try await store.execute(.react(.reply(reply), emoji: "👍", by: ben))
        try await store.execute(.react(.message(milk), emoji: "👍", by: ben))
        try await store.execute(.changeUsername(username: "Anne", by: ann))
        let expected = try store.reader(as: .user(ben)).replies(to: milk).entries
        try await until({ view.messages }) { $0 == expected }
        #expect(view.messages.last?.body == "Oat milk" && view.messages.last?.reactions.count == 1)
        #expect(view.messages.last?.author.username == "Anne")
        try await store.execute(.block(user: ann, by: ben))
        try await until({ view.messages.map(\.isFromBlockedUser) }) { $0 == [false, true] }
        try await store.execute(.retract(.reply(reply), by: ann))
        try await until({ view.messages.map(\.isRetracted) }) { $0 == [false, true] }
        // Who leaves sees the replies no longer.
        try await store.execute(.leaveThread(thread: garden, by: ben))
        await showing.value
        guard case .failed(let error, last: nil) = view.state else { return _ = Issue.record("\(view.state)") }
        #expect(error.rejection?.code == .notAMember)
    }

    @Test func repliesLoadEarlierOnes() async throws {
        let store = try store()
        let milk = MessageID(bits: 40)
        try await store.execute(.postMessage(id: milk, thread: garden, body: "?", by: ann))
        for number in 0..<5 { try await store.execute(.reply(to: milk, body: "\(number)", by: ann)) }
        let view = store.chat(of: ben).liveReplies(to: milk, limit: 2)
        let task = Task { await view.follow() }
        try await until({ view.messages.map(\.body) }) { $0 == ["3", "4"] }
        try await view.loadEarlier()
        #expect(view.messages.map(\.body) == ["1", "2", "3", "4"] && view.hasEarlier)
        task.cancel()
        await task.value
        let unknown = store.chat(of: ben).liveReplies(to: MessageID(bits: 99))
        await unknown.follow()
        #expect(unknown.state.error?.rejection?.code == .unknownMessage)
    }

    /// Each page is that of the store for this user.
    @Test func pagesAreThoseOfTheStore() async throws {
        let store = try store()
        let chat: any UserChat = store.chat(of: ben)
        let receipt = try await chat.execute(.postMessage(thread: garden, body: "Milk?", by: ben))
        let message = try #require(receipt.message)
        let reply = try #require(try await store.execute(.reply(to: message, body: "Yes", by: ann)).reply)
        let reader = store.reader(as: .user(ben))
        #expect(chat.user == ben)
        #expect(try await chat.me() == reader.user(ben))
        #expect(try await chat.person(ann) == reader.person(ann))
        #expect(try await chat.people(named: "a") == reader.people(named: "a"))
        #expect(try await chat.threads() == reader.threads())
        #expect(try await chat.thread(garden) == reader.thread(garden))
        #expect(try await chat.directory() == reader.directory())
        #expect(try await chat.members(of: garden).map(\.user.username) == ["Ann", "Ben"])
        #expect(try await chat.timeline(garden).map(\.body) == ["Milk?"])
        #expect(try await chat.replies(to: message).map(\.body) == ["Yes"])
        #expect(try await chat.post(.message(message)).body == "Milk?")
        #expect(try await chat.post(.reply(reply)).body == "Yes")
        #expect(try await chat.inbox().map(\.reason) == [.reply])
        let (user, inbox) = (chat.liveUser(), chat.liveInbox())
        let tasks = [Task { await user.follow() }, Task { await inbox.follow() }]
        try await until({ user.user?.username }) { $0 == "Ben" }
        try await until({ inbox.unread?.count }) { $0 == 1 }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// As at a server, nobody acts as another user or as the host.
    @Test func commandsOfOthersAreRejected() async throws {
        let store = try store()
        let chat: any UserChat = store.chat(of: ben)
        let head = store.head.position
        for command: ChatCommand in [
            .postMessage(thread: garden, body: "Milk?", by: ann), .registerUser(username: "Dan"),
            .grantOperator(user: ben), .leaveThread(thread: garden, by: ann),
        ] {
            do {
                try await chat.execute(command)
                Issue.record("\(command) was executed")
            } catch let error as ChatError {
                #expect(error.rejection?.code == .notAllowed)
            }
            await #expect(throws: ChatError.self) { try await chat.enqueue(command) }
        }
        #expect(store.head.position == head)
        // A user who does not exist sees nothing.
        await #expect(throws: ChatError.self) { try await store.chat(of: UserID(bits: 9)).threads() }
        // Who is no member of the thread cannot read it.
        await #expect(throws: ChatError.self) { try await store.chat(of: cat).timeline(garden) }
    }
}
