import Testing

@testable import EventJournal

@Suite struct ChainTests {
    /// At the end of each commit, the chain value equals that of the head at that time.
    ///
    /// Inside a commit there is no chain value.
    @Test(arguments: [512, 4_096, 1 << 20] as [UInt64]) func chainValuesMatchPastHeads(segmentSize: UInt64) throws {
        var options = JournalOptions()
        options.storage = MemoryStorage()
        options.segmentSize = segmentSize
        var journal = try Journal.open("journal", options: options)
        var heads = [journal.head]
        for number in 0..<60 {
            // Some commits exceed the spacing of a segment's index.
            let entries = (0..<(number % 7 == 3 ? 40 : number % 3 + 1)).map {
                Entry("kept \($0)", String(repeating: "x", count: 200))
            }
            try journal.append(entries)
            try journal.waitUntilDurable(journal.lastPosition)
            heads.append(journal.head)
        }
        for round in 0..<3 {
            for position in 0...journal.lastPosition {
                let head = heads.first { $0.position == position }
                #expect(try journal.chain(at: position) == head?.chain, "position \(position)")
                if let head { #expect(try journal.contains(head)) }
            }
            #expect(journalError { _ = try journal.chain(at: journal.lastPosition + 1) }?.code == .outOfRange)
            #expect(
                try !journal.contains(JournalHead(journal: journal.id, position: journal.lastPosition + 1, chain: 0)))
            #expect(try !journal.contains(JournalHead(journal: JournalID(bits: 1), position: 0, chain: heads[0].chain)))
            #expect(
                try !journal.contains(
                    JournalHead(journal: journal.id, position: heads[3].position, chain: heads[4].chain)))
            try journal.close()
            #expect(journalError { _ = try journal.chain(at: heads[2].position) }?.code == .closed)
            journal =
                round == 0
                ? try Journal.open("journal", options: options) : try Journal.openReadOnly("journal", options: options)
        }
    }
}
