import Chat
import ChatDomain
import MerkleLog

/// The files of a directory with evidence: `README.md`, `checkpoint` and `evidence`.
enum EvidenceFiles {
    /// The first line of the file `evidence`.
    static let title = "chat-journal/evidence@v1"

    /// The files for evidence of a store.
    static func files(of evidence: Evidence, in store: ChatStore) -> [NewDirectory.File] {
        [
            NewDirectory.File(name: "README.md") { try $0.write(readme(of: evidence)) },
            NewDirectory.File(name: "checkpoint") { try $0.write(evidence.head.text) },
            NewDirectory.File(name: "evidence") { output in
                try output.writeLine(title)
                try write(evidence, of: store, to: &output)
                for reader in evidence.readers { try output.writeLine(reader.text) }
            },
        ]
    }

    private static func write(_ evidence: Evidence, of store: ChatStore, to output: inout BufferedOutput) throws {
        // The closure cannot throw; the error is kept.
        var failure: (any Error)?
        try store.forEachPart(of: evidence) { part, stop in
            do {
                try output.writeLine(part.text)
            } catch {
                failure = error
                stop = true
            }
        }
        if let failure { throw failure }
    }

    /// Evidence that was verified, and its chosen record.
    struct Verified {
        let report: EvidenceReport
        /// The record of the chosen position and its proof.
        let record: (DisclosedRecord, InclusionProof)?
    }

    /// Verifies the files of a directory against an auditor's checkpoint.
    ///
    /// - Parameters:
    ///   - position: A record to return with its proof; nil for none.
    ///   - body: Receives each event, before the last file is verified.
    /// - Throws: `ArgumentError` with the file, and `ToolError`.
    static func verify(
        _ directory: String, against head: TreeHead, provingRecordAt position: Position? = nil,
        _ body: (RecordedEvent) throws -> Void
    ) throws -> Verified {
        let checkpoint = "\(directory)/checkpoint"
        guard try TextFile.parse(checkpoint, isRegular: true, TreeHead.init(parsing:)) == head else {
            throw ArgumentError("\(checkpoint): another checkpoint than that of --checkpoint")
        }
        var verification = EvidenceVerification(against: head, provingRecordAt: position)
        var readers: [EvidenceReader] = []
        var record: DisclosedRecord?
        let path = "\(directory)/evidence"
        try forEachLine(of: path) { text, line in
            if text.hasPrefix(EvidenceReader.word + " ") {
                readers.append(try EvidenceReader(parsing: text, line: line))
                return
            }
            guard readers.isEmpty else { throw ProofTextError(line: line, "a record or a hash after the readers") }
            let part = try TreePart(parsing: text, line: line)
            let event: RecordedEvent?
            do throws(ProofError) { event = try verification.add(part) } catch {
                throw ProofTextError(line: line, error.description)
            }
            if let event { try body(event) }
            if case .record(position, let disclosed) = part { record = disclosed }
        }
        do throws(ProofError) {
            let report = try verification.report(readers: readers)
            guard position != nil else { return Verified(report: report, record: nil) }
            let proof = try verification.inclusionProof()
            return Verified(report: report, record: record.map { ($0, proof) })
        } catch {
            throw ArgumentError("\(path): \(error)")
        }
    }

    /// Calls a closure with each line of the file `evidence` after the title.
    private static func forEachLine(of path: String, _ body: (String, Int) throws -> Void) throws {
        var lines = LineReader(
            descriptor: try SystemIO.openRegularFile(path), owned: true, name: path, limit: TreePart.textByteLimit,
            keepsCarriageReturns: true, stopsAtLongLine: true)
        var hasTitle = false
        while let line = try lines.next() {
            let number = lines.lineNumber
            guard case .bytes(let bytes) = line, let text = String(validating: bytes, as: UTF8.self) else {
                throw ArgumentError("\(path): line \(number): too long, or not UTF-8")
            }
            do {
                if hasTitle {
                    try body(text, number)
                } else if text != title {
                    throw ProofTextError(line: number, "the title '\(title)' is expected")
                }
            } catch let error as ProofTextError {
                throw ArgumentError("\(path): \(error)")
            }
            hasTitle = true
        }
        guard hasTitle else { throw ArgumentError("\(path): the file is empty") }
    }
}
