import Chat

/// The command-line tool: parses, runs one command, and turns its outcome into an exit status.
@main
struct Tool {
    /// 0 done; 1 some input was refused or the journal is at fault; 64 wrong usage.
    static func main() async {
        SystemIO.openStandardStreams()
        SystemIO.ignoreBrokenPipes()
        SystemIO.endOnQuit()
        SystemIO.exit(await status())
    }

    private static func status() async -> Int32 {
        var output = StandardOutput()
        do {
            let isClean: Bool
            switch try spec.parse(try SystemIO.arguments()) {
            case .help(let text):
                try output.write(text)
                isClean = true
            case .command(let name, let arguments):
                guard let command = commands.first(where: { $0.spec.name == name }) else {
                    preconditionFailure("the command \(name) is declared and not there")
                }
                try SystemIO.requireDescriptors()
                // The first timer takes descriptors, and a process that cannot have them is killed: taken while they are free.
                try await Task.sleep(for: .nanoseconds(1))
                isClean = try await command.run(arguments, &output)
            }
            try output.flush()
            return isClean ? 0 : 1
        } catch let error as UsageError {
            StandardError.writeLine("\(ToolSpec.name): \(error)")
            return UsageError.exitStatus
        } catch let error as LookupError {
            StandardError.writeLine("\(ToolSpec.name): \(error)")
            return 1
        } catch let error as ToolError {
            if !error.isQuiet { StandardError.writeLine("\(ToolSpec.name): \(error)") }
            return error.exitStatus
        } catch {
            // What was answered before the fault stays answered.
            do { try output.flush() } catch { StandardError.writeLine("\(ToolSpec.name): \(error)") }
            StandardError.writeLine("\(ToolSpec.name): \(visible("\(error)"))")
            return 1
        }
    }

    /// Every command, in the order of the help.
    static let commands: [Command] = [
        .run, .import, .threads, .timeline, .replies, .message, .members, .readers, .residents, .user, .access, .activity, .events, .verify,
        .head, .stats, .export, .backup, .repair,
    ]

    static let spec = ToolSpec(
        abstract: "Keeps, shows and checks an event-sourced chat journal.", commands: commands.map(\.spec))
}

/// A command of the tool: what it takes, and what it does.
struct Command: Sendable {
    let spec: CommandSpec
    /// Does it; returns whether nothing was refused or at fault.
    let run: @Sendable (Arguments, inout StandardOutput) async throws -> Bool
}

extension CommandSpec.Positional {
    static let journal = CommandSpec.Positional("JOURNAL", "the directory of the journal")
    static let thread = CommandSpec.Positional("THREAD", "an id, an outward code, or a name")
    static let user = CommandSpec.Positional("USER", "an id, or a username")
}

extension CommandSpec.Option {
    static let json = CommandSpec.Option("json", .flag, "print one JSON object a line")
    static let limit = CommandSpec.Option("limit", .text("N"), "at most so many, 50 unless given")
    static let before = CommandSpec.Option("before", .text("P"), "only what stands before position P")
    static let after = CommandSpec.Option("after", .text("P"), "only what stands after position P, the earliest first")
    static let asOf = CommandSpec.Option(
        "as-of", .text("P|TIME"),
        "as it was after position P, or at a time: 2026-11-21T05:03:12.123Z, with or without the fraction, the seconds or an offset, or a date, which is its first moment; UTC unless it says otherwise"
    )
    static let viewer = CommandSpec.Option("viewer", .text("USER"), "as this user may see it")
    static let durability = CommandSpec.Option(
        "durability", .choice(["synced", "written"]), "answer once the disk has it (synced, the default) or the operating system (written)")
    static let waitForLock = CommandSpec.Option(
        "wait-for-lock", .text("SECONDS"), "wait up to so many seconds, 0 unless given, while another process writes to the journal")
}
