extension Journal {
    /// Salvages what can be read of a journal, which need not be fit to be opened, into a new journal.
    ///
    /// The new journal has an id of its own and the same positions. A record is kept byte for byte, salt and state included, if its own
    /// checksum fits and it stands in a commit whose header's checksum fits; of several for one position the first one is kept. Each
    /// position up to the highest one that anything readable attests as synced, and for which there is no such record, gets a placeholder
    /// and is listed. Beyond that position, whole commits are kept as far as they follow without a gap: as in recovery, what comes after
    /// was never promised.
    ///
    /// The damaged journal is only read. The new one becomes a journal with the last step, that of its durable file: what a repair leaves
    /// that was cut off does not open, and is to be removed.
    ///
    /// - Parameters:
    ///   - directory: The damaged journal's directory.
    ///   - destination: The new journal's directory: absent or empty; its parent must exist.
    ///   - options: See ``RepairOptions``.
    ///   - lostRecord: Makes the kept part of the placeholder for a position, whose erasable part is empty. It is given the kept part of the
    ///     record before it in the new journal, empty for the first.
    /// - Returns: What was kept and what was lost.
    /// - Throws: `notFound`, `notAJournal`, `accessDenied`, `newerVersion`, `damaged` (not one slot, segment's header or commit of the damaged
    ///   journal can be read; the destination is left alone), `locked` (somebody has it open for writing), `notEmpty` (the destination),
    ///   `tooLarge` (more is lost than the options allow, or a placeholder is over the limit), `storageFull`, `ioFailed`, `syncFailed`; what
    ///   was written is then removed, as far as that succeeds.
    /// - Complexity: Reads every segment twice. Memory is bounded by the largest commit and the losses listed.
    public static func repair(
        _ directory: String, to destination: String, options: RepairOptions = RepairOptions(),
        lostRecord: (_ position: Position, _ previousKept: RawSpan) -> [UInt8]
    ) throws(JournalError) -> RepairReport {
        let place = JournalDirectory(directory, options.storage)
        try checkReadable(place)
        guard try !isLocked(place) else {
            throw JournalError(.locked, "The journal is open for writing: it needs no repair.", path: place.path)
        }
        let source = try SalvageSource(place)
        var repair = Repair(source, try RepairWriter(JournalDirectory(destination, options.destinationStorage), options), options)
        return try repair.run(lostRecord)
    }
}
