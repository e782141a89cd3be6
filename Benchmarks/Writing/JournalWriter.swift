import EventJournal
import Foundation
import Locking

/// Writes events to a journal alone.
///
/// The kept part of a record holds the fixed fields, the erasable part the body.
struct JournalWriter: EventWriter {
    let subject = "Journal"
    var treeLayout = TreeLayout()

    func rate(of phase: WritePhase, _ input: WriteInput, in directory: String) async throws -> Double {
        var options = JournalOptions()
        options.durability = phase.isDurable ? .synced : .written
        options.treeLayout = treeLayout
        let journal = try Journal.open(directory, options: options)
        let rate = try await Self.rate(of: phase, input.events, journal)
        try journal.close()
        return rate
    }

    /// Writes the events of a phase with one thread; returns the events per second.
    static func rateOfOne(_ phase: WritePhase, _ events: PackedEvents, _ journal: some CommitLog) throws -> Double {
        var turn = Turn(head: journal.lastPosition)
        return try phase.rate { range in
            let end = try turn.append(events, range, to: journal)
            if phase.isDurable { try journal.waitUntilDurable(end) }
        }
    }

    /// Writes the events of a phase; returns the events per second.
    static func rate(of phase: WritePhase, _ events: PackedEvents, _ journal: some CommitLog) async throws -> Double {
        switch phase.callers {
        case .one: return try rateOfOne(phase, events, journal)
        case .task:
            let turn = Lock(Turn(head: journal.lastPosition))
            return try await phase.rate { range in
                let end = try turn.withLock { turn in try turn.append(events, range, to: journal) }
                if phase.isDurable { try await journal.waitUntilDurable(end) }
            }
        case .threads(let count):
            let turns = Turns(head: journal.lastPosition)
            return try phase.rate(threads: count) { index in
                let end = try turns.turn.withLock { turn in try turn.append(events, index..<index + 1, to: journal) }
                try journal.waitUntilDurable(end)
            }
        case .tasks(let count):
            let turns = Turns(head: journal.lastPosition)
            return try await phase.rate(tasks: count) { index in
                let end = try turns.turn.withLock { turn in try turn.append(events, index..<index + 1, to: journal) }
                try await journal.waitUntilDurable(end)
            }
        }
    }
}

/// The state of an append: a reused draft, and the journal's last position.
private struct Turn: ~Copyable {
    var draft = CommitDraft()
    var head: Position

    init(head: Position) { self.head = head }

    mutating func append(_ events: PackedEvents, _ range: Range<Int>, to journal: some CommitLog) throws(JournalError)
        -> Position
    {
        draft.removeAll()
        for index in range {
            try events.withEvent(index) { (fixed, text) throws(JournalError) in
                try draft.append(kept: fixed, erasable: text)
            }
        }
        head = try journal.append(draft, expecting: head).upperBound
        return head
    }
}

/// A turn that concurrent callers share.
private final class Turns: Sendable {
    let turn: Lock<Turn>

    init(head: Position) { turn = Lock(Turn(head: head)) }
}
