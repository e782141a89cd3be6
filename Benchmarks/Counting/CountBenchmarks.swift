import CCounting
import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import Projections

/// Counts operations on files and allocations of one command and of one replayed event.
///
/// Counts are exact where times are noisy.
struct CountBenchmarks {
    private static let count = 1_000
    let directory: String

    func run(_ report: inout Report) throws {
        guard report.wants("counts") else { return }
        let storage = CountingStorage(FileStorage())
        var options = WrittenHistory.options
        options.journal.storage = storage
        let path = "\(directory)/counts"
        let input = try WriteInput(count: 12 * Self.count, in: directory)
        discard(path)
        defer { for place in [path, input.prepared] { discard(place) } }
        try FileManager.default.copyItem(atPath: input.prepared, toPath: path)
        let store = try ChatStore.open(path, options: options)
        try commands(store, storage, input, &report)
        try batches(store, storage, input, &report)
        try store.close()
        try replay(path, options, &report)
    }

    /// Counts one command per call, after a thousand commands that fill the caches.
    private func commands(_ store: ChatStore, _ storage: CountingStorage, _ input: WriteInput, _ report: inout Report)
        throws
    {
        for index in 0..<Self.count { _ = try store.executeBlocking([input.request(index)])[0].get() }
        storage.reset()
        var allocations: [Int] = []
        allocations.reserveCapacity(Self.count)
        for index in Self.count..<2 * Self.count {
            let request = input.request(index)
            allocations_begin()
            _ = try store.executeBlocking([request])[0].get()
            let count = allocations_count()
            allocations_end()
            allocations.append(Int(count))
        }
        try add("a command", storage.counts, by: Self.count, &report)
        try add("a command", allocations: allocations, &report)
    }

    /// Counts a thousand commands per call.
    private func batches(_ store: ChatStore, _ storage: CountingStorage, _ input: WriteInput, _ report: inout Report)
        throws
    {
        storage.reset()
        var allocations: [Int] = []
        for batch in input.batches.dropFirst(2) {
            allocations_begin()
            _ = try store.executeBlocking(batch)
            let count = allocations_count()
            allocations_end()
            allocations.append(Int(count))
        }
        try add("1,000 commands", storage.counts, by: allocations.count, &report)
        try add("1,000 commands", allocations: allocations, &report)
    }

    /// Counts the reading and decoding of each event, as a value and as a row.
    private func replay(_ path: String, _ options: StoreOptions, _ report: inout Report) throws {
        let journal = try Journal.openReadOnly(path, options: options.journal)
        defer { try? journal.close() }
        let messages = journal.durablePosition - 10_000 + 1...journal.durablePosition
        for decoding in ReplayBenchmarks.Decoding.allCases {
            var allocations: [Int] = []
            allocations.reserveCapacity(10_000)
            var sum: UInt64 = 0
            allocations_begin()
            var last = allocations_count()
            try journal.forEachRecord(in: messages) { _, state, kept, erasable in
                sum &+= (try? decoding.decode(kept, state == .whole ? erasable : nil)) ?? 0
                let now = allocations_count()
                allocations.append(Int(now - last))
                last = now
                return true
            }
            allocations_end()
            precondition(sum != 0)
            try add("a replayed event, \(decoding.rawValue)", allocations: allocations, &report)
        }
    }

    private func add(_ what: String, _ counts: StorageCounts, by number: Int, _ report: inout Report) throws {
        for (unit, count) in [("writes", counts.writes), ("syncs", counts.syncs), ("reads", counts.reads)] {
            try report.add(
                Figure(workload: "counts \(what)", subject: "Chat", value: Double(count) / Double(number), unit: unit))
        }
    }

    /// Reports the median of the allocations, so that an occasional growth of a table does not
    /// count.
    private func add(_ what: String, allocations: [Int], _ report: inout Report) throws {
        guard allocations_are_counted() else { return }
        let middle = allocations.sorted()[allocations.count / 2]
        try report.add(
            Figure(workload: "counts \(what)", subject: "Chat", value: Double(middle), unit: Figure.allocations))
    }
}
