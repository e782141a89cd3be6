import Chat
import Observation
import Testing

// The documentation of UserChat shows this class.

@MainActor @Observable final class ThreadModel {
    let timeline: LiveTimeline
    private(set) var problem: String?
    private let chat: any UserChat
    private let thread: ThreadID

    init(_ chat: any UserChat, _ thread: ThreadID) {
        (self.chat, self.thread) = (chat, thread)
        timeline = chat.liveTimeline(of: thread)
    }

    func post(_ body: String) async {
        do {
            try await chat.enqueue(.postMessage(thread: thread, body: body, by: chat.user))
        } catch {
            problem = "\(error)"
        }
    }
}

/// Asks for milk, and agrees with oneself.
func ask(_ chat: any UserChat, in thread: ThreadID) async throws {
    let post = try await chat.post("Milk?", in: thread)
    try await chat.react("👍", to: post)
}

@Suite(.timeLimit(.minutes(3))) @MainActor struct UserChatExampleTests {
    @Test func commandsInShort() async throws {
        let store = try ChatStore.inMemory()
        let (ann, garden) = (UserID(bits: 1), ThreadID(bits: 30))
        try await store.execute(.registerUser(id: ann, username: "Ann"))
        try await store.execute(.openThread(id: garden, name: "Garden", by: ann))
        try await ask(store.chat(of: ann), in: garden)
        let posts = try store.reader(as: .user(ann)).timeline(garden)
        #expect(posts.map(\.body) == ["Milk?"] && posts.first?.reactions.map(\.emoji) == ["👍"])
    }

    @Test func viewModel() async throws {
        let store = try ChatStore.inMemory()
        let (ann, garden) = (UserID(bits: 1), ThreadID(bits: 30))
        try await store.execute(.registerUser(id: ann, username: "Ann"))
        try await store.execute(.openThread(id: garden, name: "Garden", by: ann))
        let model = ThreadModel(store.chat(of: ann), garden)
        await model.post("Milk?")
        await model.post("")
        #expect(model.problem == "invalidBody: A body is 1 to 16,384 bytes and not only white space.")
        let following = Task { await model.timeline.follow() }
        for await messages in Observations({ model.timeline.messages }) where messages.map(\.body) == ["Milk?"] {
            break
        }
        following.cancel()
        await following.value
    }
}
