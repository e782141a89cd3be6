import ChatDomain
import ChatTesting
import EventJournal
import Locking
import Testing

@testable import Chat

/// Queries never show a commit that was decided but did not become durable.
@Suite struct LostCommitTests {
    private let ann = UserID(bits: 1)
    private let bob = UserID(bits: 2)
    private let thread = ThreadID(bits: 1)
    private let message = MessageID(bits: 1)
    private let reply = ReplyID(bits: 1)
    // The entities of the lost commit.
    private let lostUser = UserID(bits: 9)
    private let lostThread = ThreadID(bits: 9)
    private let lostMessage = MessageID(bits: 9)
    private let lostReply = ReplyID(bits: 9)

    private func fill(_ store: ChatStore) throws {
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        try store.executeBlocking(.registerUser(id: bob, username: "Bob"))
        try store.executeBlocking(.openThread(id: thread, name: "Milk", by: ann))
        try store.executeBlocking(.joinThread(thread: thread, by: bob))
        try store.executeBlocking(.postMessage(id: message, thread: thread, body: "Milk?", by: ann))
        try store.executeBlocking(.reply(id: reply, to: message, body: "Two.", by: bob))
    }

    /// Creates an entity of each kind, and changes each existing one.
    private var lostCommands: [CommandRequest] {
        [
            .registerUser(id: lostUser, username: "Eve", subject: "eve"),
            .changeUsername(username: "Anna", by: ann),
            .setPostcode(postcode: "SW1A 1AA", by: bob),
            .openThread(id: lostThread, name: "Dogs", by: ann),
            .joinThread(thread: lostThread, by: bob),
            .postMessage(id: lostMessage, thread: lostThread, body: "Wow", by: ann),
            .postMessage(thread: thread, body: "Thanks", by: ann),
            .reply(id: lostReply, to: lostMessage, body: "Wow?", by: bob),
            .reply(to: message, body: "Three.", by: ann),
            .edit(.message(message), body: "Oat milk?", by: ann),
            .retract(.reply(reply), by: bob),
            .markRead(thread: thread, upTo: 7, by: bob),
            .startSession(id: SessionID(bits: 9), device: "phone", by: ann),
            .leaveThread(thread: thread, by: bob),
        ].map { CommandRequest($0) }
    }

    /// Returns all answers about the existing entities.
    private func shown(_ store: ChatStore) throws -> [String] {
        let statistics = store.statistics
        return [
            "\(try store.reader(as: .host).threads()) \(try store.reader(as: .host).thread(thread)) \(try store.reader(as: .host).threadIDs(named: "Milk"))",
            "\(try store.reader(as: .host).timeline(thread)) \(try store.reader(as: .host).message(message)) \(try store.reader(as: .host).replies(to: message))",
            "\(try store.reader(as: .host).members(of: thread)) \(try store.readers(of: thread)) \(try store.reader(as: .host).user(ann)) \(try store.reader(as: .host).user(bob))",
            "\(try store.reader(as: .host).access(of: ann)) \(try store.reader(as: .host).access(of: bob)) \(try store.activity())",
            "\(try store.reader(as: .host).details(of: .message(message))) \(try store.reader(as: .host).details(of: .reply(reply)))",
            "\(statistics.userCount) \(statistics.threadCount) \(statistics.messageCount) \(statistics.replyCount)",
            "\(try store.userID(named: "Ann") == ann) \(store.messageID(answeredBy: reply, as: .host) == message) \(try store.allEvents())",
        ]
    }

    private func expectNothingLostIsShown(_ store: ChatStore) throws {
        #expect(try !store.isUser(lostUser) && store.userID(named: "Eve") == nil && store.userID(named: "Anna") == nil)
        #expect(store.userID(withSubject: "eve") == nil && store.messageID(answeredBy: lostReply, as: .host) == nil)
        #expect(try store.reader(as: .host).threadIDs(named: "Dogs") == [])
        let code = try #require(OutwardCode("SW1A"))
        #expect(try store.reader(as: .host).residents(of: code).isEmpty)
        expectRejection(.unknownUser) { () throws(ChatError) in _ = try store.reader(as: .host).user(lostUser) }
        expectRejection(.unknownUser) { () throws(ChatError) in _ = try store.reader(as: .host).access(of: lostUser) }
        for thread in [lostThread, ThreadID(code)] {
            expectRejection(.unknownThread) { () throws(ChatError) in _ = try store.reader(as: .host).thread(thread) }
            expectRejection(.unknownThread) { () throws(ChatError) in _ = try store.reader(as: .host).timeline(thread) }
            expectRejection(.unknownThread) { () throws(ChatError) in
                _ = try store.reader(as: .host).members(of: thread)
            }
            expectRejection(.unknownThread) { () throws(ChatError) in _ = try store.readers(of: thread) }
            // The lost events alone make this viewer a member.
            expectRejection(.unknownThread) { () throws(ChatError) in
                _ = try store.reader(as: .user(bob)).timeline(thread)
            }
        }
        expectRejection(.unknownUser) { () throws(ChatError) in
            _ = try store.reader(as: .user(lostUser)).timeline(thread)
        }
        expectRejection(.unknownMessage) { () throws(ChatError) in _ = try store.reader(as: .host).message(lostMessage)
        }
        expectRejection(.unknownMessage) { () throws(ChatError) in
            _ = try store.reader(as: .host).replies(to: lostMessage)
        }
        expectRejection(.unknownMessage) { () throws(ChatError) in
            _ = try store.reader(as: .host).details(of: .message(lostMessage))
        }
        expectRejection(.unknownReply) { () throws(ChatError) in
            _ = try store.reader(as: .host).details(of: .reply(lostReply))
        }
        expectRejection(.invalidPosition) { () throws(ChatError) in
            _ = try store.reader(as: .host, asOf: .position(store.applyDurableEvents() + 1)).threads()
        }
    }

    @Test(arguments: HoldingLog.Fault.allCases) func failedCommitIsNotShown(_ fault: HoldingLog.Fault) throws {
        let log = HoldingLog()
        let store = try ChatStore.open(log: log, options: StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: 1)))
        try fill(store)
        let before = try shown(store)
        log.fail(fault)
        let code = fault == .append ? "ioFailed" : "syncFailed"
        expectError(code) { _ = try store.executeBlocking(lostCommands) }
        expectError(code) { _ = try store.reader(as: .host).thread(thread) }
        // What the queries of the stopped store would show.
        let failure = store.stopped.withLock { $0.take() }
        try expectNothingLostIsShown(store)
        #expect(try shown(store) == before)
        store.stopped.withLock { $0 = failure }
        expectError(code) { _ = try store.rebuild() }
        try store.close()
        #expect(store.userID(withSubject: "eve") == nil && store.statistics.userCount == 2)
    }

    /// Covers a background checkpoint and the checkpoint at a close.
    @Test(arguments: [StorageError.Operation.write, .sync], [false, true])
    func checkpointExcludesFailedCommit(operation: StorageError.Operation, isDueInTheBackground: Bool) throws {
        let disk = SimulatedDisk(seed: 1)
        var fixture = CheckpointFixture(seed: 1, segmentSize: 128 << 20)
        fixture.options.journal.storage = disk
        fixture.options.journal.slotSyncDelay = nil
        let store = try fixture.open()
        try fill(store)
        try store.close()
        fixture.options.checkpoints = CheckpointOptions(
            interval: isDueInTheBackground ? 1 : nil, atClose: 1, afterReplay: nil)
        let again = try fixture.open()
        let position = again.readSide.position
        disk.inject(DiskFault(.fails(.failed), at: .occurrence(1, of: operation), pathSuffix: ".segment"))
        let code = operation == .write ? "ioFailed" : "syncFailed"
        expectError(code) { _ = try again.executeBlocking(lostCommands) }
        expectError(code) { _ = try again.reader(as: .host).thread(thread) }
        #expect(again.readSide.position == position && again.statistics.userCount == 2)
        // The close fails, because the decided commit cannot become durable.
        expectError(code) { try again.close() }
        #expect(again.checkpointStatistics.writtenCount == 0 && again.checkpointStatistics.failureCount == 0)
        #expect(try !disk.list("journal").contains(CheckpointFixture.fileName))
    }
}
