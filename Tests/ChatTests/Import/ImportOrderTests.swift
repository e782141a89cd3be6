import ChatDomain
import ChatTesting
import Foundation
import Testing

@testable import Chat

/// The order of an import, and replies without their messages.
@Suite struct ImportOrderTests {
    private func message(
        _ id: String, to replyTo: String? = nil, at time: Int64? = nil, in channel: String = "#rust",
        by user: String = "Ann"
    ) -> ImportedLine {
        .message(
            ImportedMessage(
                sentAt: time.map { Timestamp(millisecondsSince1970: $0) }, channel: channel, user: .nickname(user),
                id: id,
                replyTo: replyTo,
                body: "body of \(id)"))
    }

    /// Returns the places of the lines in the order of the import; moved ones are negative.
    private func order(_ lines: [ImportedLine?], byTime: Bool = false) -> [Int] {
        var order = ImportOrder<Int>(byTime: byTime)
        for (index, line) in lines.enumerated() { order.learn(line, at: index + 1) }
        var places: [Int] = []
        while let (place, isMoved) = order.next() { places.append(isMoved ? -place : place) }
        return places
    }

    private func importAll(
        _ lines: [ImportedLine], into store: ChatStore, batchSize: Int = 10
    ) throws -> (ImportSummary, [RejectedLine]) {
        var order = ImportOrder<Int>()
        for (index, line) in lines.enumerated() { order.learn(line, at: index) }
        var importer = MessageImporter(into: store, isOrdered: true, batchSize: batchSize)
        var rejected: [RejectedLine] = []
        while let (place, isMoved) = order.next() {
            rejected += try importer.add(lines[place], line: place + 1, isMoved: isMoved)
        }
        rejected += try importer.finish()
        return (importer.summary, rejected)
    }

    @Test func replyFollowsMessageThatStandsLater() {
        #expect(order([]) == [])
        #expect(order([message("2", to: "1"), message("1"), message("3")]) == [2, -1, 3])
        // Replies to replies, in the order of the file.
        #expect(
            order([message("4", to: "3"), message("3", to: "1"), message("2", to: "1"), message("1"), message("5")])
                == [4, -2, -1, -3, 5])
        #expect(order([message("2", to: "1"), message("3", to: "2"), message("1")]) == [3, -1, -2])
        // The same id in another channel is another message.
        #expect(order([message("2", to: "1"), message("1", in: "#c")]) == [1, 2])
        #expect(order([message("2", to: "1"), message("2", to: "1"), message("1"), message("1")]) == [3, -1, -2, 4])
        #expect(
            order([
                nil, message("2", to: "1"), .join(ImportedJoin(joinedAt: nil, channel: "c", user: .nickname("A"))), nil,
            ]) == [
                1, 2, 3, 4,
            ])
    }

    @Test func repliesInACircleComeLast() {
        #expect(order([message("1", to: "1"), message("2")]) == [1, 2])
        #expect(
            order([message("1", to: "2"), message("2", to: "1"), message("3", to: "2"), message("4")]) == [
                4, -1, -2, -3,
            ])
    }

    @Test func orderByTimeIsStable() {
        let lines = [
            nil, message("1", at: 5), message("2"), message("3", at: 2), message("4"), message("5", at: 5),
            message("6", at: -1),
            .channel(ImportedChannel(channel: "c", policy: .open)), message("7"), message("8", to: "5", at: 3),
        ]
        #expect(order(lines, byTime: true) == [1, 8, 7, 9, 4, 5, 2, 3, 6, -10])
        #expect(order(lines) == Array(1...10))
    }

    /// Each line comes once, and a reply never before its message, unless they form a circle.
    @Test func everyLineComesOnce() {
        for seed in UInt64(0)..<200 {
            var random = SeededRandom(seed: seed)
            let count = Int.random(in: 0...30, using: &random)
            let lines = (0..<count).map { index in
                let parent =
                    Int.random(in: 0..<3, using: &random) == 0 ? nil : "\(Int.random(in: 0...count, using: &random))"
                return message("\(index)", to: parent, at: Int64.random(in: 0...5, using: &random))
            }
            let places = order(lines, byTime: seed % 2 == 0).map { abs($0) - 1 }
            #expect(places.sorted() == Array(0..<count), "seed \(seed)")
            let positions = Dictionary(uniqueKeysWithValues: places.enumerated().map { ($1, $0) })
            for (index, line) in lines.enumerated() {
                var chain: [Int] = []
                var next: Int? = index
                while let current = next, current < count, !chain.contains(current) {
                    chain.append(current)
                    guard case .message(let message) = lines[current] else { break }
                    next = message.replyTo.flatMap { Int($0) }
                }
                guard case .message(let message) = line, let parent = message.replyTo.flatMap({ Int($0) }),
                    parent < count,
                    next.map({ $0 >= count || !chain.contains($0) }) ?? true
                else { continue }
                #expect((positions[parent] ?? .max) < (positions[index] ?? -1), "seed \(seed), line \(index)")
            }
        }
    }

    @Test(arguments: [1, 2, 10]) func replyWithoutMessageStaysMessage(batchSize: Int) throws {
        let store = try StoreFixture().open()
        let lines = [
            message("3", to: "2", at: 7), message("4", to: "3"), message("2", to: "1"),
            message("5", to: "1", by: "Bob"),
        ]
        let (summary, rejected) = try importAll(lines, into: store, batchSize: batchSize)
        #expect(rejected.isEmpty && summary.messages == 2 && summary.replies == 2)
        #expect(
            summary.adaptations == [
                .replyWithoutMessage: .init(count: 2, line: 3, example: "1"),
                .replyMoved: .init(count: 2, line: 1, example: "3"),
            ])
        let timeline = try store.reader(as: .host).timeline(.imported("#rust"))
        #expect(timeline.map(\.body) == ["body of 2", "body of 5"])
        let replies = try store.reader(as: .host).replies(to: timeline[0].message)
        #expect(replies.map(\.body) == ["body of 3", "body of 4"] && replies[0].createdAt.millisecondsSince1970 == 7)
        // Later files, also one that has the message.
        let head = store.head
        #expect(try importAll(lines, into: store, batchSize: batchSize).0 == ImportSummary(duplicates: 4))
        #expect(store.head == head)
        let longer = [message("1")] + lines + [message("6", to: "2"), message("7", to: "1")]
        #expect(
            try importAll(longer, into: store, batchSize: batchSize).0
                == ImportSummary(messages: 1, replies: 2, duplicates: 4))
        #expect(
            try store.reader(as: .host).replies(to: timeline[0].message).map(\.body) == [
                "body of 3", "body of 4", "body of 6",
            ])
        #expect(try importAll(longer, into: store, batchSize: batchSize).0 == ImportSummary(duplicates: 7))
    }

    @Test func replyToMessageInTheStoreIsReply() throws {
        let store = try StoreFixture().open()
        _ = try importAll([message("1")], into: store)
        #expect(try importAll([message("2", to: "1")], into: store).0 == ImportSummary(replies: 1))
        // In one pass the message can still follow.
        var importer = MessageImporter(into: store)
        #expect(try importer.add(message("4", to: "3"), line: 1).map(\.rejection.code) == [.unknownMessage])
    }

    @Test func circleIsImportedOnce() throws {
        let store = try StoreFixture().open()
        let lines = [message("1", to: "2"), message("2", to: "1"), message("3", to: "3")]
        let (summary, rejected) = try importAll(lines, into: store)
        #expect(rejected.isEmpty && summary.messages == 2 && summary.replies == 1)
        #expect(try importAll(lines, into: store).0 == ImportSummary(duplicates: 3))
    }

    // MARK: The code of the documentation

    @Test func linesOfAHistoryAreOrdered() throws {
        let store = try ChatStore.inMemory()
        let lines = [message("2", to: "1"), message("1")]
        var order = ImportOrder<Int>()
        for (index, line) in lines.enumerated() { order.learn(line, at: index) }
        var importer = MessageImporter(into: store, isOrdered: true)
        var rejected: [RejectedLine] = []
        while let next = order.next() {
            rejected += try importer.add(lines[next.place], line: next.place + 1, isMoved: next.isMoved)
        }
        rejected += try importer.finish()
        #expect(rejected.isEmpty && importer.summary.replies == 1)
    }

    @Test func unknownFieldsAreIgnored() throws {
        var importer = MessageImporter(into: try ChatStore.inMemory())
        var rejected: [RejectedLine] = []
        let (decoder, number) = (JSONDecoder(), 1)
        let data = Data(#"{"t":null,"channel":"c","user":"A","id":"1","replyTo":null,"body":"x","z":1}"#.utf8)
        let fields = IgnoredFields()
        decoder.userInfo[IgnoredFields.key] = fields
        let line = try decoder.decode(ImportedLine.self, from: data)
        rejected += try importer.add(line, line: number, ignoredFields: fields.take())
        rejected += try importer.finish()
        #expect(rejected.isEmpty && importer.summary.adaptations[.fieldsIgnored]?.example == "z")
    }
}
