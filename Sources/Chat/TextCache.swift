import ChatDomain

/// What posts say that were shown lately, so that a page of a busy thread is not read from the journal each time; bounded in bytes.
///
/// The text at a position never changes, so nothing in here is ever out of date. A position can stand in one of four slots, found without a look at any other (a
/// set-associative cache); where room is needed, in the four or in all, the hand of a clock takes what was not asked for since it came by last (Corbató, 1968).
/// By hand, because a dictionary's hashing took as long as reading the text from the operating system's cache.
struct TextCache {
    /// What an event says, and when it was created.
    struct Text: Equatable {
        var body: String?
        var createdAt: Timestamp
    }

    private struct Slot {
        /// 0 for an empty slot.
        var position: Position = 0
        var wasAskedFor = false
        var text = Text(createdAt: Timestamp(millisecondsSince1970: 0))
    }

    private static let ways = 4

    private let capacity: Int
    /// So many that short texts fill the capacity before they fill the slots; made when the first text comes.
    private let slotCount: Int
    private var slots: [Slot] = []
    private var byteCount = 0
    private var hand = 0
    /// How many texts there are.
    private(set) var count = 0

    /// Makes a cache that takes about so many bytes; with 0 it keeps nothing.
    init(capacity: Int) {
        self.capacity = max(0, capacity)
        let most = max(Self.ways, min(self.capacity / 128, 1 << 30))
        slotCount = 1 << (Int.bitWidth - 1 - most.leadingZeroBitCount)
    }

    /// The text of an event, if it is here.
    mutating func find(_ position: Position) -> Text? {
        guard let slot = slot(of: position) else { return nil }
        slots[slot].wasAskedFor = true
        return slots[slot].text
    }

    /// Keeps a text.
    mutating func add(_ text: Text, at position: Position) {
        let bytes = Self.bytes(text)
        guard bytes <= capacity / 2, slot(of: position) == nil else { return }
        if slots.isEmpty { slots = Array(repeating: Slot(), count: slotCount) }
        let set = set(of: position)
        var free = set.first { slots[$0].position == 0 } ?? set.first { !slots[$0].wasAskedFor }
        if free == nil {
            for slot in set { slots[slot].wasAskedFor = false }
            free = set.first
        }
        guard let free else { return }
        remove(free)
        while byteCount + bytes > capacity { takeNext() }
        slots[free] = Slot(position: position, text: text)
        byteCount += bytes
        count += 1
    }

    private func slot(of position: Position) -> Int? {
        slots.isEmpty ? nil : set(of: position).first { slots[$0].position == position }
    }

    /// Where a position may stand; neighbours stand far apart.
    private func set(of position: Position) -> Range<Int> {
        // The top bits of the product (Fibonacci hashing; Knuth, 1973): those from the middle of it left half of the sets empty.
        let mixed = (position &* 0x9E37_79B9_7F4A_7C15) >> UInt64(truncatingIfNeeded: slotCount.leadingZeroBitCount + 1)
        let first = Int(truncatingIfNeeded: mixed) & ~(Self.ways - 1)
        return first..<first + Self.ways
    }

    private mutating func remove(_ slot: Int) {
        guard slots[slot].position != 0 else { return }
        byteCount -= Self.bytes(slots[slot].text)
        count -= 1
        slots[slot] = Slot()
    }

    /// Moves the hand to the next text, which goes unless it was asked for.
    private mutating func takeNext() {
        hand = (hand + 1) & (slotCount - 1)
        if slots[hand].wasAskedFor { slots[hand].wasAskedFor = false } else { remove(hand) }
    }

    /// What a text takes: its bytes, the header of a string's storage, and its share of the slots.
    private static func bytes(_ text: Text) -> Int { (text.body?.utf8.count ?? 0) + 96 }
}
