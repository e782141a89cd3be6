/// The two slots of the `durable` file as they were found.
struct DurableSlots {
    var file: any StorageFile
    /// By place in the file; nil where a slot cannot be read.
    var slots: [DurableSlot?]
    /// The newer of the readable ones.
    var newest: DurableSlot

    var damaged: [Int] { slots.indices.filter { slots[$0] == nil } }

    /// Reads the slots; two that cannot be read, or that name two journals, are damage.
    init(_ directory: JournalDirectory, _ mode: StorageOpenMode) throws(JournalError) {
        let path = directory.file(DirectoryListing.durableName)
        let file: any StorageFile
        do throws(StorageError) {
            file = try directory.storage.open(path, mode)
        } catch  where error.kind == .notFound {
            throw JournalError(.damaged, "The journal has segments but no durable file.", path: path)
        } catch {
            throw JournalError(error)
        }
        var bytes = [UInt8](repeating: 0, count: DurableSlot.fileSize)
        _ = try storage { () throws(StorageError) in
            try bytes.withMutableBytes(0..<DurableSlot.fileSize) { (span) throws(StorageError) in try file.read(into: &span, at: 0) }
        }
        var slots: [DurableSlot?] = []
        for index in 0..<2 {
            let start = index * DurableSlot.stride
            do throws(DurableSlot.Problem) {
                let slot = try bytes.withBytes(start..<(start + DurableSlot.size)) { (span) throws(DurableSlot.Problem) in
                    try DurableSlot(decoding: span)
                }
                slots.append(slot.offset == UInt64(start) ? slot : nil)
            } catch {
                if case .newerVersion(let version) = error {
                    throw JournalError(.newerVersion, "The journal is of version \(version) of the format.", path: path)
                }
                slots.append(nil)
            }
        }
        let readable = slots.compactMap { $0 }
        guard let newest = readable.max(by: { $0.sequence < $1.sequence }) else {
            throw JournalError(.damaged, "Neither slot of the durable file can be read.", path: path)
        }
        guard readable.allSatisfy({ $0.journal == newest.journal }) else {
            throw JournalError(.damaged, "The slots of the durable file name two journals.", path: path)
        }
        self.file = file
        self.slots = slots
        self.newest = newest
    }
}
