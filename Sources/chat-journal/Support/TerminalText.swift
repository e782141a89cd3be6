import ChatDomain

/// Text from users for a terminal: nothing in it is hidden or controls the terminal.
///
/// A backslash is doubled, so that the output can be read back in one way only; then
/// - newline, carriage return and tab become `\n`, `\r` and `\t`;
/// - every other invisible scalar (`altersTerminal`) becomes its Swift escape, for example `\u{1b}`
///   for ESC: lower-case hexadecimal without leading zeros.
///
/// Everything else is kept. Complexity: linear in the length of the text.
///
/// - Parameter keepsBackslashes: Whether a backslash stays as it is, on a screen that is not read
///   back.
func escapedForTerminal(_ text: String, keepsBackslashes: Bool = false) -> String {
    let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }
    if isPlain { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\\" where !keepsBackslashes: result.append(contentsOf: #"\\"#.unicodeScalars)
        case "\n": result.append(contentsOf: #"\n"#.unicodeScalars)
        case "\r": result.append(contentsOf: #"\r"#.unicodeScalars)
        case "\t": result.append(contentsOf: #"\t"#.unicodeScalars)
        case _ where scalar.altersTerminal:
            result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
        default: result.append(scalar)
        }
    }
    return String(result)
}

extension String {
    /// The columns that the text takes on a terminal, approximately: the sum of its characters'
    /// columns.
    ///
    /// Terminals differ where Unicode leaves the width open (category Ambiguous) and for emoji in
    /// text presentation. There a table may be off by a column.
    var displayWidth: Int { utf8.allSatisfy { $0 < 0x80 } ? utf8.count : reduce(0) { $0 + $1.columns } }
}

extension Character {
    /// The columns of one grapheme cluster: 2 for emoji pictures, flags and the wide East Asian
    /// blocks, 0 for a mark without a base, else 1.
    ///
    /// The blocks are those whose scalars are W or F in Unicode's EastAsianWidth.txt (UAX #11),
    /// each taken whole.
    var columns: Int {
        guard let first = unicodeScalars.first else { return 0 }
        if first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch first.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE10...0xFE19,
            0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF, 0x20000...0x3FFFD:
            return 2
        default:
            break
        }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return 1
        }
    }
}

/// A table for people: a line of headings and a line for each row, in aligned columns.
///
/// All cells pass through `escapedForTerminal`, so a row is always one line. The table is held in
/// memory to compute its widths: it is for pages of results, not for a whole journal.
struct Table {
    /// The alignment of a column: left for text, right for numbers.
    enum Alignment { case left, right }

    /// A column with its heading.
    struct Column {
        let title: String
        let alignment: Alignment

        init(_ title: String, _ alignment: Alignment = .left) {
            self.title = title
            self.alignment = alignment
        }
    }

    private static let gap = "  "
    private let columns: [Column]
    private var rows: [[String]] = []

    /// An empty table.
    init(_ columns: [Column]) { self.columns = columns }

    /// Adds a row with one cell for each column.
    mutating func append(_ cells: [String]) {
        precondition(cells.count == columns.count, "a row has one cell for each column")
        rows.append(cells.map { escapedForTerminal($0) })
    }

    /// The lines of the table, each with a line feed; only the headings if there are no rows.
    ///
    /// The last column is not padded.
    func render() -> String {
        let lines = [columns.map(\.title)] + rows
        let widths = columns.indices.map { column in lines.map { $0[column].displayWidth }.max() ?? 0 }
        return lines.map { cells in
            let padded = columns.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - cells[column].displayWidth)
                switch columns[column].alignment {
                case .right: return padding + cells[column]
                case .left: return column == columns.indices.last ? cells[column] : cells[column] + padding
                }
            }
            return padded.joined(separator: Self.gap) + "\n"
        }.joined()
    }
}
