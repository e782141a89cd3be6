import ChatDomain
import Testing

@testable import Chat

/// The authors of imported messages.
///
/// A nickname is one user of the imported system and never a native user of the journal.
@Suite struct ImportIdentityTests {
    private static let amy = UserID(bits: 1)
    private static let stranger = UserID(bits: 2)

    private func users(_ store: ChatStore, in channel: String = "#rust") throws -> [String?] {
        try store.reader(as: .host).timeline(ThreadID.imported(channel)).map(\.author.username)
    }

    @Test func derivedIDsFollowDocumentedHash() {
        // Computed independently in Python from the documentation.
        #expect("\(ImportedID.user("ann"))" == "75b950ed-9d8c-887d-aedc-5c4a6f880641")
        #expect("\(ImportedID.thread("#rust"))" == "012fddeb-b7c3-864e-b4b3-a4840e6c8b19")
        #expect("\(ImportedID.message("#rust", "1"))" == "93d74a20-5178-87d8-98e2-68edea77d2df")
        #expect("\(ImportedID.reply("#rust", "2"))" == "1c1c44db-f1c6-8ead-aff4-2ad5bb1c6888")
    }

    @Test(arguments: [1, 10]) func importNeverTakesOverNativeUser(batchSize: Int) throws {
        let store = try StoreFixture().open()
        try store.executeBlocking(.registerUser(id: Self.amy, username: "Amy"))
        let history = [imported("1", by: "AMY"), imported("2", by: "bob", to: "1"), imported("3", by: "amy")]
        let (summary, refused) = try importAll(history, into: store, batchSize: batchSize)
        #expect(refused.isEmpty && summary.messages == 2 && summary.replies == 1 && summary.users == 2)
        #expect(try users(store) == ["AMY~2", "AMY~2"])
        #expect(try store.reader(as: .host).access(of: Self.amy).isEmpty, "the native user joined no thread")
        try expectNoChange(history, store)
    }

    /// Only users that the importer registered are imported users, regardless of their origin.
    @Test func userWithImportedOriginIsDistinctFromNickname() throws {
        let store = try StoreFixture().open()
        _ = try store.executeBlocking([
            CommandRequest(.registerUser(id: Self.amy, username: "Amy"), origin: .imported(sentAt: nil))
        ])[0]
        .get()
        let history = [imported("1", by: "Amy"), imported("2", by: "Amy")]
        _ = try importAll(history, into: store, batchSize: 1)
        #expect(try users(store) == ["Amy~2", "Amy~2"])
        try expectNoChange(history, store)
    }

    @Test(arguments: [1, 10]) func nicknameStaysOneUserAfterNameChangesOwner(batchSize: Int) throws {
        let store = try StoreFixture().open()
        try store.executeBlocking(.registerUser(id: Self.amy, username: "Amy"))
        _ = try importAll([imported("1", by: "Amy")], into: store, batchSize: batchSize)
        try store.executeBlocking(.changeUsername(username: "Amelia", by: Self.amy))
        try store.executeBlocking(.registerUser(id: Self.stranger, username: "Amy"))
        let history = [imported("1", by: "Amy"), imported("2", by: "Amy"), imported("3", by: "Amy", in: "SW1A")]
        _ = try importAll(history, into: store, batchSize: batchSize)
        let person = ImportedID.user("amy")
        #expect(try store.reader(as: .host).timeline(ThreadID.imported("#rust")).map(\.author.id) == [person, person])
        #expect(try store.reader(as: .host).timeline(ThreadID.imported("SW1A")).map(\.author.id) == [person])
        try expectNoChange(history, store)
    }

    @Test func renamedImportedUserStaysSame() throws {
        let store = try StoreFixture().open()
        _ = try importAll([imported("1", by: "Amy")], into: store, batchSize: 10)
        try store.executeBlocking(.changeUsername(username: "Amelia", by: ImportedID.user("amy")))
        try store.executeBlocking(.registerUser(id: Self.stranger, username: "Amy"))
        let history = [imported("1", by: "Amy"), imported("2", by: "amy")]
        _ = try importAll(history, into: store, batchSize: 10)
        #expect(try users(store) == ["Amelia", "Amelia"])
        try expectNoChange(history, store)
    }

    /// Attributes a post as an earlier importer did: to the user with that name at the time.
    private func attribute(
        _ id: String, _ nickname: String, to user: UserID, _ store: ChatStore, replyTo: String? = nil
    ) throws {
        let origin = EventOrigin.imported(sentAt: nil)
        let thread = ThreadID.imported("#rust")
        let post: ChatCommand =
            if let replyTo {
                .reply(id: ImportedID.reply("#rust", id), to: ImportedID.message("#rust", replyTo), body: "x", by: user)
            } else {
                .postMessage(id: ImportedID.message("#rust", id), thread: thread, body: "x", by: user)
            }
        let opening: [ChatCommand] =
            try store.reader(as: .host).threads().contains { $0.id == thread }
            ? [] : [.openThread(id: thread, name: "#rust", policy: .inviteOnly, by: user)]
        for command in opening + [.joinThread(thread: thread, by: user), post] {
            _ = try store.executeBlocking([CommandRequest(command, origin: origin)])[0].get()
        }
    }

    @Test(arguments: [EventOrigin.native, .imported(sentAt: nil)], [false, true])
    func attributionOfFormerImportIsDuplicate(origin: EventOrigin, strangerTakesTheName: Bool) throws {
        let store = try StoreFixture().open()
        _ = try store.executeBlocking([CommandRequest(.registerUser(id: Self.amy, username: "Amy"), origin: origin)])[
            0
        ].get()
        try attribute("1", "Amy", to: Self.amy, store)
        try attribute("2", "Amy", to: Self.amy, store, replyTo: "1")
        try store.executeBlocking(.changeUsername(username: "Amelia", by: Self.amy))
        if strangerTakesTheName { try store.executeBlocking(.registerUser(id: Self.stranger, username: "Amy")) }
        let history = [imported("1", by: "AMY"), imported("2", by: "Amy", to: "1")]
        try expectNoChange(history, store)
        // A new message belongs to the imported user, not to Amy.
        let (summary, refused) = try importAll(history + [imported("3", by: "Amy")], into: store, batchSize: 10)
        #expect(refused.isEmpty && summary.duplicates == 2 && summary.messages == 1 && summary.users == 1)
        #expect(
            try store.reader(as: .host).timeline(ThreadID.imported("#rust")).map(\.author.username)
                == ["Amelia", strangerTakesTheName ? "Amy~2" : "Amy"])
        try expectNoChange(history + [imported("3", by: "Amy")], store)
        // The id stays with its author at the time: the nicknames "Bob" and "Amelia" are rejected.
        let claims = try importAll([imported("1", by: "Bob"), imported("1", by: "Amelia")], into: store, batchSize: 10)
        #expect(claims.1.map(\.rejection.code) == [.identifierTaken, .identifierTaken])
    }

    @Test func takenNameGetsFirstFreeSuffix() throws {
        let store = try StoreFixture().open()
        try store.executeBlocking(.registerUser(username: "Amy"))
        try store.executeBlocking(.registerUser(username: "AMY~2"))
        let history = [
            imported("1", by: "Amy"), imported("2", by: "amy~3"), imported("3", by: "AMY~2"),
            imported("4", by: "Amy", in: "#c"),
        ]
        let (_, refused) = try importAll(history, into: store, batchSize: 10)
        #expect(refused.isEmpty)
        #expect(try users(store) == ["Amy~3", "amy~3~2", "AMY~2~2"])
        #expect(try users(store, in: "#c") == ["Amy~3"])
        try expectNoChange(history, store)
    }

    @Test(arguments: [
        String(repeating: "x", count: 64), String(repeating: "x", count: 63), String(repeating: "\u{1F986}", count: 64),
        String(repeating: "e\u{301}", count: 32), "a" + String(repeating: "\u{301}", count: 63),
        String(repeating: "\u{1F1EC}\u{1F1E7}", count: 32), String(repeating: "x", count: 61) + " yz",
    ])
    func suffixKeepsNameWithinBounds(name: String) throws {
        let store = try StoreFixture().open()
        try store.executeBlocking(.registerUser(username: name))
        let history = [imported("1", by: name)]
        _ = try importAll(history, into: store, batchSize: 1)
        let given = try #require(try users(store).first ?? nil)
        #expect(given.hasSuffix("~2") && Username(given)?.text == given)
        try expectNoChange(history, store)
    }

    /// A native user takes the name between the importer's `add` and its commit.
    @Test func nameTakenBeforeCommitGetsSuffix() throws {
        let store = try StoreFixture().open()
        let history = [imported("1", by: "Amy"), imported("2", by: "bob", to: "1"), imported("3", by: "Amy")]
        var importer = MessageImporter(into: store, batchSize: 10)
        for (index, message) in history.enumerated() { #expect(try importer.add(message, line: index + 1).isEmpty) }
        try store.executeBlocking(.registerUser(username: "amy"))
        #expect(try importer.finish().isEmpty)
        #expect(try users(store) == ["Amy~2", "Amy~2"])
        #expect(importer.summary.messages == 2 && importer.summary.replies == 1)
        try expectNoChange(history, store)
    }

    @Test func userIDTakenBeforeCommitIsRejected() throws {
        let store = try StoreFixture().open()
        var importer = MessageImporter(into: store, batchSize: 10)
        let history = [imported("1", by: "Amy"), imported("2", by: "bob", to: "1"), imported("3", by: "bob")]
        for (index, message) in history.enumerated() { #expect(try importer.add(message, line: index + 1).isEmpty) }
        let mallory = ImportedID.user("amy")
        try store.executeBlocking(.registerUser(id: mallory, username: "Amy"))
        let refused = try importer.finish()
        #expect(refused.map(\.line) == [1, 2])
        #expect(refused.map(\.rejection.code) == [.identifierTaken, .unknownMessage])
        #expect(try store.reader(as: .host).access(of: mallory).isEmpty && users(store) == ["bob"])
        let head = store.head
        #expect(try importAll(history, into: store, batchSize: 10).0.rejected == 2 && store.head == head)
    }

    @Test func threadIDTakenBeforeCommitIsRejected() throws {
        let store = try StoreFixture().open()
        try store.executeBlocking(.registerUser(id: Self.stranger, username: "Mallory"))
        var importer = MessageImporter(into: store, batchSize: 10)
        let history = [imported("1", by: "Amy"), imported("2", by: "Amy", in: "#other")]
        for (index, message) in history.enumerated() { #expect(try importer.add(message, line: index + 1).isEmpty) }
        let den = ThreadID.imported("#rust")
        try store.executeBlocking(.openThread(id: den, name: "Den", by: Self.stranger))
        let refused = try importer.finish()
        #expect(refused.map(\.line) == [1] && refused.map(\.rejection.code) == [.identifierTaken])
        #expect(
            try store.reader(as: .host).timeline(den).isEmpty && store.reader(as: .host).members(of: den).count == 1)
        #expect(try users(store, in: "#other") == ["Amy"])
        let head = store.head
        #expect(try importAll(history, into: store, batchSize: 10).0.rejected == 1 && store.head == head)
    }

    @Test func replyToRetractedMessageRegistersNoUser() throws {
        let store = try StoreFixture().open()
        _ = try importAll([imported("1", by: "Amy")], into: store, batchSize: 1)
        try store.executeBlocking(.retract(.message(ImportedID.message("#rust", "1")), by: ImportedID.user("amy")))
        let head = store.head
        let (_, refused) = try importAll([imported("2", by: "bob", to: "1")], into: store, batchSize: 1)
        #expect(refused.map(\.rejection.code) == [.retracted] && store.head == head)
    }
}
