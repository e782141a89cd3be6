#if Client || canImport(SQLite3)
    /// The lines of a screen of a size, and where its cursor is.
    struct ScreenFrame: Equatable {
        var lines: [StyledLine]
        /// From 0; nil while there is no line to write.
        var cursor: (row: Int, column: Int)?

        static func == (a: ScreenFrame, b: ScreenFrame) -> Bool {
            a.lines == b.lines && a.cursor?.row == b.cursor?.row && a.cursor?.column == b.cursor?.column
        }

        /// Lays a state out: the title, the content, the status and the line that is written; the
        /// last ones first if there is no room.
        init(_ state: ScreenState, _ size: Terminal.Size) {
            let (rows, width) = (max(1, size.rows), max(1, size.columns))
            lines = []
            if rows >= 4 {
                lines.append(.justified(" \(state.title)", "\(state.hint) ", width: width, [.bold, .reverse]))
            }
            lines += Self.content(state.content, rows: Self.contentRows(of: size), width: width)
            if rows >= 2 { lines.append(.justified(" \(state.status)", "", width: width, state.statusStyle)) }
            if let question = state.question {
                lines.append(StyledLine(TextLayout.line(of: question, width: width), .bold))
                return
            }
            let prompt = width >= 8 ? TextLayout.plainLine(of: state.prompt, width: width / 2) : ""
            let input = state.editor.shown(width: width - prompt.displayWidth)
            lines.append(StyledLine(prompt, .bold) + StyledLine(input.text))
            cursor = (rows - 1, min(width - 1, prompt.displayWidth + input.cursor))
        }

        /// The number of rows between the title and the status.
        static func contentRows(of size: Terminal.Size) -> Int {
            size.rows >= 4 ? size.rows - 3 : max(0, size.rows - 2)
        }

        private static func content(_ content: ScreenContent, rows: Int, width: Int) -> [StyledLine] {
            var lines: [StyledLine]
            switch content {
            case .posts(let list):
                lines = PostLayout(list, rows: rows, width: width).visible.map(\.line)
                if list.posts.isEmpty { lines = text(list.empty, width) }
                // Few posts stand above the line that is written.
                if lines.count < rows { lines = Array(repeating: StyledLine(), count: rows - lines.count) + lines }
            case .list(let entries, let selected, let empty):
                let first = max(0, min((selected ?? 0) - rows / 2, entries.count - rows))
                lines = entries.enumerated().dropFirst(first).prefix(rows).map { index, row in
                    let mark = index == selected ? "▶ " : "  "
                    return .justified(
                        mark + row.text, row.detail, width: width,
                        index == selected ? row.style.union(.bold) : row.style)
                }
                if entries.isEmpty { lines = text(empty, width) }
            }
            return Array((lines + Array(repeating: StyledLine(), count: max(0, rows - lines.count))).prefix(rows))
        }

        private static func text(_ text: String, _ width: Int) -> [StyledLine] {
            TextLayout.lines(of: text, width: width).map { StyledLine($0, .dim) }
        }
    }
#endif
