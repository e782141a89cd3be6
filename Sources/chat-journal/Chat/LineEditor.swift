#if Client || canImport(SQLite3)
    import ChatDomain

    /// A text that is being written, with a cursor between its characters.
    struct LineEditor: Equatable {
        /// The largest text of a message, in bytes; more is not taken.
        private static let byteLimit = MessageBody.maximumByteCount

        /// The characters before the cursor and after it.
        private(set) var before = ""
        private(set) var after = ""

        var text: String { before + after }
        var isEmpty: Bool { before.isEmpty && after.isEmpty }

        /// Replaces the text; the cursor is at its end.
        mutating func set(_ text: String) { (before, after) = (text, "") }

        /// Inserts text at the cursor; a text that is too long stays as it is.
        mutating func insert(_ text: String) {
            guard before.utf8.count + after.utf8.count + text.utf8.count <= Self.byteLimit else { return }
            before += text
        }

        /// Handles a key; returns whether it is one of a text.
        mutating func handle(_ key: Key) -> Bool {
            switch key {
            case .character(let character): insert(String(character))
            // Line ends of other systems become line feeds.
            case .paste(let text): insert(String(text.map { $0 == "\r" || $0 == "\r\n" ? "\n" : $0 }))
            case .alt("\n"): insert("\n")
            case .backspace: if !before.isEmpty { before.removeLast() }
            case .delete: if !after.isEmpty { after.removeFirst() }
            case .left, .control("b"): move(toLeft: 1)
            case .right, .control("f"): moveToRight()
            case .home, .control("a"): (before, after) = ("", text)
            case .end, .control("e"): (before, after) = (text, "")
            case .alt("b"): move(toLeft: wordBefore)
            case .control("w"): before.removeLast(wordBefore)
            case .control("u"): before = ""
            case .control("k"): after = ""
            default: return false
            }
            return true
        }

        private mutating func move(toLeft count: Int) {
            let moved = before.suffix(count)
            after = moved + after
            before.removeLast(moved.count)
        }

        private mutating func moveToRight() { if !after.isEmpty { before.append(after.removeFirst()) } }

        /// The number of characters from the beginning of the word before the cursor.
        private var wordBefore: Int {
            let reversed = before.reversed()
            let spaces = reversed.prefix { $0.isWhitespace }.count
            return spaces + reversed.dropFirst(spaces).prefix { !$0.isWhitespace }.count
        }

        /// Returns the part of the text around the cursor on one line, and the column of the cursor.
        func shown(width: Int) -> (text: String, cursor: Int) {
            var left = TextLayout.plainLine(of: before, width: .max)
            let most = max(0, width - 1)
            while left.displayWidth > most, !left.isEmpty { left.removeFirst() }
            let column = left.displayWidth
            return (left + TextLayout.plainLine(of: after, width: max(0, width - column)), column)
        }
    }
#endif
