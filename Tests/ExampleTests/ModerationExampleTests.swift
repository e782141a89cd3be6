import Chat
import Testing

// ModeratingACommunity.md shows this function, with `Chat` alone.
func moderate(_ store: ChatStore, ann: UserID, bob: UserID, cem: UserID) async throws {
    // Ann opens a private thread and owns it. Members read what was posted after they joined.
    let opened = try await store.execute(
        .openThread(name: "Street party", policy: .inviteOnly, history: .sinceJoining, by: ann))
    guard let party = opened.thread else { return }
    for user in [bob, cem] {
        try await store.execute(.invite(user: user, thread: party, by: ann))
        try await store.execute(.acceptInvitation(thread: party, by: user))
    }
    try await store.execute(.setRole(user: cem, thread: party, role: .moderator, by: ann))

    // Bob advertises, Ann reports it, and Cem, who moderates, looks at the queue.
    let post = try await store.execute(.postMessage(thread: party, body: "Buy my watches", by: bob))
    guard let message = post.message else { return }
    try await store.execute(.report(.message(message), reason: "advertising", by: ann))
    for report in try store.reader(as: .user(cem)).reports(in: party) {
        print(
            report.by.username ?? "?", "reports", report.body ?? "", "by", report.author.username ?? "?",
            report.reason ?? "")
    }

    // Cem removes the post, mutes Bob and resolves the report. The events have the reasons; members
    // see that it was removed.
    try await store.execute(.remove(.message(message), reason: "advertising", by: cem))
    try await store.execute(.mute(user: bob, thread: party, reason: "three times now", by: cem))
    try await store.execute(.resolveReport(.message(message), by: cem))
    print(try store.reader(as: .user(ann)).timeline(party).map { $0.isRemoved ? "(removed)" : $0.body ?? "" })

    // Bob apologises elsewhere, and Cem ends the mute. The auditor can still ask who was muted in
    // between.
    let sanctioned = store.head.position
    try await store.execute(.unmute(user: bob, thread: party, by: cem))
    print(
        try store.reader(as: .host).sanctions(in: party).count,
        try store.reader(as: .host, asOf: .position(sanctioned)).sanctions(in: party).map(\.user.username))

    // A custom event: any JSON, in the order of the thread, once by its id.
    struct Poll: Codable { var question: String, options: [String] }
    let payload = try CustomPayload(encoding: Poll(question: "Which day?", options: ["Saturday", "Sunday"]))
    try await store.execute(.custom(kind: "com.example.poll", thread: party, payload: payload, by: bob))
    for try await event in store.events(
        in: 1...store.head.position, matching: EventFilter(as: .host, customKinds: ["com.example.poll"]))
    {
        print(try event.recorded.payload?.decode(Poll.self).options ?? [])
    }
}

@Suite struct ModerationExampleTests {
    @Test func exampleRuns() async throws {
        let store = try ChatStore.inMemory()
        let (ann, bob, cem) = (UserID(bits: 1), UserID(bits: 2), UserID(bits: 3))
        for (user, name) in [(ann, "Ann"), (bob, "Bob"), (cem, "Cem")] {
            try await store.execute(.registerUser(id: user, username: name))
            // Neighbours know each other from the thread of their district.
            try await store.execute(.setPostcode(postcode: "SW1A 1AA", by: user))
        }
        try await moderate(store, ann: ann, bob: bob, cem: cem)
        let party = try #require(try store.reader(as: .host).threads().first { $0.name == "Street party" })
        #expect(party.policy == .inviteOnly && party.history == .sinceJoining)
        #expect(try store.reader(as: .user(ann)).timeline(party.id).map(\.isRemoved) == [true])
        #expect(try store.reader(as: .user(ann)).timeline(party.id).map(\.body) == [nil])
        #expect(try store.reader(as: .host).roles(in: party.id).map(\.role) == [.owner, .moderator])
        #expect(try store.reader(as: .host).reports(in: party.id).isEmpty)
        #expect(try store.reader(as: .host).sanctions(in: party.id).isEmpty)
    }
}
