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

/// What is new for the user, latest first.
func news(of chat: any UserChat) async throws -> [String] {
    try await chat.inbox().filter(\.isUnread).map { "\($0.reason) by \($0.by.username ?? "somebody")" }
}

/// Whether the reaction is there because of this call: on another device, the user may have taken it back since.
func thank(_ chat: any UserChat, for post: PostID) async throws -> Bool {
    let receipt = try await chat.execute(CommandRequest(.react(post, emoji: "👍", by: chat.user)))
    return !receipt.events.isEmpty
}

/// A vote for one of the options of a poll.
nonisolated struct Vote: Codable {
    var poll: String
    var option: Int
}
nonisolated let voteKind: CustomKind = "com.example.vote"

/// Votes, and counts the votes of a poll for as long as the user can read its thread.
@MainActor func vote(
    _ option: Int, in poll: String, of thread: ThreadID, _ chat: any UserChat, show: ([Int: Int]) -> Void
) async throws {
    let payload = try CustomPayload(encoding: Vote(poll: poll, option: option))
    try await chat.enqueue(.custom(kind: voteKind, thread: thread, payload: payload, by: chat.user))
    // The latest vote of each user counts.
    var votes: [UserID: Int] = [:]
    for try await event in chat.customEvents(of: thread, kind: voteKind) {
        let vote = try event.payload.decode(Vote.self)
        guard vote.poll == poll else { continue }
        votes[event.by] = vote.option
        show(votes.values.reduce(into: [:]) { $0[$1, default: 0] += 1 })
    }
}

@Suite(.timeLimit(.minutes(3))) @MainActor struct UserChatExampleTests {
    private let ann = UserID(bits: 1)
    private let bob = UserID(bits: 2)
    private let garden = ThreadID(bits: 30)

    /// Ann has opened a thread that Bob has joined.
    private func twoInAGarden() async throws -> ChatStore {
        let store = try ChatStore.inMemory()
        for (id, name) in [(ann, "Ann"), (bob, "Bob")] {
            try await store.execute(.registerUser(id: id, username: name))
        }
        try await store.execute(.openThread(id: garden, name: "Garden", by: ann))
        try await store.execute(.joinThread(thread: garden, by: bob))
        return store
    }

    @Test func votesAreCounted() async throws {
        let store = try await twoInAGarden()
        for (poll, option) in [("milk", 2), ("bread", 1)] {
            let payload = try CustomPayload(encoding: Vote(poll: poll, option: option))
            try await store.execute(.custom(kind: voteKind, thread: garden, payload: payload, by: ann))
        }
        var shown: [Int: Int] = [:]
        // Bob leaves when both votes are counted, and the sequence ends.
        try await vote(1, in: "milk", of: garden, store.chat(of: bob)) { votes in
            shown = votes
            if votes == [1: 1, 2: 1] { _ = try? store.executeBlocking(.leaveThread(thread: garden, by: bob)) }
        }
        #expect(shown == [1: 1, 2: 1])
    }

    @Test func whatIsNewIsInTheInbox() async throws {
        let store = try await twoInAGarden()
        let (annsChat, bobsChat) = (store.chat(of: ann), store.chat(of: bob))
        let post = try await annsChat.post("Thank you, @Bob!", in: garden)
        #expect(try await news(of: bobsChat) == ["mention by Ann"])
        let found = try await [thank(bobsChat, for: post), thank(bobsChat, for: post)]
        #expect(found == [true, false])
        #expect(try await news(of: annsChat) == ["reaction by Bob"])
        try await bobsChat.unreact("👍", from: post)
        let shown = try #require(try await annsChat.timeline(garden).last)
        #expect(shown.reactions == [])
        try await annsChat.edit(shown, body: "Thanks, @Bob!")
        #expect(try await annsChat.timeline(garden).last?.mentions == [bob])
    }

    @Test func commandsInShort() async throws {
        let store = try ChatStore.inMemory()
        try await store.execute(.registerUser(id: ann, username: "Ann"))
        try await store.execute(.openThread(id: garden, name: "Garden", by: ann))
        try await ask(store.chat(of: ann), in: garden)
        let posts = try store.reader(as: .user(ann)).timeline(garden)
        #expect(posts.map(\.body) == ["Milk?"] && posts.first?.reactions.map(\.emoji) == ["👍"])
    }

    @Test func viewModel() async throws {
        let store = try ChatStore.inMemory()
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
