/// How long each of the calls took that one thread made at a fixed rate, ascending.
struct Waits {
    private let seconds: [Double]
    /// What the longest call took by itself, without what it came too late.
    let longest: Double

    /// Calls every so often, for so long, whether or not the call before has returned in time.
    ///
    /// A call that is due while the one before still runs waits for it, and that counts: it is measured from when it was due. After a sleep a call is measured from
    /// the waking, and the next one is due an interval after that, because how late the system wakes a thread says nothing of the store.
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

    /// The time that so great a share of the calls did not exceed.
    func share(_ share: Double) -> Double { seconds.isEmpty ? 0 : seconds[min(seconds.count - 1, Int(Double(seconds.count) * share))] }
}
