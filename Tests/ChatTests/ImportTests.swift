import ChatDomain
import ChatTesting
import Projections
import Testing

@testable import Chat

@Suite struct ImportTests {
    private func message(_ id: String, by user: String, in channel: String = "#rust", to replyTo: String? = nil) -> ImportedMessage {
        ImportedMessage(
            t: Timestamp(millisecondsSince1970: 1_100_000_000_000), channel: channel, user: user, id: id, replyTo: replyTo,
            body: "body of \(id)")
    }

    private func run(_ messages: [ImportedMessage], into store: ChatStore, batchSize: Int) throws -> (ImportSummary, [RefusedMessage]) {
        var importer = MessageImporter(into: store, batchSize: batchSize)
        var refused: [RefusedMessage] = []
        for (index, message) in messages.enumerated() { refused += try importer.add(message, line: index + 1) }
        refused += try importer.finish()
        return (importer.summary, refused)
    }

    @Test(arguments: [1, 2, 3, 1_000]) func aHistoryIsTakenInOnce(batchSize: Int) throws {
        let history = [
            message("1", by: "Ann"), message("2", by: "bob", to: "1"), message("3", by: "ANN", to: "2"), message("4", by: "bob"),
            message("5", by: "bob", in: "SW1A"), message("1", by: "bob", in: "SW1A"), message("6", by: "x", to: "unknown"),
            message("1", by: "Ann"), message("7", by: "a\u{7}b"), message("8", by: "Ann", in: "\u{1b}"),
        ]
        let store = try StoreFixture().open()
        let (summary, refused) = try run(history, into: store, batchSize: batchSize)
        #expect(summary == ImportSummary(messages: 4, replies: 2, duplicates: 1, refused: 3, users: 2, threads: 2))
        #expect(refused.map(\.line) == [7, 9, 10])
        #expect(refused.map(\.rejection.code) == [.unknownMessage, .invalidUsername, .invalidThreadName])
        let thread = try #require(store.threads(named: "#rust").first)
        let timeline = try store.timeline(thread)
        #expect(timeline.map(\.body) == ["body of 1", "body of 4"])
        #expect(timeline.map(\.author.username) == ["Ann", "bob"])
        #expect(timeline.map(\.createdAt.millisecondsSince1970) == [1_100_000_000_000, 1_100_000_000_000])
        #expect(try store.replies(to: timeline[0].id).map(\.body) == ["body of 2", "body of 3"])
        #expect(try store.timeline(ThreadID(try #require(OutwardCode("SW1A")))).map(\.body) == ["body of 5", "body of 1"])
        #expect(store.user(named: "x") == nil, "a refused message leaves no user behind")
        let head = store.head
        let (again, _) = try run(history, into: store, batchSize: batchSize)
        #expect(again == ImportSummary(duplicates: 7, refused: 3))
        #expect(store.head == head)
        #expect(try store.allEvents().allSatisfy { $0.event.origin != .native })
    }

    @Test func whoHasLeftSinceIsNotBroughtBackByTheSameFile() throws {
        let store = try StoreFixture().open()
        let history = [message("1", by: "Ann"), message("2", by: "Bob", to: "1")]
        _ = try run(history, into: store, batchSize: 10)
        let thread = try #require(store.threads(named: "#rust").first)
        try store.execute(.leaveThread(user: try #require(store.user(named: "bob")), thread: thread))
        try store.execute(.changeUsername(user: try #require(store.user(named: "ann")), username: "Anna"))
        let head = store.head
        #expect(try run(history, into: store, batchSize: 10).0.duplicates == 2)
        #expect(store.head == head)
    }
}
