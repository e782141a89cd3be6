import Chat
import ChatDomain
import EventJournal
import Foundation

/// Measures a replay of all events: R1.
struct ReplayBenchmarks {
    let history: WrittenHistory
    let repetitions: Int

    /// A way of decoding a record.
    enum Decoding: String, CaseIterable {
        /// A complete value, as readers get it.
        case value = "as a value"
        /// Every field as a number, the body in place; a decoder in C does the same.
        case place = "in place"

        /// Decodes a record.
        ///
        /// - Returns: A number that depends on all fields, so that the optimiser keeps the work.
        @inline(__always)
        func decode(_ kept: RawSpan, _ erasable: RawSpan?) throws(EventDecodingError) -> UInt64 {
            switch self {
            case .value:
                let event = try ChatEvent(kept: kept, erasable: erasable)
                return UInt64(bitPattern: event.recordedAt.millisecondsSince1970) &+ UInt64(event.body?.utf8.count ?? 1)
            case .place:
                let row = try EventRow(kept: kept)
                return row.number &+ UInt64(truncatingIfNeeded: row.user ^ row.thread ^ row.secondID ^ row.message)
                    &+ UInt64(erasable?.byteCount ?? 0)
            }
        }
    }

    func run(_ report: inout Report) throws {
        guard report.wants("R1") else { return }
        let files = try RecordFiles(history.segments, recordBytes: 1)
        let journal = try Journal.openReadOnly(history.path, options: WrittenHistory.options.journal)
        defer { try? journal.close() }
        let events = Double(journal.durablePosition)
        var floor = Median()
        var verifying = Median()
        var auditing = Median()
        var decoding = Decoding.allCases.map { _ in Median() }
        for _ in 0..<repetitions {
            floor.add(seconds { files.scan() })
            verifying.add(
                try seconds { try journal.forEachRecord(in: 1...journal.durablePosition) { _, _, _, _ in true } })
            var audit = VerificationReport?.none
            auditing.add(
                try seconds { audit = try ChatStore.verify(history.path, options: WrittenHistory.options.journal) })
            precondition(audit?.isValid == true, "the history must be valid")
            for (index, way) in Decoding.allCases.enumerated() {
                decoding[index].add(try Self.replaySeconds(journal, way))
            }
        }
        func add(_ what: String, _ subject: String, _ median: Median, target: Double? = 0.70) throws {
            try report.add(
                Figure(
                    workload: "R1 replay, \(what)", subject: subject, value: events / median.value, unit: "events/s",
                    floor: events / floor.value, ratio: floor.value / median.value, target: target,
                    spread: median.spread))
        }
        try add("verified", "Journal", verifying)
        for (index, way) in Decoding.allCases.enumerated() { try add(way.rawValue, "Chat", decoding[index]) }
        try add("audited", "Chat", auditing, target: nil)
    }

    /// Returns the seconds that reading, verifying and decoding all records takes.
    static func replaySeconds(_ journal: Journal, _ decoding: Decoding) throws -> Double {
        var failure: (any Error)?
        var sum: UInt64 = 0
        let time = try seconds {
            try journal.forEachRecord(in: 1...journal.durablePosition) { _, state, kept, erasable in
                do { sum &+= try decoding.decode(kept, state == .whole ? erasable : nil) } catch { failure = error }
                return failure == nil
            }
        }
        if let failure { throw failure }
        precondition(sum != 0, "the sum of decoded events must not be 0")
        return time
    }
}
