/// What one command of the tool takes, from which both its parsing and its help come.
struct CommandSpec: Sendable {
    /// An argument that is known by its place.
    struct Positional: Sendable {
        /// The name in the help and in messages, in capitals: `JOURNAL`.
        let name: String
        /// What it is, in a phrase.
        let help: String
        /// Whether it may be left out; only the last ones may.
        let isOptional: Bool

        /// A positional argument, which must be given unless it is optional.
        init(_ name: String, _ help: String, isOptional: Bool = false) {
            self.name = name
            self.help = help
            self.isOptional = isOptional
        }
    }

    /// An argument that is known by its name, `--name`.
    struct Option: Sendable {
        /// What stands after the name.
        enum Value: Sendable, Equatable {
            /// Nothing: the option is there or is not.
            case flag
            /// Any text, called by this name in the help.
            case text(String)
            /// One of these words.
            case choice([String])
        }

        /// The name without its two hyphens.
        let name: String
        /// What stands after the name.
        let value: Value
        /// What it does, in a phrase.
        let help: String

        /// An option of the given kind.
        init(_ name: String, _ value: Value, _ help: String) {
            self.name = name
            self.value = value
            self.help = help
        }

        /// The option as the help shows it: `--limit N`.
        var usage: String {
            switch value {
            case .flag: "--\(name)"
            case .text(let valueName): "--\(name) \(valueName)"
            case .choice(let words): "--\(name) \(words.joined(separator: "|"))"
            }
        }
    }

    /// The word that names the command.
    let name: String
    /// What the command does, in a phrase.
    let abstract: String
    /// The positional arguments in their order.
    let positionals: [Positional]
    /// The options in the order of the help; `--help` is understood without being named.
    let options: [Option]
    /// What the help says after the options; may be empty.
    let discussion: String

    /// A command; the positionals that may be left out come last, and no name occurs twice.
    init(_ name: String, _ abstract: String, positionals: [Positional], options: [Option] = [], discussion: String = "") {
        precondition(Set(options.map(\.name)).count == options.count, "\(name): an option is declared twice")
        let firstOptional = positionals.firstIndex { $0.isOptional } ?? positionals.endIndex
        precondition(positionals[firstOptional...].allSatisfy(\.isOptional), "\(name): optional positionals come last")
        self.name = name
        self.abstract = abstract
        self.positionals = positionals
        self.options = options
        self.discussion = discussion
    }
}

/// The tool as a whole: its commands.
struct ToolSpec: Sendable {
    /// The name of the executable.
    static let name = "chat-journal"

    /// What the tool is, in a phrase.
    let abstract: String
    /// The commands in the order of the help.
    let commands: [CommandSpec]
}

/// A command line that the tool does not understand: reported in one sentence, with exit status 64.
struct UsageError: Error, Equatable, CustomStringConvertible {
    /// The exit status for wrong usage: `EX_USAGE` of `sysexits.h`.
    static let exitStatus: Int32 = 64

    /// What is wrong; arguments in it have been made visible.
    let message: String
    /// The command whose help may be of use, if one was recognised.
    let command: String?

    /// An error, within a command if one was recognised.
    init(_ message: String, command: String? = nil) {
        self.message = message
        self.command = command
    }

    /// The message and where to find help, for people.
    var description: String {
        "\(message)\nSee '\(ToolSpec.name) \(command.map { $0 + " " } ?? "")--help'."
    }
}
