import ChatDomain
import ChatTesting
import EventJournal
import Locking
import Projections
import Testing

@testable import Chat

/// A replay in batches on several threads equals a replay event by event, for any length.
@Suite struct ReplayTests {
    private let ann = UserID(bits: 1)

    /// Returns a log with `count` events: a user and her sessions.
    private func log(_ count: Int) throws -> ArrayLog.Store {
        let kept = ArrayLog.Store()
        let store = try ChatStore.open(
            log: ArrayLog(kept), options: StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: 1)))
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        var left = count - 1
        while left > 0 {
            // Some events are username changes, because they have content and sessions have none.
            let batch = (0..<min(left, 1_000)).map { number in
                CommandRequest(
                    number.isMultiple(of: 100)
                        ? .changeUsername(username: "Ann \(left - number)", by: ann)
                        : .startSession(device: "phone", by: ann))
            }
            _ = try store.executeBlocking(batch)
            left -= batch.count
        }
        #expect(store.head.position == Position(count))
        return kept
    }

    @Test(arguments: [1, 1_023, 1_024, 1_025, 4_096, 4_097, 5_120, 9_000]) func replayEqualsEventByEventReplay(
        count: Int
    )
        throws
    {
        let kept = try log(count)
        let replayed = try ChatStore.open(log: ArrayLog(kept))
        var models = StoreModels()
        try replayed.forEachEvent(matching: EventFilter(as: .host)) { one, _ in
            models.apply(one.event, at: one.position)
        }
        #expect(replayed.storeModels == models)
        #expect(replayed.storeModels.position == Position(count))
        #expect(replayed.storeModels.digests == models.digests)
        var caughtUp = StoreModels()
        try ChatStore.forEachDecodedBatch(replayed.log, 1...Position(count)) { caughtUp.apply(&$0) }
        #expect(caughtUp == models)
    }

    /// Covers undecodable records in different batches.
    @Test(arguments: [1, 1_024, 1_025, 5_000, 6_000]) func undecodableRecordErrorNamesItsPosition(position: Int) throws
    {
        let kept = try log(6_000)
        kept.contents.withLock { contents in _ = contents.records[position - 1].kept.removeLast() }
        let error = #expect(throws: ChatError.self) { try ChatStore.open(log: ArrayLog(kept)) }
        guard case .undecodable(Position(position), let problem) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(problem.part == .kept && problem.problem == .tooShort)
    }

    /// The first new commit has the order of an erasure, and then a record that does not decode.
    @Test(arguments: [false, true]) func orderBeforeUndecodableRecordIsNotShown(isEmpty: Bool) throws {
        let fixture = StoreFixture()
        let writer = try fixture.open()
        if !isEmpty { try writer.executeBlocking(.registerUser(id: ann, username: "Ann")) }
        try writer.close()
        let reader = try ChatStore.openReadOnly(fixture.directory, options: fixture.options)
        let head = reader.head
        let journal = try Journal.open(fixture.directory, options: fixture.options.journal)
        let order = ChatEvent(
            recordedAt: fixture.clock.now(), details: .init(.userErased, .user(ann)),
            content: .erasure(reason: "spam", positions: nil))
        var encoder = EventEncoder()
        var draft = CommitDraft()
        encoder.encode(order)
        let invalid = [UInt8](repeating: 0, count: 8)
        unsafe try draft.append(kept: encoder.kept.span.bytes, erasable: encoder.erasable.span.bytes)
        unsafe try draft.append(kept: invalid.span.bytes, erasable: invalid.span.bytes)
        _ = try journal.append(draft, expecting: head.position)
        try journal.close()
        for _ in 0..<2 {
            expectError("undecodable") { try reader.refresh() }
            #expect(reader.head == head && reader.readSide.position == head.position)
        }
    }

    /// A log that fails during the replay ends the opening with its own error.
    @Test func failingLogEndsReplay() throws {
        let fixture = CheckpointFixture(seed: 3, segmentSize: 128 << 20)
        let store = try fixture.open()
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        for _ in 0..<6 {
            _ = try store.executeBlocking(
                (0..<1_000).map { _ in CommandRequest(.startSession(device: "phone", by: ann)) })
        }
        let first = try #require(try fixture.storage.list("journal").first { $0.hasSuffix(".segment") })
        let file = try fixture.storage.open("journal/\(first)", .readWrite)
        let reader = try ChatStore.openReadOnly("journal", options: fixture.options)
        try store.executeBlocking(.startSession(device: "phone", by: ann))
        let zeros = [UInt8](repeating: 0xFF, count: 64)
        unsafe try file.write(zeros.span.bytes, at: 100_000)
        expectError("damaged") { try reader.forEachEvent(matching: EventFilter(as: .host)) { _, _ in } }
        var models = StoreModels()
        let error = #expect(throws: ChatError.self) { try ChatStore.replay(reader.log, 1...6_001, into: &models) }
        guard case .journal(let damage) = error, damage.code == .damaged, let positions = damage.positions else {
            Issue.record("\(String(describing: error))")
            return
        }
        // Every event before the damage has been applied, and none after it.
        #expect(positions.lowerBound > 1_024 && models.position == positions.lowerBound - 1)
    }
}
