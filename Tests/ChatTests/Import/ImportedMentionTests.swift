import ChatDomain
import EventJournal
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
}
