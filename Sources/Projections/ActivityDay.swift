public import ChatDomain

/// A day in UTC.
public struct CalendarDay: Hashable, Comparable, Sendable {
    /// Days since 1970-01-01, negative before.
    public var daysSince1970: Int64

    /// Makes the day that lies so many days after, or before, 1970-01-01.
    public init(daysSince1970: Int64) { self.daysSince1970 = daysSince1970 }

    /// The day in UTC in which a moment lies.
    public init(_ time: Timestamp) {
        let (day, rest) = time.millisecondsSince1970.quotientAndRemainder(dividingBy: Self.milliseconds)
        daysSince1970 = rest < 0 ? day - 1 : day
    }

    /// Whether one day comes before another.
    public static func < (first: CalendarDay, second: CalendarDay) -> Bool { first.daysSince1970 < second.daysSince1970 }

    private static let milliseconds: Int64 = 86_400_000
}

extension CalendarDay: LosslessStringConvertible {
    /// The date of the Gregorian calendar, as the times of the day begin: `2026-11-21`.
    ///
    /// A year outside 0000 to 9999 is written as ``ChatDomain/Timestamp`` writes it, and ``init(_:)-(String)`` refuses it; a day that no `Timestamp` lies in is
    /// written as the nearest that has one.
    public var description: String {
        let (start, overflows) = daysSince1970.multipliedReportingOverflow(by: Self.milliseconds)
        let moment = Timestamp(millisecondsSince1970: overflows ? (daysSince1970 < 0 ? .min : .max) : start)
        return String(moment.description.prefix { $0 != "T" })
    }

    /// Reads a date `YYYY-MM-DD`, or returns nothing if the text is none.
    public init?(_ text: String) {
        guard text.utf8.count == 10, let start = Timestamp(text + "T00:00:00Z") else { return nil }
        self.init(start)
    }
}

extension CalendarDay: Codable {
    /// Decodes a date.
    ///
    /// - Throws: `DecodingError.dataCorrupted` where the string is none.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let day = CalendarDay(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a date, such as 2026-11-21")
        }
        self = day
    }

    /// Encodes the day as its description.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// What happened on a day, by the time at which it was created, as shown: the original time where an import gave one.
public struct ActivityDay: Hashable, Sendable, Codable, Identifiable {
    /// The day, in UTC.
    public var day: CalendarDay
    /// How many users registered.
    public var registrations: Int
    /// How many sessions began.
    public var sessions: Int
    /// How many users did anything: every event counts for the user whom it names, but for the end of a session, which may come of itself.
    public var activeUsers: Int
    /// How many messages were posted, those retracted since included.
    public var messages: Int
    /// How many replies were posted, those retracted since included.
    public var replies: Int

    /// The day, which identifies it.
    public var id: CalendarDay { day }

    /// Makes a day's activity; none unless it is given.
    public init(day: CalendarDay, registrations: Int = 0, sessions: Int = 0, activeUsers: Int = 0, messages: Int = 0, replies: Int = 0) {
        self.day = day
        self.registrations = registrations
        self.sessions = sessions
        self.activeUsers = activeUsers
        self.messages = messages
        self.replies = replies
    }

    private enum CodingKeys: CodingKey { case day, registrations, sessions, activeUsers, messages, replies }
}
