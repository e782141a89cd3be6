import ChatTesting
import Foundation
import Locking
import Primitives
import StubRewriter
import TestSupport
import Testing

@testable import EventJournal

/// Rewrites of sealed segments that turn records into stubs.
///
/// All other records stay readable for every reader.
@Suite struct StubRewritingTests {
    /// A journal of several segments and its records.
    private struct Specimen {
        let path: String
        let options: JournalOptions
        var model: [Entry] = []
        var heads: [JournalHead] = []

        init(_ path: String, _ options: JournalOptions, seed: UInt64, commits: Int = 40) throws {
            self.path = path
            var options = options
            options.segmentSize = 8 << 10
            options.entropy = SeededEntropy(seed: seed)
            self.options = options
            let journal = try Journal.open(path, options: options)
            var generator = SeededGenerator(seed)
            for _ in 0..<commits {
                // Some commits exceed the spacing of the index.
                let entries = (0..<Int.random(in: 1...30, using: &generator)).map { _ in
                    generator.entry(kept: 40, erasable: 200)
                }
                try journal.append(entries)
                try journal.waitUntilDurable(journal.lastPosition)
                model += entries
                heads.append(journal.head)
            }
            try journal.close()
        }

        var rewriter: StubRewriter { StubRewriter(path, on: options.storage) }

        /// The stored bytes of each record by position, with the generation of its segment.
        func stored() throws -> [(generation: UInt32, record: [UInt8], layout: RecordLayout)] {
            var records: [(generation: UInt32, record: [UInt8], layout: RecordLayout)] = []
            for name in try options.storage.list(path).filter({ $0.hasSuffix(".segment") }).sorted() {
                let file = try options.storage.open(path + "/" + name, .read)
                let size = Int(try file.size())
                var bytes = [UInt8](repeating: 0, count: size)
                _ = try bytes.withMutableBytes(0..<size) { (span) throws(StorageError) in
                    try file.read(into: &span, at: 0)
                }
                let header = try bytes.withBytes(0..<SegmentHeader.size) { (span) throws(SegmentHeader.Problem) in
                    try SegmentHeader(decoding: span)
                }
                var offset = SegmentHeader.size
                while Position(records.count) < Position(model.count), offset + CommitHeader.size < size {
                    let found = bytes.withBytes(0..<size) {
                        CommitHeader(decoding: $0, at: offset, seed: header.framingSeed)
                    }
                    guard let commit = found, commit.firstPosition == Position(records.count + 1) else { break }
                    var cursor = offset + CommitHeader.size
                    for _ in 0..<commit.recordCount {
                        guard
                            case .record(let layout) = bytes.withBytes(
                                0..<size, { RecordLayout.decode($0, at: cursor) })
                        else { break }
                        records.append((header.generation, Array(bytes[cursor..<(cursor + layout.length)]), layout))
                        cursor += layout.length
                    }
                    offset += Int(commit.length)
                }
            }
            return records
        }

        func expected(_ states: [Position: RecordContentState]) -> [Entry] {
            model.enumerated().map { index, entry in
                guard let state = states[Position(index + 1)] else { return entry }
                return Entry(kept: entry.kept, erasable: [], state: state)
            }
        }
    }

    /// Rewrites random records of random histories.
    ///
    /// All other bytes stay, and every digest and chain value stays valid.
    @Test(arguments: StorageKind.allCases, Array(1...UInt64(Repetitions.few(1, of: 6))))
    func rewritingKeepsAllOtherBytes(_ kind: StorageKind, seed: UInt64) throws {
        try kind.run { options, path in
            let specimen = try Specimen(path, options, seed: seed)
            var generator = SeededGenerator(seed)
            let before = try specimen.stored()
            #expect(before.count == specimen.model.count)
            let share = Double.random(in: 0...1, using: &generator)
            var states: [Position: RecordContentState] = [:]
            for round in 1...3 {
                let chosen = try specimen.rewriter.rewrite { position, kept, erasable in
                    #expect(specimen.model[Int(position) - 1] == Entry(kept: kept, erasable: erasable))
                    #expect(states[position] == nil, "a stub must not be rewritten")
                    let state =
                        Double.random(in: 0...1, using: &generator) < share
                        ? RecordContentState.allCases.randomElement(using: &generator) : nil
                    if let state, state != .whole { states[position] = state }
                    return state ?? .whole
                }
                #expect(chosen.allSatisfy { states[$0] != nil })
                let after = try specimen.stored()
                try #require(after.count == before.count)
                for (index, (old, new)) in zip(before, after).enumerated() {
                    guard let state = states[Position(index + 1)] else {
                        #expect(new.record == old.record)
                        continue
                    }
                    #expect(new.layout.state == state && new.generation > 0 && new.generation <= round)
                    let salted = Array(old.record[old.layout.kept.upperBound...])
                    #expect(Array(new.record[new.layout.kept]) == Array(old.record[old.layout.kept]))
                    #expect(Array(new.record[new.layout.kept.upperBound...]) == SHA256.hash(salted) + old.record[..<4])
                }
                try check(specimen, states)
            }
            #expect(share < 0.05 || !states.isEmpty)
        }
    }

    private func check(_ specimen: Specimen, _ states: [Position: RecordContentState]) throws {
        let expected = specimen.expected(states)
        for head in specimen.heads {
            var options = specimen.options
            options.expectedHead = head
            #expect(
                try Journal.openReadOnly(specimen.path, options: options).lastPosition == specimen.heads.last?.position)
        }
        let reader = try Journal.openReadOnly(specimen.path, options: specimen.options)
        #expect(reader.head == specimen.heads.last)
        #expect(try reader.entries() == expected)
        for position in stride(from: 1, through: reader.lastPosition, by: 7) {
            #expect(try reader.entries(position...position) == [expected[Int(position) - 1]])
        }
        try reader.verify { Issue.record("\($0)") }
        try Journal.verify(specimen.path, options: specimen.options) { Issue.record("\($0)") }
    }

    @Test(arguments: StorageKind.allCases) func writerContinuesAfterStubs(_ kind: StorageKind) throws {
        try kind.run { options, path in
            let specimen = try Specimen(path, options, seed: 9)
            let states = Dictionary(
                uniqueKeysWithValues: try specimen.rewriter.rewrite { _, _, _ in .erased }.map {
                    ($0, RecordContentState.erased)
                })
            let journal = try Journal.open(path, options: specimen.options)
            #expect(journal.recovery.wasClean)
            #expect(journal.head == specimen.heads.last)
            var expected = specimen.expected(states)
            for number in 0..<200 {
                let entry = Entry("after \(number)", "stubs")
                try journal.append([entry])
                expected.append(entry)
            }
            #expect(try journal.entries() == expected)
            try journal.verify { Issue.record("\($0)") }
            try journal.close()
            #expect(try Journal.openReadOnly(path, options: specimen.options).entries() == expected)
        }
    }

    /// Open readers and an open writer continue with the old record or the stub, after any number
    /// of rewrites, whether or not they have read the segment before.
    @Test(arguments: StorageKind.allCases, [true, false])
    func openJournalsContinueAfterRewriting(_ kind: StorageKind, readBefore: Bool) throws {
        try kind.run { options, path in
            let specimen = try Specimen(path, options, seed: 11)
            let open = [
                try Journal.openReadOnly(path, options: specimen.options),
                try Journal.open(path, options: specimen.options),
            ]
            for journal in open where readBefore { #expect(try journal.entries() == specimen.model) }
            var generator = SeededGenerator(12)
            var states: [Position: RecordContentState] = [:]
            for _ in 0..<6 {
                let chosen = try specimen.rewriter.rewrite { _, _, _ in generator.next() % 5 == 0 ? .withheld : .whole }
                for position in chosen { states[position] = .withheld }
                for journal in open {
                    let stubbed = specimen.expected(states)
                    for position in (1...journal.lastPosition).shuffled(using: &generator) {
                        let entry = try journal.entries(position...position)
                        #expect(entry == [stubbed[Int(position) - 1]] || entry == [specimen.model[Int(position) - 1]])
                    }
                    for (old, (new, found)) in zip(specimen.model, zip(stubbed, try journal.entries())) {
                        #expect(found == old || found == new)
                    }
                    #expect(journal.head == specimen.heads.last)
                }
            }
            try open[1].append([Entry("and", "on")])
            #expect(try open[1].entries().last == Entry("and", "on"))
            for journal in open { try journal.close() }
        }
    }

    /// The segments are rewritten during a read.
    @Test(arguments: StorageKind.allCases) func runningReadContinuesDuringRewriting(_ kind: StorageKind) throws {
        try kind.run { options, path in
            let specimen = try Specimen(path, options, seed: 13)
            let journal = try Journal.openReadOnly(path, options: specimen.options)
            var next: Position = 1
            try journal.read(1...journal.lastPosition) { (position, state, kept, erasable) throws in
                #expect(position == next)
                next += 1
                let entry = specimen.model[Int(position) - 1]
                #expect(kept.toArray() == entry.kept)
                #expect(state == .erased ? erasable.byteCount == 0 : erasable.toArray() == entry.erasable)
                // Each step erases a few more records, and every record of the segment under the
                // reader.
                if position % 40 == 0 {
                    _ = try specimen.rewriter.rewrite { other, _, _ in
                        other / 40 == position / 40 || other % 3 == 0 && other > position ? .erased : .whole
                    }
                }
            }
            #expect(next == journal.lastPosition + 1)
        }
    }

    /// Threads read while another thread rewrites segments.
    @Test(arguments: StorageKind.allCases) func concurrentReadersSurviveRewriting(_ kind: StorageKind) throws {
        try kind.run { options, path in
            let specimen = try Specimen(path, options, seed: 17)
            let journal = try Journal.openReadOnly(path, options: specimen.options)
            let failures = Lock<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 3) { number in
                var generator = SeededGenerator(UInt64(number))
                do {
                    for _ in 0..<15 {
                        if number == 0 {
                            _ = try specimen.rewriter.rewrite { _, _, _ in generator.next() % 12 == 0 ? .erased : .whole
                            }
                            continue
                        }
                        let first = Position.random(in: 1...journal.lastPosition, using: &generator)
                        try journal.read(first...journal.lastPosition) { position, state, kept, erasable in
                            let entry = specimen.model[Int(position) - 1]
                            let isStub = state == .erased && erasable.byteCount == 0
                            if kept.toArray() != entry.kept || !isStub && erasable.toArray() != entry.erasable {
                                failures.withLock { $0.append("unexpected content at \(position)") }
                            }
                        }
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(failures.withLock { $0 } == [])
        }
    }

    /// A file with another history is not accepted as a later generation.
    @Test func onlyGenerationsOfSameRecordsAreAccepted() throws {
        let storage = MemoryStorage()
        let specimen = try Specimen("journal", JournalOptions(storage: storage), seed: 19)
        let name = "journal/" + JournalFileName.segment(1)
        let first = try #require(storage.allContents()[name])
        try specimen.rewriter.rewrite { position, _, _ in position == 3 ? .erased : .whole }
        let second = try #require(storage.allContents()[name])
        // The original CRC of the stub differs.
        var other = second
        let stored = try specimen.stored()
        let place = SegmentHeader.size + CommitHeader.size + stored[..<3].reduce(0) { $0 + $1.record.count }
        try #require(Array(other[(place - stored[2].record.count)..<place]) == stored[2].record)
        other[place - 1] ^= 1
        for forged in [other, Array(second[..<place]), Array(second[..<SegmentHeader.size])] {
            storage.setContents(first, of: name)
            let journal = try Journal.openReadOnly("journal", options: specimen.options)
            storage.setContents(forged, of: name)
            #expect(journalError { _ = try journal.entries() }?.code == .damaged)
            #expect(journalError { _ = try journal.entries() }?.segment == JournalFileName.segment(1))
            storage.setContents(second, of: name)
            #expect(try journal.entries() == specimen.expected([3: .erased]))
        }
    }

    /// A crash during a rewrite leaves a temporary file, which the next writer removes.
    @Test func leftoverOfInterruptedRewritingIsIgnored() throws {
        let storage = MemoryStorage()
        let specimen = try Specimen("journal", JournalOptions(storage: storage), seed: 23)
        let leftover = "journal/" + JournalFileName.segment(1) + JournalFileName.temporarySuffix
        storage.setContents([1, 2, 3], of: leftover)
        #expect(try Journal.openReadOnly("journal", options: specimen.options).entries() == specimen.model)
        let journal = try Journal.open("journal", options: specimen.options)
        #expect(try journal.entries() == specimen.model)
        try journal.close()
        #expect(storage.allContents()[leftover] == nil)
    }
}
