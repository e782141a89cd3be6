import Foundation
import Locking
import Primitives
import TestSupport
import Testing

@testable import EventJournal

/// Rejected and failed erasures, and limits.
extension EraseTests {
    @Test func positionsOutsideTheJournalAreRejected() throws {
        let storage = MemoryStorage()
        let specimen = try MarkedJournal("journal", JournalOptions(storage: storage), seed: 7)
        try specimen.journal.synchronize()
        let (before, last) = (storage.allContents(), specimen.journal.lastPosition)
        for positions in [
            PositionSet([0...0]), PositionSet([0...last]), PositionSet([last + 1...last + 1]),
            PositionSet([1...1, 5...last + 1]),
        ] {
            #expect(
                journalError { try specimen.journal.eraseContent(of: positions, orderedThrough: 1) }?.code
                    == .outOfRange)
        }
        let isUnchanged = storage.allContents() == before
        #expect(isUnchanged)
    }

    @Test func onlyAnOpenWriterErases() throws {
        let storage = MemoryStorage()
        let specimen = try MarkedJournal("journal", JournalOptions(storage: storage), seed: 8)
        let reader = try Journal.openReadOnly("journal", options: specimen.options)
        try specimen.journal.close()
        try specimen.addCopiesOfContent()
        let (before, last) = (storage.allContents(), specimen.journal.lastPosition)
        for positions in [PositionSet(), PositionSet([1...2]), PositionSet([last...last]), PositionSet([1...last])] {
            #expect(journalError { try reader.eraseContent(of: positions, orderedThrough: 1) }?.code == .readOnly)
            #expect(
                journalError { try specimen.journal.eraseContent(of: positions, orderedThrough: 1) }?.code == .closed)
            let isUnchanged = storage.allContents() == before
            #expect(isUnchanged)
        }
        #expect(specimen.journal.erasedThrough == nil)
    }

    /// A journal that is closed while it erases holds its lock until the erasure ends.
    @Test func closingWaitsForErasure() throws {
        let storage = FaultyStorage(MemoryStorage())
        let specimen = try MarkedJournal("journal", JournalOptions(storage: storage), seed: 9)
        let journal = specimen.journal
        let renames = Lock(0)
        let calls = Lock<(isClosed: Bool, later: [FaultyStorage.Call])>((false, []))
        let done = DispatchSemaphore(value: 0)
        storage.fail { call in
            // The first rename is that of the new last segment; no lock is held at the second one.
            let isDue = renames.withLock { count in
                if call.operation == .rename { count += 1 }
                return call.operation == .rename && count == 2
            }
            if isDue {
                Thread.detachNewThread {
                    do { try journal.close() } catch { Issue.record("\(error)") }
                    calls.withLock { $0.isClosed = true }
                    done.signal()
                }
                // Long enough for a close that does not wait for the erasure.
                if done.wait(timeout: .now() + .milliseconds(100)) == .success { done.signal() }
            }
            calls.withLock { if $0.isClosed && call.operation != .read { $0.later.append(call) } }
            return nil
        }
        try journal.eraseContent(of: PositionSet([specimen.all]), orderedThrough: 1)
        done.wait()
        storage.fail(nil)
        #expect(calls.withLock { $0.later } == [])
        #expect(
            try Journal.openReadOnly("journal", options: specimen.options).entries()
                == specimen.expected(without: PositionSet([specimen.all])))
    }

    /// One operation of the storage fails during an erasure, each in turn.
    @Test(arguments: [StorageError.Kind.full, .failed]) func failedErasureLosesNothing(_ kind: StorageError.Kind) throws
    {
        let base = MemoryStorage()
        var specimen = try MarkedJournal(
            "journal", JournalOptions(storage: base), seed: 10, commits: 8, segmentSize: 1_024)
        try specimen.addCopiesOfContent()
        try specimen.journal.close()
        let positions = PositionSet(specimen.all.filter { $0 % 3 != 1 }.map { $0...$0 })
        let more = positions.union(PositionSet([2...9]))
        let (before, after) = (specimen.expected(without: PositionSet()), specimen.expected(without: positions))
        var failures: Set<JournalError.Code> = []
        var number = 0
        var isComplete = false
        while !isComplete {
            number += 1
            let storage = FaultyStorage(base.copy())
            specimen.options.storage = storage
            var journal = try Journal.open("journal", options: specimen.options)
            _ = try journal.entries()
            let head = journal.head
            let left = Lock((count: number, failed: FaultyStorage.Call?.none))
            storage.fail(writing: 5) { call in
                left.withLock { left in
                    left.count -= 1
                    if left.count != 0 { return nil }
                    left.failed = call
                    return StorageError(kind, call.operation, path: call.path)
                }
            }
            let error: JournalError?
            do throws(JournalError) {
                try journal.eraseContent(of: positions, orderedThrough: 1)
                error = nil
            } catch let failure {
                error = failure
            }
            storage.fail(nil)
            guard let failed = left.withLock({ $0.failed }) else {
                isComplete = true
                #expect(error == nil)
                continue
            }
            let what = "operation \(number), \(failed): \(error.map { "\($0)" } ?? "no error")"
            if let error { failures.insert(error.code) }
            // Nothing else shows that the note is missing.
            if error == nil { #expect(failed.path.hasSuffix("erased") || failed.path.hasSuffix(".tmp"), "\(what)") }
            let names = try storage.base.list("journal").filter { $0.hasSuffix(".segment.tmp") }
            #expect(names == [] || failed.operation == .remove, "\(what)")
            let isErased = try zip(journal.entries(), zip(before, after)).allSatisfy { $0 == $1.0 || $0 == $1.1 }
            #expect(isErased && journal.head == head, "\(what)")
            // A failed sync or write of the journal's own files stops it.
            if number % 2 == 0, journal.state.withLock({ !$0.rejectsAppends }) {
                try journal.append([Entry("appended", "")])
            } else {
                do { try journal.close() } catch {}
                journal = try Journal.open("journal", options: specimen.options)
                #expect(
                    try zip(journal.entries(), zip(before, after)).allSatisfy { $0 == $1.0 || $0 == $1.1 }, "\(what)")
            }
            try journal.eraseContent(of: more, orderedThrough: 2)
            #expect(try journal.entries(specimen.all) == specimen.expected(without: more), "\(what)")
            #expect(journal.erasedThrough == 2)
            try journal.verify { Issue.record("\($0): \(what)") }
            try journal.close()
            #expect(
                try MarkedContent.numbers(in: "journal", on: storage.base) == specimen.contentNumbers(without: more),
                "\(what)")
            #expect(try storage.base.list("journal").filter { $0.hasSuffix(".tmp") } == [], "\(what)")
        }
        #expect(number > 40)
        #expect(failures.contains(kind == .full ? .storageFull : .ioFailed), "\(failures)")
    }

    /// Another generation must have another number, also after an erasure that failed late.
    @Test func failedErasureDoesNotRepeatGeneration() throws {
        let storage = FaultyStorage(MemoryStorage())
        let specimen = try MarkedJournal("journal", JournalOptions(storage: storage), seed: 11)
        let content = specimen.contentNumbers(without: PositionSet()).sorted().map { Position($0) }
        _ = try specimen.journal.entries()
        storage.fail { $0.operation == .syncDirectory ? StorageError(.failed, .syncDirectory, path: $0.path) : nil }
        #expect(
            journalError {
                try specimen.journal.eraseContent(of: PositionSet([content[0]...content[0]]), orderedThrough: 1)
            }?.code
                == .ioFailed)
        storage.fail(nil)
        let first = try #require(try specimen.stored()[1])
        #expect(first.generation == 1)
        try specimen.journal.eraseContent(of: PositionSet([content[0]...content[0]]), orderedThrough: 1)
        let reader = try Journal.openReadOnly("journal", options: specimen.options)
        #expect(specimen.journal.erasureMark(through: 1) == reader.erasureMark(through: 1))
        #expect(try specimen.stored()[1]?.generation == 1)
        let both = PositionSet([content[0]...content[1]])
        try specimen.journal.eraseContent(of: both, orderedThrough: 1)
        #expect(try specimen.stored()[1]?.generation == 2)
        #expect(try specimen.journal.entries() == specimen.expected(without: both))
    }

    /// Stubs of records with little content are longer than the records.
    @Test(.enabled(if: Repetitions.areAll, "takes two minutes; set CHATJOURNAL_LONG"))
    func longestCommitIsSplit() throws {
        let storage = MemoryStorage()
        let options = JournalOptions(segmentSize: 1 << 20, storage: storage)
        let journal = try Journal.open("journal", options: options)
        var draft = CommitDraft()
        let entry = Entry(kept: [], erasable: [7])
        while draft.encodedByteCount + 23 <= JournalLimits.commitBytes { try draft.append(entry) }
        let positions = try journal.append(draft, expecting: 0)
        try journal.append([Entry("last", "one")])
        try journal.synchronize()
        let head = journal.head
        // Records without an erasure are at both ends, because a split must not lose any.
        try journal.eraseContent(of: PositionSet([2...positions.upperBound - 1]), orderedThrough: 1)
        try journal.close()
        let reader = try Journal.openReadOnly("journal", options: options)
        #expect(reader.head == head)
        var commits: Set<Position> = []
        var next: Position = 1
        try reader.forEachCommittedRecord(in: positions) { position, commit, state, _, erasable in
            commits.insert(commit.position)
            let isWhole = position == 1 || position == positions.upperBound
            if position != next || (state == .whole) != isWhole || erasable.byteCount != (isWhole ? 1 : 0) {
                Issue.record("\(position) is \(state)")
                return false
            }
            next += 1
            return true
        }
        #expect(next == positions.upperBound + 1 && commits.count == 2)
        try reader.verify { Issue.record("\($0)") }
    }
}
