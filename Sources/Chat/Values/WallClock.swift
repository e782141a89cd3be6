public import ChatDomain

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A source of the current time.
///
/// The time may stand still or go backwards: the store never records an earlier time than the
/// previous one.
public protocol WallClock: Sendable {
    /// Returns the current time.
    func now() -> Timestamp
}

/// The system clock.
public struct SystemClock: WallClock {
    /// Creates the clock.
    public init() {}

    /// Returns the current time with millisecond precision.
    public func now() -> Timestamp {
        Timestamp(millisecondsSince1970: Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down)))
    }
}
