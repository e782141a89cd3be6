import ChatDomain
import ChatTesting
import EventJournal
import Testing

@testable import Chat

/// A log that stops by itself stops its store: commands, queries and followers say so.
@Suite struct StoppedStoreTests {
    private let ann = UserID(bits: 1)
    private let garden = ThreadID(bits: 2)
    private let superseded = JournalError(
        JournalError.Code(rawValue: "superseded"), "Another writer has taken over the log.")

    private func fill(_ store: ChatStore) throws {
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        try store.executeBlocking(.openThread(id: garden, name: "Garden", by: ann))
        try store.executeBlocking(.postMessage(thread: garden, body: "Milk?", by: ann))
    }

    private func expectStopped(_ store: ChatStore, _ code: JournalError.Code) async throws {
        #expect(store.failure?.code == code)
        let calls: [() throws -> Void] = [
            { try store.executeBlocking(.postMessage(thread: garden, body: "Bread?", by: ann)) },
            // A repeat, whose answer is known.
            { try store.executeBlocking(.registerUser(id: ann, username: "Ann")) },
            { _ = try store.reader(as: .host).threads() }, { _ = try store.reader(as: .host).thread(garden) },
            { _ = try store.reader(as: .host).timeline(garden) },
            { _ = try store.reader(as: .user(ann)).timeline(garden) },
            { _ = try store.reader(as: .host).members(of: garden) }, { _ = try store.reader(as: .host).user(ann) },
            { _ = try store.activity() },
            { _ = try store.reader(as: .host, asOf: .position(2)).timeline(garden) }, { _ = try store.rebuild() },
            { try store.eraseUser(ann, reason: "request") },
        ]
        for (index, call) in calls.enumerated() {
            let error = #expect(throws: ChatError.self, "call \(index)") { try call() }
            #expect(error?.journalError?.code == code, "call \(index)")
        }
        let later = await chatError { _ = try await store.execute(.joinThread(thread: garden, by: ann)) as Receipt }
        #expect(later?.journalError?.code == code)
        var replay = store.events(matching: EventFilter(as: .host)).makeAsyncIterator()
        let replayed = await chatError { _ = try await replay.next() }
        #expect(replayed?.journalError?.code == code)
    }

    @Test func logThatStopsByItselfStopsTheStore() async throws {
        let log = HoldingLog()
        let store = try ChatStore.open(log: log, options: StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: 1)))
        try fill(store)
        #expect(store.failure == nil)
        log.stop(superseded)
        try await expectStopped(store, superseded.code)
        try store.close()
        #expect(store.failure == superseded)
    }

    /// The first failure stays, and wakes the followers that wait.
    @Test func whoeverMeetsAFailureStopsTheStore() async throws {
        let fixture = try FollowingFixture()
        let waiting = fixture.follow(fixture.store.events(after: 6, matching: EventFilter(as: .host)))
        try await fixture.untilWaiting()
        fixture.store.stop(superseded)
        fixture.store.stop(JournalError(.ioFailed, "A consequence of the first one."))
        let error = await chatError { _ = try await waiting.ended() }
        #expect(error?.journalError == superseded)
        #expect(fixture.store.failure == superseded)
        let query = #expect(throws: ChatError.self) { _ = try fixture.store.reader(as: .host).threads() }
        #expect(query == .journal(superseded))
        // The log itself goes on; the store does not append to it any more.
        #expect(fixture.log.failure == nil)
        let last = fixture.log.lastPosition
        #expect(throws: ChatError.journal(superseded)) { try fixture.post("Bread?") }
        #expect(fixture.log.lastPosition == last)
    }

    @Test func fencedJournalStopsItsStoreAndItsReaders() async throws {
        let storage = MemoryStorage()
        let journal = try Journal.open("journal", options: JournalOptions(storage: storage))
        let store = try ChatStore.open(log: journal)
        try fill(store)
        let reader = try ChatStore.openReadOnly(
            log: try Journal.openReadOnly("journal", options: JournalOptions(storage: storage)))
        let last = journal.lastPosition
        let followers = [store, reader].map { store in
            Task {
                var count = 0
                for try await _ in store.events(matching: EventFilter(as: .host)) { count += 1 }
                return count
            }
        }
        try await FollowingFixture.until("a wait of each follower") {
            store.feed.waiterCount + reader.feed.waiterCount == 2
        }
        try journal.fence(at: last, destination: "elsewhere")
        #expect(store.failure?.code == .moved)
        for follower in followers {
            let error = await chatError { _ = try await follower.ended() }
            #expect(error?.journalError?.code == .moved)
        }
        try await expectStopped(store, .moved)
        // The history up to the move is all there is, and an auditor reads it.
        #expect(try reader.failure == nil && reader.reader(as: .host).timeline(garden).count == 1)
        try store.close()
    }

    /// A sync for which no caller waits.
    @Test func failureInTheBackgroundStopsTheStore() async throws {
        let disk = SimulatedDisk(seed: 1)
        var options = StoreOptions()
        options.journal.storage = disk
        options.journal.slotSyncDelay = .milliseconds(1)
        let store = try ChatStore.open("journal", options: options)
        disk.inject(DiskFault(.fails(.failed), at: .chance(1, of: [.sync]), pathSuffix: "durable"))
        try await store.execute(.registerUser(id: ann, username: "Ann"))
        try await FollowingFixture.until("the failure of the store") { store.failure != nil }
        #expect(store.failure?.code == .syncFailed)
        let error = #expect(throws: ChatError.self) { _ = try store.reader(as: .host).user(ann) }
        #expect(error?.journalError?.code == .syncFailed)
    }
}
