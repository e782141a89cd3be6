import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Unusual environments: odd arguments, few or closed descriptors, signals, a journal that is
/// locked or removed.
@Suite struct EdgeTests {
    private static let ann = "0190a000-0000-7000-8000-0000000000a1"
    private static let register = #"{"registerUser":{"user":"\#(ann)","username":"Ann"}}"# + "\n"
    private static let resident = register + #"{"setPostcode":{"user":"\#(ann)","postcode":"SW1A 1AA"}}"# + "\n"

    /// A folder with a journal in it.
    private struct Journal {
        let folder: ToolProcess.Folder
        var path: String { folder.path + "/J" }

        init(_ commands: String = EdgeTests.register) throws {
            folder = try ToolProcess.Folder()
            #expect(try ToolProcess.run(["run", path], input: commands).status == 0)
        }

        func run(_ command: String, _ arguments: String..., input: String = "") throws -> ToolProcess.Outcome {
            try ToolProcess.run([command, path] + arguments, input: input)
        }

        /// Runs a shell script in which `$tool` is the tool and `$J` the journal.
        func shell(_ script: String) throws -> ToolProcess.Outcome {
            try ToolProcess.shell(
                #"tool=$1; J=$2; cd "$3"; \#(script)"#, [ToolProcess.executable.path, path, folder.path])
        }
    }

    // MARK: Arguments

    /// U+FFFD in place of the invalid byte would name another journal.
    @Test(arguments: [
        #""$tool" head "$(printf 'J\377')""#, #""$tool" run "$(printf 'new\377')" < /dev/null"#,
        #""$tool" timeline "$J" "$(printf '\300\257')""#, #""$tool" "$(printf 'head\200')" "$J""#,
    ]) func argumentThatIsNotUTF8IsWrongUsage(script: String) throws {
        let journal = try Journal()
        try FileManager.default.copyItem(atPath: journal.path, toPath: journal.path + "\u{FFFD}")
        let outcome = try journal.shell(script)
        #expect(outcome.status == 64, "\(outcome.output)\(outcome.error)")
        #expect(outcome.error.contains("is not UTF-8") && outcome.output == "", "\(outcome.error)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: journal.folder.path).sorted() == ["J", "J\u{FFFD}"])
    }

    /// The nearest `Double` of these numbers is another whole number.
    @Test(arguments: [
        "2.9999999999999999", "3.0000000000000001", "29999999999999999e-16", "1e-400", "0.9999999999999999999",
        "3.0000000000000000000000001e0",
        "1.0000000000000000000000000000001",
    ]) func numbersAreNotRounded(number: String) throws {
        let journal = try Journal(Self.resident)
        let line = #"{"markRead":{"user":"\#(Self.ann)","thread":"SW1A","upTo":\#(number)}}"#
        let outcome = try journal.run("run", input: line + "\n")
        #expect(outcome.status == 1)
        #expect(outcome.output.hasPrefix(#"{"line":1,"error":{"code":"invalidValue""#), "\(outcome.output)")
    }

    @Test(arguments: [
        "3", "3.0", "3e0", "0.3e1", "30e-1", "3.000000000000000000000000000000", "0.000000000000000000003E+21",
    ])
    func wholeNumbersMayHaveAnExponent(number: String) throws {
        let journal = try Journal(Self.resident)
        let line = #"{"markRead":{"user":"\#(Self.ann)","thread":"SW1A","upTo":\#(number)}}"#
        #expect(try journal.run("run", input: line + "\n").output.contains(#""upTo":3}"#))
    }

    @Test(arguments: ["3.9999999999999999", "4.0", "4e0", "+4", "-0", " 4", "٤"]) func optionsAreNotRounded(
        number: String
    ) throws {
        let journal = try Journal()
        for option in ["--limit", "--after", "--as-of"] {
            #expect(try journal.run("threads", option, number).status == 64, "\(option) \(number)")
        }
    }

    @Test(arguments: [
        "2026-11-22T14:46", "2026-11-22T14:46:00", "2026-11-22T14:46:00.0", "2026-11-22T14:46Z",
        "2026-11-22T16:46+02:00",
        "2026-11-22t14:46z",
    ]) func timeWithoutAZoneIsUTC(time: String) throws {
        let folder = try ToolProcess.Folder()
        let file = try folder.file(
            "chat", #"{"t":null,"channel":"SW1A","user":"Ann","id":"1","replyTo":null,"body":"Milk?"}"# + "\n")
        #expect(try ToolProcess.run(["import", folder.path + "/J", file]).status == 0)
        for arguments in [["--as-of", time], ["--from", time]] {
            let outcome = try ToolProcess.run(["threads", folder.path + "/J"] + arguments)
            #expect(outcome.status == 0, "\(outcome.error)")
        }
        // The lookup error shows the time that was read.
        let error = try ToolProcess.run(["user", folder.path + "/J", "Nobody", "--as-of", time]).error
        #expect(error.contains("unknownUser"), "\(error)")
    }

    @Test(arguments: [
        "2026-11-22T14", "2026-11-22T", "2026-11-22T14:46:", "2026-11-22T14:60", "2026-11-22T24:00", "2026-02-30T14:46",
        "2026-11-22T14:46+2",
        "2026-11-22 14:46", "2026-11-22T14:46.5", "2026-11-22T14:46:00ZZ", "22-11-2026T14:46", "2026-11-2", "", "T",
        "2026-11-22T14:46-",
        "2026-11-22T1\u{301}4:46",
    ]) func invalidTimesAreWrongUsage(time: String) throws {
        let journal = try Journal()
        for option in ["--as-of", "--from"] {
            #expect(try journal.run("threads", "\(option)=\(time)").status == 64, "\(option) \(time)")
        }
    }

    @Test func lookupErrorsAreEscapedOnce() throws {
        let journal = try Journal()
        for arguments in [["user", "a\tb\\\u{7}"], ["timeline", "a\tb\\\u{7}"], ["access", "a\tb\\\u{7}"]] {
            let error = try journal.run(arguments[0], arguments[1]).error
            #expect(error.contains(#"'a\tb\\\u{7}'"#) && error.contains("chat-journal: unknown"), "\(error)")
        }
    }

    // MARK: Surroundings

    /// A file that takes the descriptor of a closed stream would be read or written as that stream.
    @Test func closedStreamsAreNotReplacedByFiles() throws {
        let journal = try Journal()
        for (script, stream) in [
            (#""$tool" run "$J" <&-"#, "read standard input"),
            (#""$tool" run "$J" commands >&-"#, "write to standard output"),
            (#""$tool" run "$J" commands <&- >&-"#, "write to standard output"),
            (#""$tool" export "$J" <&- >&-"#, "write to standard output"),
            (#""$tool" events "$J" --follow >&-"#, "write to standard output"),
            (#""$tool" events "$J" --follow --kind lost <&- >&-"#, "write to standard output"),
        ] {
            _ = try journal.folder.file("commands", Self.register)
            let outcome = try journal.shell(script)
            #expect(outcome.status == 1, "\(script)")
            #expect(
                outcome.error.hasPrefix("chat-journal: cannot \(stream): ")
                    && outcome.error.hasSuffix("(errno \(EBADF))\n"),
                "\(script): \(outcome.error)")
            #expect(try String(contentsOfFile: journal.folder.path + "/commands", encoding: .utf8) == Self.register)
        }
        #expect(try journal.shell(#""$tool" export "$J" <&- 2>&-"#).lines.count == 1)
        #expect(try journal.shell(#""$tool" run "$J" commands 2>&- <&-"#).lines.count == 1)
        #expect(try journal.shell(#""$tool" events "$J" nonsense <&- >&- 2>&-"#).status == 64)
        #expect(try journal.run("verify").status == 0)
    }

    /// With few descriptors every command works or ends with an error; none is killed by a signal.
    @Test func fewDescriptors() throws {
        let journal = try Journal(Self.resident)
        _ = try journal.folder.file("commands", Self.register)
        for count in [5, 6, 7, 8, 9, 12, 16, 20] {
            for command in ["threads", "run", "verify"] {
                let outcome = try journal.shell(
                    #"ulimit -n \#(count); exec "$tool" \#(command) "$J" \#(command == "run" ? "commands" : "")"#)
                #expect(
                    outcome.status == 0 || outcome.status == 1,
                    "\(command) with \(count): \(outcome.status) \(outcome.error)")
                if outcome.status == 1 {
                    #expect(
                        outcome.error.hasPrefix("chat-journal: ") && outcome.error.contains("errno 24"),
                        "\(outcome.error)")
                }
                if count >= 16 { #expect(outcome.status == 0, "\(command) with \(count): \(outcome.error)") }
            }
        }
        // A follower runs until it is ended.
        for count in [5, 6, 8, 9, 11, 15] {
            let outcome = try journal.shell(#"ulimit -n \#(count); exec "$tool" events "$J" --follow"#)
            #expect(
                outcome.status == 1 && outcome.error.contains("errno 24"),
                "\(count): \(outcome.status) \(outcome.error)")
        }
    }

    // MARK: A follower

    /// Starts a follower of a journal with one event, waits for that event, and calls `act`;
    /// returns the status and the errors, or nil if it still runs.
    private func follow(_ journal: Journal, then act: (Process) throws -> Void) throws -> (
        Process.TerminationReason, Int32, String
    )? {
        let process = Process()
        process.executableURL = ToolProcess.executable
        process.arguments = ["events", journal.path, "--json", "--follow"]
        let output = Foundation.Pipe()
        let errors = journal.folder.path + "/errors"
        #expect(FileManager.default.createFile(atPath: errors, contents: nil))
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errors))
        try SignalMask.unblocking(SIGQUIT) { try process.run() }
        #expect(!output.fileHandleForReading.availableData.isEmpty)
        try act(process)
        let goesOn = !inTurns { !process.isRunning }
        if goesOn { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        return goesOn
            ? nil
            : (
                process.terminationReason, process.terminationStatus,
                try String(contentsOfFile: errors, encoding: .utf8)
            )
    }

    @Test func quitEndsTheTool() throws {
        let end = try #require(try follow(try Journal()) { kill($0.processIdentifier, SIGQUIT) })
        #expect(end.0 == .uncaughtSignal && end.1 == SIGQUIT && end.2 == "", "\(end)")
    }

    @Test func followerReportsADeletedJournal() throws {
        let removed = try Journal()
        let end = try #require(try follow(removed) { _ in try FileManager.default.removeItem(atPath: removed.path) })
        #expect(end.1 == 1 && end.2.hasPrefix("chat-journal: notFound: ") && end.2.contains("removed"), "\(end)")
        let moved = try Journal()
        let other = try #require(
            try follow(moved) { _ in try FileManager.default.moveItem(atPath: moved.path, toPath: moved.path + "2") })
        #expect(other.1 == 1 && other.2.hasPrefix("chat-journal: notFound: "), "\(other)")
    }

    /// A journal without its durable file is damaged; only a journal without any file is not found.
    @Test func followerReportsADamagedJournal() throws {
        let journal = try Journal()
        let end = try #require(
            try follow(journal) { _ in try FileManager.default.removeItem(atPath: journal.path + "/durable") })
        #expect(end.1 == 1 && end.2.hasPrefix("chat-journal: damaged: "), "\(end)")
    }

    // MARK: The lock

    @Test func writerWaitsForTheLock() throws {
        let journal = try Journal()
        let writer = Process()
        writer.executableURL = ToolProcess.executable
        writer.arguments = ["run", journal.path]
        let (input, output) = (Foundation.Pipe(), Foundation.Pipe())
        writer.standardInput = input
        writer.standardOutput = output
        try writer.run()
        try input.fileHandleForWriting.write(contentsOf: Data(Self.register.utf8))
        // After the first answer the journal is locked.
        #expect(!output.fileHandleForReading.availableData.isEmpty)
        for arguments in [[], ["--wait-for-lock", "0"]] {
            let refused = try ToolProcess.run(["run", journal.path] + arguments, input: Self.register)
            #expect(refused.status == 1 && refused.error.contains("locked"), "\(refused.error)")
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.5) { try? input.fileHandleForWriting.close() }
        let waited = try ToolProcess.run(["run", journal.path, "--wait-for-lock", "60"], input: Self.register)
        #expect(waited.status == 0 && waited.lines.count == 1, "\(waited.error)")
        writer.waitUntilExit()
        #expect(writer.terminationStatus == 0)
        let file = try journal.folder.file("chat", "")
        #expect(try ToolProcess.run(["import", journal.path, file, "--wait-for-lock", "60"]).status == 0)
        for seconds in ["-1", "1.5", "soon", "86401"] {
            #expect(try ToolProcess.run(["run", journal.path, "--wait-for-lock", seconds]).status == 64, "\(seconds)")
        }
    }
}
