import Foundation
import Synchronization
import Testing

@testable import EventJournal

/// Files that somebody changed by hand, or put there: an error that says so, never a trap, a hang or a loss.
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

    @Test(arguments: 0..<128) func aSegmentThatEndsInItsHeaderIsDamaged(size: Int) throws {
        let storage = MemoryStorage()
        try journal(storage, commits: 3)
        let path = "j/" + DirectoryListing.segmentName(1)
        let whole = try #require(storage.allContents()[path])
        // A checksum that ends in zeros is whole even where the file ends before it.
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
                #expect(error?.segment == DirectoryListing.segmentName(1))
            }
            var findings: [JournalFinding] = []
            try Journal.verify("j", options: options(storage)) { findings.append($0) }
            #expect(findings.contains { $0.segment == DirectoryListing.segmentName(1) })
        }
    }

    @Test func moreSegmentsThanFilesThatStayOpenAreRead() throws {
        let storage = MemoryStorage()
        try journal(storage, commits: 300)
        let opened = CountingStorage(storage)
        var options = options(storage)
        options.storage = opened
        let journal = try Journal.openReadOnly("j", options: options)
        #expect(journal.recovery.lastPosition == 300)
        #expect(storage.allContents().count > SealedFiles.capacity + 10)
        for _ in 0..<3 {
            for position in stride(from: Position(1), through: 300, by: 7) {
                #expect(try journal.entries(position...position) == [Entry("kept \(position - 1)", "erasable \(position - 1)")])
            }
        }
        #expect(try journal.entries().count == 300)
        #expect(opened.openFiles <= SealedFiles.capacity + 3, "the pool, the last segment, the durable file and one that is being read")
    }

    @Test func aWriterWhoseLockFileIsRemovedKeepsTheJournal() throws {
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

    @Test(.timeLimit(.minutes(1)), arguments: ["durable", "lock", "00000000000000000001.segment"])
    func aFIFOInPlaceOfAFileIsAnError(name: String) throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/j"
        try Journal.open(path).close()
        try FileManager.default.removeItem(atPath: path + "/" + name)
        #expect(unsafe mkfifo(path + "/" + name, 0o600) == 0)
        #expect(journalError { _ = try Journal.openReadOnly(path) } != nil)
        #expect(journalError { _ = try Journal.open(path) } != nil)
    }

    @Test(arguments: ["durable.tmp", "00000000000000000001.segment.tmp"]) func aLinkThatWasPutThereIsNotFollowed(name: String) throws {
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
}

/// Counts the files of another storage that are open.
private final class CountingStorage: Storage {
    private let base: MemoryStorage
    private let state = Mutex((open: 0, most: 0))

    init(_ base: MemoryStorage) { self.base = base }

    /// The most files that were open at once.
    var openFiles: Int { state.withLock { $0.most } }

    func open(_ path: String, _ mode: StorageOpenMode) throws(StorageError) -> any StorageFile {
        let file = File(try base.open(path, mode), self)
        state.withLock { state in
            state.open += 1
            state.most = max(state.most, state.open)
        }
        return file
    }

    func kind(of path: String) throws(StorageError) -> StorageEntryKind? { base.kind(of: path) }
    func list(_ directory: String) throws(StorageError) -> [String] { try base.list(directory) }
    func rename(_ path: String, to target: String) throws(StorageError) { try base.rename(path, to: target) }
    func remove(_ path: String) throws(StorageError) { try base.remove(path) }
    func createDirectory(_ path: String) throws(StorageError) { try base.createDirectory(path) }
    func syncDirectory(_ path: String) throws(StorageError) { base.syncDirectory(path) }
    func lock(_ path: String) throws(StorageError) -> (any StorageLock)? { base.lock(path) }
    func isLocked(_ path: String) throws(StorageError) -> Bool { base.isLocked(path) }

    private final class File: StorageFile {
        private let base: any StorageFile
        private let storage: CountingStorage

        init(_ base: any StorageFile, _ storage: CountingStorage) {
            self.base = base
            self.storage = storage
        }

        deinit { storage.state.withLock { $0.open -= 1 } }

        func read(into bytes: inout MutableRawSpan, at offset: UInt64) throws(StorageError) -> Int {
            try base.read(into: &bytes, at: offset)
        }
        func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError) { try base.write(bytes, at: offset) }
        func sync() throws(StorageError) { try base.sync() }
        func size() throws(StorageError) -> UInt64 { try base.size() }
        func truncate(to size: UInt64) throws(StorageError) { try base.truncate(to: size) }
        func allocate(to size: UInt64) throws(StorageError) { try base.allocate(to: size) }
    }
}
