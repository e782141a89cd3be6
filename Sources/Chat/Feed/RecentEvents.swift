import ChatDomain
import EventJournal

/// A ring buffer of the most recent events, shared by all consumers of the feed.
///
/// Bounded in number and in bytes of text. The event at position *p* is in slot *p* mod
/// ``capacity``.
struct RecentEvents {
    /// The maximum number of events.
    let capacity: Int
    /// The maximum number of bytes of text; the last event is kept regardless of size.
    let byteCapacity: Int
    /// The position of the oldest event; ``position`` + 1 if the buffer is empty.
    private(set) var firstPosition: Position = 1
    /// The position of the last event appended.
    private(set) var position: Position = 0
    private var slots: [FollowedEvent?] = []
    private var byteCount = 0

    init(capacity: Int, byteCapacity: Int = 4 << 20) {
        self.capacity = max(1, capacity)
        self.byteCapacity = byteCapacity
    }

    /// Appends the next event and evicts the oldest ones beyond the limits.
    mutating func append(_ event: FollowedEvent) {
        precondition(event.recorded.position == position + 1, "Events must be appended in position order.")
        // Allocated with the first event, because a store without consumers needs no buffer.
        if slots.isEmpty { slots = Array(repeating: nil, count: capacity) }
        let bytes = event.recorded.event.textByteCount
        while firstPosition <= position,
            position - firstPosition + 1 >= UInt64(capacity) || byteCount + bytes > byteCapacity
        {
            removeFirst()
        }
        position += 1
        slots[slot(position)] = event
        byteCount += bytes
    }

    /// Removes every event, and continues after the last one.
    mutating func removeAll() { skip(to: position) }

    /// Removes every event and continues after a later position.
    mutating func skip(to position: Position) {
        precondition(position >= self.position, "Cannot skip backwards.")
        while firstPosition <= self.position { removeFirst() }
        (firstPosition, self.position) = (position + 1, position)
    }

    /// Returns at most `limit` events after a position.
    ///
    /// The position must lie between ``firstPosition`` - 1 and ``position``.
    func events(after position: Position, limit: Int) -> [FollowedEvent] {
        let end = min(self.position, position + UInt64(limit))
        return (position..<end).compactMap { slots[slot($0 + 1)] }
    }

    private mutating func removeFirst() {
        byteCount -= slots[slot(firstPosition)]?.recorded.event.textByteCount ?? 0
        slots[slot(firstPosition)] = nil
        firstPosition += 1
    }

    private func slot(_ position: Position) -> Int { Int(position % UInt64(capacity)) }
}

extension ChatEvent {
    /// The size of its longer texts in bytes.
    var textByteCount: Int {
        switch content {
        case .body(let text), .device(let text), .threadName(let text), .reason(let text), .about(let text):
            text.utf8.count
        case .custom(_, .present(let payload)): payload.text.utf8.count
        case .opaque(let kept, let erasable): kept.count + (erasable?.count ?? 0)
        case .registration, .username, .postcode, .emoji, .none, .erased, .omitted, .custom, .erasure: 0
        }
    }
}
