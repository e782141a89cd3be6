#if Postgres
    import EventJournal
    import Foundation
    import TestSupport
    import Testing

    /// The commands of the tool on a log on PostgreSQL, and copies from and to directories.
    @Suite(.enabled(if: PostgresServer.isAvailable, "PostgreSQL is not installed")) struct PostgresToolTests {
        private static let user = "0190a000-0000-7000-8000-0000000000a1"
        private static let commands = """
            {"registerUser":{"user":"\(user)","username":"Ann"}}
            {"setPostcode":{"user":"\(user)","postcode":"SW1A 1AA"}}
            {"postMessage":{"thread":"SW1A","author":"\(user)","body":"Milk?"}}

            """
        private static let post = #"{"postMessage":{"thread":"SW1A","author":"\#(user)","body":"Oat?"}}"#

        private func run(_ arguments: String..., input: String = "") throws -> ToolProcess.Outcome {
            let outcome = try ToolProcess.run(arguments, input: input)
            #expect(outcome.status == 0, "\(arguments): \(outcome.error)")
            return outcome
        }

        private func address() throws -> String { try #require(try PostgresServer.shared.get()).newAddress(.tcp) }

        /// Every command answers the same as for the directory from which the log was copied.
        @Test func commandsAnswerAsForADirectory() throws {
            let folder = try ToolProcess.Folder()
            let (journal, log) = (folder.path + "/journal", try address())
            _ = try run("run", journal, input: Self.commands)
            let copied = try run("copy", journal, log, "--json")
            #expect(
                copied.output
                    == #"{"head":"\#(try run("head", journal).lines[0])","position":5,"copied":5,"finished":false}"#
                    + "\n")
            for arguments in [
                ["head"], ["export"], ["checkpoint"], ["threads"], ["timeline", "SW1A"], ["members", "SW1A"],
                ["user", "Ann"], ["activity"],
                ["events", "--json"], ["prove", "--event", "3"], ["prove", "--from", "2"], ["verify", "--deep"],
            ] {
                let answers = try [journal, log].map {
                    try ToolProcess.run([arguments[0], $0] + arguments.dropFirst())
                }
                #expect(answers[0].status == 0 && answers[1].status == 0, "\(arguments): \(answers[1].error)")
                #expect(answers[0].output == answers[1].output, "\(arguments)")
            }
            #expect(try run("stats", log).output.contains("1...5, durable up to 5"))
            #expect(try run("stats", log, "--json").output.contains(#""position":5,"lastPosition":5,"users":1"#))
            _ = try run("tiles", journal, folder.path + "/tiles")
            _ = try run("tiles", log, folder.path + "/tiles")
            _ = try run("backup", log, folder.path + "/backup")
            #expect(try run("export", folder.path + "/backup").output == run("export", journal).output)
            #expect(
                try run("verify", log, "--expect", run("head", journal).lines[0]).output.hasSuffix("expected head\n"))
        }

        @Test func journalMovesToTheDatabaseAndBack() throws {
            let folder = try ToolProcess.Folder()
            let (journal, log) = (folder.path + "/journal", try address())
            _ = try run("run", journal, input: Self.commands)
            _ = try run("copy", journal, log)
            let early = try ToolProcess.run(["run", log], input: Self.post)
            #expect(early.status == 1 && early.error.hasPrefix("chat-journal: copy: "), "\(early.error)")
            for _ in 0..<2 { _ = try run("copy", journal, log, "--finish") }
            let late = try ToolProcess.run(["run", journal], input: Self.post)
            #expect(
                late.status == 1 && late.error.hasPrefix("chat-journal: moved: ") && late.error.contains("#t"),
                "\(late.error)")
            _ = try run("run", log, input: Self.post)
            _ = try run("erase", log, "--event", "5", "--reason", "spam")
            #expect(try !run("timeline", log, "SW1A").output.contains("Milk?"))
            for _ in 0..<2 { _ = try run("copy", log, journal, "--finish") }
            let former = try ToolProcess.run(["run", log], input: Self.post)
            #expect(former.status == 1 && former.error.hasPrefix("chat-journal: moved: "), "\(former.error)")
            #expect(try run("export", journal).output == run("export", log).output)
            _ = try run("run", journal, input: Self.post)
            #expect(
                try run("verify", journal, "--deep").lines == [
                    "sound up to position 8: bytes, checksums, chain, events, rules, read models"
                ])
            let bytes = try FileManager.default.contentsOfDirectory(atPath: journal).map {
                FileManager.default.contents(atPath: journal + "/" + $0) ?? Data()
            }
            #expect(bytes.allSatisfy { $0.range(of: Data("Milk?".utf8)) == nil })
        }

        #if Server
            /// Another writer takes over, and no command comes to the server.
            @Test func supersededServerEndsWithItsOwnStatus() throws {
                let folder = try ToolProcess.Folder()
                let script = """
                    "$1" serve "$2" --listen 127.0.0.1:0 --accounts "$3/accounts" --mail "$3" > "$3/url" 2> "$3/errors" &
                    server=$!
                    until grep -q http "$3/url"; do kill -0 $server || exit 9; sleep 0.1; done
                    "$1" run "$2" /dev/null --take-over || exit 8
                    wait $server
                    """
                let outcome = try ToolProcess.shell(script, [ToolProcess.executable.path, try address(), folder.path])
                let errors = try String(contentsOfFile: folder.path + "/errors", encoding: .utf8)
                #expect(outcome.status == 75, "\(outcome.error) \(errors)")
                #expect(errors.contains("chat-journal: superseded: "), "\(errors)")
            }
        #endif

        @Test func exportIsImported() throws {
            let folder = try ToolProcess.Folder()
            let (journal, log) = (folder.path + "/journal", try address())
            _ = try run("run", journal, input: Self.commands)
            let export = try run("export", journal).output
            let file = try folder.file("export", Data(export.utf8))
            _ = try run("import", log, file, "--format", "events")
            #expect(try run("export", log).output == export)
        }
    }
#endif
