@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
import NaiveViews
import Projections
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
        let store = try StoreFixture(seed: seed).open()
        _ = try store.executeBlocking(HistoryWorkload.beginning)
        var workload = HistoryWorkload(seed: seed, caller: 0)
        for _ in 0..<300 {
            if case .execute(let batch) = workload.next(knowing: store.head.position) {
                _ = try store.executeBlocking(batch)
            }
        }
        let events = try store.allEvents()
        var chat = SequentialChat()
        for (index, event) in events.enumerated() {
            chat.take(event)
            if index % 10 == 0 || index == events.count - 1 {
                expectEqual(chat, NaiveViews(events: Array(events[...index])))
            }
        }
        #expect(events.count > 20)
    }

    private func expectEqual(_ chat: SequentialChat, _ naive: NaiveViews) {
        #expect(chat.users.map(\.id) == naive.users)
        #expect(chat.users.map(\.name?.text) == naive.users.map { naive.username($0) })
        #expect(chat.rooms.map(\.id) == naive.threads)
        #expect(chat.answer(.activity(asOf: nil)) == .activity(naive.activity()))
        for user in naive.users {
            #expect(chat.access(of: user) == naive.access(of: user))
        }
        for room in chat.rooms {
            if case .members(let readers) = chat.answer(.readers(room.id, asOf: nil)) {
                #expect(readers.map(\.user.id) == naive.readers(of: room.id))
            } else {
                Issue.record("the answer is not a list of readers")
            }
            #expect(room.policy == naive.policy(of: room.id) && room.history == naive.history(of: room.id))
            let messages = chat.messages.filter { $0.place == room.id }
            let expected = naive.messages(of: room.id)
            #expect(messages.map(\.id) == expected.map(\.id))
            #expect(messages.map(\.position) == expected.map(\.position))
            #expect(messages.map(\.author) == expected.map(\.author))
            #expect(messages.map(\.isRetracted) == expected.map(\.isRetracted))
            #expect(messages.map(\.isRemoved) == expected.map(\.isRemoved))
            #expect(messages.map { $0.editedAt != nil } == expected.map { $0.editPosition != nil })
            if case .timeline(let entries) = chat.answer(
                .timeline(room.id, page: PageRequest(limit: .max), viewer: nil, asOf: nil))
            {
                #expect(entries.map(\.replyCount) == expected.map(\.replyCount))
            } else {
                Issue.record("the answer is not a timeline")
            }
            for message in messages {
                let replies = chat.replies.filter { $0.place == message.id }
                #expect(replies.map(\.id) == naive.replies(to: message.id).map(\.id))
                #expect(replies.map(\.isRetracted) == naive.replies(to: message.id).map(\.isRetracted))
                #expect(replies.map(\.isRemoved) == naive.replies(to: message.id).map(\.isRemoved))
            }
            #expect(room.lastPosition == naive.lastPosition(of: room.id))
            #expect(room.members.map(\.user) == naive.members(of: room.id).map(\.user))
            #expect(room.members.map(\.since) == naive.members(of: room.id).map(\.since))
            for user in naive.users {
                #expect(chat.unread(user, in: room).count == naive.unreadCount(user, in: room.id))
                #expect(chat.unread(user, in: room).min() == naive.firstUnread(user, in: room.id))
                #expect(chat.readUpTo(user, in: room) == naive.readUpTo(user, in: room.id))
            }
            guard let code = room.id.outwardCode, case .residents(let residents) = chat.answer(.residents(code)) else {
                continue
            }
            #expect(residents.map(\.user.id) == naive.residents(of: code).map(\.user))
            #expect(residents.map(\.since) == naive.residents(of: code).map(\.since))
        }
    }
}
