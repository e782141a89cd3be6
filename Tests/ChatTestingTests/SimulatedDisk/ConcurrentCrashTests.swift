import ChatTesting
import EventJournal
import Foundation
import Locking
import Testing

/// Power failures at any operation while many threads wait for their commits, which gather during a
/// sync and are written together.
///
/// The other crash suites visit every operation of a single thread; here the operations depend on
/// scheduling.
@Suite struct ConcurrentCrashTests {
    private static let threads = 6

    @Test(arguments: Seeds.seeds(40, from: 7_000)) func acknowledgedRecordsSurvivePowerCut(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let disk = SimulatedDisk(seed: seed)
        let written = Written()
        do {
            let journal = try Journal.open("journal", options: options(SlowSyncs(disk)))
            disk.cutPower(
                PowerCut(
                    Bool.random(using: &random) ? .before : .after,
                    operation: disk.operationCount + Int.random(in: 1...160, using: &random)
                ))
            let group = DispatchGroup()
            for _ in 0..<Self.threads {
                group.enter()
                Thread {
                    // Each thread runs until it meets the power failure as an error.
                    do {
                        while true {
                            try journal.waitUntilDurable(try written.append(to: journal)) { written.acknowledge($0) }
                        }
                    } catch {}
                    group.leave()
                }.start()
            }
            group.wait()
        }
        #expect(!disk.hasPower)
        let (model, acknowledged) = written.result
        let outcomes = [.nothing, .everything] + (0..<8).map { CrashOutcome.random(seed: seed &* 31 &+ $0) }
        for outcome in outcomes {
            let journal = try Journal.open("journal", options: options(disk.crash(outcome)))
            let last = Int(journal.lastPosition)
            #expect(
                last >= acknowledged && last <= model.count,
                "seed \(seed), \(outcome): \(last) of \(acknowledged)...\(model.count)")
            if last > 0 {
                var found: [UInt64] = []
                try journal.forEachRecord(in: 1...journal.lastPosition) { _, _, kept, _ in
                    found.append(
                        UInt64(littleEndian: unsafe kept.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self)))
                    return true
                }
                #expect(found == Array(model.prefix(last)), "seed \(seed), \(outcome)")
            }
            try journal.waitUntilDurable(try Written(from: model.count).append(to: journal)) {
                #expect($0 > Position(last))
            }
            try journal.close()
        }
    }

    private func options(_ storage: any JournalStorage) -> JournalOptions {
        JournalOptions(segmentSize: 16_384, storage: storage)
    }
}

extension Journal {
    fileprivate func waitUntilDurable(_ position: Position, _ then: (Position) -> Void) throws(JournalError) {
        try waitUntilDurable(position)
        then(position)
    }
}

/// The appended records in order, and the last position acknowledged as durable.
private final class Written: Sendable {
    private let state: Lock<(records: [UInt64], next: UInt64, acknowledged: Int, hasFailed: Bool)>

    init(from next: Int = 0) { state = Lock((records: [], next: UInt64(next), acknowledged: 0, hasFailed: false)) }

    var result: (records: [UInt64], acknowledged: Int) { state.withLock { ($0.records, $0.acknowledged) } }

    /// Appends a commit of one to three records.
    func append(to journal: Journal) throws -> Position {
        try state.withLock { state in
            var draft = CommitDraft()
            let count = 1 + state.next % 3
            for record in state.next..<state.next + count {
                let bytes =
                    (0..<8).map { UInt8(truncatingIfNeeded: record >> (8 * $0)) }
                    + [UInt8](repeating: 7, count: Int(record % 90))
                unsafe try draft.append(
                    kept: bytes.span.bytes, erasable: [UInt8](repeating: 9, count: Int(record % 400)).span.bytes)
            }
            if state.hasFailed { throw Surprise("an append has failed before") }
            // A failed append can still have written its commit.
            state.records += state.next..<state.next + count
            state.next += count
            state.hasFailed = true
            let positions = try journal.append(draft, expecting: journal.lastPosition)
            state.hasFailed = false
            return positions.upperBound
        }
    }

    func acknowledge(_ position: Position) { state.withLock { $0.acknowledged = max($0.acknowledged, Int(position)) } }
}

/// A disk with slow syncs, during which other threads append.
private struct SlowSyncs: JournalStorage {
    let base: SimulatedDisk

    init(_ base: SimulatedDisk) { self.base = base }

    func open(_ path: String, _ mode: StorageOpenMode) throws(StorageError) -> any StorageFile {
        File(try base.open(path, mode))
    }
    func kind(of path: String) throws(StorageError) -> StorageEntryKind? { try base.kind(of: path) }
    func list(_ directory: String) throws(StorageError) -> [String] { try base.list(directory) }
    func rename(_ path: String, to target: String) throws(StorageError) { try base.rename(path, to: target) }
    func remove(_ path: String) throws(StorageError) { try base.remove(path) }
    func createDirectory(_ path: String) throws(StorageError) { try base.createDirectory(path) }
    func syncDirectory(_ path: String) throws(StorageError) { try base.syncDirectory(path) }
    func lock(_ path: String) throws(StorageError) -> (any StorageLock)? { try base.lock(path) }
    func isLocked(_ path: String) throws(StorageError) -> Bool { try base.isLocked(path) }

    private final class File: StorageFile {
        let base: any StorageFile

        init(_ base: any StorageFile) { self.base = base }

        func read(into bytes: inout MutableRawSpan, at offset: UInt64) throws(StorageError) -> Int {
            try base.read(into: &bytes, at: offset)
        }
        func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError) { try base.write(bytes, at: offset) }
        func size() throws(StorageError) -> UInt64 { try base.size() }
        func truncate(to size: UInt64) throws(StorageError) { try base.truncate(to: size) }
        func allocate(to size: UInt64) throws(StorageError) { try base.allocate(to: size) }

        func sync() throws(StorageError) {
            Thread.sleep(forTimeInterval: 0.000_2)
            try base.sync()
        }
    }
}
