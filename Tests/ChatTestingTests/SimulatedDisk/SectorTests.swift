import ChatTesting
import EventJournal
import Testing

/// The content and size of files after a crash.
@Suite struct SectorTests {
    @Test func writesAreReadAtOnceAndDurableAfterSync() throws {
        let disk = SimulatedDisk()
        try disk.write([1, 2, 3], at: 700, to: "a")
        #expect(try disk.bytes(of: "a") == [UInt8](repeating: 0, count: 700) + [1, 2, 3])
        try disk.syncDirectory("/")
        #expect(try disk.crash(.nothing).bytes(of: "a") == [])
        #expect(try disk.crash(.everything).bytes(of: "a") == disk.bytes(of: "a"))
        try disk.sync("a")
        #expect(disk.pendingChoices.isEmpty)
        #expect(try disk.crash(.nothing).bytes(of: "a") == disk.bytes(of: "a"))
    }

    @Test func sectorsPersistInAnyCombination() throws {
        let disk = try SimulatedDisk.with("a", sectors: [1, 2, 3])
        try disk.write(9, sectors: 0..<3, to: "a")
        #expect(disk.pendingChoices.map(\.description) == ["a: sector 0 (2)", "a: sector 1 (2)", "a: sector 2 (2)"])
        #expect(
            try disk.outcomes(of: "a") == [
                [1, 2, 3], [9, 2, 3], [1, 9, 3], [9, 9, 3], [1, 2, 9], [9, 2, 9], [1, 9, 9], [9, 9, 9],
            ])
        #expect(try disk.crash(.only(1)).sectors(of: "a") == [1, 9, 3])
        #expect(try disk.crash(.allBut(1)).sectors(of: "a") == [9, 2, 9])
    }

    @Test func sectorCanKeepAnyVersion() throws {
        let disk = try SimulatedDisk.with("a", sectors: [1])
        for byte in 2...5 as ClosedRange<UInt8> { try disk.write(byte, sectors: 0..<1, to: "a") }
        #expect(try disk.outcomes(of: "a") == [[1], [2], [3], [4], [5]])
    }

    @Test func partialWriteKeepsWholeSector() throws {
        let disk = try SimulatedDisk.with("a", sectors: [1, 1])
        try disk.write([7, 7], at: 511, to: "a")
        let first = [UInt8](repeating: 1, count: 511)
        #expect(try disk.crash(.only(0)).bytes(of: "a") == first + [7] + [UInt8](repeating: 1, count: 512))
        #expect(try disk.crash(.only(1)).bytes(of: "a") == first + [1, 7] + [UInt8](repeating: 1, count: 511))
    }

    @Test func identicalWriteIsNoChange() throws {
        let disk = try SimulatedDisk.with("a", sectors: [1, 2])
        try disk.write(1, sectors: 0..<1, to: "a")
        #expect(disk.pendingChoices.isEmpty)
    }

    @Test func droppedSizeLosesSectorsAndZeroFillsGaps() throws {
        let disk = try SimulatedDisk.with("a", sectors: [1])
        try disk.write(2, sectors: 1..<3, to: "a")
        #expect(disk.pendingChoices.map(\.title) == ["a: size 512 -> 1536", "a: sector 1", "a: sector 2"])
        #expect(try disk.outcomes(of: "a") == [[1], [1, 0, 0], [1, 2, 0], [1, 0, 2], [1, 2, 2]])
        // Bytes that a dropped size has cut off read as zeros when the file grows again.
        let cut = disk.crash(.allBut(0))
        try cut.truncate("a", to: 1536)
        #expect(try cut.sectors(of: "a") == [1, 0, 0])
    }

    @Test func reservedSpaceReadsAsZeros() throws {
        let disk = try SimulatedDisk.with("a", sectors: [1])
        try disk.existing("a").allocate(to: 1536)
        try disk.existing("a").allocate(to: 512)
        #expect(try disk.sectors(of: "a") == [1, 0, 0])
        #expect(try disk.outcomes(of: "a") == [[1], [1, 0, 0]])
    }

    @Test func truncationIsAtomic() throws {
        let disk = try SimulatedDisk.with("a", sectors: [1, 2, 3])
        try disk.truncate("a", to: 512)
        #expect(try disk.outcomes(of: "a") == [[1, 2, 3], [1]])
        try disk.sync("a")
        #expect(try disk.outcomes(of: "a") == [[1]])
    }

    @Test func truncatedBytesStayGoneWhenFileGrows() throws {
        let disk = try SimulatedDisk.with("a", sectors: [1, 2, 3])
        try disk.write(4, sectors: 1..<2, to: "a")
        try disk.truncate("a", to: 512)
        try disk.truncate("a", to: 1536)
        #expect(try disk.sectors(of: "a") == [1, 0, 0])
        #expect(try disk.outcomes(of: "a") == [[1, 2, 3], [1, 4, 3], [1], [1, 0, 0]])
        try disk.write(2, sectors: 1..<2, to: "a")
        #expect(try disk.crash(.everything).sectors(of: "a") == [1, 2, 0])
        try disk.sync("a")
        #expect(try disk.crash(.nothing).sectors(of: "a") == [1, 2, 0])
    }

    @Test func truncationCanZeroLastSectorWithoutSize() throws {
        let disk = try SimulatedDisk.with("a", sectors: [1, 2])
        try disk.truncate("a", to: 100)
        let start = [UInt8](repeating: 1, count: 100)
        let rest = [UInt8](repeating: 0, count: 412) + [UInt8](repeating: 2, count: 512)
        var found: Set<[UInt8]?> = []
        try disk.forEachOutcome { found.insert(try $0.bytes(of: "a")) }
        #expect(
            found == [
                start + [UInt8](repeating: 1, count: 412) + [UInt8](repeating: 2, count: 512), start + rest, start,
            ])
    }

    @Test func openWithCreateTruncates() throws {
        let disk = try SimulatedDisk.with("a", sectors: [1, 2])
        let old = try disk.open("a", .read)
        _ = try disk.open("a", .create)
        #expect(try old.size() == 0)
        #expect(try disk.outcomes(of: "a") == [[1, 2], []])
    }

    @Test func syncAffectsOnlyItsFile() throws {
        let disk = try SimulatedDisk.with("a", sectors: [1])
        try disk.write(2, sectors: 0..<1, to: "a")
        _ = try disk.open("b", .create)
        try disk.write(3, sectors: 0..<1, to: "b")
        try disk.sync("b")
        try disk.syncDirectory("/")
        #expect(try disk.outcomes(of: "a") == [[1], [2]])
        #expect(try disk.outcomes(of: "b") == [[3]])
    }

    @Test func tornSectorsMixTwoVersions() throws {
        let disk = try SimulatedDisk.with("a", sectors: [1, 1], tearsSectors: true)
        try disk.write([UInt8](repeating: 2, count: 200), at: 100, to: "a")
        try disk.write([UInt8](repeating: 3, count: 200), at: 100, to: "a")
        #expect(disk.pendingChoices.map(\.alternativeCount) == [5])
        #expect(try disk.crash(.everything).bytes(of: "a") == disk.bytes(of: "a"))
        let old = try disk.crash(.nothing).bytes(of: "a")
        let whole = try [3, 4].map { try disk.crash(.picks([$0])).bytes(of: "a") }
        let torn = try [1, 2].map { try disk.crash(.picks([$0])).bytes(of: "a") }
        for (index, pair) in [[old, whole[0]], whole].enumerated() {
            let bytes = try #require(torn[index]), first = try #require(pair[0]), second = try #require(pair[1])
            #expect(bytes != first && bytes != second)
            #expect(bytes.indices.allSatisfy { bytes[$0] == first[$0] || bytes[$0] == second[$0] })
        }
    }

    @Test(arguments: Seeds.seeds(40)) func syncedFileKeepsItsContent(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let disk = SimulatedDisk(seed: seed)
        let model = MemoryStorage()
        for storage in [disk, model] as [any JournalStorage] { _ = try storage.open("a", .create) }
        for _ in 0..<60 {
            let offset = UInt64.random(in: 0..<3000, using: &random)
            let bytes = (0..<Int.random(in: 1..<900, using: &random)).map { _ in UInt8.random(in: 0...2, using: &random)
            }
            let kind = Int.random(in: 0..<6, using: &random)
            for storage in [disk, model] as [any JournalStorage] {
                switch kind {
                case 0: try storage.truncate("a", to: offset)
                case 1: try storage.existing("a").allocate(to: offset)
                case 2: try storage.sync("a")
                default: try storage.write(bytes, at: offset, to: "a")
                }
            }
            #expect(try disk.bytes(of: "a") == model.bytes(of: "a"))
            #expect(try disk.crash(.everything).bytes(of: "a") == model.bytes(of: "a"))
        }
        try disk.syncDirectory("/")
        try disk.sync("a")
        #expect(try disk.crash(.nothing).bytes(of: "a") == model.bytes(of: "a"))
    }
}
