import Chat
import ChatDomain
import ChatTesting
import EventJournal
import MerkleLog

/// The invariants of evidence from outside: of its lines, and of its verification.
///
/// The input has the lines of a file `evidence` without the title. A mutated record would lead to
/// another root than that of any checkpoint, so the harness computes the checkpoint from the parts.
/// A line that is no part and no reader is only parsed.
enum EvidenceHarness {
    /// A violated invariant.
    struct Violation: Error {
        var message: String
    }

    /// Checks an input, and returns whether the evidence is accepted.
    @discardableResult
    static func check(_ input: [UInt8]) throws -> Bool {
        var (parts, readers): ([TreePart], [EvidenceReader]) = ([], [])
        let lines = String(decoding: input, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
        for (index, line) in lines.enumerated() {
            if let part = try parsed(line, index + 1, TreePart.init(parsing:line:), \.text) { parts.append(part) }
            if let reader = try parsed(line, index + 1, EvidenceReader.init(parsing:line:), \.text) {
                readers.append(reader)
            }
        }
        let head = TreeHead(origin: "log", size: parts.last?.positions.upperBound ?? 0, root: root(of: parts))
        let shown = parts.compactMap { part in
            if case .record(let position, let record) = part { (position, record) } else { nil }
        }
        let chosen = shown.isEmpty ? nil : shown[shown.count / 2].0
        let (report, proof) = verify(parts, readers, head, chosen)
        let wrong = TreeHead(origin: "log", size: head.size, root: .leaf(of: head.root.bytes))
        try require(verify(parts, readers, wrong, chosen).report == nil, "another root is accepted")
        guard let report else { return false }
        try check(report, parts, shown, readers)
        guard let proof, let record = shown.first(where: { $0.0 == chosen })?.1 else {
            throw Violation(message: "no proof of \(shown)")
        }
        try proof.verify(record.leaf)
        return true
    }

    private static func parsed<Value: Equatable>(
        _ line: String, _ number: Int, _ parse: (String, Int) throws(ProofTextError) -> Value, _ text: (Value) -> String
    ) throws -> Value? {
        let value: Value
        do throws(ProofTextError) { value = try parse(line, number) } catch {
            try require(error.line == number, "an error names the line \(error.line), not \(number)")
            return nil
        }
        try require(text(value) == line, "'\(line)' is accepted, and its text is '\(text(value))'")
        return value
    }

    /// The root of the tree that the parts cover; that of the empty tree if they cover none.
    private static func root(of parts: [TreePart]) -> MerkleHash {
        var cover = MerkleCover(size: parts.last?.positions.upperBound ?? 0)
        for part in parts {
            guard (try? cover.append(part.leaves, part.hash, isShown: part.isRecord)) != nil else { return .emptyTree }
        }
        return cover.root ?? .emptyTree
    }

    private static func verify(
        _ parts: [TreePart], _ readers: [EvidenceReader], _ head: TreeHead, _ chosen: Position?
    ) -> (report: EvidenceReport?, proof: InclusionProof?) {
        do throws(ProofError) {
            var verification = EvidenceVerification(against: head, provingRecordAt: chosen)
            for part in parts { try verification.add(part) }
            return (try verification.report(readers: readers), try verification.inclusionProof())
        } catch {
            return (nil, nil)
        }
    }

    /// Compares a report with the parts, in the simplest way.
    private static func check(
        _ report: EvidenceReport, _ parts: [TreePart], _ shown: [(Position, DisclosedRecord)],
        _ readers: [EvidenceReader]
    ) throws {
        var next: Position = 1
        for part in parts {
            try require(part.positions.lowerBound == next, "position \(next) is not covered")
            next = part.positions.upperBound &+ 1
        }
        let events = try shown.map { ($0.0, try ChatEvent(keptBytes: $0.1.kept, erasableBytes: $0.1.erasable)) }
        let numbered = events.filter { ![.userRegistered, .usernameChanged].contains($0.1.kind) }
        let numbers = numbered.compactMap(\.1.threadNumber)
        let first = numbers.first ?? 0
        try require(
            numbers.count == numbered.count && !numbers.isEmpty
                && numbers == (0..<UInt64(numbers.count)).map { first + $0 }
                && report.numbers == first...(numbers.last ?? 0),
            "the numbers are \(numbers), reported \(report.numbers)")
        try require(Set(numbered.map(\.1.thread)) == [report.thread], "there is another thread than \(report.thread)")
        try require(
            report.positions == numbered[0].0...numbered[numbered.count - 1].0,
            "the positions are reported as \(report.positions)")
        try require(
            report.registrationCount == UInt64(events.count - numbered.count),
            "\(report.registrationCount) registrations")
        try require(
            report.withoutContentCount == UInt64(events.count(where: \.1.isErased)),
            "\(report.withoutContentCount) without content")
        try require(Set(report.provenReaders + report.statedReaders) == Set(readers), "other readers are reported")
    }

    private static func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        if !condition { throw Violation(message: message()) }
    }

    // MARK: Seeds

    /// Lines of evidence of a community: of a whole thread, of a part of one, with registrations
    /// and with erased records.
    static func inputs() throws -> [(name: String, input: [UInt8])] {
        let (ann, bob, garden) = (UserID(bits: 0xA), UserID(bits: 0xB), ThreadID(bits: 0x6A))
        let options = StoreOptions(
            journal: JournalOptions(entropy: SeededEntropy(seed: 1)), clock: ManualClock(), ids: SeededIDs(seed: 1),
            checkpoints: nil)
        let store = try ChatStore.inMemory(options: options)
        let commands: [ChatCommand] =
            [.registerUser(id: ann, username: "Ann"), .registerUser(id: bob, username: "Bob")]
            + [.openThread(id: garden, name: "Garden", by: ann), .joinThread(thread: garden, by: bob)]
            + [.changeUsername(username: "Bobby", by: bob), .postMessage(thread: garden, body: "Milk?", by: bob)]
            + [.startSession(device: "d", by: ann), .leaveThread(thread: garden, by: bob)]
            + [.postMessage(thread: garden, body: "Bread", by: ann), .joinThread(thread: garden, by: bob)]
        for command in commands { try store.executeBlocking(command) }
        func lines(_ positions: ClosedRange<Position>?, _ withRegistrations: Bool) throws -> [UInt8] {
            let evidence = try store.evidence(of: garden, in: positions, withRegistrations: withRegistrations)
            var text = ""
            try store.forEachPart(of: evidence) { part, _ in
                text += part.text + "\n"
            }
            for reader in evidence.readers { text += reader.text + "\n" }
            return Array(text.utf8)
        }
        var inputs = [
            ("whole", try lines(nil, false)), ("part", try lines(5...9, false)), ("names", try lines(nil, true)),
        ]
        try store.eraseUser(bob, reason: "spam")
        inputs.append(("erased", try lines(nil, true)))
        try store.close()
        return inputs
    }
}

extension TreePart {
    fileprivate var positions: ClosedRange<Position> {
        switch self {
        case .record(let position, _): position...position
        case .subtree(let positions, _): positions
        }
    }

    fileprivate var leaves: Range<UInt64> { positions.lowerBound - 1..<positions.upperBound }

    fileprivate var isRecord: Bool { if case .record = self { true } else { false } }

    fileprivate var hash: MerkleHash {
        switch self {
        case .record(_, let record): record.leaf
        case .subtree(_, let hash): hash
        }
    }
}
