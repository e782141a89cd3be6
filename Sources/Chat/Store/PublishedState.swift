import ChatDomain
import Locking

/// What the write side tells of itself to the host program.
///
/// Behind a lock of its own: the decider's lock can be held while a log waits for its disks or for
/// other machines, and the host must know at once how the store is.
struct PublishedState: Sendable {
    /// The last decided position.
    var head: Position
    /// The latest recorded time; nil for an empty log.
    var lastRecordedAt: Timestamp?
    var clockCheck = ClockCheck()
    /// The bytes for which the log last had no room; nil if it has room again.
    var refusedByteCount: Int?
    /// The outcomes of the commands of all commits.
    var commands = CommandStatistics()

    init(_ rules: RuleState) {
        head = rules.head
        lastRecordedAt = rules.head == 0 ? nil : rules.lastRecordedAt
    }

    /// Notes the state of the rules after a commit.
    mutating func note(_ rules: RuleState) {
        head = rules.head
        lastRecordedAt = rules.head == 0 ? nil : rules.lastRecordedAt
    }
}

extension ChatStore {
    /// Publishes the state of the rules; the caller holds the decider's lock.
    func publish(_ rules: RuleState) { published.withLock { $0.note(rules) } }

    /// Reads the clock, for a command or an event of the host.
    ///
    /// - Returns: As ``Decider/readTime(_:)``.
    func readTime(_ decider: inout Decider) -> (now: Timestamp, rejection: Rejection?) {
        if decider.clockCheck.hasReference { return decider.readTime(clock) }
        // ``clockStatus`` may have accepted a reading.
        decider.clockCheck = published.withLock { $0.clockCheck }
        let read = decider.readTime(clock)
        let check = decider.clockCheck
        published.withLock { $0.clockCheck = check }
        return read
    }
}
