@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
import NaiveViews
import Projections
import TestSupport
import Testing

/// The history checker accepts correct histories and finds injected violations.
@Suite struct HistoryCheckerTests {
    private let garden = ThreadID(bits: 31)

    /// Returns a sequential history: the initial commands, each followed by a timeline query.
    private func history() throws -> [Operation] {
        let store = try StoreFixture().open()
        var operations: [Operation] = []
        for request in HistoryWorkload.beginning {
            let receipt = try store.executeBlocking([request])[0].get()
            operations.append(
                operation(.execute([request]), .results([.success(receipt)]), store.head.position, operations.count))
            let query = Query.timeline(garden, page: PageRequest(), viewer: nil, asOf: nil)
            operations.append(operation(.ask(query), store.answer(query), store.head.position, operations.count))
        }
        return operations
    }

    private func operation(_ call: Call, _ answer: Answer, _ durable: Position, _ number: Int) -> Operation {
        let time = UInt64(10 * number)
        return Operation(caller: 0, invoked: time, returned: time + 5, call: call, answer: answer, durable: durable)
    }

    private func problems(_ change: (inout [Operation]) -> Void) throws -> [HistoryProblem.Kind] {
        var operations = try history()
        let events = operations.flatMap(\.appended)
        change(&operations)
        return HistoryChecker(operations, events).problems().map(\.kind)
    }

    @Test func unchangedHistoryIsLinearizable() throws {
        #expect(try problems { _ in } == [])
        // A concurrent query may see the state before or after a command.
        #expect(try problems { $0[7].invoked = 44 } == [])
        #expect(
            try problems {
                $0[9].answer = $0[7].answer
                $0[9].invoked = 84
            } == [])
    }

    @Test func staleAnswerIsFound() throws {
        // Operation 8 posts the message, 9 sees it.
        #expect(try problems { $0[9].answer = $0[7].answer } == [.stale])
        #expect(
            try problems {
                $0[9].answer = $0[7].answer
                $0[9].caller = 1
            } == [.stale])
        // Two sequential queries disagree while the posting command is still in progress.
        #expect(
            try problems {
                $0[8].returned = 200
                $0[10].returned = 200
                $0[11].answer = $0[7].answer
            } == [.stale])
    }

    @Test func answerBeforeDurabilityIsFound() throws {
        #expect(try problems { $0[8].durable = 5 } == [.beforeDurable])
        #expect(try problems { $0[9].durable = 5 } == [.beforeDurable])
        #expect(try problems { $0[7].answer = $0[9].answer } == [.beforeDurable])
    }

    @Test func commandsOutOfRealTimeOrderAreFound() throws {
        #expect(
            try problems { operations in
                (operations[0].invoked, operations[2].invoked) = (operations[2].invoked, operations[0].invoked)
                (operations[0].returned, operations[2].returned) = (operations[2].returned, operations[0].returned)
            }.contains(.outOfOrder))
    }

    @Test func impossibleAnswersAreFound() throws {
        #expect(try problems { $0[9].answer = .refused(.unknownMessage) } == [.wrong])
        #expect(try problems { $0[0].answer = .results([.failure(.unknownUser)]) } == [.lostOrInvented, .wrong])
        #expect(try problems { $0[3].answer = .failed("ioFailed") } == [.failed])
        #expect(try problems { $0.remove(at: 8) } == [.lostOrInvented])
    }

    /// The sequential model must equal the naive model that the read models are tested against.
    @Test(arguments: Seeds.seeds(4)) func sequentialViewsEqualNaiveModel(seed: UInt64) throws {
        let first = try StoreFixture(seed: seed).open()
        var (batches, workload) = ([HistoryWorkload.beginning], HistoryWorkload(seed: seed, caller: 0))
        _ = try first.executeBlocking(batches[0])
        for _ in 0..<300 {
            if case .execute(let batch) = workload.next(knowing: first.head.position) {
                _ = try first.executeBlocking(batch)
                batches.append(batch)
            }
        }
        #expect(try first.allEvents().count > 20)
        try expectAgreement(batches, seed: seed) { batches in
            let store = try StoreFixture(seed: seed).open()
            for batch in batches where !batch.isEmpty { _ = try store.executeBlocking(batch) }
            let events = try store.allEvents()
            let naive = NaiveViews(events: events)
            var chat = SequentialChat()
            for (index, event) in events.enumerated() {
                chat.take(event)
                if index % 10 == 0 || index == events.count - 1 { try compare(chat, naive.asOf(event.position)) }
            }
        }
    }

    private func compare(_ chat: SequentialChat, _ naive: NaiveViews) throws(Mismatch) {
        let users = naive.users
        try same(chat.users.map(\.id), users, "the users")
        try same(chat.users.map(\.name?.text), users.map { naive.username($0) }, "the names of users")
        try same(chat.rooms.map(\.id), naive.threads, "the threads")
        try same(chat.answer(.activity(asOf: nil)), .activity(naive.activity()), "the activity")
        for user in users { try same(chat.access(of: user), naive.access(of: user), "the access of \(user)") }
        for room in chat.rooms { try compare(room, chat, naive, users) }
    }

    private func compare(
        _ room: SequentialChat.Room, _ chat: SequentialChat, _ naive: NaiveViews, _ users: [UserID]
    ) throws(Mismatch) {
        var place: String { "of \(room.id)" }
        guard case .members(let readers) = chat.answer(.readers(room.id, asOf: nil)),
            case .timeline(let entries) = chat.answer(
                .timeline(room.id, page: PageRequest(limit: .max), viewer: nil, asOf: nil))
        else { throw Mismatch("the answers about " + place, expected: "readers and a timeline", actual: "others") }
        try same(readers.map(\.user.id), naive.readers(of: room.id), "the readers " + place)
        try same(room.policy, naive.policy(of: room.id), "the policy " + place)
        try same(room.history, naive.history(of: room.id), "the history " + place)
        let (messages, expected) = (chat.messages.filter { $0.place == room.id }, naive.messages(of: room.id))
        try same(messages.map(\.id), expected.map(\.id), "the messages " + place)
        try same(messages.map(\.position), expected.map(\.position), "the positions of messages " + place)
        try same(messages.map(\.author), expected.map(\.author), "the authors " + place)
        try same(messages.map(\.isRetracted), expected.map(\.isRetracted), "the retractions " + place)
        try same(messages.map(\.isRemoved), expected.map(\.isRemoved), "the removals " + place)
        try same(
            messages.map { $0.editedAt != nil }, expected.map { $0.editPosition != nil }, "the edited messages " + place
        )
        try same(entries.map(\.replyCount), expected.map(\.replyCount), "the counts of replies " + place)
        for message in messages {
            let (replies, expected) = (chat.replies.filter { $0.place == message.id }, naive.replies(to: message.id))
            try same(replies.map(\.id), expected.map(\.id), "the replies to \(message.id)")
            try same(replies.map(\.isRetracted), expected.map(\.isRetracted), "the retracted replies to \(message.id)")
            try same(replies.map(\.isRemoved), expected.map(\.isRemoved), "the removed replies to \(message.id)")
        }
        try same(room.lastPosition, naive.lastPosition(of: room.id), "the last position " + place)
        let members = naive.members(of: room.id)
        try same(room.members.map(\.user), members.map(\.user), "the members " + place)
        try same(room.members.map(\.since), members.map(\.since), "the joins " + place)
        for user in users {
            let (unread, expected) = (
                chat.unread(user, in: room), naive.unreadPositions(user, in: room.id, except: nil)
            )
            try same(unread.count, expected.count, "the unread count of \(user) in \(room.id)")
            try same(unread.min(), expected.min(), "the first unread message of \(user) in \(room.id)")
            try same(
                chat.readUpTo(user, in: room), naive.readUpTo(user, in: room.id), "the marker of \(user) in \(room.id)")
        }
        guard let code = room.id.outwardCode, case .residents(let residents) = chat.answer(.residents(code)) else {
            return
        }
        let expectedResidents = naive.residents(of: code)
        try same(residents.map(\.user.id), expectedResidents.map(\.user), "the residents of \(code)")
        try same(residents.map(\.since), expectedResidents.map(\.since), "the moves to \(code)")
    }
}
