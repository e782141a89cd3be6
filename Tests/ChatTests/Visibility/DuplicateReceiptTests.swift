import Chat
import ChatDomain
import EventJournal
import Testing

/// A duplicate command returns the first receipt, without fields that its caller did not send.
@Suite struct DuplicateReceiptTests {
    private let ann = UserID(bits: 1)
    private let garden = ThreadID(bits: 31)

    private func store() throws -> ChatStore {
        let store = try StoreFixture().open()
        try store.executeBlocking(.registerUser(id: ann, username: "Ann", subject: "sub-1"), correlation: "first")
        try store.executeBlocking(.openThread(id: garden, name: "Garden", by: ann), correlation: "first")
        return store
    }

    @Test func differentSubjectIsRejected() throws {
        let store = try store()
        for subject in ["sub-2", "", String(repeating: "s", count: 300)] {
            expectRejection(.subjectTaken) { () throws(ChatError) in
                try store.executeBlocking(.registerUser(id: ann, username: "Ann", subject: subject))
            }
        }
        // A subject is rejected if the first registration had none.
        let bob = UserID(bits: 2)
        try store.executeBlocking(.registerUser(id: bob, username: "Bob"))
        expectRejection(.subjectTaken) { () throws(ChatError) in
            try store.executeBlocking(.registerUser(id: bob, username: "Bob", subject: "sub-2"))
        }
        // A different username has precedence: the id belongs to another user.
        expectRejection(.identifierTaken) { () throws(ChatError) in
            try store.executeBlocking(.registerUser(id: ann, username: "Eve", subject: "sub-2"))
        }
        #expect(store.head.position == 4)
    }

    @Test func callerWithoutSubjectIsNotShownSubject() throws {
        let event = try #require(try store().executeBlocking(.registerUser(id: ann, username: "Ann")).events.first)
        #expect(event.event.subject == nil && event.event.correlation == nil && event.redacted == [])
        #expect(event.event.username?.text == "Ann")
    }

    @Test func equalCommandIsShownWholeReceipt() throws {
        let receipt = try store().executeBlocking(
            .registerUser(id: ann, username: "Ann", subject: "sub-1"), correlation: "first")
        let event = try #require(receipt.events.first)
        #expect(
            receipt.isDuplicate && event.event.subject == "sub-1" && event.event.correlation == "first"
                && event.redacted == [])
    }

    @Test func differentSpellingOfNameIsRedacted() throws {
        let store = try store()
        let registration = try #require(
            try store.executeBlocking(.registerUser(id: ann, username: "ANN", subject: "sub-1")).events.first)
        #expect(
            registration.event.username == nil && registration.event.subject == nil
                && registration.redacted == [.username])
        let opening = try store.executeBlocking(.openThread(id: garden, name: "Secret name?", by: ann)).events
        #expect(opening.map(\.event.threadName) == [nil, nil] && opening.map(\.redacted) == [.name, []])
        // Names are stored without surrounding white space.
        #expect(
            try store.executeBlocking(.openThread(id: garden, name: " Garden ", by: ann)).events.first?.event
                .threadName == "Garden")
    }

    @Test func differentBodyAndDeviceAreRedacted() throws {
        let store = try store()
        let (message, reply, session) = (MessageID(bits: 41), ReplyID(bits: 51), SessionID(bits: 61))
        let first = [
            ChatCommand.postMessage(id: message, thread: garden, body: "e\u{301}", by: ann),
            .reply(id: reply, to: message, body: "yes", by: ann),
            .startSession(id: session, device: "phone", by: ann),
        ]
        let second = [
            // Canonically equivalent text in different bytes.
            ChatCommand.postMessage(id: message, thread: garden, body: "\u{e9}", by: ann),
            .reply(id: reply, to: message, body: "no", by: ann),
            .startSession(id: session, device: "tablet", by: ann),
        ]
        for command in first { try store.executeBlocking(command, correlation: "first") }
        for (number, command) in second.enumerated() {
            let event = try #require(try store.executeBlocking(command, correlation: "second").events.first)
            #expect(event.event.content == .omitted && event.event.correlation == nil)
            #expect(event.redacted == [.body, .body, .device][number])
        }
        for command in first {
            let event = try #require(try store.executeBlocking(command, correlation: "first").events.first)
            #expect(event.event.content != .omitted && event.event.correlation == "first" && event.redacted == [])
        }
    }

    /// A payload is shown only to a caller who sent the same one, byte for byte.
    @Test func differentPayloadIsRedacted() throws {
        let store = try store()
        func custom(_ payload: String) throws -> ChatCommand {
            .custom(
                id: CustomEventID(bits: 71), kind: "com.example.poll", thread: garden,
                payload: try #require(CustomPayload(payload)), by: ann)
        }
        let first = try store.executeBlocking(try custom("[1.0]"), correlation: "first")
        #expect(!first.isDuplicate && first.events.first?.event.payload?.text == "[1.0]")
        let same = try store.executeBlocking(try custom("[ 1.0 ]"), correlation: "first")
        #expect(same.isDuplicate && same.events == first.events)
        for payload in ["[1]", "[1.00]", "null"] {
            let receipt = try store.executeBlocking(try custom(payload), correlation: "second")
            let event = try #require(receipt.events.first)
            #expect(receipt.isDuplicate && receipt.positions == first.positions)
            #expect(
                event.event.payload == nil && !event.event.isErased && event.redacted == .payload
                    && event.event.correlation == nil)
        }
        // The id belongs to the event of another user.
        let bob = UserID(bits: 2)
        let payload = try #require(CustomPayload("[1.0]"))
        try store.executeBlocking(.registerUser(id: bob, username: "Bob"))
        expectRejection(.identifierTaken) { () throws(ChatError) in
            try store.executeBlocking(
                .custom(
                    id: CustomEventID(bits: 71), kind: "com.example.poll", thread: garden, payload: payload, by: bob))
        }
    }
}
