import Foundation
import TestSupport
import Testing

/// `import --format events`: an export of this version or an earlier one is imported.
@Suite struct EventImportTests {
    private func lines(_ arguments: String...) throws -> [String] {
        let outcome = try ToolProcess.run(arguments)
        #expect(outcome.status == 0 && outcome.error == "", "\(arguments): \(outcome.output) \(outcome.error)")
        return outcome.lines
    }

    private func `import`(_ journal: String, _ file: String) throws -> ToolProcess.Outcome {
        try ToolProcess.run(["import", journal, file, "--format", "events", "--json"])
    }

    /// The golden journals hold every kind of event: erased, withheld, lost and unknown ones too.
    @Test(arguments: ["history", "stubs", "late"]) func importedExportIsExportedUnchanged(folder: String) throws {
        let target = try ToolProcess.Folder()
        let journal = try GoldenCase.copy(of: folder, to: target)
        let exported = try lines("export", journal)
        let file = try target.file("export.jsonl", exported.joined(separator: "\n") + "\n")
        let copy = target.path + "/copy"
        let outcome = try self.import(copy, file)
        let head = try #require(try lines("head", copy).first)
        #expect(outcome.status == 0 && outcome.error == "")
        #expect(outcome.lines.count == 1)
        #expect(
            outcome.output.hasPrefix(#"{"lines":\#(exported.count),"events":\#(exported.count),"present":0,"commits":"#)
        )
        #expect(outcome.output.hasSuffix(#""position":\#(exported.count),"head":"\#(head)","sameChain":false}"# + "\n"))
        #expect(try lines("export", copy) == exported)
        #expect(try lines("verify", copy, "--deep").first?.hasPrefix("sound up to position \(exported.count)") == true)
        for view in [
            ["threads"], ["timeline", "SW1A"], ["user", "0190a000-0000-7000-8000-0000000000a1"], ["readers", "SW1A"],
            ["activity"],
        ] {
            let there = try ToolProcess.run([view[0], journal] + view.dropFirst() + ["--json"])
            #expect(try ToolProcess.run([view[0], copy] + view.dropFirst() + ["--json"]) == there, "\(view)")
        }
        let again = try self.import(copy, file)
        #expect(again.status == 0 && again.output.contains(#""events":0,"present":\#(exported.count),"commits":0,"#))
        #expect(try lines("head", copy).first == head)
    }

    /// The first exports have neither fold keys nor the ends of commits.
    @Test(arguments: ["history", "stubs", "late"]) func goldenExportIsImported(folder: String) throws {
        let target = try ToolProcess.Folder()
        let golden = try #require(try GoldenCase.cases(of: folder).first { $0.arguments == ["export", "JOURNAL"] })
        let file = try target.file("export.jsonl", golden.lines.joined(separator: "\n") + "\n")
        let copy = target.path + "/copy"
        #expect(try self.import(copy, file).status == 0)
        #expect(try golden.differences(of: try ToolProcess.run(["export", copy])) == [])
        #expect(try lines("verify", copy, "--deep").first?.hasPrefix("sound") == true)
        #expect(try self.import(copy, file).output.contains(#""events":0,"#))
    }

    /// Wherever the file ends, the import ends with a whole commit and status 1, and the whole file
    /// continues it.
    @Test func interruptedImportContinues() throws {
        let target = try ToolProcess.Folder()
        let exported = try lines("export", try GoldenCase.copy(of: "history", to: target))
        let whole = try target.file("whole.jsonl", exported.joined(separator: "\n"))
        var endings: Set<Int32> = []
        for count in Repetitions.oneIn(12, of: 1..<exported.count) {
            let copy = target.path + "/copy-\(count)"
            // The last line is truncated too.
            for part in [
                exported.prefix(count).joined(separator: "\n"),
                exported.prefix(count + 1).joined(separator: "\n").dropLast(9).description,
            ] {
                let outcome = try self.import(copy, try target.file("part.jsonl", part))
                endings.insert(outcome.status)
                if outcome.status != 0 {
                    #expect(
                        outcome.lines.first?.hasPrefix(#"{"line":\#(count),"error":{"code":"endsInsideCommit","#)
                            == true
                            || outcome.lines.first?.hasPrefix(#"{"line":\#(count + 1),"error":{"code":"notJSON","#)
                                == true
                    )
                }
                let present = try lines("export", copy)
                #expect(present.count <= count && present == Array(exported.prefix(present.count)))
                #expect(
                    present.last.map {
                        $0.contains(#""position":\#(present.count),"#)
                            && $0.hasSuffix(#","commitEnd":\#(present.count)}"#)
                    }
                        ?? true)
            }
            #expect(try self.import(copy, whole).status == 0)
            #expect(try lines("export", copy) == exported)
        }
        #expect(endings == [0, 1])
    }

    @Test func invalidExportIsRejectedWithItsLine() throws {
        let target = try ToolProcess.Folder()
        let exported = try lines("export", try GoldenCase.copy(of: "history", to: target))
        func refusal(_ name: String, _ change: (inout [String]) -> Void) throws -> String {
            var lines = exported
            change(&lines)
            let copy = target.path + "/" + name
            let outcome = try self.import(copy, try target.file(name + ".jsonl", lines.joined(separator: "\n")))
            #expect(outcome.status == 1 && outcome.error == "" && outcome.lines.count == 2)
            let present = try self.lines("export", copy)
            #expect(present == Array(exported.prefix(present.count)))
            return try #require(outcome.lines.first)
        }
        #expect(
            try refusal("redacted") {
                $0[7] = $0[7].replacing(#""messagePosted""#, with: #""redacted":["body"],"messagePosted""#)
            }
            .hasPrefix(#"{"line":8,"error":{"code":"invalidValue","message":"redacted: an event that was redacted"#))
        #expect(
            try refusal("gap") { $0.remove(at: 20) }.hasPrefix(
                #"{"line":21,"error":{"code":"positionGap","message":"The event has position 22, where 21 is due"#))
        #expect(
            try refusal("time") { $0[30] = $0[30].replacing(/"recordedAt":"2026/, with: "\"recordedAt\":\"2025") }
                .hasPrefix(#"{"line":31,"error":{"code":"timeWentBack","#))
        #expect(try refusal("text") { $0[3] = "no event" }.hasPrefix(#"{"line":4,"error":{"code":"notJSON","#))
        #expect(try refusal("empty") { $0[3] = "" }.hasPrefix(#"{"line":4,"error":{"code":"notJSON","#))
        #expect(
            try refusal("message") {
                $0[3] = #"{"t":null,"channel":"c","user":"u","id":"1","replyTo":null,"body":"b"}"#
            }.hasPrefix(
                #"{"line":4,"error":{"code":"unknownField","#))
    }

    @Test func journalWithOtherEventsIsUnchanged() throws {
        let target = try ToolProcess.Folder()
        let journal = try GoldenCase.copy(of: "history", to: target)
        let exported = try lines("export", journal)
        let other = target.path + "/other"
        #expect(try ToolProcess.run(["run", other], input: #"{"registerUser":{"username":"Ann"}}"# + "\n").status == 0)
        let head = try lines("head", other)
        let file = try target.file("export.jsonl", exported.joined(separator: "\n"))
        let outcome = try self.import(other, file)
        #expect(outcome.status == 1)
        #expect(
            outcome.lines.first?.hasPrefix(
                #"{"line":1,"error":{"code":"differs","message":"The journal has another event at position 1"#)
                == true)
        #expect(try lines("head", other) == head)
        // The exported journal itself holds exactly the file's events.
        #expect(try self.import(journal, file).output.contains(#""events":0,"present":66,"commits":0,"position":66,"#))
        let shorter = try target.file("shorter.jsonl", exported.prefix(10).joined(separator: "\n"))
        #expect(
            try self.import(journal, shorter).lines.first?.hasPrefix(#"{"line":10,"error":{"code":"journalIsLonger","#)
                == true)
        // The summary for people says that the chain differs.
        let text = try ToolProcess.run(["import", target.path + "/copy", file, "--format", "events"])
        #expect(text.status == 0 && text.lines.count == 3 && text.lines[1].contains("salted anew"))
    }
}
