/// Recording times, and corrections of the clock, which only the host program makes.
extension RuleState {
    /// Returns `now`, clamped to the range of recording times, or the last recording time if that
    /// is later.
    func recordingTime(at now: Timestamp) -> Timestamp { max(recordableTime(at: now), lastRecordedAt) }

    /// Returns `now`, clamped to the range of recording times.
    func recordableTime(at now: Timestamp) -> Timestamp {
        min(max(now, ChatEvent.recordableTimes.lowerBound), ChatEvent.recordableTimes.upperBound)
    }

    /// Decides a correction of the clock: the next event begins a run of lower times.
    ///
    /// - Parameters:
    ///   - now: The time of the corrected clock.
    ///   - batch: Receives the event `clockCorrected`, recorded at that time.
    /// - Returns: `unchanged` if no event was recorded at a later time.
    package func correctClock(at now: Timestamp, into batch: inout EventBatch) -> BatchDecision {
        let time = recordableTime(at: now)
        guard time < lastRecordedAt else { return .unchanged }
        batch.append(EventEnvelope(recordedAt: time, origin: .native, hasCorrelation: false).row(.clockCorrected))
        return .append
    }

    /// Whether an event begins a run of times, and may be recorded earlier than the events before
    /// it.
    ///
    /// A lost event may have been a correction, so the event after it can be the first of a run
    /// too.
    func mayBeginLower(_ event: EventRow) -> Bool { event.kind == .clockCorrected || isAfterLoss }
}
