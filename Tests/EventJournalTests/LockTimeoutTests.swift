import Dispatch
import Locking
import TestSupport
import Testing

@testable import EventJournal

/// An opening for writing waits for another writer up to the lock timeout.
@Suite struct LockTimeoutTests {
    /// A storage that calls a closure after each rejected lock.
    private final class Contested: JournalStorage {
        let base: MemoryStorage
        private let state = Lock((refused: 0, freed: "", act: Optional<@Sendable (Int) -> Void>.none))

        init(_ base: MemoryStorage) { self.base = base }

        /// Acts as if another file had replaced the lock file.
        func replace(_ path: String) { state.withLock { $0.freed = path } }

        var refused: Int { state.withLock { $0.refused } }
        func onRefusal(_ act: @escaping @Sendable (Int) -> Void) { state.withLock { $0.act = act } }

        func lock(_ path: String) throws(StorageError) -> (any StorageLock)? {
            if let lock = base.lock(state.withLock { $0.freed } == path ? path + "2" : path) { return lock }
            let (refused, act) = state.withLock { state in
                state.refused += 1
                return (state.refused, state.act)
            }
            act?(refused)
            return nil
        }
        func open(_ path: String, _ mode: StorageOpenMode) throws(StorageError) -> any StorageFile {
            try base.open(path, mode)
        }
        func kind(of path: String) throws(StorageError) -> StorageEntryKind? { base.kind(of: path) }
        func list(_ directory: String) throws(StorageError) -> [String] { try base.list(directory) }
        func rename(_ path: String, to target: String) throws(StorageError) { try base.rename(path, to: target) }
        func remove(_ path: String) throws(StorageError) { try base.remove(path) }
        func createDirectory(_ path: String) throws(StorageError) { try base.createDirectory(path) }
        func syncDirectory(_ path: String) throws(StorageError) { base.syncDirectory(path) }
        func isLocked(_ path: String) throws(StorageError) -> Bool { base.isLocked(path) }
    }

    private func close(_ journal: Journal) {
        do { try journal.close() } catch { Issue.record("\(error)") }
    }

    /// The other writer closes the journal after some attempts; the new writer sees all of its
    /// records.
    @Test(arguments: [1, 2, 5]) func openSucceedsWhenLockIsReleased(refusals: Int) throws {
        let storage = Contested(MemoryStorage())
        let other = try Journal.open("journal", options: JournalOptions(storage: storage, slotSyncDelay: nil))
        storage.onRefusal { count in
            guard count == refusals else { return }
            do { try other.append([Entry("last", "word")]) } catch { Issue.record("\(error)") }
            close(other)
        }
        let journal = try Journal.open(
            "journal", options: JournalOptions(storage: storage, slotSyncDelay: nil, lockTimeout: .seconds(600)))
        #expect(storage.refused == refusals)
        #expect(try journal.entries() == [Entry("last", "word")])
        try journal.close()
    }

    /// The lock file was removed, so only the lock of the durable file reveals the writer.
    @Test func openWaitsForLockOfDurableFile() throws {
        let storage = Contested(MemoryStorage())
        let other = try Journal.open("journal", options: JournalOptions(storage: storage, slotSyncDelay: nil))
        // The path now names another file.
        storage.replace("journal/lock")
        storage.onRefusal { count in
            if count == 3 { close(other) }
        }
        let journal = try Journal.open(
            "journal", options: JournalOptions(storage: storage, slotSyncDelay: nil, lockTimeout: .seconds(600)))
        #expect(storage.refused == 3)
        try journal.close()
    }

    @Test(arguments: [Duration.zero, .seconds(-5)]) func zeroTimeoutTriesOnce(timeout: Duration) throws {
        let storage = Contested(MemoryStorage())
        let other = try Journal.open("journal", options: JournalOptions(storage: storage, slotSyncDelay: nil))
        let options = JournalOptions(storage: storage, slotSyncDelay: nil, lockTimeout: timeout)
        #expect(journalError { _ = try Journal.open("journal", options: options) }?.code == .locked)
        #expect(storage.refused == 1)
        #expect(JournalOptions().lockTimeout == .zero)
        try other.close()
    }

    @Test(arguments: [Duration.nanoseconds(1), .milliseconds(20)]) func expiredTimeoutThrowsLocked(timeout: Duration)
        throws
    {
        let storage = Contested(MemoryStorage())
        let other = try Journal.open("journal", options: JournalOptions(storage: storage, slotSyncDelay: nil))
        let options = JournalOptions(storage: storage, slotSyncDelay: nil, lockTimeout: timeout)
        #expect(journalError { _ = try Journal.open("journal", options: options) }?.code == .locked)
        #expect(storage.refused >= 1)
        try other.close()
    }

    /// No other error is retried.
    @Test func onlyLockErrorsAreRetried() throws {
        let storage = Contested(MemoryStorage())
        let options = JournalOptions(storage: storage, createIfMissing: false, lockTimeout: .seconds(600))
        #expect(journalError { _ = try Journal.open("journal", options: options) }?.code == .notFound)
    }

    @Test func openWaitsForWriterOnAnotherThread() throws {
        let folder = try TemporaryDirectory()
        let other = try Journal.open(folder.file("journal"))
        let opened = Lock<Position?>(nil)
        DispatchQueue.concurrentPerform(iterations: 2) { turn in
            do {
                if turn == 0 {
                    try other.append([Entry("last", "word")])
                    try other.close()
                } else {
                    let journal = try Journal.open(
                        folder.file("journal"), options: JournalOptions(lockTimeout: .seconds(600)))
                    opened.withLock { $0 = journal.lastPosition }
                    try journal.close()
                }
            } catch {
                Issue.record("\(error)")
            }
        }
        #expect(opened.withLock { $0 } == 1)
    }
}
