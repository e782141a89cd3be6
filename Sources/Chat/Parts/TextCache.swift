import ChatDomain

/// What posts say that were shown lately, so that a page of a busy thread is not read from the journal each time; bounded in bytes.
///
/// The text at a position never changes, so nothing in here is ever out of date. A position can stand in one of four slots, found without a look at any other (a
/// set-associative cache); where room is needed, in the four or in all, the hand of a clock takes what was not asked for since it came by last (Corbató, 1968).
/// By hand, because a dictionary's hashing took as long as reading the text from the operating system's cache.
///
/// Where another one would have to go, a text is kept the second time that it is wanted (as in 2Q: Johnson and Shasha, 1994): whoever leafs through a long thread drives out
/// nothing that others ask for, and is spared the work.
struct TextCache {
    /// What an event says, and when it was created.
    struct Text: Equatable {
        var body: String?
        var createdAt: Timestamp

        static let none = Text(createdAt: Timestamp(millisecondsSince1970: 0))
    }

    private struct Slot {
        /// 0 for an empty slot.
        var position: Position = 0
        var text = Text.none
    }

    private static let ways = 4

    private let capacity: Int
    /// So many that short texts fill the capacity before they fill the slots; made when the first text comes.
    private let slotCount: Int
    private var slots: [Slot] = []
    /// For each four slots a part of the hashes of what they hold, 0 for nothing, and then of the last four positions that were to stand there and were refused, the latest first.
    ///
    /// So little memory that what is not here, which is most of what is asked for anywhere in a long thread, is found out without waiting for memory.
    private var tags: [UInt16] = []
    private var wereAskedFor: [Bool] = []
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
        if slots.isEmpty { return nil }
        let place = place(of: position)
        for way in 0..<Self.ways where tags[place.tags + way] == place.tag && slots[place.slots + way].position == position {
            wereAskedFor[place.slots + way] = true
            return slots[place.slots + way].text
        }
        return nil
    }

    /// Keeps a text that was not found, if there is room for it or it was to be kept before.
    mutating func add(_ text: Text, at position: Position) {
        let bytes = Self.bytes(text)
        guard bytes <= capacity / 2 else { return }
        if slots.isEmpty {
            slots = Array(repeating: Slot(), count: slotCount)
            tags = Array(repeating: 0, count: 2 * slotCount)
            wereAskedFor = Array(repeating: false, count: slotCount)
        }
        let place = place(of: position)
        var free: Int?
        for way in 0..<Self.ways {
            let tag = tags[place.tags + way]
            if tag == place.tag && slots[place.slots + way].position == position { return }
            if tag == 0 && free == nil { free = place.slots + way }
        }
        guard free != nil && byteCount + bytes <= capacity || wasRefused(place) else { return }
        let slot = free ?? takeOne(of: place.slots..<place.slots + Self.ways)
        while byteCount + bytes > capacity { takeNext() }
        slots[slot] = Slot(position: position, text: text)
        tags[Self.tag(of: slot)] = place.tag
        wereAskedFor[slot] = false
        byteCount += bytes
        count += 1
    }

    /// Where a position may stand: its first slot and that slot's tag, and the tag that it has there.
    private struct Place {
        var slots: Int
        var tag: UInt16

        var tags: Int { 2 * slots }
    }

    /// Where a position may stand; neighbours stand far apart.
    private func place(of position: Position) -> Place {
        // The top bits of the product (Fibonacci hashing; Knuth, 1973): those from the middle of it left half of the sets empty. The tag is the bits below them.
        let mixed = position &* 0x9E37_79B9_7F4A_7C15
        let bits = UInt64(truncatingIfNeeded: slotCount.trailingZeroBitCount)
        let slot = Int(truncatingIfNeeded: mixed &>> (64 &- bits))
        return Place(slots: slot & ~(Self.ways - 1), tag: max(1, UInt16(truncatingIfNeeded: mixed &>> (48 &- bits))))
    }

    /// Where the tag of a slot stands: behind those of each four slots come as many others.
    private static func tag(of slot: Int) -> Int { slot + slot & ~(ways - 1) }

    /// Whether a position is among the last that were refused at its place; it is from now on.
    private mutating func wasRefused(_ place: Place) -> Bool {
        var former = place.tag
        for index in place.tags + Self.ways..<place.tags + 2 * Self.ways {
            swap(&former, &tags[index])
            if former == place.tag { return true }
        }
        return false
    }

    /// Empties one of some slots that are all taken: the first that was not asked for.
    private mutating func takeOne(of set: Range<Int>) -> Int {
        if let slot = set.first(where: { !wereAskedFor[$0] }) {
            remove(slot)
            return slot
        }
        for slot in set { wereAskedFor[slot] = false }
        remove(set.lowerBound)
        return set.lowerBound
    }

    private mutating func remove(_ slot: Int) {
        guard slots[slot].position != 0 else { return }
        byteCount -= Self.bytes(slots[slot].text)
        count -= 1
        slots[slot] = Slot()
        tags[Self.tag(of: slot)] = 0
        wereAskedFor[slot] = false
    }

    /// Moves the hand to the next text, which goes unless it was asked for.
    private mutating func takeNext() {
        hand = (hand + 1) & (slotCount - 1)
        if wereAskedFor[hand] { wereAskedFor[hand] = false } else { remove(hand) }
    }

    /// What a text takes: its bytes, the header of a string's storage, and its share of the slots.
    private static func bytes(_ text: Text) -> Int { (text.body?.utf8.count ?? 0) + 96 }
}
