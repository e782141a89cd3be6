import ChatDomain

/// Decides whether a store can believe its clock.
///
/// A reading is accepted if it is close to the last recorded time. Later readings are compared with
/// the accepted one by the time that has passed since, which cannot be set.
struct ClockCheck: Sendable {
    /// What a clock shows at one moment.
    struct Reading: Sendable {
        var time: Timestamp
        /// The time since a fixed moment; nil if the clock does not know it.
        var elapsed: Duration?

        init(_ clock: any WallClock) { (time, elapsed) = (clock.now(), clock.elapsed()) }
    }

    /// The longest step of the clock, and the longest time by which it may be before the last
    /// recorded time, in milliseconds.
    private static let longestStep: Int64 = 86_400_000
    /// The longest time between the last recorded time and an opening, in milliseconds.
    private static let longestPause: Int64 = 400 * 86_400_000

    /// The first reading that was accepted.
    private var reference: Reading?

    /// Whether a reading was accepted.
    var hasReference: Bool { reference != nil }

    /// Accepts a reading, whatever it is compared with.
    mutating func accept(_ reading: Reading) { reference = reading }

    /// Returns why a reading cannot be believed; nil if it is accepted.
    ///
    /// The store appends nothing at a time that is rejected. So a clock that was wrong at the
    /// opening and is right now is accepted, and so is one that was stepped and is back.
    ///
    /// - Parameter last: The last recorded time; nil for an empty log.
    mutating func rejection(of reading: Reading, after last: Timestamp?) -> Rejection? {
        if let reference { return Self.stepRejection(reading, since: reference) }
        let rejection = last.flatMap { Self.openingRejection(reading.time, after: $0) }
        if rejection == nil { reference = reading }
        return rejection
    }

    /// Compares the clock with the last recorded time.
    private static func openingRejection(_ now: Timestamp, after last: Timestamp) -> Rejection? {
        let pause = milliseconds(from: last, to: now)
        if pause < -longestStep { return .clockBehind(now, last) }
        return pause > longestPause ? .clockFarAhead(now, last) : nil
    }

    /// Compares the time that the clock has counted with the time that has passed.
    private static func stepRejection(_ reading: Reading, since reference: Reading) -> Rejection? {
        guard let start = reference.elapsed, let end = reading.elapsed else { return nil }
        // A division of durations takes longer than the rest of the check.
        let step = .milliseconds(milliseconds(from: reference.time, to: reading.time)) - (end - start)
        let longest = Duration.milliseconds(longestStep)
        return step > longest || step < .zero - longest ? .clockStepped(to: reading.time) : nil
    }

    /// Returns the time from one time to another; both are clamped to those that can be recorded.
    private static func milliseconds(from start: Timestamp, to end: Timestamp) -> Int64 {
        let range = ChatEvent.recordableTimes
        let (start, end) = (
            min(max(start, range.lowerBound), range.upperBound), min(max(end, range.lowerBound), range.upperBound)
        )
        return end.millisecondsSince1970 - start.millisecondsSince1970
    }
}

extension Rejection {
    fileprivate static func clockBehind(_ now: Timestamp, _ last: Timestamp) -> Rejection {
        Rejection(
            .clockStepped,
            "The clock shows \(now), more than a day before the last event, of \(last). Set it right, or correct the journal."
        )
    }

    fileprivate static func clockFarAhead(_ now: Timestamp, _ last: Timestamp) -> Rejection {
        Rejection(
            .clockStepped,
            "The clock shows \(now), more than 400 days after the last event, of \(last). Set it right, or accept it.")
    }

    fileprivate static func clockStepped(to now: Timestamp) -> Rejection {
        Rejection(
            .clockStepped, "The clock was stepped by more than a day, to \(now). Set it right, or open the store again."
        )
    }
}

extension Decider {
    /// Reads the clock, for a command or an event of the host.
    ///
    /// - Returns: The time to decide at, and why no event may be appended at it. If the clock
    ///   cannot be believed, the time is the last recorded one.
    mutating func readTime(_ clock: any WallClock) -> (now: Timestamp, rejection: Rejection?) {
        let reading = ClockCheck.Reading(clock)
        let rejection = clockCheck.rejection(of: reading, after: rules.head == 0 ? nil : rules.lastRecordedAt)
        return (rejection == nil ? reading.time : rules.lastRecordedAt, rejection)
    }
}
