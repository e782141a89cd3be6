import ChatTesting
import EventJournal
import Testing

/// Injected faults, power failures and bit flips.
@Suite struct FaultTests {
    @Test func faultOccursAtItsOperation() throws {
        let disk = SimulatedDisk()
        disk.inject(DiskFault(.fails(.accessDenied), at: .operation(3)))
        for number in 1...4 {
            let error = try storageError { _ = try disk.kind(of: "a") }
            #expect(error == (number == 3 ? StorageError(.accessDenied, .inspect, path: "a", errno: 13) : nil))
        }
        #expect(disk.operationCount == 4)
    }

    @Test func faultOccursAtNthMatchingOperation() throws {
        let disk = try SimulatedDisk.with("a.log", sectors: [1])
        _ = try disk.open("b", .create)
        disk.inject(DiskFault(.fails(.failed), at: .occurrence(2, of: .sync), pathSuffix: ".log"))
        try disk.sync("a.log")
        try disk.sync("b")
        #expect(try storageError { try disk.sync("a.log") } == StorageError(.failed, .sync, path: "a.log", errno: 5))
        try disk.sync("a.log")
    }

    @Test(arguments: [0, 0.3, 1]) func randomFaultsFollowSeed(_ probability: Double) throws {
        func errors(_ seed: UInt64) throws -> [Bool] {
            let disk = SimulatedDisk(seed: seed)
            disk.inject(DiskFault(.fails(.failed), at: .chance(probability, of: [.inspect, .list])))
            return try (0..<400).map { _ in try storageError { _ = try disk.list("/") } != nil }
        }
        let first = try errors(1)
        #expect(try first == errors(1))
        #expect(try probability == 0 || probability == 1 || first != errors(2))
        let count = first.count { $0 }
        #expect(probability == 0.3 ? (60...180).contains(count) : count == Int(probability * 400))
    }

    @Test func faultsCanBeRemoved() throws {
        let disk = SimulatedDisk()
        disk.inject(DiskFault(.fails(.full), at: .chance(1, of: Set(StorageError.Operation.allCases))))
        #expect(try storageError { _ = try disk.open("a", .create) }?.kind == .full)
        #expect(try storageError { try disk.createDirectory("d") }?.kind == .full)
        #expect(try storageError { _ = try disk.lock("lock") }?.kind == .full)
        disk.removeFaults()
        #expect(try disk.list("/") == [])
    }

    @Test(arguments: Seeds.seeds(20)) func failedWriteLeavesPartOfItsBytes(_ seed: UInt64) throws {
        let disk = try SimulatedDisk.with("a", sectors: [1, 1, 1], seed: seed)
        disk.inject(DiskFault(.fails(.full), at: .occurrence(1, of: .write)))
        #expect(try storageError { try disk.write(2, sectors: 0..<6, to: "a") }?.kind == .full)
        let bytes = try #require(try disk.bytes(of: "a"))
        let written = bytes.count { $0 == 2 }
        #expect(bytes == [UInt8](repeating: 2, count: written) + [UInt8](repeating: 1, count: max(0, 1536 - written)))
        #expect(written % 512 == 0)
        disk.inject(DiskFault(.fails(.full), at: .occurrence(1, of: .allocate)))
        #expect(try storageError { try disk.existing("a").allocate(to: 9000) }?.kind == .full)
        #expect(try (bytes.count...9000).contains(Int(disk.existing("a").size())))
    }

    @Test func failedSyncDropsDirtyPages() throws {
        let disk = try SimulatedDisk.with("a", sectors: [1, 1])
        try disk.write(2, sectors: 0..<2, to: "a")
        disk.inject(DiskFault(.fails(.failed), at: .occurrence(1, of: .sync)))
        #expect(try storageError { try disk.sync("a") }?.kind == .failed)
        #expect(try disk.sectors(of: "a") == [2, 2])
        #expect(disk.pendingChoices.isEmpty)
        try disk.sync("a")
        #expect(try disk.sectors(of: "a") == [2, 2])
        #expect(try disk.crash(.everything).sectors(of: "a") == [1, 1])
        // A new write makes the whole sector dirty again.
        try disk.write([3], at: 0, to: "a")
        try disk.sync("a")
        #expect(
            try disk.crash(.nothing).bytes(of: "a") == [3] + [UInt8](repeating: 2, count: 511)
                + [UInt8](repeating: 1, count: 512))
    }

    @Test func failedSyncLeavesSizePending() throws {
        let disk = try SimulatedDisk.with("a", sectors: [1])
        try disk.write(2, sectors: 1..<2, to: "a")
        disk.inject(DiskFault(.fails(.failed), at: .occurrence(1, of: .sync)))
        #expect(try storageError { try disk.sync("a") } != nil)
        #expect(try disk.outcomes(of: "a") == [[1], [1, 0]])
        try disk.sync("a")
        #expect(try disk.outcomes(of: "a") == [[1, 0]])
    }

    @Test func failedDirectorySyncLeavesNamesPending() throws {
        let disk = SimulatedDisk()
        _ = try disk.open("a", .create)
        disk.inject(DiskFault(.fails(.failed), at: .occurrence(1, of: .syncDirectory)))
        #expect(try storageError { try disk.syncDirectory("/") }?.kind == .failed)
        #expect(try disk.outcomes(of: "a") == [nil, []])
        try disk.syncDirectory("/")
        #expect(try disk.outcomes(of: "a") == [[]])
    }

    @Test func dishonestDiskLosesAcknowledgedSync() throws {
        let disk = SimulatedDisk()
        disk.inject(DiskFault(.losesSync, at: .chance(1, of: [.sync, .syncDirectory])))
        try disk.write(1, sectors: 0..<1, to: "a")
        try disk.sync("a")
        try disk.syncDirectory("/")
        #expect(try disk.outcomes(of: "a") == [nil, [], [0], [1]])
    }

    @Test func firstMatchingFaultApplies() throws {
        let disk = SimulatedDisk()
        disk.inject(DiskFault(.fails(.full), at: .operation(1)))
        disk.inject(DiskFault(.fails(.failed), at: .occurrence(1, of: .list)))
        #expect(try storageError { _ = try disk.list("/") }?.kind == .full)
        #expect(try disk.list("/") == [])
    }

    @Test(arguments: [PowerCut.Side.before, .after]) func everyOperationFailsWithoutPower(_ side: PowerCut.Side) throws
    {
        let disk = SimulatedDisk()
        disk.cutPower(PowerCut(side, operation: 2))
        _ = try disk.open("a", .create)
        #expect(disk.hasPower)
        #expect(try storageError { _ = try disk.open("b", .create) }?.kind == .failed)
        #expect(!disk.hasPower)
        #expect(try storageError { _ = try disk.list("/") }?.kind == .failed)
        let crashed = disk.crash(.everything)
        #expect(crashed.hasPower)
        #expect(try crashed.list("/") == (side == .before ? ["a"] : ["a", "b"]))
    }

    /// An operation that would fail with power, too, is not exempt.
    @Test(arguments: [PowerCut.Side.before, .after]) func powerFailsAtFailingOperation(_ side: PowerCut.Side) throws {
        let disk = SimulatedDisk()
        disk.cutPower(PowerCut(side, operation: 1))
        #expect(try storageError { _ = try disk.open("missing", .read) }?.kind == .failed)
        #expect(!disk.hasPower)
        #expect(try storageError { _ = try disk.list("/") }?.kind == .failed)
    }

    @Test func flippedBitPersistsAfterCrash() throws {
        let disk = try SimulatedDisk.with("a", sectors: [1, 1])
        try disk.flipBit(3, ofByteAt: 513, in: "a")
        var expected = [UInt8](repeating: 1, count: 1024)
        expected[513] = 9
        #expect(try disk.bytes(of: "a") == expected)
        #expect(try disk.crash(.nothing).bytes(of: "a") == expected)
        #expect(try storageError { try disk.flipBit(0, ofByteAt: 0, in: "b") }?.kind == .notFound)
    }

    @Test func flippedBitUnderDirtySectorIsOverwritten() throws {
        let disk = try SimulatedDisk.with("a", sectors: [1])
        try disk.write(2, sectors: 0..<1, to: "a")
        try disk.flipBit(7, ofByteAt: 0, in: "a")
        #expect(try disk.outcomes(of: "a") == [[0x81], [2]])
        try disk.sync("a")
        #expect(try disk.crash(.nothing).sectors(of: "a") == [2])
    }
}
