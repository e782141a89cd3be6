import ChatTesting
import Foundation
import Primitives
import TestSupport
import Testing

@testable import EventJournal

/// A record as tests compare it.
struct Entry: Equatable, CustomStringConvertible {
    var kept: [UInt8]
    var erasable: [UInt8]
    var state: RecordContentState = .whole

    init(_ kept: String, _ erasable: String) {
        self.init(kept: Array(kept.utf8), erasable: Array(erasable.utf8))
    }

    init(kept: [UInt8], erasable: [UInt8], state: RecordContentState = .whole) {
        self.kept = kept
        self.erasable = erasable
        self.state = state
    }

    var description: String { "\(state)(\(kept.count)+\(erasable.count): \(kept.prefix(8)) \(erasable.prefix(8)))" }
}

extension Array where Element == UInt8 {
    func hex() -> String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

func draft(_ entries: [Entry]) throws -> CommitDraft {
    var draft = CommitDraft()
    for entry in entries { try draft.append(entry) }
    return draft
}

extension CommitDraft {
    mutating func append(_ entry: Entry) throws(JournalError) {
        try entry.kept.withBytes(0..<entry.kept.count) { (kept) throws(JournalError) in
            try entry.erasable.withBytes(0..<entry.erasable.count) { (erasable) throws(JournalError) in
                try append(kept: kept, erasable: erasable)
            }
        }
    }
}

extension Journal {
    @discardableResult
    func append(_ entries: [Entry]) throws -> ClosedRange<Position> {
        try append(try draft(entries), expecting: lastPosition)
    }

    func entries(_ positions: ClosedRange<Position>? = nil) throws -> [Entry] {
        let last = lastPosition
        guard last > 0 else { return [] }
        let wanted = positions ?? 1...last
        var entries: [Entry] = []
        var expected = wanted.lowerBound
        try read(wanted) { position, state, kept, erasable in
            #expect(position == expected)
            expected += 1
            entries.append(Entry(kept: kept.toArray(), erasable: erasable.toArray(), state: state))
        }
        return entries
    }
}

/// Runs the work and returns the journal error that it throws; nil if it throws none.
func journalError(optional work: () throws(JournalError) -> Void) -> JournalError? {
    do {
        try work()
        return nil
    } catch {
        return error
    }
}

/// Runs the work and returns the journal error that it throws.
///
/// Records an issue if it throws none.
func journalError(_ work: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) -> JournalError? {
    do {
        try work()
    } catch let error as JournalError {
        return error
    } catch ReadError<any Error>.journal(let error) {
        return error
    } catch ReadError<Never>.journal(let error) {
        return error
    } catch {
        Issue.record("another error: \(error)", sourceLocation: sourceLocation)
        return nil
    }
    Issue.record("no error was thrown", sourceLocation: sourceLocation)
    return nil
}

/// A random generator.
///
/// Without a fixed seed it begins with `CHATJOURNAL_SEED`, which every test run prints.
struct SeededGenerator: RandomNumberGenerator {
    let seed: UInt64
    private var random: SeededRandom

    init(_ fixed: UInt64? = nil) {
        seed = fixed ?? Repetitions.seed
        random = SeededRandom(seed: seed)
    }

    mutating func next() -> UInt64 { random.next() }

    mutating func bytes(_ count: Int) -> [UInt8] { random.bytes(count) }

    mutating func entry(kept: Int = 40, erasable: Int = 120) -> Entry {
        Entry(
            kept: bytes(Int.random(in: 0...kept, using: &self)),
            erasable: bytes(Int.random(in: 0...erasable, using: &self)))
    }
}
