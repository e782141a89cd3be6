import Foundation
import Testing

/// The tool's contract on a small journal: its answers and views, byte by byte where they are
/// specified.
@Suite struct ContractTests {
    private static let ann = "0190a000-0000-7000-8000-0000000000a1"
    private static let bob = "0190a000-0000-7000-8000-0000000000b2"
    private static let message = "0190a000-0000-7000-8000-00000000c001"
    private static let reply = "0190a000-0000-7000-8000-00000000d001"
    private static let edit = "0190a000-0000-7000-8000-00000000e001"
    private static let sw1a = "53573141-0000-8000-806f-757477617264"

    private static let commands = """
        {"registerUser":{"user":"\(ann)","username":"Ann"}}
        {"registerUser":{"user":"\(bob)","username":"Bob","subject":"sub|2"}}
        {"setPostcode":{"user":"\(ann.uppercased())","postcode":"sw1a1aa"},"correlation":"c-1"}
        {"postMessage":{"message":"\(message)","thread":"sw1a","author":"\(ann)","body":"Milk?"}}
        {"postMessage":{"message":"\(message)","thread":"\(sw1a)","author":"\(ann)","body":"Milk?"}}
        {"postMessage":{"thread":"SW1A","author":"\(bob)","body":"No"}}
        {"joinThread":{"user":"\(ann)","thread":"SW1A"}}
        {"setPostcode":{"user":"\(bob)","postcode":"SW1A 2AA"}}
        {"reply":{"reply":"\(reply)","message":"\(message)","author":"\(bob)","body":"I \\u001b[31mgo"}}
        {"edit":{"edit":"\(edit)","message":"\(message)","by":"\(ann)","body":"Oat milk?"}}
        {"markRead":{"user":"\(bob)","thread":"SW1A","upTo":6}}

        """

    private func journal(_ folder: ToolProcess.Folder) throws -> String {
        let journal = folder.path + "/journal"
        let outcome = try ToolProcess.run(["run", journal], input: Self.commands)
        #expect(outcome.status == 1, "one command was refused")
        #expect(outcome.error == "")
        return journal
    }

    private func stable(_ line: String) -> String {
        line.replacing(/"(recordedAt|createdAt|editedAt)":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/) {
            "\"\($0.output.1)\":TIME"
        }
    }

    @Test func runAnswersEachLineInOrder() throws {
        let folder = try ToolProcess.Folder()
        let outcome = try ToolProcess.run(["run", folder.path + "/journal"], input: Self.commands)
        let lines = outcome.lines.map(stable)
        try #require(lines.count == 11)
        #expect(
            lines[0]
                == #"{"line":1,"positions":[1,1],"events":[{"position":1,"recordedAt":TIME,"userRegistered":{"user":"\#(Self.ann)","username":"Ann","subject":null}}],"duplicate":false}"#
        )
        #expect(lines[2].contains(#""positions":[3,5]"#) && lines[2].contains(#""correlation":"c-1","postcodeSet""#))
        #expect(lines[3].hasPrefix(#"{"line":4,"positions":[6,6],"#) && lines[3].hasSuffix(#""duplicate":false}"#))
        #expect(
            lines[4]
                == lines[3].replacing(#"{"line":4"#, with: #"{"line":5"#).replacing(
                    #""duplicate":false"#, with: #""duplicate":true"#))
        #expect(
            lines[5]
                == #"{"line":6,"rejection":{"code":"notAMember","message":"The user is not a member of this thread."}}"#
        )
        #expect(lines[6] == #"{"line":7,"positions":null,"events":[],"duplicate":false}"#)
        #expect(lines[8].contains(#""body":"I \u001b[31mgo""#))
    }

    /// A process can be started without its standard streams: output must not go into the journal's
    /// files, and the failure is an error.
    @Test(arguments: [">&-", "<&- >&- 2>&-", ">&- 2>&-"]) func closedOutputIsAnError(closed: String) throws {
        let folder = try ToolProcess.Folder()
        let journal = try journal(folder)
        let post = try folder.file(
            "post", #"{"postMessage":{"thread":"SW1A","author":"\#(Self.ann)","body":"Milk?"}}"# + "\n")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", #"exec "$0" run "$1" "$2" \#(closed)"#, ToolProcess.executable.path, journal, post]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 1)
        #expect(try Data(contentsOf: URL(fileURLWithPath: journal + "/lock")).isEmpty)
        #expect(try ToolProcess.run(["verify", journal]).status == 0)
    }

    /// A sound journal needs no repair, whatever head was expected.
    @Test func headOfAnotherJournalIsAFindingWithoutAFile() throws {
        let folder = try ToolProcess.Folder()
        let journal = try journal(folder)
        #expect(try ToolProcess.run(["run", folder.path + "/other"], input: Self.commands).status == 1)
        let head = try #require(try ToolProcess.run(["head", folder.path + "/other"]).lines.first)
        let outcome = try ToolProcess.run(["verify", journal, "--expect", head])
        #expect(outcome.status == 1 && outcome.lines.first?.hasPrefix("journal: headMismatch: ") == true)
        #expect(!outcome.output.contains("repair"))
        #expect(
            try ToolProcess.run(["verify", journal, "--expect", head, "--json"]).output.contains(#""segment":null"#))
    }

    @Test func viewsPrintTheContract() throws {
        let folder = try ToolProcess.Folder()
        let journal = try journal(folder)
        func json(_ arguments: String...) throws -> [String] {
            let outcome = try ToolProcess.run([arguments[0], journal] + arguments.dropFirst() + ["--json"])
            #expect(outcome.status == 0, "\(outcome.error)")
            return outcome.lines.map(stable)
        }
        let entry =
            #"{"position":6,"id":"\#(Self.message)","thread":"\#(Self.sw1a)","author":{"id":"\#(Self.ann)","username":"Ann"},"body":"Oat milk?","createdAt":TIME,"editedAt":TIME,"editPosition":10,"retracted":false,"replyCount":1}"#
        #expect(try json("timeline", "SW1A") == [entry])
        #expect(try json("timeline", Self.sw1a.uppercased(), "--viewer", "BOB") == [entry])
        #expect(
            try json("replies", Self.message) == [
                #"{"position":9,"id":"\#(Self.reply)","message":"\#(Self.message)","author":{"id":"\#(Self.bob)","username":"Bob"},"body":"I \u001b[31mgo","createdAt":TIME,"editedAt":null,"retracted":false}"#
            ])
        #expect(
            try json("threads") == [
                #"{"id":"\#(Self.sw1a)","name":"SW1A","outwardCode":"SW1A","members":2,"messages":1,"lastPosition":10,"createdAt":TIME}"#
            ])
        #expect(
            try json("members", "sw1a") == [
                #"{"user":{"id":"\#(Self.ann)","username":"Ann"},"since":5}"#,
                #"{"user":{"id":"\#(Self.bob)","username":"Bob"},"since":8}"#,
            ])
        #expect(
            try json("residents", "SW1A")[1]
                == #"{"user":{"id":"\#(Self.bob)","username":"Bob"},"since":7,"postcode":"SW1A 2AA","outwardCode":"SW1A"}"#
        )
        #expect(
            try json("user", "bob") == [
                #"{"id":"\#(Self.bob)","username":"Bob","postcode":"SW1A 2AA","createdAt":TIME,"threads":[{"id":"\#(Self.sw1a)","name":"SW1A","since":8,"unread":0,"firstUnread":null,"readUpTo":6,"notifications":{"level":"all","until":null},"lastMessage":\#(entry)}]}"#
            ])
        #expect(try json("verify") == [#"{"ok":true,"position":11,"findings":[]}"#])
        #expect(try json("verify", "--deep") == [#"{"ok":true,"position":11,"findings":[]}"#])
        #expect(try json("events", "--after", "10").count == 1)
        #expect(try json("events", "--kind", "messagePosted").count == 1)
        #expect(try json("events", "--user", "Bob", "--thread", "SW1A").count == 3)
        #expect(try json("export").count == 11)
    }

    @Test func verifyExpectsAPrintedHead() throws {
        let folder = try ToolProcess.Folder()
        let journal = try journal(folder)
        let head = try #require(try ToolProcess.run(["head", journal]).lines.first)
        let otherFolder = try ToolProcess.Folder()
        let other = try #require(try ToolProcess.run(["head", try self.journal(otherFolder)]).lines.first)
        #expect(try ToolProcess.run(["verify", journal, "--expect", head]).status == 0)
        _ = try ToolProcess.run(["run", journal], input: #"{"leaveThread":{"user":"\#(Self.bob)","thread":"SW1A"}}"#)
        #expect(try ToolProcess.run(["verify", journal, "--expect", head]).status == 0)
        #expect(try ToolProcess.run(["verify", journal, "--expect", other]).status == 1)
        #expect(try ToolProcess.run(["verify", journal, "--expect", "nonsense"]).status == 64)
        let json = try #require(try ToolProcess.run(["head", journal, "--json"]).lines.first)
        #expect(json.contains(#""position":12,"head":""#))
    }

    @Test func tablesShowEscapeSequencesAsText() throws {
        let folder = try ToolProcess.Folder()
        let journal = try journal(folder)
        let table = try ToolProcess.run(["replies", journal, Self.message])
        #expect(table.status == 0)
        #expect(table.output.contains(#"\u{1b}[31mgo"#) && !table.output.contains("\u{1b}"))
        #expect(try ToolProcess.run(["timeline", journal, "SW1A"]).output.contains("Oat milk? (edited)"))
        #expect(try ToolProcess.run(["user", journal, "Bob"]).output.contains("SW1A 2AA"))
        #expect(try ToolProcess.run(["events", journal]).lines.count == 11)
    }

    @Test func batchIsAnsweredLineByLine() throws {
        let folder = try ToolProcess.Folder()
        let single = try ToolProcess.run(["run", folder.path + "/1"], input: Self.commands)
        let batch = try ToolProcess.run(
            ["run", folder.path + "/2", "--batch", "100", "--durability", "written"], input: Self.commands)
        #expect(batch.lines.map(stable) == single.lines.map(stable))
    }
}
