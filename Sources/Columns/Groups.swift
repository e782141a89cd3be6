/// Things put together by whom they belong to: the owners in the order of their first things, and the things of each in their order.
///
/// What is done for each owner once, and not for each thing, finds the owner's memory once.
public struct Groups {
    /// By the group.
    @usableFromInline let owners: [Int]
    /// Where each group ends among the things.
    @usableFromInline let ends: [Int]
    @usableFromInline let things: [Int]

    /// How many groups there are.
    public let count: Int

    /// Puts things together.
    ///
    /// - Parameter owner: Tells to whom a thing belongs.
    /// - Complexity: O(*n*) on average.
    @inline(__always)
    @inlinable public init(_ things: [Int], owner: (Int) -> Int) {
        var (owners, ends, placed) = ([Int](repeating: 0, count: things.count), [Int](repeating: 0, count: things.count), things)
        count = Self.group(things, owner, &owners, &ends, &placed)
        (self.owners, self.ends, self.things) = (owners, ends, placed)
    }

    @inline(__always)
    @inlinable static func group(
        _ things: [Int], _ owner: (Int) -> Int, _ owners: inout [Int], _ ends: inout [Int], _ placed: inout [Int]
    ) -> Int {
        var owners = owners.mutableSpan
        var ends = ends.mutableSpan
        var placed = placed.mutableSpan
        // By the hash of the owner, the number + 1 of its group; at most half full.
        let bits = Int.bitWidth &- (2 &* things.count).leadingZeroBitCount
        var slotValues = [UInt32](repeating: 0, count: 1 &<< bits)
        var slots = slotValues.mutableSpan
        var groupValues = [UInt32](repeating: 0, count: things.count)
        var groups = groupValues.mutableSpan
        var count = 0
        for index in things.indices {
            let owner = owner(things[index])
            // The top bits of the product (Fibonacci hashing; Knuth, 1973), of which there is at least one.
            var slot = Int(truncatingIfNeeded: (UInt64(truncatingIfNeeded: owner) &* 0x9E37_79B9_7F4A_7C15) &>> UInt64(64 &- bits))
            while slots[slot] != 0, owners[Int(slots[slot]) &- 1] != owner { slot = (slot &+ 1) & (slots.count &- 1) }
            if slots[slot] == 0 {
                owners[count] = owner
                count &+= 1
                slots[slot] = UInt32(truncatingIfNeeded: count)
            }
            groups[index] = slots[slot] &- 1
            ends[Int(slots[slot]) &- 1] &+= 1
        }
        // From how many there are of each to where each begins, and from there, as they are put in, to where it ends.
        var start = 0
        for group in 0..<count {
            let size = ends[group]
            ends[group] = start
            start &+= size
        }
        for index in things.indices {
            let group = Int(groups[index])
            placed[ends[group]] = things[index]
            ends[group] &+= 1
        }
        return count
    }

    /// To whom the things of a group belong.
    @inlinable public func owner(_ group: Int) -> Int { owners[group] }

    /// The things of a group.
    @inlinable public subscript(group: Int) -> ArraySlice<Int> { things[(group == 0 ? 0 : ends[group - 1])..<ends[group]] }
}
