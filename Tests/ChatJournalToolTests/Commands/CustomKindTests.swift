import Testing

/// `events --custom-kind` shows the custom events of the given kinds.
@Suite struct CustomKindTests {
    private static let ann = "0190a000-0000-7000-8000-0000000000a1"
    private static let thread = "0190a000-0000-7000-8000-0000000000b1"

    private static let commands =
        """
        {"registerUser":{"user":"\(ann)","username":"Ann"}}
        {"openThread":{"thread":"\(thread)","name":"Dogs","by":"\(ann)"}}
        {"postMessage":{"thread":"\(thread)","author":"\(ann)","body":"Who walks?"}}

        """
        + ["poll", "vote", "vote", "close"].map { kind in
            #"{"custom":{"kind":"org.example.\#(kind)","thread":"\#(thread)","by":"\#(ann)","payload":{}}}"# + "\n"
        }.joined()

    private func kinds(_ journal: String, _ arguments: String...) throws -> [String] {
        let outcome = try ToolProcess.run(["events", journal, "--json"] + arguments)
        #expect(outcome.status == 0, "\(outcome.error)")
        return outcome.lines.compactMap { $0.firstMatch(of: /"kind":"org\.example\.(\w+)"/).map { String($0.1) } ?? $0 }
    }

    @Test func kindsAreSelected() throws {
        let folder = try ToolProcess.Folder()
        let journal = folder.path + "/J"
        #expect(try ToolProcess.run(["run", journal], input: Self.commands).status == 0)
        #expect(try kinds(journal, "--custom-kind", "org.example.vote") == ["vote", "vote"])
        #expect(
            try kinds(journal, "--custom-kind", "org.example.poll", "--custom-kind=org.example.close") == [
                "poll", "close",
            ])
        #expect(try kinds(journal, "--custom-kind", "org.example.vote", "--viewer", "Ann") == ["vote", "vote"])
        #expect(try kinds(journal, "--custom-kind", "org.example.other").isEmpty)
        #expect(try kinds(journal, "--custom-kind", "org.example.vote", "--kind", "messagePosted").isEmpty)
    }

    @Test func malformedKindIsWrongUsage() throws {
        let outcome = try ToolProcess.run(["events", "J", "--custom-kind", "poll"])
        #expect(outcome.status == 64)
        #expect(outcome.error.contains("--custom-kind takes a reverse-DNS name, such as org.example.poll, not 'poll'"))
    }
}
