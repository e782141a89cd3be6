import Chat
import ChatDomain
import EventJournal
import Foundation
import TestSupport
import Testing

/// Compares the tool's output for golden journals with that of an earlier version: it may only
/// grow.
@Suite struct GoldenOutputTests {
    /// Every command on every golden journal prints at least the golden fields, with their values
    /// and in their order, line by line.
    ///
    /// By default, one case of each form: commands of a journal with the same options. `.ci/run`
    /// runs all.
    @Test func everyOutputContainsTheGoldenOutput() throws {
        let changelogPath = GoldenCase.root.deletingLastPathComponent().deletingLastPathComponent().appending(
            path: "CHANGELOG.md")
        let changelog = Self.words(try String(contentsOf: changelogPath, encoding: .utf8))
        var used: Set<Int> = []
        var count = 0
        for folder in GoldenCase.folders {
            let target = try ToolProcess.Folder()
            let journal = try GoldenCase.copy(of: folder, to: target)
            let forms = Dictionary(grouping: try GoldenCase.cases(of: folder), by: \.form).sorted { $0.key < $1.key }
            let cases = forms.flatMap { form, cases in
                Repetitions.oneIn(cases.count, of: cases.indices, form).map { cases[$0] }
            }
            for golden in cases {
                count += 1
                let outcome = try golden.run(on: journal)
                for difference in Set(try golden.differences(of: outcome)).sorted() {
                    let entries = DifferenceOnPurpose.all.indices.filter {
                        DifferenceOnPurpose.all[$0].fields.contains(difference)
                            && DifferenceOnPurpose.all[$0].applies(golden)
                    }
                    used.formUnion(entries)
                    #expect(!entries.isEmpty, "\(golden): \(difference) differs\n\(outcome.output)\(outcome.error)")
                }
            }
        }
        #expect(count > (Repetitions.areAll ? 500 : 200))
        for (index, entry) in DifferenceOnPurpose.all.enumerated() {
            #expect(
                !Repetitions.areAll || used.contains(index),
                "nothing differs as '\(entry.changelog)' allows; the entry goes")
            #expect(
                entry.changelog.count >= 20 && changelog.contains(Self.words(entry.changelog)),
                "not in the changelog: \(entry.changelog)")
        }
    }

    private static func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// The cases cover every command of the tool that made the golden files, and every case prints
    /// JSON.
    @Test func everyCommandIsCovered() throws {
        let cases = try GoldenCase.folders.flatMap(GoldenCase.cases(of:))
        #expect(
            Set(cases.map { $0.arguments[0] })
                == [
                    "run", "import", "threads", "timeline", "replies", "members", "readers", "residents", "user",
                    "access", "activity",
                    "events", "message", "roles", "bans", "pins", "reports", "invitations",
                    "verify", "head", "stats", "export", "backup", "repair",
                ])
        #expect(
            cases.allSatisfy {
                $0.arguments.contains("--json") || ["run", "export"].contains($0.arguments[0]) || $0.lines.isEmpty
            })
    }

    /// The golden journals hold every kind of event, and events that are whole, erased and
    /// withheld.
    @Test func everyKindOfEventIsCovered() throws {
        var kinds: Set<EventKind?> = []
        var states: Set<RecordContentState> = []
        var erased: Set<EventKind?> = []
        var origins: Set<EventOrigin> = []
        var codes: Set<String> = []
        for folder in ["history", "stubs", "late", "community", "erasures"] {
            let target = try ToolProcess.Folder()
            let path = try GoldenCase.copy(of: folder, to: target)
            try ChatStore.openReadOnly(path).forEachEvent(matching: EventFilter(as: .host)) { recorded, _ in
                kinds.insert(recorded.event.kind)
                origins.insert(recorded.event.origin)
                if recorded.event.isErased { erased.insert(recorded.event.kind) }
                if let correlation = recorded.event.correlation { codes.insert(correlation) }
            }
            let journal = try Journal.openReadOnly(path)
            try journal.forEachRecord(in: 1...journal.lastPosition) { _, state, _, _ in
                states.insert(state)
                return true
            }
        }
        // The journals are older than these kinds.
        let later: Set<EventKind?> = [
            .clockCorrected, .reactionAdded, .reactionRemoved,
            .threadMarkedUnread, .notificationsSet, .inboxRead, .profileSet,
            .threadRenamed, .directOpened, .historyRepaired,
        ]
        #expect(kinds == Set(EventKind.allCases.map(Optional.some) + [nil]).subtracting(later))
        #expect(states == [.whole, .erased, .withheld])
        #expect(
            erased.isSuperset(of: [
                .userRegistered, .postcodeSet, .threadOpened, .messagePosted, .messageEdited, .replyPosted,
                .usernameChanged, nil,
            ]))
        #expect(
            origins.contains(.native) && origins.contains(.imported(sentAt: nil))
                && origins.contains { $0.sentAt != nil })
        #expect(codes.count > 5)
    }

    /// The present library opens the golden journals without findings.
    @Test(arguments: ["history", "stubs", "late"]) func goldenJournalIsSound(folder: String) throws {
        let target = try ToolProcess.Folder()
        let path = try GoldenCase.copy(of: folder, to: target)
        let report = try ChatStore.verify(path, deep: true)
        // The stubs of before the erasures have no order.
        #expect(report.findings.allSatisfy { $0.problem == "stubWithoutErasure" })
        #expect(report.findings.isEmpty == (folder == "history"))
        let export = try #require(try GoldenCase.cases(of: folder).first { $0.arguments == ["export", "JOURNAL"] })
        #expect(export.lines.count == Int(report.position) && report.position > 50)
        // Each line decodes to the event of the journal.
        var lines = export.lines[...]
        try ChatStore.openReadOnly(path).forEachEvent(matching: EventFilter(as: .host)) { recorded, _ in
            let line = lines.removeFirst()
            do {
                #expect(try JSONDecoder().decode(RecordedEvent.self, from: Data(line.utf8)) == recorded, "\(line)")
            } catch {
                Issue.record("\(line): \(error)")
            }
        }
        #expect(lines.isEmpty)
    }
}
