import ChatTesting
import TestSupport
import Testing

@testable import Columns

@Suite struct PackedColumnTests {
    /// Compares a packed column with an array: appends and changes numbers of every shape, across
    /// the bounds of pieces.
    @Test(arguments: Seeds.seeds(Repetitions.few(2, of: 12))) func packedColumnEqualsArray(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        try isAList(UInt64.self, .short, &random)
        try isAList(UInt32.self, .long, &random)
        try isAList(UInt8.self, .short, &random)
    }

    private func isAList<Element: FixedWidthInteger & UnsignedInteger & PlainElement>(
        _: Element.Type, _ pieces: PackedColumn<Element>.PieceLength, _ random: inout SeededRandom
    ) throws {
        let shape = Shape<Element>(&random)
        var column = PackedColumn<Element>(pieceLength: pieces)
        var list: [Element] = []
        let piece = 1 << pieces.rawValue
        #expect(column.isEmpty && column.last == nil)
        for count in [1, 2, piece - 1, piece, piece + 1, piece * 3 + Int.random(in: 0..<piece, using: &random)] {
            while list.count < count {
                let value = shape.next(list.last, &random)
                column.append(value)
                list.append(value)
            }
            expect(column, is: list)
            let former = (column, list)
            for _ in 0..<200 {
                let index = Int.random(in: list.indices, using: &random)
                let value = shape.change(list[index], &random)
                column[index] = value
                list[index] = value
            }
            expect(column, is: list)
            expect(former.0, is: former.1)
            #expect((former.0 == column) == (former.1 == list))
            // The same numbers, packed at once.
            var other = PackedColumn<Element>(pieceLength: pieces)
            for value in list { other.append(value) }
            #expect(other == column)
            let read = try Bytes(column).read(pieces, atMost: count) as PackedColumn<Element>
            #expect(read == column)
            expect(read, is: list)
        }
    }

    private func expect<Element: FixedWidthInteger & UnsignedInteger & PlainElement>(
        _ column: PackedColumn<Element>, is list: [Element]
    ) {
        #expect(column.count == list.count && column.indices == list.indices && column.last == list.last)
        #expect(column.indices.map { column[$0] } == list)
        var pieces: [Element] = []
        column.forEachPiece { pieces += $0 }
        #expect(pieces == list)
    }

    /// The sequence of the numbers in a list.
    private enum Shape<Element: FixedWidthInteger & UnsignedInteger> {
        case constant(Element), ascending(by: Element), below(Element), any

        init(_ random: inout SeededRandom) {
            let bound =
                Element.random(in: 1 ... .max, using: &random)
                >> Element.random(in: 0..<Element(Element.bitWidth), using: &random)
            switch Int.random(in: 0...3, using: &random) {
            case 0: self = .constant(bound)
            case 1: self = .ascending(by: bound)
            case 2: self = .below(Swift.max(1, bound))
            default: self = .any
            }
        }

        func next(_ last: Element?, _ random: inout SeededRandom) -> Element {
            switch self {
            case .constant(let value): value
            // Overflow wraps, so that the sequence restarts near 0 in the middle of a piece.
            case .ascending(let step): (last ?? 0) &+ Element.random(in: 0...step, using: &random)
            case .below(let bound): Element.random(in: 0..<bound, using: &random)
            case .any:
                Element.random(in: 0 ... .max, using: &random)
                    >> Element.random(in: 0..<Element(Element.bitWidth), using: &random)
            }
        }

        /// Returns a plausible value for the same place, or sometimes a distant one.
        func change(_ value: Element, _ random: inout SeededRandom) -> Element {
            switch Int.random(in: 0...20, using: &random) {
            case 0: Shape.any.next(nil, &random)
            case 1: random.oneIn(2) ? .max : 0
            case 2...5: value ^ 1
            default: next(value, &random)
            }
        }
    }

    /// Bounds the bits per number for ascending, small and equal numbers.
    @Test func regularNumbersTakeFewBits() {
        let count = 1 << 14
        let start = 1 << 40
        let steady = (0..<count).map { (index: Int) -> UInt64 in UInt64(start + 17 * index) }
        #expect(PackedPiece(steady).width <= 1)
        let nearlySteady = (0..<count).map { (index: Int) -> UInt64 in UInt64(start + 17 * index + index % 5) }
        #expect(PackedPiece(nearlySteady).width == 3)
        let small = (0..<count).map { (index: Int) -> UInt32 in UInt32(index * 7 % 2_000) }
        #expect(PackedPiece(small).width == 11)
        #expect(PackedPiece([UInt32](repeating: .max, count: count)).words.count == PackedPiece.headerCount)
        #expect(PackedPiece([UInt64.max, 0]).width == 1)
        #expect(PackedPiece([UInt64.max, .max / 2, 0]).width == 64)
    }

    /// A piece is repacked at most 64 times for any changes, so that the amortised cost equals that
    /// of a change.
    @Test(arguments: Seeds.seeds(3)) func repackingIsBounded(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var piece = PackedPiece([UInt64](repeating: 1 << 40, count: 256))
        var times = 0
        for _ in 0..<5_000 {
            let index = Int.random(in: 0..<256, using: &random)
            let value = random.next() >> UInt64.random(in: 0..<64, using: &random)
            if !piece.set(value, at: index) {
                piece.widen(256, setting: value, at: index)
                times += 1
            }
            #expect(piece[index] == value)
        }
        #expect((1...64).contains(times))
    }

    /// Forged bytes are rejected, or give a list that can be read and changed at any index.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 8))) func forgedBytesAreRejectedOrValid(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var column = PackedColumn<UInt32>(pieceLength: .short)
        for _ in 0..<Int.random(in: 0...1_500, using: &random) {
            column.append(UInt32.random(in: 0...99, using: &random))
        }
        let bytes = Bytes(column).bytes
        for _ in 0..<400 {
            var forged = bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let offset =
                    random.oneIn(2)
                    ? Int.random(in: forged.indices, using: &random)
                    : Int.random(in: 0..<min(60, forged.count), using: &random)
                forged[offset] = [0, 1, 64, 65, 127, 255].randomElement(using: &random) ?? 0
            }
            guard var read = try? Bytes(forged).read(.short, atMost: 2_000) as PackedColumn<UInt32> else { continue }
            #expect(read.count <= 2_000)
            for index in read.indices { _ = read[index] }
            read.forEachPiece { _ = $0.count }
            for index in read.indices {
                let value = random.oneIn(3) ? UInt32.max : UInt32(index)
                read[index] = value
                #expect(read[index] == value)
            }
            for value in 0..<600 { read.append(UInt32(value)) }
            #expect(read.last == 599)
        }
        for count in 0..<bytes.count {
            #expect(throws: ColumnError.self) {
                try Bytes(Array(bytes.prefix(count))).read(.short, atMost: 2_000) as PackedColumn<UInt32>
            }
        }
    }

    /// A few bytes can claim too many numbers, because a piece of equal numbers has only a header.
    @Test func excessiveCountIsRejected() throws {
        var column = PackedColumn<UInt32>()
        for _ in 0..<1 << 15 { column.append(7) }
        let bytes = Bytes(column)
        #expect(bytes.bytes.count == 8 + 2 * (4 + 16))
        #expect(throws: ColumnError.self) { try bytes.read(.long, atMost: 1 << 15 - 1) as PackedColumn<UInt32> }
        #expect(try bytes.read(.long, atMost: 1 << 15) as PackedColumn<UInt32> == column)
    }

    @Test func boundsAndOrderAreChecked() throws {
        var column = PackedColumn<UInt32>(pieceLength: .short)
        for number in 0..<1_000 { column.append(UInt32(number)) }
        try column.check(below: 1_000)
        try column.check(ascendingTo: 999)
        #expect(throws: ColumnError.self) { try column.check(below: 999) }
        #expect(throws: ColumnError.self) { try column.check(ascendingTo: 998) }
        column[300] = 298
        #expect(throws: ColumnError.self) { try column.check(ascendingTo: 999) }
        try PackedColumn<UInt32>().check(below: 0)
        try PackedColumn<UInt32>().check(ascendingTo: 0)
    }

    /// The digest depends on the numbers, not on how they were packed.
    @Test func digestIsIndependentOfPacking() {
        var changed = PackedColumn<UInt32>(pieceLength: .short)
        var direct = PackedColumn<UInt32>(pieceLength: .short)
        for number in 0..<600 {
            changed.append(number == 9 ? .max : 3)
            direct.append(3)
        }
        changed[9] = 3
        #expect(Bytes(changed).bytes != Bytes(direct).bytes)
        #expect(Bytes(changed, isCanonical: true).bytes == Bytes(direct, isCanonical: true).bytes)
    }
}
