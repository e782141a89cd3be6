import Dispatch
import Foundation
import Locking
import Testing

@testable import EventJournal

/// Commits appended during a sync gather in memory and are written together in the next round.
@Suite final class GroupWriteTests {
    private let entry = Entry("kept", "erasable")
    private let memory = MemoryStorage()
    private let storage: FaultyStorage
    private let gate = DispatchSemaphore(value: 0)
    private let syncing = DispatchSemaphore(value: 0)
    private let told = Told()
    private let threads = DispatchGroup()

    init() { storage = FaultyStorage(memory) }

    /// Opens a journal with one commit and blocks its waiter inside the sync until the gate opens.
    private func journalInItsSync() throws -> Journal {
        let journal = try Journal.open("journal", options: JournalOptions(storage: storage))
        try journal.append([entry])
        storage.fail { [gate, syncing] call in
            if call.operation == .sync {
                syncing.signal()
                gate.wait()
            }
            return nil
        }
        wait(for: 1, journal)
        syncing.wait()
        return journal
    }

    private func wait(for position: Position, _ journal: Journal) {
        threads.enter()
        let told = told
        Thread { [threads] in
            do throws(JournalError) { try journal.waitUntilDurable(position) } catch {
                told.failures.withLock { $0.append(error) }
            }
            threads.leave()
        }.start()
    }

    private func untilSoManyWait(_ count: Int, _ journal: Journal) throws {
        for _ in 0..<30_000 {
            if journal.statistics.waiters == count { return }
            Thread.sleep(forTimeInterval: 0.001)
        }
        try #require(journal.statistics.waiters == count)
    }

    /// Appends a commit per position, each with a waiting thread.
    ///
    /// Returns when all threads wait.
    private func appendAndWait(for positions: ClosedRange<Position>, _ journal: Journal) throws {
        for position in positions {
            try journal.append([entry])
            wait(for: position, journal)
        }
        try untilSoManyWait(positions.count, journal)
    }

    /// Counts the writes of commits, or with `ofZeros` the zero-fill writes ahead of them.
    private func writes(ofZeros: Bool = false) -> Int {
        storage.calls.count { call in
            call.operation == .write && call.path.hasSuffix(".segment")
                && (call.bytes.map { $0.upperBound - $0.lowerBound } == 262_144) == ofZeros
        }
    }

    @Test func commitsOfRoundAreWrittenTogether() throws {
        let journal = try journalInItsSync()
        let before = writes()
        try appendAndWait(for: 2...9, journal)
        #expect(writes() == before && journal.lastPosition == 9 && journal.durablePosition == 0)
        for _ in 0..<2 { gate.signal() }
        threads.wait()
        #expect(told.failures.withLock { $0 }.isEmpty && journal.durablePosition == 9)
        #expect(writes() == before + 1 && writes(ofZeros: true) == 1)
        #expect(journal.statistics.commitsPerSync.maximum == 8)
        // A copy of the storage, as a killed process leaves it.
        #expect(try Journal.openReadOnly("journal", options: JournalOptions(storage: memory.copy())).lastPosition == 9)
    }

    @Test func commitsWithoutWaitersAreWrittenAfterSync() throws {
        let journal = try journalInItsSync()
        try journal.append([entry])
        try journal.append([entry])
        gate.signal()
        threads.wait()
        #expect(journal.durablePosition == 1 && journal.lastPosition == 3)
        #expect(try Journal.openReadOnly("journal", options: JournalOptions(storage: memory.copy())).lastPosition == 3)
    }

    @Test func readWritesPendingCommitsFirst() throws {
        let journal = try journalInItsSync()
        for _ in 2...5 { try journal.append([entry]) }
        var positions: [Position] = []
        try journal.forEachRecord(in: 1...4) { position, _, _, _ in
            positions.append(position)
            return true
        }
        #expect(positions == [1, 2, 3, 4])
        try journal.append([entry])
        gate.signal()
        threads.wait()
        gate.signal()
        try journal.waitUntilDurable(6)
        #expect(try journal.verifiedPositions() == 6)
    }

    /// A full segment is written out before rotation even without a waiter; a close writes all
    /// pending commits.
    @Test func closeAndRotationWritePendingCommits() throws {
        let journal = try journalInItsSync()
        for _ in 2...40 { try journal.append([entry]) }
        for _ in 0..<64 { gate.signal() }
        threads.wait()
        storage.fail { _ in nil }
        try journal.close()
        let again = try Journal.open("journal", options: JournalOptions(storage: memory))
        #expect(again.recovery.wasClean && again.lastPosition == 40)
    }

    @Test func failedGroupWriteReachesEveryWaiter() throws {
        let journal = try journalInItsSync()
        try appendAndWait(for: 2...4, journal)
        storage.fail {
            $0.operation == .write && $0.path.hasSuffix(".segment")
                ? StorageError(.failed, .write, path: $0.path, errno: 5) : nil
        }
        gate.signal()
        threads.wait()
        let failures = told.failures.withLock { $0 }
        #expect(failures.count == 3 && failures.allSatisfy { $0.code == .ioFailed })
        #expect(journal.lastPosition == 1)
        #expect(journalError { try journal.append([entry]) }?.code == .ioFailed)
        #expect(journalError { try journal.waitUntilDurable(3) }?.code == .ioFailed)
        var count = 0
        try journal.forEachRecord(in: 1...1) { _, _, _, _ in
            count += 1
            return true
        }
        #expect(count == 1)
        storage.fail { _ in nil }
        #expect(try Journal.openReadOnly("journal", options: JournalOptions(storage: memory.copy())).lastPosition == 1)
    }

    @Test func writtenCommitsSurviveFailedSync() throws {
        let journal = try journalInItsSync()
        try appendAndWait(for: 2...4, journal)
        storage.fail { $0.operation == .sync ? StorageError(.failed, .sync, path: $0.path, errno: 5) : nil }
        gate.signal()
        threads.wait()
        #expect(told.failures.withLock { $0 }.map(\.code) == [.syncFailed, .syncFailed, .syncFailed])
        #expect(journal.lastPosition == 4 && journal.durablePosition == 1)
        #expect(try journal.verifiedPositions() == 4)
    }

    /// The journal drops commits that it never wrote, so that all remaining commits stay readable
    /// and verifiable.
    @Test func commitsGatheredDuringFailedSyncAreForgotten() throws {
        let journal = try Journal.open("journal", options: JournalOptions(storage: storage))
        try journal.append([entry])
        storage.fail { [gate, syncing] call in
            guard call.operation == .sync, call.path.hasSuffix(".segment") else { return nil }
            syncing.signal()
            gate.wait()
            return StorageError(.failed, .sync, path: call.path, errno: 5)
        }
        wait(for: 1, journal)
        syncing.wait()
        try appendAndWait(for: 2...4, journal)
        gate.signal()
        threads.wait()
        #expect(told.failures.withLock { $0 }.map(\.code) == [.syncFailed, .syncFailed, .syncFailed, .syncFailed])
        #expect(journal.lastPosition == 1 && journal.durablePosition == 0)
        #expect(try journal.verifiedPositions() == 1)
        var findings: [JournalFinding] = []
        try journal.verify { findings.append($0) }
        #expect(findings.isEmpty)
        #expect(journalError { try journal.append([entry]) }?.code == .syncFailed)
        storage.fail { _ in nil }
        #expect(try Journal.openReadOnly("journal", options: JournalOptions(storage: memory.copy())).lastPosition == 1)
    }

    @Test func failedZeroFillIsHarmless() throws {
        let journal = try journalInItsSync()
        try appendAndWait(for: 2...9, journal)
        storage.fail { call in
            let isZeros = call.operation == .write && call.bytes.map { $0.upperBound - $0.lowerBound } == 262_144
            return isZeros ? StorageError(.full, .write, path: call.path, errno: 28) : nil
        }
        gate.signal()
        threads.wait()
        #expect(told.failures.withLock { $0 }.isEmpty && journal.durablePosition == 9)
        try journal.append([entry])
        try journal.close()
        #expect(try Journal.open("journal", options: JournalOptions(storage: memory)).entries().count == 10)
    }

    /// Bounds memory: a round beyond the maximum is written in parts.
    @Test func longRoundIsWrittenInParts() throws {
        let journal = try journalInItsSync()
        let before = writes()
        let large = Entry(kept: [UInt8](repeating: 1, count: 60_000), erasable: [])
        for _ in 0..<40 { try journal.append([large]) }
        #expect(writes() > before && writes() < before + 4)
        gate.signal()
        threads.wait()
        #expect(try Journal.openReadOnly("journal", options: JournalOptions(storage: memory.copy())).lastPosition == 41)
    }
}

/// The results that waiting threads received.
private final class Told: Sendable {
    let failures = Lock<[JournalError]>([])
}

extension Journal {
    fileprivate func verifiedPositions() throws -> Int {
        var count = 0
        try forEachRecord(in: 1...lastPosition) { _, _, _, _ in
            count += 1
            return true
        }
        return count
    }
}
