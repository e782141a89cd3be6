public import Chat
public import ChatDomain
import Locking

/// A clock that is set by hand.
public final class ManualClock: WallClock {
    private let time: Lock<Timestamp>

    /// Makes a clock that stands at a time.
    public init(_ time: Timestamp = Timestamp(millisecondsSince1970: 1_584_921_600_000)) { self.time = Lock(time) }

    /// The time that was set.
    public func now() -> Timestamp { time.withLock { $0 } }

    /// Moves the clock, forward or back.
    public func advance(byMilliseconds milliseconds: Int64) {
        time.withLock { $0 = Timestamp(millisecondsSince1970: $0.millisecondsSince1970 + milliseconds) }
    }
}

/// Ids that follow from a seed.
public final class SeededIDs: IDGenerator {
    private let random: Lock<SeededRandom>

    /// Makes a generator.
    public init(seed: UInt64) { random = Lock(SeededRandom(seed: seed)) }

    /// The next id: a UUIDv7 of the time with bits that follow from the seed.
    public func makeID(at time: Timestamp) -> UInt128 {
        UserID(version7At: time, random: random.withLock { $0.bits128() }).bits
    }
}
