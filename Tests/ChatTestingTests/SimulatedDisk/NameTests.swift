import ChatTesting
import EventJournal
import Testing

/// Names in directories after a crash, and the meaning of paths and locks.
@Suite struct NameTests {
    /// Returns the sets of names in a directory that a crash can leave.
    private func outcomes(_ disk: SimulatedDisk, _ directory: String = "/") throws -> Set<[String]> {
        var found: Set<[String]> = []
        try disk.forEachOutcome { crashed in
            found.insert(try crashed.kind(of: directory) == nil ? ["-"] : crashed.list(directory))
        }
        return found
    }

    @Test func unsyncedNameLosesSyncedContent() throws {
        let disk = SimulatedDisk()
        try disk.write(1, sectors: 0..<1, to: "a")
        try disk.sync("a")
        #expect(disk.pendingChoices.map(\.title) == ["create a"])
        #expect(try disk.outcomes(of: "a") == [nil, [1]])
        try disk.syncDirectory("/")
        #expect(try disk.outcomes(of: "a") == [[1]])
    }

    @Test func creationsAndRemovalsPersistIndependently() throws {
        let disk = try SimulatedDisk.with("old", sectors: [1])
        _ = try disk.open("a", .create)
        _ = try disk.open("b", .create)
        try disk.remove("old")
        #expect(
            try outcomes(disk) == [
                ["old"], ["a", "old"], ["b", "old"], ["a", "b", "old"], [], ["a"], ["b"], ["a", "b"],
            ])
        try disk.syncDirectory(".")
        #expect(try outcomes(disk) == [["a", "b"]])
    }

    @Test func renameIsAtomic() throws {
        let disk = try SimulatedDisk.with("a", sectors: [1])
        _ = try disk.open("b", .create)
        try disk.write(2, sectors: 0..<1, to: "b")
        try disk.sync("b")
        try disk.syncDirectory("/")
        try disk.rename("b", to: "a")
        #expect(try disk.list("/") == ["a"])
        #expect(try disk.outcomes(of: "a") == [[1], [2]])
        #expect(try outcomes(disk) == [["a", "b"], ["a"]])
        try disk.syncDirectory("/")
        #expect(try disk.outcomes(of: "a") == [[2]])
    }

    @Test func renameCanPersistWithoutEarlierCreation() throws {
        let disk = SimulatedDisk()
        _ = try disk.open("a.tmp", .create)
        try disk.rename("a.tmp", to: "a")
        #expect(try outcomes(disk) == [[], ["a.tmp"], ["a"]])
        #expect(try disk.crash(.everything).list("/") == ["a"])
    }

    @Test func renameBetweenDirectoriesNeedsBothSyncs() throws {
        let disk = try SimulatedDisk.with("a", sectors: [1])
        try disk.createDirectory("d")
        try disk.syncDirectory("/")
        try disk.rename("a", to: "d/a")
        #expect(try outcomes(disk) == [["a", "d"], ["d"]])
        try disk.syncDirectory("d")
        #expect(try outcomes(disk) == [["a", "d"], ["d"]])
        #expect(try outcomes(disk, "d") == [["a"]])
        try disk.syncDirectory("/")
        #expect(try outcomes(disk) == [["d"]])
        #expect(disk.pendingChoices.isEmpty)
    }

    @Test func lostDirectoryLosesItsContent() throws {
        let disk = SimulatedDisk()
        try disk.createDirectory("d")
        _ = try disk.open("d/a", .create)
        try disk.write(1, sectors: 0..<1, to: "d/a")
        try disk.sync("d/a")
        try disk.syncDirectory("d")
        #expect(try outcomes(disk, "d") == [["-"], ["a"]])
        #expect(try disk.outcomes(of: "d/a") == [nil, [1]])
    }

    @Test func openFileOutlivesItsName() throws {
        let disk = try SimulatedDisk.with("a", sectors: [1])
        let file = try disk.open("a", .readWrite)
        try disk.remove("a")
        try file.truncate(to: 5)
        #expect(try file.size() == 5)
        _ = try disk.open("a", .create)
        #expect(try file.size() == 5)
        #expect(try disk.bytes(of: "a") == [])
    }

    @Test func replaceIsAtomicOnlyWhenSyncedInOrder() throws {
        let disk = try SimulatedDisk.with("a", sectors: [1])
        _ = try disk.open("a.tmp", .create)
        try disk.write(2, sectors: 0..<2, to: "a.tmp")
        try disk.rename("a.tmp", to: "a")
        // The bug that the simulated disk must reveal: a rename before the sync.
        #expect(try disk.outcomes(of: "a") == [[1], [], [0, 0], [2, 0], [0, 2], [2, 2]])
        try disk.sync("a")
        #expect(try disk.outcomes(of: "a") == [[1], [2, 2]])
    }

    @Test func pathsResolveFromOneRoot() throws {
        let disk = SimulatedDisk()
        try disk.createDirectory("/d")
        try disk.createDirectory("d/e")
        _ = try disk.open("./d//e/../a", .create)
        #expect(try disk.list("d") == ["a", "e"])
        #expect(try disk.kind(of: "d/a") == .file)
        #expect(try disk.kind(of: "/d/e/") == .directory)
        #expect(try disk.kind(of: "/") == .directory)
        #expect(try disk.kind(of: "d/b") == nil)
    }

    @Test func invalidCallsFailLikeAFileSystem() throws {
        let disk = try SimulatedDisk.with("a", sectors: [1])
        try disk.createDirectory("d")
        #expect(
            try storageError { _ = try disk.open("b", .read) } == StorageError(.notFound, .open, path: "b", errno: 2))
        #expect(try storageError { _ = try disk.open("d", .readWrite) }?.kind == .failed)
        #expect(try storageError { _ = try disk.open("x/b", .create) }?.kind == .notFound)
        #expect(try storageError { _ = try disk.open("a/b", .create) }?.kind == .notADirectory)
        #expect(try storageError { try disk.createDirectory("a") }?.kind == .alreadyExists)
        #expect(try storageError { try disk.createDirectory("/") }?.kind == .alreadyExists)
        #expect(try storageError { try disk.rename("b", to: "c") }?.kind == .notFound)
        #expect(try storageError { try disk.rename("a", to: "d") }?.kind == .failed)
        #expect(try storageError { try disk.remove("b") }?.kind == .notFound)
        #expect(try storageError { try disk.remove("d") }?.kind == .failed)
        #expect(try storageError { _ = try disk.list("a") }?.kind == .notADirectory)
        #expect(try storageError { try disk.syncDirectory("x") }?.kind == .notFound)
        #expect(try storageError { try disk.truncate("a", to: .max) }?.kind == .full)
        #expect(try storageError { try disk.write([1], at: .max, to: "a") }?.kind == .full)
        #expect(try storageError { try disk.open("a", .read).truncate(to: 0) }?.errno == 9)
        #expect(try disk.sectors(of: "a") == [1])
    }

    @Test func crashReleasesExclusiveLock() throws {
        let disk = SimulatedDisk()
        #expect(try !disk.isLocked("lock"))
        #expect(try disk.kind(of: "lock") == nil)
        let lock = try #require(try disk.lock("lock"))
        #expect(try disk.isLocked("/lock"))
        #expect(try disk.lock("lock") == nil)
        let crashed = disk.crash(.everything)
        #expect(try !crashed.isLocked("lock"))
        #expect(try crashed.lock("lock") != nil)
        lock.unlock()
        var second = try disk.lock("lock")
        #expect(second != nil)
        lock.unlock()
        #expect(try disk.isLocked("lock"))
        second = nil
        #expect(try !disk.isLocked("lock"))
    }
}
