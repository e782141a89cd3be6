import Foundation
import Testing

/// `--as-of`, pages around a position and from a time, and the auditor's commands.
@Suite struct AsOfTests {
    private static let ann = "0190a000-0000-7000-8000-0000000000a1"
    private static let bob = "0190a000-0000-7000-8000-0000000000b2"
    private static let eve = "0190a000-0000-7000-8000-0000000000e3"
    private static let message = "0190a000-0000-7000-8000-00000000c001"
    private static let sw1a = "53573141-0000-8000-806f-757477617264"

    private static let commands = """
        {"registerUser":{"user":"\(ann)","username":"Ann"}}
        {"registerUser":{"user":"\(bob)","username":"Bob"}}
        {"setPostcode":{"user":"\(ann)","postcode":"SW1A 1AA"}}
        {"postMessage":{"message":"\(message)","thread":"SW1A","author":"\(ann)","body":"Milk?"}}
        {"setPostcode":{"user":"\(bob)","postcode":"SW1A 2AA"}}
        {"reply":{"message":"\(message)","author":"\(bob)","body":"I go"}}
        {"edit":{"message":"\(message)","by":"\(ann)","body":"Oat milk?"}}
        {"changeUsername":{"user":"\(bob)","username":"Robert"}}
        {"leaveThread":{"user":"\(bob)","thread":"SW1A"}}
        {"registerUser":{"user":"\(eve)","username":"Bob"}}
        {"openThread":{"name":"Dogs","by":"\(eve)"}}
        {"postMessage":{"thread":"SW1A","author":"\(ann)","body":"Bread?"}}
        {"postMessage":{"thread":"SW1A","author":"\(ann)","body":"Eggs?"}}

        """

    private struct Journal {
        let folder: ToolProcess.Folder
        var path: String { folder.path + "/journal" }

        init() throws {
            folder = try ToolProcess.Folder()
            let outcome = try ToolProcess.run(["run", path], input: AsOfTests.commands)
            #expect(outcome.status == 0, "\(outcome.output)")
        }

        func run(_ arguments: String...) throws -> ToolProcess.Outcome {
            try ToolProcess.run([arguments[0], path] + arguments.dropFirst() + ["--json"])
        }

        /// The values of a field, one per line.
        func values(_ field: String, _ arguments: String...) throws -> [String] {
            let outcome = try ToolProcess.run([arguments[0], path] + arguments.dropFirst() + ["--json"])
            #expect(outcome.status == 0, "\(arguments): \(outcome.error)")
            return outcome.lines.compactMap { line in
                line.firstRange(of: "\"\(field)\":").map { range in
                    String(line[range.upperBound...].prefix { $0 != "," && $0 != "}" })
                }
            }
        }
    }

    /// Ids of messages and replies are independent, so one text can be the id of both.
    @Test func replyWithTheIDOfAMessageIsShown() throws {
        let journal = try Journal()
        let reply =
            #"{"reply":{"reply":"\#(Self.message)","message":"\#(Self.message)","author":"\#(Self.ann)","body":"Two"}}"#
            + "\n"
        #expect(try ToolProcess.run(["run", journal.path], input: reply).status == 0)
        #expect(try journal.values("body", "message", Self.message).first == #""Oat milk?""#)
        #expect(try journal.values("body", "message", Self.message, "--reply").first == #""Two""#)
        #expect(try journal.run("message", "0190a000-0000-7000-8000-00000000ffff", "--reply").status == 1)
    }

    @Test func viewsAsOfAPosition() throws {
        let journal = try Journal()
        #expect(try journal.values("body", "timeline", "SW1A", "--as-of", "9") == [#""Milk?""#])
        #expect(try journal.values("replyCount", "timeline", "SW1A", "--as-of", "9") == ["1"])
        #expect(try journal.values("replyCount", "timeline", "SW1A", "--as-of", "8") == ["0"])
        #expect(try journal.values("body", "timeline", "SW1A", "--as-of", "10") == [#""Oat milk?""#])
        #expect(try journal.values("position", "replies", Self.message, "--as-of", "9") == ["9"])
        #expect(try journal.values("position", "replies", Self.message, "--as-of", "8") == [])
        #expect(try journal.values("since", "members", "SW1A", "--as-of", "12") == ["5"])
        #expect(try journal.values("since", "readers", "SW1A", "--as-of", "11") == ["5", "8"])
        #expect(try journal.run("readers", "SW1A", "--as-of", "9") == journal.run("members", "SW1A", "--as-of", "9"))
        #expect(try journal.values("postcode", "residents", "SW1A", "--as-of", "6") == [#""SW1A 1AA""#])
        #expect(try journal.values("name", "threads", "--as-of", "13") == [#""SW1A""#])
        #expect(try journal.values("name", "threads", "--as-of", "15") == [#""SW1A""#, #""Dogs""#])
        #expect(try journal.values("name", "threads", "--as-of", "0") == [])
        #expect(try journal.values("unread", "user", "Ann", "--as-of", "17") == ["0"])
    }

    @Test func namesAreLookedUpAsOfTheMoment() throws {
        let journal = try Journal()
        #expect(try journal.values("id", "user", "Bob", "--as-of", "10") == ["\"\(Self.bob)\""])
        #expect(try journal.values("id", "user", "Bob") == ["\"\(Self.eve)\""])
        #expect(try journal.run("user", "Bob", "--as-of", "12").error.contains("unknownUser"))
        #expect(try journal.run("user", Self.eve, "--as-of", "12").error.contains("unknownUser"))
        #expect(try journal.run("timeline", "Dogs", "--as-of", "13").error.contains("unknownThread"))
        #expect(try journal.run("timeline", "SW1A", "--as-of", "3").error.contains("unknownThread"))
        #expect(try journal.values("position", "timeline", "SW1A", "--as-of", "10", "--viewer", "Ann") == ["6"])
        // Bob of position 10 has left since: he reads nothing, also as of then.
        #expect(try journal.run("timeline", "SW1A", "--as-of", "10", "--viewer", "Bob").error.contains("notAMember"))
        #expect(try journal.run("timeline", "SW1A", "--as-of", "12", "--viewer", "Robert").error.contains("notAMember"))
    }

    @Test func accessPrintsTheContract() throws {
        let journal = try Journal()
        #expect(
            try journal.run("access", "Robert").lines == [#"{"thread":"\#(Self.sw1a)","name":"SW1A","from":8,"to":12}"#]
        )
        #expect(
            try journal.run("access", "Bob", "--as-of", "10").lines == [
                #"{"thread":"\#(Self.sw1a)","name":"SW1A","from":8,"to":null}"#
            ])
        #expect(try journal.run("access", "Robert", "--viewer", "Ann").error.contains("notAllowed"))
        #expect(
            try ToolProcess.run(["access", journal.path, "Robert"]).lines.last?.split(separator: " ").prefix(3) == [
                "8", "12", "SW1A",
            ])
    }

    /// The times that the tool prints, ascending as strings.
    @Test func timeMeansTheLastEventUpToIt() throws {
        let journal = try Journal()
        let times = try journal.values("recordedAt", "export").map { $0.trimmingCharacters(in: ["\""]) }
        #expect(times.count == 17)
        for time in Set([times[0], times[5], times[16]]) {
            let position = times.count { $0 <= time }
            #expect(try journal.run("threads", "--as-of", time) == journal.run("threads", "--as-of", "\(position)"))
            let second = String(time.prefix(19))
            let before = times.count { $0 <= second + ".000Z" }
            #expect(
                try journal.run("threads", "--as-of", second + "Z") == journal.run("threads", "--as-of", "\(before)"))
            #expect(
                try journal.values("position", "timeline", "SW1A", "--from", time)
                    == ["6", "16", "17"].filter { times[Int($0)! - 1] >= time })
        }
        #expect(try journal.run("threads", "--as-of", "1970-01-02").lines == [])
        #expect(try journal.run("threads", "--as-of", "9999-12-31") == journal.run("threads"))
        #expect(
            try journal.run("members", "SW1A", "--as-of", "1970-01-02T00:00:00+01:00").error.contains("unknownThread"))
        #expect(
            try journal.values("position", "timeline", "SW1A", "--from", "1970-01-01", "--limit", "2") == ["6", "16"])
        #expect(
            try journal.values("position", "timeline", "SW1A", "--from", "1970-01-01", "--after", "6") == ["16", "17"])
        #expect(try journal.values("position", "timeline", "SW1A", "--from", "9999-12-31") == [])
    }

    @Test func pageAroundAPosition() throws {
        let journal = try Journal()
        #expect(try journal.values("position", "timeline", "SW1A", "--around", "16", "--limit", "2") == ["6", "16"])
        #expect(
            try journal.values("position", "timeline", "SW1A", "--around", "16", "--limit", "3") == ["6", "16", "17"])
        #expect(try journal.values("position", "timeline", "SW1A", "--around", "10") == ["6", "16", "17"])
        #expect(try journal.values("position", "timeline", "SW1A", "--around", "10", "--limit", "1") == ["16"])
    }

    @Test func invalidMomentsAreWrongUsage() throws {
        let journal = try Journal()
        let beyond = try journal.run("timeline", "SW1A", "--as-of", "18")
        #expect(beyond.status == 1)
        #expect(beyond.error == "chat-journal: invalidPosition: The position lies beyond the head of the journal.\n")
        #expect(try journal.run("threads", "--as-of", "18446744073709551615").status == 1)
        for text in [
            "yesterday", "-1", "+1", "1.5", "", "18446744073709551616", "2026-13-01", "2026-11-21T05", "2026-1-1",
        ] {
            for command in [["threads"], ["timeline", "SW1A"], ["access", "Ann"], ["activity"]] {
                let outcome = try ToolProcess.run([command[0], "/nowhere"] + command.dropFirst() + ["--as-of=\(text)"])
                #expect(outcome.status == 64, "\(command) \(text)")
            }
        }
        #expect(try ToolProcess.run(["timeline", "/nowhere", "SW1A", "--from", "16"]).status == 64)
        #expect(try ToolProcess.run(["activity", "/nowhere", "--from", "2026-11-21T00:00:00Z"]).status == 64)
    }

    @Test func activityCountsByTheShownDay() throws {
        let folder = try ToolProcess.Folder()
        let file = try folder.file(
            "chat.jsonl",
            """
            {"t":"2004-11-15T00:18:00Z","channel":"#rust","user":"Ann","id":"a:1","replyTo":null,"body":"one"}
            {"t":"2004-11-14T23:59:59.999Z","channel":"#rust","user":"bob","id":"a:2","replyTo":"a:1","body":"two"}
            {"t":"2004-11-15T01:00:00Z","channel":"#rust","user":"bob","id":"a:3","replyTo":null,"body":"three"}

            """)
        let journal = folder.path + "/journal"
        #expect(try ToolProcess.run(["import", journal, file]).status == 0)
        let first = #"{"day":"2004-11-14","registrations":1,"sessions":0,"activeUsers":1,"messages":0,"replies":1}"#
        let second = #"{"day":"2004-11-15","registrations":1,"sessions":0,"activeUsers":2,"messages":2,"replies":0}"#
        #expect(try ToolProcess.run(["activity", journal, "--json"]).lines == [first, second])
        #expect(try ToolProcess.run(["activity", journal, "--json", "--to", "2004-11-14"]).lines == [first])
        #expect(try ToolProcess.run(["activity", journal, "--json", "--from", "2004-11-15"]).lines == [second])
        #expect(
            try ToolProcess.run(["activity", journal, "--json", "--as-of", "1"]).lines
                == [#"{"day":"2004-11-15","registrations":1,"sessions":0,"activeUsers":1,"messages":0,"replies":0}"#])
        let table = try ToolProcess.run(["activity", journal]).lines
        #expect(table.count == 3 && table[1].split(separator: " ") == ["2004-11-14", "1", "0", "1", "0", "1"])
    }
}
