#if Client || canImport(SQLite3)
    /// How text looks; without colours, the other styles remain.
    struct TextStyle: OptionSet, Hashable, Sendable {
        let rawValue: UInt8

        static let bold = TextStyle(rawValue: 1)
        static let dim = TextStyle(rawValue: 2)
        static let reverse = TextStyle(rawValue: 4)
        static let red = TextStyle(rawValue: 8)
        static let green = TextStyle(rawValue: 16)
        static let yellow = TextStyle(rawValue: 32)
        static let cyan = TextStyle(rawValue: 64)

        private static let codes: [(style: TextStyle, code: String)] = [
            (.bold, "1"), (.dim, "2"), (.reverse, "7"), (.red, "31"), (.green, "32"), (.yellow, "33"), (.cyan, "36"),
        ]
        private static let colours: TextStyle = [.red, .green, .yellow, .cyan]

        /// Returns the sequence that begins the style after the default one (ECMA-48 SGR); empty
        /// for none.
        func sequence(hasColours: Bool) -> String {
            let style = hasColours ? self : subtracting(Self.colours)
            let codes = Self.codes.filter { style.contains($0.style) }.map(\.code)
            return codes.isEmpty ? "" : "\u{1b}[\(codes.joined(separator: ";"))m"
        }
    }

    /// A line of a screen: parts of text, each in a style, that together are not wider than the
    /// screen.
    struct StyledLine: Equatable, Sendable {
        struct Part: Equatable, Sendable {
            var text: String
            var style: TextStyle
        }

        var parts: [Part]

        init(_ text: String = "", _ style: TextStyle = []) {
            parts = text.isEmpty ? [] : [Part(text: text, style: style)]
        }

        /// The text without styles.
        var text: String { parts.map(\.text).joined() }

        static func + (line: StyledLine, other: StyledLine) -> StyledLine {
            var line = line
            line.parts += other.parts
            return line
        }

        /// Returns a line with text at its left and its right; the right one goes first if there is
        /// no room.
        static func justified(_ left: String, _ right: String, width: Int, _ style: TextStyle = []) -> StyledLine {
            let right = right.displayWidth * 2 > width ? "" : TextLayout.line(of: right, width: width)
            let shown = TextLayout.line(of: left, width: max(0, width - right.displayWidth - (right.isEmpty ? 0 : 1)))
            let gap = String(repeating: " ", count: max(0, width - shown.displayWidth - right.displayWidth))
            return StyledLine(shown + gap + right, style)
        }

        /// Returns the text with the sequences of its styles.
        func rendered(hasColours: Bool) -> String {
            parts.map { part in
                let style = part.style.sequence(hasColours: hasColours)
                return style.isEmpty ? part.text : "\(style)\(part.text)\u{1b}[0m"
            }.joined()
        }
    }
#endif
