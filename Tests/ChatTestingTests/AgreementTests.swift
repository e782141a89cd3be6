import TestSupport
import Testing

/// A mismatch of a model says everything that is needed to see it, with few steps.
struct AgreementTests {
    /// A sum that is wrong once 7 has come before 3.
    private func run(_ steps: [Int]) throws {
        var (sum, expected, hasSeven) = (0, 0, false)
        for (number, step) in steps.enumerated() {
            sum += hasSeven && step == 3 ? 0 : step
            expected += step
            if step == 7 { hasSeven = true }
            try Mismatch.after(number) { try same(sum, expected, "the sum") }
        }
    }

    @Test func agreementIsNoIssue() throws {
        try expectAgreement(Array(1...100), seed: 5) { try run($0) }
    }

    @Test func mismatchHasSeedStepAndValuesAndIsShrunk() throws {
        let steps = Array(1...40) + [3] + Array(1...40)
        try withKnownIssue {
            try expectAgreement(steps, seed: 5) { try run($0) }
        } matching: { issue in
            issue.comments.map(\.rawValue) == [
                """
                CHATJOURNAL_SEED=5, step 41 of 81: 3
                the sum
                  expected: 823
                  actual:   820
                the same with 2 of the steps:
                  7
                  3
                the sum
                  expected: 10
                  actual:   7
                """
            ]
        }
    }

    @Test func shrinkingIsBounded() {
        var tries = 0
        let shrunk = shrunk(Array(0..<1_000), tries: 50) { steps in
            tries += 1
            return steps.contains(0) && steps.contains(500) && steps.contains(999)
        }
        #expect(tries == 50 && shrunk.count < 1_000 && Set(shrunk).isSuperset(of: [0, 500, 999]))
    }

    /// Other errors of shorter lists are not examples, and those of the whole list are thrown.
    @Test func otherErrorsAreNoMismatches() throws {
        struct Other: Error {}
        #expect(throws: Other.self) { try expectAgreement([1], seed: 1) { _ in throw Other() } }
        try withKnownIssue {
            try expectAgreement([1, 2, 3], seed: 1) { steps in
                if steps.count < 3 { throw Other() }
                try same(1, 2, "a number")
            }
        } matching: { issue in
            issue.comments.first?.rawValue.contains("the same with 3 of the steps:\n  1\n  2\n  3\n") == true
        }
    }

    @Test func longValuesAreCutAroundTheDifference() {
        let (one, two) = (String(repeating: "a", count: 5_000) + "b", String(repeating: "a", count: 5_000) + "c")
        let text = Mismatch("long", expected: one, actual: two).description
        #expect(text.utf8.count < 4_000 && text.contains("ab") && text.contains("ac"))
    }
}
