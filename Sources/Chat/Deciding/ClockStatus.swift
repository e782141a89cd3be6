public import ChatDomain
import Primitives

/// What a store makes of its clock: ``ChatStore/clockStatus``.
public struct ClockStatus: Hashable, Sendable {
    /// The time that the clock shows.
    public var now: Timestamp
    /// The latest recorded time since the last correction of the clock; nil for an empty log.
    public var lastRecordedAt: Timestamp?
    /// Why commands are rejected with `clockStepped`; nil while they are not.
    public var rejection: Rejection?

    /// Creates a status.
    public init(now: Timestamp, lastRecordedAt: Timestamp?, rejection: Rejection? = nil) {
        (self.now, self.lastRecordedAt, self.rejection) = (now, lastRecordedAt, rejection)
    }

    /// Whether the last recorded time is ahead of the clock: the clock is wrong, or was.
    public var isAhead: Bool { lastRecordedAt.map { $0 > now } ?? false }
}

/// The result of ``ChatStore/correctClock()``.
public struct ClockCorrection: Hashable, Sendable, Codable {
    /// The position of the event `clockCorrected`; nil if no recorded time was ahead of the clock.
    public var position: Position?
    /// The time that the clock shows.
    public var time: Timestamp
    /// The last recorded time before the correction.
    public var formerTime: Timestamp
    /// The mutes and bans that were set at times ahead of the clock, oldest first.
    ///
    /// Their ends were chosen under the wrong clock.
    public var sanctions: [MisdatedSanction]

    private enum CodingKeys: AbsentAsNullKey { case position, time, formerTime, sanctions }

    init(to time: Timestamp, from formerTime: Timestamp) {
        (self.time, self.formerTime, sanctions) = (time, formerTime, [])
    }
}

/// A mute or a ban that was set under a wrong clock.
public struct MisdatedSanction: Hashable, Sendable, Codable {
    /// The position of its event.
    public var position: Position
    /// The recorded time of its event, which is ahead of the corrected clock.
    public var recordedAt: Timestamp
    /// The thread.
    public var thread: ThreadID
    /// The user.
    public var user: UserSummary
    /// The kind of sanction.
    public var kind: ThreadSanction.Kind
    /// The end; nil if it does not end by itself.
    public var until: Timestamp?

    private enum CodingKeys: AbsentAsNullKey { case position, recordedAt, thread, user, kind, until }
}
