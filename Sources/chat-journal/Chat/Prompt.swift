#if Client || canImport(SQLite3)
    /// Asks the user at the terminal of the process.
    struct Prompt: ~Copyable {
        private static let lineLimit = 4_096

        private let terminal: Terminal
        private var lines: LineReader

        /// Opens the terminal.
        ///
        /// - Parameter instead: What to do without a terminal, for the error.
        init(orUse instead: String) throws(ArgumentError) {
            guard let terminal = Terminal() else {
                throw ArgumentError("there is no terminal to ask the user: \(instead)")
            }
            self.terminal = terminal
            lines = LineReader(
                descriptor: terminal.descriptor, owned: true, name: "the terminal", limit: Self.lineLimit)
        }

        /// Writes a line.
        func say(_ text: String) throws(ToolError) {
            try SystemIO.write(
                Array((escapedForTerminal(text) + "\n").utf8), to: terminal.descriptor, name: "the terminal")
        }

        /// Asks for a line of text.
        ///
        /// - Parameter isHidden: Whether what is typed is not shown.
        mutating func ask(_ question: String, isHidden: Bool = false) throws -> String {
            try SystemIO.write(
                Array("\(escapedForTerminal(question)): ".utf8), to: terminal.descriptor, name: "the terminal")
            if isHidden { try terminal.hideInput() }
            let line: LineReader.Line?
            do {
                defer { if isHidden { terminal.restore() } }
                line = try lines.next()
            }
            if isHidden { try say("") }
            guard case .bytes(let bytes)? = line, let text = String(validating: bytes, as: UTF8.self) else {
                throw ArgumentError("\(question): no line of text was typed")
            }
            return text
        }
    }
#endif
