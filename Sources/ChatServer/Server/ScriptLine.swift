#if Server
    /// A line of a script, of which strings, templates and regular expressions are known.
    enum ScriptLine {
        /// Returns a line without comments and without spaces that separate nothing; nil if a
        /// literal or a comment does not end on the line.
        static func compact(_ line: some StringProtocol) -> String? {
            var scanner = Scanner(Array(line))
            return scanner.scan() ? String(scanner.output) : nil
        }

        private struct Scanner {
            private let input: [Character]
            private var index = 0
            private(set) var output: [Character] = []
            /// The open braces of the code in each `${}`, innermost last.
            private var substitutions: [Int] = []

            init(_ input: [Character]) { self.input = input }

            /// Scans the line; false if something does not end on it.
            mutating func scan() -> Bool {
                while index < input.count {
                    let character = input[index]
                    switch character {
                    case "\"", "'":
                        guard copy(until: character) else { return false }
                    case "`":
                        take()
                        guard template() else { return false }
                    case "/":
                        let next = index + 1 < input.count ? input[index + 1] : " "
                        if next == "/" {
                            while output.last == " " { output.removeLast() }
                            return substitutions.isEmpty
                        }
                        if next == "*" { return false }
                        if isExpressionExpected {
                            guard copy(until: "/") else { return false }
                        } else {
                            take()
                        }
                    case "{":
                        if !substitutions.isEmpty { substitutions[substitutions.count - 1] += 1 }
                        take()
                    case "}":
                        take()
                        guard let depth = substitutions.last else { break }
                        if depth > 0 {
                            substitutions[substitutions.count - 1] -= 1
                        } else {
                            substitutions.removeLast()
                            guard template() else { return false }
                        }
                    case " ": space()
                    default: take()
                    }
                }
                return substitutions.isEmpty
            }

            private mutating func take() {
                output.append(input[index])
                index += 1
            }

            /// Copies a string or a regular expression; false if it does not end on the line.
            private mutating func copy(until end: Character) -> Bool {
                var isClass = false
                take()
                while index < input.count {
                    let character = input[index]
                    if character == "\\", index + 1 < input.count { take() }
                    if end == "/", character == "[" { isClass = true }
                    if end == "/", character == "]" { isClass = false }
                    take()
                    if character == end, !isClass { return true }
                }
                return false
            }

            /// Copies a template up to its end or to the code in it; false if it does not end on
            /// the line.
            private mutating func template() -> Bool {
                while index < input.count {
                    let character = input[index]
                    if character == "\\", index + 1 < input.count { take() }
                    take()
                    if character == "`" { return true }
                    if character == "$", index < input.count, input[index] == "{" {
                        take()
                        substitutions.append(0)
                        return true
                    }
                }
                return false
            }

            /// Copies spaces as one, and none beside a mark that separates by itself.
            private mutating func space() {
                while index < input.count, input[index] == " " { index += 1 }
                guard index < input.count, let last = output.last else { return }
                if !Self.separators.contains(last), !Self.separators.contains(input[index]) { output.append(" ") }
            }

            private static let separators: Set<Character> = [
                "{", "}", "(", ")", "[", "]", ",", ";", ":", "?", "=", "<", ">", "|", "&", "*",
            ]

            /// Whether a slash begins a regular expression, and is no division.
            private var isExpressionExpected: Bool {
                guard let last = output.last(where: { $0 != " " }) else { return true }
                if last == ")" || last == "]" { return false }
                guard last.isLetter || last.isNumber || last == "_" || last == "$" else { return true }
                let word = output.reversed().drop { $0 == " " }.prefix {
                    $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$"
                }
                return ["return", "typeof", "case", "of", "in", "await"].contains(String(word.reversed()))
            }
        }
    }
#endif
