#if Client || canImport(SQLite3)
    import ChatDomain

    /// A text that is being written, with a cursor between its characters.
    struct LineEditor: Equatable {
        /// The largest text of a message, in bytes; more is not taken.
        private static let byteLimit = MessageBody.maximumByteCount

        /// What a key has done.
        enum Effect {
            case done
            /// The text stays as it was, because it would be too long.
            case tooLong
            /// The key is none of a text.
            case none
        }

        /// The characters before the cursor and after it.
        private(set) var before = ""
        private(set) var after = ""

        var text: String { before + after }
        var isEmpty: Bool { before.isEmpty && after.isEmpty }

        /// Replaces the text; the cursor is at its end.
        mutating func set(_ text: String) { (before, after) = (text, "") }

        /// Inserts text at the cursor.
        private mutating func insert(_ text: String) -> Effect {
            guard before.utf8.count + after.utf8.count + text.utf8.count <= Self.byteLimit else { return .tooLong }
            before += text
            return .done
        }

        /// Handles a key.
        mutating func handle(_ key: Key) -> Effect {
            switch key {
            case .character(let character): return insert(String(character))
            // Line ends of other systems become line feeds.
            case .paste(let text): return insert(String(text.map { $0 == "\r" || $0 == "\r\n" ? "\n" : $0 }))
            case .alt("\n"): return insert("\n")
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
            default: return .none
            }
            return .done
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

        /// Returns the part of the text around the cursor on one line, and the column of the
        /// cursor.
        func shown(width: Int) -> (text: String, cursor: Int) {
            // Each character takes a column at least: of a long text, no others can be seen.
            let seen = max(0, width)
            let left = TextLayout.plainLine(of: String(before.suffix(seen)), width: .max)
            var (start, column) = (left.endIndex, 0)
            while start > left.startIndex {
                let previous = left.index(before: start)
                guard column + left[previous].columns < max(1, width) else { break }
                column += left[previous].columns
                start = previous
            }
            let right = TextLayout.plainLine(of: String(after.prefix(seen + 1)), width: max(0, width - column))
            return (left[start...] + right, column)
        }
    }
#endif
