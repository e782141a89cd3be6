internal import Locking

extension Journal: CheckpointLog {
    /// The journal's directory and its storage.
    public var checkpointDirectory: (path: String, storage: any JournalStorage) { (directory.path, directory.storage) }

    /// Returns a mark of the erasures in the segments that start at or before a position.
    ///
    /// The mark combines the generations of these segments. It is 0 while no such segment has been
    /// rewritten.
    ///
    /// - Complexity: Linear in the number of segments.
    public func erasureMark(through position: Position) -> UInt64 {
        let (starts, last) = published.withLock { ($0.sealedStarts, SegmentStart($0.active.header)) }
        return (starts + [last]).reduce(0) { mark, start in
            start.generation == 0 || start.position > position
                ? mark : Chain.step(Chain.step(mark, start.position), UInt64(start.generation))
        }
    }
}

extension CheckpointLog {
    /// Opens a projection's checkpoint if it belongs to the log's durable history and precedes no
    /// erasure.
    ///
    /// - Parameters:
    ///   - name: The projection's name.
    ///   - version: The expected version of the projection.
    ///   - position: The position of the checkpoint, for one of several.
    /// - Throws: ``CheckpointProblem``: the reason that the checkpoint must be ignored.
    package func checkpoint(_ name: String, version: UInt32, at position: Position? = nil) throws(CheckpointProblem)
        -> CheckpointReader
    {
        guard let reader = try directory.openCheckpoint(JournalFileName.checkpoint(name, at: position)) else {
            throw CheckpointProblem(.absent, "There is no checkpoint of the name.")
        }
        let header = reader.header
        guard header.name == name, header.position == position ?? header.position else {
            throw CheckpointProblem(
                .damaged, "The file is the checkpoint of '\(header.name)' at position \(header.position).")
        }
        guard header.version == version else {
            throw CheckpointProblem(
                .otherVersion, "The checkpoint has version \(header.version) of '\(name)', not \(version).")
        }
        guard header.journal == id else {
            throw CheckpointProblem(.otherJournal, "The checkpoint was made of the journal \(header.journal).")
        }
        let end = durablePosition
        guard header.position <= end else {
            throw CheckpointProblem(
                .beyondEnd, "The checkpoint ends at position \(header.position), the journal at \(end).")
        }
        let isContained: Bool
        do throws(JournalError) {
            isContained = try contains(JournalHead(journal: id, position: header.position, chain: header.chain))
        } catch {
            throw CheckpointProblem(.unreadable, "\(error)")
        }
        guard isContained else {
            throw CheckpointProblem(.otherHistory, "The journal has another history up to position \(header.position).")
        }
        guard header.erasureMark == erasureMark(through: header.position) else {
            throw CheckpointProblem(.beforeErasure, "Content has been erased from the journal since the checkpoint.")
        }
        return reader
    }

    /// Starts writing a checkpoint of a projection's state as of a position.
    ///
    /// - Parameters:
    ///   - name: The projection's name: 1 to 32 ASCII letters, digits and hyphens.
    ///   - version: The projection's version.
    ///   - position: A durable position at which a commit ends.
    ///   - sections: The names of the sections, in their order.
    ///   - isOneOfSeveral: Whether the projection keeps several checkpoints. Otherwise the
    ///     checkpoint replaces the previous one.
    /// - Throws: `readOnly`, `outOfRange` (no durable commit ends there, or the name is not valid),
    ///   or the errors of reading the chain value.
    package func beginCheckpoint(
        _ name: String, version: UInt32, at position: Position, sections: [String], isOneOfSeveral: Bool = false
    ) throws(JournalError) -> CheckpointWriter {
        let directory = directory
        if isReadOnly { throw JournalError(.readOnly, "The journal is open for reading only.", path: directory.path) }
        guard JournalFileName.isProjectionName(name) else {
            throw JournalError(.outOfRange, "The name '\(name)' is not one of a projection.", path: directory.path)
        }
        guard position <= durablePosition, case let head = try head(at: position), head.position == position else {
            throw JournalError(
                .outOfRange, "No commit ends at the position, or it is not durable.", positions: position...position)
        }
        let header = CheckpointHeader(
            name: name, version: version, journal: id, position: position, chain: head.chain,
            erasureMark: erasureMark(through: position),
            sections: sections.map { CheckpointHeader.Section(name: $0) })
        return CheckpointWriter(
            header, as: JournalFileName.checkpoint(name, at: isOneOfSeveral ? position : nil), in: directory)
    }

    /// Returns the positions of the checkpoints of a projection that keeps several, ascending.
    ///
    /// Any of them may be unusable: ``checkpoint(_:version:at:)`` decides.
    package func checkpointPositions(_ name: String) throws(JournalError) -> [Position] {
        let directory = directory
        let names = try convertingErrors(of: directory.storage.list(directory.path))
        return names.compactMap { JournalFileName.checkpointPosition(of: $0, name) }.sorted()
    }

    /// Removes one of several checkpoints of a projection.
    ///
    /// After a crash it may exist again.
    package func removeCheckpoint(_ name: String, at position: Position) throws(JournalError) {
        let directory = directory
        try convertingStorageErrors { () throws(StorageError) in
            try directory.storage.remove(directory.file(JournalFileName.checkpoint(name, at: position)))
        }
    }

    var directory: JournalDirectory { JournalDirectory(checkpointDirectory.path, checkpointDirectory.storage) }
}

extension JournalDirectory {
    /// Reads the header of a checkpoint; nil if the directory has no file of the name.
    func openCheckpoint(_ name: String) throws(CheckpointProblem) -> CheckpointReader? {
        let file: (any StorageFile)?
        do throws(JournalError) { file = try openIfPresent(name) } catch {
            throw CheckpointProblem(.unreadable, "\(error)")
        }
        guard let file else { return nil }
        return try CheckpointReader(file)
    }
}
