/// A table for people: a line of headings and a line for each row, in aligned columns.
///
/// All cells pass through `visible`, so a row is one line whatever users have written. The table is held in memory to know its widths:
/// it is for pages of results, not for a whole journal.
struct Table {
    /// Where the text of a column stands.
    enum Alignment {
        /// Text.
        case left
        /// Numbers.
        case right
    }

    /// A column with its heading.
    struct Column {
        /// The heading.
        let title: String
        /// Where the heading and the cells stand.
        let alignment: Alignment

        /// A column, for text unless otherwise said.
        init(_ title: String, _ alignment: Alignment = .left) {
            self.title = title
            self.alignment = alignment
        }
    }

    private static let gap = "  "
    private let columns: [Column]
    private var rows: [[String]] = []

    /// An empty table.
    init(_ columns: [Column]) {
        self.columns = columns
    }

    /// Adds a row with one cell for each column.
    mutating func append(_ cells: [String]) {
        precondition(cells.count == columns.count, "a row has one cell for each column")
        rows.append(cells.map(visible))
    }

    /// The lines of the table, each ended by a line feed; only the headings if there are no rows.
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
