import Primitives

/// A point in time, in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// The text form is that of RFC 3339 (a profile of ISO 8601) in UTC with three digits of fraction:
/// `2026-11-21T05:03:12.123Z`. As in POSIX and RFC 3339, every day has 86,400 seconds. The calendar
/// is the proleptic Gregorian one.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z, negative before it; every value is valid.
    public var millisecondsSince1970: Int64

    /// Creates a timestamp from milliseconds since 1970-01-01T00:00:00Z.
    public init(millisecondsSince1970: Int64) {
        self.millisecondsSince1970 = millisecondsSince1970
    }

    /// Whether the first time is earlier.
    public static func < (first: Timestamp, second: Timestamp) -> Bool {
        first.millisecondsSince1970 < second.millisecondsSince1970
    }
}

extension Timestamp: LosslessStringConvertible, Codable, TextValue {
    package static var decodingFailure: String { "not a date-time of RFC 3339, such as 2026-11-21T05:03:12.123Z" }

    /// The time in UTC with milliseconds: `2026-11-21T05:03:12.123Z`.
    ///
    /// A year outside 0000 to 9999 has a sign and at least four digits (`+12026-...`, `-0001-...`).
    /// ``init(_:)-(String)`` does not accept such a text; `init(from:)` does.
    public var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(32)
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the bytes of ``description``.
    package func append(to text: inout [UInt8]) {
        // Foundation's `Date.ISO8601FormatStyle` converts through a Double of seconds and can print
        // a value one millisecond too low.
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

    /// Creates a timestamp from a date-time of RFC 3339, or nil if the text is not one.
    ///
    /// The form is `YYYY-MM-DDThh:mm:ss`, an optional fraction of one to nine digits, and `Z` or an
    /// offset `+hh:mm` or `-hh:mm` of less than a day. `t` and `z` are accepted. The fraction is
    /// truncated to milliseconds. Only dates that exist are valid, and only times of the years 0000
    /// to 9999 in UTC, so that every accepted time prints in the same form.
    ///
    /// The second 60 of a leap second is not valid, because a count of milliseconds in days of
    /// 86,400 seconds cannot represent it. The hour 24 is not valid either, as in RFC 3339.
    ///
    /// - Parameter text: The date-time, without other text around it.
    public init?(_ text: String) {
        guard (20...35).contains(text.utf8.count) else { return nil }
        var scanner = ByteScanner(bytes: Array(text.utf8))
        guard let year = scanner.scanDecimal(digits: 4), scanner.consume("-"),
            let month = scanner.scanDecimal(digits: 2), scanner.consume("-"),
            let day = scanner.scanDecimal(digits: 2), scanner.consume("T") || scanner.consume("t"),
            let hour = scanner.scanDecimal(digits: 2), hour < 24, scanner.consume(":"),
            let minute = scanner.scanDecimal(digits: 2), minute < 60, scanner.consume(":"),
            let second = scanner.scanDecimal(digits: 2), second < 60,
            let date = CivilDate(year: year, month: month, day: day),
            let millisecond = scanner.scanFraction(),
            let offset = scanner.scanOffset(), scanner.isAtEnd
        else { return nil }
        let minutes = date.daysSince1970 * 1440 + hour * 60 + minute - offset
        let moment = Timestamp(millisecondsSince1970: (minutes * 60 + second) * 1000 + millisecond)
        guard Self.printable.contains(moment.millisecondsSince1970) else { return nil }
        self = moment
    }

    /// Creates a timestamp from the text of a recorded event's time, or nil.
    ///
    /// Accepts the texts of ``init(_:)``, and exactly the ``description`` of times outside the
    /// years 0000 to 9999.
    package init?(printed text: String) {
        if let moment = Timestamp(text) {
            self = moment
            return
        }
        let digits = text.utf8.dropFirst().prefix { $0 != UInt8(ascii: "-") }
        guard text.hasPrefix("+") || text.hasPrefix("-"), (4...9).contains(digits.count),
            let magnitude = Int64(String(digits) ?? ""),
            let rest = String(text.utf8.dropFirst(1 + digits.count))
        else { return nil }
        // The calendar repeats every 400 years. The division truncates toward zero, so that the
        // cycle count cannot exceed that of a valid time.
        let (cycles, year) = ((text.hasPrefix("-") ? -magnitude : magnitude) - 2_000).quotientAndRemainder(
            dividingBy: 400)
        guard let moment = Timestamp("\(year + 2_000)\(rest)") else { return nil }
        let (shift, overflow) = cycles.multipliedReportingOverflow(by: 146_097 * Self.millisecondsPerDay)
        let (milliseconds, overflowOfSum) = moment.millisecondsSince1970.addingReportingOverflow(shift)
        guard !overflow, !overflowOfSum else { return nil }
        self.init(millisecondsSince1970: milliseconds)
        guard description == text else { return nil }
    }

    private static let millisecondsPerDay: Int64 = 86_400_000

    /// The range from the first millisecond of the year 0 to the last of the year 9999.
    private static let printable: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999
}

/// A day of the proleptic Gregorian calendar; the year 0 is 1 BC.
///
/// The algorithms are Howard Hinnant's `civil_from_days` and `days_from_civil` from
/// "chrono-Compatible Low-Level Date Algorithms" (howardhinnant.github.io/date_algorithms.html).
/// Years begin in March, so that the leap day is the last, and every era of 400 years has 146,097
/// days. No value of ``Timestamp`` overflows them.
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

    /// Creates a day, or nil if the calendar does not have it.
    init?(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
        // A day that its month lacks, such as 30 February, converts to a day of the next month.
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

/// Scans the parts of a date-time in order.
private struct ByteScanner {
    let bytes: [UInt8]
    private var position = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    mutating func consume(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func digit() -> Int64? {
        guard position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) else {
            return nil
        }
        defer { position += 1 }
        return Int64(bytes[position] - UInt8(ascii: "0"))
    }

    mutating func scanDecimal(digits: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<digits {
            guard let next = digit() else { return nil }
            value = value * 10 + next
        }
        return value
    }

    /// Scans an optional fraction of one to nine digits; returns milliseconds, or nil if malformed.
    ///
    /// The result is 0 without a fraction.
    mutating func scanFraction() -> Int64? {
        guard consume(".") else { return 0 }
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

    mutating func scanOffset() -> Int64? {
        if consume("Z") || consume("z") { return 0 }
        let sign: Int64
        if consume("+") {
            sign = 1
        } else if consume("-") {
            sign = -1
        } else {
            return nil
        }
        guard let hours = scanDecimal(digits: 2), hours < 24, consume(":"), let minutes = scanDecimal(digits: 2),
            minutes < 60
        else {
            return nil
        }
        return sign * (hours * 60 + minutes)
    }
}

extension Int64 {
    /// Returns the quotient rounded down and the non-negative remainder, for a divisor above 1.
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
