internal import Locking
import Primitives

// The checksums of the files that are computed from the records, and that a journal can do without.

extension CheckpointLog {
    /// Returns a finding for each checkpoint, of any projection, that is damaged or cannot be read.
    ///
    /// A checkpoint that is ignored for another reason is none: an outdated one, or one of another
    /// version or journal.
    ///
    /// - Complexity: Reads all checkpoints of the directory.
    package func checkpointFindings() throws(JournalError) -> [JournalFinding] {
        let directory = directory
        let names = try convertingErrors(of: directory.storage.list(directory.path))
        var findings: [JournalFinding] = []
        for name in names.filter(JournalFileName.isCheckpoint).sorted() {
            do throws(CheckpointProblem) {
                // A writer may have removed it meanwhile.
                try directory.openCheckpoint(name)?.verify()
            } catch {
                guard error.code == .damaged || error.code == .unreadable else { continue }
                findings.append(
                    JournalFinding(
                        "checkpointDamaged",
                        "\(error.message) Openings ignore the file and read the records instead; remove it, or wait until it is replaced.",
                        segment: name))
            }
        }
        return findings
    }
}

extension Journal {
    /// Returns a finding if a checksum of the tree file is wrong, or the file cannot be read.
    ///
    /// What a power failure can leave is no finding: an absent, stale or shorter file, or a torn
    /// last page.
    package func storedTreeFindings() -> [JournalFinding] {
        let finding = TreeFile(directory, id, tree.layout).finding(through: published.withLock { $0.syncedPosition })
        return finding.map { [$0] } ?? []
    }
}

extension TreeFile {
    /// Returns the first part of the file with a wrong checksum, as a finding.
    fileprivate func finding(through last: Position) -> JournalFinding? {
        var bytes = Self.header(journal, layout)
        let header = bytes
        do throws(StorageError) {
            let file = try directory.storage.open(path, .read)
            // The size comes first: a writer has synced every page before the last one of this
            // size.
            let size = try file.size()
            guard try file.fill(&bytes, 0..<Self.headerSize, from: 0) else { return nil }
            guard bytes == header else { return Self.isHeader(bytes) ? nil : damaged(0..<UInt64(Self.headerSize)) }
            var checksum = TreePage.storedChecksum(of: bytes)
            bytes = [UInt8](repeating: 0, count: layout.pageSize)
            for page in 0..<Int(last >> Position(layout.pageHeight)) {
                let place = layout.offset(ofPage: page)..<layout.offset(ofPage: page + 1)
                guard try file.fill(&bytes, 0..<bytes.count, from: place.lowerBound) else { return nil }
                guard TreePage.checksum(of: bytes, after: checksum) == TreePage.storedChecksum(of: bytes) else {
                    // A writer that makes the file shorter writes it again from an earlier page.
                    if try file.size() < size { return nil }
                    return page > 0 && size <= place.upperBound ? nil : damaged(place)
                }
                checksum = TreePage.storedChecksum(of: bytes)
            }
            return nil
        } catch {
            return error.kind == .notFound ? nil : damaged(nil, "\(error)")
        }
    }

    private func damaged(_ bytes: Range<UInt64>?, _ problem: String = "a checksum of the tree file is wrong")
        -> JournalFinding
    {
        JournalFinding(
            "treeDamaged",
            "\(problem), so proofs take longer; remove the file, or wait: writers build it again from the records",
            segment: JournalFileName.tree, bytes: bytes)
    }

    /// Whether the bytes are a header, also one of another journal, layout or version.
    private static func isHeader(_ bytes: [UInt8]) -> Bool {
        Array(bytes[..<8]) == magic
            && bytes.withBytes { CRC32C.checksum(of: $0.extracting(0..<28)) == $0.integer(at: 28) }
    }
}
