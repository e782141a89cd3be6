import ChatDomain
import Testing

@testable import Chat

/// Attacks by users who derive the ids of an import and act before, during and after it.
@Suite struct ImportAttackTests {
    private static let mallory = UserID(bits: 1)
    private static let time = Timestamp(millisecondsSince1970: 1_100_000_000_000)
    private let rust = ThreadID.imported("#rust")
    private let ann = ImportedID.user("ann")

    private func message(
        _ id: String, by user: ImportedUser = .nickname("Ann"), in channel: String = "#rust", to replyTo: String? = nil,
        body: String = "x", editedAt: Int64? = nil
    ) -> ImportedLine {
        .message(
            ImportedMessage(
                sentAt: Self.time, channel: channel, user: user, id: id, replyTo: replyTo, body: body,
                editedAt: editedAt.map { Timestamp(millisecondsSince1970: Self.time.millisecondsSince1970 + $0) }))
    }

    private func run(_ lines: [ImportedLine], into store: ChatStore, batchSize: Int = 10) throws -> (
        ImportSummary, [RejectedLine]
    ) {
        var importer = MessageImporter(into: store, batchSize: batchSize)
        var refused: [RejectedLine] = []
        for (index, line) in lines.enumerated() { refused += try importer.add(line, line: index + 1) }
        refused += try importer.finish()
        return (importer.summary, refused)
    }

    private func expectUnchanged(
        _ lines: [ImportedLine], _ store: ChatStore, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let head = store.head
        for batchSize in [1, 1_000] {
            let (summary, refused) = try run(lines, into: store, batchSize: batchSize)
            #expect(summary == ImportSummary(duplicates: lines.count), "\(refused)", sourceLocation: sourceLocation)
            #expect(store.head == head, sourceLocation: sourceLocation)
        }
    }

    private func staged(_ lines: [ImportedLine], into store: ChatStore) throws -> MessageImporter {
        var importer = MessageImporter(into: store, batchSize: 1_000)
        for (index, line) in lines.enumerated() { #expect(try importer.add(line, line: index + 1).isEmpty) }
        return importer
    }

    /// Makes Mallory a member of an imported private thread, as an import could.
    private func enter(_ store: ChatStore) throws {
        _ = try store.executeBlocking([
            CommandRequest(.joinThread(thread: rust, by: Self.mallory), origin: .imported(sentAt: nil))
        ])
    }

    // MARK: After the import

    @Test func nativeMessageWithImportedReplyIDKeepsReply() throws {
        let store = try StoreFixture().open()
        let lines = [message("1"), message("2", by: .nickname("Bob"), to: "1")]
        _ = try run(lines, into: store)
        try store.executeBlocking(.registerUser(id: Self.mallory, username: "Mallory"))
        try enter(store)
        try store.executeBlocking(
            .postMessage(id: ImportedID.message("#rust", "2"), thread: rust, body: "mine", by: Self.mallory))
        try expectUnchanged(lines, store)
        // The longer file still replies to the imported reply, not to Mallory's message.
        let longer = lines + [message("3", to: "2")]
        let (summary, refused) = try run(longer, into: store)
        #expect(refused.isEmpty && summary.replies == 1 && summary.duplicates == 2)
        #expect(
            try store.reader(as: .host).replies(to: ImportedID.message("#rust", "1")).map(\.author.username) == [
                "Bob", "Ann",
            ])
        #expect(try store.reader(as: .host).replies(to: ImportedID.message("#rust", "2")).isEmpty)
        try expectUnchanged(longer, store)
    }

    @Test func nativeReplyWithImportedMessageIDKeepsMessage() throws {
        let store = try StoreFixture().open()
        let lines = [message("1"), message("2", by: .nickname("Bob"), to: "1")]
        _ = try run(lines, into: store)
        try store.executeBlocking(.registerUser(id: Self.mallory, username: "Mallory"))
        try enter(store)
        try store.executeBlocking(
            .reply(
                id: ImportedID.reply("#rust", "1"), to: ImportedID.message("#rust", "1"), body: "mine", by: Self.mallory
            ))
        try expectUnchanged(lines, store)
    }

    /// A native user has the nickname's id, and an earlier importer attributed posts to this user.
    @Test func importDoesNotEditNativeUserWithNicknameID() throws {
        let store = try StoreFixture().open()
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        for command in [
            .openThread(id: rust, name: "#rust", policy: .inviteOnly, by: ann),
            .postMessage(id: ImportedID.message("#rust", "1"), thread: rust, body: "hers", by: ann),
        ] as [ChatCommand] {
            _ = try store.executeBlocking([CommandRequest(command, origin: .imported(sentAt: nil))])[0].get()
        }
        try expectUnchanged([message("1", body: "theirs", editedAt: 5)], store)
        #expect(try store.reader(as: .host).timeline(rust).map(\.body) == ["hers"])
    }

    // MARK: Between reading and committing a line

    /// The reply would otherwise reply to Mallory's message in Mallory's thread.
    @Test(arguments: ["SW1A", "SW1V"]) func replyToMessageIDTakenBeforeCommitIsRejected(channel: String) throws {
        let store = try StoreFixture().open()
        try store.executeBlocking(.registerUser(id: Self.mallory, username: "Mallory"))
        try store.executeBlocking(.setPostcode(postcode: "SW1V 1AA", by: Self.mallory))
        // Bob and Ann become members of Mallory's thread.
        _ = try run([message("0", in: "SW1V"), message("00", by: .nickname("Bob"), in: "SW1V")], into: store)
        let lines = [message("1", in: channel), message("2", by: .nickname("Bob"), in: channel, to: "1")]
        var importer = try staged(lines, into: store)
        try store.executeBlocking(
            .postMessage(
                id: ImportedID.message(channel, "1"), thread: ThreadID.imported("SW1V"), body: "mine", by: Self.mallory)
        )
        let refused = try importer.finish()
        #expect(try store.reader(as: .host).replies(to: ImportedID.message(channel, "1")).isEmpty)
        #expect(refused.map(\.line) == [1, 2] && refused.allSatisfy { $0.rejection.code == .identifierTaken })
    }

    @Test func concurrentImportsEditOnce() throws {
        let store = try StoreFixture().open()
        _ = try run([message("0")], into: store)
        let lines = [message("1", editedAt: 5), message("2", to: "1", editedAt: 6)]
        var first = try staged(lines, into: store)
        var second = try staged(lines, into: store)
        #expect(try first.finish().isEmpty)
        let head = store.head
        #expect(try second.finish().isEmpty)
        #expect(store.head == head)
        #expect(second.summary == ImportSummary(duplicates: 2))
    }

    @Test func nativeEditBeforeImportCommitStays() throws {
        let store = try StoreFixture().open()
        _ = try run([message("0")], into: store)
        let lines = [message("1", editedAt: 5)]
        var second = try staged(lines, into: store)
        _ = try run(lines, into: store)
        try store.executeBlocking(.edit(.message(ImportedID.message("#rust", "1")), body: "hers", by: ann))
        #expect(try second.finish().isEmpty)
        #expect(try store.reader(as: .host).timeline(rust).map(\.body) == ["x", "hers"])
    }

    @Test func leavingBeforeCommitKeepsPosts() throws {
        let store = try StoreFixture().open()
        _ = try run([message("0")], into: store)
        var importer = MessageImporter(into: store, batchSize: 2)
        #expect(try importer.add(message("1"), line: 1).isEmpty)
        #expect(try importer.add(message("2"), line: 2).isEmpty)
        try store.executeBlocking(.leaveThread(thread: rust, by: ann))
        #expect(try importer.add(message("3"), line: 3).isEmpty)
        #expect(try importer.finish().isEmpty)
        #expect(importer.summary.messages == 3)
    }

    @Test func leavingBeforeJoinCommitStays() throws {
        let store = try StoreFixture().open()
        _ = try run([message("0"), message("1", by: .nickname("Bob"), in: "#c")], into: store)
        let lines = [ImportedLine.join(ImportedJoin(joinedAt: nil, channel: "#rust", user: .nickname("Bob")))]
        var second = try staged(lines, into: store)
        _ = try run(lines, into: store)
        try store.executeBlocking(.leaveThread(thread: rust, by: ImportedID.user("bob")))
        #expect(try second.finish().isEmpty)
        #expect(try store.reader(as: .host).members(of: rust).map(\.user.username) == ["Ann"])
        #expect(second.summary == ImportSummary(duplicates: 1))
    }

    @Test func replyToMessageRetractedBeforeCommitRegistersNoUser() throws {
        let store = try StoreFixture().open()
        let lines = [message("0"), message("1", by: .nickname("Bob"), to: "0")]
        _ = try run([lines[0]], into: store)
        var importer = try staged([lines[1]], into: store)
        try store.executeBlocking(.retract(.message(ImportedID.message("#rust", "0")), by: ann))
        #expect(try importer.finish().map(\.rejection.code) == [.retracted])
        #expect(try store.userID(named: "bob") == nil)
    }

    @Test func concurrentImportsCountJoinOnce() throws {
        let store = try StoreFixture().open()
        _ = try run([message("0"), message("1", by: .nickname("Bob"), in: "#c")], into: store)
        let lines = [ImportedLine.join(ImportedJoin(joinedAt: nil, channel: "#rust", user: .nickname("Bob")))]
        var first = try staged(lines, into: store)
        var second = try staged(lines, into: store)
        #expect(try first.finish().isEmpty && second.finish().isEmpty)
        #expect(first.summary.joins == 1 && second.summary == ImportSummary(duplicates: 1))
    }

    @Test func derivedIDTakenAsAnotherKindIsRejectedConsistently() throws {
        let store = try StoreFixture().open()
        try store.executeBlocking(.registerUser(id: Self.mallory, username: "Mallory"))
        _ = try run([message("1")], into: store)
        try enter(store)
        let lines = [message("1"), message("2", by: .nickname("Bob"), to: "1")]
        var importer = try staged(lines, into: store)
        try store.executeBlocking(
            .postMessage(id: ImportedID.message("#rust", "2"), thread: rust, body: "mine", by: Self.mallory))
        let refused = try importer.finish()
        let (_, later) = try run(lines, into: store)
        #expect(refused.map(\.rejection.code) == later.map(\.rejection.code))
    }

    // MARK: Concurrent imports and commands

    @concurrent private func imported(_ lines: [ImportedLine], batchSize: Int, into store: ChatStore) async throws
        -> [RejectedLine]
    {
        try run(lines, into: store, batchSize: batchSize).1
    }

    /// Renames imported users, takes their names and removes their memberships.
    @concurrent private func actMeanwhile(on store: ChatStore, names: [String]) async throws {
        for index in 0..<60 {
            let user = [ann, ImportedID.account("1"), Self.mallory][index % 3]
            let commands: [ChatCommand] = [
                .registerUser(id: Self.mallory, username: "Bob"), .changeUsername(username: "N\(index)", by: user),
                .leaveThread(thread: rust, by: user), .changeUsername(username: names[index % 4], by: Self.mallory),
            ]
            for command in commands { _ = try await store.execute([CommandRequest(command)]) }
            try enter(store)
        }
    }

    @Test func concurrentImportsAndCommandsKeepEachPostOnce() async throws {
        let store = try StoreFixture().open()
        let names = ["Ann", "Bob", "Cem", "Dan"]
        let channels = ["#rust", "SW1A", "#c"]
        let lines = (0..<400).map { (index: Int) -> ImportedLine in
            let account = ImportedUser.account(id: "\(index % 5)", name: names[index % 4])
            let user = index % 3 == 0 ? ImportedUser.nickname(names[index / 7 % 4]) : account
            let replyTo: String? = index % 10 == 9 ? "\(index - 1)" : nil
            return message(
                "\(index)", by: user, in: channels[index / 5 % 3], to: replyTo, editedAt: index % 4 == 0 ? 5 : nil)
        }
        async let first = imported(lines, batchSize: 7, into: store)
        async let second = imported(lines, batchSize: 13, into: store)
        async let others: Void = actMeanwhile(on: store, names: names)
        let refused = try await first + second
        try await others
        #expect(refused.isEmpty)
        var authors: [String: UserID] = [:]
        var edits: [String: Int] = [:]
        for recorded in try store.allEvents() {
            switch (recorded.event.kind, recorded.event.shape) {
            case (.messagePosted, .message(_, _, let itsMessage, let itsAuthor)):
                #expect(authors.updateValue(itsAuthor, forKey: "\(itsMessage)") == nil)
            case (.replyPosted, .reply(_, _, _, let itsReply, let itsAuthor)):
                #expect(authors.updateValue(itsAuthor, forKey: "\(itsReply)") == nil)
            case (.messageEdited, .message(_, _, let itsMessage, _)): edits["\(itsMessage)", default: 0] += 1
            case (.replyEdited, .reply(_, _, _, let itsReply, _)): edits["\(itsReply)", default: 0] += 1
            default: break
            }
        }
        #expect(edits.values.allSatisfy { $0 == 1 })
        var found = 0
        for line in lines {
            guard case .message(let post) = line else { continue }
            let id =
                post.replyTo == nil
                ? "\(ImportedID.message(post.channel, post.id))" : "\(ImportedID.reply(post.channel, post.id))"
            guard let author = authors[id] else { continue }
            found += 1
            #expect(author == ImportBatch.Person(post.user).user)
        }
        #expect(found == lines.count && found == authors.count)
        try expectUnchanged(lines, store)
    }
}
