import Foundation
import Testing

/// The two passes of an import and its options.
@Suite struct ImportOptionsTests {
    /// A history out of order, with every kind of adaptation that needs no option.
    private static let history = """
        {"t":"2019-04-03T00:02:00Z","channel":"gen","user":"Ada","id":"a2","replyTo":"a1","body":"answer"}
        {"t":"2019-04-03T00:01:00Z","channel":"gen","user":"Bob","id":"a1","body":"question"}
        {"t":null,"channel":"gen","user":"Ada","id":"a3","replyTo":"gone","body":"lost"}
        {"t":"2019-04-03T00:11:00Z","channel":"gen","user":"Bob","id":"a4","body":"x","editedAt":"1970-01-01T00:00:00Z"}
        {"t":null,"channel":"g\u{200B}en","user":"Bob","id":"a5","body":"\(String(repeating: "x", count: 20_000))"}

        """

    private static let adapted =
        #""adapted":{"channelRenamed":{"count":1,"line":5,"example":"g\u200ben"},"replyMoved":{"count":1,"line":1,"example":"a2"},"#
        + #""replyWithoutMessage":{"count":1,"line":3,"example":"gone"},"bodySplit":{"count":1,"line":5,"example":"a5"},"#
        + #""editIgnored":{"count":1,"line":4,"example":"a4"}}"#

    @Test func historyOutOfOrderIsImportedOnce() throws {
        let folder = try ToolProcess.Folder()
        let file = try folder.file("chat.jsonl", Self.history)
        let journal = folder.path + "/journal"
        let tried = try ToolProcess.run(["import", journal, file, "--json", "--dry-run"])
        #expect(!FileManager.default.fileExists(atPath: journal))
        let first = try ToolProcess.run(["import", journal, file, "--json"])
        #expect(first == tried && first.status == 0 && first.lines.count == 1)
        #expect(
            first.lines == [
                #"{"lines":5,"unreadable":0,"messages":5,"replies":1,"duplicates":0,"refused":0,"users":2,"threads":2,"#
                    + #""policies":{"inviteOnly":2},"# + Self.adapted + "}"
            ])
        let events = try ToolProcess.run(["events", journal]).output
        let head = try ToolProcess.run(["head", journal]).output
        for options in [[], ["--dry-run"], ["--sort"], ["--lenient"]] {
            let again = try ToolProcess.run(["import", journal, file, "--json"] + options)
            #expect(
                again.output
                    == #"{"lines":5,"unreadable":0,"messages":0,"replies":0,"duplicates":5,"refused":0,"users":0,"threads":0}"#
                    + "\n")
            #expect(try ToolProcess.run(["head", journal]).output == head)
        }
        // From standard input and from a pipe: the same events.
        let input = try ToolProcess.run(["import", folder.path + "/input", "-", "--json"], input: Self.history)
        let pipe = try ToolProcess.shell(
            #"cat "$1" | TMPDIR="$2" "$3" import "$4" /dev/stdin --json && ls -a "$2""#,
            [file, try Self.emptyFolder(folder), ToolProcess.executable.path, folder.path + "/pipe"])
        #expect(input.output == first.output && pipe.output == first.output + ".\n..\n")
        for name in ["input", "pipe"] {
            func shape(_ text: String) -> String { text.replacing(#/\d{4}-\d\d-\d\dT[0-9:.]+Z/#, with: "") }
            #expect(try shape(ToolProcess.run(["events", folder.path + "/" + name]).output) == shape(events))
        }
    }

    private static func emptyFolder(_ folder: ToolProcess.Folder) throws -> String {
        let path = folder.path + "/temporary"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        return path
    }

    @Test func textHasTheAdaptations() throws {
        let folder = try ToolProcess.Folder()
        let file = try folder.file("chat.jsonl", Self.history)
        let tried = try ToolProcess.run(["import", folder.path + "/journal", file, "--dry-run"])
        let first = try ToolProcess.run(["import", folder.path + "/journal", file])
        #expect(tried.lines == first.lines + ["dry run: nothing was written"])
        #expect(
            first.lines.dropFirst(2) == [
                #"adapted, channelRenamed: 1, first: line 5, g\u{200b}en"#, "adapted, replyMoved: 1, first: line 1, a2",
                "adapted, replyWithoutMessage: 1, first: line 3, gone", "adapted, bodySplit: 1, first: line 5, a5",
                "adapted, editIgnored: 1, first: line 4, a4",
            ])
    }

    @Test func dryRunOfAnExistingJournalChangesNothing() throws {
        let folder = try ToolProcess.Folder()
        let file = try folder.file("chat.jsonl", Self.history)
        let journal = folder.path + "/journal"
        #expect(try ToolProcess.run(["run", journal], input: #"{"registerUser":{"username":"Ada"}}"#).status == 0)
        func files() throws -> [String: Data] {
            let names = try FileManager.default.subpathsOfDirectory(atPath: journal)
            return try Dictionary(
                uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(fileURLWithPath: journal + "/" + $0))) }
            )
        }
        let before = try files()
        let tried = try ToolProcess.run(["import", journal, file, "--json", "--dry-run"])
        #expect(try files() == before)
        #expect(tried.output.contains(#""username":"Ada~2""#))
        #expect(try ToolProcess.run(["import", journal, file, "--json"]) == tried)
        #expect(try files() != before)
        let other = try folder.file("other", "not a journal")
        #expect(try ToolProcess.run(["import", other, file, "--dry-run"]).status == 1)
        #expect(try ToolProcess.run(["import", journal, file, "--dry-run", "--take-over"]).status == 64)
        #expect(try ToolProcess.run(["import", journal, file, "--format", "events", "--dry-run"]).status == 64)
    }

    @Test func unknownFieldsAreCountedIfLenient() throws {
        let folder = try ToolProcess.Folder()
        let file = try folder.file(
            "chat.jsonl",
            """
            {"t":null,"channel":"gen","user":{"id":"7","name":"Ada","age":3},"id":"1","body":"x"}
            {"t":null,"channel":"gen","user":"Bob","id":"2","body":"x","likes":[1]}
            {"t":null,"channel":"gen","user":"Bob","id":3,"body":"x"}

            """)
        let strict = try ToolProcess.run(["import", folder.path + "/journal", file, "--json"])
        #expect(
            strict.status == 1 && strict.lines.count == 4
                && strict.lines[1].contains(#""line":2,"error":{"code":"unknownField""#))
        let lenient = try ToolProcess.run(["import", folder.path + "/journal", file, "--json", "--lenient"])
        #expect(lenient.status == 1 && lenient.lines.count == 2)
        #expect(
            lenient.lines.last?.hasSuffix(#""adapted":{"fieldsIgnored":{"count":2,"line":1,"example":"age"}}}"#) == true
        )
    }

    @Test func reactionsAreCounted() throws {
        let folder = try ToolProcess.Folder()
        let many = (0..<10_001).map { #""u\#($0)""# }.joined(separator: ",")
        let file = try folder.file(
            "chat.jsonl",
            """
            {"t":null,"channel":"gen","user":"Ada","id":"1","body":"x","reactions":[{"emoji":"❤","users":["Ada","Bob"]}]}
            {"t":null,"channel":"gen","user":"Ada","id":"2","body":"x","reactions":[{"emoji":"no emoji","users":["Ada"]}]}
            {"t":null,"channel":"gen","user":"Ada","id":"3","body":"x","reactions":[{"emoji":"❤","users":[\(many)]}]}
            {"t":null,"channel":"gen","user":"Ada","id":"3","body":"x","reactions":[{"emoji":"❤","users":["Ada"],"count":1}]}

            """)
        let journal = folder.path + "/journal"
        let tried = try ToolProcess.run(["import", journal, file, "--json", "--dry-run"])
        let first = try ToolProcess.run(["import", journal, file, "--json"])
        #expect(first == tried && first.status == 1 && first.lines.count == 3)
        #expect(first.lines[0].contains("reactions: the field 'reactions' has at most 10000 users"))
        #expect(first.lines[1].hasPrefix(#"{"line":4,"error":{"code":"unknownField""#))
        #expect(
            first.lines[2]
                == #"{"lines":4,"unreadable":2,"messages":2,"replies":0,"duplicates":0,"refused":0,"users":2,"threads":1,"#
                + #""policies":{"inviteOnly":1},"reactions":2,"adapted":{"reactionsLeftOut":{"count":1,"line":2,"example":"2"}}}"#
        )
        let text = try ToolProcess.run(["import", folder.path + "/text", file])
        #expect(text.lines.suffix(2) == ["2 reactions imported", "adapted, reactionsLeftOut: 1, first: line 2, 2"])
        let timeline = try ToolProcess.run(["timeline", journal, "gen", "--json"])
        #expect(timeline.lines.first?.contains(#""reactions":[{"emoji":"❤️","count":2,"#) == true)
        let head = try ToolProcess.run(["head", journal]).output
        #expect(
            try ToolProcess.run(["import", journal, file, "--json", "--lenient"]).lines.last?.contains(#""messages":1"#)
                == true)
        #expect(try ToolProcess.run(["head", journal]).output != head)
    }

    @Test func namesAreFoundIfAsked() throws {
        let folder = try ToolProcess.Folder()
        let file = try folder.file(
            "chat.jsonl",
            """
            {"t":null,"channel":"gen","user":"Ada","id":"1","body":"x"}
            {"t":null,"channel":"gen","user":"Bob","id":"2","body":"@ada"}
            {"t":null,"channel":"gen","user":"Ada","id":"3","body":"@Bob","editedAt":"2019-04-03T00:01:00Z"}

            """)
        for (options, count) in [([], 0), (["--find-mentions"], 3)] {
            let journal = folder.path + "/journal\(options.count)"
            #expect(try ToolProcess.run(["import", journal, file] + options).status == 0)
            let events = try ToolProcess.run(["events", journal, "--json"]).lines
            #expect(events.count { $0.contains(#""mentions":["#) } == count)
        }
        let events = ["import", folder.path + "/events", file, "--format", "events", "--find-mentions"]
        #expect(try ToolProcess.run(events).status == 64)
    }

    @Test func linesAreSortedByTime() throws {
        let folder = try ToolProcess.Folder()
        let file = try folder.file(
            "chat.jsonl",
            """
            {"t":"2019-04-03T00:03:00Z","channel":"gen","user":"Ada","id":"3","body":"three"}
            {"t":"2019-04-03T00:01:00Z","channel":"gen","user":"Ada","id":"1","body":"one"}
            {"t":null,"channel":"gen","user":"Ada","id":"2","body":"two"}
            not JSON
            {"channel":"gen","policy":"open"}

            """)
        let journal = folder.path + "/journal"
        let first = try ToolProcess.run(["import", journal, file, "--json", "--sort"])
        #expect(first.lines.count == 2 && first.lines[0].hasPrefix(#"{"line":4,"error""#))
        #expect(first.lines[1].contains(#""refused":0"#) && first.lines[1].contains(#""policies":{"open":1}"#))
        let timeline = try ToolProcess.run(["timeline", journal, "gen", "--json"]).output
        #expect(timeline.matches(of: #/"body":"(\w+)"/#).map(\.1) == ["one", "two", "three"])
    }
}
