@testable import EventJournal

/// Content that reads as commits to whoever frames them without the segment's secret salt.
///
/// A power cut that takes the beginning of a commit leaves the content of its records for recovery to search. What is forged here says
/// that far more was synced than was ever appended: a recovery that believed it would refuse the journal.
enum ForgedContent {
    /// So many bytes of commit headers one after another, each framed with one of the salts that a writer of content can know.
    static func bytes(count: Int, in journal: JournalID, after last: Position) -> [UInt8] {
        let salts = [0, UInt64(truncatingIfNeeded: journal.bits), UInt64(truncatingIfNeeded: journal.bits >> 64)]
        var bytes: [UInt8] = []
        while bytes.count < count {
            let salt = salts[bytes.count / CommitHeader.size % salts.count]
            let segment = SegmentHeader(journal: journal, firstPosition: 1, chain: 0, salt: salt)
            var header = [UInt8](repeating: 0, count: CommitHeader.size)
            CommitHeader(
                length: UInt32(CommitHeader.smallestCommit), recordCount: 1, firstPosition: last + 1000, syncedPosition: last + 999,
                chain: 1,
                recordsCRC: 1
            ).encode(into: &header, seed: segment.framingSeed)
            bytes += header
        }
        return Array(bytes.prefix(count))
    }
}
