#if Server
    /// When free memory is given back to the system, which the allocator of glibc keeps.
    ///
    /// A call takes milliseconds, in which threads that allocate wait. So there are two after the
    /// memory that clients hold has fallen by ``fall``, with a pause between them: tasks and
    /// buffers of clients that are gone end a moment after them.
    struct TrimSchedule {
        /// The bytes that must have become free.
        static let fall = 8 << 20
        /// The shortest time between two calls.
        static let pause = Duration.seconds(4)

        private var highest = 0
        private var callCount = 0
        private var next: ContinuousClock.Instant?

        /// Whether to give memory back now; called once a second with the bytes that are held.
        mutating func isDue(_ byteCount: Int, at now: ContinuousClock.Instant) -> Bool {
            highest = max(highest, byteCount)
            if highest - byteCount >= Self.fall { (highest, callCount) = (byteCount, 2) }
            guard callCount > 0, next.map({ now >= $0 }) ?? true else { return false }
            (callCount, next) = (callCount - 1, now + Self.pause)
            return true
        }
    }
#endif
