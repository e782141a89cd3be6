extension String {
    /// The columns that the text takes on a terminal, approximately: the sum of its characters' columns.
    ///
    /// Terminals differ where Unicode leaves the width open (category Ambiguous) and for emoji in text presentation; there a table may
    /// be off by a column.
    var displayWidth: Int {
        utf8.allSatisfy { $0 < 0x80 } ? utf8.count : reduce(0) { $0 + $1.columns }
    }
}

extension Character {
    /// The columns of one grapheme cluster: 2 for emoji shown as pictures, flags and the wide blocks of East Asian scripts, 0 for a mark
    /// that has nothing to stand on but what comes before the text, else 1.
    ///
    /// The blocks are those whose scalars are W or F in Unicode's EastAsianWidth.txt (UAX #11), each taken whole.
    fileprivate var columns: Int {
        guard let first = unicodeScalars.first else { return 0 }
        if first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch first.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19,
            0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF, 0x20000...0x3FFFD:
            return 2
        default:
            break
        }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: return 1
        }
    }
}
