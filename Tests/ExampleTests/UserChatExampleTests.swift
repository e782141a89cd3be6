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

/// A vote for one of the options of a poll.
nonisolated struct Vote: Codable { var option: Int }
nonisolated let voteKind: CustomKind = "com.example.vote"

/// Votes, and counts the votes of a thread for as long as its user can read it.
@MainActor func vote(
    _ option: Int, in thread: ThreadID, of chat: any UserChat, show: ([Int: Int]) -> Void
) async throws {
    let payload = try CustomPayload(encoding: Vote(option: option))
    try await chat.enqueue(.custom(kind: voteKind, thread: thread, payload: payload, by: chat.user))
    // The latest vote of each user counts.
    var votes: [UserID: Int] = [:]
    for try await event in chat.customEvents(of: thread, kind: voteKind) {
        votes[event.by] = try event.payload.decode(Vote.self).option
        show(votes.values.reduce(into: [:]) { $0[$1, default: 0] += 1 })
    }
}

@Suite(.timeLimit(.minutes(3))) @MainActor struct UserChatExampleTests {
    @Test func votesAreCounted() async throws {
        let store = try ChatStore.inMemory()
        let (ann, bob, garden) = (UserID(bits: 1), UserID(bits: 2), ThreadID(bits: 30))
        for (id, name) in [(ann, "Ann"), (bob, "Bob")] {
            try await store.execute(.registerUser(id: id, username: name))
        }
        try await store.execute(.openThread(id: garden, name: "Garden", by: ann))
        try await store.execute(.joinThread(thread: garden, by: bob))
        let payload = try CustomPayload(encoding: Vote(option: 2))
        try await store.execute(.custom(kind: voteKind, thread: garden, payload: payload, by: ann))
        var shown: [Int: Int] = [:]
        // Bob leaves when both votes are counted, and the sequence ends.
        try await vote(1, in: garden, of: store.chat(of: bob)) { votes in
            shown = votes
            if votes == [1: 1, 2: 1] { _ = try? store.executeBlocking(.leaveThread(thread: garden, by: bob)) }
        }
        #expect(shown == [1: 1, 2: 1])
    }

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
