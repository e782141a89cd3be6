import Foundation
import Testing

/// `backup`, `copy` and `repair` of the tool.
@Suite struct CopyTests {
    private static let user = "0190a000-0000-7000-8000-0000000000a1"
    private static let commands = """
        {"registerUser":{"user":"\(user)","username":"Ann"}}
        {"setPostcode":{"user":"\(user)","postcode":"SW1A 1AA"}}
        {"postMessage":{"thread":"SW1A","author":"\(user)","body":"Milk?"}}

        """

    private func run(_ arguments: String..., input: String = "") throws -> ToolProcess.Outcome {
        try ToolProcess.run(arguments, input: input)
    }

    @Test func backupIsUpdatedAndRestored() throws {
        let folder = try ToolProcess.Folder()
        let (journal, copy) = (folder.path + "/journal", folder.path + "/copy")
        #expect(try run("run", journal, input: Self.commands).status == 0)
        let part = try run("backup", journal, copy, "--up-to", "3", "--json")
        #expect(part.status == 0 && part.output.hasPrefix(#"{"head":"cj1-"#), "\(part.error)")
        #expect(
            part.output.contains(#""copied":["00000000000000000001.segment"],"skipped":[],"rewritten":[],"bytes":"#))
        let whole = try run("backup", journal, copy)
        #expect(
            whole.status == 0 && whole.output.hasPrefix("copied up to position 5: "), "\(whole.output)\(whole.error)")
        #expect(whole.lines.last == (try run("head", journal).lines.last))
        #expect(try run("export", copy).output == (try run("export", journal).output))
        #expect(try run("verify", copy, "--deep").status == 0)
        // A copy that was written to is not a copy any more.
        #expect(
            try run("run", copy, input: #"{"postMessage":{"thread":"SW1A","author":"\#(Self.user)","body":"Oat?"}}"#)
                .status == 0)
        let refused = try run("backup", journal, copy)
        #expect(refused.status == 1 && refused.error.contains("headMismatch"))
        #expect(try run("backup", journal).status == 64)
        #expect(try run("backup", journal, copy, "--up-to", "x").status == 64)
        #expect(try run("backup", journal, folder.path + "/other", "--up-to", "6").status == 1)
    }

    @Test func copyFollowsTheJournalAndTakesItsPlace() throws {
        let folder = try ToolProcess.Folder()
        let (journal, copy) = (folder.path + "/journal", folder.path + "/copy")
        let post = #"{"postMessage":{"thread":"SW1A","author":"\#(Self.user)","body":"Oat?"}}"#
        #expect(try run("run", journal, input: Self.commands).status == 0)
        let first = try run("copy", journal, copy, "--json")
        let head = try run("head", journal).lines[0]
        #expect(
            first.output == #"{"head":"\#(head)","position":5,"copied":5,"finished":false}"# + "\n", "\(first.error)")
        #expect(try run("run", journal, input: post).status == 0)
        let second = try run("copy", journal, copy)
        #expect(
            second.lines == ["copied 1 event, up to position 6", try run("head", journal).lines[0]], "\(second.error)")
        for command in ["export", "checkpoint"] {
            #expect(try run(command, copy).output == run(command, journal).output)
        }
        #expect(try run("verify", copy, "--deep").status == 0)
        let early = try run("run", copy, input: post)
        #expect(
            early.status == 1 && early.error.hasPrefix("chat-journal: copy: ") && early.error.contains("copy --finish"),
            "\(early.error)")

        for copied in [0, 0] {
            let moved = try run("copy", journal, copy + "/.", "--finish", "--json")
            let end = try run("head", copy).lines[0]
            #expect(
                moved.output == #"{"head":"\#(end)","position":6,"copied":\#(copied),"finished":true}"# + "\n",
                "\(moved.error)")
        }
        let late = try run("run", journal, input: post)
        #expect(
            late.status == 1 && late.error.hasPrefix("chat-journal: moved: ") && late.error.contains(copy),
            "\(late.error)")
        #expect(try run("timeline", journal, "SW1A").lines.count == run("timeline", copy, "SW1A").lines.count)
        #expect(try run("run", copy, input: post).status == 0)
        #expect(try run("verify", copy, "--expect", head).status == 0)
        // The former place follows no more, and cannot be copied elsewhere.
        #expect(try run("copy", journal, folder.path + "/other").error.hasPrefix("chat-journal: moved: "))
        #expect(try run("copy", copy, journal, "--finish").status == 0)
        #expect(try run("run", journal, input: post).status == 0)
    }

    @Test func copyRejectsOtherPlaces() throws {
        let folder = try ToolProcess.Folder()
        let (journal, other) = (folder.path + "/journal", folder.path + "/other")
        for path in [journal, other] { #expect(try run("run", path, input: Self.commands).status == 0) }
        #expect(try run("copy", journal, other).error.hasPrefix("chat-journal: notEmpty: "))
        #expect(try run("copy", journal, folder.path + "/copy").status == 0)
        #expect(try run("copy", other, folder.path + "/copy").error.hasPrefix("chat-journal: headMismatch: "))
        #expect(try run("copy", folder.path + "/copy", folder.path + "/again").error.hasPrefix("chat-journal: copy: "))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/again"))
        #expect(
            try run("copy", folder.path + "/none", folder.path + "/again").error.hasPrefix("chat-journal: notFound: "))
        #expect(
            try run("copy", folder.path + "/none", folder.path + "/again", "--finish").error.hasPrefix(
                "chat-journal: notFound: "))
        #expect(try run("copy", journal, journal + "/").status == 64)
        #expect(try run("copy", journal).status == 64)
    }

    /// Without the trait, an address is an error, which does not repeat a password.
    @Test func addressNeedsTheTrait() throws {
        let folder = try ToolProcess.Folder()
        let address = "postgres://ann:secret@127.0.0.1:1/chat#main"
        let commands = [
            ["head", address], ["run", address], ["events", address], ["verify", address], ["stats", address],
            ["export", address],
            ["backup", address, folder.path + "/copy"], ["copy", address, folder.path + "/copy"],
            ["copy", folder.path + "/a", address],
            ["backup", folder.path + "/a", address], ["repair", address, "--to", folder.path + "/copy"],
        ]
        for arguments in commands {
            let outcome = try ToolProcess.run(arguments)
            #expect(outcome.status == 64 || outcome.status == 1)
            #expect(!outcome.error.isEmpty && !outcome.error.contains("secret"), "\(arguments): \(outcome.error)")
        }
        #expect(try run("repair", address, "--to", folder.path + "/copy").error.contains("repair is for directories"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/copy"))
    }

    @Test func repairListsLostEvents() throws {
        let folder = try ToolProcess.Folder()
        let journal = folder.path + "/journal"
        #expect(try run("run", journal, input: Self.commands).status == 0)
        #expect(try run("repair", journal, "--to", folder.path + "/same").status == 0)
        #expect(try run("export", folder.path + "/same").output == (try run("export", journal).output))

        let segment = journal + "/00000000000000000001.segment"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: segment))
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: URL(fileURLWithPath: segment))
        #expect(try run("verify", journal).status == 1)
        let table = try run("repair", journal, "--to", folder.path + "/new")
        #expect(table.status == 1)
        #expect(
            table.lines.first?.hasPrefix("00000000000000000001.segment bytes ") == true, "\(table.output)\(table.error)"
        )
        #expect(table.lines.first?.hasSuffix(" positions 5...5: lost: recordChecksum") == true)
        #expect(table.lines.dropFirst().first == "salvaged 4 of 5 events up to position 6")
        let exported = try run("export", folder.path + "/new").lines
        let same = try run("export", folder.path + "/same").lines
        #expect(exported.count == 6 && exported.prefix(4) == same.prefix(4))
        #expect(exported.dropLast().last?.contains(#"Z","lost":{}"#) == true)
        #expect(exported.last?.contains(#"Z","historyRepaired":{"from":5}"#) == true)
        #expect(try run("verify", folder.path + "/new").status == 0)
        #expect(try run("events", folder.path + "/new", "--kind", "lost").lines.count == 1)
        // The new journal accepts commands.
        #expect(try run("run", folder.path + "/new", input: Self.commands).status == 0)
        let json = try run("repair", journal, "--to", folder.path + "/json", "--json")
        #expect(
            json.status == 1
                && json.output.contains(#""salvaged":4,"lost":1,"losses":[{"positions":[5,5],"segment":"0"#))
        #expect(try run("repair", journal, "--to", folder.path + "/json").status == 1)
        #expect(try run("repair", journal).status == 64)
    }

    /// The lost end may have made a named thread private; that of an outward code is in no doubt.
    @Test func repairAndVerifyListThreadsInDoubtAndSetPolicyEndsIt() throws {
        let folder = try ToolProcess.Folder()
        let (journal, repaired) = (folder.path + "/journal", folder.path + "/new")
        let shed = "0190a000-0000-7000-8000-0000000000b1"
        let commands = """
            {"openThread":{"thread":"\(shed)","name":"Shed","by":"\(Self.user)"}}
            {"setThreadPolicy":{"thread":"\(shed)","policy":"inviteOnly","by":"\(Self.user)"}}

            """
        #expect(try run("run", journal, input: Self.commands + commands).status == 0)
        let segment = journal + "/00000000000000000001.segment"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: segment))
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: URL(fileURLWithPath: segment))
        let doubt = #"{"threadInDoubt":"\#(shed)","after":7}"#
        let report = try run("repair", journal, "--to", repaired, "--json")
        #expect(report.status == 1 && report.lines.count == 3 && report.lines.last == doubt, "\(report.output)")
        #expect(report.lines[1].hasPrefix(#"{"mayBeLost":["threadLeft","memberRemoved","userBanned","#))
        #expect(try run("verify", repaired, "--json").lines.dropFirst().map { $0 } == Array(report.lines.dropFirst()))
        let text = try run("verify", repaired)
        #expect(
            text.status == 0 && text.output.contains("thread \(shed) is in doubt: events after position 7 may be lost"))
        #expect(try run("set-policy", repaired, "--thread", "Shed").status == 64)
        let settled = try run("set-policy", repaired, "--thread", shed, "--policy", "open", "--json")
        #expect(settled.output == #"{"thread":"\#(shed)","policy":"open","position":10}"# + "\n", "\(settled.error)")
        #expect(try run("verify", repaired, "--json").lines.count == 2)
        let again = try run("set-policy", repaired, "--thread", shed, "--policy", "open")
        #expect(again.status == 1 && again.error.contains("unknownThread"), "\(again.error)")
    }
}
