/// The arguments of one command, checked against its spec.
///
/// To ask for a name that the spec does not declare is an error of the program, not of its user, and stops it.
struct Arguments: Equatable {
    private let command: String
    private let positionals: [String: String]
    private let values: [String: String]
    private let flags: Set<String>
    private let declared: Set<String>

    /// The positional argument of this name, which the spec says must be given.
    subscript(positional name: String) -> String {
        guard let value = self[optional: name] else { preconditionFailure("\(command): \(name) may be left out") }
        return value
    }

    /// The positional argument of this name, or nil if it was left out.
    subscript(optional name: String) -> String? {
        precondition(declared.contains(name), "\(command): no argument \(name) is declared")
        return positionals[name]
    }

    /// The value of an option, or nil if it was left out.
    subscript(option name: String) -> String? {
        precondition(declared.contains("--" + name), "\(command): no option \(name) is declared")
        return values[name]
    }

    /// Whether a flag was given.
    func has(_ flag: String) -> Bool {
        precondition(declared.contains("--" + flag), "\(command): no flag \(flag) is declared")
        return flags.contains(flag)
    }

    /// The value of an option as a whole number in decimal digits, or nil if it was left out.
    ///
    /// - Throws: `UsageError` if it is anything else or out of bounds.
    func integer<T: FixedWidthInteger>(_ name: String, in bounds: ClosedRange<T>) throws(UsageError) -> T? {
        guard let text = self[option: name] else { return nil }
        guard text.first != "+", let value = T(text), bounds.contains(value) else {
            throw error("--\(name) takes a whole number from \(bounds.lowerBound) to \(bounds.upperBound), not '\(visible(text))'")
        }
        return value
    }

    /// An error of this command, for what only the command itself can see.
    func error(_ message: String) -> UsageError {
        UsageError(message, command: command)
    }
}

extension Arguments {
    /// Parses what follows the command's name.
    ///
    /// `--name value` and `--name=value` are the same; a value that begins with two hyphens needs the second form. `--` ends the
    /// options. A single `-` is a positional argument; a positional that begins with a hyphen stands after `--`.
    ///
    /// - Throws: `UsageError` for an option that is unknown or repeated or lacks its value, a flag with a value, a word that is not
    ///   among an option's choices, and positionals too many or missing.
    init(_ arguments: [String], of spec: CommandSpec) throws(UsageError) {
        var places: [String] = []
        var values: [String: String] = [:]
        var flags: Set<String> = []
        func error(_ message: String) -> UsageError { UsageError(message, command: spec.name) }

        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                places += rest
                break
            }
            guard argument.hasPrefix("-"), argument != "-" else {
                places.append(argument)
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let option = spec.options.first(where: { parts[0] == "--\($0.name)" }) else {
                throw error("unknown option '\(visible(String(parts[0])))'")
            }
            let given = parts.count == 2 ? String(parts[1]) : nil
            guard values[option.name] == nil, !flags.contains(option.name) else { throw error("--\(option.name) is given twice") }
            if option.value == .flag {
                guard given == nil else { throw error("--\(option.name) takes no value") }
                flags.insert(option.name)
                continue
            }
            let following = rest.first.flatMap { $0.hasPrefix("--") ? nil : $0 }
            guard let value = given ?? following else { throw error("\(option.usage): the value is missing") }
            if given == nil { rest.removeFirst() }
            if case .choice(let words) = option.value, !words.contains(value) {
                throw error("--\(option.name) takes \(words.joined(separator: " or ")), not '\(visible(value))'")
            }
            values[option.name] = value
        }

        if places.count > spec.positionals.count {
            throw error("'\(visible(places[spec.positionals.count]))' is one argument too many")
        }
        if let missing = spec.positionals.dropFirst(places.count).first(where: { !$0.isOptional }) {
            throw error("\(missing.name) is missing: \(missing.help)")
        }
        self.command = spec.name
        self.positionals = Dictionary(uniqueKeysWithValues: zip(spec.positionals.map(\.name), places))
        self.values = values
        self.flags = flags
        self.declared = Set(spec.positionals.map(\.name) + spec.options.map { "--" + $0.name })
    }
}

/// What a command line asks for.
enum Invocation: Equatable {
    /// A help text, to be printed on standard output with status 0.
    case help(String)
    /// A command, by its name, with its arguments.
    case command(String, Arguments)
}

extension ToolSpec {
    /// Parses the arguments of the process, without its own name.
    ///
    /// `--help` or `-h` anywhere before `--` asks for the help of the command, or without one for that of the tool.
    ///
    /// - Throws: `UsageError` if there is no command or an unknown one, and what `Arguments` throws.
    func parse(_ arguments: [String]) throws(UsageError) -> Invocation {
        let asksForHelp = arguments.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
        guard let first = arguments.first, !(asksForHelp && first.hasPrefix("-")) else {
            if asksForHelp { return .help(help) }
            throw UsageError("a command is missing")
        }
        guard let command = commands.first(where: { $0.name == first }) else {
            throw UsageError("unknown command '\(visible(first))'")
        }
        if asksForHelp { return .help(help(for: command)) }
        return .command(command.name, try Arguments(Array(arguments.dropFirst()), of: command))
    }
}
