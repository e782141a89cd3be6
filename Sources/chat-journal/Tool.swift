import Chat

/// The command-line tool: parses the arguments, runs one command, and ends with its exit status.
@main
struct Tool {
    /// Ends with 0: done; 1: some input was rejected, or the journal is damaged or cannot be used;
    /// 64: wrong usage; 65: the log lacks a head that it had; 75: the journal stopped while it was
    /// served.
    static func main() async {
        SystemIO.openStandardStreams()
        SystemIO.ignoreWriteSignals()
        SystemIO.restoreQuitSignal()
        SystemIO.exit(await status())
    }

    private static func status() async -> Int32 {
        var output = BufferedOutput()
        do {
            var isClean = true
            switch try spec.parse(try SystemIO.arguments()) {
            case .text(let text):
                try output.write(text)
            case .command(let name, let arguments):
                guard let command = commands.first(where: { $0.spec.name == name }) else {
                    preconditionFailure("the command \(name) has no implementation")
                }
                try SystemIO.requireDescriptors()
                // Starts the runtime's timer now: it opens descriptors, and if it could not later,
                // the process would end without a message.
                try await Task.sleep(for: .nanoseconds(1))
                isClean = try await command.run(arguments, &output)
            }
            try output.flush()
            return isClean ? 0 : 1
        } catch let error as UsageError {
            report("\(error)")
            return UsageError.exitStatus
        } catch let error as RollbackError {
            report("\(error)")
            return RollbackError.exitStatus
        } catch {
            // Answers from before the error are printed; after an error of the output itself
            // nothing is left to print.
            do { try output.flush() } catch { reportUnlessClosed(error) }
            reportUnlessClosed(error)
            return error is StoppedWhileServing ? StoppedWhileServing.exitStatus : 1
        }
    }

    /// Reports an error, unless the reader of the output has closed it.
    private static func reportUnlessClosed(_ error: any Error) {
        switch error {
        case let error as ToolError: if !error.endsSilently { report("\(error)") }
        default: report(escapedForTerminal("\(error)"))
        }
    }

    private static func report(_ message: String) { StandardError.writeLine("\(ToolSpec.name): \(message)") }

    /// Every command, in the order of the help.
    static let commands: [ToolCommand] =
        [
            .demo, .run, .import, .setPolicy, .threads, .directory, .timeline, .replies, .message, .members, .readers,
            .residents, .user, .access, .activity,
        ] + ToolCommand.community + [
            .events, .verify, .head, .checkpoint, .prove, .checkProof, .tiles, .evidence, .checkEvidence, .stats,
            .export, .backup, .copy, .erase, .correctClock, .repair, .serve, .openapi, .chat,
        ]

    static let spec = ToolSpec(
        abstract: "Writes, shows and checks an event-sourced chat journal.", commands: commands.map(\.spec))
}
