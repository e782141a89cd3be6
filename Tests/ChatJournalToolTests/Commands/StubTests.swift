import Chat
import ChatDomain
import EventJournal
import Foundation
import StubRewriter
import Testing

/// The output for a journal with erased or withheld content.
@Suite struct StubTests {
    private static let ann = "0190a000-0000-7000-8000-0000000000a1"
    private static let thread = "0190a000-0000-7000-8000-00000000e001"
    private static let message = "0190a000-0000-7000-8000-00000000c001"
    private static let reply = "0190a000-0000-7000-8000-00000000d001"
    private static let session = "0190a000-0000-7000-8000-00000000f001"

    private static let commands = """
        {"registerUser":{"user":"\(ann)","username":"Ann","subject":"sub|1"}}
        {"changeUsername":{"user":"\(ann)","username":"An \\"quoted\\" name"}}
        {"setPostcode":{"user":"\(ann)","postcode":"SW1A 1AA"},"correlation":"c-1"}
        {"openThread":{"thread":"\(thread)","name":"Dogs","by":"\(ann)"}}
        {"postMessage":{"message":"\(message)","thread":"\(thread)","author":"\(ann)","body":"Milk?"},"correlation":"c-2"}
        {"reply":{"reply":"\(reply)","message":"\(message)","author":"\(ann)","body":"I \\u001b[31mgo"}}
        {"edit":{"reply":"\(reply)","by":"\(ann)","body":"I go"}}
        {"edit":{"message":"\(message)","by":"\(ann)","body":"Oat milk?"}}
        {"markRead":{"user":"\(ann)","thread":"\(thread)","upTo":6}}
        {"startSession":{"user":"\(ann)","session":"\(session)","device":"telephone"}}
        {"endSession":{"session":"\(session)"}}
        {"endSession":{"session":"\(session)"}}
        {"registerUser":{"username":"Bob"}}
        {"registerUser":{"username":"Cem"}}
        """

    /// A journal of small segments, so that the first events are in sealed ones.
    private func journal(_ folder: ToolProcess.Folder) throws -> String {
        let path = folder.path + "/journal"
        let store = try ChatStore.open(path, options: StoreOptions(journal: JournalOptions(segmentSize: 512)))
        for line in Self.commands.split(separator: "\n") {
            _ = try store.executeBlocking([try JSONDecoder().decode(CommandRequest.self, from: Data(line.utf8))])[0]
                .get()
        }
        try store.close()
        return path
    }

    /// The line of an event without its content: no correlation, `erased` if it had content, and
    /// null in place of text.
    private func stubbed(_ line: String) -> String {
        var stub = line.replacing(/"(body|username|foldKey|subject|postcode|device)":("([^"\\]|\\.)*"|null)/) {
            "\"\($0.output.1)\":null"
        }
        stub = stub.replacing(#""name":"Dogs""#, with: #""name":null"#).replacing(/"correlation":"[^"]*",/, with: "")
        guard stub != line, let time = stub.firstMatch(of: /"recordedAt":"[^"]*",/) else { return line }
        return stub.replacingCharacters(in: time.range, with: time.output + #""erased":true,"#)
    }

    @Test(arguments: [RecordContentState.erased, .withheld], ["export", "events"])
    func eventShowsKeptFieldsAndNullForOthers(state: RecordContentState, command: String) throws {
        let folder = try ToolProcess.Folder()
        let journal = try journal(folder)
        let before = try ToolProcess.run([command, journal, "--json"]).lines
        let head = try #require(try ToolProcess.run(["head", journal]).lines.first)
        let chosen = Set(try StubRewriter(journal).rewrite { position, _, _ in position % 7 == 2 ? .whole : state })
        #expect(chosen.count > 10)
        let after = try ToolProcess.run([command, journal, "--json"])
        #expect(after.status == 0 && after.error == "")
        let expected = before.enumerated().map {
            chosen.contains(Position($0.offset + 1)) ? stubbed($0.element) : $0.element
        }
        #expect(after.lines == expected)
        #expect(after.lines.filter { $0.contains(#","erased":true,""#) }.count > 7)
        let registered =
            command == "export"
            ? #"{"user":"\#(Self.ann)","username":null,"foldKey":null,"subject":null},"commitEnd":1}"#
            : #"{"user":"\#(Self.ann)","username":null,"subject":null}}"#
        #expect(after.lines[0].hasSuffix(#"Z","erased":true,"userRegistered":"# + registered))
        for flag in ["--deep", "--json"] {
            // No event orders an erasure.
            let outcome = try ToolProcess.run(["verify", journal, "--expect", head, flag])
            #expect(outcome.status == (state == .erased ? 1 : 0))
            #expect(outcome.output.contains("stubWithoutErasure") == (state == .erased))
        }
        // The JSON decodes to the same events.
        for line in after.lines {
            let event = try JSONDecoder().decode(RecordedEvent.self, from: Data(line.utf8))
            #expect(event.event.isErased == line.contains(#""erased":true"#))
        }
    }

    @Test func viewsShowErasedText() throws {
        let folder = try ToolProcess.Folder()
        let journal = try journal(folder)
        try StubRewriter(journal).rewrite { _, _, _ in .erased }
        func lines(_ arguments: String...) throws -> [String] {
            let outcome = try ToolProcess.run([arguments[0], journal] + arguments.dropFirst())
            #expect(outcome.status == 0 && outcome.error == "", "\(arguments) \(outcome.error)")
            return outcome.lines
        }
        let message = try #require(try lines("timeline", Self.thread, "--json").first)
        #expect(
            message.contains(#""author":{"id":"\#(Self.ann)","username":null},"body":null,"#)
                && message.contains(#""retracted":false"#))
        #expect(try lines("timeline", Self.thread).contains { $0.contains("(erased) (edited)") })
        #expect(try lines("replies", Self.message, "--json").first?.contains(#""username":null},"body":null,"#) == true)
        #expect(
            try lines("threads", "--json").contains {
                $0.contains(#""id":"\#(Self.thread)","name":null,"outwardCode":null,"#)
            })
        #expect(try lines("threads", "--json").contains { $0.contains(#""name":"SW1A","outwardCode":"SW1A","#) })
        #expect(try lines("user", Self.ann, "--json").first?.contains(#""username":null,"postcode":null,"#) == true)
        #expect(try lines("residents", "SW1A", "--json").first?.contains(#""postcode":null"#) == true)
        for view in [
            ["user", Self.ann], ["threads"], ["members", "SW1A"], ["residents", "SW1A"], ["replies", Self.message],
        ] {
            #expect(try ToolProcess.run([view[0], journal] + view.dropFirst()).output.contains("(erased)"), "\(view)")
        }
    }
}
