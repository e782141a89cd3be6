import ChatDomain
import ChatTesting
import EventJournal
import TestSupport
import Testing

@testable import Chat

/// The users whom the messages of another chat mention.
@Suite struct ImportedMentionTests {
    private let rust = ThreadID.imported("#rust")

    private func line(
        _ id: String, by user: ImportedUser, _ mentions: [ImportedUser], body: String = "x", to replyTo: String? = nil,
        editedAt: Int64? = nil
    ) -> ImportedMessage {
        let time = Timestamp(millisecondsSince1970: 1_100_000_000_000)
        return ImportedMessage(
            sentAt: time, channel: "#rust", user: user, id: id, replyTo: replyTo, body: body,
            editedAt: editedAt.map { Timestamp(millisecondsSince1970: $0) }, mentions: mentions)
    }

    /// Returns the names of the users whom the posts of the channel mention, by the text.
    private func names(_ store: ChatStore) throws -> [[String]] {
        try store.allEvents().filter { $0.body != nil }.map { event in
            try event.mentions.map { try #require(try store.reader(as: .host).user($0).username) }
        }
    }

    @Test(arguments: [1, 10]) func mentionedUsersBecomeMembers(batchSize: Int) throws {
        let store = try StoreFixture().open()
        let lines = [
            line("1", by: "Ann", ["Bob", .account(id: "7", name: "Cem"), "bob", "Ann"]),
            line("2", by: "Bob", ["Dee"], to: "1", editedAt: 1_100_000_000_001), line("3", by: "Dee", []),
        ]
        let (summary, rejected) = try importAll(lines, into: store, batchSize: batchSize)
        #expect(rejected.isEmpty && summary.users == 4 && summary.adaptations.isEmpty)
        // The post, the reply, its edit, and a message without mentions.
        #expect(try names(store) == [["Bob", "Cem", "Ann"], ["Dee"], ["Dee"], []])
        #expect(try store.reader(as: .host).members(of: rust).map(\.user.username) == ["Ann", "Bob", "Cem", "Dee"])
        #expect(try store.reader(as: .host).timeline(rust).map(\.mentions.count) == [3, 0])
        try expectNoChange(lines, store)
    }

    @Test func usersWhoCannotBeMentionedAreLeftOut() throws {
        let store = try StoreFixture().open()
        let crowd = (1...60).map { ImportedUser.nickname("Neighbour \($0)") }
        let long = ImportedUser.nickname(String(repeating: "x", count: 5_000))
        let (first, rejected) = try importAll(
            [line("1", by: "Ann", ["Bob", long]), line("2", by: "Bob", crowd + crowd)], into: store, batchSize: 1)
        #expect(rejected.isEmpty && first.adaptations == [.mentionIgnored: .init(count: 2, line: 1, example: "1")])
        #expect(try names(store).map(\.count) == [1, 50] && first.users == 52)
        // Bob leaves, and Cem is banned: a mention brings neither of them back.
        let bob = try #require(try store.reader(as: .host).members(of: rust).first { $0.user.username == "Bob" }).user
            .id
        try store.executeBlocking(.leaveThread(thread: rust, by: bob))
        let operatorID = UserID(bits: 77)
        try store.executeBlocking(.registerUser(id: operatorID, username: "Operator"))
        try store.executeBlocking(.grantOperator(user: operatorID))
        let other = ImportedMessage(sentAt: nil, channel: "#go", user: "Cem", id: "1", body: "x")
        _ = try importAll([other], into: store, batchSize: 1)
        let cem = try #require(try store.userID(named: "Cem"))
        try store.executeBlocking(.setThreadPolicy(thread: rust, policy: .open, by: operatorID))
        try store.executeBlocking(.joinThread(thread: rust, by: cem))
        try store.executeBlocking(.ban(user: cem, thread: rust, reason: "spam", by: operatorID))
        let (second, alsoRejected) = try importAll(
            [line("3", by: "Ann", ["Cem", "Neighbour 1", "Bob"])], into: store, batchSize: 10)
        #expect(alsoRejected.isEmpty && second.adaptations == [.mentionIgnored: .init(count: 1, line: 1, example: "3")])
        #expect(try names(store).last == ["Neighbour 1"])
        #expect(try store.reader(as: .host).members(of: rust).allSatisfy { ![bob, cem].contains($0.user.id) })
    }

    /// A later file has the message edited, with other mentions, which replace those of the post.
    @Test func importedEditReplacesMentions() throws {
        let store = try StoreFixture().open()
        _ = try importAll([line("1", by: "Ann", ["Bob"])], into: store, batchSize: 10)
        let (summary, rejected) = try importAll(
            [line("1", by: "Ann", ["Cem"], body: "y", editedAt: 1_100_000_000_001)], into: store, batchSize: 10)
        #expect(rejected.isEmpty && summary.edits == 1)
        #expect(try names(store) == [["Bob"], ["Cem"]])
        #expect(try store.reader(as: .host).timeline(rust).map(\.mentions.count) == [1])
    }

    /// Of a body that is split, the first post, which has the id, mentions the users.
    @Test func firstPartMentions() throws {
        let store = try StoreFixture().open()
        let long = String(repeating: "x", count: 40_000)
        _ = try importAll([line("1", by: "Ann", ["Bob"], body: long)], into: store, batchSize: 10)
        #expect(try store.reader(as: .host).timeline(rust).map(\.mentions.count) == [1, 0, 0])
    }

    /// A mention brings nobody back who joins and leaves before the batch is committed.
    @Test func leavingBeforeCommitLeavesMentionsOut() throws {
        let store = try StoreFixture().open()
        _ = try importAll([line("1", by: "Ann", [])], into: store, batchSize: 1)
        // Dan is a user already, and was never a member.
        _ = try importAll(
            [ImportedMessage(sentAt: nil, channel: "#go", user: "Dan", id: "1", body: "x")], into: store, batchSize: 1)
        var importer = MessageImporter(into: store)
        #expect(try importer.add(.message(line("2", by: "Ann", ["Dan"])), line: 1).isEmpty)
        let dan = ImportedID.user("dan")
        for command: ChatCommand in [.joinThread(thread: rust, by: dan), .leaveThread(thread: rust, by: dan)] {
            _ = try store.executeBlocking([CommandRequest(command, origin: .imported(sentAt: nil))])[0].get()
        }
        #expect(try importer.finish().isEmpty && importer.summary.messages == 1)
        #expect(try store.reader(as: .host).members(of: rust).map(\.user.username) == ["Ann"])
        #expect(try store.reader(as: .host).timeline(rust).map(\.mentions) == [[], []])
    }

    // MARK: Found in the text

    private func find(_ lines: [ImportedLine], into store: ChatStore, batchSize: Int = 10) throws -> ImportSummary {
        var importer = MessageImporter(into: store, findMentions: true, batchSize: batchSize)
        var rejected: [RejectedLine] = []
        for (index, line) in lines.enumerated() { rejected += try importer.add(line, line: index + 1) }
        rejected += try importer.finish()
        #expect(rejected.isEmpty)
        return importer.summary
    }

    @Test(arguments: [1, 10]) func namesInTextsAreFoundIfAsked(batchSize: Int) throws {
        let long =
            "@Bob " + String(repeating: "x", count: 16_000) + " " + String(repeating: "x", count: 1_000) + " @Cem"
        let lines: [ImportedLine] = [
            .message(line("1", by: "Ann", [], body: "@Bob @Ann")),
            .message(line("2", by: "Bob", ["Dee"], body: "@ANN, `@Ann`, @Cem", to: "1", editedAt: 1_100_000_000_001)),
            .join(ImportedJoin(joinedAt: nil, channel: "#rust", user: "Cem")),
            .message(line("3", by: "Ann", ["Cem"], body: "@bob @dee @Cem")),
            .message(line("4", by: "Ann", [], body: long)),
        ]
        let store = try StoreFixture().open()
        #expect(try find(lines, into: store, batchSize: batchSize).users == 4)
        // Bob's first line follows the first text.
        let found = [[], ["Dee", "Ann"], ["Dee", "Ann"], ["Cem", "Bob", "Dee"], ["Bob"], ["Cem"]]
        #expect(try names(store) == found)
        let head = store.head
        #expect(try find(lines, into: store, batchSize: batchSize).duplicates == 5 && store.head == head)

        let other = try StoreFixture().open()
        var importer = MessageImporter(into: other, batchSize: batchSize)
        for (index, line) in lines.enumerated() { #expect(try importer.add(line, line: index + 1).isEmpty) }
        #expect(try importer.finish().isEmpty)
        #expect(try names(other) == [[], ["Dee"], ["Dee"], ["Cem"], [], []])
    }

    @Test(arguments: [1, 10]) func whoIsFoundAfterFiftyMentionsIsLeftOut(batchSize: Int) throws {
        let store = try StoreFixture().open()
        let crowd = (1...60).map { "Neighbour \($0)" }
        let channel = ImportedChannel(channel: "#rust", policy: .open, members: crowd.map { .nickname($0) })
        let text = crowd.map { "@\($0)" }.joined(separator: " ")
        _ = try find(
            [.channel(channel), .message(line("1", by: "Ann", ["Neighbour 60"], body: text))], into: store,
            batchSize: batchSize)
        #expect(try names(store) == [["Neighbour 60"] + crowd.prefix(49)])
    }

    /// The name by which a user of the source is registered counts.
    @Test func namesAreThoseOfTheStore() throws {
        let store = try StoreFixture().open()
        try store.executeBlocking(.registerUser(username: "Bob"))
        _ = try find(
            [.message(line("1", by: "Bob", [])), .message(line("2", by: "Ann", [], body: "@Bob, @Bob~2"))], into: store)
        #expect(try names(store) == [[], ["Bob~2"]])
    }

    @Test(arguments: [1, 10]) func importedEditKeepsTheMentionsWhoseFormerNamesStand(batchSize: Int) throws {
        let store = try StoreFixture().open()
        let first: [ImportedLine] = [
            .message(line("1", by: "Bob", [])), .message(line("2", by: "Cem", [])),
            .message(line("3", by: "Ann", [], body: "@Bob, mlik?", to: "1")),
        ]
        _ = try find(first, into: store)
        let (bob, cem) = (ImportedID.user("bob"), ImportedID.user("cem"))
        try store.executeBlocking(.changeUsername(username: "Robert", by: bob))
        try store.executeBlocking(.changeUsername(username: "Bob", by: cem))
        let later =
            first.dropLast() + [
                .message(line("3", by: "Ann", [], body: "@Bob, milk?", to: "1", editedAt: 1_100_000_000_001)),
                .message(line("4", by: "Ann", [], body: "@Bob")),
            ]
        #expect(try find(Array(later), into: store, batchSize: batchSize).edits == 1)
        let mentions = try store.allEvents().filter { $0.body?.contains("@") == true }.map(\.mentions)
        #expect(mentions == [[bob], [bob], [cem]])
    }

    /// Wherever an import is interrupted and whatever its batches are, a text mentions whom it would
    /// mention if it was posted in its place.
    @Test(arguments: Seeds.seeds(Repetitions.few(4, of: 40))) func foundAreThoseOfPostsInOrder(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let people = ["Ann", "Ann Lee", "Bob", "Cem", "Dee", "李明"]
        let channels = ["#rust", "#go", "SW1A"]
        func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
        func text() -> String {
            (0..<Int.random(in: 0...4, using: &random)).map { _ in "@\(pick(people))" }.joined(separator: " ") + " x"
        }
        var lines: [ImportedLine] = []
        var posted: [ImportedMessage] = []
        for index in 0..<60 {
            if Int.random(in: 0..<8, using: &random) == 0 {
                lines.append(.join(ImportedJoin(joinedAt: nil, channel: pick(channels), user: .nickname(pick(people)))))
            } else if !posted.isEmpty, Int.random(in: 0..<6, using: &random) == 0 {
                // The same message, edited.
                var message = posted.remove(at: Int.random(in: 0..<posted.count, using: &random))
                (message.body, message.editedAt) = (text(), Timestamp(millisecondsSince1970: 9))
                lines.append(.message(message))
            } else {
                let isEdited = Int.random(in: 0..<9, using: &random) == 0
                let answered = Int.random(in: 0..<3, using: &random) == 0 ? posted.last : nil
                let message = ImportedMessage(
                    sentAt: nil, channel: answered?.channel ?? pick(channels), user: .nickname(pick(people)),
                    id: "\(index)", replyTo: answered?.id, body: text(),
                    editedAt: isEdited ? Timestamp(millisecondsSince1970: 9) : nil)
                if !isEdited { posted.append(message) }
                lines.append(.message(message))
            }
        }
        func mentions(_ events: [RecordedEvent]) -> [[UserID]] { events.filter { $0.body != nil }.map(\.mentions) }
        let whole = try StoreFixture(seed: seed).open()
        _ = try find(lines, into: whole, batchSize: 1_000)
        let events = try whole.allEvents()
        #expect(mentions(events).count { !$0.isEmpty } > 5)

        let resumed = try StoreFixture(seed: seed).open()
        for end in [Int.random(in: 0...60, using: &random), Int.random(in: 0...60, using: &random), 60] {
            _ = try find(Array(lines[..<end]), into: resumed, batchSize: Int.random(in: 1...20, using: &random))
        }
        #expect(try mentions(resumed.allEvents()) == mentions(events))

        let live = try StoreFixture(seed: seed).open()
        for command in events.compactMap(Self.command(of:)) {
            _ = try live.executeBlocking([CommandRequest(command, origin: .imported(sentAt: nil))])[0].get()
        }
        #expect(try mentions(live.allEvents()) == mentions(events))
    }

    /// Returns the command that makes an event, which finds the people in a text.
    private static func command(of event: RecordedEvent) -> ChatCommand? {
        guard let user = event.user else { return nil }
        switch (event.kind, event.content, event.thread, event.message) {
        case (.userRegistered, .registration(let name, _), _, _): return .registerUser(id: user, username: name.text)
        case (.threadOpened, _, let thread?, _):
            return .openThread(
                id: thread, name: event.event.threadName ?? "SW1A",
                policy: thread.outwardCode == nil ? .inviteOnly : .open, by: user)
        case (.threadJoined, _, let thread?, _): return .joinThread(thread: thread, by: user)
        case (_, .body(let body), let thread?, let message?):
            let post = event.reply.map { PostID.reply($0) } ?? .message(message)
            switch (event.kind, event.reply) {
            case (.messagePosted, _):
                return .postMessage(id: message, thread: thread, body: body, findMentions: true, by: user)
            case (.replyPosted, let reply?):
                return .reply(id: reply, to: message, body: body, findMentions: true, by: user)
            default: return .edit(post, body: body, findMentions: true, by: user)
            }
        default: return nil
        }
    }
}
