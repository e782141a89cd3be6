import Foundation
import Locking
import Testing

@testable import EventJournal

private let smallDisk = ProcessInfo.processInfo.environment["CHATJOURNAL_SMALL_DISK"]

/// Tests on a real file system that is full.
///
/// `CHATJOURNAL_SMALL_DISK` names a directory on an empty file system of a few MiB;
/// `Tests/checks/full_disk.py --tests` mounts one.
@Suite(.serialized, .enabled(if: smallDisk != nil, "CHATJOURNAL_SMALL_DISK names no directory"))
struct SmallDiskTests {
    /// Fills the disk, frees some space and fills it again.
    ///
    /// Small segments make most fillings end at a rotation.
    @Test(arguments: [4 << 10, 60 << 10, 64 << 10, 300_000, 1 << 20] as [UInt64], Durability.allCases)
    func appendsContinueAfterSpaceIsFreed(segmentSize: UInt64, durability: Durability) throws {
        // The sizes of the records determine where a filling ends, so seeds are tried until one
        // ends at a rotation.
        var fullAtRotation = 0
        for seed in 0..<20 as Range<UInt64> where fullAtRotation == 0 && (seed == 0 || segmentSize <= 60 << 10) {
            fullAtRotation = try fillAndFree(segmentSize, durability, seed: segmentSize + seed)
        }
        if segmentSize <= 60 << 10 { #expect(fullAtRotation > 0, "no filling ended at a rotation") }
    }

    /// Returns how many of six fillings ended at a rotation.
    private func fillAndFree(_ segmentSize: UInt64, _ durability: Durability, seed: UInt64) throws -> Int {
        let disk = try #require(smallDisk)
        let path = disk + "/journal"
        // Each round frees another amount, so that each filling ends at another place in a segment.
        let ballast = (0..<6).map { disk + "/ballast of the test \($0)" }
        defer {
            try? FileManager.default.removeItem(atPath: path)
            for file in ballast { try? FileManager.default.removeItem(atPath: file) }
        }
        for (number, file) in ballast.enumerated() {
            try Data(count: 100_000 + number * 37_000).write(to: URL(fileURLWithPath: file))
        }
        var generator = SeededGenerator(seed)
        let options = JournalOptions(durability: durability, segmentSize: segmentSize)
        var journal = try Journal.open(path, options: options)
        var model: [Entry] = []
        var fullAtRotation = 0
        for (round, file) in ballast.enumerated() {
            while true {
                let entry = generator.entry(kept: 50, erasable: 6_000)
                let draft = try draft([entry])
                let isAtRotation = journal.state.withLock {
                    !$0.hasRoom(UInt64(draft.encodedByteCount), journal.segmentSize)
                }
                do throws(JournalError) {
                    if generator.next() % 2 == 0 { try journal.reserve(draft.encodedByteCount) }
                    _ = try journal.append(draft, expecting: journal.lastPosition)
                    model.append(entry)
                    if model.count % 16 == 0 { try journal.waitUntilDurable(journal.lastPosition) }
                } catch {
                    #expect(error.code == .storageFull, "\(error)")
                    if isAtRotation { fullAtRotation += 1 }
                    break
                }
            }
            #expect(try journal.entries() == model, "reading goes on")
            try journal.waitUntilDurable(journal.lastPosition)
            #expect(try Journal.openReadOnly(path).lastPosition == Position(model.count))
            try FileManager.default.removeItem(atPath: file)
            for _ in 0..<3 {
                let entry = generator.entry(kept: 50, erasable: 6_000)
                try journal.append([entry])
                model.append(entry)
            }
            try journal.waitUntilDurable(journal.lastPosition)
            if round == 3 {
                try journal.close()
                journal = try Journal.open(path, options: options)
                #expect(journal.recovery.wasClean)
            }
        }
        #expect(try journal.entries() == model)
        try journal.verify { Issue.record("\($0)") }
        try journal.close()
        #expect(try Journal.openReadOnly(path).entries() == model)
        return fullAtRotation
    }
}
