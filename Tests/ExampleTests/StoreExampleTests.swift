import Chat
import Observation
import TestSupport
import Testing

// GettingStarted.md, Chat.md and the documentation of the types show parts of this code.

/// Keeps the messages of a thread on the screen, until the task is cancelled.
@MainActor func show(_ timeline: LiveTimeline, display: ([Post]) -> Void) async {
    async let following: Void = timeline.follow()
    for await messages in Observations({ timeline.messages }) { display(messages) }
    await following
}

@Suite(.timeLimit(.minutes(3))) struct StoreExampleTests {
    private let ann = UserID(bits: 1)

    /// Returns a store with Ann, who lives in SW1A.
    private func store(_ options: StoreOptions = StoreOptions()) throws -> (ChatStore, sw1a: ThreadID) {
        let store = try ChatStore.inMemory(options: options)
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        try store.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: ann))
        return (store, ThreadID(try #require(OutwardCode("SW1A"))))
    }

    @Test func chatStore() throws {
        let folder = try TemporaryDirectory()
        let directory = folder.file("journal")
        let store = try ChatStore.open(directory)
        let sw1a = ThreadID(OutwardCode("SW1A")!)
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        try store.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: ann))  // joins the thread SW1A
        let receipt = try store.executeBlocking(.postMessage(thread: sw1a, body: "Milk?", by: ann))
        let messages = try store.reader(as: .user(ann)).timeline(sw1a)
        let before = try store.reader(as: .host, asOf: .position(receipt.position - 1)).timeline(sw1a)
        try store.close()
        #expect(messages.map(\.body) == ["Milk?"])
        #expect(before.isEmpty)
    }

    @Test func inbox() async throws {
        let (store, sw1a) = try store()
        let ben = UserID(bits: 2)
        try store.executeBlocking(.registerUser(id: ben, username: "Ben"))
        try store.executeBlocking(.setPostcode(postcode: "SW1A 2AA", by: ben))
        let message = try #require(
            try store.executeBlocking(.postMessage(thread: sw1a, body: "Milk?", by: ann)).message)
        try store.executeBlocking(.reply(to: message, body: "On my way.", by: ben))
        let page = try store.reader(as: .user(ann)).inbox(of: ann)
        for entry in page { print(entry.reason, entry.by.username ?? "?", entry.isUnread) }
        if let newest = page.first { try await store.execute(.markInboxRead(upTo: newest.position, by: ann)) }
        #expect(page.map(\.reason) == [.reply] && page.map(\.by.username) == ["Ben"])
        #expect(try store.reader(as: .user(ann)).unreadInboxCount(of: ann) == InboxCount(count: 0))
    }

    @Test func storeOptions() throws {
        let folder = try TemporaryDirectory()
        let directory = folder.file("journal")
        var options = StoreOptions()
        // Answered after the operating system has the commit; the default waits for the disk.
        options.journal.durability = .written
        let quick = try ChatStore.open(directory, options: options)
        let preview = try ChatStore.inMemory()
        #expect(quick.head.position == 0)
        #expect(preview.head.position == 0)
    }

    @Test func inBackground() async throws {
        let (store, sw1a) = try store()
        try await store.execute(.postMessage(thread: sw1a, body: "Milk?", by: ann))
        let oldest = try await store.inBackground { store in
            try store.reader(as: .host).timeline(sw1a, page: .after(0, limit: 500))
        }
        #expect(oldest.map(\.body) == ["Milk?"])
    }

    @MainActor @Test func liveTimeline() async throws {
        let (store, sw1a) = try store()
        let (pages, screen) = AsyncStream<[String?]>.makeStream()
        let showing = Task {
            await show(LiveTimeline(store, thread: sw1a, as: .user(ann))) { screen.yield($0.map(\.body)) }
        }
        try await store.execute(.postMessage(thread: sw1a, body: "Milk?", by: ann))
        for await bodies in pages where bodies == ["Milk?"] { break }
        showing.cancel()
        await showing.value
    }

    @Test func following() async throws {
        let (store, sw1a) = try store()
        let position = store.head.position
        async let posted = store.executeBlocking(.postMessage(thread: sw1a, body: "Milk?", by: ann))
        for try await event in store.events(after: position, matching: EventFilter(as: .user(ann))) {
            print(event.position, event.body ?? "")
            if event.kind == .messagePosted { break }
        }
        #expect(try await posted.position == position + 1)
    }

    @Test func logHandler() throws {
        let options = StoreOptions(
            journal: JournalOptions(log: { message in print(message.level, message.text, message.metadata) }))
        #expect(options.journal.log != nil)
    }

    @Test func eventImporter() throws {
        let (store, sw1a) = try store()
        try store.executeBlocking(.postMessage(thread: sw1a, body: "Milk?", by: ann))
        var events: [ExportedEvent] = []
        try store.forEachExportedEvent { event, _ in
            events.append(event)
        }
        let folder = try TemporaryDirectory()
        let directory = folder.file("copy.journal")
        var importer = try EventImporter(into: directory)
        for (line, event) in events.enumerated() { try importer.add(event, line: line + 1) }
        try importer.finish()
        #expect(try ChatStore.open(directory).reader(as: .host).timeline(sw1a).map(\.body) == ["Milk?"])
    }
}
