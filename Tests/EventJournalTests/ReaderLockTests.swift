import ChatTesting
import Dispatch
import Foundation
import Locking
import TestSupport
import Testing

@testable import EventJournal

/// Readers wait neither for the writer's I/O nor for the I/O of other readers.
@Suite(.serialized) struct ReaderLockTests {
    /// Runs work on a thread of its own, outside the cooperative pool; returns whether it ends while
    /// the caller stays where it is.
    private static func ends(turns: Int = 30_000, _ work: @escaping @Sendable () throws -> Void) -> Bool {
        endsMeanwhile(turns: turns) {
            do { try work() } catch { Issue.record(error) }
        }
    }

    /// Runs work before the next call that satisfies the condition; the call proceeds afterwards.
    private func hold(
        _ storage: FaultyStorage, during condition: @escaping @Sendable (FaultyStorage.Call) -> Bool,
        _ work: @escaping @Sendable (FaultyStorage.Call) -> Void
    ) {
        let wasHeld = Lock(false)
        storage.fail { call in
            if condition(call), !wasHeld.withLock({ was in (was, was = true).0 }) { work(call) }
            return nil
        }
    }

    enum Work: CaseIterable { case append, rotation, synchronize, close }

    private let entry = Entry(kept: [1], erasable: [UInt8](repeating: 7, count: 900))

    private func options(_ storage: any JournalStorage, _ durability: Durability) -> JournalOptions {
        JournalOptions(
            durability: durability, segmentSize: 20_000, storage: storage, entropy: SeededEntropy(seed: 5),
            slotSyncDelay: nil)
    }

    /// Opens a journal of three segments that is ready for one kind of work.
    private func journal(_ storage: FaultyStorage, _ durability: Durability, for work: Work) throws -> Journal {
        let new = try Journal.open("j", options: options(storage, durability))
        while new.statistics.segments < 3 { try new.append([entry]) }
        try new.close()
        let journal = try Journal.open("j", options: options(storage, durability))
        switch work {
        case .append: break
        case .rotation:
            let count = UInt64(try draft([entry]).encodedByteCount)
            while journal.state.withLock({ $0.hasRoom(count, journal.segmentSize) }) { try journal.append([entry]) }
            try journal.waitUntilDurable(journal.lastPosition)
            // Appends a record that is not durable yet and needs a sync.
            try journal.append([Entry("small", "")])
        case .synchronize, .close: try journal.append([entry])
        }
        return journal
    }

    private func perform(_ work: Work, _ journal: Journal) throws {
        switch work {
        case .append, .rotation: try journal.append([entry])
        case .synchronize: try journal.synchronize()
        case .close: try journal.close()
        }
    }

    /// Reads all durable records.
    private static func read(_ journal: Journal, durable: Position) throws {
        #expect(journal.durablePosition >= durable && journal.lastPosition >= durable)
        #expect(try journal.entries(1...durable).count == Int(durable))
        var found: [Position] = []
        try journal.forEachRecord(at: [1, durable]) { position, _, _, _ in
            found.append(position)
            return true
        }
        #expect(found == [1, durable])
        #expect(try journal.contains(journal.head))
        #expect(try journal.head(at: 1).position == 1)
        #expect(try journal.segments().count >= 3)
        try journal.waitUntilDurable(durable)
    }

    @Test(arguments: Work.allCases, [Durability.synced, .written])
    func readersFinishWhileWriterBlocksInAnyCall(_ work: Work, _ durability: Durability) throws {
        let counted = FaultyStorage(MemoryStorage())
        let first = try journal(counted, durability, for: work)
        let before = counted.calls.count
        try perform(work, first)
        let count = counted.calls.count - before
        #expect(count > 0)
        for index in 0..<count {
            let storage = FaultyStorage(MemoryStorage())
            let journal = try journal(storage, durability, for: work)
            let durable = journal.durablePosition
            let calls = Lock((seen: 0, waitedFor: FaultyStorage.Call?.none))
            let writer = ObjectIdentifier(Thread.current)
            // Calls by readers have no index.
            hold(storage) { _ in
                ObjectIdentifier(Thread.current) == writer
                    && calls.withLock { calls in
                        calls.seen += 1
                        return calls.seen == index + 1
                    }
            } _: { call in
                if !Self.ends({ try Self.read(journal, durable: durable) }) { calls.withLock { $0.waitedFor = call } }
            }
            try perform(work, journal)
            let waitedFor = calls.withLock { $0.waitedFor }
            try #require(waitedFor == nil, "A reader waited for this call.")
            #expect(calls.withLock { $0.seen } > index)
        }
    }

    /// Returns a closed journal of four segments with a damaged first footer, and the first
    /// positions of its segments.
    private func journalWithDamagedFooter() throws -> (storage: FaultyStorage, starts: [Position]) {
        let memory = MemoryStorage()
        let journal = try Journal.open("j", options: options(memory, .synced))
        while journal.statistics.segments < 4 { try journal.append([entry]) }
        let starts = try journal.segments().compactMap(\.positions?.lowerBound)
        try journal.close()
        var bytes = try #require(memory.allContents()[segment(1)])
        bytes[bytes.count - 1] ^= 1
        memory.setContents(bytes, of: segment(1))
        return (FaultyStorage(memory), starts)
    }

    private func segment(_ first: Position) -> String { "j/" + JournalFileName.segment(first) }

    @Test func segmentScanBlocksNoOtherSegment() throws {
        let (storage, starts) = try journalWithDamagedFooter()
        let journal = try Journal.openReadOnly("j", options: options(storage, .synced))
        #expect(try journal.entries(starts[1]...starts[1]).count == 1)
        let name = segment(1)
        let isScanned = Lock(false)
        hold(storage) {
            $0.operation == .read && $0.path == name && ($0.bytes?.count ?? 0) > 8192
        } _: { _ in
            isScanned.withLock { $0 = true }
            // Reads one segment that is open and one that is not.
            let hasEnded = Self.ends { () throws in
                #expect(try journal.entries(starts[1]...starts[3] - 1).count == Int(starts[3] - starts[1]))
            }
            #expect(hasEnded, "A reader waited for another segment.")
        }
        #expect(try journal.entries(1...1) == [entry])
        #expect(isScanned.withLock { $0 })
    }

    @Test func concurrentReadersLoadSegmentOnce() throws {
        let (storage, _) = try journalWithDamagedFooter()
        let journal = try Journal.openReadOnly("j", options: options(storage, .synced))
        let name = segment(1)
        let before = storage.calls.count
        let second = DispatchSemaphore(value: 0)
        hold(storage) {
            $0.operation == .read && $0.path == name
        } _: { _ in
            // Leaves the second reader time to open the segment too, if it would.
            let hasEnded = Self.ends(turns: 50) { () throws in
                #expect(try journal.entries(1...2).count == 2)
                second.signal()
            }
            #expect(!hasEnded)
        }
        #expect(try journal.entries(1...2).count == 2)
        second.wait()
        #expect(storage.calls[before...].count { $0.operation == .open && $0.path == name } == 1)
    }

    /// A task that starts to follow the journal does not wait for the writer either.
    @Test func followerIsAddedDuringRotation() throws {
        let storage = FaultyStorage(MemoryStorage())
        let journal = try journal(storage, .written, for: .rotation)
        let durable = journal.durablePosition
        let wasAdded = Lock(false)
        let position = Lock<Position>(0)
        let hasEnded = DispatchSemaphore(value: 0)
        hold(storage) {
            $0.operation == .sync
        } _: { _ in
            Task(executorPreference: ThreadExecutor()) { @Sendable in
                do {
                    let more = try await journal.waitForRecords(after: durable)
                    position.withLock { $0 = more }
                } catch {
                    Issue.record(error)
                }
                hasEnded.signal()
            }
            for _ in 0..<20_000 where journal.published.withLock({ $0.followers.isEmpty }) {
                Thread.sleep(forTimeInterval: 0.001)
            }
            wasAdded.withLock { $0 = journal.published.withLock { !$0.followers.isEmpty } }
        }
        try journal.append([entry])
        #expect(wasAdded.withLock { $0 })
        hasEnded.wait()
        #expect(position.withLock { $0 } > durable)
    }

    private static func record(_ position: Position) -> Entry {
        Entry("\(position)", String(repeating: "e", count: Int(position % 300)))
    }

    /// Every read returns the appended records, and all records are readable at any time.
    @Test(arguments: [Durability.synced, .written])
    func readersReadBesideWriter(_ durability: Durability) throws {
        let journal = try Journal.open("j", options: options(MemoryStorage(), durability))
        let hasEnded = Lock(false)
        let readers = DispatchGroup()
        for seed in 1...2 {
            DispatchQueue.global().async(group: readers) {
                var generator = SeededGenerator(UInt64(seed))
                while !hasEnded.withLock({ $0 }) {
                    do {
                        let durable = journal.durablePosition
                        let last = journal.lastPosition
                        #expect(durable <= last)
                        if last == 0 { continue }
                        let first = Position.random(in: 1...last, using: &generator)
                        let end = Position.random(in: first...min(first + 40, last), using: &generator)
                        #expect(
                            try journal.entries(first...end) == (first...end).map(Self.record), "seed \(generator.seed)"
                        )
                        #expect(try journal.contains(journal.head))
                        #expect(journal.statistics.lastPosition >= last)
                    } catch {
                        Issue.record(error)
                        return
                    }
                }
            }
        }
        for position in Position(1)...1500 {
            try journal.append([Self.record(position)])
            if position % 7 == 0 { try journal.waitUntilDurable(position - 3) }
        }
        hasEnded.withLock { $0 = true }
        readers.wait()
        #expect(journal.statistics.segments > 10)
        try journal.close()
    }
}
