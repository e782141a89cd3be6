import Testing

@testable import chat_journal

@Suite struct ArgumentsTests {
    private let run = CommandSpec(
        "run", "Runs commands.",
        positionals: [.init("JOURNAL", "the journal"), .init("FILE", "the commands", isOptional: true)],
        options: [
            .init("durability", .choice(["synced", "written"]), "when a command is answered"),
            .init("batch", .text("N"), "commands in one commit"), .init("json", .flag, "print JSON lines"),
        ], discussion: "More about it.")
    private var tool: ToolSpec { ToolSpec(abstract: "A chat.", commands: [run]) }

    private func parsed(_ arguments: String...) throws -> Arguments {
        guard case .command("run", let result) = try tool.parse(["run"] + arguments) else {
            throw UsageError("no command")
        }
        return result
    }

    private func failure(_ arguments: [String]) -> UsageError? {
        do {
            _ = try tool.parse(arguments)
            return nil
        } catch { return error }
    }

    @Test func positionalsAndOptions() throws {
        let arguments = try parsed("--json", "J", "--batch", "-5", "--durability=written", "-")
        #expect(arguments[positional: "JOURNAL"] == "J")
        #expect(arguments[optional: "FILE"] == "-")
        #expect(arguments[option: "batch"] == "-5")
        #expect(arguments[option: "durability"] == "written")
        #expect(arguments.hasFlag("json"))
        let bare = try parsed("J")
        #expect(bare[optional: "FILE"] == nil)
        #expect(bare[option: "batch"] == nil)
        #expect(!bare.hasFlag("json"))
    }

    @Test func valuesWithHyphensAndEqualsSigns() throws {
        #expect(try parsed("J", "--batch=--x=y")[option: "batch"] == "--x=y")
        #expect(try parsed("J", "--batch=")[option: "batch"] == "")
        #expect(try parsed("--", "--json", "--")[positional: "JOURNAL"] == "--json")
        #expect(try parsed("--", "--json", "--")[optional: "FILE"] == "--")
        #expect(try !parsed("J", "--", "--help").hasFlag("json"))
    }

    @Test(arguments: [
        (["run", "J", "--colour"], "unknown option '--colour'"), (["run", "J", "-j"], "unknown option '-j'"),
        (["run", "J", "--bat", "1"], "unknown option '--bat'"),
        (["run", "J", "--json", "--json"], "--json is given twice"),
        (["run", "J", "--batch", "1", "--batch=1"], "--batch is given twice"),
        (["run", "J", "--batch"], "--batch N: the value is missing"),
        (["run", "J", "--batch", "--json"], "--batch N: the value is missing"),
        (["run", "J", "--json=yes"], "--json takes no value"),
        (["run", "J", "--durability", "no\u{1b}ne"], #"--durability takes synced or written, not 'no\u{1b}ne'"#),
        (["run", "J", "F", "G\n"], #"'G\n' is one argument too many"#), (["run"], "JOURNAL is missing: the journal"),
    ])
    func wrongUsage(arguments: [String], message: String) {
        #expect(failure(arguments) == UsageError(message, command: "run"))
    }

    @Test(arguments: [
        ([], "a command is missing"), (["--json"], "unknown command '--json'"), (["walk"], "unknown command 'walk'"),
        (["help", "walk"], "unknown command 'walk'"), (["help", "walk", "run"], "unknown command 'walk'"),
    ])
    func noCommand(arguments: [String], message: String) {
        #expect(failure(arguments) == UsageError(message))
        #expect(UsageError.exitStatus == 64)
    }

    @Test(arguments: ["0", "101", "+5", "5 ", "", "1e2", "٣", "99999999999999999999", "-1", "0x10"])
    func integersOutOfBounds(text: String) throws {
        let arguments = try parsed("J", "--batch=\(text)")
        #expect(throws: UsageError("--batch takes a whole number from 1 to 100, not '\(text)'", command: "run")) {
            try arguments.integer("batch", in: 1...100)
        }
    }

    @Test func integers() throws {
        #expect(try parsed("J", "--batch=100").integer("batch", in: 1...100) == 100)
        #expect(try parsed("J", "--batch=\(UInt64.max)").integer("batch", in: 0...UInt64.max) == UInt64.max)
        // A sign is no digit, also where the number is within the bounds.
        for text in ["-0", "-7"] {
            #expect(throws: UsageError.self) { try parsed("J", "--batch", text).integer("batch", in: -7...7) }
        }
        #expect(try parsed("J").integer("batch", in: 1...100) == nil)
    }

    @Test(arguments: [["--help"], ["-h"], ["--help", "run"], ["help"], ["help", "help"], ["help", "--help"]])
    func helpOfTheTool(arguments: [String]) throws {
        guard case .text(let text) = try tool.parse(arguments) else {
            Issue.record("no help")
            return
        }
        #expect(text.contains("A chat."))
        #expect(text.contains("  run  Runs commands.\n"))
        #expect(text.contains("64 wrong usage"))
        #expect(text.contains("75 the journal stopped"))
    }

    @Test(arguments: [
        ["run", "--help"], ["run", "J", "--colour", "-h"], ["run", "a", "b", "c", "--help"], ["help", "run"],
        ["help", "run", "-h"],
    ])
    func helpOfACommand(arguments: [String]) throws {
        let expected = """
            Runs commands.

            Usage: chat-journal run JOURNAL [FILE] [--option ...]

            Arguments:
              JOURNAL  the journal
              FILE     the commands

            Options:
              --durability synced|written
                         when a command is answered
              --batch N  commands in one commit
              --json     print JSON lines
              --help     print this help

            More about it.

            """
        guard case .text(let text) = try tool.parse(arguments) else {
            Issue.record("no help")
            return
        }
        #expect(text == expected)
    }
}
