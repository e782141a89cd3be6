import Foundation
import Locking
import TestSupport
import Testing

@testable import EventJournal

/// A journal whose files another program removes, renames or replaces while it is open.
///
/// The loop runs 4 rounds by default; `CHATJOURNAL_REMOVALS=200` runs as many.
@Suite struct RemovedFilesTests {
    /// What happens to the files.
    enum Removal: CaseIterable {
        case directoryRemoved, directoryRenamed, directoryReplaced, directoryRestored
        case segmentRemoved, segmentReplaced, durableRemoved, durableReplaced

        func apply(to path: String) throws {
            let files = FileManager.default
            switch self {
            case .directoryRemoved:
                // A file that is created meanwhile makes the removal fail halfway.
                while files.fileExists(atPath: path) { try? files.removeItem(atPath: path) }
            case .directoryRenamed: try files.moveItem(atPath: path, toPath: path + "-renamed")
            case .directoryReplaced:
                try files.moveItem(atPath: path, toPath: path + "-renamed")
                try files.createDirectory(atPath: path, withIntermediateDirectories: false)
            case .directoryRestored:
                // Each file by itself: a temporary file can disappear during a copy of the
                // directory.
                try files.createDirectory(atPath: path + "-copy", withIntermediateDirectories: false)
                for name in try files.contentsOfDirectory(atPath: path) where !name.hasSuffix(".tmp") {
                    try files.copyItem(atPath: path + "/" + name, toPath: path + "-copy/" + name)
                }
                try files.moveItem(atPath: path, toPath: path + "-renamed")
                try files.moveItem(atPath: path + "-copy", toPath: path)
            case .segmentRemoved: try Self.applyToLastSegment(of: path) { try files.removeItem(atPath: $0) }
            case .durableRemoved: try files.removeItem(atPath: path + "/durable")
            case .segmentReplaced: try Self.applyToLastSegment(of: path, Self.replace)
            case .durableReplaced: try Self.replace(path + "/durable")
            }
        }

        /// Changes the segment that is written, also if the writer begins another one meanwhile.
        private static func applyToLastSegment(of path: String, _ change: (String) throws -> Void) throws {
            func last() throws -> String {
                try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".segment") }.max()
                    ?? ""
            }
            var changed = ""
            while case let segment = try last(), segment > changed {
                try change(path + "/" + segment)
                changed = segment
            }
        }

        private static func replace(_ path: String) throws {
            try FileManager.default.copyItem(atPath: path, toPath: path + ".restored")
            guard unsafe rename(path + ".restored", path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        }
    }

    private static let roundCount = ProcessInfo.processInfo.environment["CHATJOURNAL_REMOVALS"].flatMap { Int($0) } ?? 4

    /// No call that begins two seconds after the removal is acknowledged.
    ///
    /// The time of the call is before that of its acknowledgement, so a slow machine acknowledges
    /// no call too late that a fast one would not.
    @Test func nothingIsAcknowledgedTwoSecondsAfterARemoval() async throws {
        let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
            var wrong = 0
            for round in 0..<Self.roundCount {
                // Several rounds wait at the same time.
                if round >= 8 { wrong += try await group.next() ?? 0 }
                group.addTask { try await Self.round(round) }
            }
            for try await count in group { wrong += count }
            return wrong
        }
        #expect(wrong == 0)
    }

    /// The state that the threads of a round share.
    private struct Round {
        var removal: ContinuousClock.Instant?
        var lateCount = 0
        var acknowledgedCount = 0
    }

    private static func round(_ number: Int) async throws -> Int {
        var random = SplitMix64(seed: Repetitions.seed &+ UInt64(number))
        let folder = try TemporaryDirectory()
        let path = folder.file("journal")
        let removal = Removal.allCases[number % Removal.allCases.count]
        let durability = Durability.allCases[number / Removal.allCases.count % Durability.allCases.count]
        // Some rounds begin new segments all the time.
        let size: UInt64 = number % 3 == 0 ? 20_000 : 128 << 20
        let journal = try Journal.open(path, options: JournalOptions(durability: durability, segmentSize: size))
        let shared = Lock(Round())
        let writer = Thread {
            for number in 0... {
                let start = ContinuousClock.now
                if shared.withLock({ $0.removal.map { start - $0 > .seconds(4) } }) == true { return }
                do {
                    try journal.append([Entry("kept \(number)", "erasable")])
                    try journal.waitUntilDurable(journal.lastPosition)
                } catch {
                    return
                }
                shared.withLock { round in
                    round.acknowledgedCount += 1
                    if let removal = round.removal, start - removal > .seconds(2) { round.lateCount += 1 }
                }
                usleep(200)
            }
        }
        writer.start()
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...1_500, using: &random)))
        try removal.apply(to: path)
        shared.withLock { $0.removal = .now }
        while !writer.isFinished { try await Task.sleep(for: .milliseconds(20)) }
        let (late, count) = shared.withLock { ($0.lateCount, $0.acknowledgedCount) }
        #expect(late == 0, "round \(number), \(removal), \(durability): \(late) of \(count) acknowledgements were late")
        #expect(throws: JournalError.self) { try journal.close() }
        return late
    }

    /// Without any call, the statistics say that the journal has stopped, and followers learn of
    /// it.
    @Test(.timeLimit(.minutes(5)), arguments: Removal.allCases) func idleJournalStops(_ removal: Removal) async throws {
        let folder = try TemporaryDirectory()
        let journal = try Journal.open(folder.file("journal"))
        try journal.append([Entry("a", "b")])
        try await journal.waitUntilDurable(1)
        try removal.apply(to: folder.file("journal"))
        let error = await #expect(throws: JournalError.self) { _ = try await journal.waitForRecords(after: 1) }
        #expect(error?.code == .notFound && error?.path?.hasPrefix(folder.file("journal/")) == true)
        #expect(journal.statistics.failure?.code == "notFound")
        #expect(journalError { try journal.append([Entry("c", "d")]) }?.code == .notFound)
        #expect(journalError { try journal.writeLedger([]) }?.code == .notFound)
        #expect(journalError { try journal.close() }?.code == .notFound)
    }

    /// The lock of `durable` protects a journal without its lock file, so nothing has to stop.
    @Test func removedLockFileStopsNothing() async throws {
        let folder = try TemporaryDirectory()
        let journal = try Journal.open(folder.file("journal"))
        try FileManager.default.removeItem(atPath: folder.file("journal/lock"))
        try await Task.sleep(for: .milliseconds(2_500))
        try journal.append([Entry("a", "b")])
        try await journal.waitUntilDurable(1)
        try journal.close()
    }

    // MARK: Moments

    /// What replaces the files of ``ReplaceableStorage``.
    private enum Moment { case now, nextSync }

    /// A storage in memory whose files get another identity at a moment.
    private final class ReplaceableStorage: JournalStorage {
        private let base = MemoryStorage()
        private let state = Lock((isReplaced: false, replacesAtSync: false))

        func replaceFiles(_ moment: Moment) {
            state.withLock { if moment == .now { $0.isReplaced = true } else { $0.replacesAtSync = true } }
        }

        func open(_ path: String, _ mode: StorageOpenMode) throws(StorageError) -> any StorageFile {
            File(try base.open(path, mode), self)
        }
        func kind(of path: String) throws(StorageError) -> StorageEntryKind? { base.kind(of: path) }
        func list(_ directory: String) throws(StorageError) -> [String] { try base.list(directory) }
        func rename(_ path: String, to target: String) throws(StorageError) { try base.rename(path, to: target) }
        func remove(_ path: String) throws(StorageError) { try base.remove(path) }
        func createDirectory(_ path: String) throws(StorageError) { try base.createDirectory(path) }
        func syncDirectory(_ path: String) throws(StorageError) { base.syncDirectory(path) }
        func lock(_ path: String) throws(StorageError) -> (any StorageLock)? { base.lock(path) }
        func isLocked(_ path: String) throws(StorageError) -> Bool { base.isLocked(path) }
        func identity(of path: String) throws(StorageError) -> StorageIdentity? {
            StorageIdentity(device: 1, file: state.withLock { $0.isReplaced ? 2 : 1 })
        }

        private final class File: StorageFile {
            private let base: any StorageFile
            private let storage: ReplaceableStorage

            init(_ base: any StorageFile, _ storage: ReplaceableStorage) { (self.base, self.storage) = (base, storage) }

            func read(into bytes: inout MutableRawSpan, at offset: UInt64) throws(StorageError) -> Int {
                try base.read(into: &bytes, at: offset)
            }
            func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError) { try base.write(bytes, at: offset) }
            func sync() throws(StorageError) {
                storage.state.withLock { if $0.replacesAtSync { $0.isReplaced = true } }
                try base.sync()
            }
            func size() throws(StorageError) -> UInt64 { try base.size() }
            func truncate(to size: UInt64) throws(StorageError) { try base.truncate(to: size) }
            func allocate(to size: UInt64) throws(StorageError) { try base.allocate(to: size) }
            func identity() throws(StorageError) -> StorageIdentity? { StorageIdentity(device: 1, file: 1) }
        }
    }

    private func open(_ storage: ReplaceableStorage, _ durability: Durability) throws -> Journal {
        let journal = try Journal.open(
            "journal",
            options: JournalOptions(durability: durability, segmentSize: 1_000, storage: storage, slotSyncDelay: nil))
        // As a second after the last check.
        journal.state.withLock { $0.nextFileCheck = .now }
        return journal
    }

    /// The check follows the sync, so that a long sync acknowledges nothing in removed files.
    @Test func syncIsNotAcknowledgedInReplacedFiles() throws {
        let storage = ReplaceableStorage()
        let journal = try open(storage, .synced)
        try journal.append([Entry("a", "b")])
        storage.replaceFiles(.nextSync)
        #expect(journalError { try journal.waitUntilDurable(1) }?.code == .notFound)
        #expect(journal.durablePosition == 0)
    }

    /// Under `.written` no commit is written a second after the last check.
    @Test func writeIsNotAcknowledgedInReplacedFiles() throws {
        let storage = ReplaceableStorage()
        let journal = try open(storage, .written)
        storage.replaceFiles(.now)
        #expect(journalError { try journal.append([Entry("a", "b")]) }?.code == .notFound)
        #expect(journal.durablePosition == 0)
    }

    /// Each rotation, erasure, ledger and close checks the files, also within a second.
    @Test func everySegmentIsChecked() throws {
        for durability in Durability.allCases {
            let storage = ReplaceableStorage()
            let journal = try open(storage, durability)
            try journal.append([Entry("a", "b")])
            try journal.waitUntilDurable(1)
            journal.state.withLock { $0.nextFileCheck = .now + .seconds(3_600) }
            storage.replaceFiles(.now)
            try journal.append([Entry("c", "d")])
            #expect(
                journalError { try journal.append([Entry("e", String(repeating: "f", count: 900))]) }?.code == .notFound
            )
        }
        for change in [
            { (journal: Journal) in try journal.eraseContent(of: PositionSet([1...1]), orderedThrough: 1) },
            { (journal: Journal) in try journal.writeLedger([1]) }, { (journal: Journal) in try journal.close() },
        ] {
            let storage = ReplaceableStorage()
            let journal = try open(storage, .synced)
            try journal.append([Entry("a", "b")])
            try journal.waitUntilDurable(1)
            storage.replaceFiles(.now)
            #expect(journalError { try change(journal) }?.code == .notFound)
        }
    }
}
