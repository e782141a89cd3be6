import ChatTesting
import TestSupport
import Testing

@testable import ChatDomain

@Suite struct CaseFoldingTests {
    /// Lines of CaseFolding.txt with the statuses C and F, in file order: a scalar and its folding.
    static let examples: [(UInt32, [UInt32])] = [
        (0x0041, [0x0061]), (0x005A, [0x007A]), (0x00B5, [0x03BC]), (0x00C0, [0x00E0]), (0x00DE, [0x00FE]),
        (0x00DF, [0x0073, 0x0073]),
        (0x0100, [0x0101]), (0x0130, [0x0069, 0x0307]), (0x0149, [0x02BC, 0x006E]), (0x0178, [0x00FF]),
        (0x017F, [0x0073]),
        (0x01C4, [0x01C6]), (0x01C5, [0x01C6]), (0x01F0, [0x006A, 0x030C]), (0x0345, [0x03B9]),
        (0x0390, [0x03B9, 0x0308, 0x0301]),
        (0x03A3, [0x03C3]), (0x03C2, [0x03C3]), (0x03D0, [0x03B2]), (0x03F4, [0x03B8]), (0x0410, [0x0430]),
        (0x0587, [0x0565, 0x0582]),
        (0x10A0, [0x2D00]), (0x13F8, [0x13F0]), (0x13FD, [0x13F5]), (0x1C80, [0x0432]), (0x1C88, [0xA64B]),
        (0x1C90, [0x10D0]),
        (0x1E96, [0x0068, 0x0331]), (0x1E9A, [0x0061, 0x02BE]), (0x1E9B, [0x1E61]), (0x1E9E, [0x0073, 0x0073]),
        (0x1F50, [0x03C5, 0x0313]), (0x1F80, [0x1F00, 0x03B9]), (0x1F88, [0x1F00, 0x03B9]),
        (0x1FB7, [0x03B1, 0x0342, 0x03B9]),
        (0x1FBE, [0x03B9]), (0x1FE4, [0x03C1, 0x0313]), (0x2126, [0x03C9]), (0x212A, [0x006B]), (0x212B, [0x00E5]),
        (0x2160, [0x2170]),
        (0x24B6, [0x24D0]), (0xA64A, [0xA64B]), (0xAB70, [0x13A0]), (0xABBF, [0x13EF]), (0xFB00, [0x0066, 0x0066]),
        (0xFB03, [0x0066, 0x0066, 0x0069]), (0xFB05, [0x0073, 0x0074]), (0xFB17, [0x0574, 0x056D]), (0xFF21, [0xFF41]),
        (0x10400, [0x10428]), (0x104B0, [0x104D8]), (0x118A0, [0x118C0]), (0x16E40, [0x16E60]), (0x1E900, [0x1E922]),
    ]

    @Test(arguments: examples)
    func foldingsMatchStandard(_ value: UInt32, _ folding: [UInt32]) throws {
        // Strings compare by canonical equivalence, and not all foldings of the file are in form D.
        #expect(CaseFolding.key(of: try text([value])) == (try text(folding)))
    }

    @Test(arguments: [0x0131, 0x13A0, 0x13F0, 0x00E9, 0x0061, 0x0307, 0x10D0, 0x4E00, 0x1F986, 0xAC01] as [UInt32])
    func scalarsWithoutFoldingStayUnchanged(_ value: UInt32) throws {
        #expect(CaseFolding.key(of: try text([value])) == (try text([value])))
    }

    /// Pairs that Foundation's composition maps to the same scalar.
    @Test(arguments: [(0x10041, 0x41), (0x10045, 0x45), (0x20061, 0x61), (0x100A8, 0xA8)] as [(UInt32, UInt32)])
    func scalarsBeyondBasicPlaneStayDistinct(_ wide: UInt32, _ narrow: UInt32) throws {
        let key = CaseFolding.key(of: try text([wide, 0x301]))
        #expect(key.unicodeScalars.map(\.value) == [wide, 0x301])
        #expect(key != CaseFolding.key(of: try text([narrow, 0x301])))
    }

    @Test func orderOfMarksIsIrrelevant() throws {
        let marks = try [
            text([0x3B1, 0x345, 0x301]), text([0x3B1, 0x301, 0x345]), text([0x3AC, 0x345]), text([0x1FB4]),
            text([0x391, 0x301, 0x345]),
        ]
        #expect(Set(marks.map { Array(CaseFolding.key(of: $0).utf8) }) == [Array("\u{3B1}\u{301}\u{3B9}".utf8)])
    }

    @Test func foldingIsIdempotent() {
        for value in UInt32(0)...0x1FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let key = CaseFolding.key(of: String(scalar))
            guard !key.unicodeScalars.elementsEqual(CollectionOfOne(scalar)) else { continue }
            #expect(CaseFolding.key(of: key).utf8.elementsEqual(key.utf8), "U+\(String(value, radix: 16))")
        }
    }

    @Test func keysIgnoreCaseAndComposition() {
        var random = SeededRandom(seed: Repetitions.seed)
        let scalars: [Unicode.Scalar] = [
            "a", "I", "\u{E9}", "\u{C5}", "\u{301}", "\u{323}", "\u{345}", "\u{390}", "\u{3A3}", "\u{1FB7}", "\u{DF}",
            "\u{FB03}",
            "\u{13A0}",
            "\u{AB70}", "\u{AC01}", "\u{1100}", "\u{1161}", "\u{10041}", "\u{10400}", "\u{1D165}", "\u{1F986}",
        ]
        for _ in 0..<2000 {
            let text = random.text(of: scalars, count: 0...12)
            let key = CaseFolding.key(of: text)
            #expect(
                CaseFolding.key(of: key).utf8.elementsEqual(key.utf8),
                "\(text.debugDescription), seed \(Repetitions.seed)")
            // Upper-casing moves the capital iota of a combining U+0345 before the other marks, so
            // these texts are excluded.
            if !text.unicodeScalars.contains("\u{345}"), !text.unicodeScalars.contains("\u{1FB7}") {
                let upper = String(
                    String.UnicodeScalarView(
                        text.unicodeScalars.flatMap { Array($0.properties.uppercaseMapping.unicodeScalars) }))
                #expect(
                    CaseFolding.key(of: upper).utf8.elementsEqual(key.utf8),
                    "\(text.debugDescription), seed \(Repetitions.seed)")
            }
        }
    }

    private func text(_ values: [UInt32]) throws -> String {
        var scalars = String.UnicodeScalarView()
        for value in values { scalars.append(try #require(Unicode.Scalar(value))) }
        return String(scalars)
    }
}
