import Chat
import TestSupport
import Testing

// TimeTravelAndAudits.md shows this function, with `Chat` alone.
/// Checks a copy of a journal, then prints who could read what in a thread, and what happened in
/// it.
func audit(_ directory: String, expecting token: String, of thread: ThreadID, asOf position: Position) throws {
    // The token was printed by `chat-journal head` when the journal was trusted.
    var options = JournalOptions()
    options.expectedHead = JournalHead(token)
    let report = try ChatStore.verify(directory, options: options, deep: true)
    for finding in report.findings { print(finding) }
    guard report.isValid else { return }

    let store = try ChatStore.openReadOnly(directory)
    let then = AsOf.position(position)
    for reader in try store.readers(of: thread, asOf: then) {
        print("could read:", reader.user.username ?? "?", "since position", reader.since)
        for access in try store.reader(as: .host, asOf: then).access(of: reader.user.id) where access.thread == thread {
            print("  from", access.from, "to", access.to.map { "\($0)" } ?? "position \(position) or later")
        }
        // What this reader could read then; as the reader today's rights and texts would count too.
        guard let start = try store.readingStart(of: reader.user.id, in: thread, asOf: then) else { continue }
        for message in try store.reader(as: .host, asOf: then).timeline(
            thread, page: .after(start, limit: 20))
        {
            print("  ", message.position, message.author.username ?? "?", message.body ?? "(no text)")
        }
    }
    // The events behind the answers, up to that position and no further.
    try store.forEachEvent(upTo: position, matching: EventFilter(as: .host, threads: [thread])) { event, _ in
        print(event.position, event.recordedAt, event.kind?.name ?? "unknown")
    }
    try store.close()
}

@Suite struct AuditExampleTests {
    @Test func auditRuns() throws {
        let folder = try TemporaryDirectory()
        let directory = folder.path + "/journal"
        let store = try ChatStore.open(directory)
        let ann = UserID(bits: 1)
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        let joined = try store.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: ann))
        let thread = ThreadID(try #require(OutwardCode("SW1A")))
        try store.executeBlocking(.postMessage(thread: thread, body: "Milk?", by: ann))
        let token = "\(store.head)"
        try store.close()
        try audit(directory, expecting: token, of: thread, asOf: joined.position)
    }
}
