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
        let seed = Repetitions.seed
        let storage = MemoryStorage()
        var model: [Entry] = []
        for _ in 0..<8 {
            let options = JournalOptions(
                durability: Bool.random(using: &generator) ? .synced : .written,
                segmentSize: UInt64.random(in: 512...20_000, using: &generator), storage: storage)
            let journal = try Journal.open("journal", options: options)
            #expect(try journal.entries() == model, "CHATJOURNAL_SEED=\(seed)")
            for _ in 0..<Int.random(in: 0...40, using: &generator) {
                switch Int.random(in: 0..<10, using: &generator) {
                case 0..<6:
                    let long = Int.random(in: 0..<15, using: &generator) == 0
                    let entries = (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                        generator.entry(kept: long ? 3000 : 20, erasable: long ? 30_000 : 100)
                    }
                    if Bool.random(using: &generator) {
                        try journal.reserve(Int.random(in: 0...40_000, using: &generator))
                    }
                    try journal.append(entries)
                    model += entries
                case 6: try journal.waitUntilDurable(UInt64.random(in: 0...journal.lastPosition, using: &generator))
                case 7: try journal.synchronize()
                default:
                    guard !model.isEmpty else { continue }
                    let first = Int.random(in: 1...model.count, using: &generator)
                    let last = Int.random(in: first...model.count, using: &generator)
                    #expect(
                        try journal.entries(UInt64(first)...UInt64(last)) == Array(model[(first - 1)..<last]),
                        "CHATJOURNAL_SEED=\(seed)")
                }
            }
            var findings: [JournalFinding] = []
            try journal.verify { findings.append($0) }
            #expect(findings == [], "CHATJOURNAL_SEED=\(seed)")
            if Bool.random(using: &generator) { try journal.close() }
        }
        #expect(
            try Journal.openReadOnly("journal", options: JournalOptions(storage: storage)).entries() == model,
            "CHATJOURNAL_SEED=\(seed)")
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
