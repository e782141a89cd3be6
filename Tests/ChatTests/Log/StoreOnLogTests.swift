import Chat
import ChatDomain
import ChatTesting
import Dispatch
import EventJournal
import Foundation
import Locking
import TestSupport
import Testing

/// The behaviour of a store does not depend on its log.
@Suite struct StoreOnLogTests {
    private let ann = UserID(bits: 1)
    private let options = StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: 1))

    @Test func storeOnArrayLogSurvivesReopen() throws {
        let kept = ArrayLog.Store()
        let log = ArrayLog(kept)
        var store = try ChatStore.open(log: log, options: options)
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        let moved = try store.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: ann))
        let thread = try #require(moved.events.last?.event.thread)
        let posted = try store.executeBlocking(
            .postMessage(id: MessageID(bits: 5), thread: thread, body: "Milk?", by: ann))
        #expect(posted.positions == 5...5)
        expectError("unknownUser") {
            try store.executeBlocking(.postMessage(thread: thread, body: "Hi", by: UserID(bits: 9)))
        }
        #expect(try store.reader(as: .host).timeline(thread).map(\.body) == ["Milk?"])
        #expect(store.recovery == nil && store.head == log.head && store.head.position == 5)
        try store.close()
        expectError("closed") { try log.reserve(1) }

        store = try ChatStore.open(log: ArrayLog(kept), options: options)
        #expect(
            try store.executeBlocking(
                .postMessage(id: MessageID(bits: 5), thread: thread, body: "Milk?", by: ann)
            ).isDuplicate)
        #expect(try store.reader(as: .host).timeline(thread).map(\.body) == ["Milk?"])
        #expect(try store.executeBlocking(.postMessage(thread: thread, body: "Thanks", by: ann)).positions == 6...6)
    }

    @Test func asyncExecuteWaitsOnArrayLog() async throws {
        let store = try ChatStore.open(log: ArrayLog(ArrayLog.Store()), options: options)
        try await store.execute(.registerUser(id: ann, username: "Ann"))
        #expect(try await store.execute(.setPostcode(postcode: "SW1A 1AA", by: ann)).positions == 2...4)
        #expect(store.head.position == 4)
    }

    /// A reservation may rotate segments and sync, so it must not hold the lock of queries.
    @Test func queriesProceedDuringReservation() throws {
        let isOpen = Lock<ChatStore?>(nil)
        let answers = Lock<[Bool?]>([])
        let log = ArrayLog(ArrayLog.Store()) {
            guard let store = isOpen.withLock({ $0 }) else { return }
            // A blocked query waits for this reservation.
            let hasAnswered = endsMeanwhile {
                let isThere = (try? store.userID(named: "Ann")) != nil
                answers.withLock { $0.append(isThere) }
            }
            if !hasAnswered { answers.withLock { $0.append(nil) } }
        }
        let store = try ChatStore.open(log: log, options: options)
        isOpen.withLock { $0 = store }
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        try store.executeBlocking(.registerUser(username: "Bob"))
        #expect(answers.withLock { $0 } == [false, true])
        isOpen.withLock { $0 = nil }
    }

    @Test(arguments: Seeds.seeds(3))
    func decisionsAreTheSameOnEveryLog(seed: UInt64) throws {
        let onFiles = StoreFixture(seed: seed)
        let array = ArrayLog(ArrayLog.Store())
        let stores = [
            try onFiles.open(),
            try ChatStore.open(log: array, options: StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: seed))),
        ]
        var generator = CommandGenerator(seed: seed)
        for _ in 0..<400 {
            let request = generator.nextRequest()
            let answers = try stores.map { try answer(request, of: $0) }
            #expect(answers[0] == answers[1])
        }
        #expect(try stores[0].allEvents() == stores[1].allEvents())
    }

    @Test func openMakesAppendedRecordsDurable() throws {
        let kept = ArrayLog.Store()
        let store = try ChatStore.open(log: ArrayLog(kept), options: options)
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        // Copies the records without waiting until they are durable.
        let copy = ArrayLog(ArrayLog.Store())
        try ArrayLog(kept).forEachRecord(in: 1...1) { _, _, keptPart, erasable in
            var draft = CommitDraft()
            do throws(JournalError) {
                try draft.append(kept: keptPart, erasable: erasable)
                _ = try copy.append(draft, expecting: 0)
            } catch {
                Issue.record(error)
            }
            return true
        }
        #expect(copy.durablePosition == 0)
        let second = try ChatStore.open(log: copy, options: options)
        #expect(try copy.durablePosition == 1 && second.isUser(ann))
        #expect(try second.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: ann)).positions == 2...4)
    }

    @Test func journalAsLogKeepsRecoveryReport() throws {
        let journal = try Journal.open("journal", options: JournalOptions(storage: MemoryStorage()))
        #expect(try ChatStore.open(log: journal, options: options).recovery?.wasCreated == true)
    }
}
