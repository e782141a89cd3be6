import ChatTesting
import Foundation
import Locking
import Primitives
import TestSupport
import Testing

@testable import EventJournal

/// Files that another program changed or created.
///
/// Each causes a clear error, never a trap, a hang or lost records.
@Suite struct HostileFilesTests {
    private func journal(_ storage: MemoryStorage, commits: Int, segmentSize: UInt64 = 512) throws {
        var options = JournalOptions()
        options.storage = storage
        options.entropy = SeededEntropy(seed: 5)
        options.segmentSize = segmentSize
        let journal = try Journal.open("j", options: options)
        for number in 0..<commits { try journal.append([Entry("kept \(number)", "erasable \(number)")]) }
        try journal.close()
    }

    private func options(_ storage: MemoryStorage) -> JournalOptions {
        var options = JournalOptions()
        options.storage = storage
        return options
    }

    @Test(arguments: 0..<128) func segmentCutInHeaderIsDamaged(size: Int) throws {
        let storage = MemoryStorage()
        try journal(storage, commits: 3)
        let path = "j/" + JournalFileName.segment(1)
        let whole = try #require(storage.allContents()[path])
        // If a checksum ends in zeros, the header reads as valid even in a file that ends before
        // it.
        var header = Array(whole.prefix(128))
        var salt: UInt64 = 0
        repeat {
            salt += 1
            header.store(salt, at: 56)
            header.store(CRC32C.checksum(of: Array(header.prefix(124))), at: 124)
        } while header[127] != 0
        for bytes in [whole, header + whole.dropFirst(128)] {
            storage.setContents(Array(bytes.prefix(size)), of: path)
            for error in [
                journalError { _ = try Journal.open("j", options: options(storage)) },
                journalError { _ = try Journal.openReadOnly("j", options: options(storage)) },
            ] {
                #expect(error?.code == .damaged)
                #expect(error?.segment == JournalFileName.segment(1))
            }
            var findings: [JournalFinding] = []
            try Journal.verify("j", options: options(storage)) { findings.append($0) }
            #expect(findings.contains { $0.segment == JournalFileName.segment(1) })
        }
    }

    @Test func openFilesAreBounded() throws {
        let storage = MemoryStorage()
        try journal(storage, commits: 300)
        let opened = CountingStorage(storage)
        var options = options(storage)
        options.storage = opened
        let journal = try Journal.openReadOnly("j", options: options)
        #expect(journal.recovery.lastPosition == 300)
        #expect(storage.allContents().count > SealedSegments.capacity + 10)
        for _ in 0..<3 {
            for position in stride(from: Position(1), through: 300, by: 7) {
                #expect(
                    try journal.entries(position...position) == [
                        Entry("kept \(position - 1)", "erasable \(position - 1)")
                    ])
            }
        }
        #expect(try journal.entries().count == 300)
        #expect(
            opened.openFiles <= SealedSegments.capacity + 3,
            "the pool, the last segment, the durable file and one that is being read")
    }

    /// A sparse file is cheap to create, but reading it to its end takes time in proportion to its
    /// length.
    @Test func oversizedSegmentIsNotReadToItsEnd() throws {
        let storage = MemoryStorage()
        try journal(storage, commits: 30)
        let path = "j/" + JournalFileName.segment(1)
        try storage.open(path, .readWrite).truncate(to: 1 << 33)
        var findings: [JournalFinding] = []
        try Journal.verify("j", options: options(storage)) { findings.append($0) }
        #expect(findings.first?.problem == "segmentHeader" && findings.first?.bytes == 0..<UInt64(SegmentHeader.size))
    }

    @Test func removedLockFileKeepsJournalLocked() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/j"
        let journal = try Journal.open(path)
        try journal.append([Entry("a", "b")])
        try FileManager.default.removeItem(atPath: path + "/lock")
        #expect(journalError { _ = try Journal.open(path) }?.code == .locked)
        try journal.append([Entry("c", "d")])
        try journal.close()
        let again = try Journal.open(path)
        #expect(try again.entries() == [Entry("a", "b"), Entry("c", "d")])
        try again.close()
    }

    // The test takes milliseconds. The limit ends a hang, with a margin for a loaded machine.
    @Test(.timeLimit(.minutes(5)), arguments: ["durable", "lock", "00000000000000000001.segment"])
    func fifoInPlaceOfFileIsRejected(name: String) throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/j"
        try Journal.open(path).close()
        try FileManager.default.removeItem(atPath: path + "/" + name)
        #expect(unsafe mkfifo(path + "/" + name, 0o600) == 0)
        #expect(journalError { _ = try Journal.openReadOnly(path) } != nil)
        #expect(journalError { _ = try Journal.open(path) } != nil)
    }

    @Test(arguments: ["durable.tmp", "00000000000000000001.segment.tmp"]) func symbolicLinkIsNotFollowed(name: String)
        throws
    {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/j"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let victim = folder.path + "/victim"
        try Data("precious".utf8).write(to: URL(fileURLWithPath: victim))
        try FileManager.default.createSymbolicLink(atPath: path + "/" + name, withDestinationPath: victim)
        let journal = try Journal.open(path)
        try journal.append([Entry("a", "b")])
        try journal.close()
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
    }

    /// A lock file is created at its own path only.
    @Test func danglingLinkInPlaceOfLockCreatesNoFile() throws {
        let folder = try TemporaryDirectory()
        try Journal.open(folder.file("j")).close()
        try FileManager.default.removeItem(atPath: folder.file("j/lock"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("j/lock"), withDestinationPath: folder.file("victim"))
        #expect(journalError { _ = try Journal.open(folder.file("j")) }?.code == .ioFailed)
        #expect(!FileManager.default.fileExists(atPath: folder.file("victim")))
    }

    /// An erasure, and a backup to an older copy, empty the directory `cut`: not another one that a
    /// link leads to.
    @Test func linkInPlaceOfCutIsNotFollowed() throws {
        let folder = try TemporaryDirectory()
        let (path, copy, victim) = (folder.file("j"), folder.file("copy"), folder.file("victim"))
        let journal = try Journal.open(path)
        try journal.append([Entry("a", "b")])
        try journal.backup(to: copy)
        try FileManager.default.createDirectory(atPath: victim, withIntermediateDirectories: false)
        try Data("precious".utf8).write(to: URL(fileURLWithPath: victim + "/file"))
        for directory in [path, copy] {
            try FileManager.default.createSymbolicLink(atPath: directory + "/cut", withDestinationPath: victim)
        }
        let erasure = journalError { try journal.eraseContent(of: PositionSet([1...1]), orderedThrough: 1) }
        #expect(erasure?.code == .ioFailed && erasure?.path == path + "/cut")
        try journal.append([Entry("c", "d")])
        #expect(journalError { try journal.backup(to: copy) }?.path == copy + "/cut")
        #expect(try String(contentsOfFile: victim + "/file", encoding: .utf8) == "precious")
        // The erasure is completed when the link is gone.
        try FileManager.default.removeItem(atPath: path + "/cut")
        try journal.eraseContent(of: PositionSet([1...1]), orderedThrough: 1)
        #expect(try journal.entries().map(\.erasable) == [[], Array("d".utf8)])
        try journal.close()
    }

    /// Recovery copies torn bytes to `cut`.
    @Test func tornBytesAreNotCopiedThroughLink() throws {
        let folder = try TemporaryDirectory()
        let (path, victim) = (folder.file("j"), folder.file("victim"))
        do {
            let journal = try Journal.open(path)
            try journal.append([Entry("a", "b")])
            try journal.synchronize()
            try journal.append([Entry("torn", String(repeating: "x", count: 2000))])
        }
        let file = try FileStorage().open(path + "/" + JournalFileName.segment(1), .readWrite)
        let zeros = [UInt8](repeating: 0, count: 512)
        try zeros.withBytes(0..<512) { (bytes) throws(StorageError) in try file.write(bytes, at: 1024) }
        try FileManager.default.createDirectory(atPath: victim, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: path + "/cut", withDestinationPath: victim)
        // A file of an interrupted creation, which only an opening that succeeds removes.
        try Data("half".utf8).write(to: URL(fileURLWithPath: path + "/durable.tmp"))
        let before = try folder.contents()
        #expect(journalError { _ = try Journal.open(path) }?.path == path + "/cut")
        #expect(try folder.contents() == before)
        try FileManager.default.removeItem(atPath: path + "/cut")
        let journal = try Journal.open(path)
        #expect(journal.recovery.cutFile?.hasPrefix("cut/") == true)
        #expect(try journal.entries() == [Entry("a", "b")])
        try journal.close()
    }

    /// A link at the name of a file of the journal is not followed, whether it is read or written.
    @Test(arguments: ["durable", "lock", "role", "ledger", "first segment", "last segment"])
    func linkInPlaceOfFileIsAnError(name: String) throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("j")
        var options = JournalOptions(segmentSize: 1_000)
        let journal = try Journal.open(path, options: options)
        for number in 0..<20 { try journal.append([Entry("kept \(number)", String(repeating: "x", count: 100))]) }
        try journal.writeLedger(Array("ledger".utf8))
        try journal.close()
        if name == "role" {
            try journal.directory.replaceRole(RoleFile(.copy, of: journal.id))
            options.purpose = .copy(of: journal.id)
        }
        let segments = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".segment") }
            .sorted()
        let file =
            path + "/"
            + (name == "first segment" ? segments[0] : name == "last segment" ? segments[segments.count - 1] : name)
        try FileManager.default.moveItem(atPath: file, toPath: folder.file("victim"))
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: folder.file("victim"))
        let before = try folder.contents()
        let errors = [
            journalError {
                let journal = try Journal.open(path, options: options)
                defer { try? journal.close() }
                _ = try journal.entries()
                _ = try journal.readLedger()
            },
            journalError(optional: { () throws(JournalError) in
                let journal = try Journal.openReadOnly(path)
                var count = 0
                try journal.forEachRecord(in: 1...20) { _, _, _, _ in
                    count += 1
                    return true
                }
                _ = try journal.readLedger()
            }),
        ]
        // The role does not matter to a reader.
        for error in name == "role" ? [errors[0]] : errors {
            #expect(error?.code == .ioFailed && error?.path == file, "\(String(describing: error))")
            #expect(error?.message.contains("symbolic link") == true)
        }
        if name != "ledger" { #expect(try folder.contents() == before) }
        #expect(try folder.contents()["victim"] == before["victim"])
    }

    /// A link to nowhere is a file that cannot be read: it is not taken for one that does not
    /// exist.
    @Test(arguments: ["role", "ledger"]) func danglingLinkIsNotAnAbsentFile(name: String) throws {
        let folder = try TemporaryDirectory()
        try Journal.open(folder.file("j")).close()
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("j/" + name), withDestinationPath: folder.file("victim"))
        let error = journalError {
            let journal = try Journal.open(folder.file("j"))
            defer { try? journal.close() }
            _ = try journal.readLedger()
        }
        #expect(error?.code == .ioFailed && error?.path == folder.file("j/" + name))
    }

    /// The file `tree` is written again in the place of a link.
    @Test func treeIsNotWrittenThroughLink() throws {
        let folder = try TemporaryDirectory()
        var options = JournalOptions()
        options.treeLayout = TreeSpecimen.layout
        options.treePause = .zero
        let journal = try Journal.open(folder.file("j"), options: options)
        try journal.append((0..<40).map { Entry("\($0)", "x") })
        try journal.waitUntilDurable(40)
        repeat { journal.treeBackground.drain() } while journal.state.withLock { $0.treePageDuePosition == .max }
        try journal.close()
        try FileManager.default.moveItem(atPath: folder.file("j/tree"), toPath: folder.file("victim"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("j/tree"), withDestinationPath: folder.file("victim"))
        let victim = try folder.contents()["victim"]
        let again = try Journal.open(folder.file("j"), options: options)
        try again.append((0..<40).map { Entry("\($0)", "x") })
        try again.waitUntilDurable(80)
        repeat { again.treeBackground.drain() } while again.state.withLock { $0.treePageDuePosition == .max }
        try again.close()
        #expect(try folder.contents()["victim"] == victim)
        #expect(try !FileStorage().isLink(folder.file("j/tree")))
        #expect(try Journal.openReadOnly(folder.file("j"), options: options).storedTree().size == 80)
    }

    /// A checkpoint is not read through a link.
    @Test func checkpointIsNotReadThroughLink() throws {
        let folder = try TemporaryDirectory()
        let journal = try Journal.open(folder.file("j"))
        try journal.append([Entry("a", "b")])
        try journal.waitUntilDurable(1)
        let writer = try journal.beginCheckpoint("state", version: 1, at: 1, sections: ["all"])
        writer.beginSection()
        writer.write([1, 2, 3])
        _ = try writer.finish()
        _ = try journal.checkpoint("state", version: 1)
        let file = folder.file("j/state.checkpoint")
        try FileManager.default.moveItem(atPath: file, toPath: folder.file("victim"))
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: folder.file("victim"))
        let error = #expect(throws: CheckpointProblem.self) { _ = try journal.checkpoint("state", version: 1) }
        #expect(error?.code == .unreadable && error?.message.contains(file) == true)
        try journal.close()
    }
}
