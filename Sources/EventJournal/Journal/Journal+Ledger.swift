internal import Locking
internal import Primitives

// The ledger of erasures: a small file beside the segments whose content only the caller knows.

extension Journal {
    /// Reads the ledger of erasures, which the caller has written; nil if there is none.
    ///
    /// - Throws: `tooLarge` for a file of more than ``JournalLimits/ledgerBytes``, and `ioFailed`.
    public func readLedger() throws(JournalError) -> [UInt8]? {
        try Self.readLedger(ofJournalAt: directory.path, on: directory.storage)
    }

    /// Reads the ledger of erasures in a directory, also of a journal that cannot be opened.
    ///
    /// - Throws: As ``readLedger()``.
    public static func readLedger(ofJournalAt directory: String, on storage: any JournalStorage) throws(JournalError)
        -> [UInt8]?
    {
        let place = JournalDirectory(directory, storage)
        let path = place.file(JournalFileName.ledger)
        guard let file = try place.openIfPresent(JournalFileName.ledger) else { return nil }
        let size = try convertingErrors(of: file.size())
        guard size <= UInt64(JournalLimits.ledgerBytes) else {
            throw JournalError(
                .tooLarge, "The ledger of erasures has more than \(JournalLimits.ledgerBytes) bytes.", path: path)
        }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        guard try convertingErrors(of: file.fill(&bytes, 0..<bytes.count, from: 0)) else {
            throw JournalError(.ioFailed, "The ledger of erasures became shorter during the read.", path: path)
        }
        return bytes
    }

    /// Replaces the ledger of erasures durably, as a whole.
    ///
    /// After a power failure the file is the former or the new one.
    ///
    /// Waits for an erasure in progress.
    ///
    /// - Throws: `readOnly`, `closed`, `tooLarge`, `storageFull`, `ioFailed` and `syncFailed`.
    ///   After the last three the ledger is the former or the new one.
    public func writeLedger(_ bytes: [UInt8]) throws(JournalError) {
        try checkNotReadOnly()
        let path = directory.file(JournalFileName.ledger)
        guard bytes.count <= JournalLimits.ledgerBytes else {
            throw JournalError(
                .tooLarge, "The ledger of erasures is limited to \(JournalLimits.ledgerBytes) bytes.", path: path)
        }
        // The journal stays open meanwhile, because closing it waits for this lock.
        try erasure.withLock { (_) throws(JournalError) in
            try checkFiles()
            _ = try directory.createTemporaryFile(JournalFileName.ledger, bytes).publish()
        }
    }

    /// The checksum of the ledger; 0 if there is none.
    func ledgerChecksum() throws(JournalError) -> UInt32 { try readLedger().map { CRC32C.checksum(of: $0) } ?? 0 }
}
