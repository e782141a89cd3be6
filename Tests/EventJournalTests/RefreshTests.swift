import Foundation
import Locking
import Primitives
import TestSupport
import Testing

@testable import EventJournal

/// A read-only journal follows a writer, in this process as in another process.
@Suite struct RefreshTests {
    /// A reader of a journal that was set back does not go on with what is no longer there.
    @Test func readerNoticesAnOlderCopyInThePlaceOfItsJournal() throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("journal")
        func append(_ texts: String...) throws {
            let journal = try Journal.open(path)
            for text in texts { try journal.append([Entry("kept", text)]) }
            try journal.close()
        }
        try append("a", "b")
        try FileManager.default.copyItem(atPath: path, toPath: path + "-copy")
        try append("c", "d")
        let reader = try Journal.openReadOnly(path)
        #expect(try reader.refresh() == 4)
        try FileManager.default.moveItem(atPath: path, toPath: path + "-newer")
        try FileManager.default.moveItem(atPath: path + "-copy", toPath: path)
        for _ in 0..<2 {
            let error = journalError { _ = try reader.refresh() }
            #expect(error?.code == .damaged && error?.positions?.upperBound == 4)
            // Its history differs, and is still shorter.
            try append("e")
        }
    }

    @Test(arguments: StorageKind.allCases, Durability.allCases)
    func readerPrefixGrowsToDurablePosition(_ kind: StorageKind, _ durability: Durability) throws {
        try kind.run { options, path in
            var options = options
            options.segmentSize = 700
            options.durability = durability
            // A background sync of the idle journal would keep the journal and its lock alive after
            // the last reference here.
            options.slotSyncDelay = nil
            var generator = SeededGenerator()
            var model: [Entry] = []
            var writer: Journal? = try Journal.open(path, options: options)
            var readers: [(journal: Journal, shown: Position)] = []
            for step in 0..<Repetitions.few(80, of: 250) {
                switch Int.random(in: 0..<10, using: &generator) {
                case 0..<5:
                    let entries = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
                        generator.entry(kept: 20, erasable: 200)
                    }
                    try writer?.append(entries)
                    model += entries
                case 5: try writer?.waitUntilDurable(writer?.lastPosition ?? 0)
                case 6:
                    if readers.count == 8 { readers.removeFirst() }
                    let journal = try Journal.openReadOnly(path, options: options)
                    readers.append((journal, journal.lastPosition))
                case 7 where step % 3 == 0:
                    // Closed cleanly, or left as after a crash; the file keeps the appended
                    // records.
                    if Bool.random(using: &generator) { try writer?.close() }
                    writer = nil
                    writer = try Journal.open(path, options: options)
                    #expect(writer?.lastPosition == Position(model.count))
                default:
                    for index in readers.indices {
                        let (journal, shown) = readers[index]
                        let last = try journal.refresh()
                        #expect(last >= shown && last == journal.durablePosition, "seed \(generator.seed)")
                        #expect(
                            last >= (writer?.durablePosition ?? 0) && last <= Position(model.count),
                            "seed \(generator.seed)")
                        if last > 0 {
                            #expect(try journal.entries() == Array(model.prefix(Int(last))), "seed \(generator.seed)")
                        }
                        #expect(journal.head.position == last)
                        readers[index].shown = last
                    }
                }
            }
            // A new reader sees the head of a reader that has followed.
            try writer?.close()
            let fresh = try Journal.openReadOnly(path, options: options)
            for (journal, _) in readers {
                try journal.refresh()
                #expect(journal.head == fresh.head)
            }
        }
    }

    @Test func writerRefreshAppliesNothing() throws {
        let journal = try Journal.open("j", options: JournalOptions(storage: MemoryStorage()))
        try journal.append([Entry("a", "b")])
        #expect(try journal.refresh() == 0)
        try journal.synchronize()
        #expect(try journal.refresh() == 1)
    }

    /// Returns a journal of two synced records and a reader that knows only the first.
    private func readerBehind() throws -> (storage: MemoryStorage, writer: Journal, reader: Journal) {
        let storage = MemoryStorage()
        let options = JournalOptions(storage: storage, slotSyncDelay: nil)
        let writer = try Journal.open("j", options: options)
        try writer.append([Entry("a", "b")])
        try writer.synchronize()
        let reader = try Journal.openReadOnly("j", options: options)
        try writer.append([Entry("c", "d")])
        try writer.synchronize()
        return (storage, writer, reader)
    }

    /// The last commit or footer can be incomplete while the writer writes it.
    @Test(arguments: 1..<120)
    func incompleteCommitIsIgnored(_ count: Int) throws {
        let (storage, writer, reader) = try readerBehind()
        let end = writer.state.withLock { $0.active.end }
        try writer.append([Entry("e", String(repeating: "f", count: 100))])
        // The file has only the first bytes of the third commit, with or without reserved space
        // after them.
        let name = "j/" + JournalFileName.segment(1)
        let contents = try #require(storage.allContents()[name])
        let file = try storage.open(name, .readWrite)
        let cut = end + UInt64(count)
        try file.truncate(to: cut)
        #expect(try reader.refresh() == 2)
        try file.truncate(to: cut + 500)
        #expect(try reader.refresh() == 2)
        let rest = Array(contents.dropFirst(Int(cut)))
        try rest.withBytes(0..<rest.count) { (bytes) throws(StorageError) in try file.write(bytes, at: cut) }
        try writer.synchronize()
        #expect(try reader.refresh() == 3)
    }

    /// The writer truncates unused space, as a close does, before any of the reads of a refresh.
    @Test func truncatedFileIsReadAgain() throws {
        let name = "j/" + JournalFileName.segment(1)
        var reads = 0
        var isOver = false
        while !isOver {
            let base = MemoryStorage()
            let writer = try Journal.open(
                "j", options: JournalOptions(durability: .written, storage: base, slotSyncDelay: nil))
            try writer.append([Entry("a", "b")])
            let storage = FaultyStorage(base)
            let reader = try Journal.openReadOnly("j", options: JournalOptions(storage: storage))
            try writer.append([Entry("c", "d")])
            let end = writer.state.withLock { $0.active.end }
            #expect(base.allContents()[name]?.count ?? 0 > Int(end))
            let left = Lock(reads)
            storage.fail { call in
                guard call.operation == .read, call.path == name else { return nil }
                let isDue = left.withLock { left in
                    left -= 1
                    return left == -1
                }
                if isDue { try? base.open(name, .readWrite).truncate(to: end) }
                return nil
            }
            #expect(try reader.refresh() == 2, "shortened before read \(reads)")
            #expect(try reader.entries() == [Entry("a", "b"), Entry("c", "d")])
            isOver = left.withLock { $0 >= 0 }
            #expect(isOver == (base.allContents()[name]?.count ?? 0 > Int(end)))
            if !isOver { reads += 1 }
        }
        #expect(reads >= 1)
    }

    /// The reader sees part of a footer when it reads the records, and then the next segment.
    @Test func partialFooterIsReadAgain() throws {
        let base = MemoryStorage()
        let writer = try Journal.open(
            "j", options: JournalOptions(durability: .written, segmentSize: 600, storage: base, slotSyncDelay: nil))
        try writer.append([Entry("a", "b")])
        let storage = FaultyStorage(base)
        let reader = try Journal.openReadOnly("j", options: JournalOptions(storage: storage))
        try writer.append([Entry("c", "d")])
        let end = writer.state.withLock { $0.active.end }
        try writer.append([Entry(kept: [UInt8](repeating: 1, count: 500), erasable: [])])
        let (first, second) = ("j/" + JournalFileName.segment(1), "j/" + JournalFileName.segment(3))
        let whole = base.allContents()[first] ?? []
        #expect(whole.count > Int(end) + 20 && base.kind(of: second) == .file)
        // Restores the state during the write of the footer.
        let file = try base.open(first, .readWrite)
        try file.truncate(to: end + 20)
        try file.truncate(to: end + 400)
        try base.rename(second, to: second + ".tmp")
        #expect(try reader.refresh() == 2)
        let looks = Lock(0)
        storage.fail { call in
            guard call == .init(.inspect, second) else { return nil }
            looks.withLock { $0 += 1 }
            try? whole.withBytes(0..<whole.count) { (bytes) throws(StorageError) in try file.write(bytes, at: 0) }
            try? file.truncate(to: UInt64(whole.count))
            try? base.rename(second + ".tmp", to: second)
            return nil
        }
        #expect(try reader.refresh() == 3)
        #expect(looks.withLock { $0 } == 2)
        #expect(try reader.entries() == writer.entries())
    }

    /// Under `.written`, only the file shows the progress of the writer.
    ///
    /// The file continues into reserved space.
    @Test func idleRefreshReadsNoReservedSpace() throws {
        let base = MemoryStorage()
        let writer = try Journal.open(
            "j", options: JournalOptions(durability: .written, storage: base, slotSyncDelay: nil))
        try writer.append([Entry("a", "b")])
        let storage = CountingStorage(base)
        let reader = try Journal.openReadOnly("j", options: JournalOptions(storage: storage))
        for isShort in [false, true] {
            // In a closed journal, the file ends at the last commit.
            if isShort { try writer.close() }
            let before = storage.bytesRead
            for _ in 0..<10 { #expect(try reader.refresh() == 1) }
            #expect(storage.bytesRead - before <= 10 * (DurableSlot.fileSize + 4))
        }
    }

    @Test func refreshChecksNewRecords() throws {
        let (storage, writer, reader) = try readerBehind()
        let name = "j/" + JournalFileName.segment(1)
        let sound = storage.allContents()[name] ?? []
        let file = try storage.open(name, .readWrite)
        let end = Int(writer.state.withLock { $0.active.end })
        for offset in stride(from: end - 1, to: end - 60, by: -7) {
            try [sound[offset] ^ 1].withBytes(0..<1) { (bytes) throws(StorageError) in
                try file.write(bytes, at: UInt64(offset))
            }
            #expect(journalError { try reader.refresh() }?.code == .damaged)
            #expect(reader.lastPosition == 1)
            try [sound[offset]].withBytes(0..<1) { (bytes) throws(StorageError) in
                try file.write(bytes, at: UInt64(offset))
            }
        }
        try file.truncate(to: UInt64(SegmentHeader.size))
        #expect(journalError { try reader.refresh() }?.code == .damaged)
        storage.setContents(sound, of: name)
        #expect(try Journal.openReadOnly("j", options: JournalOptions(storage: storage)).lastPosition == 2)
    }

    @Test func closedReaderRejectsRefresh() throws {
        let storage = MemoryStorage()
        let writer = try Journal.open("j", options: JournalOptions(storage: storage))
        let reader = try Journal.openReadOnly("j", options: JournalOptions(storage: storage))
        try reader.close()
        #expect(journalError { try reader.refresh() }?.code == .closed)
        withExtendedLifetime(writer) {}
    }
}

/// The journal syncs a pending slot when it is idle.
@Suite struct IdleTests {
    private static let slotSync = FaultyStorage.Call(.sync, "j/durable")

    @Test func idleJournalSyncsSlot() throws {
        let storage = FaultyStorage(MemoryStorage())
        let journal = try Journal.open("j", options: JournalOptions(storage: storage, slotSyncDelay: .milliseconds(5)))
        try journal.append([Entry("a", "b")])
        let before = storage.calls.count { $0 == Self.slotSync }
        try journal.waitUntilDurable(1)
        #expect(inTurns { storage.calls.count { $0 == Self.slotSync } == before + 1 })
        // One sync is enough.
        Thread.sleep(forTimeInterval: 0.05)
        #expect(storage.calls.count { $0 == Self.slotSync } == before + 1)
        try journal.close()
    }

    @Test func slotIsSyncedOnRequestWithoutIdleDelay() throws {
        let storage = FaultyStorage(MemoryStorage())
        let journal = try Journal.open("j", options: JournalOptions(storage: storage, slotSyncDelay: nil))
        try journal.append([Entry("a", "b")])
        try journal.waitUntilDurable(1)
        let before = storage.calls.count { $0 == Self.slotSync }
        try journal.synchronize()
        try journal.synchronize()
        #expect(storage.calls.count { $0 == Self.slotSync } == before + 1)
        try journal.close()
    }

    @Test func failedIdleSyncStopsJournal() throws {
        let storage = FaultyStorage(MemoryStorage())
        let journal = try Journal.open("j", options: JournalOptions(storage: storage, slotSyncDelay: .milliseconds(5)))
        try journal.append([Entry("a", "b")])
        storage.fail { $0 == Self.slotSync ? StorageError(.failed, .sync, path: $0.path) : nil }
        try journal.waitUntilDurable(1)
        #expect(inTurns { journal.state.withLock { $0.failure != nil } })
        #expect(journalError { try journal.append([Entry("c", "d")]) }?.code == .syncFailed)
    }
}
