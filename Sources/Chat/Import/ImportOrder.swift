/// The order in which the lines of a history are imported.
///
/// The order is that of the lines, or that of their times. A reply that stands before the message
/// that it answers follows directly after it. Replies that answer one another in a circle come
/// last.
///
/// ```swift
/// var order = ImportOrder<Int>()
/// for (index, line) in lines.enumerated() { order.learn(line, at: index) }
/// var importer = MessageImporter(into: store, isOrdered: true)
/// var rejected: [RejectedLine] = []
/// while let next = order.next() {
///     rejected += try importer.add(lines[next.place], line: next.place + 1, isMoved: next.isMoved)
/// }
/// rejected += try importer.finish()
/// ```
///
/// Memory is 24 bytes and the size of a place for each line, about 20 bytes for each message, and
/// half of that again while the lines are sorted. No text is kept.
public struct ImportOrder<Place: Sendable>: Sendable {
    private struct Entry {
        var place: Place
        /// The time in milliseconds; the least one for a line that precedes all times.
        var time: Int64
        /// A part of the id of the message; 0 for any other line.
        var id: UInt64
        /// A part of the id of the message that this one answers; 0 for none.
        var parent: UInt64
    }

    private var entries: [Entry] = []
    /// The time of the last line with one.
    private var lastTime = Int64.min
    /// Whether the entries have to be sorted by time before the first place is returned.
    private var mustSort: Bool
    /// The messages of the history whose places were not returned yet.
    private var pending: Set<UInt64> = []
    /// The entries that wait for a message.
    private var waiting: [UInt64: [Int]] = [:]
    /// The entries that no longer wait, the next one last.
    private var released: [Int] = []
    private var nextEntry = 0

    /// Creates the order of an empty history.
    ///
    /// - Parameter byTime: Whether lines are ordered by their times. Lines of the same time keep
    ///   their order, lines without one stay after the line before them, and lines of channels come
    ///   first.
    public init(byTime: Bool = false) { mustSort = byTime }

    /// Learns the next line.
    ///
    /// - Parameters:
    ///   - line: The line; nil if it cannot be read.
    ///   - place: What identifies the line, for example its number.
    public mutating func learn(_ line: ImportedLine?, at place: Place) {
        var entry = Entry(place: place, time: 0, id: 0, parent: 0)
        switch line {
        case .message(let message):
            lastTime = message.sentAt?.millisecondsSince1970 ?? lastTime
            entry.id = Self.key(message.channel, message.id)
            entry.parent = message.replyTo.map { Self.key(message.channel, $0) } ?? 0
            pending.insert(entry.id)
        case .join(let join): lastTime = join.joinedAt?.millisecondsSince1970 ?? lastTime
        case .channel, nil: break
        }
        if case .channel = line { entry.time = .min } else { entry.time = lastTime }
        entries.append(entry)
    }

    /// Returns the place of the next line, and whether the line has moved; nil after the last one.
    public mutating func next() -> (place: Place, isMoved: Bool)? {
        if mustSort {
            mustSort = false
            // The sort is stable.
            entries.sort { $0.time < $1.time }
        }
        if let next = released.popLast() { return (place(next), true) }
        while nextEntry < entries.count {
            let entry = entries[nextEntry]
            nextEntry += 1
            guard entry.parent != entry.id, pending.contains(entry.parent) else { return (place(nextEntry - 1), false) }
            waiting[entry.parent, default: []].append(nextEntry - 1)
        }
        released = waiting.values.joined().sorted(by: >)
        waiting = [:]
        return released.popLast().map { (place($0), true) }
    }

    /// Returns the place of an entry, and releases the entries that waited for it.
    private mutating func place(_ index: Int) -> Place {
        let entry = entries[index]
        pending.remove(entry.id)
        if let replies = waiting.removeValue(forKey: entry.id) { released += replies.reversed() }
        return entry.place
    }

    /// Returns 64 bits of the id of a message, not 0.
    ///
    /// Two messages with the same bits would only change the order.
    private static func key(_ channel: String, _ id: String) -> UInt64 {
        max(1, UInt64(truncatingIfNeeded: ImportedID.message(channel, id).bits))
    }
}
