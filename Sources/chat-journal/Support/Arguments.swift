/// The tool as a whole: its commands, from which both the parsing and the help come.
struct ToolSpec: Sendable {
    /// The name of the executable.
    static let name = "chat-journal"
    /// The version of the tool and of the libraries in it: the newest one of CHANGELOG.md.
    static let version = "0.1.0-dev"

    /// The purpose of the tool, in one sentence.
    let abstract: String
    /// The commands in the order of the help.
    let commands: [CommandSpec]
}

/// The arguments and the help of one command.
struct CommandSpec: Sendable {
    /// An argument that is identified by its place.
    struct Positional: Sendable {
        /// The name in the help and in messages, in capitals: `JOURNAL`.
        let name: String
        /// The help, a phrase.
        let help: String
        /// Whether it may be omitted; only the last ones may.
        let isOptional: Bool

        init(_ name: String, _ help: String, isOptional: Bool = false) {
            self.name = name
            self.help = help
            self.isOptional = isOptional
        }
    }

    /// An argument that is identified by its name, `--name`.
    struct Option: Sendable {
        /// What follows the name.
        enum Value: Sendable, Equatable {
            /// Nothing: the option is given or not.
            case flag
            /// Any text, called by this name in the help.
            case text(String)
            /// One of these words.
            case choice([String])
            /// Any text; the option can be given several times.
            case list(String)
        }

        /// The name without its two hyphens.
        let name: String
        /// What follows the name.
        let value: Value
        /// The help, a phrase.
        let help: String

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
            case .list(let valueName): "--\(name) \(valueName)..."
            case .choice(let words): "--\(name) \(words.joined(separator: "|"))"
            }
        }
    }

    /// The word that names the command.
    let name: String
    /// The purpose of the command, a phrase.
    let abstract: String
    /// The positional arguments in their order.
    let positionals: [Positional]
    /// The options in the order of the help, without `--help`.
    let options: [Option]
    /// The text of the help after the options; may be empty.
    let discussion: String

    init(
        _ name: String, _ abstract: String, positionals: [Positional], options: [Option] = [], discussion: String = ""
    ) {
        self.name = name
        self.abstract = abstract
        self.positionals = positionals
        self.options = options
        self.discussion = discussion
    }
}

/// A command line that the tool does not understand: one message, and exit status 64.
struct UsageError: Error, Equatable, CustomStringConvertible {
    /// The exit status for wrong usage: `EX_USAGE` of `sysexits.h`.
    static let exitStatus: Int32 = 64

    /// The description of the error; arguments in it are made visible.
    let message: String
    /// The command whose help explains the error, if one was recognised.
    let command: String?

    init(_ message: String, command: String? = nil) {
        self.message = message
        self.command = command
    }

    /// The message and where to find help.
    var description: String { "\(message)\nSee '\(ToolSpec.name) \(command.map { $0 + " " } ?? "")--help'." }
}

/// The journal of a server has stopped while it was served.
struct StoppedWhileServing: Error, CustomStringConvertible {
    /// `EX_TEMPFAIL` of `sysexits.h`: another start can succeed.
    static let exitStatus: Int32 = 75

    /// The error of the journal.
    let description: String
}

/// An argument that names no thread or user, or several, or a file that is wrong: exit status 1.
struct ArgumentError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// The error of a path that may lead through links, and is one itself.
    init(symbolicLink path: String) {
        self.init("\(path): a symbolic link, which is not followed; name what it points to")
    }
}

// MARK: Parsing

/// The request of a command line.
enum Invocation: Equatable {
    /// A text for standard output, with status 0: a help or the version.
    case text(String)
    /// A command, by its name, with its arguments.
    case command(String, Arguments)
}

extension ToolSpec {
    /// Parses the arguments of the process, without its own name.
    ///
    /// `--help` or `-h` anywhere before `--` asks for the help of the command, or without a command
    /// for that of the tool; so does `help` before the command. `--version` in the first place asks
    /// for the version.
    ///
    /// - Throws: `UsageError` if the command is missing or unknown, and what `Arguments` throws.
    func parse(_ arguments: [String]) throws(UsageError) -> Invocation {
        if arguments.first == "help" { return try parse(arguments.drop { $0 == "help" } + ["--help"]) }
        let asksForHelp = arguments.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
        guard let first = arguments.first, !(asksForHelp && first.hasPrefix("-")) else {
            if asksForHelp { return .text(help) }
            throw UsageError("a command is missing")
        }
        if first == "--version" { return .text("\(Self.name) \(Self.version)\n") }
        guard let command = commands.first(where: { $0.name == first }) else {
            throw UsageError("unknown command '\(escapedForTerminal(first))'")
        }
        if asksForHelp { return .text(help(for: command)) }
        return .command(command.name, try Arguments(Array(arguments.dropFirst()), of: command))
    }
}

/// The arguments of one command, checked against its spec.
///
/// A name that the spec does not declare is a programming error.
struct Arguments: Equatable {
    private let command: String
    /// By name: positionals in capitals, options with two hyphens, the empty string for a flag.
    private var values: [String: String] = [:]
    /// By name: the values of the options that can be given several times.
    private var lists: [String: [String]] = [:]
    private let declared: Set<String>

    /// Parses the arguments after the command's name.
    ///
    /// `--name value` and `--name=value` are the same; a value that begins with two hyphens needs
    /// the second form. `--` ends the options. A single `-` is a positional argument; a positional
    /// that begins with a hyphen follows `--`.
    ///
    /// - Throws: `UsageError` for an option that is unknown, repeated or lacks its value, a flag
    ///   with a value, a word that is not among an option's choices, and too many or too few
    ///   positionals.
    init(_ arguments: [String], of spec: CommandSpec) throws(UsageError) {
        command = spec.name
        declared = Set(spec.positionals.map(\.name) + spec.options.map { "--" + $0.name })
        var positionals: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                positionals += rest
                break
            }
            if argument == "-" || !argument.hasPrefix("-") {
                positionals.append(argument)
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let name = parts[0]
            guard let option = spec.options.first(where: { name == "--" + $0.name }) else {
                throw error("unknown option '\(escapedForTerminal(name))'")
            }
            guard values[name] == nil else { throw error("\(name) is given twice") }
            let given = parts.count == 2 ? parts[1] : nil
            if option.value == .flag {
                guard given == nil else { throw error("\(name) takes no value") }
                values[name] = ""
                continue
            }
            let next = rest.first.flatMap { $0.hasPrefix("--") ? nil : $0 }
            guard let value = given ?? next else { throw error("\(option.usage): the value is missing") }
            if given == nil { rest.removeFirst() }
            if case .choice(let words) = option.value, !words.contains(value) {
                throw error("\(name) takes \(words.joined(separator: " or ")), not '\(escapedForTerminal(value))'")
            }
            if case .list = option.value { lists[name, default: []].append(value) } else { values[name] = value }
        }
        if positionals.count > spec.positionals.count {
            throw error("'\(escapedForTerminal(positionals[spec.positionals.count]))' is one argument too many")
        }
        if let missing = spec.positionals.dropFirst(positionals.count).first(where: { !$0.isOptional }) {
            throw error("\(missing.name) is missing: \(missing.help)")
        }
        for (positional, value) in zip(spec.positionals, positionals) { values[positional.name] = value }
    }

    /// A positional argument that is not optional.
    subscript(positional name: String) -> String {
        guard let value = self[optional: name] else { preconditionFailure("\(command): \(name) is optional") }
        return value
    }

    /// A positional argument, or nil if it was left out.
    subscript(optional name: String) -> String? { value(name) }

    /// The value of an option, or nil if it was left out.
    subscript(option name: String) -> String? { value("--" + name) }

    /// The values of an option that can be given several times, in their order.
    subscript(list name: String) -> [String] {
        precondition(declared.contains("--" + name), "\(command): --\(name) is not declared")
        return lists["--" + name] ?? []
    }

    /// Whether a flag was given.
    func hasFlag(_ flag: String) -> Bool { value("--" + flag) != nil }

    /// The value of an option as a whole number in decimal digits, or nil if it was left out.
    ///
    /// - Throws: `UsageError` for any other text, also for a sign, and for a number out of bounds.
    func integer<T: FixedWidthInteger>(_ name: String, in bounds: ClosedRange<T>) throws(UsageError) -> T? {
        guard let text = self[option: name] else { return nil }
        guard let value = T(decimalDigits: text), bounds.contains(value) else {
            let (least, most) = (bounds.lowerBound, bounds.upperBound)
            throw error("--\(name) takes a whole number from \(least) to \(most), not '\(escapedForTerminal(text))'")
        }
        return value
    }

    /// An error of this command, for what only the command itself can check.
    func error(_ message: String) -> UsageError { UsageError(message, command: command) }

    private func value(_ name: String) -> String? {
        precondition(declared.contains(name), "\(command): \(name) is not declared")
        return values[name]
    }
}

extension FixedWidthInteger {
    /// Reads a number of decimal digits and nothing else.
    init?(decimalDigits text: String) {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        self.init(text)
    }
}

// MARK: Help

extension ToolSpec {
    /// The help of the tool: its purpose, and each command with its abstract.
    var help: String {
        """
        \(abstract)

        Usage: \(Self.name) COMMAND JOURNAL ...

        Commands:
        \(Self.formatList(commands.map { ($0.name, $0.abstract) }))

        '\(Self.name) COMMAND --help' or '\(Self.name) help COMMAND' explains a command,
        '\(Self.name) --version' prints the version.
        Exit status: 0 done; 1 some input was rejected, or the journal is damaged or cannot be used; 64 wrong usage;
        65 the journal does not contain the head of '--head' or '--expect'; 75 the journal stopped while 'serve' served it.

        """
    }

    /// The help of one command: its usage, positional arguments and options.
    func help(for command: CommandSpec) -> String {
        let places = command.positionals.map { $0.isOptional ? "[\($0.name)]" : $0.name }
        let usage = ([Self.name, command.name] + places + ["[--option ...]"]).joined(separator: " ")
        let options = command.options.map { ($0.usage, $0.help) } + [("--help", "print this help")]
        var text = "\(command.abstract)\n\nUsage: \(usage)\n"
        if !command.positionals.isEmpty {
            text += "\nArguments:\n\(Self.formatList(command.positionals.map { ($0.name, $0.help) }))\n"
        }
        text += "\nOptions:\n\(Self.formatList(options))\n"
        if !command.discussion.isEmpty { text += "\n\(command.discussion)\n" }
        return text
    }

    /// Terms and their explanations in two columns; a term wider than 24 characters has a line of
    /// its own.
    private static func formatList(_ items: [(term: String, explanation: String)]) -> String {
        let width = items.map(\.term.count).filter { $0 <= 24 }.max() ?? 0
        return items.map { item in
            let padding = String(repeating: " ", count: max(0, width - item.term.count))
            let lineBreak = item.term.count > width ? "\n" + String(repeating: " ", count: width + 2) : ""
            return "  \(item.term)\(padding)\(lineBreak)  \(item.explanation)"
        }.joined(separator: "\n")
    }
}
