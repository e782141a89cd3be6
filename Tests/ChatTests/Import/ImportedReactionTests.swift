import ChatDomain
import ChatTesting
import EventJournal
import TestSupport
import Testing

@testable import Chat

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The reactions of an imported message: what is taken, what is left out, and what a second import
/// does.
@Suite struct ImportedReactionTests {
    private static let time = Timestamp(millisecondsSince1970: 1_100_000_000_000)
    private let rust = ThreadID.imported("#rust")
    private let one = PostID.message(ImportedID.message("#rust", "1"))

    private func message(
        _ id: String, to replyTo: String? = nil, by user: ImportedUser = "Ann", body: String = "x",
        editedAt: Int64? = nil,
        _ reactions: [ImportedReaction] = []
    ) -> ImportedLine {
        .message(
            ImportedMessage(
                sentAt: Self.time, channel: "#rust", user: user, id: id, replyTo: replyTo, body: body,
                editedAt: editedAt.map { Timestamp(millisecondsSince1970: Self.time.millisecondsSince1970 + $0) },
                reactions: reactions))
    }

    private func run(_ lines: [ImportedLine], into store: ChatStore, batchSize: Int = 10) throws -> (
        ImportSummary, [RejectedLine]
    ) {
        var importer = MessageImporter(into: store, batchSize: batchSize)
        var rejected: [RejectedLine] = []
        for (index, line) in lines.enumerated() { rejected += try importer.add(line, line: index + 1) }
        rejected += try importer.finish()
        return (importer.summary, rejected)
    }

    private func expectUnchanged(
        _ lines: [ImportedLine], _ store: ChatStore, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let head = store.head
        for batchSize in [1, 1_000] {
            let (summary, rejected) = try run(lines, into: store, batchSize: batchSize)
            #expect(summary == ImportSummary(duplicates: lines.count), "\(rejected)", sourceLocation: sourceLocation)
            #expect(store.head == head, sourceLocation: sourceLocation)
        }
    }

    /// Returns the reactions to a post as `emoji user`, oldest first.
    private func reactions(_ post: PostID, _ store: ChatStore) throws -> [String] {
        try store.reader(as: .host).reactions(to: post, page: .latest(1_000)).map {
            "\($0.emoji) \($0.user.username ?? "?")"
        }
    }

    private func leftOut(_ count: Int, line: Int = 1, _ id: String = "1") -> [ImportAdaptation: ImportAdaptation.Lines]
    {
        [.reactionsLeftOut: .init(count: count, line: line, example: id)]
    }

    // MARK: Importing

    @Test(arguments: [1, 10]) func reactionsAreImportedOnce(batchSize: Int) throws {
        let store = try StoreFixture().open()
        let bob = ImportedUser.account(id: "7", name: "Bob", subject: "s")
        let lines = [
            message(
                "1", editedAt: 5,
                [ImportedReaction(emoji: "👍", users: ["Ann", bob, "ANN"]), ImportedReaction(emoji: "🎉", users: [bob])]),
            message("2", to: "1", by: bob, [ImportedReaction(emoji: ":wave:", users: ["Cem"])]), message("3"),
            message("4", [ImportedReaction(emoji: "👍", users: [])]),
        ]
        let (summary, rejected) = try run(lines, into: store, batchSize: batchSize)
        #expect(rejected.isEmpty)
        #expect(
            summary
                == ImportSummary(
                    messages: 3, replies: 1, users: 3, threads: 1, threadsByPolicy: [.inviteOnly: 1], edits: 1,
                    reactions: 4))
        #expect(try reactions(one, store) == ["👍 Ann", "👍 Bob", "🎉 Bob"])
        #expect(try reactions(.reply(ImportedID.reply("#rust", "2")), store) == [":wave: Cem"])
        #expect(try store.reader(as: .host).members(of: rust).map(\.user.username) == ["Ann", "Bob", "Cem"])
        #expect(store.userID(withSubject: "s") == ImportedID.account("7"))
        let events = try store.allEvents().filter { $0.event.kind == .reactionAdded }
        #expect(events.count == 4 && events.allSatisfy { $0.event.origin == .imported(sentAt: Self.time) })
        try expectUnchanged(lines, store)
        try expectUnchanged([lines[0], lines[0], lines[1]], store)
    }

    @Test func textsBecomeEmoji() throws {
        let store = try StoreFixture().open()
        let texts = [
            ("❤", "❤️"), ("❤️", "❤️"), ("👍🏽", "👍🏽"), ("wave", ":wave:"), (":Wave:", ":wave:"), ("+1", ":+1:"),
            ("PepeHands_2", ":pepehands_2:"),
            ("1", ":1:"), ("1\u{20E3}", "1\u{FE0F}\u{20E3}"),
            (String(repeating: "A", count: 32), ":\(String(repeating: "a", count: 32)):"),
        ]
        let invalid = [
            "", " ", "::", "a b", "é", ":é:", "👍👍", "🏽", "\u{212A}", ":wave", "wave:", "::wave::", "👍 ", "a\u{0}",
            String(repeating: "a", count: 33), String(repeating: "👍", count: 1 << 18),
            String(repeating: ":", count: 1 << 20),
        ]
        for (text, emoji) in texts { #expect(Emoji(imported: text)?.text == emoji, "\(text)") }
        for text in invalid { #expect(Emoji(imported: text) == nil, "\(text.prefix(40))") }
        // The same emoji in two forms counts once.
        let given = (texts.map(\.0) + invalid).map { ImportedReaction(emoji: $0, users: ["Ann"]) }
        let lines = [message("1", given), message("2", [ImportedReaction(emoji: "no emoji", users: ["Bob"])])]
        let (summary, _) = try run(lines, into: store)
        #expect(summary.reactions == 8 && summary.adaptations == leftOut(2) && summary.users == 1)
        #expect(Set(try reactions(one, store)) == Set(texts.map { "\($0.1) Ann" }))
        try expectUnchanged(lines, store)
    }

    @Test(arguments: [1, 10]) func reactionsBeyondTheLimitsAreLeftOut(batchSize: Int) throws {
        let store = try StoreFixture().open()
        let perUser = (0..<21).map { ImportedReaction(emoji: "e\($0)", users: ["Ann"]) }
        let perPost = (0..<51).map { ImportedReaction(emoji: "e\($0)", users: [.nickname("U\($0)")]) }
        let again = [ImportedReaction(emoji: "e0", users: ["Last"])]
        let lines = [message("1", perUser), message("2", perPost + again), message("3", Array(perUser.dropLast()))]
        let (summary, _) = try run(lines, into: store, batchSize: batchSize)
        #expect(summary.reactions == 20 + 51 + 20 && summary.adaptations == leftOut(2))
        #expect(try reactions(one, store) == (0..<20).map { ":e\($0): Ann" })
        try expectUnchanged(lines, store)
    }

    @Test func invalidUsersAreLeftOut() throws {
        let store = try StoreFixture().open()
        try store.executeBlocking(.registerUser(id: ImportedID.user("mallory"), username: "Mallory"))
        let users: [ImportedUser] = [
            "mallory", .nickname(String(repeating: "a", count: 4_097)), .account(id: "7", name: "Bob", subject: ""),
            "Cem",
        ]
        let later = message("2", by: .account(id: "7", name: "Bob"))
        let lines = [message("1", [ImportedReaction(emoji: "👍", users: users)]), later]
        let (summary, rejected) = try run(lines, into: store)
        #expect(
            rejected.isEmpty && summary.messages == 2 && summary.reactions == 1 && summary.adaptations == leftOut(1))
        #expect(try reactions(one, store) == ["👍 Cem"])
        try expectUnchanged(lines, store)
    }

    // MARK: Existing posts

    /// A history that was imported without reactions receives them, once.
    @Test(arguments: [1, 10]) func existingPostReceivesReactions(batchSize: Int) throws {
        let store = try StoreFixture().open()
        let first = [message("1"), message("2", to: "1"), message("3")]
        _ = try run(first, into: store)
        let later = [
            message(
                "1",
                [
                    ImportedReaction(emoji: "👍", users: ["Bob", "Ann"]),
                    ImportedReaction(emoji: "no emoji", users: ["Ann"]),
                ]),
            message("2", to: "1", [ImportedReaction(emoji: "🎉", users: ["Bob"])]), message("3"),
            message("1", [ImportedReaction(emoji: "🎉", users: ["Dan"])]),
        ]
        let (summary, rejected) = try run(later, into: store, batchSize: batchSize)
        #expect(rejected.isEmpty)
        #expect(summary == ImportSummary(duplicates: 2, users: 1, reactions: 3, adaptations: leftOut(1)))
        #expect(try reactions(one, store) == ["👍 Bob", "👍 Ann"])
        #expect(try store.reader(as: .host).members(of: rust).map(\.user.username) == ["Ann", "Bob"])
        try expectUnchanged(later, store)
        // An edit and reactions of one line.
        let edited = message("3", body: "y", editedAt: 5, [ImportedReaction(emoji: "🎉", users: ["Bob"])])
        #expect(try run([edited], into: store, batchSize: batchSize).0 == ImportSummary(edits: 1, reactions: 1))
        try expectUnchanged([edited], store)
    }

    @Test func reactionTakenBackDoesNotComeBack() throws {
        let store = try StoreFixture().open()
        let lines = [
            message("1", [ImportedReaction(emoji: "👍", users: ["Bob"])]),
            message("2", [ImportedReaction(emoji: "👍", users: ["Bob"])]),
        ]
        _ = try run(lines, into: store)
        try store.executeBlocking(.unreact(one, emoji: "👍", by: ImportedID.user("bob")))
        try expectUnchanged(lines, store)
        #expect(try reactions(one, store).isEmpty)
        // An erased one neither.
        _ = try store.eraseUser(ImportedID.user("bob"), reason: "asked")
        try expectUnchanged(lines, store)
    }

    @Test func nativeReactionsAreKept() throws {
        let store = try StoreFixture().open()
        let lines = [message("1", [ImportedReaction(emoji: "👍", users: ["Bob"])])]
        _ = try run([message("1")], into: store)
        // Between the importer's `add` and its commit.
        var importer = MessageImporter(into: store)
        #expect(try importer.add(lines[0], line: 1).isEmpty)
        try store.executeBlocking(.react(one, emoji: "🎉", by: ImportedID.user("ann")))
        #expect(try importer.finish().isEmpty)
        #expect(importer.summary == ImportSummary(duplicates: 1))
        try expectUnchanged(lines, store)
        #expect(try reactions(one, store) == ["🎉 Ann"] && store.userID(named: "bob") == nil)
    }

    @Test func withdrawnPostReceivesNone() throws {
        let store = try StoreFixture().open()
        let lines = [message("1", [ImportedReaction(emoji: "👍", users: ["Bob"])])]
        _ = try run([message("1")], into: store)
        var importer = MessageImporter(into: store)
        #expect(try importer.add(lines[0], line: 1).isEmpty)
        try store.executeBlocking(.retract(one, by: ImportedID.user("ann")))
        #expect(try importer.finish().isEmpty && importer.summary == ImportSummary(duplicates: 1))
        try expectUnchanged(lines, store)
    }

    @Test func concurrentImportsReactOnce() throws {
        let store = try StoreFixture().open()
        _ = try run([message("0")], into: store)
        let lines = [
            message("0", [ImportedReaction(emoji: "👍", users: ["Bob"])]),
            message("1", [ImportedReaction(emoji: "👍", users: ["Bob"])]),
        ]
        func staged() throws -> MessageImporter {
            var importer = MessageImporter(into: store)
            for (index, line) in lines.enumerated() { #expect(try importer.add(line, line: index + 1).isEmpty) }
            return importer
        }
        var first = try staged()
        var second = try staged()
        #expect(try first.finish().isEmpty && first.summary.reactions == 2)
        let head = store.head
        #expect(try second.finish().isEmpty && second.summary == ImportSummary(duplicates: 2))
        #expect(store.head == head)
    }

    // MARK: Members

    /// An import brings nobody back, except the author of a new post.
    @Test(arguments: [1, 10]) func formerMembersAreLeftOut(batchSize: Int) throws {
        let store = try StoreFixture().open()
        _ = try run([message("1"), message("2", by: "Bob")], into: store)
        try store.executeBlocking(.leaveThread(thread: rust, by: ImportedID.user("bob")))
        let thumbs = [ImportedReaction(emoji: "👍", users: ["Bob"])]
        try expectUnchanged([message("1", thumbs)], store)
        let (summary, _) = try run(
            [message("3", thumbs + [ImportedReaction(emoji: "🎉", users: ["Ann"])])], into: store, batchSize: batchSize)
        #expect(summary == ImportSummary(messages: 1, reactions: 1, adaptations: leftOut(1, "3")))
        #expect(try store.reader(as: .host).members(of: rust).map(\.user.username) == ["Ann"])
        let (own, _) = try run([message("4", by: "Bob", thumbs)], into: store, batchSize: batchSize)
        #expect(own == ImportSummary(messages: 1, reactions: 1))
    }

    @Test func leavingBeforeCommitLeavesReactionsOut() throws {
        let store = try StoreFixture().open()
        _ = try run([message("1"), message("2", by: "Bob")], into: store)
        let bob = ImportedID.user("bob")
        var importer = MessageImporter(into: store)
        #expect(try importer.add(message("3", [ImportedReaction(emoji: "👍", users: ["Bob", "Cem"])]), line: 1).isEmpty)
        try store.executeBlocking(.leaveThread(thread: rust, by: bob))
        #expect(try importer.finish().isEmpty)
        #expect(importer.summary == ImportSummary(messages: 1, users: 1, reactions: 1, adaptations: leftOut(1, "3")))
        // Dan joins and leaves meanwhile.
        #expect(try importer.add(message("4", [ImportedReaction(emoji: "👍", users: ["Dan"])]), line: 2).isEmpty)
        for command: ChatCommand in [
            .registerUser(id: ImportedID.user("dan"), username: "Dan"),
            .joinThread(thread: rust, by: ImportedID.user("dan")),
            .leaveThread(thread: rust, by: ImportedID.user("dan")),
        ] { _ = try store.executeBlocking([CommandRequest(command, origin: .imported(sentAt: nil))])[0].get() }
        #expect(try importer.finish().isEmpty && importer.summary.messages == 2 && importer.summary.reactions == 1)
        #expect(try store.reader(as: .host).members(of: rust).map(\.user.username) == ["Ann", "Cem"])
    }

    @Test(arguments: [1, 10]) func rejectedReactionsDoNotRejectTheLine(batchSize: Int) throws {
        let store = try StoreFixture().open()
        _ = try run([message("0"), message("1"), message("2", by: "Bob"), message("3", by: "Cem")], into: store)
        let host = UserID(bits: 1)
        let (bob, cem) = (ImportedID.user("bob"), ImportedID.user("cem"))
        for command: ChatCommand in [
            .registerUser(id: host, username: "Host"), .grantOperator(user: host),
            .mute(user: bob, thread: rust, reason: "loud", by: host),
            .ban(user: cem, thread: rust, reason: "rude", by: host),
        ] { try store.executeBlocking(command) }
        // Dan is banned before the first join.
        _ = try run([.message(imported("5", by: "Dan", in: "#c"))], into: store)
        try store.executeBlocking(.invite(user: ImportedID.user("dan"), thread: rust, by: host))
        try store.executeBlocking(.ban(user: ImportedID.user("dan"), thread: rust, reason: "rude", by: host))
        let thumbs = [ImportedReaction(emoji: "👍", users: ["Bob", "Cem", "Dan", "Ann"])]
        let (summary, rejected) = try run([message("6", thumbs), message("7")], into: store, batchSize: batchSize)
        #expect(rejected.isEmpty && summary == ImportSummary(messages: 2, reactions: 1, adaptations: leftOut(1, "6")))
        // Nothing of a line whose post exists is taken.
        let only = message("1", [ImportedReaction(emoji: "👍", users: ["Bob"])])
        let head = store.head
        #expect(
            try run([only], into: store, batchSize: batchSize).0
                == ImportSummary(duplicates: 1, adaptations: leftOut(1)))
        try store.executeBlocking(.lockThread(thread: rust, by: host))
        let locked = message("0", [ImportedReaction(emoji: "👍", users: ["Ann"])])
        #expect(
            try run([locked], into: store, batchSize: batchSize).0
                == ImportSummary(duplicates: 1, adaptations: leftOut(1, "0")))
        #expect(store.head.position == head.position + 1)
        // The rejection of a post is that of the post.
        #expect(try run([message("8", thumbs)], into: store).1.map(\.rejection.code) == [.threadLocked])
    }

    // MARK: Lines

    private func decode(_ reactions: String) throws -> ImportedLine {
        let text = #"{"t":null,"channel":"c","user":"Ann","id":"1","body":"x","reactions":"# + reactions + "}"
        return try JSONDecoder().decode(ImportedLine.self, from: Data(text.utf8))
    }

    @Test func validReactionsDecode() throws {
        func expected(_ reactions: [ImportedReaction]) -> ImportedLine {
            .message(ImportedMessage(sentAt: nil, channel: "c", user: "Ann", id: "1", body: "x", reactions: reactions))
        }
        #expect(try decode("null") == expected([]) && decode("[]") == expected([]))
        #expect(try decode(#"[{"emoji":"","users":[]}]"#) == expected([ImportedReaction(emoji: "", users: [])]))
        #expect(
            try decode(#"[{"users":["Ann",{"id":"7","name":"Bob"}],"emoji":"👍"},{"emoji":"x","users":["Ann"]}]"#)
                == expected([
                    ImportedReaction(emoji: "👍", users: ["Ann", .account(id: "7", name: "Bob")]),
                    ImportedReaction(emoji: "x", users: ["Ann"]),
                ]))
    }

    @Test(arguments: [
        "{}", "7", #""👍""#, "[null]", "[7]", #"["👍"]"#, "[{}]", #"[{"emoji":"👍"}]"#, #"[{"users":[]}]"#,
        #"[{"emoji":null,"users":[]}]"#,
        #"[{"emoji":7,"users":[]}]"#, #"[{"emoji":"👍","users":null}]"#, #"[{"emoji":"👍","users":"Ann"}]"#,
        #"[{"emoji":"👍","users":[7]}]"#,
        #"[{"emoji":"👍","users":[null]}]"#, #"[{"emoji":"👍","users":[{"id":"7"}]}]"#,
        #"[{"emoji":"👍","users":["Ann"],"count":1}]"#,
    ])
    func invalidReactionsAreRejected(text: String) { #expect(throws: DecodingError.self) { try decode(text) } }

    @Test func moreThanTheMaximumIsRejected() throws {
        func text(_ count: Int, _ users: Int) -> String {
            let users = (0..<users).map { "\"u\($0)\"" }.joined(separator: ",")
            return "[" + (0..<count).map { #"{"emoji":"e\#($0)","users":[\#(users)]}"# }.joined(separator: ",") + "]"
        }
        #expect(ImportedMessage.maximumReactionCount == 10_000)
        let store = try StoreFixture().open()
        let (summary, rejected) = try run([try decode(text(50, 200))], into: store)
        #expect(rejected.isEmpty && summary.reactions == 4_000 && summary.users == 201)
        for (count, users) in [(1, 10_001), (73, 137), (10_001, 1)] {
            do {
                _ = try decode(text(count, users))
                Issue.record("\(count) times \(users) users")
            } catch DecodingError.dataCorrupted(let context) {
                #expect(context.debugDescription == "the field 'reactions' has at most 10000 users")
            }
        }
        // A host can add a line that no text has.
        let users = (0..<10_001).map { ImportedUser.nickname("v\($0)") }
        let many = ImportedMessage(
            sentAt: nil, channel: "c", user: "Ann", id: "2", body: "x",
            reactions: [ImportedReaction(emoji: "x", users: users)])
        let line = ImportBatch.ParsedLine(.message(many), number: 1)
        #expect(line.reactions.taken.count == 10_000 && line.reactions.areIncomplete)
    }

    /// Lines with the most users, the longest names and subjects stay below the limits of a commit.
    @Test func largestLinesFitCommits() throws {
        let store = try StoreFixture().open()
        let name = String(repeating: "\u{1F986}", count: 58)
        let subject = String(repeating: "s", count: 250)
        let lines = (0..<Repetitions.few(1, of: 3)).map { (number: Int) -> ImportedLine in
            let users = (0..<ImportedMessage.maximumReactionCount).map { index -> ImportedUser in
                let user = number * ImportedMessage.maximumReactionCount + index
                return .account(id: "\(user)", name: name + "\(user)", subject: subject + "\(user)")
            }
            return message("\(number)", [ImportedReaction(emoji: "👍", users: users)])
        }
        let (summary, rejected) = try run(lines, into: store, batchSize: 1_000)
        #expect(rejected.isEmpty && summary.reactions == lines.count * 10_000 && summary.adaptations.isEmpty)
    }

    // MARK: Random chats

    private static func history(_ random: inout SeededRandom) -> [ImportedLine] {
        let emoji = ["👍", "❤", "❤️", "🎉", "wave", ":Wave:", "e1", "e2", "e3", "no emoji"]
        func user() -> ImportedUser {
            let number = Int.random(in: 0...8, using: &random)
            return number < 5 ? .nickname("User\(number)") : .account(id: "\(number)", name: "User\(number - 4)")
        }
        return (0..<Int.random(in: 1...20, using: &random)).map { index in
            .message(
                ImportedMessage(
                    sentAt: Timestamp(millisecondsSince1970: Int64(index)),
                    channel: ["#rust", "SW1A"].randomElement(using: &random) ?? "#rust",
                    user: user(), id: "\(index)",
                    replyTo: index > 0 && Bool.random(using: &random) ? "\(index - 1)" : nil, body: "x",
                    reactions: (0..<Int.random(in: 0...4, using: &random)).map { _ in
                        ImportedReaction(
                            emoji: emoji.randomElement(using: &random) ?? "👍",
                            users: (0..<Int.random(in: 0...4, using: &random)).map { _ in user() })
                    }))
        }
    }

    /// A second import of a random chat appends nothing, and the counts are those of the source.
    @Test(arguments: Seeds.seeds(Repetitions.few(20, of: 200))) func countsAreThoseOfTheSource(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let store = try StoreFixture(seed: seed).open()
        let history = Self.history(&random)
        let batchSize = Int.random(in: 1...30, using: &random)
        // Some posts are imported without their reactions first.
        let bare = history.prefix(Int.random(in: 0...history.count, using: &random)).map { line -> ImportedLine in
            guard case .message(var message) = line, Bool.random(using: &random) else { return line }
            message.reactions = []
            return .message(message)
        }
        let before = try run(bare, into: store, batchSize: batchSize)
        let (summary, rejected) = try run(history, into: store, batchSize: batchSize)
        var total = 0
        let rejectedLines = Set(rejected.map(\.line))
        for (index, line) in history.enumerated() where !rejectedLines.contains(index + 1) {
            guard case .message(let message) = line else { continue }
            var expected: [String: Set<UserID>] = [:]
            for reaction in message.reactions {
                guard let emoji = Emoji(imported: reaction.emoji) else { continue }
                for user in reaction.users {
                    expected[emoji.text, default: []].formUnion([ImportBatch.Person(user).user].compactMap(\.self))
                }
            }
            let id = ImportedID.message(message.channel, message.id)
            let post: PostID =
                (try? store.reader(as: .host).message(id)) == nil
                ? .reply(ImportedID.reply(message.channel, message.id)) : .message(id)
            let found = Dictionary(
                grouping: try store.reader(as: .host).reactions(to: post, page: .latest(1_000)), by: \.emoji)
            #expect(found.mapValues { Set($0.map(\.user.id)) } == expected, "seed \(seed), line \(index + 1)")
            total += expected.values.reduce(0) { $0 + $1.count }
        }
        #expect(before.0.reactions + summary.reactions == total, "seed \(seed)")
        let head = store.head
        let (again, _) = try run(history, into: store, batchSize: batchSize)
        #expect(
            store.head == head
                && again == ImportSummary(duplicates: history.count - again.rejected, rejected: again.rejected),
            "seed \(seed)")
        try store.close()
    }
}
