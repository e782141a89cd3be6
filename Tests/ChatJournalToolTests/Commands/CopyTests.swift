import Foundation
import Testing

/// `backup` and `repair` of the tool.
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
        #expect(part.output.contains(#""copied":["00000000000000000001.segment"],"skipped":[],"rewritten":[],"bytes":"#))
        let whole = try run("backup", journal, copy)
        #expect(whole.status == 0 && whole.output.hasPrefix("copied up to position 5: "), "\(whole.output)\(whole.error)")
        #expect(whole.lines.last == (try run("head", journal).lines.last))
        #expect(try run("export", copy).output == (try run("export", journal).output))
        #expect(try run("verify", copy, "--deep").status == 0)
        // A copy that was written to is not a copy any more.
        #expect(try run("run", copy, input: #"{"postMessage":{"thread":"SW1A","author":"\#(Self.user)","body":"Oat?"}}"#).status == 0)
        let refused = try run("backup", journal, copy)
        #expect(refused.status == 1 && refused.error.contains("headMismatch"))
        #expect(try run("backup", journal).status == 64)
        #expect(try run("backup", journal, copy, "--up-to", "x").status == 64)
        #expect(try run("backup", journal, folder.path + "/other", "--up-to", "6").status == 1)
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
        #expect(table.lines.first?.hasPrefix("00000000000000000001.segment bytes ") == true, "\(table.output)\(table.error)")
        #expect(table.lines.first?.hasSuffix(" positions 5...5: lost: recordChecksum") == true)
        #expect(table.lines.dropFirst().first == "salvaged 4 of 5 events up to position 5")
        let exported = try run("export", folder.path + "/new").lines
        let same = try run("export", folder.path + "/same").lines
        #expect(exported.count == 5 && exported.prefix(4) == same.prefix(4))
        #expect(exported.last?.hasSuffix(#"Z","lost":{},"commitEnd":5}"#) == true)
        #expect(try run("verify", folder.path + "/new").status == 0)
        #expect(try run("events", folder.path + "/new", "--kind", "lost").lines.count == 1)
        // The new journal accepts commands.
        #expect(try run("run", folder.path + "/new", input: Self.commands).status == 0)
        let json = try run("repair", journal, "--to", folder.path + "/json", "--json")
        #expect(json.status == 1 && json.output.contains(#""salvaged":4,"lost":1,"losses":[{"positions":[5,5],"segment":"0"#))
        #expect(try run("repair", journal, "--to", folder.path + "/json").status == 1)
        #expect(try run("repair", journal).status == 64)
    }
}
