#if Client || canImport(SQLite3)
    import ChatDomain
    import ChatValues

    /// The people whom a text mentions.
    enum Mentions {
        /// Finds the people whose whole names follow an @, of several the one with the longest
        /// name.
        ///
        /// An @ after a letter or a digit begins no name, so that an e-mail address mentions no
        /// user.
        ///
        /// - Parameter people: The people who can be mentioned, with their present names.
        static func find(in text: String, among people: some Sequence<UserSummary>) -> [UserID] {
            guard text.contains("@") else { return [] }
            var users: [Int: [String: UserID]] = [:]
            for person in people {
                if let name = person.username { users[name.count, default: [:]][Username.foldKey(name)] = person.id }
            }
            let lengths = users.keys.sorted(by: >)
            var found: [UserID] = []
            var rest = text[...]
            while let at = rest.firstIndex(of: "@"), found.count < MessageBody.maximumMentionCount {
                let isInWord = at > text.startIndex && isOfWord(text[text.index(before: at)])
                rest = rest[text.index(after: at)...]
                guard !isInWord else { continue }
                for length in lengths {
                    guard let end = rest.index(rest.startIndex, offsetBy: length, limitedBy: rest.endIndex),
                        end == rest.endIndex || !isOfWord(rest[end]),
                        let user = users[length]?[Username.foldKey(String(rest[..<end]))]
                    else { continue }
                    if !found.contains(user) { found.append(user) }
                    rest = rest[end...]
                    break
                }
            }
            return found
        }

        /// Whether an @ of a text can begin a name.
        static func canMention(_ text: String) -> Bool { text.contains(/(?:^|[^\p{L}\p{N}_])@[\p{L}\p{N}]/) }

        private static func isOfWord(_ character: Character) -> Bool {
            character.isLetter || character.isNumber || character == "_"
        }
    }
#endif
