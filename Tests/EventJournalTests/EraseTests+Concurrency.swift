import Foundation
import Locking
import Primitives
import TestSupport
import Testing

@testable import EventJournal

/// Other threads and readers continue during erasures.
extension EraseTests {
    @Test(arguments: StorageKind.allCases) func appendsAndReadsContinueDuringErasure(_ kind: StorageKind) throws {
        try kind.run { options, path in
            let specimen = try MarkedJournal(path, options, seed: 31, commits: 30)
            let journal = specimen.journal
            let erased = Lock(PositionSet())
            let failures = Lock<[String]>([])
            let (rounds, commits) = (Repetitions.few(6, of: 60), Repetitions.few(40, of: 400))
            DispatchQueue.concurrentPerform(iterations: 5) { thread in
                var generator = SeededGenerator(UInt64(thread))
                do {
                    switch thread {
                    case 0:
                        for _ in 0..<rounds {
                            let positions = generator.positions(through: journal.lastPosition)
                            journal.setHiddenContent(positions)
                            try journal.eraseContent(of: positions, orderedThrough: 1)
                            erased.withLock { $0.formUnion(positions) }
                            journal.setHiddenContent(PositionSet())
                        }
                    case 1:
                        for number in 0..<commits {
                            let content = MarkedContent.bytes(Int(journal.lastPosition) + 1)
                            try journal.append([Entry(kept: [], erasable: content)])
                            if number % 8 == 0 { try journal.waitUntilDurable(journal.lastPosition) }
                        }
                    case 2:
                        for round in 0..<rounds {
                            let add = { @Sendable (finding: JournalFinding) in
                                failures.withLock { $0.append("\(finding)") }
                            }
                            if round % 3 == 0 { try Journal.verify(path, options: specimen.options, add) }
                            if round % 3 == 1 { try journal.verify(add) }
                            for _ in 0..<5 { _ = try journal.scrubSegment(add) }
                            _ = try Journal.openReadOnly(path, options: specimen.options).entries()
                        }
                    default:
                        for _ in 0..<rounds * 2 {
                            let gone = erased.withLock { $0 }
                            let last = journal.lastPosition
                            var next = Position.random(in: 1...last, using: &generator)
                            try journal.forEachRecord(in: next...last) { position, state, kept, erasable in
                                let whole = position <= specimen.model.count ? specimen.model[Int(position) - 1] : nil
                                let content = whole?.erasable ?? MarkedContent.bytes(Int(position))
                                let isErased = state == .erased && erasable.isEmpty
                                let isWhole = state == .whole && erasable.toArray() == content
                                if position != next || kept.toArray() != whole?.kept ?? [] || !isErased && !isWhole
                                    || isWhole && !content.isEmpty && gone.contains(position)
                                {
                                    failures.withLock { $0.append("\(position) after \(next): \(state)") }
                                }
                                next += 1
                                return true
                            }
                        }
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(failures.withLock { $0 } == [])
            let gone = erased.withLock { $0 }
            #expect(journal.lastPosition == Position(specimen.model.count + commits))
            try journal.close()
            let left = try MarkedContent.numbers(in: path, on: options.storage)
            #expect(
                left
                    == Set(
                        (1...Int(journal.lastPosition)).filter { number in
                            !gone.contains(Position(number))
                                && (number > specimen.model.count || !specimen.model[number - 1].erasable.isEmpty)
                        }))
            try Journal.verify(path, options: specimen.options) { Issue.record("\($0)") }
        }
    }

    /// A reader that was open before continues, wherever it has read up to.
    @Test(arguments: Durability.allCases, 1...UInt64(Repetitions.few(2, of: 40)))
    func followerContinuesAfterErasure(_ durability: Durability, seed: UInt64) throws {
        try StorageKind.files.run { options, path in
            var options = options
            options.durability = durability
            var specimen = try MarkedJournal(path, options, seed: seed, commits: 5, segmentSize: 1_024)
            var generator = SeededGenerator(seed)
            let readers = try (0..<3).map { _ in try Journal.openReadOnly(path, options: specimen.options) }
            var erased = PositionSet()
            for round in 0..<5 {
                let positions = generator.positions(through: specimen.journal.lastPosition)
                for _ in 0..<Int.random(in: 0...5, using: &generator) { try specimen.append(3, &generator) }
                try specimen.journal.waitUntilDurable(specimen.journal.lastPosition)
                try specimen.journal.eraseContent(of: positions, orderedThrough: 1)
                erased.formUnion(positions)
                for (number, reader) in readers.enumerated() {
                    // One reader is always behind, and one reads everything before it refreshes.
                    if number == 0 && round < 4 { continue }
                    if number == 1 { try check(reader, specimen, erased) }
                    try reader.refresh()
                    #expect(reader.lastPosition == specimen.journal.lastPosition)
                    try check(reader, specimen, erased)
                    #expect(reader.head == specimen.journal.head)
                    // A reader may know only earlier generations, for which the note does not hold.
                    #expect([nil, 1].contains(reader.erasedThrough))
                }
                #expect(specimen.journal.erasedThrough == 1)
            }
        }
    }

    private func check(_ reader: Journal, _ specimen: MarkedJournal, _ erased: PositionSet) throws {
        let stubs = specimen.expected(without: erased)
        let found = try reader.entries()
        #expect(found.count == Int(reader.lastPosition))
        for (entry, (old, new)) in zip(found, zip(specimen.model, stubs)) where entry != old && entry != new {
            Issue.record("\(entry)")
        }
    }
}
