import ChatTesting
import Foundation
import Locking
import Primitives
import StubRewriter
import TestSupport
import Testing

@testable import EventJournal

/// Copies of a journal record by record, which keep its id, and moves to them.
@Suite struct LogCopyTests {
    private static func options(_ storage: any JournalStorage, seed: UInt64 = 1, segmentSize: UInt64 = 2_048)
        -> JournalOptions
    {
        JournalOptions(segmentSize: segmentSize, storage: storage, entropy: SeededEntropy(seed: seed))
    }

    /// A journal with commits of several records, stubs and erased content.
    private static func journal(_ options: JournalOptions, commits: Int = 12, seed: UInt64 = 5) throws -> Journal {
        let journal = try Journal.open("journal", options: options)
        try append(commits, to: journal, seed: seed)
        try journal.eraseContent(of: PositionSet([2...4, 9...9]), orderedThrough: 1)
        try append(2, to: journal, seed: seed + 1)
        return journal
    }

    private static func append(_ commits: Int, to journal: Journal, seed: UInt64) throws {
        var generator = SeededGenerator(seed)
        for _ in 0..<commits {
            var draft = CommitDraft()
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                if Int.random(in: 0..<5, using: &generator) == 0 {
                    try generator.bytes(20).withBytes { (kept) throws(JournalError) in try draft.appendStub(kept: kept)
                    }
                } else {
                    try draft.append(generator.entry())
                }
            }
            _ = try journal.append(draft, expecting: journal.lastPosition)
        }
        try journal.waitUntilDurable(journal.lastPosition)
    }

    /// The stored bytes of each record and the rest of its commit.
    private static func stored(_ journal: Journal) throws -> [String] {
        var records: [String] = []
        if journal.lastPosition == 0 { return [] }
        try journal.forEachStoredRecord(in: 1...journal.lastPosition) { _, recordsLeft, record in
            records.append("\(recordsLeft) \(record.toArray().hex())")
            return true
        }
        return records
    }

    private static func expectEqual(_ copy: Journal, _ journal: Journal) throws {
        #expect(copy.id == journal.id && copy.head == journal.head)
        #expect(try stored(copy) == stored(journal))
        #expect(try copy.treeHead() == journal.treeHead())
        let last = journal.lastPosition
        if last > 0 { #expect(try copy.inclusionProof(of: 1, at: last) == journal.inclusionProof(of: 1, at: last)) }
        try copy.verify { Issue.record("\($0)") }
    }

    /// Segments of other sizes, in several runs, of which some have nothing to do.
    @Test(arguments: [512, 1_400, 1 << 20] as [UInt64]) func copyHasTheSameRecordsCommitsAndProofs(segmentSize: UInt64)
        throws
    {
        let storage = MemoryStorage()
        let journal = try Self.journal(Self.options(storage))
        let copying = Self.options(storage, seed: 9, segmentSize: segmentSize)
        for commits in [0, 5, 0, 20] {
            try Self.append(commits, to: journal, seed: UInt64(commits) + 3)
            var copy = try JournalCopy("copy", of: journal, options: copying)
            var reports: [Position] = []
            try LogCopy.copyRecords(of: journal, to: &copy) { position, last in
                #expect(last == journal.lastPosition)
                reports.append(position)
            }
            #expect(copy.head == journal.head && reports.last == journal.lastPosition)
            try copy.close()
            try Self.expectEqual(try Journal.openReadOnly("copy", options: copying), journal)
        }
        try journal.close()
    }

    @Test func emptyJournalIsCopiedAndMoved() throws {
        let storage = MemoryStorage()
        let journal = try Journal.open("journal", options: Self.options(storage))
        var copy = try JournalCopy("copy", of: journal, options: Self.options(storage, seed: 2))
        try LogCopy.finish(journal, to: &copy, named: "copy")
        try journal.close()
        let successor = try Journal.open("copy", options: Self.options(storage))
        #expect(successor.id == journal.id && successor.lastPosition == 0)
        try successor.append([Entry("first", "")])
        try successor.close()
    }

    /// A position inside a commit: the copy ends before it.
    @Test func copyEndsAtCommit() throws {
        let storage = MemoryStorage()
        let journal = try Journal.open("journal", options: Self.options(storage))
        for count in [2, 3, 2] { try journal.append((0..<count).map { Entry("\($0)", "content") }) }
        try journal.waitUntilDurable(7)
        for (limit, end) in [(1, 0), (2, 2), (4, 2), (5, 5), (6, 5), (7, 7)] as [(Position, Position)] {
            var copy = try JournalCopy("copy", of: journal, options: Self.options(storage, seed: 2))
            try LogCopy.copyRecords(of: journal, to: &copy, upTo: limit)
            #expect(copy.position == end)
            #expect(try journal.contains(copy.head))
            try copy.close()
        }
        var copy = try JournalCopy("copy", of: journal, options: Self.options(storage, seed: 2))
        #expect(journalError { try LogCopy.copyRecords(of: journal, to: &copy, upTo: 3) }?.code == .headMismatch)
        #expect(journalError { try LogCopy.copyRecords(of: journal, to: &copy, upTo: 8) }?.code == .outOfRange)
        try copy.close()
        try journal.close()
    }

    @Test func unfinishedCopyOpensForReadingOnly() throws {
        let storage = MemoryStorage()
        let journal = try Self.journal(Self.options(storage))
        var copy = try JournalCopy("copy", of: journal, options: Self.options(storage, seed: 2))
        #expect(
            journalError { _ = try JournalCopy("copy", of: journal, options: Self.options(storage)) }?.code == .locked)
        try LogCopy.copyRecords(of: journal, to: &copy)
        try copy.close()
        #expect(try Journal.role(of: "copy", on: storage) == .copy)
        let before = storage.allContents()
        let error = journalError { _ = try Journal.open("copy", options: Self.options(storage)) }
        #expect(error?.code == .copy && error?.message.contains("copy --finish") == true)
        #expect(storage.allContents().filter { $0.key != "copy/lock" } == before.filter { $0.key != "copy/lock" })
        #expect(try Journal.openReadOnly("copy", options: Self.options(storage)).head == journal.head)
        try journal.close()
    }

    @Test func movedJournalOpensForReadingOnly() throws {
        let storage = MemoryStorage()
        let journal = try Self.journal(Self.options(storage))
        try journal.writeLedger([1, 2, 3])
        let head = journal.head
        var copy = try JournalCopy("copy", of: journal, options: Self.options(storage, seed: 2))
        try LogCopy.finish(journal, to: &copy, named: "postgres://db.example/chat#main")
        // The object that was open while the journal moved appends nothing either.
        let late = journalError { try journal.append([Entry("late", "")]) }
        #expect(late?.code == .moved && late?.message.contains("postgres://db.example/chat#main") == true)
        #expect(journalError { try journal.reserve(10) }?.code == .moved)
        #expect(journalError { try journal.writeLedger([]) }?.code == .moved)
        #expect(journalError { try journal.eraseContent(of: PositionSet([1...1]), orderedThrough: 1) }?.code == .moved)
        try journal.close()

        let error = journalError { _ = try Journal.open("journal", options: Self.options(storage)) }
        #expect(error?.code == .moved && error?.message.contains("postgres://db.example/chat#main") == true)
        let old = try Journal.openReadOnly("journal", options: Self.options(storage))
        #expect(old.head == head && old.recovery.wasClean)
        #expect(try old.movedTo() == "postgres://db.example/chat#main")
        let new = try Journal.open("copy", options: Self.options(storage))
        #expect(new.head == head)
        #expect(try new.readLedger() == [1, 2, 3])
        #expect(try new.movedTo() == nil)
        #expect(
            new.erasedThrough == nil, "an erasure of which the copy may still have the content is carried out again")
        try new.append([Entry("next", "")])
        try new.close()
        #expect(
            journalError { _ = try JournalCopy("copy", of: old, options: Self.options(storage)) }?.code == .notEmpty)
    }

    /// A journal that was appended to after the copy does not move.
    @Test func fenceNeedsTheExpectedPosition() throws {
        let storage = MemoryStorage()
        let journal = try Self.journal(Self.options(storage))
        let last = journal.lastPosition
        #expect(journalError { try journal.fence(at: last - 1, destination: "elsewhere") }?.code == .conflict)
        #expect(journalError { try journal.fence(at: last, destination: "") }?.code == .tooLarge)
        let long = String(repeating: "x", count: RoleFile.maximumNameLength + 1)
        #expect(journalError { try journal.fence(at: last, destination: long) }?.code == .tooLarge)
        try journal.append([Entry("still", "open")])
        try journal.close()
        let reader = try Journal.openReadOnly("journal", options: Self.options(storage))
        #expect(journalError { try reader.fence(at: last + 1, destination: "elsewhere") }?.code == .readOnly)
        let again = try Journal.open("journal", options: Self.options(storage))
        try again.close()
    }

    /// One operation of the storage fails while the journal is marked as moved, each in turn.
    ///
    /// A journal that is not marked goes on, and a repeated call marks it.
    @Test(arguments: [StorageError.Kind.full, .failed]) func failedFenceCanBeRepeated(_ kind: StorageError.Kind) throws
    {
        var failing = 0
        while true {
            let storage = FaultyStorage(MemoryStorage())
            let journal = try Journal.open("journal", options: Self.options(storage))
            try Self.append(3, to: journal, seed: 5)
            let start = storage.calls.count
            let index = failing
            storage.fail { call in
                storage.calls.count - start == index + 1 ? StorageError(kind, call.operation, path: call.path) : nil
            }
            let error = journalError(optional: { () throws(JournalError) in
                try journal.fence(at: journal.lastPosition, destination: "elsewhere")
            })
            let count = storage.calls.count - start
            storage.fail(nil)
            if error != nil, try journal.movedTo() == nil {
                #expect(try Self.slotVersions("journal", storage) == [1, 1], "call \(failing)")
                try journal.append([Entry("still", "open")])
                try journal.waitUntilDurable(journal.lastPosition)
                try journal.fence(at: journal.lastPosition, destination: "elsewhere")
            }
            #expect(journalError { try journal.append([Entry("late", "")]) }?.code == .moved, "call \(failing)")
            #expect(try journal.movedTo() == "elsewhere")
            try journal.close()
            failing += 1
            if failing >= count { break }
        }
        #expect(failing >= 5)
    }

    /// A commit that is appended during the sync is not copied: a power failure could still remove
    /// it.
    @Test func onlySyncedRecordsAreCopied() throws {
        let storage = FaultyStorage(MemoryStorage())
        var options = Self.options(storage)
        (options.durability, options.slotSyncDelay) = (.written, nil)
        let journal = try Journal.open("journal", options: options)
        let target = MemoryStorage()
        let failures = Lock<[String]>([])
        storage.fail { call in
            guard call.operation == .sync, call.path == "journal/durable" else { return nil }
            do { try journal.append([Entry("late", "")]) } catch { failures.withLock { $0.append("\(error)") } }
            return nil
        }
        for _ in 0..<3 {
            try journal.append([Entry("a", "1"), Entry("b", "2")])
            let last = journal.lastPosition
            #expect(try journal.writeTiles(to: "tiles", on: target).head.size == last)
            #expect(journal.lastPosition == last + 1)
        }
        for _ in 0..<3 {
            try journal.append([Entry("a", "1"), Entry("b", "2")])
            let last = journal.lastPosition
            var copy = try JournalCopy("copy", of: journal, options: Self.options(target, seed: 2))
            try LogCopy.copyRecords(of: journal, to: &copy)
            #expect(copy.position == last && journal.lastPosition == last + 1)
            try copy.close()
        }
        #expect(failures.withLock { $0 } == [])
        storage.fail(nil)
        try journal.close()
    }

    /// A copy that takes the place of a journal, or a journal that has moved, is no backup.
    @Test func backupRejectsDirectoriesWithARole() throws {
        let storage = MemoryStorage()
        let journal = try Self.journal(Self.options(storage))
        var copy = try JournalCopy("copy", of: journal, options: Self.options(storage, seed: 2))
        try LogCopy.copyRecords(of: journal, to: &copy)
        try copy.close()
        try journal.fence(at: journal.lastPosition, destination: "elsewhere")
        try journal.close()
        try Journal.backup(
            "journal", to: "backup", options: BackupOptions(storage: storage, destinationStorage: storage))
        for (destination, code) in [("copy", JournalError.Code.copy), ("journal", .moved)] {
            let before = storage.allContents()
            let error = journalError {
                try Journal.backup(
                    "backup", to: destination, options: BackupOptions(storage: storage, destinationStorage: storage))
            }
            #expect(error?.code == code)
            #expect(storage.allContents() == before)
        }
    }

    /// The journal of a finished move goes on; the former one can follow it again and take its
    /// place.
    @Test func journalMovesBack() throws {
        let storage = MemoryStorage()
        let journal = try Self.journal(Self.options(storage))
        var copy = try JournalCopy("copy", of: journal, options: Self.options(storage, seed: 2))
        try LogCopy.finish(journal, to: &copy, named: "copy")
        try journal.close()
        let successor = try Journal.open("copy", options: Self.options(storage))
        try Self.append(3, to: successor, seed: 77)
        var back = try JournalCopy("journal", of: successor, options: Self.options(storage, seed: 3))
        #expect(try Journal.role(of: "journal", on: storage) == .copy)
        try LogCopy.finish(successor, to: &back, named: "journal")
        try successor.close()
        #expect(journalError { _ = try Journal.open("copy", options: Self.options(storage)) }?.code == .moved)
        let again = try Journal.open("journal", options: Self.options(storage))
        try Self.expectEqual(again, try Journal.openReadOnly("copy", options: Self.options(storage)))
        try again.close()
    }

    @Test func journalMovesToOnePlaceOnly() throws {
        let storage = MemoryStorage()
        let journal = try Self.journal(Self.options(storage))
        for name in ["first", "second"] {
            var copy = try JournalCopy(name, of: journal, options: Self.options(storage, seed: 2))
            try LogCopy.copyRecords(of: journal, to: &copy)
            try copy.close()
        }
        try journal.fence(at: journal.lastPosition, destination: "first")
        try journal.close()
        let old = try Journal.openReadOnly("journal", options: Self.options(storage))
        var second = try JournalCopy("second", of: old, options: Self.options(storage))
        #expect(journalError { try LogCopy.finish(old, to: &second, named: "second") }?.code == .moved)
        try second.close()
        #expect(journalError { _ = try Journal.open("second", options: Self.options(storage)) }?.code == .copy)
        var first = try JournalCopy("first", of: old, options: Self.options(storage))
        try LogCopy.finish(old, to: &first, named: "first")
        let new = try Journal.open("first", options: Self.options(storage))
        #expect(new.head == old.head)
        try new.close()
    }

    /// Another journal, and a copy that has gone on by itself.
    @Test func otherHistoryIsRejectedAndUnchanged() throws {
        let storage = MemoryStorage()
        let journal = try Self.journal(Self.options(storage))
        let other = try Journal.open("other", options: Self.options(storage, seed: 99))
        try Self.append(3, to: other, seed: 4)
        var copy = try JournalCopy("copy", of: other, options: Self.options(storage, seed: 2))
        try LogCopy.copyRecords(of: other, to: &copy)
        try copy.close()
        let before = storage.allContents().filter { $0.key.hasPrefix("copy/") && $0.key != "copy/lock" }
        #expect(
            journalError { _ = try JournalCopy("copy", of: journal, options: Self.options(storage)) }?.code
                == .headMismatch)
        #expect(
            journalError { _ = try JournalCopy("other", of: journal, options: Self.options(storage)) }?.code
                == .notEmpty)
        #expect(storage.allContents().filter { $0.key.hasPrefix("copy/") && $0.key != "copy/lock" } == before)

        // The copy is longer than an older form of its source.
        try other.close()
        _ = try Journal.backup(
            "other", to: "old", options: BackupOptions(storage: storage, destinationStorage: storage, upTo: 1))
        let old = try Journal.openReadOnly("old", options: Self.options(storage))
        #expect(
            journalError { _ = try JournalCopy("copy", of: old, options: Self.options(storage)) }?.code == .headMismatch
        )
        try journal.close()
    }

    /// Records that are not valid, and records out of their commit's order.
    @Test func wrongRecordsAreRejected() throws {
        let storage = MemoryStorage()
        let journal = try Journal.open("journal", options: Self.options(storage))
        try journal.append([Entry("a", "1"), Entry("b", "2"), Entry("c", "3")])
        try journal.waitUntilDurable(3)
        var records: [[UInt8]] = []
        try journal.forEachStoredRecord(in: 1...3) { _, _, record in
            records.append(record.toArray())
            return true
        }
        var copy = try JournalCopy("copy", of: journal, options: Self.options(storage, seed: 2))
        func add(_ record: [UInt8], _ recordsLeft: Int) throws {
            try record.withBytes { (record) throws(JournalError) in try copy.add(record, recordsLeft: recordsLeft) }
        }
        try add(records[0], 3)
        var flipped = records[1]
        flipped[9] ^= 1
        #expect(journalError { try add(flipped, 2) }?.code == .damaged)
        #expect(journalError { try add(records[1] + [0], 2) }?.code == .damaged)
        for recordsLeft in [-1, 0, 1, 3] {
            #expect(journalError { try add(records[1], recordsLeft) }?.code == .damaged)
        }
        try add(records[1], 2)
        #expect(copy.position == 0)
        try add(records[2], 1)
        #expect(copy.head == journal.head)
        try copy.close()
        try journal.close()
    }

    /// Every other content of the file: reading is possible, and writing is not.
    @Test func damagedRoleForbidsWritingOnly() throws {
        let storage = MemoryStorage()
        let journal = try Self.journal(Self.options(storage))
        let head = journal.head
        try journal.fence(at: head.position, destination: "elsewhere")
        try journal.close()
        let bytes = try storage.contents(of: "journal/role")
        #expect(try RoleFile(decoding: bytes) == RoleFile(.moved(to: "elsewhere"), of: journal.id))
        func put(_ bytes: [UInt8]) throws {
            let file = try storage.open("journal/role", .create)
            try bytes.withBytes { (span) throws(StorageError) in try file.write(span, at: 0) }
        }
        var contents = (0..<8 * bytes.count).map { bit in
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            return flipped
        }
        contents += (0..<bytes.count).map { Array(bytes[..<$0]) } + [bytes + [0], [UInt8](repeating: 0, count: 10_000)]
        for content in contents {
            try put(content)
            #expect(journalError { _ = try Journal.open("journal", options: Self.options(storage)) }?.code == .damaged)
            #expect(try Journal.openReadOnly("journal", options: Self.options(storage)).head == head)
        }
        var newer = Array(bytes.dropLast(4))
        newer[8] = 2
        newer.append(bytesOf: newer.withBytes { CRC32C.checksum(of: $0) }.littleEndian)
        try put(newer)
        #expect(journalError { _ = try Journal.open("journal", options: Self.options(storage)) }?.code == .newerVersion)
        try put(bytes)
        #expect(journalError { _ = try Journal.open("journal", options: Self.options(storage)) }?.code == .moved)
    }

    /// The versions in the two slots of a journal's durable file.
    private static func slotVersions(_ path: String, _ storage: any JournalStorage) throws -> [UInt16] {
        let bytes = try storage.contents(of: path + "/durable")
        return [0, 512].map { bytes.withBytes($0 + 42..<$0 + 44) { $0.integer(at: 0) } }
    }

    /// A tool that does not know the file `role` rejects the version of the slots, and so does not
    /// open the journal for writing at a second place.
    @Test func versionKeepsOlderToolsOut() throws {
        let storage = MemoryStorage()
        var journal = try Self.journal(Self.options(storage))
        #expect(try Self.slotVersions("journal", storage) == [1, 1])
        try journal.close()
        // The copy has the newer version from its first file on.
        journal = try Journal.open("journal", options: Self.options(storage))
        var copy = try JournalCopy("copy", of: journal, options: Self.options(storage, seed: 2))
        #expect(try Self.slotVersions("copy", storage) == [2, 2])
        try LogCopy.copyRecords(of: journal, to: &copy)
        try copy.finish()
        #expect(try Self.slotVersions("copy", storage) == [2, 2])
        #expect(try Self.slotVersions("journal", storage) == [1, 1])
        // A journal that has moved has it at once, and keeps it.
        try journal.fence(at: journal.lastPosition, destination: "copy")
        #expect(try Self.slotVersions("journal", storage).contains(2))
        try journal.close()
        #expect(try Self.slotVersions("journal", storage).contains(2))
        let head = try Journal.openReadOnly("journal", options: Self.options(storage)).head
        // The copy is a journal like any other as soon as it is open for writing.
        try copy.activateAndClose()
        #expect(try Self.slotVersions("copy", storage) == [1, 1])
        let active = try Journal.open("copy", options: Self.options(storage, seed: 3))
        #expect(active.head == head)
        try Self.append(2, to: active, seed: 9)
        try active.close()
        #expect(try Self.slotVersions("copy", storage) == [1, 1])
        try Journal.verify("copy", options: Self.options(storage)) { Issue.record("\($0)") }
        try Journal.verify("journal", options: Self.options(storage)) { Issue.record("\($0)") }
        #expect(journalError { _ = try Journal.open("journal", options: Self.options(storage)) }?.code == .moved)
    }
}
