import Foundation
import Locking
import TestSupport
import Testing

@testable import EventJournal

/// A path is a sequence of bytes between slashes, whatever Unicode says about them.
@Suite struct StoragePathTests {
    @Test(arguments: [
        ("a", "."), ("a/", "."), ("a/b", "a"), ("a//b", "a"), ("a/b//", "a"), ("/a", "/"), ("//a", "/"), ("/", "/"),
        ("//", "/"),
        ("/a/b/c", "/a/b"), ("./a", "."), ("../a", ".."), (".", "./.."), ("..", "../.."), ("a/.", "a/./.."),
        ("a/../", "a/../.."),
        ("a/.b", "a"), ("a/..b", "a"), ("\u{301}", "."), ("/\u{301}", "/"), ("a/\u{301}b", "a"),
        ("a\u{301}/\u{301}b", "a\u{301}"),
        ("a/\u{301}b/c", "a/\u{301}b"), ("a//\u{20DD}", "a"), ("a/\u{301}/", "a"), ("a/b/\u{301}", "a/b"),
    ]) func parentPathsAreExact(path: String, parent: String) {
        #expect(Array(StoragePath.parent(of: path).utf8) == Array(parent.utf8))
    }

    @Test(arguments: [
        ("a", "a"), ("a/", "a"), ("a//b", "a/b"), ("./a/./b", "a/b"), ("a/../b", "b"), ("../a", "../a"),
        ("a/../../b", "../b"),
        ("/../a", "/a"), ("/", "/"), ("//", "/"), (".", ""), ("..", ".."), ("../..", "../.."),
        ("/\u{301}a", "/\u{301}a"),
        ("a/\u{301}/../b", "a/b"), ("a/..\u{301}", "a/..\u{301}"), ("a/.\u{301}", "a/.\u{301}"),
    ]) func normalFormsAreExact(path: String, normal: String) {
        #expect(Array(StoragePath.normalized(path).utf8) == Array(normal.utf8))
    }

    @Test(arguments: [
        ("a/", "a"), ("a//", "a"), ("/", "/"), ("//", "/"), ("", ""), ("a/\u{301}", "a/\u{301}"),
        ("a\u{301}/", "a\u{301}"),
    ])
    func trailingSlashesAreRemoved(path: String, without: String) {
        #expect(Array(StoragePath.withoutTrailingSlashes(path).utf8) == Array(without.utf8))
    }

    @Test func memoryStorageComparesNamesAsBytes() throws {
        let storage = MemoryStorage()
        try storage.createDirectory("d")
        for name in ["\u{E9}", "e\u{301}", "\u{301}", "a"] { _ = try storage.open("d/" + name, .create) }
        #expect(
            try storage.list("d").map { Array($0.utf8) }
                == ["a", "e\u{301}", "\u{E9}", "\u{301}"].map { Array($0.utf8) }.sorted {
                    $0.lexicographicallyPrecedes($1)
                })
        #expect(try storage.list("./d/").count == 4)
        #expect(storage.kind(of: "d//a") == .file)
    }

    @Test(arguments: ["/", ".", "d/", "/d", "d//e", "d/\u{301}"]) func journalOpensAtUnusualPaths(path: String) throws {
        let options = JournalOptions(storage: MemoryStorage(), slotSyncDelay: nil)
        let journal = try Journal.open(path, options: options)
        try journal.append([Entry("kept", "erasable")])
        try journal.close()
        #expect(try Journal.openReadOnly(path, options: options).lastPosition == 1)
    }

    /// On the file system, creation syncs the parent directory of the journal's directory.
    @Test(arguments: ["\u{301}J", "J", "J/", "/J", "\u{20DD}", "/\u{301}J/"]) func creationSyncsParentDirectory(
        name: String
    ) throws {
        let directory = try TemporaryDirectory()
        let storage = SyncedDirectories()
        let path = directory.path + "/" + name
        let journal = try Journal.open(path, options: JournalOptions(storage: storage))
        try journal.append([Entry("kept", "erasable")])
        try journal.close()
        let parent = try #require(
            FileManager.default.attributesOfItem(atPath: directory.path)[.systemFileNumber] as? Int)
        #expect(
            try storage.paths.contains {
                try FileManager.default.attributesOfItem(atPath: $0)[.systemFileNumber] as? Int == parent
            })
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).count == 1)
        #expect(try Journal.openReadOnly(path).lastPosition == 1)
    }
}

/// A file system storage that records the paths of synced directories.
private final class SyncedDirectories: JournalStorage {
    private let base = FileStorage()
    private let state = Lock<[String]>([])

    var paths: [String] { state.withLock { $0 } }

    func open(_ path: String, _ mode: StorageOpenMode) throws(StorageError) -> any StorageFile {
        try base.open(path, mode)
    }
    func kind(of path: String) throws(StorageError) -> StorageEntryKind? { try base.kind(of: path) }
    func list(_ directory: String) throws(StorageError) -> [String] { try base.list(directory) }
    func rename(_ path: String, to target: String) throws(StorageError) { try base.rename(path, to: target) }
    func remove(_ path: String) throws(StorageError) { try base.remove(path) }
    func createDirectory(_ path: String) throws(StorageError) { try base.createDirectory(path) }
    func syncDirectory(_ path: String) throws(StorageError) {
        state.withLock { $0.append(path) }
        try base.syncDirectory(path)
    }
    func lock(_ path: String) throws(StorageError) -> (any StorageLock)? { try base.lock(path) }
    func isLocked(_ path: String) throws(StorageError) -> Bool { try base.isLocked(path) }
}
