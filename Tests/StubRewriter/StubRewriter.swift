package import EventJournal

/// Turns records in sealed segments into stubs, so that tests read stubs from real files.
///
/// The implementation follows the description of the format and shares only the hash with the
/// library. Each segment with a selected record gets a new generation: a temporary file with a new
/// framing salt, synced, renamed over the old file, and a sync of the directory. Positions, chain
/// values and original CRCs stay. The rewriter must be the only writer.
package struct StubRewriter {
    private let directory: String
    private let storage: any JournalStorage
    private let entropy: any EntropySource

    /// Creates a rewriter of the journal in a directory.
    package init(
        _ directory: String, on storage: any JournalStorage = FileStorage(),
        entropy: any EntropySource = SystemEntropy()
    ) {
        self.directory = directory
        self.storage = storage
        self.entropy = entropy
    }

    /// Returns the names of the sealed segments, ascending: all except the last.
    package func sealedSegments() throws -> [String] {
        try storage.list(directory).filter { $0.hasSuffix(".segment") }.sorted().dropLast()
    }

    /// Rewrites every sealed segment with a selected record.
    ///
    /// - Parameter choose: Receives the position and both parts of each whole record; returns its
    ///   new state, or `whole` to leave it. Existing stubs are not changed.
    /// - Returns: The positions of the new stubs.
    @discardableResult
    package func rewrite(
        _ choose: (_ position: Position, _ kept: [UInt8], _ erasable: [UInt8]) throws -> RecordContentState
    ) throws -> [Position] {
        try sealedSegments().flatMap { name in
            var segment = try StoredSegment(try storage.contents(of: directory + "/" + name), name)
            var positions: [Position] = []
            for commit in segment.commits.indices {
                for index in segment.commits[commit].records.indices {
                    let position = segment.commits[commit].firstPosition + Position(index)
                    let record = segment.commits[commit].records[index]
                    guard record.state == .whole else { continue }
                    let state = try choose(position, record.kept, record.erasable)
                    if state == .whole { continue }
                    segment.commits[commit].records[index] = record.stub(state)
                    positions.append(position)
                }
            }
            if !positions.isEmpty {
                try storage.replace(name, in: directory, with: segment.nextGeneration(salt: entropy.bytes(8)))
            }
            return positions
        }
    }
}

/// An error: the file is not a sealed segment of this format.
package struct InvalidSegmentError: Error {
    package var name: String
    package var offset: Int
}
