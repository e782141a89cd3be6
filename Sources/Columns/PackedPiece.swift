/// The values of one piece of a packed list, each as its distance from a straight line, in as few bits as the greatest distance needs.
///
/// (Frame of reference: Goldstein and others, 1998, with a slope.) What ascends steadily, as positions and numbers of rows do, costs the bits of its unsteadiness alone;
/// what is the same all along a piece costs none. Arithmetic wraps, so that any 64 bits are values, and no words, wherever they come from, are out of bounds or trap
/// as long as there are enough of them.
@usableFromInline struct PackedPiece: Sendable, Equatable {
    /// The lowest value of the line, the slope above 8 bits of the width, and then the distances without a gap.
    @usableFromInline var words: [UInt64]

    @usableFromInline static var headerCount: Int { 2 }
    /// A slope is a multiple of 1 over 2 to the power of this.
    @usableFromInline static var fractionBits: UInt64 { 16 }

    /// How many words hold so many values of a width.
    @inlinable static func wordCount(_ count: Int, width: Int) -> Int { headerCount + (count * width + 63) >> 6 }

    @inlinable init(words: [UInt64]) { self.words = words }

    @inlinable var base: UInt64 { words[0] }
    @inlinable var slope: UInt64 { words[1] >> 8 }
    /// How many bits each distance takes.
    @inlinable var width: Int { Int(truncatingIfNeeded: words[1] & 0xFF) }

    @inlinable static func mask(_ width: Int) -> UInt64 { width == 0 ? 0 : .max &>> UInt64(truncatingIfNeeded: 64 - width) }

    /// How high above its beginning a line of a slope is at an index.
    @inlinable static func rise(_ slope: UInt64, _ index: Int) -> UInt64 { (slope &* UInt64(truncatingIfNeeded: index)) &>> fractionBits }

    /// The value at an index.
    @inlinable subscript(index: Int) -> UInt64 {
        let width = self.width
        let line = base &+ Self.rise(slope, index)
        if width == 0 { return line }
        let bit = index &* width
        let word = Self.headerCount &+ bit >> 6
        let offset = bit & 63
        var distance = words[word] &>> UInt64(truncatingIfNeeded: offset)
        if offset &+ width > 64 { distance |= words[word &+ 1] &<< UInt64(truncatingIfNeeded: 64 &- offset) }
        return line &+ distance & Self.mask(width)
    }

    /// Puts a value at an index where it has its bits; returns whether it does.
    @inlinable mutating func set(_ value: UInt64, at index: Int) -> Bool {
        let width = self.width
        let mask = Self.mask(width)
        let distance = value &- base &- Self.rise(slope, index)
        guard distance <= mask else { return false }
        if width == 0 { return true }
        let bit = index &* width
        let word = Self.headerCount &+ bit >> 6
        let offset = bit & 63
        let shift = UInt64(truncatingIfNeeded: offset)
        words[word] = words[word] & ~(mask &<< shift) | distance &<< shift
        if offset &+ width > 64 {
            let rest = UInt64(truncatingIfNeeded: 64 &- offset)
            words[word &+ 1] = words[word &+ 1] & ~(mask &>> rest) | distance &>> rest
        }
        return true
    }

    /// Packs so many values along a line.
    @inlinable init(_ count: Int, base: UInt64, slope: UInt64, width: Int, value: (Int) -> UInt64) {
        words = [UInt64](repeating: 0, count: Self.wordCount(count, width: width))
        words[0] = base
        words[1] = slope << 8 | UInt64(truncatingIfNeeded: width)
        if width == 0 { return }
        var word = Self.headerCount
        var bits: UInt64 = 0
        var filled = 0
        for index in 0..<count {
            let distance = value(index) &- base &- Self.rise(slope, index)
            bits |= distance &<< UInt64(truncatingIfNeeded: filled)
            filled += width
            guard filled >= 64 else { continue }
            words[word] = bits
            word += 1
            filled -= 64
            bits = filled == 0 ? 0 : distance &>> UInt64(truncatingIfNeeded: width - filled)
        }
        if filled > 0 { words[word] = bits }
    }

    /// Packs values in the fewest bits: along a level line or, if that takes fewer, along the one from the first to the last.
    @inlinable init<Element: FixedWidthInteger & UnsignedInteger>(_ values: [Element]) {
        let level = Self.range(values, slope: 0)
        var (slope, base, width) = (0 as UInt64, level.base, level.width)
        let first = UInt64(truncatingIfNeeded: values.first ?? 0)
        let last = UInt64(truncatingIfNeeded: values.last ?? 0)
        if width > 0, last > first, last - first < 1 << 40 {
            let steep = (last - first) << Self.fractionBits / UInt64(truncatingIfNeeded: Swift.max(1, values.count - 1))
            let sloping = Self.range(values, slope: steep)
            if sloping.width < width { (slope, base, width) = (steep, sloping.base, sloping.width) }
        }
        self.init(values.count, base: base, slope: slope, width: width) { UInt64(truncatingIfNeeded: values[$0]) }
    }

    /// The lowest distance of values from a line through 0, and how many bits the others take above it.
    ///
    /// The difference of two signed numbers is exact in as many unsigned bits, so that this holds for any values.
    @inlinable static func range<Element: FixedWidthInteger & UnsignedInteger>(
        _ values: [Element], slope: UInt64
    ) -> (base: UInt64, width: Int) {
        var (low, high) = (Int64.max, Int64.min)
        var line: UInt64 = 0
        for value in values {
            let distance = Int64(truncatingIfNeeded: UInt64(truncatingIfNeeded: value) &- line &>> fractionBits)
            low = Swift.min(low, distance)
            high = Swift.max(high, distance)
            line &+= slope
        }
        if low > high { return (0, 0) }
        return (UInt64(bitPattern: low), 64 - (UInt64(bitPattern: high) &- UInt64(bitPattern: low)).leadingZeroBitCount)
    }

    /// Puts a value at an index where the piece has too few bits for it: the same line, and a range that holds all that the former did, so that a piece is packed anew
    /// no more than 64 times, whatever is set.
    @inlinable mutating func widen(_ count: Int, setting value: UInt64, at index: Int) {
        let former = self
        let distance = Int64(bitPattern: value &- Self.rise(slope, index))
        let lowest = Int64(bitPattern: base)
        let (highest, overflows) = lowest.addingReportingOverflow(Int64(truncatingIfNeeded: Self.mask(width)))
        // A range of all 64 bits already holds whatever there is, so that it does not come here; one that wraps is made one of all.
        let isWhole = overflows || width == 64
        let low = isWhole ? Int64.min : Swift.min(lowest, distance)
        let high = isWhole ? Int64.max : Swift.max(highest, distance)
        let width = 64 - (UInt64(bitPattern: high) &- UInt64(bitPattern: low)).leadingZeroBitCount
        self = PackedPiece(count, base: UInt64(bitPattern: low), slope: slope, width: width) { $0 == index ? value : former[$0] }
    }

    /// The values, in order.
    @inlinable func values<Element: FixedWidthInteger & UnsignedInteger>(_ count: Int) -> [Element] {
        var values: [Element] = []
        values.reserveCapacity(count)
        let (base, slope, width) = (self.base, self.slope, self.width)
        let mask = Self.mask(width)
        var line: UInt64 = 0
        var bit = Self.headerCount << 6
        for _ in 0..<count {
            var distance: UInt64 = 0
            if width > 0 {
                let offset = bit & 63
                distance = words[bit >> 6] &>> UInt64(truncatingIfNeeded: offset)
                if offset &+ width > 64 { distance |= words[bit >> 6 &+ 1] &<< UInt64(truncatingIfNeeded: 64 &- offset) }
            }
            values.append(Element(truncatingIfNeeded: base &+ line &>> Self.fractionBits &+ distance & mask))
            bit &+= width
            line &+= slope
        }
        return values
    }
}
