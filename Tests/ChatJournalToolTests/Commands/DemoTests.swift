import Foundation
import Testing

@testable import chat_journal

/// `demo` and `--version`.
@Suite struct DemoTests {
    /// The output without ids and times.
    private func stable(_ output: String) -> String {
        output.replacing(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/, with: "ID")
            .replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/, with: "TIME")
    }

    @Test func temporaryJournalIsRemoved() throws {
        let folder = try ToolProcess.Folder()
        let script = #"TMPDIR="$2" "$1" demo; echo "status $?"; ls "$2""#
        let outcome = try ToolProcess.shell(script, [ToolProcess.executable.path, folder.path])
        #expect(outcome.error == "")
        #expect(
            outcome.lines.suffix(2) == [
                "The temporary journal is removed. 'chat-journal demo DIR' keeps it in DIR.", "status 0",
            ])
    }

    @Test func outputIsTheSameApartFromIdsAndTimes() throws {
        let outputs = try (0..<2).map { _ in stable(try ToolProcess.run(["demo"]).output) }
        #expect(outputs[0] == outputs[1])
        let lines = outputs[0].split(separator: "\n").map { $0.trimmingPrefix(#/ +/#) }
        #expect(lines.contains("12  Ann posts in SW1A                    messagePosted"))
        #expect(lines.contains { $0.hasPrefix("-  Cleo posts in SW1A") && $0.contains("rejected: notAMember: ") })
        #expect(lines.contains("12  TIME  Ann           1  Could someone pick up oat milk? (edited)"))
        #expect(lines.contains("12  TIME  Ann           0  Could someone pick up milk? I am isolating."))
        #expect(lines.contains("13  TIME  Ben     On my way. Oat or cow?"))
        let bodies = ["Oat milk it is.", "Thank you!", "It is at your door."]
        #expect(lines.filter { $0.contains("TIME  messagePosted  {") }.count == bodies.count)
        for (index, body) in bodies.enumerated() {
            let start = "\(15 + index)  TIME  messagePosted  {"
            #expect(lines.contains { $0.hasPrefix(start) && $0.contains("\"body\":\"\(body)\"") })
        }
        #expect(lines.contains("sound up to position 17"))
    }

    @Test func journalIsKeptInAGivenDirectory() throws {
        let folder = try ToolProcess.Folder()
        let journal = folder.path + "/demo"
        let outcome = try ToolProcess.run(["demo", journal])
        #expect(outcome.status == 0 && outcome.error == "")
        #expect(outcome.lines.last?.hasPrefix("The journal is in \(journal). ") == true)
        #expect(try ToolProcess.run(["verify", journal, "--deep"]).output.hasPrefix("sound up to position 17: "))
        #expect(try ToolProcess.run(["timeline", journal, "SW1A", "--json"]).lines.count == 4)
        let head = try ToolProcess.run(["head", journal])
        let again = try ToolProcess.run(["demo", journal])
        #expect(again.status == 1 && again.output == "")
        #expect(again.error == "chat-journal: demo needs a new or empty directory: '\(journal)' has files\n")
        #expect(try ToolProcess.run(["head", journal]) == head)
    }

    @Test func versionIsPrinted() throws {
        let outcome = try ToolProcess.run(["--version"])
        #expect(outcome == .init(status: 0, output: "chat-journal \(ToolSpec.version)\n", error: ""))
    }

    @Test func everyCommandIsDeclaredOnce() {
        #expect(Set(Tool.spec.commands.map(\.name)).count == Tool.spec.commands.count)
        for command in Tool.spec.commands {
            #expect(Set(command.options.map(\.name)).count == command.options.count, "\(command.name)")
            let firstOptional = command.positionals.firstIndex { $0.isOptional } ?? command.positionals.endIndex
            #expect(command.positionals[firstOptional...].allSatisfy { $0.isOptional }, "\(command.name)")
        }
    }
}
