/// An intended difference from the golden files; no other difference is allowed.
///
/// Add an entry to ``all`` in the commit that changes the output, as narrow as possible. An entry
/// that matches nothing fails the test.
struct DifferenceOnPurpose: Sendable {
    /// Words of the line in `CHANGELOG.md` that describes the change; the test searches for them.
    let changelog: String
    /// The parts that may differ: paths of fields as a failure prints them, such as
    /// `postcodeSet.postcode`, or `status`, `code` and `lines` (their number).
    let fields: Set<String>
    /// The commands whose output may differ.
    let applies: @Sendable (GoldenCase) -> Bool

    static let all: [DifferenceOnPurpose] = [
        DifferenceOnPurpose(changelog: "`residents` shows a viewer only their own postcode", fields: ["postcode"]) {
            $0.arguments.first == "residents" && $0.arguments.contains("--viewer")
        },
        DifferenceOnPurpose(changelog: "`readers` and `activity` reject a viewer", fields: ["status", "code", "lines"])
        {
            $0.arguments.first == "readers" && $0.arguments.contains("--viewer")
        },
        DifferenceOnPurpose(
            changelog:
                "A viewer finds a thread by its name only if they may read it; otherwise the answer is `unknownThread`",
            fields: ["status", "code", "lines"]
        ) { $0.arguments.first == "timeline" && $0.arguments.contains("Soup") && $0.arguments.contains("--viewer") },
        DifferenceOnPurpose(
            changelog:
                "The receipt of a repeated command shows only text and correlation ids that the second caller sent.",
            fields: ["events.correlation", "events.messagePosted.body"]
        ) { $0.arguments.first == "run" && $0.arguments.contains("INPUT:again.jsonl") },
        DifferenceOnPurpose(
            changelog: "**Names** of users and threads cannot contain invisible scalars", fields: ["rejection.message"]
        ) { $0.arguments.first == "run" && $0.arguments.contains("INPUT:again.jsonl") },
        DifferenceOnPurpose(
            changelog: "`verify` reports erased records that no event orders to be erased (`stubWithoutErasure`)",
            fields: ["status", "ok", "findings"]
        ) { $0.arguments.first == "verify" && ["stubs", "late"].contains($0.folder) },
        DifferenceOnPurpose(
            changelog: "The unread count of a thread leaves out the messages of users whom the reader blocks",
            fields: ["threads.unread"]
        ) { $0.arguments.prefix(3) == ["user", "JOURNAL", "Dee"] },
        DifferenceOnPurpose(changelog: "`repair --json` and `verify --json` print a line", fields: ["lines"]) {
            ["repair", "verify"].contains($0.arguments.first)
        },
    ]
}
