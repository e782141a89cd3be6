/// A level and its end, as one number; 0 for `all` without an end, which is that of every
/// membership without a level.
package struct LimitedLevel: Hashable, Sendable, BitwiseCopyable {
    /// The end, as in ``SanctionEnd``, above the two bits of the level's code.
    package private(set) var rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Creates a level; an end beyond the recordable times becomes the latest of them.
    package init(_ level: NotificationLevel, until: Timestamp?) {
        let latest = UInt64(ChatEvent.recordableTimes.upperBound.millisecondsSince1970)
        rawValue = min(SanctionEnd.number(until), latest) << 2 | level.code
    }

    /// The level before the end.
    package var level: NotificationLevel { NotificationLevel(code: rawValue & 3) ?? .all }

    /// The end; nil for a level without one.
    package var until: Timestamp? { SanctionEnd.time(rawValue >> 2) }

    /// Returns the level and the end that hold at a time: `all` without an end after the end.
    package func inEffect(at time: Timestamp) -> LimitedLevel {
        if let until, until <= time { return LimitedLevel(rawValue: 0) }
        return self
    }

    /// The exclusive bound of raw values: an end has 48 bits.
    package static let valueBound = 1 << 50
}
