extension KeyTable: ColumnCoded {
    /// The number of slots to copy at a time.
    private static var slotsAtOnce: Int { ColumnWriter.blockByteCount / MemoryLayout<UInt32>.stride }

    /// Writes the keys and, except for a digest, the seed and the slots.
    ///
    /// Reading them back needs no hashing. A table that is growing or has no slots is written with
    /// slots rebuilt from the keys.
    package func write(to writer: inout ColumnWriter) {
        keys.write(to: &writer)
        if writer.isCanonical { return }
        let array = gatheredSlots()
        writer.write(array.seed.low)
        writer.write(array.seed.high)
        writer.write(array.count)
        for start in stride(from: 0, to: array.count, by: Self.slotsAtOnce) {
            writer.write(array[start..<Swift.min(start + Self.slotsAtOnce, array.count)])
        }
    }

    package init(from reader: inout ColumnReader) throws(ColumnError) {
        let keys = try Keys(keysFrom: &reader)
        let seed = HashSeed(low: try reader.read(), high: try reader.read())
        let slotCount: UInt64 = try reader.read()
        // A count that a table could have and that leaves empty slots, so that every search ends.
        try require(
            slotCount <= UInt64(UInt32.max) && SlotArray.isCount(Int(slotCount)) && keys.count <= SlotArray.limit(Int(slotCount)),
            "\(slotCount) slots for \(keys.count) keys")
        try reader.checkLeft(Int(slotCount), of: MemoryLayout<UInt32>.stride)
        let array = SlotArray(count: Int(slotCount), seed: seed)
        var taken: UInt32 = 0
        for start in stride(from: 0, to: array.count, by: Self.slotsAtOnce) {
            let slots: [UInt32] = try reader.readArray(Swift.min(Self.slotsAtOnce, array.count - start))
            // One pass without branches, which the compiler can vectorize: a message has about two
            // slots.
            var indexed: UInt32 = 0
            var largest: UInt32 = 0
            var inUse: UInt32 = 0
            for entry in slots {
                inUse &+= entry == 0 ? 0 : 1
                indexed &+= array.ordinal(entry) == 0 ? 0 : 1
                largest = Swift.max(largest, array.ordinal(entry))
            }
            // Searches subtract 1 from the number in a slot, so a slot in use must have an index.
            try require(inUse == indexed && Int(largest) <= keys.count, "a slot of key \(largest) for \(keys.count) keys")
            taken += inUse
            array[start..<start + slots.count] = slots
        }
        try require(Int(taken) == keys.count, "\(taken) used slots for \(keys.count) keys")
        self.init(keys, SlotTable(array, taken: Int(taken)))
    }
}

extension IDTable: ColumnCoded {
    package func write(to writer: inout ColumnWriter) { table.write(to: &writer) }

    package init(from reader: inout ColumnReader) throws(ColumnError) { table = try KeyTable(from: &reader) }
}

extension PairIndex: ColumnCoded {
    package func write(to writer: inout ColumnWriter) { table.write(to: &writer) }

    package init(from reader: inout ColumnReader) throws(ColumnError) { table = try KeyTable(from: &reader) }

    /// Throws unless the numbers of every pair are less than the bounds.
    package func check(firstBelow first: Int, secondBelow second: Int) throws(ColumnError) {
        for index in 0..<count {
            let pair = pair(index)
            if pair.first >= first || pair.second >= second {
                throw ColumnError("the pair \(pair) is out of range for \(first) and \(second) rows")
            }
        }
    }
}

extension SubsetIndex: ColumnCoded {
    package func write(to writer: inout ColumnWriter) { table.write(to: &writer) }

    package init(from reader: inout ColumnReader) throws(ColumnError) { table = try KeyTable(from: &reader) }

    /// Throws unless every entry is less than `bound`.
    package func check(below bound: Int) throws(ColumnError) { try table.keys.check(below: bound) }
}
