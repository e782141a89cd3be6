import ChatDomain
import EventJournal

/// The events that a journal holds already, read in order some at a time, to be compared with those of an export.
struct PresentEvents {
    private let journal: Journal
    private let end: Position
    private var position: Position = 0
    /// In reverse, so that the next one is the last; nil for a record that is no event.
    private var read: [ChatEvent?] = []
    private var encoder = EventEncoder()

    /// The most events and about the most bytes that are read at a time.
    private static let batch = (count: 256, byteCount: 1 << 20)

    /// Takes what is durable now.
    init(_ journal: Journal) {
        self.journal = journal
        end = journal.durablePosition
    }

    var isEmpty: Bool { position == end }

    /// Whether the next event is the one that an encoder holds, byte for byte.
    mutating func isNext(_ other: borrowing EventEncoder, isErased: Bool) throws(JournalError) -> Bool {
        if read.isEmpty { try readMore() }
        position += 1
        guard let event = read.removeLast(), event.isErased == isErased else { return false }
        encoder.encode(event, isErased: isErased)
        return encoder.kept == other.kept && encoder.erasable == other.erasable
    }

    private mutating func readMore() throws(JournalError) {
        var byteCount = 0
        var events: [ChatEvent?] = []
        try journal.forEachRecord(in: position + 1...end) { _, state, kept, erasable in
            events.append(try? ChatEvent(kept: kept, erasable: state == .whole ? erasable : nil))
            byteCount += kept.byteCount + erasable.byteCount
            return events.count < Self.batch.count && byteCount < Self.batch.byteCount
        }
        read = events.reversed()
    }
}

extension EventEncoder {
    /// Encodes a whole event, or the kept part of an erased one.
    mutating func encode(_ event: ChatEvent, isErased: Bool) { if isErased { encodeStub(event) } else { encode(event) } }
}
