extension NumberTable: ColumnCoded {
    /// The keys; and, but for a digest, the seed, the directory and the slots, so that nothing has to be hashed when they are read.
    package func write(to writer: inout ColumnWriter) {
        keys.write(to: &writer)
        if writer.isCanonical { return }
        writer.write(seed.low)
        writer.write(seed.high)
        writer.write(numberBits)
        writer.write(UInt32(depth))
        writer.write(directory)
        writer.write(shelves.count)
        writer.write(shelves.indices) { UInt32(shelves[$0].depth) }
        writer.write(shelves.indices) { UInt64(shelves[$0].slots.count) }
        for shelf in shelves { writer.write(shelf.slots) }
    }

    package init(from reader: inout ColumnReader) throws(ColumnError) {
        keys = try Keys(keysFrom: &reader)
        seed = (try reader.read(), try reader.read())
        numberBits = try reader.read()
        let depth: UInt32 = try reader.read()
        try require([24, 28, 32].contains(numberBits) && keys.count <= Int(numberMask), "\(keys.count) keys in \(numberBits) bits")
        try require(depth <= Self.maximumDepth, "a directory of depth \(depth)")
        self.depth = Int(depth)
        directory = try reader.readArray(1 << self.depth)
        let count = try reader.readCount()
        try require(directory.allSatisfy { Int($0) < count }, "a directory leads to no shelf")
        let depths: [UInt32] = try reader.readArray(count)
        let slotCounts: [UInt64] = try reader.readArray(count)
        shelves = []
        shelves.reserveCapacity(count)
        for shelf in 0..<count {
            try require(depths[shelf] <= depth, "a shelf of depth \(depths[shelf])")
            shelves.append(try readShelf(&reader, depth: Int(depths[shelf]), slotCount: slotCounts[shelf]))
        }
        try require(shelves.reduce(0) { $0 + $1.count } == keys.count, "other slots than keys")
    }

    private func readShelf(_ reader: inout ColumnReader, depth: Int, slotCount: UInt64) throws(ColumnError) -> Shelf {
        try require(slotCount >= 16 && slotCount <= UInt32.max, "a shelf of \(slotCount) slots")
        // A larger one is never made but where it cannot be split any more.
        try require(slotCount <= Self.fullShelf || depth == Self.maximumDepth, "a shelf of \(slotCount) slots at depth \(depth)")
        let slots: [UInt32] = try reader.readArray(Int(slotCount))
        // One pass without branches, of which vectors can be made: there are some two slots for each message.
        let mask = numberMask
        var taken: UInt32 = 0
        var numbered: UInt32 = 0
        var largest: UInt32 = 0
        for entry in slots {
            taken &+= entry == 0 ? 0 : 1
            numbered &+= entry & mask == 0 ? 0 : 1
            largest = Swift.max(largest, entry & mask)
        }
        let count = Int(taken)
        // A search ends at an empty slot, and takes one off a number.
        try require(count * 16 <= slots.count * 13 && taken == numbered, "a shelf of \(count) keys in \(slots.count) slots")
        try require(Int(largest) <= keys.count, "a slot of key \(largest), where there are \(keys.count)")
        return Shelf(depth: depth, count: count, slots: slots)
    }
}

extension IDTable: ColumnCoded {
    package func write(to writer: inout ColumnWriter) { table.write(to: &writer) }

    package init(from reader: inout ColumnReader) throws(ColumnError) { table = try NumberTable(from: &reader) }
}

extension PairIndex: ColumnCoded {
    package func write(to writer: inout ColumnWriter) { table.write(to: &writer) }

    package init(from reader: inout ColumnReader) throws(ColumnError) { table = try NumberTable(from: &reader) }

    /// Throws unless the first of every pair is smaller than one bound, and the second than another.
    package func check(firstBelow first: Int, secondBelow second: Int) throws(ColumnError) {
        for number in 0..<count {
            let pair = pair(number)
            if pair.first >= first || pair.second >= second {
                throw ColumnError("a pair of \(pair), where there are \(first) and \(second)")
            }
        }
    }
}

extension SubsetIndex: ColumnCoded {
    package func write(to writer: inout ColumnWriter) { table.write(to: &writer) }

    package init(from reader: inout ColumnReader) throws(ColumnError) { table = try NumberTable(from: &reader) }

    /// Throws unless every entry is smaller than a bound.
    package func check(below bound: Int) throws(ColumnError) { try table.keys.check(below: bound) }
}
