import ChatDomain

/// A cache of recently read texts, bounded in bytes.
///
/// A text changes only by an erasure, after which the store replaces the cache. The cache is 4-way
/// set-associative and evicts with the CLOCK algorithm (Corbató, 1968), within a set or across all
/// slots.
///
/// If an insertion requires an eviction, the first attempt is rejected and only the position is
/// recorded as a ghost entry; the second attempt inserts (as in 2Q: Johnson and Shasha, 1994). A
/// scan of a long thread thus does not evict the texts of other readers.
struct TextCache {
    /// The text of an event, its creation time and the users whom it mentions.
    struct Text: Equatable {
        var body: String?
        var createdAt: Timestamp
        /// Nil if the event mentions no user.
        var mentions: [UserID]?

        static let none = Text(createdAt: Timestamp(millisecondsSince1970: 0))
    }

    private struct Slot {
        /// 0 for an empty slot.
        var position: Position = 0
        var body: String?
        var createdAt = Text.none.createdAt
    }

    /// What is known of a slot besides its text.
    private struct Marks: OptionSet {
        let rawValue: UInt8

        /// Whether the text was found since the clock hand passed it.
        static let isReferenced = Marks(rawValue: 1)
        /// Whether the text has ``mentions``.
        static let hasMentions = Marks(rawValue: 2)
    }

    private static let ways = 4

    private let capacity: Int
    /// The greatest power of two that leaves 128 bytes of the capacity for each slot.
    ///
    /// Short texts then fill the capacity before the slots.
    ///
    /// The slots are allocated with the first text.
    private let slotCount: Int
    private var slots: [Slot] = []
    /// Per set: four hash tags of its slots (0 if empty), then four ghost tags, latest first.
    ///
    /// The tags are compact, so that most misses are detected within the processor's cache.
    private var tags: [UInt16] = []
    private var marks: [Marks] = []
    /// The mentions of the few texts that have any; beside the slots, of which two fill a cache
    /// line.
    private var mentions: [Position: [UserID]] = [:]
    private var byteCount = 0
    private var hand = 0
    /// The number of texts.
    private(set) var count = 0

    /// Creates a cache of about `capacity` bytes; 0 disables it.
    init(capacity: Int) {
        self.capacity = max(0, capacity)
        let most = max(Self.ways, min(self.capacity / 128, 1 << 30))
        slotCount = 1 << (Int.bitWidth - 1 - most.leadingZeroBitCount)
    }

    /// Returns the text of an event, if cached.
    mutating func text(_ position: Position) -> Text? {
        if slots.isEmpty { return nil }
        let location = location(of: position)
        for way in 0..<Self.ways
        where tags[location.tags + way] == location.tag && slots[location.slots + way].position == position {
            let slot = location.slots + way
            marks[slot].insert(.isReferenced)
            return Text(
                body: slots[slot].body, createdAt: slots[slot].createdAt,
                mentions: marks[slot].contains(.hasMentions) ? mentions[position] : nil)
        }
        return nil
    }

    /// Adds a missing text if it fits without eviction, or if its position has a ghost entry.
    mutating func insert(_ text: Text, at position: Position) {
        let bytes = Self.bytes(text.body, text.mentions)
        guard bytes <= capacity / 2 else { return }
        if slots.isEmpty {
            slots = Array(repeating: Slot(), count: slotCount)
            tags = Array(repeating: 0, count: 2 * slotCount)
            marks = Array(repeating: [], count: slotCount)
        }
        let location = location(of: position)
        var free: Int?
        for way in 0..<Self.ways {
            let tag = tags[location.tags + way]
            if tag == location.tag && slots[location.slots + way].position == position { return }
            if tag == 0 && free == nil { free = location.slots + way }
        }
        guard free != nil && byteCount + bytes <= capacity || findOrRecordGhost(location) else { return }
        let slot = free ?? evictOne(of: location.slots..<location.slots + Self.ways)
        while byteCount + bytes > capacity { advanceHand() }
        slots[slot] = Slot(position: position, body: text.body, createdAt: text.createdAt)
        tags[Self.tag(of: slot)] = location.tag
        marks[slot] = text.mentions == nil ? [] : .hasMentions
        if let users = text.mentions { mentions[position] = users }
        byteCount += bytes
        count += 1
    }

    /// The set of a position: its first slot, and the position's tag.
    private struct SetLocation {
        var slots: Int
        var tag: UInt16

        var tags: Int { 2 * slots }
    }

    /// Returns the set of a position; neighbouring positions are in distant sets.
    private func location(of position: Position) -> SetLocation {
        // Fibonacci hashing (Knuth, 1973): the top bits of the product spread the positions evenly
        // over the sets. The tag is the bits below them.
        let mixed = position &* 0x9E37_79B9_7F4A_7C15
        let bits = UInt64(truncatingIfNeeded: slotCount.trailingZeroBitCount)
        let slot = Int(truncatingIfNeeded: mixed &>> (64 &- bits))
        return SetLocation(
            slots: slot & ~(Self.ways - 1), tag: max(1, UInt16(truncatingIfNeeded: mixed &>> (48 &- bits))))
    }

    /// The index of a slot's tag: each set has four ghost tags after its slot tags.
    private static func tag(of slot: Int) -> Int { slot + slot & ~(ways - 1) }

    /// Returns whether the position has a ghost entry.
    ///
    /// If not, records one as the latest of the set and drops the oldest one.
    private mutating func findOrRecordGhost(_ location: SetLocation) -> Bool {
        var former = location.tag
        for index in location.tags + Self.ways..<location.tags + 2 * Self.ways {
            swap(&former, &tags[index])
            if former == location.tag { return true }
        }
        return false
    }

    /// Evicts one text from a full set: the first one not referenced recently.
    private mutating func evictOne(of set: Range<Int>) -> Int {
        if let slot = set.first(where: { !marks[$0].contains(.isReferenced) }) {
            remove(slot)
            return slot
        }
        for slot in set { marks[slot].remove(.isReferenced) }
        remove(set.lowerBound)
        return set.lowerBound
    }

    private mutating func remove(_ slot: Int) {
        guard slots[slot].position != 0 else { return }
        let users = marks[slot].contains(.hasMentions) ? mentions.removeValue(forKey: slots[slot].position) : nil
        byteCount -= Self.bytes(slots[slot].body, users)
        count -= 1
        slots[slot] = Slot()
        tags[Self.tag(of: slot)] = 0
        marks[slot] = []
    }

    /// Advances the clock hand; evicts the text there unless it was referenced recently.
    private mutating func advanceHand() {
        hand = (hand + 1) & (slotCount - 1)
        if marks[hand].remove(.isReferenced) == nil { remove(hand) }
    }

    /// The size of a text: its bytes and ids, the headers of the string and the array, and its
    /// share of the slots.
    private static func bytes(_ body: String?, _ mentions: [UserID]?) -> Int {
        (body?.utf8.count ?? 0) + (mentions.map { 128 + 16 * $0.count } ?? 96)
    }
}
