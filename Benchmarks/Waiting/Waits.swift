/// The durations of calls that one thread makes at a fixed rate, ascending.
struct Waits {
    private let seconds: [Double]
    /// The longest duration of a call by itself, without its delay.
    let longest: Double

    /// Makes a call at each interval, for a duration.
    ///
    /// A call that is due while the previous one runs is measured from its due time, so the delay
    /// counts. After a sleep, a call is measured from the wake-up, and the next one is due an
    /// interval later: a late wake-up by the system says nothing about the store.
    init(every interval: Duration, for duration: Duration, _ call: () throws -> Void) rethrows {
        let clock = ContinuousClock()
        let end = clock.now + duration
        var due = clock.now
        var (seconds, longest): ([Double], Double) = ([], 0)
        while due < end, clock.now < end {
            if clock.now < due {
                sleep(until: due)
                due = clock.now
            }
            let start = clock.now
            try call()
            let now = clock.now
            seconds.append((now - due) / .seconds(1))
            longest = max(longest, (now - start) / .seconds(1))
            due += interval
        }
        self.seconds = seconds.sorted()
        self.longest = longest
    }

    /// Returns the duration that a share of the calls does not exceed.
    func share(_ share: Double) -> Double {
        seconds.isEmpty ? 0 : seconds[min(seconds.count - 1, Int(Double(seconds.count) * share))]
    }
}
