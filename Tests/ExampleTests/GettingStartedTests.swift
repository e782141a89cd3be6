import Chat
import Testing

// GettingStarted.md shows this function, with `Chat` alone.
func tour(_ store: ChatStore, ann: UserID, bob: UserID, thread: ThreadID) async throws(ChatError) {
    // `execute` holds no thread while it waits for the disk. A receipt has the ids that the store
    // made.
    let post = try await store.execute(.postMessage(thread: thread, body: "Milk?", by: ann))
    guard let message = post.message else { return }
    try await store.execute(.reply(to: message, body: "On my way", by: bob), correlation: "request 17")
    try await store.execute(.edit(.message(message), body: "Oat milk?", by: ann))
    try await store.execute(.markRead(thread: thread, upTo: post.position, by: bob))

    // Several commands as one commit: each one sees the effects of the ones before it, and a
    // rejected one does not stop the others.
    for answer in try await store.execute([
        CommandRequest(.retract(.message(message), by: ann)),
        CommandRequest(.postMessage(thread: thread, body: "", by: bob)),
    ]) {
        switch answer {
        case .success(let receipt): print("appended", receipt.positions.map { "\($0)" } ?? "nothing")
        case .failure(let rejection): print("rejected", rejection.code)  // invalidBody
        }
    }

    // Pages: the latest 20 messages, and the 20 before them. Bob sees what a member may see; a
    // viewer who is no member is rejected. A reader says once who asks; every query of the store
    // can be given a viewer too. A page has the requests of its neighbours.
    let reader = store.reader(as: .user(bob))
    let latest = try reader.timeline(thread, page: .latest(20))
    if let older = latest.older { print(try reader.timeline(thread, page: older).count) }
    print(try reader.user(bob).threads.map(\.unreadCount))

    // The same queries as of an earlier position: what Bob could read, and who could read it, right
    // after the post.
    let then = AsOf.position(post.position)
    print(
        try store.reader(as: .user(bob), asOf: then).timeline(thread).map(\.body),
        try store.readers(of: thread, asOf: then).count)

    // Every event after the post, existing and future ones, as Bob may see it. The sequence ends
    // when the task is cancelled or the store is closed. A token continues on another day.
    let token = try store.resumeToken(after: post.position)
    for try await event in store.events(after: token, matching: EventFilter(as: .user(bob), threads: [thread])) {
        print(event.position, event.body ?? "", event.resumeToken)
        if event.kind == .replyPosted { break }
    }

    // The rejection of a single command is an error with a stable code.
    do throws(ChatError) {
        try await store.execute(.joinThread(thread: thread, by: UserID(bits: 0)))
    } catch {
        // One `catch` for all errors, without a `where`: what is no rejection is passed on.
        guard let rejection = error.rejection else { throw error }
        print(rejection.code, rejection.message)
    }
}

@Suite struct GettingStartedTests {
    @Test func tourRuns() async throws {
        let store = try ChatStore.inMemory()
        let (ann, bob) = (UserID(bits: 1), UserID(bits: 2))
        let thread = ThreadID(try #require(OutwardCode("SW1A")))
        for (user, name) in [(ann, "Ann"), (bob, "Bob")] {
            try await store.execute(.registerUser(id: user, username: name))
            try await store.execute(.setPostcode(postcode: "SW1A 1AA", by: user))
        }
        try await tour(store, ann: ann, bob: bob, thread: thread)
        let timeline = try store.reader(as: .host).timeline(thread)
        #expect(timeline.map(\.isRetracted) == [true])
    }
}
