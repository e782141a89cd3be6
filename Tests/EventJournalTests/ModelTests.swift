import Dispatch
import Locking
import TestSupport
import Testing

@testable import EventJournal

@Suite struct ModelTests {
    /// Compares a random journal lifetime with an array: appends, waits, reads, closes, and
    /// releases without a close.
    @Test(arguments: 0..<Repetitions.few(3, of: 12)) func randomLifetimeEqualsArray(_ round: Int) throws {
        var generator = SeededGenerator(Repetitions.seed &+ UInt64(round))
        var steps: [Step] = []
        for _ in 0..<8 {
            steps.append(
                .open(
                    Bool.random(using: &generator) ? .synced : .written,
                    segmentSize: UInt64.random(in: 512...20_000, using: &generator)))
            for _ in 0..<Int.random(in: 0...40, using: &generator) { steps.append(Step(&generator)) }
            steps.append(.end(closes: Bool.random(using: &generator)))
        }
        try expectAgreement(steps, seed: Repetitions.seed) { try Self.run($0) }
    }

    /// A step in the life of a journal; numbers count modulo the number of positions.
    private enum Step {
        case open(Durability, segmentSize: UInt64)
        case append([Entry], reserving: Int?)
        case wait(Int)
        case synchronize
        case read(Int, Int)
        /// Verifies, and then closes or only releases the journal.
        case end(closes: Bool)

        init(_ generator: inout SeededGenerator) {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<6:
                let long = Int.random(in: 0..<15, using: &generator) == 0
                let entries = (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                    generator.entry(kept: long ? 3000 : 20, erasable: long ? 30_000 : 100)
                }
                let reserved = Bool.random(using: &generator) ? Int.random(in: 0...40_000, using: &generator) : nil
                self = .append(entries, reserving: reserved)
            case 6: self = .wait(Int.random(in: 0...1_000, using: &generator))
            case 7: self = .synchronize
            default:
                self = .read(
                    Int.random(in: 0...1_000, using: &generator), Int.random(in: 0...1_000, using: &generator))
            }
        }
    }

    private static func run(_ steps: [Step]) throws {
        let storage = MemoryStorage()
        var (journal, model) = (nil as Journal?, [] as [Entry])
        for (number, step) in steps.enumerated() {
            try Mismatch.after(number) {
                do {
                    try run(step, &journal, &model, storage)
                } catch let error as JournalError {
                    throw Mismatch("the journal", expected: "no error", actual: "\(error)")
                }
            }
        }
        journal = nil
        let reader = try Journal.openReadOnly("journal", options: JournalOptions(storage: storage))
        try same(try reader.entries(), model, "the records at the end")
    }

    private static func run(
        _ step: Step, _ journal: inout Journal?, _ model: inout [Entry], _ storage: MemoryStorage
    ) throws {
        if case .open(let durability, let segmentSize) = step {
            journal = nil
            let options = JournalOptions(durability: durability, segmentSize: segmentSize, storage: storage)
            journal = try Journal.open("journal", options: options)
        }
        guard let open = journal else { return }
        switch step {
        case .open: try same(try open.entries(), model, "the records after an opening")
        case .append(let entries, let reserved):
            if let reserved { try open.reserve(reserved) }
            try open.append(entries)
            model += entries
        case .wait(let number): try open.waitUntilDurable(UInt64(number) % (open.lastPosition + 1))
        case .synchronize: try open.synchronize()
        case .read(let one, let other):
            guard !model.isEmpty else { return }
            let (one, other) = (one % model.count, other % model.count)
            let indices = min(one, other)...max(one, other)
            try same(
                try open.entries(UInt64(indices.lowerBound + 1)...UInt64(indices.upperBound + 1)),
                Array(model[indices]), "the records at \(indices)")
        case .end(let closes):
            var findings: [JournalFinding] = []
            try open.verify { findings.append($0) }
            try same(findings, [], "the findings")
            if closes { try open.close() }
            journal = nil
        }
    }

    @Test(arguments: StorageKind.allCases) func manyThreadsAppendAndWait(_ kind: StorageKind) throws {
        try kind.run { options, path in
            var options = options
            options.segmentSize = 4000
            let journal = try Journal.open(path, options: options)
            let own = Lock<[Position: String]>([:])
            DispatchQueue.concurrentPerform(iterations: 8) { thread in
                do {
                    for index in 0..<40 {
                        let name = "\(thread) \(index)"
                        let positions = try appendAtTheEnd([Entry(name, "one"), Entry(name, "two")], to: journal)
                        try journal.waitUntilDurable(positions.upperBound)
                        #expect(journal.durablePosition >= positions.upperBound)
                        own.withLock { own in for position in positions { own[position] = name } }
                        #expect(
                            try journal.entries(positions).map { String(decoding: $0.kept, as: UTF8.self) } == [
                                name, name,
                            ])
                    }
                } catch {
                    Issue.record("\(error)")
                }
            }
            let names = try journal.entries().map { String(decoding: $0.kept, as: UTF8.self) }
            #expect(names.count == 640)
            #expect(names.enumerated().allSatisfy { index, name in own.withLock { $0[UInt64(index) + 1] } == name })
            try journal.close()
            #expect(try Journal.openReadOnly(path, options: options).lastPosition == 640)
        }
    }

    /// Appends at the end, with retries while other threads append.
    private func appendAtTheEnd(_ entries: [Entry], to journal: Journal) throws -> ClosedRange<Position> {
        while true {
            do {
                return try journal.append(entries)
            } catch let error as JournalError where error.code == .conflict {
                continue
            }
        }
    }

    @Test func tasksAndThreadsWaitTogether() async throws {
        let journal = try Journal.open("journal", options: JournalOptions(storage: MemoryStorage()))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                let position = try journal.append([Entry("\(index)", "")]).upperBound
                group.addTask {
                    if index % 2 == 0 {
                        try await journal.waitUntilDurable(position)
                    } else {
                        try await withCheckedThrowingContinuation {
                            (continuation: CheckedContinuation<Void, any Error>) in
                            DispatchQueue.global().async {
                                continuation.resume(with: Result { try journal.waitUntilDurable(position) })
                            }
                        }
                    }
                    #expect(journal.durablePosition >= position)
                }
            }
            try await group.waitForAll()
        }
        #expect(journal.durablePosition == 200)
    }

    @Test func readersReadWhileWriterAppends() throws {
        let journal = try Journal.open(
            "journal", options: JournalOptions(durability: .written, segmentSize: 3000, storage: MemoryStorage()))
        DispatchQueue.concurrentPerform(iterations: 3) { role in
            do {
                for index in 0..<150 {
                    if role == 0 {
                        try journal.append([Entry("\(index)", "text"), Entry("\(index)", "text")])
                    } else {
                        let entries = try journal.entries()
                        #expect(entries.enumerated().allSatisfy { $1.kept == Array("\($0 / 2)".utf8) })
                    }
                }
            } catch {
                Issue.record("\(error)")
            }
        }
        #expect(journal.lastPosition == 300)
    }
}
