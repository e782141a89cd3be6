import Foundation
import Testing

/// The lines that an import reads, and the summary that it prints.
@Suite struct ImportOutputTests {
    @Test func summaryListsRenamedUsers() throws {
        let folder = try ToolProcess.Folder()
        let journal = folder.path + "/journal"
        let register = #"{"registerUser":{"username":"Amy","subject":"s"}}"#
        #expect(try ToolProcess.run(["run", journal], input: register).status == 0)
        let file = try folder.file(
            "chat.jsonl",
            """
            {"t":null,"channel":"#rust","user":"Amy","id":"1","replyTo":null,"body":"one","editedAt":"2004-11-15T00:19:00Z"}
            {"t":null,"channel":"#rust","user":{"id":"7","name":"AMY","subject":"s"},"id":"2","replyTo":"1","body":"two"}
            {"t":null,"channel":"#rust","user":{"id":"8","name":"Bob"},"join":true}
            {"t":null,"channel":"#rust","user":{"id":8,"name":"Bob"},"join":true}
            {"t":null,"channel":"#rust","user":7,"id":"3","replyTo":null,"body":"three"}

            """)
        let copy = folder.path + "/copy"
        try FileManager.default.copyItem(atPath: journal, toPath: copy)
        let json = try ToolProcess.run(["import", journal, file, "--json"])
        #expect(json.status == 1 && json.lines.count == 3)
        #expect(
            json.lines.first
                == #"{"line":4,"error":{"code":"wrongType","message":"user.id: the value is not a string"}}"#)
        #expect(
            json.lines.dropFirst().first
                == #"{"line":5,"error":{"code":"wrongType","message":"user: the value is not a string"}}"#)
        let sum = try #require(json.lines.last)
        #expect(
            sum.hasPrefix(
                #"{"lines":5,"unreadable":2,"messages":1,"replies":1,"duplicates":0,"refused":0,"users":3,"threads":1,"policies":{"inviteOnly":1},"joins":1,"edits":1,"#
                    + #""renamed":[{"user":""#))
        #expect(
            sum.contains(#""name":"Amy","username":"Amy~2"}"#) && sum.contains(#""name":"AMY","username":"AMY~3"}]"#))
        #expect(sum.hasSuffix(#""username":"AMY~3","subject":"s"}]}"#))
        let text = try ToolProcess.run(["import", copy, file])
        #expect(
            text.lines.dropFirst() == [
                "new threads by policy: 1 inviteOnly", "1 joins and 1 edits imported", "Amy is Amy~2 here",
                "AMY is AMY~3 here",
                "AMY~3 has no subject here: another user has s",
            ])
        let head = try ToolProcess.run(["head", journal]).output
        let again = try ToolProcess.run(["import", journal, file, "--json"])
        #expect(
            again.lines.last
                == #"{"lines":5,"unreadable":2,"messages":0,"replies":0,"duplicates":3,"refused":0,"users":0,"threads":0}"#
        )
        #expect(try ToolProcess.run(["head", journal]).output == head)
    }

    /// Channels are private unless the line of the channel or the option says otherwise;
    /// `set-policy` closes what an import left open.
    @Test func policiesOfChannelsAreSetAndClosed() throws {
        let folder = try ToolProcess.Folder()
        let journal = folder.path + "/journal"
        let file = try folder.file(
            "chat.jsonl",
            """
            {"channel":"#rust","policy":"open"}
            {"channel":"core-team","policy":"inviteOnly","members":["Dan",{"id":"7","name":"Eve"}]}
            {"t":null,"channel":"#rust","user":"Ann","id":"1","replyTo":null,"body":"one"}
            {"t":null,"channel":"core-team","user":"Ann","id":"1","replyTo":null,"body":"two"}
            {"t":null,"channel":"dm: A, B","user":"Ann","id":"1","replyTo":null,"body":"three"}
            {"channel":"dm: A, B","policy":"open"}
            {"channel":"SW1A","policy":"residents"}
            {"channel":"#c","policy":"open","member":["Dan"]}

            """)
        let first = try ToolProcess.run(["import", journal, file, "--json"])
        #expect(first.status == 1)
        #expect(first.lines.dropLast().map { $0.contains("invalidPolicy") } == [true, false, false])
        let summary = try #require(first.lines.last)
        #expect(
            summary
                == #"{"lines":8,"unreadable":2,"messages":3,"replies":0,"duplicates":0,"refused":1,"users":3,"threads":3,"#
                + #""policies":{"open":1,"inviteOnly":2},"joins":2}"#)
        // A second import appends nothing, and says what is open.
        let head = try ToolProcess.run(["head", journal]).output
        let again = try ToolProcess.run(["import", journal, file, "--json", "--policy", "open"])
        #expect(
            again.lines.last?.contains(#""duplicates":5"#) == true
                && again.lines.last?.contains(#""earlierOpen":1"#) == true)
        #expect(try ToolProcess.run(["head", journal]).output == head)
        let text = try ToolProcess.run(["import", journal, file])
        #expect(
            text.lines.contains(
                "1 threads of earlier imports are open to every user: `set-policy JOURNAL --imported inviteOnly` closes them"
            ))

        #expect(try ToolProcess.run(["set-policy", journal]).status == 64)
        #expect(try ToolProcess.run(["set-policy", journal, "--imported", "open"]).status == 64)
        let closed = try ToolProcess.run(["set-policy", journal, "--imported", "inviteOnly", "--json"])
        #expect(closed.status == 0 && closed.output.hasPrefix(#"{"policy":"inviteOnly","threads":[""#))
        let threads = try ToolProcess.run(["threads", journal, "--json"])
        #expect(threads.lines.allSatisfy { $0.contains(#""policy":"inviteOnly""#) } && threads.lines.count == 3)
        let unchanged = try ToolProcess.run(["set-policy", journal, "--imported", "inviteOnly"])
        #expect(unchanged.lines == ["0 imported threads are inviteOnly from now on"])
        #expect(try ToolProcess.run(["verify", journal, "--deep"]).status == 0)
        // An export with such policies is imported as it is.
        let export = try folder.file("export.jsonl", try ToolProcess.run(["export", journal]).output)
        let copy = folder.path + "/copy"
        #expect(try ToolProcess.run(["import", copy, export, "--format", "events"]).status == 0)
        #expect(try ToolProcess.run(["import", copy, export, "--format", "events", "--policy", "open"]).status == 64)
        #expect(try ToolProcess.run(["export", copy]).output == ToolProcess.run(["export", journal]).output)
    }
}
