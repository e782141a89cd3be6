/// Shows how far a long task has come, on one line of standard error that is written over again and again.
///
/// Only when standard error is a terminal, only after a second, and ten times a second at most. `finish` clears the line.
struct Progress {
    private var pace = ProgressPace()
    private let label: String
    private let start = ContinuousClock.now
    private let isShown: Bool

    /// Progress of a task, counted in items.
    init(_ label: String) {
        self.label = label
        self.isShown = StandardError.isTerminal
    }

    /// Tells how many items are done, and of how many if that is known.
    mutating func update(_ done: Int, of total: Int? = nil) {
        guard isShown, pace.isDue(at: ContinuousClock.now - start) else { return }
        StandardError.write(ProgressPace.clearLine + ProgressPace.text(label: label, done: done, total: total))
    }

    /// Clears what was shown, before other messages and at the end; the line comes back with the next update.
    mutating func finish() {
        guard isShown, pace.hasShown else { return }
        StandardError.write(ProgressPace.clearLine)
    }
}

/// When progress is shown, and how: the part that needs no clock and no terminal.
struct ProgressPace {
    /// What is over within this time shows no progress at all.
    static let patience = Duration.seconds(1)
    /// The least time between two updates.
    static let interval = Duration.milliseconds(100)
    /// Goes to the start of the line and clears it (ECMA-48 EL).
    static let clearLine = "\r\u{1b}[K"

    /// Whether anything has been due so far.
    private(set) var hasShown = false
    private var next = patience

    /// Whether an update is due when this much time has passed since the start; if so, the next is due an interval later.
    mutating func isDue(at elapsed: Duration) -> Bool {
        guard elapsed >= next else { return false }
        next = elapsed + Self.interval
        hasShown = true
        return true
    }

    /// The text of an update: `import: 120000 of 238041 (50 %)`, without a total `import: 120000`.
    static func text(label: String, done: Int, total: Int?) -> String {
        guard let total, total > 0 else { return "\(visible(label)): \(done)" }
        return "\(visible(label)): \(done) of \(total) (\(Int(100 * Double(done) / Double(total))) %)"
    }
}
