import ChatDomain
import EventJournal

/// The last events, decoded once for everybody who follows; bounded in number and in bytes of text.
///
/// A pure ring: position *p* stands in slot *p* mod its capacity.
struct RecentEvents {
    /// At most so many events.
    let capacity: Int
    /// At most so many bytes of text, but always the last event.
    let byteCapacity: Int
    /// Of the first event that is here; the one after ``position`` while there is none.
    private(set) var start: Position = 1
    /// Of the last event that has been here.
    private(set) var position: Position = 0
    private var slots: [RecordedEvent?] = []
    private var byteCount = 0

    init(capacity: Int, byteCapacity: Int = 4 << 20) {
        self.capacity = max(1, capacity)
        self.byteCapacity = byteCapacity
    }

    /// Takes in the next event; the oldest ones give way.
    mutating func append(_ event: RecordedEvent) {
        precondition(event.position == position + 1, "the events come one after another")
        // Made when somebody follows for the first time.
        if slots.isEmpty { slots = Array(repeating: nil, count: capacity) }
        let bytes = event.event.textByteCount
        while start <= position, position - start + 1 >= UInt64(capacity) || byteCount + bytes > byteCapacity { removeFirst() }
        slots[slot(event.position)] = event
        byteCount += bytes
        position = event.position
    }

    /// Forgets everything, and goes on after a later position.
    mutating func skip(to position: Position) {
        precondition(position >= self.position, "what has been here does not come again")
        while start <= self.position { removeFirst() }
        (start, self.position) = (position + 1, position)
    }

    /// The events after a position that is within ``start`` - 1 and ``position``, at most so many.
    func events(after position: Position, limit: Int) -> [RecordedEvent] {
        let end = min(self.position, position + UInt64(limit))
        return (position..<end).compactMap { slots[slot($0 + 1)] }
    }

    private mutating func removeFirst() {
        byteCount -= slots[slot(start)]?.event.textByteCount ?? 0
        slots[slot(start)] = nil
        start += 1
    }

    private func slot(_ position: Position) -> Int { Int(position % UInt64(capacity)) }
}

extension ChatEvent {
    /// How many bytes its longer texts take.
    var textByteCount: Int {
        switch content {
        case .body(let text), .device(let text), .threadName(let text): text.utf8.count
        case .opaque(let kept, let erasable): kept.count + (erasable?.count ?? 0)
        case .registration, .username, .postcode, .none, .erased, .omitted: 0
        }
    }
}
