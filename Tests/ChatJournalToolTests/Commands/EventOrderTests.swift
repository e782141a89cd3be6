import Foundation
import Testing

/// The tool prints the fields of an event in the order of the tables in `EventJSON.md`.
///
/// `JSONEncoder` has another order; the tests of `ChatDomain` show that fields are read in any
/// order.
@Suite struct EventOrderTests {
    private static let ann = "0190a000-0000-7000-8000-0000000000a1"
    private static let message = "0190a000-0000-7000-8000-00000000c001"
    private static let reply = "0190a000-0000-7000-8000-00000000c002"
    private static let session = "0190a000-0000-7000-8000-00000000d001"
    private static let club = "0190a000-0000-7000-8000-00000000e001"
    private static let eve = "0190a000-0000-7000-8000-0000000000a2"

    private static let commands = """
        {"registerUser":{"user":"\(ann)","username":"Ann","subject":"s"},"correlation":"c"}
        {"changeUsername":{"user":"\(ann)","username":"Anne"}}
        {"setPostcode":{"user":"\(ann)","postcode":"SW1A 1AA"}}
        {"openThread":{"name":"Dogs","by":"\(ann)"},"correlation":"c"}
        {"postMessage":{"message":"\(message)","thread":"SW1A","author":"\(ann)","body":"Milk?"}}
        {"reply":{"reply":"\(reply)","message":"\(message)","author":"\(ann)","body":"I go"}}
        {"edit":{"message":"\(message)","by":"\(ann)","body":"Oat milk?"}}
        {"edit":{"reply":"\(reply)","by":"\(ann)","body":"I went"}}
        {"react":{"reply":"\(reply)","by":"\(ann)","emoji":"👍"}}
        {"react":{"message":"\(message)","by":"\(ann)","emoji":":wave:"}}
        {"unreact":{"reply":"\(reply)","by":"\(ann)","emoji":"👍"}}
        {"unreact":{"message":"\(message)","by":"\(ann)","emoji":":wave:"}}
        {"retract":{"reply":"\(reply)","by":"\(ann)"}}
        {"retract":{"message":"\(message)","by":"\(ann)"}}
        {"markRead":{"user":"\(ann)","thread":"SW1A","upTo":3}}
        {"markUnread":{"user":"\(ann)","thread":"SW1A","from":2}}
        {"setNotifications":{"user":"\(ann)","thread":"SW1A","level":"none"}}
        {"markInboxRead":{"user":"\(ann)","upTo":3}}
        {"setProfile":{"user":"\(ann)","about":"Bees"}}
        {"openThread":{"thread":"\(club)","name":"Club","by":"\(ann)"}}
        {"renameThread":{"thread":"\(club)","name":"Den","by":"\(ann)"}}
        {"registerUser":{"user":"\(eve)","username":"Eve"}}
        {"joinThread":{"user":"\(eve)","thread":"\(club)"}}
        {"openDirect":{"by":"\(eve)","with":["\(ann)"]}}
        {"startSession":{"user":"\(ann)","session":"\(session)","device":"phone"}}
        {"endSession":{"session":"\(session)"}}
        {"leaveThread":{"user":"\(ann)","thread":"SW1A"}}

        """

    /// The names in backquotes in a text.
    private func names(_ text: Substring) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }.map {
            String($0.element)
        }
    }

    /// The fields of a line, in its order, without those inside the payload of a custom event.
    private func fields(_ line: String) -> [String] {
        let end = line.firstRange(of: #""payload":"#)?.upperBound ?? line.endIndex
        return line[..<end].matches(of: #/"([A-Za-z]+)":/#).map { String($0.output.1) }
    }

    @Test func fieldsHaveTheDocumentedOrder() throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(
            contentsOf: package.appending(path: "Sources/ChatDomain/ChatDomain.docc/EventJSON.md"), encoding: .utf8)
        var kinds: [String: [String]] = [:]
        for row in page.split(separator: "\n") where row.hasPrefix("| `") {
            let cells = row.split(separator: "|")
            for kind in names(cells[0]) { kinds[kind] = names(cells[1]) }
        }
        let envelope = ["position", "recordedAt", "sentAt", "imported", "correlation", "erased"]
        let overview = try #require(page.firstRange(of: "An event is an object"))
        #expect(names(page[overview.lowerBound...]).filter(envelope.contains).prefix(envelope.count) == envelope[...])

        let folder = try ToolProcess.Folder()
        let chat = try folder.file(
            "chat",
            #"{"t":"2020-03-23T20:30:00Z","channel":"cats","user":"Bob","id":"1","replyTo":null,"body":"Miaow"}"# + "\n"
        )
        #expect(try ToolProcess.run(["run", folder.path + "/J"], input: Self.commands).status == 0)
        #expect(try ToolProcess.run(["import", folder.path + "/J", chat]).status == 0)
        // Some of these commands are rejected on purpose.
        let community = try String(
            contentsOf: package.appending(path: "Tests/Golden/inputs/community.jsonl"), encoding: .utf8)
        #expect(try ToolProcess.run(["run", folder.path + "/K"], input: withAcquaintances(community)).status == 1)
        for target in [["--user", "Bob"], ["--event", "1"]] {
            #expect(try ToolProcess.run(["erase", folder.path + "/K", "--reason", "spam"] + target).status == 0)
        }
        // The form without the fields that an export adds.
        let lines = try ["/J", "/K"].flatMap { try ToolProcess.run(["events", folder.path + $0, "--json"]).lines }
        var seen: Set<String> = []
        for line in lines {
            let fields = fields(line)
            let kind = try #require(fields.first { kinds[$0] != nil })
            let place = try #require(fields.firstIndex(of: kind))
            #expect(Array(fields[..<place]) == envelope.filter(fields[..<place].contains), "\(line)")
            // A reaction is to a message or to a reply, and most posts mention nobody.
            let optional = kind.hasPrefix("reaction") ? ["reply"] : ["mentions"]
            #expect(
                Array(fields[(place + 1)...]) == kinds[kind]?.filter { !optional.contains($0) || fields.contains($0) },
                "\(line)")
            seen.formUnion([kind] + fields[..<place])
        }
        // A correction needs a clock that was wrong, and has no fields.
        #expect(kinds["clockCorrected"] == [])
        #expect(kinds["historyRepaired"] == ["from"])
        #expect(
            seen
                == Set(kinds.keys).subtracting([
                    "lost", "unknown", "foldKey", "commitEnd", "clockCorrected", "historyRepaired",
                ]).union(
                    envelope))
    }

    /// Lets all users of an input be in one thread before its first thread opens, because one acts
    /// only on people whom one knows.
    private func withAcquaintances(_ input: String) -> String {
        let lines = input.split(separator: "\n")
        let users = lines.compactMap { line in
            line.hasPrefix(#"{"registerUser""#)
                ? line.firstRange(of: #""user":""#).map { line[$0.upperBound...].prefix(36) } : nil
        }
        let (first, hall) = (users.first ?? "", "0195b0a8-7c00-7000-8000-0000000000ff")
        let common =
            [#"{"openThread":{"thread":"\#(hall)","name":"Hall","by":"\#(first)"}}"#]
            + users.dropFirst().map { #"{"joinThread":{"user":"\#($0)","thread":"\#(hall)"}}"# }
        let place = lines.firstIndex { $0.hasPrefix(#"{"openThread""#) } ?? 0
        return (lines[..<place].map(String.init) + common + lines[place...].map(String.init)).joined(separator: "\n")
            + "\n"
    }
}
