import ChatTesting
import Foundation
import Locking
import Primitives
import TestSupport
import Testing

@testable import EventJournal

/// A journal of small segments and a recording storage for its backups.
private struct BackupFixture {
    let storage = MemoryStorage()
    let copies = FaultyStorage(MemoryStorage())

    func open(segmentSize: UInt64 = 1_024) throws -> Journal {
        try Journal.open(
            "journal",
            options: JournalOptions(segmentSize: segmentSize, storage: storage, entropy: SeededEntropy(seed: 7)))
    }

    func append(_ commits: Int, to journal: Journal, seed: UInt64 = 1) throws {
        var generator = SeededGenerator(seed)
        for _ in 0..<commits {
            try journal.append((0..<Int.random(in: 1...3, using: &generator)).map { _ in generator.entry() })
        }
        try journal.waitUntilDurable(journal.lastPosition)
    }

    @discardableResult
    func backUp(upTo position: Position? = nil) throws -> BackupReport {
        try Journal.backup(
            "journal", to: "copy", options: BackupOptions(storage: storage, destinationStorage: copies, upTo: position))
    }

    /// Opens the backup read-only and checks that it was closed cleanly and has no findings.
    func openCopy() throws -> Journal {
        let copy = try Journal.openReadOnly("copy", options: JournalOptions(storage: copies.base))
        #expect(copy.recovery.wasClean)
        try copy.verify { Issue.record("\($0)") }
        return copy
    }

    /// Returns the writes to the backup storage during the work.
    func written(_ work: () throws -> Void) throws -> [FaultyStorage.Call] {
        let before = copies.calls.count
        try work()
        return copies.calls[before...].filter { $0.operation == .write }
    }

    var copyContents: [String: [UInt8]] {
        copies.base.allContents().filter { $0.key.hasPrefix("copy/") && $0.key != "copy/lock" }
    }
}

/// Fails the nth call and all later ones.
private final class Countdown: Sendable {
    private let left: Lock<Int>

    init(_ count: Int) {
        left = Lock(count)
    }

    var isOver: Bool {
        left.withLock { left in
            left -= 1
            return left < 0
        }
    }
}

@Suite struct BackupTests {
    /// The index in a footer has an entry every 4 KiB, also for a record in the middle of a short
    /// commit.
    @Test(arguments: 1...6) func backupFootersMatchJournal(recordsOfACommit: Int) throws {
        let fixture = BackupFixture()
        let journal = try fixture.open(segmentSize: 32_768)
        var generator = SeededGenerator(UInt64(recordsOfACommit))
        while journal.statistics.segments < 3 {
            let sizes = (0..<recordsOfACommit).map { _ in Int.random(in: 50...900, using: &generator) }
            try journal.append(sizes.map { Entry(kept: [UInt8](repeating: 1, count: $0), erasable: []) })
        }
        try journal.close()
        try fixture.backUp()
        _ = try fixture.openCopy()
    }

    @Test func backupEqualsJournal() throws {
        let fixture = BackupFixture()
        let journal = try fixture.open()
        try fixture.append(40, to: journal)
        let report = try journal.backup(to: "copy", on: fixture.copies)
        #expect(report.head == journal.head)
        #expect(report.copiedSegments == (try fixture.storage.list("journal").filter { $0.hasSuffix(".segment") }))
        #expect(report.copiedSegments.count > 3 && report.skippedSegments.isEmpty && report.rewrittenSegments.isEmpty)
        let copy = try fixture.openCopy()
        #expect(copy.id == journal.id && copy.head == journal.head)
        #expect(try copy.entries() == journal.entries())
        // A restored backup accepts appends.
        let restored = try Journal.open(
            "copy", options: JournalOptions(storage: fixture.copies.base, expectedHead: journal.head))
        #expect(restored.recovery.wasClean)
        try restored.append([Entry("more", "of it")])
        try restored.close()
        #expect(try fixture.openCopy().lastPosition == journal.lastPosition + 1)
    }

    @Test func emptyJournalIsBackedUp() throws {
        let fixture = BackupFixture()
        let journal = try fixture.open()
        #expect(try journal.backup(to: "copy", on: fixture.copies).head == journal.head)
        #expect(try fixture.openCopy().lastPosition == 0)
        try fixture.append(3, to: journal)
        #expect(try journal.backup(to: "copy", on: fixture.copies).head == journal.head)
        #expect(try fixture.openCopy().entries() == journal.entries())
    }

    @Test func backupUpToPositionEndsAtCommitBoundary() throws {
        let fixture = BackupFixture()
        let journal = try fixture.open()
        try fixture.append(25, to: journal)
        var ends: Set<Position> = [0]
        for position in 0...journal.lastPosition {
            let storage = MemoryStorage()
            let report = try journal.backup(to: "copy", upTo: position, on: storage)
            ends.insert(report.head.position)
            #expect(report.head.position <= position && report.head.position == ends.max())
            let copy = try Journal.openReadOnly(
                "copy", options: JournalOptions(storage: storage, expectedHead: report.head))
            #expect(copy.recovery.wasClean && copy.lastPosition == report.head.position)
            #expect(try copy.entries() == Array(journal.entries().prefix(Int(report.head.position))))
            // An incremental backup continues from each of them to the end.
            try journal.backup(to: "copy", on: storage)
            let whole = try Journal.openReadOnly(
                "copy", options: JournalOptions(storage: storage, expectedHead: journal.head))
            #expect(try whole.recovery.wasClean && whole.entries() == journal.entries())
        }
        #expect(ends.count == 26)
        let error = journalError { try journal.backup(to: "copy", upTo: journal.lastPosition + 1, on: fixture.copies) }
        #expect(error?.code == .outOfRange)
        #expect(fixture.copyContents.isEmpty)
    }

    @Test func repeatedBackupWritesOnlyNewRecords() throws {
        let fixture = BackupFixture()
        let journal = try fixture.open()
        try fixture.append(40, to: journal)
        let first = try fixture.backUp()
        let nothing = try fixture.written {
            let report = try fixture.backUp()
            #expect(
                report.copiedSegments.isEmpty && report.skippedSegments == first.copiedSegments
                    && report.bytesCopied == 0)
            #expect(report.head == first.head)
        }
        #expect(nothing.isEmpty)

        // One more commit costs its own bytes and a slot.
        let end = journal.state.withLock { $0.active.end }
        try journal.append([Entry("kept", "x")])
        try journal.waitUntilDurable(journal.lastPosition)
        let segment = "copy/" + (first.copiedSegments.last ?? "")
        let length = journal.state.withLock { $0.active.end - end }
        let one = try fixture.written {
            let report = try fixture.backUp()
            #expect(report.copiedSegments == first.copiedSegments.suffix(1) && report.bytesCopied == length)
        }
        #expect(one.filter { $0.path == segment } == [.init(.write, segment, end..<(end + length))])
        #expect(one.filter { $0.path != segment }.map(\.path) == ["copy/durable"])

        // Existing sealed segments in the backup are not written again.
        try fixture.append(40, to: journal, seed: 2)
        let more = try fixture.written {
            let report = try fixture.backUp()
            #expect(report.skippedSegments.starts(with: first.copiedSegments.dropLast()))
            #expect(report.copiedSegments.count > 3)
        }
        #expect(!more.contains { call in first.copiedSegments.dropLast().contains { call.path.contains($0) } })
        #expect(try fixture.openCopy().entries() == journal.entries())
    }

    @Test func changedGenerationIsCopied() throws {
        let fixture = BackupFixture()
        let journal = try fixture.open()
        try fixture.append(30, to: journal)
        try fixture.backUp()
        try journal.close()
        let names = try fixture.storage.list("journal").filter { $0.hasSuffix(".segment") }
        // A middle segment and the last one are marked as rewritten; a new generation is all that
        // the backup compares.
        for name in [names[1], names[names.count - 1]] {
            let file = try fixture.storage.open("journal/" + name, .readWrite)
            var bytes = fixture.storage.allContents()["journal/" + name] ?? []
            var header = try bytes.withBytes(0..<SegmentHeader.size) { try SegmentHeader(decoding: $0) }
            header.generation += 1
            bytes.storeBytes(header.encoded(), 0..<SegmentHeader.size, at: 0)
            try bytes.withBytes(0..<SegmentHeader.size) { try file.write($0, at: 0) }
            let report = try fixture.backUp()
            #expect(report.rewrittenSegments == [name])
            #expect(report.skippedSegments == names.filter { $0 != name } && report.copiedSegments.isEmpty)
        }
        let reopened = try fixture.open()
        #expect(try fixture.openCopy().entries() == reopened.entries())
        #expect(fixture.copyContents["copy/" + names[1]]?[28] == 1)
    }

    @Test func failedBackupResumes() throws {
        let fixture = BackupFixture()
        let journal = try fixture.open()
        try fixture.append(30, to: journal)
        var failures = 0
        var isDone = false
        while !isDone {
            let countdown = Countdown(3 * failures + 10)
            fixture.copies.fail { call in
                countdown.isOver && call.operation != .read
                    ? StorageError(.failed, call.operation, path: call.path) : nil
            }
            do {
                try fixture.backUp()
                isDone = true
            } catch let error as JournalError {
                #expect(error.code == .ioFailed || error.code == .syncFailed)
                failures += 1
            }
            fixture.copies.fail(nil)
            // At every point, the destination holds a prefix of the journal.
            do {
                let copy = try Journal.openReadOnly("copy", options: JournalOptions(storage: fixture.copies.base))
                #expect(try copy.entries() == Array(journal.entries().prefix(Int(copy.lastPosition))))
                try copy.verify { Issue.record("\($0)") }
            } catch let error as JournalError {
                #expect(error.code == .notFound)
            }
        }
        #expect(failures > 5)
        #expect(try fixture.openCopy().entries() == journal.entries())
    }

    @Test func foreignDestinationIsRefused() throws {
        let fixture = BackupFixture()
        let journal = try fixture.open()
        try fixture.append(12, to: journal)
        func refuses(_ code: JournalError.Code, _ why: String) {
            let before = fixture.copyContents
            let error = journalError { try fixture.backUp() }
            #expect(error?.code == code, "\(why): \(error.map { "\($0)" } ?? "")")
            #expect(error?.path?.hasPrefix("copy") == true, "\(why)")
            #expect(fixture.copyContents == before, "\(why)")
        }
        let elsewhere = fixture.copies.base
        try elsewhere.createDirectory("copy")
        elsewhere.setContents([1], of: "copy/letter.txt")
        refuses(.notAJournal, "a directory without a journal")
        try elsewhere.remove("copy/letter.txt")
        let other = try Journal.open("copy", options: JournalOptions(storage: elsewhere))
        refuses(.locked, "a journal that is open")
        try other.close()
        refuses(.headMismatch, "another journal")
        for (path, _) in elsewhere.allContents() { try elsewhere.remove(path) }

        try fixture.backUp()
        let restored = try Journal.open("copy", options: JournalOptions(storage: elsewhere))
        try restored.append([Entry("not", "in the journal")])
        try restored.close()
        refuses(.headMismatch, "a longer copy")
        try fixture.append(1, to: journal, seed: 3)
        try fixture.append(12, to: journal, seed: 4)
        refuses(.headMismatch, "a copy with another history")
    }

    /// Opening a backup for writing after truncation starts a segment that the source journal does
    /// not have.
    @Test func openedBackupContinues() throws {
        let fixture = BackupFixture()
        let journal = try fixture.open()
        try fixture.append(12, to: journal)
        try fixture.backUp()
        for isClosed in [true, false, true] {
            do {
                let restored = try Journal.open("copy", options: JournalOptions(storage: fixture.copies.base))
                if isClosed { try restored.close() }
            }
            try fixture.append(1, to: journal, seed: 5)
            try fixture.backUp()
            #expect(try fixture.openCopy().entries() == journal.entries())
        }
    }

    @Test func damageEndsBackupAndIsReported() throws {
        let fixture = BackupFixture()
        let journal = try fixture.open()
        try fixture.append(30, to: journal)
        let entries = try journal.entries()
        let names = try fixture.storage.list("journal").filter { $0.hasSuffix(".segment") }
        let segments = try journal.state.withLock { SegmentReference.all($0.sealedStarts, $0.active) }.map {
            try $0.load(journal.sealedSegments)
        }
        for (segment, isIncremental) in [
            (segments[2], false), (segments[2], true), (segments[segments.count - 1], true),
        ] {
            for (path, _) in fixture.copies.base.allContents() { try fixture.copies.base.remove(path) }
            if isIncremental { try journal.backup(to: "copy", upTo: segment.lastPosition - 1, on: fixture.copies) }
            let before = isIncremental ? try fixture.openCopy().lastPosition : 0
            let path = "journal/" + segment.name
            let whole = fixture.storage.allContents()[path] ?? []
            let file = try fixture.storage.open(path, .readWrite)
            try [whole[Int(segment.end) - 1] ^ 1].withBytes(0..<1) { try file.write($0, at: segment.end - 1) }
            let error = journalError { try journal.backup(to: "copy", on: fixture.copies) }
            #expect(error?.code == .damaged && error?.segment == segment.name && error?.path == path)
            #expect(
                error?.positions?.contains(segment.lastPosition) == true
                    && error?.bytes?.contains(segment.end - 1) == true)
            try whole.withBytes(0..<whole.count) { try file.write($0, at: 0) }
            // The backup holds everything before the damage and nothing after it.
            let copy = try fixture.openCopy()
            #expect(copy.lastPosition >= before && copy.lastPosition < segment.lastPosition)
            #expect(try copy.entries() == Array(entries.prefix(Int(copy.lastPosition))))
            #expect(!fixture.copyContents.keys.contains { $0.hasSuffix(".tmp") })
            try journal.backup(to: "copy", on: fixture.copies)
            #expect(try fixture.openCopy().entries() == entries)
        }
        #expect(names.count > 3)
    }

    @Test func fullDestinationResumesWhenSpaceIsFreed() throws {
        let fixture = BackupFixture()
        let journal = try fixture.open()
        try fixture.append(30, to: journal)
        let size = try fixture.written { try fixture.backUp() }.reduce(0) { $0 + ($1.bytes?.count ?? 0) }
        for space in Repetitions.oneIn(6, of: 0..<(size + 96) / 97).map({ 97 * $0 }) {
            for (path, _) in fixture.copies.base.allContents() { try fixture.copies.base.remove(path) }
            let left = Lock(space)
            fixture.copies.fail(writing: 7) { call in
                guard call.operation == .write else { return nil }
                return left.withLock { left in
                    left -= call.bytes?.count ?? 0
                    return left < 0 ? StorageError(.full, .write, path: call.path, errno: 28) : nil
                }
            }
            let error = journalError { try fixture.backUp() }
            #expect(error?.code == .storageFull && error?.path?.hasPrefix("copy") == true, "space for \(space) bytes")
            try fixture.append(1, to: journal)
            fixture.copies.fail(nil)
            #expect(try fixture.backUp().head == journal.head)
            #expect(try fixture.openCopy().entries() == journal.entries(), "space for \(space) bytes")
        }
        #expect(size > 97 * 30)
    }

    /// Recovery after a crash is the writer's task: the writer keeps the bytes that recovery cuts
    /// off.
    @Test(arguments: ["journal", "journal/", "other/../journal", "link", "link/."])
    func backupOntoItselfIsRefused(destination: String) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("journal")
        try FileManager.default.createDirectory(atPath: directory.file("other"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: directory.file("link"), withDestinationPath: "journal")
        do {
            let journal = try Journal.open(path)
            try journal.append([Entry("a", "b")])
            try journal.synchronize()
            try journal.append([Entry("torn", String(repeating: "x", count: 2000))])
        }
        let segment = path + "/" + JournalFileName.segment(1)
        let file = try FileStorage().open(segment, .readWrite)
        let zeros = [UInt8](repeating: 0, count: 512)
        try zeros.withBytes(0..<512) { (bytes) throws(StorageError) in try file.write(bytes, at: 1024) }
        let before = try directory.contents()
        #expect(journalError { try Journal.backup(path, to: directory.file(destination)) }?.code == .sameDirectory)
        let reader = try Journal.openReadOnly(path)
        #expect(journalError { try reader.backup(to: directory.file(destination)) }?.code == .sameDirectory)
        #expect(try directory.contents() == before)
        let writer = try Journal.open(path)
        #expect(writer.recovery.cutFile != nil)
        #expect(journalError { try writer.backup(to: directory.file(destination)) }?.code == .locked)
        #expect(journalError { try reader.backup(to: directory.file(destination)) }?.code == .locked)
        try writer.close()
    }

    /// The same path on another storage names another directory.
    @Test func sameNameOnAnotherStorageIsAccepted() throws {
        let fixture = BackupFixture()
        let journal = try fixture.open()
        try fixture.append(5, to: journal)
        let elsewhere = MemoryStorage()
        #expect(try journal.backup(to: "journal", on: elsewhere).head == journal.head)
        try journal.close()
        try fixture.append(5, to: try fixture.open())
        let report = try Journal.backup(
            "journal", to: "journal", options: BackupOptions(storage: fixture.storage, destinationStorage: elsewhere))
        #expect(try Journal.openReadOnly("journal", options: JournalOptions(storage: elsewhere)).head == report.head)
    }

    @Test func backupOnFileSystem() throws {
        let directory = try TemporaryDirectory()
        let journal = try Journal.open(
            directory.file("journal"), options: JournalOptions(durability: .written, segmentSize: 4096))
        var generator = SeededGenerator()
        for round in 0..<3 {
            for _ in 0..<50 { try journal.append([generator.entry(erasable: 300)]) }
            let report =
                round == 1
                ? try Journal.backup(directory.file("journal"), to: directory.file("copy"))
                : try journal.backup(to: directory.file("copy"))
            #expect(report.head == journal.head)
            let copy = try Journal.openReadOnly(directory.file("copy"))
            #expect(try copy.recovery.wasClean && copy.entries() == journal.entries(), "seed \(generator.seed)")
        }
    }
}
