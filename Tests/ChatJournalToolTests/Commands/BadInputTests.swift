import Foundation
import Testing

/// Wrong input: the error names the line, the field, the byte or the file, and nothing is lost.
@Suite struct BadInputTests {
    private static let ann = "0190a000-0000-7000-8000-0000000000a1"
    private static let register = #"{"registerUser":{"user":"\#(ann)","username":"Ann"}}"#

    @Test func invalidLineIsAnErrorOfThatLineOnly() throws {
        let folder = try ToolProcess.Folder()
        let lines = [
            "not json", "", "[]", "{}", #"{"fly":{}}"#, #"{"registerUser":{"username":"A"},"leaveThread":{}}"#,
            #"{"registerUser":{"username":"A","age":3}}"#, #"{"registerUser":{}}"#, #"{"registerUser":{"username":7}}"#,
            #"{"registerUser":{"username":null}}"#, #"{"registerUser":{"user":"x","username":"A"}}"#,
            #"{"registerUser":{"username":"A","username":"B"}}"#,
            #"{"markRead":{"user":"\#(Self.ann)","thread":"SW1A","upTo":-1}}"#,
            #"{"markRead":{"user":"\#(Self.ann)","thread":"SW1A","upTo":1.5}}"#,
            #"{"joinThread":{"user":"\#(Self.ann)","thread":"nowhere"}}"#, #"{"registerUser":{"username":"\ud800"}}"#,
            #"{"edit":{"message":"\#(Self.ann)","reply":"\#(Self.ann)","by":"\#(Self.ann)","body":"x"}}"#,
            #"{"retract":{"by":"\#(Self.ann)"}}"#,
            #"{"registerUser":{"username":"A"}} trailing"#, String(repeating: "[", count: 100_000),
            Self.register,
        ]
        let outcome = try ToolProcess.run(["run", folder.path + "/journal"], input: lines.joined(separator: "\n"))
        #expect(outcome.status == 1)
        #expect(outcome.lines.count == lines.count)
        for (index, line) in outcome.lines.enumerated().dropLast() {
            #expect(
                line.hasPrefix(#"{"line":\#(index + 1),"error":{"code":""#), "\(lines[index].prefix(100)) gave \(line)")
        }
        #expect(outcome.lines.last?.hasPrefix(#"{"line":\#(lines.count),"positions":[1,1]"#) == true)
        #expect(outcome.lines[6].contains(#""code":"unknownField""#) && outcome.lines[6].contains("age"))
        #expect(outcome.lines[7].contains(#""code":"missingField""#) && outcome.lines[7].contains("username"))
        #expect(outcome.lines[8].contains(#""code":"wrongType""#) && outcome.lines[8].contains("registerUser.username"))
        #expect(outcome.lines[11].contains(#""code":"duplicateField""#))
    }

    @Test func invalidUTF8NamesTheByte() throws {
        let folder = try ToolProcess.Folder()
        let bytes =
            Array(#"{"registerUser":{"username":"A"#.utf8) + [0xFF] + Array("\"}}\n".utf8) + Array(Self.register.utf8)
        let outcome = try ToolProcess.run(["run", folder.path + "/journal"], inputBytes: bytes)
        #expect(outcome.lines.first?.contains(#""code":"invalidUTF8""#) == true)
        #expect(outcome.lines.first?.contains("byte 30") == true)
        #expect(outcome.lines.last?.contains(#""positions":[1,1]"#) == true)
    }

    @Test func lineOfAHundredMegabytesIsSkipped() throws {
        let folder = try ToolProcess.Folder()
        var bytes = Array(#"{"registerUser":{"username":""#.utf8)
        bytes += [UInt8](repeating: UInt8(ascii: "x"), count: 100 << 20)
        bytes += Array("\"}}\n\(Self.register)\n".utf8)
        let outcome = try ToolProcess.run(["run", folder.path + "/journal"], inputBytes: bytes)
        #expect(outcome.status == 1)
        #expect(outcome.lines.first?.contains(#""code":"tooLong""#) == true)
        #expect(outcome.lines.last?.hasPrefix(#"{"line":2,"positions":[1,1]"#) == true)
    }

    @Test func largeBatchIsAnsweredLineByLine() throws {
        let folder = try ToolProcess.Folder()
        let body = String(repeating: "x", count: 16_000)
        let setup = [Self.register, #"{"setPostcode":{"user":"\#(Self.ann)","postcode":"SW1A 1AA"}}"#]
        let posts = (0..<2_200).map { _ in
            #"{"postMessage":{"thread":"SW1A","author":"\#(Self.ann)","body":"\#(body)"}}"#
        }
        let outcome = try ToolProcess.run(
            ["run", folder.path + "/journal", "--batch", "4096", "--durability", "written"],
            input: (setup + posts).joined(separator: "\n"))
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(outcome.lines.count == 2_202)
        #expect(outcome.lines.last?.hasPrefix(#"{"line":2202,"positions":[2204,2204]"#) == true)
    }

    @Test func controlCharactersInNamesAreRejected() throws {
        let folder = try ToolProcess.Folder()
        let outcome = try ToolProcess.run(
            ["run", folder.path + "/journal"],
            input: #"{"registerUser":{"username":"A\u0007nn"}}"# + "\n" + #"{"registerUser":{"username":"A\u202enn"}}"#)
        #expect(outcome.lines.allSatisfy { $0.contains(#""code":"invalidUsername""#) })
    }

    @Test func wrongUsageIs64() throws {
        for arguments in [
            [], ["fly"], ["run"], ["timeline", "j"], ["timeline", "j", "t", "u"], ["threads", "j", "--limit", "x"],
            ["threads", "j", "--limit", "-1"],
            ["threads", "j", "--colour"], ["run", "j", "--durability", "sometimes"], ["run", "j", "--batch", "0"],
            ["threads", "j", "--limit"],
            ["replies", "j", "not-an-id"], ["residents", "j", "nowhere"], ["events", "j", "--kind", "nothing"],
            ["import", "j", "f", "--format", "csv"],
        ] {
            let outcome = try ToolProcess.run(arguments)
            #expect(outcome.status == 64, "\(arguments): \(outcome.error)")
            #expect(outcome.error.hasPrefix("chat-journal: "), "\(arguments)")
            #expect(outcome.output == "")
        }
        #expect(try ToolProcess.run(["--help"]).status == 0)
        #expect(try ToolProcess.run(["help"]).output == ToolProcess.run(["--help"]).output)
        #expect(try ToolProcess.run(["help", "timeline"]).output == ToolProcess.run(["timeline", "--help"]).output)
        #expect(try ToolProcess.run(["help", "walk"]).status == 64)
        #expect(try ToolProcess.run(["timeline", "--help"]).output.contains("--before"))
    }

    @Test func directoryWithoutAJournalIsUnchanged() throws {
        let folder = try ToolProcess.Folder()
        let file = try folder.file("file", "not a journal")
        let other = folder.path + "/other"
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        try Data("hello".utf8).write(to: URL(fileURLWithPath: other + "/letter.txt"))
        for arguments in [
            ["run", file], ["threads", file], ["run", other], ["verify", other], ["threads", folder.path + "/absent"],
            ["head", folder.path + "/absent"],
        ] {
            let outcome = try ToolProcess.run(arguments)
            #expect(outcome.status == 1, "\(arguments)")
            #expect(outcome.error.hasPrefix("chat-journal: "), "\(arguments)")
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "not a journal")
        #expect(try FileManager.default.contentsOfDirectory(atPath: other) == ["letter.txt"])
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/absent"))
    }

    @Test func unknownNamesAreInTheError() throws {
        let folder = try ToolProcess.Folder()
        let journal = folder.path + "/journal"
        let open = (1...2).map {
            #"{"openThread":{"name":"Dogs","by":"\#(Self.ann)","thread":"0190a000-0000-7000-8000-00000000000\#($0)"}}"#
        }
        #expect(
            try ToolProcess.run(["run", journal], input: ([Self.register] + open).joined(separator: "\n")).status == 0)
        #expect(try ToolProcess.run(["timeline", journal, "Cats"]).error.contains("unknownThread"))
        #expect(try ToolProcess.run(["user", journal, "Nobody"]).error.contains("unknownUser"))
        let several = try ToolProcess.run(["timeline", journal, "Dogs"])
        #expect(several.status == 1)
        #expect(several.error.contains("0190a000-0000-7000-8000-000000000001, 0190a000-0000-7000-8000-000000000002"))
        #expect(try ToolProcess.run(["threads", journal, "--viewer", "Nobody"]).status == 1)
        #expect(try ToolProcess.run(["replies", journal, Self.ann]).error.contains("unknownMessage"))
    }

    @Test func importReportsRejectedLinesAndContinues() throws {
        let folder = try ToolProcess.Folder()
        let file = try folder.file(
            "chat.jsonl",
            """
            {"t":"2004-11-15T00:18:00Z","channel":"#rust","user":"Ann","id":"a:1","replyTo":null,"body":"one"}
            {"t":null,"channel":"#rust","user":"bob","id":"a:2","replyTo":"a:1","body":"two"}
            {"t":"yesterday","channel":"#rust","user":"bob","id":"a:3","replyTo":null,"body":"three"}
            {"t":null,"channel":"#rust","user":"bob","id":"a:4","replyTo":"a:1","body":" "}
            {"t":null,"channel":"#rust","user":"bob","replyTo":null,"body":"five"}

            """)
        let journal = folder.path + "/journal"
        let first = try ToolProcess.run(["import", journal, file, "--json"])
        #expect(first.status == 1)
        #expect(first.lines.count == 4)
        #expect(first.lines.contains { $0.hasPrefix(#"{"line":3,"error":{"code":"invalidValue""#) })
        #expect(first.lines.contains { $0.hasPrefix(#"{"line":4,"rejection":{"code":"invalidBody""#) })
        #expect(first.lines.contains { $0.hasPrefix(#"{"line":5,"error":{"code":"missingField""#) })
        #expect(
            first.lines.last
                == #"{"lines":5,"unreadable":2,"messages":1,"replies":1,"duplicates":0,"refused":1,"users":2,"threads":1,"#
                + #""policies":{"inviteOnly":1}}"#)
        let head = try ToolProcess.run(["head", journal]).output
        let text = try ToolProcess.run(["import", journal, file])
        #expect(text.error.contains("line 4: invalidBody"))
        #expect(try ToolProcess.run(["head", journal]).output == head)
    }
}
