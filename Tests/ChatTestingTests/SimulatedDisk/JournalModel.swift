import ChatTesting
import EventJournal

/// The records appended to a journal and the acknowledged ones, which a crash must keep.
struct JournalModel: Sendable {
    /// A record with its two parts.
    struct Record: Equatable, Sendable {
        var kept: [UInt8]
        var erasable: [UInt8]
    }

    /// The commits passed to `append`, including failed calls.
    var commits: [[Record]] = []
    /// The number of commits that must survive a power failure.
    var promised = 0
    /// The number of commits that must survive as long as the disk keeps its power: all
    /// acknowledged commits.
    var written = 0
    /// The latest head; all of its records must survive.
    var head: JournalHead?
    /// The head of the backup that finished last.
    var copied: JournalHead?
    /// Whether the journal has moved to its copy.
    var hasMoved = false
    /// Whether the journal was ever opened, so that it must exist.
    var exists = false
    /// The durability and segment size of the workload.
    var durability = Durability.synced
    var segmentSize: UInt64 = 1024

    /// Returns the number of records in the first commits.
    func recordCount(_ commits: Int) -> Int { self.commits.prefix(commits).reduce(0) { $0 + $1.count } }

    /// Returns the number of commits with this total of records, or nil if the total splits a
    /// commit.
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
            durability: durability, segmentSize: segmentSize, storage: disk,
            entropy: SeededEntropy(seed: UInt64(commits.count)),
            expectedHead: head, slotSyncDelay: nil)
    }

    /// Throws unless the journal holds a prefix of the commits with all promised ones, byte for
    /// byte.
    ///
    /// - Returns: The number of commits in the journal.
    func check(_ journal: Journal, _ what: String) throws -> Int {
        let last = Int(journal.lastPosition)
        guard let count = commitCount(records: last) else {
            throw Surprise("\(what): the \(last) records do not end at a commit")
        }
        guard count >= promised else { throw Surprise("\(what): \(count) commits remain of \(promised) promised") }
        guard journal.durablePosition == journal.lastPosition else {
            throw Surprise("\(what): it delivers records that are not durable")
        }
        let expected = commits.prefix(count).joined()
        var next = expected.startIndex
        guard last > 0 else { return 0 }
        do {
            try journal.read(1...journal.lastPosition) { (position, state, kept, erasable) throws(Surprise) in
                guard next < expected.endIndex, state == .whole, kept.equals(expected[next].kept),
                    erasable.equals(expected[next].erasable)
                else { throw Surprise("\(what): record \(position) differs from the appended one") }
                next = expected.index(after: next)
            }
        } catch {
            // A journal error during a read is a valid detection: opening does not read sealed
            // segments.
            if case .journal(let error) = error { throw error }
            throw error
        }
        guard next == expected.endIndex else { throw Surprise("\(what): too few records were read") }
        return count
    }
}

extension RawSpan {
    /// Compares bytes with an array, eight at a time, because tests run unoptimised.
    func equals(_ other: [UInt8]) -> Bool {
        guard byteCount == other.count else { return false }
        // Both reads stay within bounds, and every bit pattern is a valid integer.
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

/// A writer that updates a model together with its journal.
struct ModelWriter {
    let disk: SimulatedDisk
    let recorder: CrashRecorder<JournalModel>
    private(set) var journal: Journal

    /// Opens the journal; all records that it shows count as promised.
    init(_ disk: SimulatedDisk, _ recorder: CrashRecorder<JournalModel>, at path: String = "journal") throws {
        self.disk = disk
        self.recorder = recorder
        let model = recorder.model
        journal = try Journal.open(path, options: model.options(disk))
        let count = try model.check(journal, "opened")
        let head = journal.head
        recorder.update { model in
            model.commits = Array(model.commits.prefix(count))
            (model.promised, model.written) = (count, count)
            model.head = head
            model.exists = true
        }
    }

    /// Appends a commit and, with `wait`, waits until it is durable.
    func append(_ records: [JournalModel.Record], wait: Bool = true) throws {
        var draft = CommitDraft()
        for record in records {
            // Integers have no padding, which is what makes `bytes` unsafe for other elements.
            try draft.append(kept: unsafe record.kept.span.bytes, erasable: unsafe record.erasable.span.bytes)
        }
        recorder.update { $0.commits.append(records) }
        try journal.reserve(draft.encodedByteCount)
        let positions = try journal.append(draft, expecting: journal.lastPosition)
        recorder.update { $0.written = $0.commits.count }
        if wait { try self.wait(positions.upperBound) }
    }

    /// Appends a commit whose bytes follow from its number and whose sizes are random.
    func append(_ random: inout SeededRandom, wait: Bool = true, longest: Int = 160) throws {
        let number = recorder.model.commits.count
        let records = (0..<Int.random(in: 1...3, using: &random)).map { index in
            JournalModel.Record(
                kept: [UInt8](
                    repeating: UInt8(truncatingIfNeeded: number), count: Int.random(in: 0...20, using: &random)),
                erasable: [UInt8](
                    repeating: UInt8(truncatingIfNeeded: number * 16 + index),
                    count: Int.random(in: 0...longest, using: &random)))
        }
        try append(records, wait: wait)
    }

    /// Appends a commit with one record of several sectors that looks like commits, apart from the
    /// salt.
    func appendForged(_ random: inout SeededRandom, wait: Bool) throws {
        let content = ForgedContent.bytes(
            count: Int.random(in: 600...1400, using: &random), in: journal.id, after: journal.lastPosition)
        try append([JournalModel.Record(kept: [], erasable: content)], wait: wait)
    }

    /// Scrubs one segment and requires that it has no findings.
    func scrub() throws {
        var findings: [JournalFinding] = []
        _ = try journal.scrubSegment { findings.append($0) }
        if !findings.isEmpty { throw Surprise("scrub: \(findings)") }
    }

    /// Waits until the position is durable.
    ///
    /// Under `.written`, that guarantees nothing after a power failure.
    func wait(_ position: Position? = nil) throws {
        try journal.waitUntilDurable(position ?? journal.lastPosition)
        if journal.durability == .synced { promiseAll() }
    }

    /// Waits for a sync in either durability.
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
        recorder.update { model in
            model.promised = model.commits.count
            model.head = head
        }
    }
}

/// A reader that has the journal open beside a writer.
struct ModelReader {
    private let disk: SimulatedDisk
    private let recorder: CrashRecorder<JournalModel>
    private let journal: Journal

    init(_ disk: SimulatedDisk, _ recorder: CrashRecorder<JournalModel>) throws {
        self.disk = disk
        self.recorder = recorder
        journal = try Journal.openReadOnly("journal", options: recorder.model.options(disk))
        try check("a reader")
    }

    /// Applies new records.
    ///
    /// The records that a reader of a `.synced` journal sees count as promised.
    func refresh() throws {
        let before = disk.pendingChoices
        try journal.refresh()
        guard disk.pendingChoices == before else { throw Surprise("a refreshed reader has written") }
        try check("a refreshed reader")
    }

    private func check(_ what: String) throws {
        let model = recorder.model
        let count = try model.check(journal, what)
        if model.durability == .synced { recorder.update { $0.promised = max($0.promised, count) } }
    }
}
