extension ToolSpec {
    /// The help of the tool: what it is, and each command with its abstract.
    var help: String {
        """
        \(abstract)

        Usage: \(Self.name) COMMAND JOURNAL ...

        Commands:
        \(HelpLayout.list(commands.map { ($0.name, $0.abstract) }))

        '\(Self.name) COMMAND --help' tells what a command takes.
        Exit status: 0 done; 1 some input was refused or the journal is at fault; 64 wrong usage.

        """
    }

    /// The help of one command: its usage, positional arguments and options.
    func help(for command: CommandSpec) -> String {
        let places = command.positionals.map { $0.isOptional ? "[\($0.name)]" : $0.name }
        let usage = ([Self.name, command.name] + places + ["[--option ...]"]).joined(separator: " ")
        let options = command.options.map { ($0.usage, $0.help) } + [("--help", "print this help")]
        var text = "\(command.abstract)\n\nUsage: \(usage)\n"
        if !command.positionals.isEmpty {
            text += "\nArguments:\n\(HelpLayout.list(command.positionals.map { ($0.name, $0.help) }))\n"
        }
        text += "\nOptions:\n\(HelpLayout.list(options))\n"
        if !command.discussion.isEmpty { text += "\n\(command.discussion)\n" }
        return text
    }
}

/// The layout of help texts.
private enum HelpLayout {
    /// A term over this many characters stands on a line of its own.
    private static let widestTerm = 24

    /// Terms and their explanations in two columns.
    static func list(_ items: [(term: String, explanation: String)]) -> String {
        let width = items.map(\.term.count).filter { $0 <= widestTerm }.max() ?? 0
        return items.map { item in
            let gap = width - item.term.count
            if gap >= 0 { return "  \(item.term)\(String(repeating: " ", count: gap))  \(item.explanation)" }
            return "  \(item.term)\n  \(String(repeating: " ", count: width))  \(item.explanation)"
        }.joined(separator: "\n")
    }
}
