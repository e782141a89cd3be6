/// A difference from the golden files that was made on purpose; without an entry here, none is allowed.
///
/// Add an entry to ``all`` in the commit that changes the output. It is as narrow as it can be: an entry that matches nothing fails the test.
struct DifferenceOnPurpose: Sendable {
    /// Words of the line in `CHANGELOG.md` that tells users of the change; the test looks for them there.
    let changelog: String
    /// What may differ: paths of fields as a failure prints them, such as `postcodeSet.postcode`, or `status`, `code` and `lines` (their number).
    let fields: Set<String>
    /// The commands in which it may.
    let applies: @Sendable (GoldenCase) -> Bool

    static let all: [DifferenceOnPurpose] = [
        // DifferenceOnPurpose(changelog: "words of the changelog", fields: ["postcode"]) { $0.arguments.contains("--viewer") },
        // The sentence of invalidUsername names the invisible characters too.
        DifferenceOnPurpose(changelog: "have no scalar that is shown as nothing or as a blank", fields: ["rejection.message"]) {
            $0.arguments.contains("INPUT:again.jsonl")
        }
    ]
}
