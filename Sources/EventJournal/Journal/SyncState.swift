internal import Primitives

/// The state under the lock ``Journal/syncState``, which serialises the syncs of a writer and the
/// refreshes of a reader.
struct SyncState {
    /// The file `durable`.
    let slotFile: any StorageFile
    /// The sequence number of the last slot written.
    var sequence: UInt64
    /// The writer's lock of the directory; nil for a reader.
    let lock: (any StorageLock)?
    /// Whether the slots on the device are as written.
    private(set) var isSlotSynced = true
    /// Whether a sync of the slot is scheduled for when the journal is idle.
    var isIdleSyncDue = false
    /// The position in the newest slot at a reader's last refresh.
    var slotPosition: Position = 0
    /// The position in the writer's note of erasures at a reader's last refresh.
    var erasedThrough: Position = 0

    /// Whether the directory has, or is about to have, the file `role`.
    var hasRole: Bool

    init(slotFile: any StorageFile, sequence: UInt64, hasRole: Bool, lock: (any StorageLock)?) {
        self.slotFile = slotFile
        self.sequence = sequence
        self.hasRole = hasRole
        self.lock = lock
    }

    /// Writes a slot, alternating between the two places.
    mutating func write(_ slot: DurableSlot) throws(JournalError) {
        var slot = slot
        slot.sequence = sequence &+ 1
        slot.hasRole = hasRole
        try slot.write(to: slotFile)
        sequence = slot.sequence
        isSlotSynced = false
    }

    mutating func syncSlots() throws(JournalError) {
        try convertingErrors(of: slotFile.sync())
        isSlotSynced = true
    }
}
