import ChatDomain
import EventJournal
import Testing

@testable import Chat

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Accounts, joins and edits of an import.
@Suite struct ImportFormTests {
    private static let native = UserID(bits: 1)
    private static let time = Timestamp(millisecondsSince1970: 1_100_000_000_000)

    /// `editedAt` is in milliseconds after the message.
    private func message(
        _ id: String, by user: ImportedUser, in channel: String = "#rust", to replyTo: String? = nil,
        body: String = "x",
        editedAt: Int64? = nil
    ) -> ImportedLine {
        .message(
            ImportedMessage(
                sentAt: Self.time, channel: channel, user: user, id: id, replyTo: replyTo, body: body,
                editedAt: editedAt.map { Timestamp(millisecondsSince1970: Self.time.millisecondsSince1970 + $0) }))
    }

    private func join(_ user: ImportedUser, _ channel: String = "#rust") -> ImportedLine {
        .join(ImportedJoin(joinedAt: Self.time, channel: channel, user: user))
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

    private let rust = ThreadID.imported("#rust")

    // MARK: Accounts

    @Test(arguments: [1, 10]) func accountIsIdentifiedByIDAlone(batchSize: Int) throws {
        let store = try StoreFixture().open()
        let lines = [
            message("1", by: .account(id: "7", name: "Amy")), message("2", by: .account(id: "7", name: "Amelia")),
            message("3", by: .account(id: "8", name: "Amy")),
            message("4", by: .account(id: "7", name: "a\u{7}b"), in: "SW1A"),
        ]
        let (summary, refused) = try run(lines, into: store, batchSize: batchSize)
        #expect(refused.isEmpty && summary.users == 2)
        #expect(try store.reader(as: .host).timeline(rust).map(\.author.username) == ["Amy", "Amy", "Amy~2"])
        #expect(
            summary.renamed == [RenamedUser(user: ImportedID.account("8"), name: "Amy", username: "Amy~2")],
            "the summary names who is renamed")
        try expectUnchanged(lines, store)
    }

    @Test func accountAndNicknameAreDistinctUsers() throws {
        let store = try StoreFixture().open()
        #expect("\(ImportedID.account("ann"))" == "a4db74ca-be8a-8343-a462-d272a2def696")
        let lines = [message("1", by: .nickname("ann")), message("2", by: .account(id: "ann", name: "ann"))]
        #expect(try run(lines, into: store).1.isEmpty)
        #expect(
            try store.reader(as: .host).timeline(rust).map(\.author.id) == [
                ImportedID.user("ann"), ImportedID.account("ann"),
            ])
        try expectUnchanged(lines, store)
    }

    @Test func accountIDsAreComparedByBytes() throws {
        let store = try StoreFixture().open()
        let lines = ["Ann", "ann", "\u{e9}", "e\u{301}", "", " "].enumerated().map {
            message("\($0)", by: .account(id: $1, name: "A\($0)"))
        }
        #expect(try run(lines, into: store).0.users == 6)
        try expectUnchanged(lines, store)
    }

    @Test func messageIDOfAnotherAccountIsRejected() throws {
        let store = try StoreFixture().open()
        _ = try run([message("1", by: .account(id: "7", name: "Amy"))], into: store)
        let (_, refused) = try run([message("1", by: .account(id: "8", name: "Amy"))], into: store)
        #expect(refused.map(\.rejection.code) == [.identifierTaken])
    }

    /// The source may add or drop account ids between two exports.
    @Test func nicknameHistoryIsDuplicateOfAccountHistory() throws {
        let store = try StoreFixture().open()
        let nicknames = [message("1", by: .nickname("Amy")), message("2", by: .nickname("amy"), to: "1")]
        let accounts = [
            message("1", by: .account(id: "7", name: "Amy")), message("2", by: .account(id: "7", name: "Amy"), to: "1"),
        ]
        _ = try run(nicknames, into: store)
        try expectUnchanged(accounts, store)
        let other = try StoreFixture().open()
        _ = try run(accounts, into: other)
        try expectUnchanged(nicknames, other)
    }

    @Test func nativeUserKeepsSubject() throws {
        let store = try StoreFixture().open()
        try store.executeBlocking(.registerUser(id: Self.native, username: "Native", subject: "s"))
        let lines = [
            message("1", by: .account(id: "7", name: "Amy", subject: "s")),
            message("2", by: .account(id: "8", name: "Bob", subject: "t")),
            message("3", by: .account(id: "9", name: "Cem", subject: "t")),
        ]
        let (summary, refused) = try run(lines, into: store)
        #expect(refused.isEmpty)
        #expect(
            store.userID(withSubject: "s") == Self.native && store.userID(withSubject: "t") == ImportedID.account("8"))
        #expect(
            summary.withoutSubject == [
                UserWithoutSubject(user: ImportedID.account("7"), username: "Amy", subject: "s"),
                UserWithoutSubject(user: ImportedID.account("9"), username: "Cem", subject: "t"),
            ])
        try expectUnchanged(lines, store)
    }

    @Test func subjectTakenBeforeCommitIsOmitted() throws {
        let store = try StoreFixture().open()
        let lines = [message("1", by: .account(id: "7", name: "Amy", subject: "s"))]
        var importer = MessageImporter(into: store)
        #expect(try importer.add(lines[0], line: 1).isEmpty)
        try store.executeBlocking(.registerUser(id: Self.native, username: "Native", subject: "s"))
        #expect(try importer.finish().isEmpty)
        #expect(importer.summary.withoutSubject.count == 1 && importer.summary.messages == 1)
        try expectUnchanged(lines, store)
    }

    @Test(arguments: ["", String(repeating: "s", count: 257)]) func invalidSubjectIsRejected(subject: String) throws {
        let store = try StoreFixture().open()
        let (_, refused) = try run([message("1", by: .account(id: "7", name: "Amy", subject: subject))], into: store)
        #expect(refused.map(\.rejection.code) == [.subjectTaken] && store.head.position == 0)
    }

    // MARK: Joins

    @Test(arguments: [1, 10]) func joinAddsMemberOnce(batchSize: Int) throws {
        let store = try StoreFixture().open()
        let lines = [
            join(.nickname("Ann")), join(.account(id: "7", name: "Bob")), message("1", by: .nickname("ann")),
            join(.nickname("Cem"), "SW1A"),
        ]
        let (summary, refused) = try run(lines, into: store, batchSize: batchSize)
        #expect(refused.isEmpty)
        #expect(
            summary
                == ImportSummary(
                    messages: 1, users: 3, threads: 2, threadsByPolicy: [.inviteOnly: 1, .residents: 1], joins: 3))
        #expect(try store.reader(as: .host).members(of: rust).map(\.user.username) == ["Ann", "Bob"])
        #expect(try store.reader(as: .host).members(of: ThreadID.imported("SW1A")).map(\.user.username) == ["Cem"])
        #expect(try store.allEvents().allSatisfy { $0.event.origin == .imported(sentAt: Self.time) })
        try expectUnchanged(lines, store)
        let (twice, _) = try run([join(.nickname("Dan")), join(.nickname("DAN"))], into: store, batchSize: batchSize)
        #expect(twice == ImportSummary(duplicates: 1, users: 1, joins: 1))
    }

    @Test func joinDoesNotReaddUserWhoLeft() throws {
        let store = try StoreFixture().open()
        let lines = [join(.nickname("Ann"))]
        _ = try run(lines, into: store)
        try store.executeBlocking(.leaveThread(thread: rust, by: ImportedID.user("ann")))
        try expectUnchanged(lines, store)
        #expect(try store.reader(as: .host).members(of: rust).isEmpty)
    }

    @Test func joinIsRejectedLikeMessage() throws {
        let store = try StoreFixture().open()
        try store.executeBlocking(.registerUser(id: ImportedID.user("mallory"), username: "Mallory"))
        try store.executeBlocking(
            .openThread(id: ThreadID.imported("#den"), name: "Den", by: ImportedID.user("mallory")))
        let lines = [
            join(.nickname("mallory")), join(.nickname("Ann"), "#den"),
            join(.nickname(String(repeating: "a", count: 4_097))),
            join(.nickname("Ann"), String(repeating: "c", count: 4_097)),
        ]
        let head = store.head
        #expect(
            try run(lines, into: store).1.map(\.rejection.code) == [
                .identifierTaken, .identifierTaken, .invalidUsername, .invalidThreadName,
            ])
        #expect(store.head == head)
    }

    // MARK: Edits

    @Test(arguments: [1, 10]) func editedMessageHasEditTime(batchSize: Int) throws {
        let store = try StoreFixture().open()
        let lines = [
            message("1", by: .nickname("Ann"), editedAt: 5), message("2", by: .nickname("Bob"), to: "1", editedAt: 7),
            message("3", by: .nickname("Bob")),
        ]
        let (summary, _) = try run(lines, into: store, batchSize: batchSize)
        #expect(
            summary
                == ImportSummary(
                    messages: 2, replies: 1, users: 2, threads: 1, threadsByPolicy: [.inviteOnly: 1], edits: 2))
        let timeline = try store.reader(as: .host).timeline(rust)
        #expect(
            timeline.map(\.editedAt?.millisecondsSince1970) == [1_100_000_000_005, nil]
                && timeline.map(\.body) == ["x", "x"])
        #expect(timeline.map(\.createdAt) == [Self.time, Self.time])
        #expect(
            try store.reader(as: .host).replies(to: timeline[0].message).map(\.editedAt?.millisecondsSince1970) == [
                1_100_000_000_007
            ])
        try expectUnchanged(lines, store)
    }

    @Test(arguments: [1, 10]) func laterFileEditsOnce(batchSize: Int) throws {
        let store = try StoreFixture().open()
        let later = [
            message("1", by: .nickname("Ann"), body: "y", editedAt: 5),
            message("2", by: .nickname("Ann"), to: "1", body: "z", editedAt: 6),
        ]
        let first = [message("1", by: .nickname("Ann")), message("2", by: .nickname("Ann"), to: "1")]
        let (summary, _) = try run(first + later + later, into: store, batchSize: batchSize)
        #expect(
            summary
                == ImportSummary(
                    messages: 1, replies: 1, duplicates: 2, users: 1, threads: 1, threadsByPolicy: [.inviteOnly: 1],
                    edits: 2))
        #expect(
            try store.reader(as: .host).timeline(rust).map(\.body) == ["y"]
                && store.reader(as: .host).replies(to: store.reader(as: .host).timeline(rust)[0].message).map(\.body)
                    == ["z"]
        )
        try expectUnchanged(first + later, store)
    }

    @Test func importDoesNotOverwriteNativeChanges() throws {
        let store = try StoreFixture().open()
        let ids = (1...4).map { "\($0)" }
        _ = try run(ids.map { message($0, by: .nickname("Ann")) } + [message("5", by: .nickname("Left"))], into: store)
        let ann = ImportedID.user("ann")
        try store.executeBlocking(.edit(.message(ImportedID.message("#rust", "1")), body: "hers", by: ann))
        try store.executeBlocking(.retract(.message(ImportedID.message("#rust", "2")), by: ann))
        try store.executeBlocking(.leaveThread(thread: rust, by: ImportedID.user("left")))
        let lines =
            [1, 2].map { message("\($0)", by: .nickname("Ann"), body: "theirs", editedAt: 4_000_000_000_000) }
            + [message("5", by: .nickname("left"), body: "theirs", editedAt: 5)]
        try expectUnchanged(lines, store)
        // The user edits between the importer's `add` and its commit.
        var importer = MessageImporter(into: store)
        let third = message("3", by: .nickname("Ann"), body: "theirs", editedAt: 5)
        #expect(try importer.add(third, line: 1).isEmpty)
        try store.executeBlocking(.edit(.message(ImportedID.message("#rust", "3")), body: "hers", by: ann))
        #expect(try importer.finish().isEmpty)
        #expect(try store.reader(as: .host).timeline(rust).map(\.body) == ["hers", nil, "hers", "x", "x"])
        try expectUnchanged(lines + [third], store)
    }

    @Test func importDoesNotEditNativeUsersPosts() throws {
        let store = try StoreFixture().open()
        try store.executeBlocking(.registerUser(id: Self.native, username: "Ann"))
        for command in [
            .openThread(id: rust, name: "#rust", policy: .inviteOnly, by: Self.native),
            .postMessage(id: ImportedID.message("#rust", "1"), thread: rust, body: "hers", by: Self.native),
        ] as [ChatCommand] {
            _ = try store.executeBlocking([CommandRequest(command, origin: .imported(sentAt: nil))])[0].get()
        }
        try expectUnchanged([message("1", by: .nickname("Ann"), body: "theirs", editedAt: 5)], store)
    }

    @Test func longestEditedMessagesFitCommits() throws {
        let store = try StoreFixture().open()
        let body = String(repeating: "x", count: MessageBody.maximumByteCount)
        let name = String(repeating: "\u{1F986}", count: 28)
        let lines = (0..<1_000).map {
            message(
                "\($0)", by: .account(id: "\($0)", name: name + "\($0)", subject: "\($0)" + body.prefix(250)),
                body: body, editedAt: 5)
        }
        let (summary, refused) = try run(lines, into: store, batchSize: 1_000)
        #expect(refused.isEmpty && summary.messages == 1_000 && summary.edits == 1_000)
    }

    @Test func failedCommitFailsAgain() throws {
        let store = try StoreFixture().open()
        var importer = MessageImporter(into: store)
        #expect(try importer.add(message("1", by: .nickname("Ann")), line: 1).isEmpty)
        try store.close()
        for _ in 0..<2 {
            var failure: ChatError?
            do throws(ChatError) { _ = try importer.finish() } catch { failure = error }
            #expect(failure != nil, "the failed commit was forgotten")
        }
    }

    // MARK: Names that break a rule

    @Test func namesAreCleanedAndShortened() throws {
        let store = try StoreFixture().open()
        let lines = [
            message("1", by: .nickname("Ann\u{FE0F}")), message("2", by: .nickname("Ann")),
            message("3", by: .nickname("\u{3164}")),
            message("4", by: .nickname("\u{2800}")), message("5", by: .account(id: "7", name: "An\u{34F}n")),
            message("1", by: .nickname("Ann"), in: "\u{2764}\u{FE0F}"),
            message("1", by: .nickname("Ann"), in: "\u{3164}"),
            message("1", by: .nickname("Ann"), in: "SW1A\u{FE0F}"),
            message("6", by: .nickname("Bob\u{200B}\t Lee\u{202E}")), message("7", by: .nickname("")),
            message("8", by: .nickname(String(repeating: "x", count: 65))), message("9", by: .nickname("👩‍🚀")),
            message("2", by: .nickname("Ann"), in: "two\u{A0} \u{AD}words"),
            message("2", by: .nickname("Ann"), in: String(repeating: "y", count: 121)),
            message("2", by: .nickname("Ann"), in: ""),
        ]
        let (summary, refused) = try run(lines, into: store)
        #expect(refused.isEmpty && summary.messages == 15)
        #expect(
            try store.reader(as: .host).timeline(rust).map(\.author.username) == [
                "Ann\u{FE0F}", "Ann~2", "imported", "imported~2", "An\u{34F}n~3", "Bob Lee", "imported~3",
                String(repeating: "x", count: 64), "👩‍🚀",
            ])
        #expect(
            try store.reader(as: .host).timeline(rust).first?.author.id == ImportedID.user("ann\u{FE0F}"),
            "an earlier version's id")
        #expect(
            summary.renamed.map(\.name) == [
                "Ann", "\u{3164}", "\u{2800}", "An\u{34F}n", "Bob\u{200B}\t Lee\u{202E}", "",
                String(repeating: "x", count: 65),
            ])
        #expect(
            try store.reader(as: .host).threads().compactMap(\.name).sorted() == [
                "#rust", "SW1A\u{FE0F}~2", "imported", "imported", "two words", String(repeating: "y", count: 120),
                "\u{2764}\u{FE0F}",
            ])
        try expectUnchanged(lines, store)
    }

    // MARK: Decoding of lines

    private func decode(_ text: String) throws -> ImportedLine {
        try JSONDecoder().decode(ImportedLine.self, from: Data(text.utf8))
    }

    @Test func validLinesDecode() throws {
        let form = #"{"t":null,"channel":"c","user":USER,"id":"1","replyTo":null,"body":"x"REST}"#
        func read(_ user: String, _ rest: String = "") throws -> ImportedLine {
            try decode(form.replacing("USER", with: user).replacing("REST", with: rest))
        }
        func expected(_ user: ImportedUser, _ editedAt: Int64? = nil) -> ImportedLine {
            .message(
                ImportedMessage(
                    sentAt: nil, channel: "c", user: user, id: "1", body: "x",
                    editedAt: editedAt.map { Timestamp(millisecondsSince1970: $0) }))
        }
        #expect(try read(#""Ann""#) == expected(.nickname("Ann")))
        #expect(try read(#"{"id":"7","name":"Ann"}"#) == expected(.account(id: "7", name: "Ann")))
        #expect(try read(#"{"id":"7","name":"Ann","subject":null}"#) == expected(.account(id: "7", name: "Ann")))
        #expect(
            try read(#"{"id":"7","name":"Ann","subject":"s"}"#)
                == expected(.account(id: "7", name: "Ann", subject: "s")))
        #expect(try read(#""Ann""#, #","editedAt":null"#) == expected(.nickname("Ann")))
        #expect(try decode(#"{"t":null,"channel":"c","user":"Ann","id":"1","body":"x"}"#) == expected(.nickname("Ann")))
        #expect(try read(#""Ann""#, #","editedAt":"1970-01-01T00:00:05Z""#) == expected(.nickname("Ann"), 5_000))
        #expect(
            try decode(#"{"t":null,"channel":"c","user":"Ann","join":true}"#)
                == .join(ImportedJoin(joinedAt: nil, channel: "c", user: .nickname("Ann"))))
    }

    @Test(arguments: [
        #"{"t":null,"channel":"c","user":7,"join":true}"#, #"{"t":null,"channel":"c","user":null,"join":true}"#,
        #"{"t":null,"channel":"c","user":["a"],"join":true}"#,
        #"{"t":null,"channel":"c","user":{"id":"7"},"join":true}"#,
        #"{"t":null,"channel":"c","user":{"name":"A"},"join":true}"#,
        #"{"t":null,"channel":"c","user":{"id":7,"name":"A"},"join":true}"#,
        #"{"t":null,"channel":"c","user":{"id":"7","name":"A","age":3},"join":true}"#,
        #"{"t":null,"channel":"c","user":"A","join":false}"#,
        #"{"t":null,"channel":"c","user":"A","join":1}"#, #"{"channel":"c","user":"A","join":true}"#,
        #"{"t":null,"channel":"c","user":"A","join":true,"id":"1"}"#, #"{"t":null,"channel":"c","user":"A"}"#,
        #"{"t":null,"channel":"c","user":"A","id":"1","replyTo":null,"body":"x","editedAt":"soon"}"#, "7", "[]",
        #"{"t":"+12026-11-21T05:03:12.123Z","channel":"c","user":"A","join":true}"#,
        #"{"t":"+12026-11-21T05:03:12.123Z","channel":"c","user":"A","id":"1","replyTo":null,"body":"x"}"#,
        #"{"t":null,"channel":"c","user":"A","id":"1","replyTo":null,"body":"x","editedAt":"+12026-11-21T05:03:12.123Z"}"#,
    ])
    func invalidLinesAreRejected(_ text: String) { #expect(throws: DecodingError.self) { try decode(text) } }

    @Test func summaryOmitsEmptyOptionalFields() throws {
        let empty = try String(decoding: JSONEncoder().encode(ImportSummary()), as: UTF8.self)
        #expect(
            !empty.contains("adapted") && !empty.contains("joins") && !empty.contains("renamed")
                && !empty.contains("policies")
                && !empty.contains("earlierOpen"))
        let full = ImportSummary(
            threadsByPolicy: [.open: 3, .residents: 1], earlierOpenThreads: 2, joins: 1, edits: 2,
            adaptations: [.bodySplit: .init(count: 2, line: 1, example: "7")],
            renamed: [RenamedUser(user: Self.native, name: "a", username: "b")],
            withoutSubject: [UserWithoutSubject(user: Self.native, username: "b", subject: "s")])
        for summary in [full, ImportSummary()] {
            #expect(try JSONDecoder().decode(ImportSummary.self, from: JSONEncoder().encode(summary)) == summary)
        }
    }
}
