internal import Locking

extension Journal: MovableLog {
    package func movedTo() throws(JournalError) -> String? {
        guard case .moved(let place) = try directory.readRole()?.role else { return nil }
        return place
    }

    package func isUnfinishedCopy() throws(JournalError) -> Bool { try directory.readRole()?.role == .copy }

    package func fence(at position: Position, destination: String) throws(JournalError) {
        try checkNotReadOnly()
        guard !destination.isEmpty, destination.utf8.count <= RoleFile.maximumNameLength else {
            throw JournalError(
                .tooLarge, "The name of a place has 1 to \(RoleFile.maximumNameLength) bytes.", path: directory.path)
        }
        let role = JournalRole.moved(to: destination)
        // No erasure is in progress, and none begins.
        try erasure.withLock { (_) throws(JournalError) in
            try updateState { (state) throws(JournalError) in
                try state.checkWritable()
                guard state.lastPosition == position else {
                    throw JournalError(
                        .conflict, "The journal's last position is \(state.lastPosition), not \(position) as expected.",
                        path: directory.path)
                }
                // Before the file is written: no append may succeed afterwards.
                state.fence = JournalError(role, path: directory.path)
            }
            do throws(JournalError) {
                // Before the file exists, so that no library that does not know it opens the
                // journal.
                try writeSlots(hasRole: true)
                try directory.replaceRole(RoleFile(role, of: id))
            } catch {
                // Without the file the journal has not moved, and a repeated call can succeed. With
                // it, or if that is unknown, no append may succeed.
                if (try? directory.readRole() == nil) == true {
                    // If this fails too, later slots replace these.
                    try? writeSlots(hasRole: false)
                    updateState { $0.fence = nil }
                }
                throw error
            }
        }
    }

    /// Writes both slots with the version of a journal with or without a role, and syncs them.
    ///
    /// A failure does not stop the journal, so that a move can be repeated. It loses no record: the
    /// slots on the device at most attest a lower position, until others are written.
    func writeSlots(hasRole: Bool) throws(JournalError) {
        try syncState.withLock { (sync) throws(JournalError) in
            let (position, chain, isClosed) = state.withLock { ($0.syncedPosition, $0.syncedChain, $0.isClosed) }
            if isClosed { return }
            sync.hasRole = hasRole
            for _ in 0..<2 { try sync.write(slot(position, chain, isClean: false)) }
            try sync.syncSlots()
        }
    }
}
