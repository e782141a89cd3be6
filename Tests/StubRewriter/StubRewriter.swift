package import EventJournal

/// Turns records of a journal's sealed segments into stubs, as a later version will: for tests, so that readers meet stubs on real files.
///
/// Written from the description of the format alone, but for the hash. Each segment in which something is chosen becomes a new generation:
/// written aside with a new framing salt, synced, renamed over the old one, the directory synced. Positions, chain values and original
/// CRCs stay. It must be the only writer.
package struct StubRewriter {
    private let directory: String
    private let storage: any JournalStorage
    private let entropy: any EntropySource

    /// Makes a rewriter of the journal in a directory.
    package init(_ directory: String, on storage: any JournalStorage = FileStorage(), entropy: any EntropySource = SystemEntropy()) {
        self.directory = directory
        self.storage = storage
        self.entropy = entropy
    }

    /// The names of the segments that can be rewritten: all but the last, in their order.
    package func sealedSegments() throws -> [String] {
        try storage.list(directory).filter { $0.hasSuffix(".segment") }.sorted().dropLast()
    }

    /// Rewrites every sealed segment in which something is chosen.
    ///
    /// - Parameter choose: Is given the position and both parts of each record that is whole; returns what to make of it, `whole` to leave it.
    ///   A record that is a stub already is left alone.
    /// - Returns: The positions of the records that have become stubs.
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

/// What a rewriter meets that is no sealed segment of this format.
package struct NotASegment: Error {
    package var name: String
    package var offset: Int
}
