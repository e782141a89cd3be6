import Dispatch
import Locking
import Synchronization
import Testing

@testable import EventJournal

/// A journal without sync waiters syncs in the background, which bounds the work of the sync at a
/// rotation.
@Suite struct BackgroundSyncTests {
    private let storage = FaultyStorage(MemoryStorage())
    /// Almost 1 MiB.
    private let entry = Entry(kept: [1], erasable: [UInt8](repeating: 7, count: JournalLimits.erasableBytes))

    private func open(_ durability: Durability, _ segmentSize: UInt64 = 128 << 20) throws -> Journal {
        try Journal.open(
            "journal", options: JournalOptions(durability: durability, segmentSize: segmentSize, storage: storage))
    }

    /// Blocks the first sync until the gate opens.
    private final class HeldSync: Sendable {
        private let hasBegun = DispatchSemaphore(value: 0)
        private let gate = DispatchSemaphore(value: 0)
        private let wasHeld = Atomic(false)

        var isUnderWay: Bool { wasHeld.load(ordering: .relaxed) }

        func hold(_ call: FaultyStorage.Call) {
            guard call.operation == .sync,
                wasHeld.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
            else {
                return
            }
            hasBegun.signal()
            gate.wait()
        }

        func waitUntilItIsUnderWay() { hasBegun.wait() }

        func letGo() { gate.signal() }
    }

    private func segmentSyncs() -> Int {
        storage.calls.count { $0.operation == .sync && $0.path.hasSuffix(".segment") }
    }

    @Test func backgroundSyncRunsEveryEightMebibytes() throws {
        let journal = try open(.written)
        let before = (segmentSyncs(), journal.statistics.syncs)
        for _ in 1...7 { try journal.append([entry]) }
        journal.background.drain()
        #expect(segmentSyncs() == before.0)
        try journal.append([entry])
        journal.background.drain()
        #expect(segmentSyncs() == before.0 + 1 && journal.statistics.syncs == before.1 + 1)
        #expect(journal.state.withLock { $0.syncedPosition } == 8)
        try journal.append([entry])
        journal.background.drain()
        #expect(segmentSyncs() == before.0 + 1)
        // The background sync has ended: the next caller leads its own sync.
        try journal.synchronize()
        #expect(journal.state.withLock { $0.syncedPosition } == 9)
        try journal.close()
    }

    @Test func newSegmentRestartsBackgroundSync() throws {
        let journal = try open(.written, 9 << 20)
        for _ in 1...16 {
            try journal.append([entry])
            journal.background.drain()
        }
        #expect(journal.statistics.segments == 2)
        #expect(journal.state.withLock { $0.syncedPosition } == 16)
        try journal.close()
    }

    @Test func syncedDurabilityNeedsNoBackgroundSync() throws {
        let journal = try open(.synced)
        let before = segmentSyncs()
        for _ in 1...9 { try journal.append([entry]) }
        journal.background.drain()
        #expect(segmentSyncs() == before)
        try journal.close()
    }

    /// The system reports a write error to only one of the callers of `fsync`.
    ///
    /// If a background sync receives it, a slot written by another sync would attest lost records.
    @Test func failedBackgroundWritePreventsAttestation() throws {
        let journal = try open(.written)
        let sync = HeldSync()
        storage.fail { call in
            if call.operation == .write, call.path.hasSuffix(".segment"), sync.isUnderWay {
                return StorageError(.failed, .write, path: call.path, errno: 5)
            }
            sync.hold(call)
            return nil
        }
        for _ in 1...8 { try journal.append([entry]) }
        sync.waitUntilItIsUnderWay()
        let before = storage.calls.count
        #expect(journalError { try journal.append([entry]) }?.code == .ioFailed)
        sync.letGo()
        journal.background.drain()
        #expect(journal.state.withLock { $0.syncedPosition } == 0)
        #expect(!storage.calls[before...].contains { $0.operation == .write && !$0.path.hasSuffix(".segment") })
        storage.fail(nil)
        #expect(journalError { try journal.close() }?.code == .ioFailed)
        #expect(try open(.written).lastPosition == 8)
    }

    @Test func closeWaitsForBackgroundSync() throws {
        let journal = try open(.written)
        let sync = HeldSync()
        storage.fail { call in
            sync.hold(call)
            return nil
        }
        for _ in 1...8 { try journal.append([entry]) }
        sync.waitUntilItIsUnderWay()
        try journal.append([entry])
        let closing = DispatchGroup()
        DispatchQueue.global().async(group: closing) {
            do { try journal.close() } catch { Issue.record(error) }
        }
        // The timeout is a lower bound only: on any machine, the close waits for the held sync.
        #expect(closing.wait(timeout: .now() + 0.1) == .timedOut)
        sync.letGo()
        closing.wait()
        let calls = storage.calls.count
        journal.background.drain()
        // The background thread makes no calls after the close, which releases the lock.
        #expect(storage.calls.count == calls)
        let again = try open(.written)
        #expect(again.lastPosition == 9 && again.recovery.wasClean)
        try again.close()
    }

    @Test func failedBackgroundSyncStopsJournal() throws {
        let journal = try open(.written)
        storage.fail { $0.operation == .sync ? StorageError(.failed, .sync, path: $0.path, errno: 5) : nil }
        for _ in 1...8 { try journal.append([entry]) }
        journal.background.drain()
        #expect(journalError { try journal.append([entry]) }?.code == .syncFailed)
        storage.fail(nil)
        #expect(journalError { try journal.close() }?.code == .syncFailed)
        // A process crash still loses nothing.
        #expect(try open(.written).lastPosition == 8)
    }
}
