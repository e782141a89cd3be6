public import Chat
public import ChatDomain
import Locking

/// A clock that is set manually.
public final class ManualClock: WallClock {
    private let state: Lock<(time: Timestamp, elapsed: Duration)>

    /// Creates a clock that shows a fixed time.
    public init(_ time: Timestamp = .testStart) { state = Lock((time, .zero)) }

    /// Returns the time that was set.
    public func now() -> Timestamp { state.withLock { $0.time } }

    /// Returns the sum of the time that has passed: of all calls of ``advance(byMilliseconds:)``.
    public func elapsed() -> Duration? { state.withLock { $0.elapsed } }

    /// Lets time pass, forwards or backwards.
    ///
    /// - Precondition: The sum is a number of 64 bits.
    public func advance(byMilliseconds milliseconds: Int64) {
        step(byMilliseconds: milliseconds)
        state.withLock { $0.elapsed += .milliseconds(milliseconds) }
    }

    /// Sets the clock forwards or backwards, while no time passes.
    ///
    /// - Precondition: The sum is a number of 64 bits.
    public func step(byMilliseconds milliseconds: Int64) {
        state.withLock { $0.time = Timestamp(millisecondsSince1970: $0.time.millisecondsSince1970 + milliseconds) }
    }
}

/// A generator of ids that are reproducible from a seed.
public final class SeededIDs: IDGenerator {
    private let random: Lock<SeededRandom>

    /// Creates a generator.
    public init(seed: UInt64) { random = Lock(SeededRandom(seed: seed)) }

    /// Returns the next id: a UUIDv7 with the given time and random bits from the seed.
    public func makeID(at time: Timestamp) -> UInt128 {
        UserID(version7At: time, random: random.withLock { $0.bits128() }).bits
    }
}
