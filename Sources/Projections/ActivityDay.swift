import Primitives

public import ChatDomain

/// A calendar day in UTC.
public struct CalendarDay: Hashable, Comparable, Sendable {
    /// The number of days since 1970-01-01; negative for earlier days.
    public var daysSince1970: Int64

    /// Creates a day from the number of days since 1970-01-01.
    public init(daysSince1970: Int64) { self.daysSince1970 = daysSince1970 }

    /// Creates the UTC day that contains a time.
    public init(_ time: Timestamp) {
        let (day, rest) = time.millisecondsSince1970.quotientAndRemainder(dividingBy: Self.milliseconds)
        daysSince1970 = rest < 0 ? day - 1 : day
    }

    /// Whether the first day is earlier than the second.
    public static func < (first: CalendarDay, second: CalendarDay) -> Bool {
        first.daysSince1970 < second.daysSince1970
    }

    private static let milliseconds: Int64 = 86_400_000
}

extension CalendarDay: LosslessStringConvertible, Codable, TextValue {
    package static var decodingFailure: String { "expected a date such as 2026-11-21" }

    /// The Gregorian date, as in `2026-11-21`.
    ///
    /// A year outside 0000 to 9999 is written as in `Timestamp`, and
    /// ``init(_:)-(String)`` rejects it. A day outside the range of `Timestamp` is written as the
    /// nearest day within the range.
    public var description: String {
        let (start, overflows) = daysSince1970.multipliedReportingOverflow(by: Self.milliseconds)
        let time = Timestamp(millisecondsSince1970: overflows ? (daysSince1970 < 0 ? .min : .max) : start)
        return String(time.description.prefix { $0 != "T" })
    }

    /// Parses a date `YYYY-MM-DD`; nil for any other text.
    public init?(_ text: String) {
        guard text.utf8.count == 10, let start = Timestamp(text + "T00:00:00Z") else { return nil }
        self.init(start)
    }
}

/// The activity of a day, by display time: imports count on their original day.
public struct ActivityDay: Hashable, Sendable, Codable, Identifiable {
    /// The day in UTC.
    public var day: CalendarDay
    /// The number of users who registered.
    public var registrationCount: Int
    /// The number of sessions started.
    public var sessionCount: Int
    /// The number of users who acted on the day.
    ///
    /// The end of a session does not count, because it can occur without an action of the user, nor
    /// does what the host program does to a user.
    public var activeUserCount: Int
    /// The number of messages posted, including those retracted later.
    public var messageCount: Int
    /// The number of replies posted, including those retracted later.
    public var replyCount: Int

    /// The day, which identifies the value.
    public var id: CalendarDay { day }

    /// Creates a day's activity; omitted counts are 0.
    public init(
        day: CalendarDay, registrationCount: Int = 0, sessionCount: Int = 0, activeUserCount: Int = 0,
        messageCount: Int = 0,
        replyCount: Int = 0
    ) {
        self.day = day
        self.registrationCount = registrationCount
        self.sessionCount = sessionCount
        self.activeUserCount = activeUserCount
        self.messageCount = messageCount
        self.replyCount = replyCount
    }

    private enum CodingKeys: String, CodingKey {
        case day
        case registrationCount = "registrations"
        case sessionCount = "sessions"
        case activeUserCount = "activeUsers"
        case messageCount = "messages"
        case replyCount = "replies"
    }
}
