package import Testing

/// A difference between what is tested and its model.
package struct Mismatch: Error, CustomStringConvertible {
    /// What differs, such as `members of 53573141-..., as of 12`.
    package var what: String
    package var expected: String
    package var actual: String
    /// The index of the step after which it differs, if known.
    package var step: Int?

    package init(_ what: String, expected: String, actual: String, step: Int? = nil) {
        (self.what, self.expected, self.actual, self.step) = (what, expected, actual, step)
    }

    /// Both values, below each other.
    package var description: String {
        let (expected, actual) = (Self.excerpt(expected, beside: actual), Self.excerpt(actual, beside: expected))
        return "\(what)\n  expected: \(expected)\n  actual:   \(actual)"
    }

    /// The text, or of a long one the part around the first difference.
    private static func excerpt(_ text: String, beside other: String) -> String {
        let limit = 1_500
        guard text.utf8.count > limit else { return text }
        let common = zip(text, other).prefix { $0 == $1 }.count
        let start = max(0, common - limit / 3)
        return (start > 0 ? "... " : "") + text.dropFirst(start).prefix(limit) + " ..."
    }

    /// Runs a comparison after a step; its mismatch has the step's index.
    package static func after<Result>(_ step: Int, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch var mismatch as Mismatch {
            mismatch.step = step
            throw mismatch
        }
    }
}

/// Throws a ``Mismatch`` if the values differ.
///
/// Cheaper than an expectation, for comparisons in loops.
package func same<Value: Equatable>(
    _ actual: Value, _ expected: Value, _ what: @autoclosure () -> String
) throws(Mismatch) {
    if actual == expected { return }
    throw Mismatch(what(), expected: "\(expected)", actual: "\(actual)")
}

/// Runs steps that must agree with a model.
///
/// A mismatch is an issue with the seed, the step, and the expected value beside the actual one;
/// then with the shortest list of steps found that has a mismatch too.
///
/// Returns whether they agree.
///
/// - Parameters:
///   - tries: The maximum number of runs of shorter lists.
///   - run: Runs the steps on new objects, and throws a ``Mismatch`` at the first difference. Other
///     errors of shorter lists mean that they are not examples.
@discardableResult package func expectAgreement<Step>(
    _ steps: [Step], seed: UInt64, tries: Int = 400, sourceLocation: SourceLocation = #_sourceLocation,
    _ run: ([Step]) throws -> Void
) throws -> Bool {
    var first: Mismatch?
    do { try run(steps) } catch let mismatch as Mismatch { first = mismatch }
    guard let first else { return true }
    var text = "CHATJOURNAL_SEED=\(seed)"
    if let step = first.step { text += ", step \(step + 1) of \(steps.count): \(steps[step])" }
    text += "\n\(first)"
    var last = first
    let start = first.step.map { Array(steps[...$0]) } ?? steps
    let shrunk = shrunk(start, tries: tries) { shorter in
        do {
            try run(shorter)
            return false
        } catch {
            guard let mismatch = error as? Mismatch else { return false }
            last = mismatch
            return true
        }
    }
    text += "\nthe same with \(shrunk.count) of the steps:"
    for step in shrunk { text += "\n  \(step)" }
    text += "\n\(last)"
    Issue.record("\(text)", sourceLocation: sourceLocation)
    return false
}

/// Returns a shorter list of steps that still fails: drops halves, quarters and so on down to single
/// steps, as often as it can (delta debugging).
///
/// - Parameters:
///   - tries: The maximum number of calls of `fails`.
///   - fails: Whether a shorter list fails. The last list for which it returns true is the result.
package func shrunk<Step>(_ steps: [Step], tries: Int, fails: ([Step]) -> Bool) -> [Step] {
    var (steps, size, left) = (steps, max(1, steps.count / 2), tries)
    while left > 0 {
        var (start, hasDropped) = (0, false)
        while start < steps.count, left > 0 {
            let end = min(start + size, steps.count)
            let shorter = Array(steps[..<start] + steps[end...])
            left -= 1
            if fails(shorter) { (steps, hasDropped) = (shorter, true) } else { start = end }
        }
        if size == 1, !hasDropped { break }
        size = max(1, size / 2)
    }
    return steps
}
