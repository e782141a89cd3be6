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
        #expect(json.lines.first == #"{"line":4,"error":{"code":"wrongType","message":"user.id: the value is not a string"}}"#)
        #expect(json.lines.dropFirst().first == #"{"line":5,"error":{"code":"wrongType","message":"user: the value is not a string"}}"#)
        let sum = try #require(json.lines.last)
        #expect(
            sum.hasPrefix(
                #"{"lines":5,"unreadable":2,"messages":1,"replies":1,"duplicates":0,"refused":0,"users":3,"threads":1,"joins":1,"edits":1,"#
                    + #""renamed":[{"user":""#))
        #expect(sum.contains(#""name":"Amy","username":"Amy~2"}"#) && sum.contains(#""name":"AMY","username":"AMY~3"}]"#))
        #expect(sum.hasSuffix(#""username":"AMY~3","subject":"s"}]}"#))
        let text = try ToolProcess.run(["import", copy, file])
        #expect(
            text.lines.dropFirst() == [
                "1 joins and 1 edits imported", "Amy is Amy~2 here", "AMY is AMY~3 here", "AMY~3 has no subject here: another user has s",
            ])
        let head = try ToolProcess.run(["head", journal]).output
        let again = try ToolProcess.run(["import", journal, file, "--json"])
        #expect(
            again.lines.last == #"{"lines":5,"unreadable":2,"messages":0,"replies":0,"duplicates":3,"refused":0,"users":0,"threads":0}"#)
        #expect(try ToolProcess.run(["head", journal]).output == head)
    }
}
