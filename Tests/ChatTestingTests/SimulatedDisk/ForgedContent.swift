@testable import EventJournal

/// Content that looks like commits to a reader without the segment's secret salt.
///
/// After a power failure that loses the start of a commit, recovery scans the content of its
/// records. The forged headers claim far more synced records than were appended: a recovery that
/// accepted them would reject the journal.
enum ForgedContent {
    /// Returns consecutive forged commit headers, each framed with a salt that an author of content
    /// can know.
    static func bytes(count: Int, in journal: JournalID, after last: Position) -> [UInt8] {
        let salts = [0, UInt64(truncatingIfNeeded: journal.bits), UInt64(truncatingIfNeeded: journal.bits >> 64)]
        var bytes: [UInt8] = []
        while bytes.count < count {
            let salt = salts[bytes.count / CommitHeader.size % salts.count]
            let segment = SegmentHeader(journal: journal, firstPosition: 1, chain: 0, salt: salt)
            var header = [UInt8](repeating: 0, count: CommitHeader.size)
            CommitHeader(
                length: UInt32(CommitHeader.minimumCommitLength), recordCount: 1, firstPosition: last + 1000,
                syncedPosition: last + 999,
                chain: 1,
                recordsCRC: 1
            ).encode(into: &header, seed: segment.framingSeed)
            bytes += header
        }
        return Array(bytes.prefix(count))
    }
}
