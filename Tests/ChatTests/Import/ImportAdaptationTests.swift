import ChatDomain
import EventJournal
import Testing

@testable import Chat

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Bodies over the limit, edits before their messages, unknown fields, and imports that write
/// nothing.
@Suite struct ImportAdaptationTests {
    private static let time = Timestamp(millisecondsSince1970: 1_100_000_000_000)
    private let rust = ThreadID.imported("#rust")

    private func message(
        _ id: String, _ body: String, to replyTo: String? = nil, in channel: String = "#rust", editedAt: Int64? = nil
    ) -> ImportedLine {
        .message(
            ImportedMessage(
                sentAt: Self.time, channel: channel, user: .nickname("Ann"), id: id, replyTo: replyTo, body: body,
                editedAt: editedAt.map { Timestamp(millisecondsSince1970: $0) }))
    }

    private func run(_ lines: [ImportedLine], into store: ChatStore, batchSize: Int = 10) throws -> (
        ImportSummary, [RejectedLine]
    ) {
        var importer = MessageImporter(into: store, findMentions: true, batchSize: batchSize)
        var rejected: [RejectedLine] = []
        for (index, line) in lines.enumerated() { rejected += try importer.add(line, line: index + 1) }
        rejected += try importer.finish()
        return (importer.summary, rejected)
    }

    // MARK: Bodies

    @Test func partsAreTheBody() {
        let limit = MessageBody.maximumByteCount
        let words = String(repeating: "word ", count: 10_000)
        for (body, count) in [
            ("x", 1), (words, 4), (String(repeating: "x", count: limit + 1), 2),
            (String(repeating: "\u{1F986}", count: limit), 4),
            (String(repeating: "\u{E9}", count: limit) + "x", 3), (String(repeating: "e\u{301}", count: limit), 4),
            (String(repeating: "line\nline two\r\n", count: 4_000), 4),
        ] {
            let parts = MessageBody.parts(ofImported: body)
            #expect(parts.joined().utf8.elementsEqual(body.utf8) && parts.allSatisfy { MessageBody.isValid($0) })
            #expect(parts.count == count)
        }
        #expect(MessageBody.parts(ofImported: words).dropLast().allSatisfy { $0.hasSuffix("word ") })
        let lines = String(repeating: "word word\n", count: 5_000)
        #expect(MessageBody.parts(ofImported: lines).allSatisfy { $0.hasSuffix("word word\n") })
        let gap = "x" + String(repeating: " ", count: 3 * limit) + "y"
        #expect(MessageBody.parts(ofImported: gap).count == 2)
        #expect(MessageBody.parts(ofImported: String(repeating: " ", count: 3 * limit)).isEmpty)
        #expect(MessageBody.parts(ofImported: "").isEmpty)
        let longest = ImportedMessage.maximumBodyByteCount
        #expect(MessageBody.parts(ofImported: String(repeating: "x", count: longest)).count == 64)
        #expect(MessageBody.parts(ofImported: String(repeating: "x", count: longest + 1)).isEmpty)
    }

    @Test(arguments: [1, 10]) func longBodyIsSplitOnce(batchSize: Int) throws {
        let store = try StoreFixture().open()
        let long = String(repeating: "x", count: 40_000)
        // Ids that could meet those of parts.
        let others = [message("1\u{0}2", "other"), message("1~2", "other"), message("2", "other", in: "#rust1")]
        let lines = [message("1", long), message("2", "reply", to: "1"), message("3", long, to: "2")] + others
        let (summary, rejected) = try run(lines, into: store, batchSize: batchSize)
        #expect(rejected.isEmpty && summary.messages == 6 && summary.replies == 4)
        #expect(summary.adaptations == [.bodySplit: .init(count: 2, line: 1, example: "1")])
        let timeline = try store.reader(as: .host).timeline(rust)
        #expect(timeline.map { $0.body?.utf8.count } == [16_384, 16_384, 7_232, 5, 5])
        #expect(
            timeline.map(\.message).prefix(1) == [ImportedID.message("#rust", "1")]
                && timeline.map(\.replyCount) == [4, 0, 0, 0, 0])
        #expect(
            try store.reader(as: .host).replies(to: timeline[0].message).map { $0.body?.utf8.count } == [
                5, 16_384, 16_384, 7_232,
            ])
        #expect(timeline.allSatisfy { $0.createdAt == Self.time })
        let head = store.head
        #expect(try run(lines, into: store, batchSize: batchSize).0 == ImportSummary(duplicates: lines.count))
        #expect(store.head == head)
    }

    @Test(arguments: [1, 10]) func editReplacesFirstPart(batchSize: Int) throws {
        let store = try StoreFixture().open()
        let (old, new) = (String(repeating: "x", count: 20_000), String(repeating: "y", count: 40_000))
        let edit = message("1", new, editedAt: 2_000_000_000_000)
        let (summary, _) = try run([message("1", old), edit, edit], into: store, batchSize: batchSize)
        // The second part stays; the third one did not exist.
        #expect(summary.messages == 3 && summary.edits == 1 && summary.duplicates == 1)
        #expect(try store.reader(as: .host).timeline(rust).map { $0.body?.first } == ["y", "x", "y"])
        #expect(try run([message("2", old, editedAt: 2_000_000_000_000)], into: store).0.edits == 1)
        let head = store.head
        #expect(try run([message("1", old), edit], into: store).0 == ImportSummary(duplicates: 2))
        try store.executeBlocking(.retract(.message(ImportedID.message("#rust", "1")), by: ImportedID.user("ann")))
        #expect(try run([message("1", old), edit], into: store).0 == ImportSummary(duplicates: 2))
        #expect(store.head.position == head.position + 1)
    }

    @Test func nativePostWithIDOfPartIsNotTakenForIt() throws {
        let store = try StoreFixture().open()
        let long = String(repeating: "x", count: 20_000)
        _ = try run([message("0", "x")], into: store)
        var importer = MessageImporter(into: store)
        #expect(try importer.add(message("1", long), line: 7).isEmpty)
        try store.executeBlocking(
            .postMessage(
                id: ImportedID.part(2, "#rust", "1").message, thread: rust, body: "mine", by: ImportedID.user("ann")))
        #expect(try importer.finish().map(\.rejection.code) == [.identifierTaken])
        #expect(try run([message("1", long)], into: store).1.map(\.rejection.code) == [.identifierTaken])
        #expect(try store.reader(as: .host).timeline(rust).map(\.body) == ["x", "mine"])
    }

    // MARK: Edits, names, fields

    @Test func editBeforeItsMessageIsIgnored() throws {
        let store = try StoreFixture().open()
        let (before, after) = (Self.time.millisecondsSince1970 - 1, Self.time.millisecondsSince1970)
        let (summary, _) = try run(
            [message("1", "x", editedAt: before), message("2", "x", editedAt: after)], into: store)
        #expect(summary.messages == 2 && summary.edits == 1)
        #expect(summary.adaptations == [.editIgnored: .init(count: 1, line: 1, example: "1")])
        #expect(try run([message("1", "y", editedAt: before)], into: store).0 == ImportSummary(duplicates: 1))
    }

    @Test func renamedChannelIsCounted() throws {
        let store = try StoreFixture().open()
        let join = ImportedLine.join(ImportedJoin(joinedAt: nil, channel: "b\u{200B}c", user: .nickname("Ann")))
        let lines = [
            message("1", "x", in: "a\u{200B}b"), message("2", "x", in: "a\u{200B}b"), join, message("1", "x", in: "c"),
        ]
        let (summary, _) = try run(lines, into: store)
        #expect(summary.adaptations == [.channelRenamed: .init(count: 2, line: 1, example: "a\u{200B}b")])
        #expect(try run(lines, into: store).0 == ImportSummary(duplicates: 4))
    }

    @Test func unknownFieldsAreCountedIfAsked() throws {
        let decoder = JSONDecoder()
        let fields = IgnoredFields()
        decoder.userInfo[IgnoredFields.key] = fields
        func decode(_ text: String) throws -> ImportedLine {
            try decoder.decode(ImportedLine.self, from: Data(text.utf8))
        }
        let line = try decode(
            #"{"t":null,"channel":"c","user":{"id":"7","name":"A","age":3},"id":"1","body":"x","b":1,"a":[{}]}"#)
        #expect(
            line
                == .message(
                    ImportedMessage(sentAt: nil, channel: "c", user: .account(id: "7", name: "A"), id: "1", body: "x")))
        let names = fields.take()
        #expect(names == ["a", "b", "age"] && fields.take().isEmpty)
        _ = try decode(#"{"channel":"c","policy":"open","members":["A",{"id":"7","name":"A","x":1}],"y":2}"#)
        #expect(fields.take() == ["y", "x"])
        _ = try decode(#"{"t":null,"channel":"c","user":"A","join":true,"z":1}"#)
        #expect(fields.take() == ["z"])
        #expect(throws: DecodingError.self) { try decode(#"{"t":null,"channel":"c","user":7,"id":"1","body":"x"}"#) }
        let store = try StoreFixture().open()
        var importer = MessageImporter(into: store)
        #expect(try importer.add(line, line: 3, ignoredFields: names).isEmpty && importer.finish().isEmpty)
        #expect(importer.summary.adaptations == [.fieldsIgnored: .init(count: 1, line: 3, example: "a")])
    }

    // MARK: Imports that write nothing

    /// The summary and the rejected lines are those of the import, for a new log and an existing
    /// one.
    @Test(arguments: [1, 3, 1_000]) func dryRunReportsTheImport(batchSize: Int) throws {
        let fixture = StoreFixture()
        let first = [message("1", "x"), message("2", "x", to: "1")]
        let later = [
            message("1", "x"), message("3", "x", to: "2"), message("4", "x", to: "none"),
            message("2", "y @Ann", to: "1", editedAt: 2_000_000_000_000),
            message("5", " "), message("6", String(repeating: "x", count: 20_000), in: "SW1A"),
            message("3", "x", to: "2"),
            .message(
                ImportedMessage(sentAt: nil, channel: "#rust", user: .account(id: "7", name: "Ann"), id: "7", body: "x")
            ),
        ]
        let new = try ChatStore.openForDryRun(log: nil)
        let expected = try run(first + later, into: new, batchSize: batchSize)
        #expect(try run(first + later, into: new, batchSize: batchSize).0.duplicates == 8)
        try new.close()

        let store = try fixture.open()
        _ = try run(first, into: store, batchSize: batchSize)
        let head = store.head
        try store.close()
        let trial = try ChatStore.openForDryRun(
            log: try Journal.openReadOnly(fixture.directory, options: fixture.options.journal), options: fixture.options
        )
        let tried = try run(later, into: trial, batchSize: batchSize)
        #expect(trial.head.position > head.position)
        try trial.close()
        let reopened = try fixture.open()
        #expect(reopened.head == head)
        let real = try run(later, into: reopened, batchSize: batchSize)
        #expect(tried.0 == real.0 && tried.1 == real.1 && !real.1.isEmpty)
        let whole = try StoreFixture().open()
        let both = try run(first + later, into: whole, batchSize: batchSize)
        #expect(expected.0 == both.0 && expected.1 == both.1)
    }
}
