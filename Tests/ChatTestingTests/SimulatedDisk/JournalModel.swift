import ChatTesting
import EventJournal

/// What a journal was given, and what it promised: what a crash must leave of it.
struct JournalModel: Sendable {
    /// A record: its two parts.
    struct Record: Equatable, Sendable {
        var kept: [UInt8]
        var erasable: [UInt8]
    }

    /// What was given to `append`, commit by commit, whether it returned or not.
    var commits: [[Record]] = []
    /// How many of them must be there.
    var promised = 0
    /// How many of them must be there as long as the disk keeps its power: those that were acknowledged in any way.
    var written = 0
    /// The latest token of which all must be there.
    var head: JournalHead?
    /// The head of the copy that the last finished backup made.
    var copied: JournalHead?
    /// Whether the journal has ever been opened, so that it must be there.
    var exists = false
    /// The durability and the size of segments that the workload opens with.
    var durability = Durability.synced
    var segmentSize: UInt64 = 1024

    /// The number of records in the first commits.
    func recordCount(_ commits: Int) -> Int { self.commits.prefix(commits).reduce(0) { $0 + $1.count } }

    /// The number of commits whose records are exactly these many; nil when that would divide one.
    func commitCount(records: Int) -> Int? {
        var count = 0
        for (index, commit) in commits.enumerated() {
            if count >= records { return count == records ? index : nil }
            count += commit.count
        }
        return count == records ? commits.count : nil
    }

    func options(_ disk: SimulatedDisk) -> JournalOptions {
        JournalOptions(
            durability: durability, segmentSize: segmentSize, storage: disk, entropy: SeededEntropy(seed: UInt64(commits.count)),
            expectedHead: head, idleDelay: nil)
    }

    /// Throws unless the journal holds whole commits from the first on, at least those that were promised, byte for byte.
    ///
    /// - Returns: How many commits it holds.
    func check(_ journal: Journal, _ what: String) throws -> Int {
        let last = Int(journal.lastPosition)
        guard let count = commitCount(records: last) else { throw Surprise("\(what): the \(last) records are no whole commits") }
        guard count >= promised else { throw Surprise("\(what): \(count) commits are there of \(promised) promised") }
        guard journal.durablePosition == journal.lastPosition else { throw Surprise("\(what): it shows what is not durable") }
        let expected = commits.prefix(count).joined()
        var next = expected.startIndex
        guard last > 0 else { return 0 }
        do {
            try journal.read(1...journal.lastPosition) { (position, state, kept, erasable) throws(Surprise) in
                guard next < expected.endIndex, state == .whole, kept.equals(expected[next].kept), erasable.equals(expected[next].erasable)
                else { throw Surprise("\(what): record \(position) is another than was appended") }
                next = expected.index(after: next)
            }
        } catch {
            // What a journal refuses on reading is as much of a refusal as on opening: a sealed segment is read only then.
            if case .journal(let error) = error { throw error }
            throw error
        }
        guard next == expected.endIndex else { throw Surprise("\(what): too few records were read") }
        return count
    }
}

extension RawSpan {
    /// Whether these are the bytes of an array; eight at a time, because tests run unoptimised.
    func equals(_ other: [UInt8]) -> Bool {
        guard byteCount == other.count else { return false }
        // Both are read inside their bounds, as integers, of which any bytes are some.
        let bytes = unsafe other.span.bytes
        var offset = 0
        while offset + 8 <= byteCount {
            let mine = unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let same = unsafe mine == bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if !same { return false }
            offset += 8
        }
        while offset < byteCount {
            if unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) != other[offset] { return false }
            offset += 1
        }
        return true
    }
}

/// A writer that keeps a model in step with what it does to a journal.
struct ModelWriter {
    let disk: SimulatedDisk
    let witness: CrashWitness<JournalModel>
    private(set) var journal: Journal

    /// Opens the journal, and from then on takes for promised all that it shows.
    init(_ disk: SimulatedDisk, _ witness: CrashWitness<JournalModel>) throws {
        self.disk = disk
        self.witness = witness
        let model = witness.model
        journal = try Journal.open("journal", options: model.options(disk))
        let count = try model.check(journal, "opened")
        let head = journal.head
        witness.update { model in
            model.commits = Array(model.commits.prefix(count))
            (model.promised, model.written) = (count, count)
            model.head = head
            model.exists = true
        }
    }

    /// Appends a commit and, if asked to, waits for it.
    func append(_ records: [JournalModel.Record], wait: Bool = true) throws {
        var draft = CommitDraft()
        for record in records {
            // Bytes of integers have no padding, the reason why `bytes` is unsafe for elements in general.
            try draft.append(kept: unsafe record.kept.span.bytes, erasable: unsafe record.erasable.span.bytes)
        }
        witness.update { $0.commits.append(records) }
        try journal.reserve(draft.encodedByteCount)
        let positions = try journal.append(draft, expecting: journal.lastPosition)
        witness.update { $0.written = $0.commits.count }
        if wait { try self.wait(positions.upperBound) }
    }

    /// Appends a commit whose bytes follow from its number, the sizes from the generator.
    func append(_ random: inout SeededRandom, wait: Bool = true, longest: Int = 160) throws {
        let number = witness.model.commits.count
        let records = (0..<Int.random(in: 1...3, using: &random)).map { index in
            JournalModel.Record(
                kept: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: Int.random(in: 0...20, using: &random)),
                erasable: [UInt8](
                    repeating: UInt8(truncatingIfNeeded: number * 16 + index), count: Int.random(in: 0...longest, using: &random)))
        }
        try append(records, wait: wait)
    }

    /// Appends a commit of one record of some sectors that reads as commits, but for the salt.
    func appendForged(_ random: inout SeededRandom, wait: Bool) throws {
        let content = ForgedContent.bytes(
            count: Int.random(in: 600...1400, using: &random), in: journal.id, after: journal.lastPosition)
        try append([JournalModel.Record(kept: [], erasable: content)], wait: wait)
    }

    /// Scrubs one segment, in which nothing may be found.
    func scrub() throws {
        var findings: [JournalFinding] = []
        _ = try journal.scrubSegment { findings.append($0) }
        if !findings.isEmpty { throw Surprise("scrub: \(findings)") }
    }

    /// Waits for the disk, which promises nothing for a power cut under `.written`.
    func wait(_ position: Position? = nil) throws {
        try journal.waitUntilDurable(position ?? journal.lastPosition)
        if journal.durability == .synced { promiseAll() }
    }

    /// Waits for the disk whatever the durability.
    func synchronize() throws {
        try journal.synchronize()
        promiseAll()
    }

    func close() throws {
        try journal.close()
        promiseAll()
    }

    private func promiseAll() {
        let head = journal.head
        witness.update { model in
            model.promised = model.commits.count
            model.head = head
        }
    }
}

/// A reader that has the journal open while a writer goes on.
struct ModelReader {
    private let disk: SimulatedDisk
    private let witness: CrashWitness<JournalModel>
    private let journal: Journal

    init(_ disk: SimulatedDisk, _ witness: CrashWitness<JournalModel>) throws {
        self.disk = disk
        self.witness = witness
        journal = try Journal.openReadOnly("journal", options: witness.model.options(disk))
        try check("a reader")
    }

    /// Takes in what is new; what a reader is shown of a `.synced` journal is promised from then on.
    func refresh() throws {
        let before = disk.pendingChoices
        try journal.refresh()
        guard disk.pendingChoices == before else { throw Surprise("a refreshed reader has written") }
        try check("a refreshed reader")
    }

    private func check(_ what: String) throws {
        let model = witness.model
        let count = try model.check(journal, what)
        if model.durability == .synced { witness.update { $0.promised = max($0.promised, count) } }
    }
}
