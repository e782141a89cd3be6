import ChatTesting
import Foundation
import Locking
import MerkleLog
import TestSupport
import Testing

@testable import EventJournal

/// The static files of a tree.
@Suite struct TilesTests {
    /// The files that C2SP *tlog-tiles* requires for a tree, by path.
    static func expectedFiles(_ leaves: [MerkleHash], entries: [[UInt8]]? = nil) -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        func add(_ level: String, _ items: [[UInt8]]) {
            for start in stride(from: 0, to: items.count, by: 256) {
                let width = min(256, items.count - start)
                let path = "tile/\(level)/" + number(start / 256) + (width == 256 ? "" : ".p/\(width)")
                files[path] = Array(items[start..<start + width].joined())
            }
        }
        var (level, hashes) = (0, leaves)
        while !hashes.isEmpty {
            add("\(level)", hashes.map(\.bytes))
            hashes = (0..<hashes.count / 256).map { index in
                var tree = MerkleAccumulator()
                for hash in hashes[256 * index..<256 * index + 256] { tree.append(hash) }
                return tree.root
            }
            level += 1
        }
        if let entries { add("entries", entries.map { [UInt8($0.count >> 8), UInt8($0.count & 0xFF)] + $0 }) }
        return files
    }

    private static func number(_ index: Int) -> String {
        switch index {
        case 0..<1_000: padded(index)
        default: "x" + padded(index / 1_000) + "/" + padded(index % 1_000)
        }
    }

    private static func padded(_ number: Int) -> String { String(String(1_000 + number).dropFirst()) }

    private static func files(_ storage: MemoryStorage, _ directory: String = "tiles") -> [String: [UInt8]] {
        let found = storage.allContents().filter { $0.key.hasPrefix(directory + "/") }
        return Dictionary(uniqueKeysWithValues: found.map { (String($0.key.dropFirst(directory.count + 1)), $0.value) })
    }

    /// Checks that a directory has a checkpoint, and all of its tiles.
    private static func check(
        _ specimen: TreeSpecimen, _ found: [String: [UInt8]], _ size: Int, _ comment: Comment = ""
    ) throws {
        let text = try #require(found["checkpoint"].map { String(decoding: $0, as: UTF8.self) }, comment)
        #expect(try TreeHead(parsing: text) == specimen.journal.treeHead(at: Position(size)), comment)
        for (path, bytes) in expectedFiles(Array(specimen.leaves.prefix(size))) {
            // A full tile can have replaced a partial one.
            let full = path.split(separator: ".").first.map { found[String($0)] } ?? nil
            #expect(found[path] == bytes || full?.starts(with: bytes) == true, "\(comment) \(path)")
        }
    }

    @Test(arguments: [0, 1, 2, 255, 256, 257, 511, 512, 700]) func filesAreThoseOfTheLayout(_ size: Int) throws {
        let specimen = try TreeSpecimen(segmentSize: 128 << 10)
        try specimen.grow(to: size)
        let report = try specimen.journal.writeTiles(to: "tiles")
        var files = Self.files(specimen.storage)
        #expect(files.removeValue(forKey: "checkpoint") == Array(try specimen.journal.treeHead().text.utf8))
        #expect(files.removeValue(forKey: "lock") == [])
        #expect(files == Self.expectedFiles(specimen.leaves))
        #expect(report.head == (try specimen.journal.treeHead()) && report.removedFiles == 0)
        // The checkpoint of size 0 comes first.
        #expect(report.writtenFiles == files.count + (size == 0 ? 1 : 2))
        try specimen.journal.close()
    }

    /// Three levels, with the layout of the format.
    @Test func filesOfThreeLevels() throws {
        let journal = try Journal.open("journal", options: JournalOptions(storage: MemoryStorage(), slotSyncDelay: nil))
        let size = 65_536 + 300
        for start in stride(from: 0, to: size, by: 4_096) {
            try journal.append((start..<min(size, start + 4_096)).map { Entry("\($0)", "") })
        }
        try journal.waitUntilDurable(Position(size))
        var leaves: [MerkleHash] = []
        try journal.forEachLeaf(in: 1...Position(size)) { _, _, _, _, leaf in
            leaves.append(leaf)
            return true
        }
        let storage = MemoryStorage()
        try journal.writeTiles(to: "tiles", on: storage)
        let files = Self.files(storage).filter { $0.key.hasPrefix("tile/") }
        #expect(files == Self.expectedFiles(leaves) && files["tile/2/000.p/1"]?.count == 32)
        try journal.close()
    }

    @Test func numbersOfTilesAreInGroupsOfThreeDigits() {
        let paths = [0, 67, 999, 1_000, 1_234_067, 1_000_000].map { Tile(level: 1, index: $0).path(width: 256) }
        #expect(
            paths == [
                "tile/1/000", "tile/1/067", "tile/1/999", "tile/1/x001/000", "tile/1/x001/x234/067",
                "tile/1/x001/x000/000",
            ])
        #expect(Tile(level: nil, index: 1_000).path(width: 7) == "tile/entries/x001/000.p/7")
    }

    @Test func directoryIsContinued() throws {
        let specimen = try TreeSpecimen(segmentSize: 128 << 10)
        var (writtenFull, total): ([String: [UInt8]], Int) = ([:], 0)
        while specimen.size < 1_100 {
            try specimen.grow(to: min(1_100, specimen.size + 100), commits: 1...90)
            let report = try specimen.journal.writeTiles(to: "tiles")
            total += report.writtenFiles
            let files = Self.files(specimen.storage)
            try Self.check(specimen, files, specimen.size)
            // Partial tiles in the place of full ones are gone.
            for path in files.keys where path.contains(".p/") {
                #expect(files[String(path.prefix { $0 != "." })] == nil, "\(path)")
            }
            for (path, bytes) in writtenFull { #expect(files[path] == bytes) }
            writtenFull = files.filter { $0.value.count == 8_192 }
        }
        // Nothing new: nothing is written, not even the checkpoint, which may be signed.
        let signed = Array((try specimen.journal.treeHead().text + "\n\u{2014} name AAAAAAAAAAAA\n").utf8)
        specimen.storage.setContents(signed, of: "tiles/checkpoint")
        #expect(try specimen.journal.writeTiles(to: "tiles").writtenFiles == 0)
        #expect(Self.files(specimen.storage)["checkpoint"] == signed)
        #expect(total < 60)
        try specimen.journal.close()
    }

    @Test func fullTilesAreNotWrittenAgain() throws {
        let storage = FaultyStorage(MemoryStorage())
        let specimen = try TreeSpecimen(storage, segmentSize: 128 << 10)
        try specimen.grow(to: 600)
        try specimen.journal.writeTiles(to: "tiles")
        try specimen.grow(to: 610)
        let before = storage.calls.count
        try specimen.journal.writeTiles(to: "tiles")
        let renamed = storage.calls[before...].filter { $0.operation == .rename }
        // The partial tile of level 0, and the checkpoint.
        #expect(renamed.count == 2)
        try specimen.journal.close()
    }

    @Test func entriesAreThoseOfTheRecords() throws {
        let specimen = try TreeSpecimen(segmentSize: 128 << 10)
        var size = 300
        // Entries at first, then hashes only, then entries of everything.
        for includesEntries in [true, false, true, true] {
            try specimen.grow(to: size)
            try specimen.journal.writeTiles(to: "tiles", includingEntries: includesEntries)
            if includesEntries {
                let entries = try (1...size).map { try specimen.journal.disclosedRecord(at: Position($0)).entry }
                let files = Self.files(specimen.storage)
                for (path, bytes) in Self.expectedFiles(specimen.leaves, entries: entries) {
                    #expect(files[path] == bytes, "\(path)")
                }
            }
            size += 150
        }
        // The entries of a directory that has none are written without new records, too.
        try specimen.journal.writeTiles(to: "other")
        let report = try specimen.journal.writeTiles(to: "other", includingEntries: true)
        #expect(
            report.writtenFiles == 3
                && Self.files(specimen.storage, "other").keys.contains { $0.hasPrefix("tile/entries/") })
        try specimen.journal.close()
    }

    @Test func directoriesOfOtherContentAreUnchanged() throws {
        let specimen = try TreeSpecimen(segmentSize: 128 << 10)
        try specimen.grow(to: 300)
        let early = specimen.storage.copy()
        let other = try TreeSpecimen()
        try other.grow(to: 300)
        try specimen.grow(to: 310)
        let (id, root) = (specimen.journal.id, try specimen.journal.treeHead(at: 300).root)
        let cases: [(String, String?, JournalError.Code)] = [
            ("no checkpoint", nil, .notAJournal),
            ("another log", try other.journal.treeHead().text, .headMismatch),
            ("a longer one", TreeHead(origin: "chat-journal/\(id)", size: 311, root: root).text, .headMismatch),
            ("another root", TreeHead(origin: "chat-journal/\(id)", size: 301, root: root).text, .headMismatch),
            ("another form", "chat-journal/\(id)\n300\n", .damaged),
            ("not UTF-8", nil, .damaged),
        ]
        for (name, text, code) in cases {
            let storage = MemoryStorage()
            storage.createDirectoryIfNeeded("tiles")
            storage.setContents([1], of: "tiles/file")
            if let text { storage.setContents(Array(text.utf8), of: "tiles/checkpoint") }
            if name == "not UTF-8" { storage.setContents([0xFF, 0x0A], of: "tiles/checkpoint") }
            let before = storage.allContents()
            let error = journalError { try specimen.journal.writeTiles(to: "tiles", on: storage) }
            #expect(
                error?.code == code && error?.path?.hasPrefix("tiles") == true, "\(name): \(String(describing: error))")
            #expect(storage.allContents() == before, "\(name)")
        }
        // A file, the journal itself, and a directory in use.
        #expect(journalError { try specimen.journal.writeTiles(to: "journal/durable") }?.code == .notAJournal)
        #expect(journalError { try specimen.journal.writeTiles(to: "journal") }?.code == .notAJournal)
        try specimen.journal.writeTiles(to: "tiles")
        let lock = specimen.storage.lock("tiles/lock")
        #expect(lock != nil && journalError { try specimen.journal.writeTiles(to: "tiles") }?.code == .locked)
        lock?.unlock()
        // The journal went back to an earlier state.
        let live = specimen.storage
        specimen.options.storage = early
        let writer = try Journal.open(TreeSpecimen.path, options: specimen.options)
        try writer.append((0..<20).map { Entry("\($0)", "new") })
        try writer.waitUntilDurable(320)
        #expect(journalError { try writer.writeTiles(to: "tiles", on: live) }?.code == .headMismatch)
        try writer.close()
        try specimen.journal.close()
        #expect(journalError { try specimen.journal.writeTiles(to: "tiles") }?.code == .closed)
        try other.journal.close()
    }

    /// A link within the directory can lead to any other one: no file is created, replaced or
    /// removed there.
    @Test(arguments: [
        "lock", "checkpoint", "tile", "tile/0", "tile/0/000.p", "tile/1", "tile/entries", "tile/entries/000.p",
    ])
    func linkInDirectoryIsNotFollowed(name: String) throws {
        let (folder, specimen) = (try TemporaryDirectory(), try TreeSpecimen(segmentSize: 128 << 10))
        let (tiles, moved, storage) = (folder.file("tiles"), folder.file("elsewhere"), FileStorage())
        // An earlier run has written partial tiles, which the next one replaces by full ones and
        // removes.
        try specimen.grow(to: 250)
        try specimen.journal.writeTiles(to: tiles, includingEntries: true, on: storage)
        try specimen.grow(to: 600)
        if FileManager.default.fileExists(atPath: tiles + "/" + name) {
            try FileManager.default.moveItem(atPath: tiles + "/" + name, toPath: moved)
        } else {
            try FileManager.default.createDirectory(atPath: moved, withIntermediateDirectories: false)
        }
        try FileManager.default.createSymbolicLink(atPath: tiles + "/" + name, withDestinationPath: moved)
        func elsewhere() throws -> [String: [UInt8]] { try folder.contents().filter { $0.key.hasPrefix("elsewhere") } }
        let before = try elsewhere()
        let error = journalError { try specimen.journal.writeTiles(to: tiles, includingEntries: true, on: storage) }
        #expect(error?.code == .notAJournal && error?.path == tiles + "/" + name, "\(String(describing: error))")
        #expect(try elsewhere() == before)
        // Without the link, the next run continues.
        try FileManager.default.removeItem(atPath: tiles + "/" + name)
        try FileManager.default.moveItem(atPath: moved, toPath: tiles + "/" + name)
        #expect(
            try specimen.journal.writeTiles(to: tiles, includingEntries: true, on: storage).head
                == specimen.journal.treeHead())
        try specimen.journal.close()
    }

    /// The directory itself may be a link.
    @Test func linkToDirectoryIsFollowed() throws {
        let (folder, specimen) = (try TemporaryDirectory(), try TreeSpecimen(segmentSize: 128 << 10))
        try specimen.grow(to: 10)
        try FileManager.default.createDirectory(atPath: folder.file("tiles"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: "tiles")
        try specimen.journal.writeTiles(to: folder.file("link"), on: FileStorage())
        #expect(FileManager.default.fileExists(atPath: folder.file("tiles/checkpoint")))
        try specimen.journal.close()
    }

    /// Any call can fail: the checkpoint has its tiles, and the next run completes the directory.
    @Test func interruptedRunsAreCompleted() throws {
        for includesEntries in [false, true] {
            var (call, isInterrupted) = (0, true)
            while isInterrupted {
                let storage = FaultyStorage(MemoryStorage())
                let specimen = try TreeSpecimen(segmentSize: 128 << 10)
                var size = 0
                isInterrupted = false
                for step in [250, 270, 530] {
                    try specimen.grow(to: step)
                    let first = storage.calls.count
                    if step == 270 || call % 2 == 0 {
                        let failing = first + call / 2
                        storage.fail(writing: 5) { [storage] failed in
                            storage.calls.count > failing && failed.path.hasPrefix("tiles")
                                ? StorageError(.failed, failed.operation, path: failed.path) : nil
                        }
                    }
                    do {
                        try specimen.journal.writeTiles(to: "tiles", includingEntries: includesEntries, on: storage)
                    } catch {
                        isInterrupted = true
                        storage.fail(nil)
                        let files = Self.files(storage.base)
                        if files["checkpoint"] != nil {
                            let head = try TreeHead(parsing: String(decoding: files["checkpoint"] ?? [], as: UTF8.self))
                            #expect(head.size == UInt64(size) || head.size == UInt64(step))
                            try Self.check(specimen, files, Int(head.size), "call \(call)")
                        }
                        try specimen.journal.writeTiles(to: "tiles", includingEntries: includesEntries, on: storage)
                    }
                    storage.fail(nil)
                    size = step
                    try Self.check(specimen, Self.files(storage.base), step, "call \(call)")
                }
                try specimen.journal.close()
                call += Repetitions.areAll ? 1 : 13
            }
            #expect(call > 20)
        }
    }
}

extension MemoryStorage {
    fileprivate func createDirectoryIfNeeded(_ path: String) {
        do { try createDirectory(path) } catch { Issue.record(error) }
    }
}
