internal import Locking

// Another program can remove, rename or replace the files of an open journal. Writes and syncs of
// an open file then still succeed, and the next opening finds none of them.

extension JournalDirectory {
    /// Throws `notFound` unless a name in the directory belongs to an open file.
    ///
    /// Does nothing on a storage without identities.
    func checkName(_ name: String, of file: any StorageFile) throws(JournalError) {
        let path = self.file(name)
        do throws(StorageError) {
            // A storage of the caller's own may have no identities, or those of its files alone.
            guard let identity = try file.identity(), let named = try storage.identity(of: path) else { return }
            if named == identity { return }
        } catch {
            guard error.kind == .notFound || error.kind == .notADirectory else { throw JournalError(error) }
        }
        throw JournalError(
            .notFound, "Another program has removed, renamed or replaced the journal's file.", path: path)
    }
}

extension JournalState {
    /// The longest time between two checks while commits are made durable.
    private static let fileCheckInterval = Duration.seconds(1)

    /// Stops the journal if the directory no longer has the files that are written.
    ///
    /// Called before commits become durable. A failure also stops the journal if it is that of the
    /// check: a file that cannot be found is of no use.
    ///
    /// - Parameter always: Whether to check although the last check was less than a second ago.
    mutating func checkFiles(
        in directory: JournalDirectory, at now: ContinuousClock.Instant = .now, always: Bool = false
    ) throws(JournalError) {
        guard always || now >= nextFileCheck, failure == nil else { return }
        do throws(JournalError) {
            // The lock of `durable` protects a journal whose lock file was removed.
            try directory.checkName(active.name, of: active.file)
            try directory.checkName(JournalFileName.durable, of: durableFile)
        } catch {
            stop(error)
            throw failure ?? error
        }
        nextFileCheck = now + Self.fileCheckInterval
    }
}

extension Journal {
    /// Checks the files once a second until the journal is closed or released, so that a journal
    /// without commits stops as well.
    ///
    /// Does nothing on a storage without identities.
    func watchFiles() {
        guard hasFileIdentities else { return }
        background.run(after: .seconds(1)) { [weak self] in
            guard let self else { return }
            let (isOver, failure) = updateState { state in
                // A failure is stored in the state.
                if !state.isClosed { do throws(JournalError) { try state.checkFiles(in: directory) } catch {} }
                return (state.isClosed || state.failure != nil, state.isClosed ? nil : state.takeUnreportedFailure())
            }
            if let failure { report(failure) }
            if !isOver { watchFiles() }
        }
    }

    private var hasFileIdentities: Bool {
        let file = state.withLock { $0.durableFile }
        // A check reports the error.
        do throws(StorageError) { return try file.identity() != nil } catch { return true }
    }

    /// Stops the journal and throws if the directory no longer has its files.
    func checkFiles() throws(JournalError) {
        try updateState { (state) throws(JournalError) in
            try state.checkWritable()
            try state.checkFiles(in: directory, always: true)
        }
    }
}
