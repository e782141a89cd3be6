internal import Primitives

/// The records of one commit in their stored form, for a log that stores each record by itself.
package struct StoredCommit: Sendable {
    /// The stored records, one after another.
    package let bytes: [UInt8]
    /// The range of each record in ``bytes``, and the chain value after it.
    package let records: [(range: Range<Int>, chain: UInt64)]

    /// Takes the records of a commit from another log.
    ///
    /// - Parameters:
    ///   - bytes: The stored records, one after another.
    ///   - records: The range of each record, and the chain value after it.
    package init(bytes: [UInt8], records: [(range: Range<Int>, chain: UInt64)]) {
        (self.bytes, self.records) = (bytes, records)
    }

    /// Adds salt and checksums to the records of a draft.
    ///
    /// - Parameter chain: The chain value before the commit.
    package init(_ draft: borrowing CommitDraft, after chain: UInt64, _ entropy: inout EntropyPool) {
        bytes = CommitFramer.records(of: draft, &entropy)
        var (chain, cursor) = (chain, 0)
        var records: [(range: Range<Int>, chain: UInt64)] = []
        records.reserveCapacity(draft.recordCount)
        bytes.withBytes { bytes in
            for record in draft.records {
                let end = cursor + Int(record.length)
                chain = Chain.step(chain, record: bytes.integer(at: record.isStub ? end - 4 : cursor))
                records.append((cursor..<end, chain))
                cursor = end
            }
        }
        self.records = records
    }
}
