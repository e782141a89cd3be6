@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
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
            let query = Query.timeline(garden, page: .latest(), viewer: nil, asOf: nil)
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
}
