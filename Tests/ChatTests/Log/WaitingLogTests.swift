import Chat
import ChatDomain
import ChatTesting
import Dispatch
import EventJournal
import Foundation
import Locking
import Testing

/// What a store tells of itself, and its queries, do not wait for a log that waits.
@Suite(.timeLimit(.minutes(1))) struct WaitingLogTests {
    /// Lets a call of a log begin, and stops it until it may go on.
    private final class Stop: Sendable {
        private let begun = DispatchSemaphore(value: 0)
        private let goesOn = DispatchSemaphore(value: 0)
        private let ended = DispatchSemaphore(value: 0)

        func reach() {
            begun.signal()
            goesOn.wait()
        }

        /// Runs work that is stopped on a thread of its own, and other work meanwhile.
        func run(_ stopped: @escaping @Sendable () throws -> Void, meanwhile body: () throws -> Void) rethrows {
            Thread.detachNewThread { [self] in
                do { try stopped() } catch { Issue.record(error) }
                ended.signal()
            }
            begun.wait()
            defer {
                goesOn.signal()
                ended.wait()
            }
            try body()
        }
    }

    private let ann = UserID(bits: 1)
    private let thread = ThreadID(bits: 2)
    private let options: StoreOptions

    init() {
        var options = StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: 1))
        options.journal.storage = MemoryStorage()
        self.options = options
    }

    private func begin(_ store: ChatStore) throws {
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        try store.executeBlocking(.openThread(id: thread, name: "Street", by: ann))
        try store.executeBlocking(.postMessage(thread: thread, body: "one", by: ann))
    }

    @Test func readerAnswersWhileItsLogIsRead() throws {
        let writer = try ChatStore.open("journal", options: options)
        try begin(writer)
        let log = RecordLog(
            try Journal.openReadOnly("journal", options: options.journal), options.journal.storage)
        let reader = try ChatStore.openReadOnly(log: log, options: options)
        let end = reader.head.position
        try writer.executeBlocking(.postMessage(thread: thread, body: "two", by: ann))
        let stop = Stop()
        log.willRead.withLock { $0 = stop.reach }
        try stop.run({ try reader.refresh() }) { () throws in
            #expect(reader.clockStatus.lastRecordedAt != nil)
            #expect(reader.statistics.messageCount == 1)
            #expect(try reader.reader(as: .user(ann)).timeline(thread).map(\.body) == ["one"])
            // What is being read is not visible yet.
            #expect(throws: ChatError.self) {
                try reader.reader(as: .user(ann), asOf: .position(end + 1)).timeline(thread)
            }
            #expect(reader.head.position == end)
        }
        #expect(try reader.reader(as: .user(ann)).timeline(thread).map(\.body) == ["one", "two"])
        #expect(reader.head == writer.head)
        #expect(try reader.rebuild())
        try reader.close()
        try writer.close()
    }

    @Test func writerAnswersWhileAnErasureWaits() throws {
        let log = RecordLog(try Journal.open("journal", options: options.journal), options.journal.storage)
        let store = try ChatStore.open(log: log, options: options)
        try begin(store)
        let bob = UserID(bits: 3)
        try store.executeBlocking(.registerUser(id: bob, username: "Bob"))
        let stop = Stop()
        log.willWait.withLock { $0 = stop.reach }
        try stop.run({ try store.eraseUser(bob, reason: "asked") }) { () throws in
            #expect(store.clockStatus.rejection == nil)
            #expect(store.statistics.messageCount == 1)
            #expect(store.unattendedReportCount == 0)
            #expect(try store.reader(as: .user(ann)).timeline(thread).map(\.body) == ["one"])
        }
        try store.close()
    }

    /// The reading that a look at the clock has accepted counts for commands.
    @Test func clockOfALookIsKept() throws {
        let clock = ManualClock()
        var options = options
        options.clock = clock
        let store = try ChatStore.open("journal", options: options)
        #expect(store.clockStatus.rejection == nil)
        clock.step(byMilliseconds: 3 * 86_400_000)
        let error = #expect(throws: ChatError.self) {
            try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        }
        #expect(error?.rejection?.code == .clockStepped)
        #expect(store.clockStatus.rejection?.code == .clockStepped)
        try store.close()
    }
}
