public import ChatDomain

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A source of the current time.
///
/// The time may stand still or go backwards: the store records an earlier time than the previous
/// one only at a correction of the clock (``ChatStore/correctClock()``).
public protocol WallClock: Sendable {
    /// Returns the current time.
    func now() -> Timestamp

    /// Returns the time since a fixed moment, such as the boot of the machine, including the time
    /// during which the machine was suspended; nil if the clock does not know it.
    ///
    /// It cannot be set, so a store notices by it that ``now()`` was stepped.
    func elapsed() -> Duration?
}

extension WallClock {
    /// Returns nil: a store does not notice that the clock was stepped.
    public func elapsed() -> Duration? { nil }
}

/// The system clock.
public struct SystemClock: WallClock {
    /// A moment of the clock that counts from the boot.
    private static let start = ContinuousClock.now

    /// Creates the clock.
    public init() {}

    /// Returns the current time with millisecond precision.
    public func now() -> Timestamp {
        Timestamp(millisecondsSince1970: Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down)))
    }

    /// Returns the time since the first call of the process, by the clock that counts from the
    /// boot: `CLOCK_BOOTTIME` on Linux, `mach_continuous_time` on Apple platforms.
    public func elapsed() -> Duration? { ContinuousClock.now - Self.start }
}
