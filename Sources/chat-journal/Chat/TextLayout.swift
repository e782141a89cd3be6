#if Client || canImport(SQLite3)
    import ChatDomain

    /// Text of users as lines of a screen: nothing in it is hidden, controls the terminal, or is
    /// wider than its line.
    enum TextLayout {
        private static let tabWidth = 4
        /// More scalars than these in one character are marks upon marks.
        private static let mostScalars = 16

        /// A piece of text that is not divided, and its columns.
        private struct Piece {
            var text: String
            var columns: Int
            var isSpace: Bool
        }

        /// Returns the lines of a text: broken at line feeds, else at the last space of a line,
        /// else between characters.
        ///
        /// A line with right-to-left text is isolated, so that it moves no text beside it.
        ///
        /// - Parameters:
        ///   - text: Any text.
        ///   - width: The columns of a line; below 2, a wide character becomes `?`.
        static func lines(of text: String, width: Int) -> [String] {
            let width = max(1, width)
            return text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }.flatMap {
                wrapped(pieces(of: $0), width)
            }
        }

        /// Returns a text as one line of at most `width` columns; what does not fit ends in `…`.
        static func line(of text: String, width: Int) -> String { isolated(plainLine(of: text, width: width)) }

        /// Returns the line of a text that is not isolated, such as one in which a cursor stands.
        static func plainLine(of text: String, width: Int) -> String {
            guard width > 0 else { return "" }
            let all = pieces(of: text.replacing("\r\n", with: "↵").replacing("\n", with: "↵")[...])
            guard all.reduce(0, { $0 + $1.columns }) > width else { return all.map(\.text).joined() }
            var result = ""
            var left = width - 1
            for piece in all {
                if piece.columns > left { break }
                left -= piece.columns
                result += piece.text
            }
            return result + "…"
        }

        private static func wrapped(_ pieces: [Piece], _ width: Int) -> [String] {
            var lines: [String] = []
            var line: [Piece] = []
            var columns = 0
            func text(_ pieces: some Sequence<Piece>) -> String { isolated(pieces.map(\.text).joined()) }
            for var piece in pieces {
                if piece.columns > width { piece = Piece(text: "?", columns: 1, isSpace: false) }
                if piece.isSpace, columns + piece.columns > width {
                    // The space is the end of the line.
                    lines.append(text(line))
                    (line, columns) = ([], 0)
                    continue
                }
                // Twice, if what follows the last space is too wide with the piece.
                while columns + piece.columns > width {
                    let end = line.lastIndex(where: \.isSpace).map { $0 + 1 } ?? line.count
                    lines.append(text(line[..<end]))
                    line.removeSubrange(..<end)
                    columns = line.reduce(0) { $0 + $1.columns }
                }
                line.append(piece)
                columns += piece.columns
            }
            return lines + [text(line)]
        }

        private static func pieces(of text: Substring) -> [Piece] {
            var pieces: [Piece] = []
            var column = 0
            func add(_ character: Character) {
                pieces.append(Piece(text: String(character), columns: character.columns, isSpace: character == " "))
                column += character.columns
            }
            for character in text {
                if character == "\t" {
                    for _ in 0..<(tabWidth - column % tabWidth) { add(" ") }
                } else {
                    for shown in visible(character) { add(shown) }
                }
            }
            return pieces
        }

        /// Returns what is shown of a character: itself, its escapes, or the parts of a joined
        /// emoji, which terminals draw alike.
        private static func visible(_ character: Character) -> String {
            if let byte = character.asciiValue, (0x20..<0x7F).contains(byte) { return String(character) }
            var scalars = character.unicodeScalars
            if scalars.count > 1, scalars.first?.properties.isEmoji == true {
                scalars = scalars.filter { $0 != "\u{200D}" }
            }
            if scalars.count > mostScalars { scalars = String.UnicodeScalarView(scalars.prefix(mostScalars)) }
            let text = escapedForTerminal(String(scalars), keepsBackslashes: true)
            // A mark without a base would join what is before it.
            return text.first?.columns == 0 ? "\u{25CC}" + text : text
        }

        /// Isolates a line with right-to-left text (UAX #9: FSI and PDI); users' own marks are
        /// escaped before.
        private static func isolated(_ line: String) -> String {
            line.utf8.allSatisfy { $0 < 0x80 } || !line.unicodeScalars.contains(where: \.isRightToLeft)
                ? line : "\u{2068}\(line)\u{2069}"
        }
    }

    extension Unicode.Scalar {
        /// Whether the scalar is in a block of right-to-left scripts: Hebrew, Arabic, Syriac and
        /// their neighbours.
        fileprivate var isRightToLeft: Bool {
            switch value {
            case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFE, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
            default: false
            }
        }
    }
#endif
