import EventJournal
import Primitives

/// A record that the contract appends and expects.
struct ContractRecord: Equatable {
    var kept: [UInt8]
    var erasable: [UInt8]

    /// Creates the record of a run at a position; its last 16 kept bytes occur nowhere else.
    init(seed: UInt64, at position: Position, by writer: UInt64 = 0) {
        var random = SeededRandom(seed: SeededRandom.derivedSeed(seed, position, writer))
        let (keptCount, erasableCount) = (
            Int.random(in: 16...60, using: &random), max(0, Int.random(in: -40...200, using: &random))
        )
        kept = (0..<keptCount).map { _ in UInt8.random(in: 0...255, using: &random) }
        erasable = (0..<erasableCount).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
}

extension ContractRecord {
    init(kept: RawSpan, erasable: RawSpan) {
        self.kept = kept.toArray()
        self.erasable = erasable.toArray()
    }
}

extension CommitDraft {
    mutating func append(_ record: ContractRecord) throws(JournalError) {
        try record.kept.withBytes { (kept) throws(JournalError) in
            try record.erasable.withBytes { (erasable) throws(JournalError) in
                try append(kept: kept, erasable: erasable)
            }
        }
    }
}

extension SeededRandom {
    /// Derives a seed from another one.
    static func derivedSeed(_ seed: UInt64, _ parts: UInt64...) -> UInt64 {
        parts.reduce(seed) { mixed, part in
            var random = SeededRandom(seed: mixed ^ part &* 0xD6E8_FEB8_6659_FD93)
            return random.next()
        }
    }
}
