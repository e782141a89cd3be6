import Dispatch
import Foundation
import Locking
import Testing

@testable import EventJournal

@Suite struct JournalStatisticsTests {
    private let entry = Entry("kept", "erasable")

    /// Returns the size of all commits in the files of a closed journal, in bytes.
    private func commitBytes(_ storage: MemoryStorage) -> UInt64 {
        let segments = storage.allContents().filter { $0.key.hasSuffix(JournalFileName.segmentSuffix) }.sorted {
            $0.key < $1.key
        }
        // Every segment except the last has a footer, which ends with its own length.
        let footers = segments.dropLast().reduce(0) { sum, segment in
            sum + segment.value.suffix(4).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        return segments.reduce(0) { $0 + UInt64($1.value.count - SegmentHeader.size) } - footers
    }

    @Test func statisticsOfLifetime() throws {
        let storage = MemoryStorage()
        let options = JournalOptions(storage: storage)
        let journal = try Journal.open("journal", options: options)
        let fresh = journal.statistics
        #expect(fresh.journal == journal.id)
        #expect(fresh.durability == .synced && !fresh.isReadOnly)
        #expect(fresh.lastPosition == 0 && fresh.durablePosition == 0 && fresh.segments == 1)
        #expect(fresh.storedBytes == 0 && fresh.unusedBytes == 0 && fresh.appendedBytes == 0)
        #expect(fresh.appendedCommits == 0 && fresh.appendedRecords == 0 && fresh.syncs == 0 && fresh.rotations == 0)
        #expect(fresh.storageFullRejections == 0 && fresh.waiters == 0 && fresh.failure == nil)
        #expect(fresh.recovery == journal.recovery && fresh.recovery.wasCreated)

        // Five commits of 1 to 5 records share a sync; a sixth commit has its own.
        var bytes: UInt64 = 0
        for count in 1...5 {
            let draft = try draft([Entry](repeating: entry, count: count))
            bytes += UInt64(draft.encodedByteCount)
            _ = try journal.append(draft, expecting: journal.lastPosition)
        }
        let before = journal.statistics
        #expect(before.lastPosition == 15 && before.durablePosition == 0 && before.syncs == 0)
        #expect(before.appendedBytes == bytes && before.storedBytes == bytes)
        #expect(before.unusedBytes > 0)
        try journal.waitUntilDurable(15)
        try journal.waitUntilDurable(3)
        #expect(journal.statistics.durablePosition == 15)
        #expect(journal.statistics.syncs == 1)
        try journal.append([entry])
        try journal.synchronize()
        let after = journal.statistics
        #expect(after.appendedCommits == 6 && after.appendedRecords == 16)
        #expect(after.recordsPerCommit.buckets.prefix(4).map(\.count) == [2, 1, 2, 1])
        #expect(after.commitsPerSync.count == 2 && after.commitsPerSync.sum == 6 && after.commitsPerSync.maximum == 5)
        #expect(
            after.syncLatency.count == 2 && after.syncLatency.sum >= after.syncLatency.maximum
                && after.syncLatency.maximum > 0)
        try journal.close()
        let closed = journal.statistics
        #expect(closed.syncs == 3 && closed.commitsPerSync.sum == 6)
        #expect(closed.unusedBytes == 0)
        #expect(closed.storedBytes == commitBytes(storage))

        let reader = try Journal.openReadOnly("journal", options: options).statistics
        #expect(reader.isReadOnly && reader.lastPosition == 16 && reader.durablePosition == 16)
        #expect(reader.storedBytes == closed.storedBytes && reader.unusedBytes == 0 && reader.appendedBytes == 0)
        #expect(reader.appendedCommits == 0 && reader.syncs == 0 && reader.recovery.wasClean)
    }

    @Test func writtenCommitsAreDurableWithoutSync() throws {
        let journal = try Journal.open(
            "journal", options: JournalOptions(durability: .written, storage: MemoryStorage()))
        try journal.append([entry, entry])
        try journal.waitUntilDurable(2)
        #expect(journal.statistics.durability == .written)
        #expect(journal.statistics.durablePosition == 2)
        #expect(journal.statistics.syncs == 0)
        try journal.synchronize()
        #expect(journal.statistics.commitsPerSync.sum == 1)
    }

    /// Compares the statistics of a random workload with counters of the test.
    @Test(arguments: 0..<12) func statisticsEqualCounters(_ round: Int) throws {
        var generator = SeededGenerator()
        let seed = generator.seed
        let storage = MemoryStorage()
        var position: Position = 0
        var stored: UInt64 = 0
        for _ in 0..<4 {
            let options = JournalOptions(
                durability: Bool.random(using: &generator) ? .synced : .written,
                segmentSize: UInt64.random(in: 512...4000, using: &generator), storage: storage)
            let journal = try Journal.open("journal", options: options)
            let segmentsAtOpening = journal.statistics.segments
            var sizes: [UInt64] = []
            var appended: UInt64 = 0
            for _ in 0..<Int.random(in: 0...60, using: &generator) {
                if Int.random(in: 0..<4, using: &generator) == 0 {
                    try journal.synchronize()
                    #expect(journal.statistics.commitsPerSync.sum == UInt64(sizes.count), "CHATJOURNAL_SEED=\(seed)")
                } else {
                    let draft = try draft((0..<Int.random(in: 1...9, using: &generator)).map { _ in generator.entry() })
                    position = try journal.append(draft, expecting: position).upperBound
                    sizes.append(UInt64(draft.recordCount))
                    appended += UInt64(draft.encodedByteCount)
                }
                let statistics = journal.statistics
                var model = JournalStatistics.Histogram(powersOfTwo: 0...22)
                for size in sizes { model.record(size) }
                #expect(statistics.recordsPerCommit == model, "CHATJOURNAL_SEED=\(seed)")
                #expect(statistics.lastPosition == position, "CHATJOURNAL_SEED=\(seed)")
                #expect(statistics.appendedBytes == appended, "CHATJOURNAL_SEED=\(seed)")
                #expect(statistics.storedBytes == stored + appended, "CHATJOURNAL_SEED=\(seed)")
                #expect(statistics.commitsPerSync.count == statistics.syncLatency.count, "CHATJOURNAL_SEED=\(seed)")
                #expect(
                    statistics.segments == segmentsAtOpening + Int(statistics.rotations), "CHATJOURNAL_SEED=\(seed)")
            }
            let segments = try journal.segments()
            #expect(segments.count == journal.statistics.segments, "CHATJOURNAL_SEED=\(seed)")
            #expect(segments.reduce(0) { $0 + $1.bytes } == stored + appended, "CHATJOURNAL_SEED=\(seed)")
            var next: Position = 1
            for positions in segments.compactMap(\.positions) {
                #expect(positions.lowerBound == next, "CHATJOURNAL_SEED=\(seed)")
                next = positions.upperBound + 1
            }
            #expect(next == position + 1, "CHATJOURNAL_SEED=\(seed)")
            stored += appended
            if Bool.random(using: &generator) {
                try journal.close()
                #expect(commitBytes(storage) == stored, "CHATJOURNAL_SEED=\(seed)")
            }
        }
    }

    @Test func fullDiskIsCounted() throws {
        let storage = FaultyStorage(MemoryStorage())
        let journal = try Journal.open("journal", options: JournalOptions(segmentSize: 4096, storage: storage))
        try journal.append([entry])
        storage.fail { $0.operation == .allocate ? StorageError(.full, .allocate, path: $0.path, errno: 28) : nil }
        // The first step reserved the whole segment; neither the segment nor the disk has space for
        // this commit.
        try journal.reserve(3000)
        let long = Entry(kept: [], erasable: [UInt8](repeating: 1, count: 5000))
        #expect(journalError { _ = try journal.append([long]) }?.code == .storageFull)
        #expect(journal.statistics.storageFullRejections == 1)
        #expect(journalError { try journal.reserve(5000) }?.code == .storageFull)
        #expect(journal.statistics.storageFullRejections == 2)
        #expect(journalError { _ = try journal.append(try draft([entry]), expecting: 7) }?.code == .conflict)
        #expect(journalError { _ = try journal.append([]) }?.code == .tooLarge)
        #expect(journal.statistics.storageFullRejections == 2)
        #expect(
            journal.statistics.appendedCommits == 1 && journal.statistics.rotations == 0
                && journal.statistics.failure == nil)
    }

    @Test func stoppedJournalReportsCause() throws {
        let storage = FaultyStorage(MemoryStorage())
        let journal = try Journal.open("journal", options: JournalOptions(storage: storage))
        try journal.append([entry])
        storage.fail { $0.operation == .sync ? StorageError(.failed, .sync, path: $0.path, errno: 5) : nil }
        let error = try #require(journalError { try journal.waitUntilDurable(1) })
        let statistics = journal.statistics
        #expect(statistics.failure == JournalStatistics.Failure(code: "syncFailed", message: error.message))
        #expect(statistics.syncs == 0 && statistics.commitsPerSync.count == 0)
        #expect(statistics.lastPosition == 1 && statistics.durablePosition == 0)
        #expect(statistics.openMetrics().contains("\nevent_journal_stopped 1\n"))
    }

    @Test func waitersOnSharedSyncAreCounted() throws {
        let storage = FaultyStorage(MemoryStorage())
        let journal = try Journal.open("journal", options: JournalOptions(storage: storage))
        for _ in 0..<4 { try journal.append([entry]) }
        let gate = DispatchSemaphore(value: 0)
        storage.fail { call in
            if call.operation == .sync { gate.wait() }
            return nil
        }
        let failures = Lock(0)
        let group = DispatchGroup()
        for position in 1...4 as ClosedRange<Position> {
            let thread = Thread {
                do throws(JournalError) { try journal.waitUntilDurable(position) } catch {
                    failures.withLock { $0 += 1 }
                }
                group.leave()
            }
            group.enter()
            thread.start()
        }
        // One thread leads and stops at the gate; three others wait for its sync.
        var polls = 0
        while journal.statistics.waiters < 3 && polls < 30_000 {
            Thread.sleep(forTimeInterval: 0.001)
            polls += 1
        }
        #expect(journal.statistics.waiters == 3)
        #expect(journal.statistics.syncs == 0)
        gate.signal()
        group.wait()
        #expect(failures.withLock { $0 } == 0)
        #expect(journal.statistics.waiters == 0)
        #expect(journal.statistics.commitsPerSync.count == 1 && journal.statistics.commitsPerSync.maximum == 4)
    }

    @Test func snapshotIsConsistent() throws {
        let journal = try Journal.open("journal", options: JournalOptions(segmentSize: 2000, storage: MemoryStorage()))
        let draft = try draft([entry, entry])
        let size = UInt64(draft.encodedByteCount)
        let snapshots = Lock<[JournalStatistics]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { worker in
            for _ in 0..<100 {
                if worker == 0 {
                    do {
                        let entries = [entry, entry]
                        try journal.append(entries)
                    } catch {
                        Issue.record("\(error)")
                    }
                } else {
                    snapshots.withLock { $0.append(journal.statistics) }
                }
            }
        }
        let taken = snapshots.withLock { $0 }
        #expect(taken.count == 300)
        for snapshot in taken {
            #expect(snapshot.appendedRecords == snapshot.lastPosition)
            #expect(snapshot.appendedCommits * 2 == snapshot.lastPosition)
            #expect(snapshot.storedBytes == snapshot.appendedCommits * size)
            #expect(snapshot.segments == Int(snapshot.rotations) + 1)
        }
        #expect(journal.statistics.appendedCommits == 100)
    }

    @Test func readerReportsUnusedBytesAfterCrash() throws {
        let storage = MemoryStorage()
        let journal = try Journal.open("journal", options: JournalOptions(storage: storage))
        try journal.append([entry])
        let unused = journal.statistics.unusedBytes
        let crashed = storage.copy()
        let reader = try Journal.openReadOnly("journal", options: JournalOptions(storage: crashed)).statistics
        #expect(unused > 0 && reader.unusedBytes == unused)
        #expect(!reader.recovery.wasClean && reader.recovery.recoveredPositions == 1...1)
        try journal.close()
    }

    /// Each stored property has a JSON field (null for nil), and decoding restores every value.
    @Test func jsonHasEveryField() throws {
        var report = RecoveryReport()
        report.lastPosition = 9
        for isFull in [false, true] {
            if isFull {
                report.recoveredPositions = 3...9
                report.cutBytes = 100..<612
                report.cutSegment = "00000000000000000001.segment"
                report.cutFile = "cut/x"
                report.damagedSlots = [1]
                report.removedFiles = ["durable.tmp"]
            }
            var statistics = try Journal.open("journal", options: JournalOptions(storage: MemoryStorage())).statistics
            statistics.recovery = report
            if isFull { statistics.failure = JournalStatistics.Failure(code: "syncFailed", message: "It failed.") }
            try check(report)
            try check(statistics)
        }
    }

    private func check<Value: Codable & Equatable>(_ value: Value) throws {
        let json = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(Value.self, from: json) == value)
        let fields = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        // Stored data fixes the JSON keys, so some properties have other names than their keys.
        let keys = ["wasCreated": "created", "rotations": "rollOvers", "storageFullRejections": "refusedAsFull"]
        #expect(Set(fields.keys) == Set(Mirror(reflecting: value).children.compactMap(\.label).map { keys[$0] ?? $0 }))
    }
}
