import ChatDomain
import ChatTesting
import EventJournal
import Testing

@testable import Chat

/// Journals of earlier versions hold names that the rules now reject.
@Suite struct FormerNamesTests {
    private static let cem = UserID(bits: 1)
    private static let thread = ThreadID(bits: 2)

    @Test func journalWithFormerNamesOpensAndVerifies() throws {
        let fixture = StoreFixture()
        let name = "Cem\u{3164}"
        let journal = try Journal.open(fixture.directory, options: fixture.options.journal)
        var draft = CommitDraft()
        var encoder = EventEncoder()
        let facts: [(EventDetails, EventContent)] = [
            (
                .init(.userRegistered, .user(Self.cem)),
                .registration(Username(text: name, foldKey: name.lowercased()), subject: nil)
            ),
            (.init(.threadOpened, .thread(Self.thread, number: 1, user: Self.cem)), .threadName("\u{2764}\u{FE0F}")),
            (.init(.threadJoined, .thread(Self.thread, number: 2, user: Self.cem)), .none),
        ]
        for (details, content) in facts {
            encoder.encode(
                ChatEvent(recordedAt: Timestamp(millisecondsSince1970: 1), details: details, content: content))
            // `bytes` is unsafe for elements with padding; bytes have none.
            unsafe try draft.append(kept: encoder.kept.span.bytes, erasable: encoder.erasable.span.bytes)
        }
        try journal.reserve(draft.encodedByteCount)
        try journal.waitUntilDurable(try journal.append(draft, expecting: 0).upperBound)
        try journal.close()

        var options = fixture.options
        // The events are of 1970.
        options.acceptsClock = true
        let store = try ChatStore.open(fixture.directory, options: options)
        #expect(try store.userID(named: name) == Self.cem)
        #expect(try store.reader(as: .host).user(Self.cem).username == name)
        #expect(try store.reader(as: .host).threadIDs(named: "\u{2764}\u{FE0F}") == [Self.thread])
        #expect(try store.executeBlocking(.registerUser(id: Self.cem, username: name)).isDuplicate)
        #expect(try store.executeBlocking(.changeUsername(username: name, by: Self.cem)).positions == nil)
        expectRejection(.invalidUsername) { () throws(ChatError) in
            _ = try store.executeBlocking(.registerUser(username: name + "x"))
        }
        try store.executeBlocking(.postMessage(thread: Self.thread, body: "x", by: Self.cem))
        try store.close()
        #expect(try ChatStore.verify(fixture.directory, options: fixture.options.journal, deep: true).findings.isEmpty)
    }
}
