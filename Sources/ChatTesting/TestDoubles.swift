public import Chat
public import ChatDomain
import Locking

/// A clock that is set manually.
public final class ManualClock: WallClock {
    private let time: Lock<Timestamp>

    /// Creates a clock that shows a fixed time.
    public init(_ time: Timestamp = .testStart) { self.time = Lock(time) }

    /// Returns the time that was set.
    public func now() -> Timestamp { time.withLock { $0 } }

    /// Moves the clock, forwards or backwards.
    ///
    /// - Precondition: The sum is a number of 64 bits.
    public func advance(byMilliseconds milliseconds: Int64) {
        time.withLock { $0 = Timestamp(millisecondsSince1970: $0.millisecondsSince1970 + milliseconds) }
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
