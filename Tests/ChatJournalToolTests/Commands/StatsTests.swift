import Chat
import ChatDomain
import Foundation
import Testing

/// `stats` in its three forms, on a sound journal and on journals that cannot be opened.
@Suite struct StatsTests {
    private static let ann = "0190a000-0000-7000-8000-0000000000a1"
    private static let commands = """
        {"registerUser":{"user":"\(ann)","username":"Ann"}}
        {"setPostcode":{"user":"\(ann)","postcode":"SW1A 1AA"}}
        {"postMessage":{"thread":"SW1A","author":"\(ann)","body":"Milk?"}}
        {"postMessage":{"thread":"SW1A","author":"\(ann)","body":"Bread?"}}

        """

    private func journal(_ folder: ToolProcess.Folder) throws -> String {
        let journal = folder.path + "/journal"
        #expect(try ToolProcess.run(["run", journal], input: Self.commands).status == 0)
        return journal
    }

    private func segment(_ journal: String) throws -> URL {
        let names = try FileManager.default.contentsOfDirectory(atPath: journal).filter { $0.hasSuffix(".segment") }
        return URL(fileURLWithPath: journal).appendingPathComponent(try #require(names.first))
    }

    /// The checkpoint that opening used, or the reason why it used none.
    @Test func checkpointIsShown() throws {
        let folder = try ToolProcess.Folder()
        let journal = try journal(folder)
        #expect(try ToolProcess.run(["stats", journal]).output.contains("none; 6 events were replayed"))
        let store = try ChatStore.open(journal)
        try store.writeCheckpoint()
        try store.close()
        #expect(try ToolProcess.run(["stats", journal]).output.contains("of position 6; 0 events were replayed"))
        #expect(try ToolProcess.run(["stats", journal, "--json"]).output.contains("\"loaded\":6"))
        let file = URL(fileURLWithPath: journal).appendingPathComponent("built-in.checkpoint")
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: file)
        #expect(try ToolProcess.run(["stats", journal]).output.contains("ignored (damaged)"))
        #expect(try ToolProcess.run(["stats", journal, "--json"]).output.contains("\"ignored\":\"damaged\""))
        #expect(try ToolProcess.run(["timeline", journal, "SW1A"]).output.contains("Bread?"))
    }

    @Test func jsonIsOneObject() throws {
        let folder = try ToolProcess.Folder()
        let journal = try journal(folder)
        let outcome = try ToolProcess.run(["stats", journal, "--json"])
        #expect(outcome.status == 0 && outcome.error == "")
        #expect(outcome.lines.count == 1)
        let fields = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        let head = try #require(try ToolProcess.run(["head", journal, "--json"]).lines.first)
        #expect(head.contains("\"journal\":\"\(try #require(fields["journal"] as? String))\""))
        #expect(fields["position"] as? Int == 6 && fields["lastPosition"] as? Int == 6)
        #expect(fields["durability"] as? String == "synced")
        #expect(fields["clean"] as? Bool == true && fields["liveWriter"] as? Bool == false)
        #expect(fields["users"] as? Int == 1 && fields["threads"] as? Int == 1)
        #expect(fields["messages"] as? Int == 2 && fields["replies"] as? Int == 0)
        let bytes = try #require(fields["bytes"] as? Int)
        #expect(bytes > 0 && fields["unusedBytes"] as? Int == 0)
        let segments = try #require(fields["segments"] as? [[String: Any]])
        #expect(segments.count == 1)
        #expect(segments[0]["segment"] as? String == "00000000000000000001.segment")
        #expect(segments[0]["positions"] as? [Int] == [1, 6])
        #expect(segments[0]["bytes"] as? Int == bytes)
        let events = try #require(fields["events"] as? [String: Int])
        #expect(
            events.filter { $0.value > 0 } == [
                "userRegistered": 1, "postcodeSet": 1, "threadOpened": 1, "threadJoined": 1, "messagePosted": 2,
            ])
        #expect(events.count == EventKind.allCases.count + 1 && events["unknown"] == 0)
        let recovery = try #require(fields["recovery"] as? [String: Any])
        #expect(recovery["wasClean"] as? Bool == true && recovery["cutBytes"] is NSNull)
        #expect(outcome.output.hasPrefix(#"{"journal":""#))
    }

    @Test func tables() throws {
        let folder = try ToolProcess.Folder()
        let lines = try ToolProcess.run(["stats", try journal(folder)]).lines
        #expect(lines.contains("positions   1...6, durable up to 6"))
        #expect(lines.contains("state       closed in good order"))
        #expect(lines.contains("recovery    nothing to recover"))
        #expect(lines.contains("messages    2"))
        #expect(lines.contains("messagePosted       2"))
        #expect(!lines.contains { $0.hasPrefix("replyPosted") })
    }

    @Test func tornEndIsDescribed() throws {
        let folder = try ToolProcess.Folder()
        let journal = try journal(folder)
        let segment = try segment(journal)
        let whole = try Data(contentsOf: segment)
        // Only the first bytes of a commit are on the disk.
        try (whole + Data([200, 1, 2, 3])).write(to: segment)
        let outcome = try ToolProcess.run(["stats", journal])
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(outcome.lines.contains("state       not closed in good order"))
        #expect(
            outcome.output.contains(
                "bytes \(whole.count)..<\(whole.count + 4) of 00000000000000000001.segment are a torn write"))
        #expect(outcome.output.contains(" 4 bytes not used at the end"))
        // Reading does not change the file.
        #expect(try Data(contentsOf: segment).count == whole.count + 4)
    }

    @Test func metricsAreOpenMetricsText() throws {
        let folder = try ToolProcess.Folder()
        let outcome = try ToolProcess.run(["stats", try journal(folder), "--metrics"])
        #expect(outcome.status == 0)
        for line in ["chat_users 1", "chat_messages 2", "chat_journal_last_position 6", "chat_journal_stopped 0"] {
            #expect(outcome.lines.contains(line))
        }
        #expect(outcome.output.hasSuffix("\n# EOF\n"))
    }

    @Test func journalThatCannotBeOpenedIsAnError() throws {
        let folder = try ToolProcess.Folder()
        let journal = try journal(folder)
        let segment = try segment(journal)
        var bytes = try Data(contentsOf: segment)
        bytes[bytes.count - 10] ^= 1
        try bytes.write(to: segment)
        let damaged = try ToolProcess.run(["stats", journal, "--json"])
        #expect(damaged.status == 1 && damaged.output == "")
        #expect(
            damaged.error.hasPrefix("chat-journal: damaged: ")
                && damaged.error.contains("verify \(journal)' tells more"))
        let absent = try ToolProcess.run(["stats", folder.path + "/absent"])
        #expect(absent.status == 1 && absent.error.contains("notFound") && !absent.error.contains("verify"))
        let both = try ToolProcess.run(["stats", journal, "--json", "--metrics"])
        #expect(both.status == 64 && both.output == "")
    }
}
