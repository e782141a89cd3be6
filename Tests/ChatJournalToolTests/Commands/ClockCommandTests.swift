import Chat
import ChatDomain
import Testing

/// `correct-clock`, `--accept-clock`, and the warnings of `stats` and `verify`.
@Suite struct ClockCommandTests {
    private static let (ann, bob, garden) = (UserID(bits: 1), UserID(bits: 2), ThreadID(bits: 31))
    private static let registration = #"{"registerUser":{"username":"Eve"}}"# + "\n"

    private struct FixedClock: WallClock {
        let time: Timestamp
        func now() -> Timestamp { time }
    }

    /// Writes a journal at a time: Ann opens Garden and mutes Bob until then, an hour later.
    private static func write(_ journal: String, at time: Timestamp) throws {
        let store = try ChatStore.open(journal, options: StoreOptions(clock: FixedClock(time: time)))
        let until = Timestamp(millisecondsSince1970: time.millisecondsSince1970 + 3_600_000)
        let commands: [ChatCommand] = [
            .registerUser(id: ann, username: "Ann"), .registerUser(id: bob, username: "Bob"),
            .openThread(id: garden, name: "Garden", by: ann), .joinThread(thread: garden, by: bob),
            .mute(user: bob, thread: garden, reason: "rude", until: until, by: ann),
        ]
        for command in commands { try store.executeBlocking(command) }
        try store.close()
    }

    /// 2126-01-01, ahead of the clock of every machine that runs this test.
    private static let future = Timestamp(millisecondsSince1970: 4_922_899_200_000)

    @Test func correctClockLetsTimesBeginLower() throws {
        let folder = try ToolProcess.Folder()
        let journal = folder.path + "/journal"
        try Self.write(journal, at: Self.future)
        // A warning, no finding.
        let stats = try ToolProcess.run(["stats", journal])
        #expect(
            stats.status == 0
                && stats.output.contains("clockAhead: the last event was recorded at 2126-01-01T00:00:00.000Z"))
        #expect(try ToolProcess.run(["stats", journal, "--json"]).output.contains(#""warnings":["clockAhead"]"#))
        let verify = try ToolProcess.run(["verify", journal])
        #expect(verify.status == 0 && verify.output.contains("clockAhead: "))
        #expect(
            try ToolProcess.run(["verify", journal, "--json"]).lines == [
                #"{"ok":true,"position":6,"findings":[],"warnings":["clockAhead"]}"#
            ])
        let refused = try ToolProcess.run(["run", journal], input: Self.registration)
        #expect(refused.status == 1 && refused.output.contains(#"{"line":1,"rejection":{"code":"clockStepped","#))
        #expect(refused.error.hasPrefix("chat-journal: clockStepped: The clock shows "))
        let erase = try ToolProcess.run(["erase", journal, "--user", "Bob", "--reason", "spam"])
        #expect(erase.status == 1 && erase.error.contains("clockStepped: "))
        let correction = try ToolProcess.run(["correct-clock", journal])
        #expect(correction.status == 0)
        let lines = correction.output.split(separator: "\n").map(String.init)
        #expect(lines.first?.hasSuffix(" from position 7 on; the last one before is 2126-01-01T00:00:00.000Z") == true)
        #expect(
            lines.count == 4 && lines.last?.contains("6  mute  Bob   2126-01-01T01:00:00.000Z  \(Self.garden)") == true,
            "\(lines)")
        #expect(try ToolProcess.run(["run", journal], input: Self.registration).status == 0)
        #expect(
            try ToolProcess.run(["verify", journal, "--json", "--deep"]).output
                == #"{"ok":true,"position":8,"findings":[]}"# + "\n")
        #expect(!(try ToolProcess.run(["stats", journal]).output.contains("clockAhead")))
        #expect(try ToolProcess.run(["correct-clock", journal]).output.hasPrefix("nothing to correct: "))
        #expect(try ToolProcess.run(["events", journal, "--kind", "clockCorrected"]).lines.count == 1)
        // The JSON form of an export is imported by this version.
        let export = try ToolProcess.run(["export", journal]).output
        #expect(export.contains(#""clockCorrected":{}"#))
        let copy = folder.path + "/copy"
        let file = try folder.file("events.jsonl", export)
        #expect(try ToolProcess.run(["import", copy, file, "--format", "events"]).status == 0)
        #expect(try ToolProcess.run(["export", copy]).output == export)
    }

    @Test func correctClockAsJSON() throws {
        let folder = try ToolProcess.Folder()
        let journal = folder.path + "/journal"
        try Self.write(journal, at: Self.future)
        let output = try ToolProcess.run(["correct-clock", journal, "--json"]).output
        #expect(output.hasPrefix(#"{"position":7,"time":"20"#))
        #expect(
            output.hasSuffix(
                #""formerTime":"2126-01-01T00:00:00.000Z","sanctions":[{"position":6,"recordedAt":"2126-01-01T00:00:00.000Z","#
                    + #""thread":"\#(Self.garden)","user":{"id":"\#(Self.bob)","username":"Bob"},"kind":"mute","#
                    + #""until":"2126-01-01T01:00:00.000Z"}]}"# + "\n"), "\(output)")
        let again = try ToolProcess.run(["correct-clock", journal, "--json"]).output
        #expect(again.hasPrefix(#"{"position":null,"#) && again.hasSuffix(#""sanctions":[]}"# + "\n"))
        #expect(try ToolProcess.run(["correct-clock", folder.path + "/none"]).status == 1)
    }

    /// A journal that was not used for years is written again once the clock is accepted.
    @Test func clockIsAccepted() throws {
        let folder = try ToolProcess.Folder()
        let journal = folder.path + "/journal"
        try Self.write(journal, at: Timestamp(millisecondsSince1970: 1_584_921_600_000))
        #expect(try ToolProcess.run(["run", journal], input: Self.registration).status == 1)
        #expect(try ToolProcess.run(["verify", journal]).output.contains("sound up to position 6"))
        let accepted = try ToolProcess.run(["run", journal, "--accept-clock"], input: Self.registration)
        #expect(accepted.status == 0 && accepted.error == "")
        #expect(
            try ToolProcess.run(["run", journal], input: Self.registration.replacing("Eve", with: "Eve 2")).status == 0)
    }
}
