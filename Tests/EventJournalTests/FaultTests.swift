import ChatTesting
import Locking
import Testing

@testable import EventJournal

@Suite struct FaultTests {
    @Test func failedSyncStopsJournal() throws {
        let storage = FaultyStorage(MemoryStorage())
        let options = JournalOptions(storage: storage, slotSyncDelay: nil)
        let journal = try Journal.open("journal", options: options)
        try journal.append([Entry("a", "b")])
        try journal.waitUntilDurable(1)
        try journal.append([Entry("c", "d")])
        storage.fail { $0.operation == .sync ? StorageError(.failed, .sync, path: $0.path, errno: 5) : nil }
        #expect(journalError { try journal.waitUntilDurable(2) }?.code == .syncFailed)
        storage.fail(nil)
        // The disk works again, but the journal stays stopped.
        let calls = storage.calls.count
        #expect(journalError { try journal.waitUntilDurable(2) }?.code == .syncFailed)
        #expect(journalError { _ = try journal.append([Entry("e", "f")]) }?.code == .syncFailed)
        #expect(journalError { try journal.reserve(10) }?.code == .syncFailed)
        #expect(journalError { try journal.synchronize() }?.code == .syncFailed)
        #expect(storage.calls.count == calls)
        try journal.waitUntilDurable(1)
        #expect(journal.durablePosition == 1)
        #expect(try journal.entries(1...1) == [Entry("a", "b")])
        #expect(journalError { try journal.close() }?.code == .syncFailed)
        // Recovery rewrites the bytes of the failed sync before it attests them.
        let again = try Journal.open("journal", options: options)
        #expect(again.recovery.recoveredPositions == 2...2)
        #expect(try again.entries() == [Entry("a", "b"), Entry("c", "d")])
        #expect(storage.calls[calls...].contains { $0.operation == .write && $0.path.hasSuffix(".segment") })
    }

    @Test func failedSyncReachesEveryWaiter() async throws {
        let storage = FaultyStorage(MemoryStorage())
        let journal = try Journal.open("journal", options: JournalOptions(storage: storage, slotSyncDelay: nil))
        try journal.append([Entry("a", "b")])
        storage.fail { $0.operation == .sync ? StorageError(.failed, .sync, path: $0.path, errno: 5) : nil }
        let failures = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    do throws(JournalError) {
                        try await journal.waitUntilDurable(1)
                        return false
                    } catch {
                        return error.code == .syncFailed
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failures == 20)
    }

    @Test func failedWriteStopsJournal() throws {
        let storage = FaultyStorage(MemoryStorage())
        let journal = try Journal.open(
            "journal", options: JournalOptions(durability: .written, storage: storage, slotSyncDelay: nil))
        try journal.append([Entry("a", "b")])
        storage.fail { $0.operation == .write ? StorageError(.failed, .write, path: $0.path, errno: 5) : nil }
        let error = journalError { _ = try journal.append([Entry("c", "d")]) }
        #expect(error?.code == .ioFailed)
        #expect(error?.errno == 5)
        #expect(error?.segment == JournalFileName.segment(1))
        storage.fail(nil)
        #expect(journalError { _ = try journal.append([Entry("c", "d")]) } == error)
        #expect(journal.lastPosition == 1)
        #expect(try journal.entries() == [Entry("a", "b")])
        #expect(journalError { try journal.close() } == error)
        #expect(
            try Journal.open("journal", options: JournalOptions(storage: storage, slotSyncDelay: nil)).entries() == [
                Entry("a", "b")
            ])
    }

    /// A footer is written at a rotation and during recovery after a crash.
    @Test(arguments: [1, 20, 39]) func partialFooterIsTruncated(count: Int) throws {
        let base = MemoryStorage()
        let options = JournalOptions(
            segmentSize: 600, storage: base, entropy: SeededEntropy(seed: 3), slotSyncDelay: nil)
        let crashed = try Journal.open("journal", options: options)
        try crashed.append([Entry("a", "b")])
        try crashed.synchronize()
        let name = "journal/" + JournalFileName.segment(1)
        let end = crashed.state.withLock { $0.active.end }
        let long = Entry(kept: [UInt8](repeating: 1, count: 500), erasable: [])
        for isRotation in [true, false] {
            let storage = FaultyStorage(base.copy())
            var options = options
            options.storage = storage
            func fail() {
                storage.fail(writing: count) { call in
                    guard call.operation == .write, call.path == name, call.bytes?.lowerBound == end else { return nil }
                    return StorageError(.failed, .write, path: name, errno: 5)
                }
            }
            if isRotation {
                // The close is clean, so that the next opening continues in the same segment.
                let file = try storage.base.open(name, .readWrite)
                try file.truncate(to: end)
                let slot = crashed.slot(1, crashed.head.chain, isClean: true)
                storage.base.setContents(DurableSlot.file(of: slot), of: "journal/durable")
                let journal = try Journal.open("journal", options: options)
                fail()
                #expect(journalError { try journal.append([long]) }?.code == .ioFailed)
            } else {
                fail()
                #expect(journalError { _ = try Journal.open("journal", options: options) }?.code == .ioFailed)
            }
            #expect(storage.base.allContents()[name]?.count == Int(end))
            storage.fail(nil)
            let again = try Journal.open("journal", options: options)
            #expect(again.recovery.cutBytes == nil)
            #expect(try again.entries() == [Entry("a", "b")])
            try again.append([long])
            try again.close()
            try Journal.verify("journal", options: options) { Issue.record("\($0)") }
        }
        try crashed.close()
    }

    @Test func fullDiskAllowsRetry() throws {
        let storage = FaultyStorage(MemoryStorage())
        let journal = try Journal.open(
            "journal", options: JournalOptions(segmentSize: 4096, storage: storage, slotSyncDelay: nil))
        let limit = Lock<UInt64>(1000)
        storage.fail { call in
            guard call.operation == .allocate, let size = call.bytes?.upperBound, size > limit.withLock({ $0 }) else {
                return nil
            }
            return StorageError(.full, .allocate, path: call.path, errno: 28)
        }
        // Reservation steps shrink: a reservation that fits succeeds even if a whole step does not.
        try journal.reserve(800)
        #expect(journalError { try journal.reserve(2000) }?.code == .storageFull)
        try journal.append([Entry("a", "b")])
        try journal.waitUntilDurable(1)
        let long = Entry(kept: [], erasable: [UInt8](repeating: 1, count: 2000))
        #expect(journalError { _ = try journal.append([long]) }?.code == .storageFull)
        #expect(journal.lastPosition == 1)
        #expect(try journal.entries() == [Entry("a", "b")])
        // A full disk at a rotation does not stop the journal either.
        #expect(journalError { try journal.reserve(4000) }?.code == .storageFull)
        limit.withLock { $0 = 100_000 }
        try journal.reserve(4000)
        try journal.append([long])
        try journal.append([long])
        try journal.waitUntilDurable(3)
        try journal.close()
        #expect(
            try Journal.open("journal", options: JournalOptions(storage: storage, slotSyncDelay: nil)).entries() == [
                Entry("a", "b"), long, long,
            ])
    }

    @Test func failureAtAnyCallKeepsAcknowledgedRecords() throws {
        // Fails the nth call of a journal's lifetime, for every n, and then reopens on a working
        // disk.
        let entries = (0..<12).map { Entry("\($0)", String(repeating: "x", count: 60)) }
        var nth = 0
        var finished = false
        while !finished {
            let base = MemoryStorage()
            let storage = FaultyStorage(base)
            let options = JournalOptions(
                segmentSize: 600, storage: storage, entropy: SeededEntropy(seed: 3), slotSyncDelay: nil)
            let left = Lock(nth)
            storage.fail { call in
                left.withLock { left in
                    left -= 1
                    return left < 0 ? StorageError(.failed, call.operation, path: call.path, errno: 5) : nil
                }
            }
            var acknowledged = 0
            do {
                for half in [entries[..<6], entries[6...]] {
                    let journal = try Journal.open("journal", options: options)
                    for entry in half {
                        let positions = try journal.append([entry])
                        try journal.waitUntilDurable(positions.upperBound)
                        acknowledged += 1
                    }
                    if half.startIndex == 0 { try journal.close() }
                }
                finished = true
            } catch {
                #expect(error is JournalError)
            }
            storage.fail(nil)
            let journal = try Journal.open("journal", options: options)
            let found = try journal.entries()
            #expect(
                found.count >= acknowledged && found == Array(entries.prefix(found.count)), "failure at call \(nth)")
            try journal.append([entries[0]])
            try journal.waitUntilDurable(journal.lastPosition)
            nth += 1
        }
        #expect(nth > 50)
    }

    @Test func interruptedCreationIsCompleted() throws {
        let storage = MemoryStorage()
        try storage.createDirectory("journal")
        storage.setContents([1, 2, 3], of: "journal/durable.tmp")
        storage.setContents([], of: "journal/lock")
        let journal = try Journal.open("journal", options: JournalOptions(storage: storage, slotSyncDelay: nil))
        #expect(journal.recovery.wasCreated)
        storage.setContents([9], of: "journal/" + JournalFileName.segment(7) + ".tmp")
        try journal.append([Entry("a", "b")])
        try journal.close()
        let again = try Journal.open("journal", options: JournalOptions(storage: storage, slotSyncDelay: nil))
        #expect(again.recovery.removedFiles == [JournalFileName.segment(7) + ".tmp"])
        #expect(try again.entries() == [Entry("a", "b")])
    }
}

@Suite struct StickinessTests {
    @Test func fullDiskAtWriteOrSyncStopsJournal() throws {
        // Only an error after which a retry can succeed has the code `storageFull`.
        for operation in [StorageError.Operation.write, .sync] {
            let storage = FaultyStorage(MemoryStorage())
            let journal = try Journal.open("journal", options: JournalOptions(storage: storage, slotSyncDelay: nil))
            storage.fail { $0.operation == operation ? StorageError(.full, operation, path: $0.path, errno: 28) : nil }
            let error = journalError {
                try journal.append([Entry("a", "b")])
                try journal.waitUntilDurable(1)
            }
            #expect(error?.code == (operation == .write ? .ioFailed : .syncFailed))
            storage.fail(nil)
            #expect(journalError { _ = try journal.append([Entry("a", "b")]) } != nil)
        }
    }

    @Test func oversizedSegmentFileIsRefused() throws {
        let specimen = try Specimen(closing: true)
        let file = try specimen.storage.open("journal/" + JournalFileName.segment(1), .readWrite)
        try file.truncate(to: 1 << 40)
        #expect(
            journalError { _ = try Journal.open("journal", options: JournalOptions(storage: specimen.storage)) }?.code
                == .damaged)
    }

    @Test func interruptedCreationIsNotAJournal() throws {
        let memory = MemoryStorage()
        let storage = FaultyStorage(memory)
        let options = JournalOptions(storage: storage, slotSyncDelay: nil)
        storage.fail {
            $0.path.hasSuffix(".segment.tmp") ? StorageError(.failed, $0.operation, path: $0.path, errno: 5) : nil
        }
        #expect(journalError { _ = try Journal.open("journal", options: options) }?.code == .ioFailed)
        storage.fail(nil)
        let before = memory.allContents()
        let id = try DurableSlots(JournalDirectory("journal", storage), .read).newest.journal
        func code(_ change: (inout JournalOptions) -> Void, _ open: (JournalOptions) throws -> Void) -> JournalError
            .Code?
        {
            var options = options
            change(&options)
            return journalError { try open(options) }?.code
        }
        // Without an expected head, the journal counts as not created yet. With a head, its
        // segments are missing, and no new one may replace them.
        let head = JournalHead(journal: id, position: 0, chain: Chain.start(id))
        for open in [
            { _ = try Journal.openReadOnly("journal", options: $0) }, { _ = try Journal.open("journal", options: $0) },
        ] {
            #expect(code({ $0.createIfMissing = false }, open) == .notFound)
            #expect(code({ $0.expectedHead = head }, open) == .damaged)
            #expect(code({ $0.expectedHead = JournalHead(journal: id, position: 1, chain: 0) }, open) == .damaged)
            #expect(
                code({ $0.expectedHead = JournalHead(journal: JournalID(bits: 1), position: 0, chain: 0) }, open)
                    == .headMismatch)
        }
        #expect(memory.allContents() == before)
        #expect(try Journal.open("journal", options: options).recovery.wasCreated)
    }
}
