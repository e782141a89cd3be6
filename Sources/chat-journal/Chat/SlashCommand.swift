#if Client || canImport(SQLite3)
    /// What can be done with a line that begins with a slash.
    enum SlashCommand: String, CaseIterable, Sendable {
        case threads, inbox, outbox, directory, members
        case join, leave, open, dm, postcode, name
        case reply, react, unreact, edit, retract, report, unread
        case block, unblock, notify
        case retry, withdraw, connect
        case help, quit
        case signOut = "sign-out"

        /// Whether the command can need an answer of the server; the others work without a network.
        var asksServer: Bool { [.join, .dm, .block, .unblock].contains(self) }

        /// What follows the name, and what the command does.
        var form: (arguments: String, help: String) {
            switch self {
            case .threads: ("", "show your threads; also Esc")
            case .inbox: ("", "show your inbox")
            case .outbox: ("", "show what waits, and what was rejected and why")
            case .directory: ("", "show the threads that everybody finds")
            case .members: ("", "show the members of this thread")
            case .join: ("THREAD", "join a thread, by its name or outward code")
            case .leave: ("", "leave this thread")
            case .open: ("NAME", "open a thread that everybody can join who knows it")
            case .dm: ("NAME, ...", "open a direct thread with people of your threads")
            case .postcode: ("POSTCODE", "set your postcode, and join the thread of your outward code")
            case .name: ("NAME", "change your name")
            case .reply: ("[TEXT]", "answer the selected message, or show its replies")
            case .react:
                (
                    "EMOJI",
                    "react to the selected message; an emoji, :name:, or one of \(Self.emoji.keys.sorted().joined(separator: " "))"
                )
            case .unreact: ("EMOJI", "take a reaction back")
            case .edit: ("[TEXT]", "replace the text of your selected or last message")
            case .retract: ("", "take your selected or last message back")
            case .report: ("REASON", "report the selected message to the moderators")
            case .unread: ("", "mark the thread as unread from the selected message")
            case .block: ("[NAME]", "block a person, or the author of the selected message")
            case .unblock: ("[NAME]", "unblock a person")
            case .notify: ("all|mentions|none", "what of this thread counts as unread")
            case .retry: ("", "send the selected message again, which was rejected")
            case .withdraw: ("", "take a message back that was not sent, or was rejected")
            case .connect: ("", "try to connect now")
            case .help: ("", "show this help; also F1, or ? in an empty line")
            case .quit: ("", "end; also Ctrl-C. What waits is sent at the next start")
            case .signOut: ("", "end the session, and remove the local copy from this machine")
            }
        }

        /// Finds the command of a line, and what follows it; nil if it begins with no slash, or
        /// with two.
        ///
        /// - Throws: `ArgumentError` for a name that no command has.
        static func parse(_ line: String) throws(ArgumentError) -> (command: SlashCommand, argument: String)? {
            guard line.hasPrefix("/"), !line.hasPrefix("//") else { return nil }
            let word = line.dropFirst().prefix { !$0.isWhitespace }
            guard let command = SlashCommand(rawValue: String(word)) else {
                throw ArgumentError("There is no command /\(word). See /help.")
            }
            return (command, line.dropFirst(word.count + 1).trimmingPrefix(while: \.isWhitespace).description)
        }

        /// The emoji that have short names.
        static let emoji = ["+1": "👍", "-1": "👎", "heart": "❤️", "joy": "😂", "tada": "🎉", "wave": "👋", "eyes": "👀"]

        /// The keys, for the help.
        static let keys: [(key: String, help: String)] = [
            ("Enter", "send the line; in a list, open the entry; on a selected message, show its replies"),
            ("Alt-Enter", "a new line in the message"),
            ("Up, Down", "select a message or an entry"),
            ("PageUp, PageDown", "scroll; further up, earlier messages are loaded"),
            ("Home, End", "the first and the last message, if the line is empty"),
            ("Ctrl-N", "the next thread with unread messages"),
            ("Esc", "back"),
        ]
    }
#endif
