/// A moment, in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// It is written in the form of RFC 3339 (a profile of ISO 8601) in UTC with three digits of fraction:
/// `2026-11-21T05:03:12.123Z`. As in POSIX and RFC 3339 time, every day has 86,400 seconds; the calendar is the Gregorian
/// one, before its introduction too.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z, negative before; any value is allowed.
    public var millisecondsSince1970: Int64

    /// Makes the moment that lies so many milliseconds after, or before, 1970-01-01T00:00:00Z.
    public init(millisecondsSince1970: Int64) {
        self.millisecondsSince1970 = millisecondsSince1970
    }

    /// Whether one moment comes before another.
    public static func < (first: Timestamp, second: Timestamp) -> Bool {
        first.millisecondsSince1970 < second.millisecondsSince1970
    }
}

extension Timestamp: LosslessStringConvertible {
    /// The moment in UTC with milliseconds: `2026-11-21T05:03:12.123Z`.
    ///
    /// A year outside 0000 to 9999 is written with its sign and as many digits as it takes, at least four (`+12026-...`,
    /// `-0001-...`); such a text is for people, and ``init(_:)`` refuses it.
    public var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(32)
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the bytes of ``description``.
    package func append(to text: inout [UInt8]) {
        // By hand: Foundation's Date.ISO8601FormatStyle goes by way of a Double of seconds and, measured, printed half of
        // 200,000 millisecond values one too low.
        let (day, millisecond) = millisecondsSince1970.flooredDivision(by: Self.millisecondsPerDay)
        let date = CivilDate(daysSince1970: day)
        if !(0...9999).contains(date.year) { text.append(UInt8(ascii: date.year < 0 ? "-" : "+")) }
        let year = date.year.magnitude
        if year > 9999 { text.append(contentsOf: String(year / 10_000).utf8) }
        text.append(twoDigits: Int64(year / 100 % 100))
        text.append(twoDigits: Int64(year % 100))
        text.append(UInt8(ascii: "-"))
        text.append(twoDigits: date.month)
        text.append(UInt8(ascii: "-"))
        text.append(twoDigits: date.day)
        text.append(UInt8(ascii: "T"))
        text.append(twoDigits: millisecond / 3_600_000)
        text.append(UInt8(ascii: ":"))
        text.append(twoDigits: millisecond / 60_000 % 60)
        text.append(UInt8(ascii: ":"))
        text.append(twoDigits: millisecond / 1000 % 60)
        text.append(UInt8(ascii: "."))
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: millisecond / 100 % 10))
        text.append(twoDigits: millisecond % 100)
        text.append(UInt8(ascii: "Z"))
    }

    /// Reads a date-time of RFC 3339, or returns nothing if the text is none.
    ///
    /// The form is `YYYY-MM-DDThh:mm:ss`, then a fraction of one to nine digits if there is one, then `Z` or an offset
    /// `+hh:mm` or `-hh:mm` of less than a day; `t` and `z` may be small. Digits beyond the millisecond are cut off, that is,
    /// towards the past. Only dates of the calendar are read, and only moments of the years 0000 to 9999 in UTC, so that
    /// what was read prints in the same form.
    ///
    /// The second 60 of a leap second is refused: a count of milliseconds in days of 86,400 seconds has no place for it, and
    /// to take the next second for it would record a moment that nobody wrote. So is the hour 24, which RFC 3339 leaves out.
    ///
    /// - Parameter text: the date-time, nothing before or after it.
    public init?(_ text: String) {
        guard (20...35).contains(text.utf8.count) else { return nil }
        var scanner = ByteScanner(bytes: Array(text.utf8))
        guard let year = scanner.decimal(digits: 4), scanner.take("-"),
            let month = scanner.decimal(digits: 2), scanner.take("-"),
            let day = scanner.decimal(digits: 2), scanner.take("T") || scanner.take("t"),
            let hour = scanner.decimal(digits: 2), hour < 24, scanner.take(":"),
            let minute = scanner.decimal(digits: 2), minute < 60, scanner.take(":"),
            let second = scanner.decimal(digits: 2), second < 60,
            let date = CivilDate(year: year, month: month, day: day),
            let millisecond = scanner.fraction(),
            let offset = scanner.offsetInMinutes(), scanner.isAtEnd
        else { return nil }
        let minutes = date.daysSince1970 * 1440 + hour * 60 + minute - offset
        let moment = Timestamp(millisecondsSince1970: (minutes * 60 + second) * 1000 + millisecond)
        guard Self.printable.contains(moment.millisecondsSince1970) else { return nil }
        self = moment
    }

    /// Reads what ``init(_:)`` reads, and what ``description`` prints of a year outside 0000 to 9999, to the letter: for the times of recorded events.
    package init?(printed text: String) {
        if let moment = Timestamp(text) {
            self = moment
            return
        }
        let digits = text.utf8.dropFirst().prefix { $0 != UInt8(ascii: "-") }
        guard text.hasPrefix("+") || text.hasPrefix("-"), (4...9).contains(digits.count), let magnitude = Int64(String(digits) ?? ""),
            let rest = String(text.utf8.dropFirst(1 + digits.count))
        else { return nil }
        // The calendar is the same every 400 years; towards zero, so that no cycle more is counted than a time can have.
        let (cycles, year) = ((text.hasPrefix("-") ? -magnitude : magnitude) - 2_000).quotientAndRemainder(dividingBy: 400)
        guard let moment = Timestamp("\(year + 2_000)\(rest)") else { return nil }
        let (shift, overflow) = cycles.multipliedReportingOverflow(by: 146_097 * Self.millisecondsPerDay)
        let (milliseconds, overflowOfSum) = moment.millisecondsSince1970.addingReportingOverflow(shift)
        guard !overflow, !overflowOfSum else { return nil }
        self.init(millisecondsSince1970: milliseconds)
        guard description == text else { return nil }
    }

    private static let millisecondsPerDay: Int64 = 86_400_000

    /// The first millisecond of the year 0 to the last of the year 9999.
    private static let printable: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999
}

extension Timestamp: Codable {
    /// Decodes a moment from a string that ``init(_:)`` reads.
    ///
    /// - Throws: `DecodingError.dataCorrupted` where the string is not such a date-time.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let moment = Timestamp(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "not a date-time of RFC 3339, such as 2026-11-21T05:03:12.123Z")
        }
        self = moment
    }

    /// Encodes the moment as its description.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// A day of the Gregorian calendar, extended to all years; the year 0 is 1 BC.
///
/// The arithmetic is Howard Hinnant's, `civil_from_days` and `days_from_civil` of "chrono-Compatible Low-Level Date
/// Algorithms" (howardhinnant.github.io/date_algorithms.html): years begin in March, so that the leap day comes last, and
/// eras of 400 years are all of 146,097 days. No value that ``Timestamp`` can hold overflows it.
private struct CivilDate {
    var year: Int64
    var month: Int64
    var day: Int64

    init(daysSince1970: Int64) {
        let (era, dayOfEra) = (daysSince1970 + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Makes a day that the calendar has.
    init?(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
        // A day that is not in its month, such as 30 February, counts on into the next one and so comes back as another.
        guard (1...12).contains(month), (1...31).contains(day) else { return nil }
        let same = CivilDate(daysSince1970: daysSince1970)
        guard same.month == month, same.day == day else { return nil }
    }

    var daysSince1970: Int64 {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).flooredDivision(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}

/// Reads the parts of a date-time one after the other.
private struct ByteScanner {
    let bytes: [UInt8]
    private var position = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func digit() -> Int64? {
        guard position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) else { return nil }
        defer { position += 1 }
        return Int64(bytes[position] - UInt8(ascii: "0"))
    }

    mutating func decimal(digits: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<digits {
            guard let next = digit() else { return nil }
            value = value * 10 + next
        }
        return value
    }

    /// Reads a point and one to nine digits and returns whole milliseconds, or 0 if there is no point.
    mutating func fraction() -> Int64? {
        guard take(".") else { return 0 }
        guard let tenths = digit() else { return nil }
        var milliseconds = tenths * 100
        var weight: Int64 = 10
        for _ in 1..<9 {
            guard let next = digit() else { break }
            milliseconds += next * weight
            weight /= 10
        }
        return milliseconds
    }

    mutating func offsetInMinutes() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let sign: Int64
        if take("+") {
            sign = 1
        } else if take("-") {
            sign = -1
        } else {
            return nil
        }
        guard let hours = decimal(digits: 2), hours < 24, take(":"), let minutes = decimal(digits: 2), minutes < 60 else { return nil }
        return sign * (hours * 60 + minutes)
    }
}

extension Int64 {
    /// The quotient rounded down, and a remainder that is not negative, for a divisor above 1.
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension [UInt8] {
    /// Appends a number from 0 to 99 as two digits.
    fileprivate mutating func append(twoDigits value: Int64) {
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 10))
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10))
    }
}
