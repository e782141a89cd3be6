import ChatDomain
import ChatTesting
import Foundation
import TestSupport
import Testing

@Suite struct TimestampTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (1_000_000_000_000, "2001-09-09T01:46:40.000Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"), (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (-2_203_891_200_001, "1900-02-28T23:59:59.999Z"),
        (1_795_237_392_123, "2026-11-21T05:03:12.123Z"),
    ])
    func knownTimesMatch(_ milliseconds: Int64, _ text: String) {
        #expect(Timestamp(millisecondsSince1970: milliseconds).description == text)
        #expect(Timestamp(text)?.millisecondsSince1970 == milliseconds)
    }

    @Test(arguments: [
        (253_402_300_800_000, "+10000-01-01T00:00:00.000Z"), (-62_167_219_200_001, "-0001-12-31T23:59:59.999Z"),
        (Int64.max, "+292278994-08-17T07:12:55.807Z"), (Int64.min, "-292275055-05-16T16:47:04.192Z"),
    ])
    func yearsBeyondFourDigitsArePrinted(_ milliseconds: Int64, _ text: String) {
        #expect(Timestamp(millisecondsSince1970: milliseconds).description == text)
        #expect(Timestamp(text) == nil)
    }

    @Test(arguments: [
        "2026-11-21T05:03:12Z", "2026-11-21t05:03:12z", "2026-11-21T05:03:12.0Z", "2026-11-21T05:03:12.000000000Z",
        "2026-11-21T05:03:12.000999999Z",
        "2026-11-21T05:03:12+00:00", "2026-11-21T05:03:12-00:00", "2026-11-21T06:03:12+01:00",
        "2026-11-21T10:33:12+05:30",
        "2026-11-20T21:03:12-08:00", "2026-11-22T05:02:12+23:59", "2026-11-20T05:04:12-23:59",
    ])
    func variantsOfOneTimeAreEqual(_ text: String) {
        #expect(Timestamp(text)?.description == "2026-11-21T05:03:12.000Z")
    }

    @Test(arguments: [
        ("1", 100), ("12", 120), ("123", 123), ("1239", 123), ("999999999", 999), ("000000001", 0), ("01", 10),
        ("001", 1),
    ])
    func fractionsAreTruncated(_ digits: String, _ milliseconds: Int64) {
        #expect(Timestamp("1970-01-01T00:00:00.\(digits)Z")?.millisecondsSince1970 == milliseconds)
        #expect(Timestamp("1969-12-31T23:59:59.\(digits)Z")?.millisecondsSince1970 == milliseconds - 1000)
    }

    @Test(arguments: [
        "2026-02-29", "2026-02-30", "2024-02-30", "1900-02-29", "2100-02-29", "2026-04-31", "2026-06-31", "2026-09-31",
        "2026-11-31",
        "2026-01-32",
        "2026-00-10", "2026-13-10", "2026-01-00", "2026-12-32", "2026-99-99",
    ])
    func invalidDatesAreRejected(_ date: String) {
        #expect(Timestamp("\(date)T00:00:00Z") == nil)
    }

    @Test(arguments: ["2024-02-29", "2000-02-29", "0000-02-29", "2026-02-28", "2026-01-31", "2026-12-31", "2026-04-30"])
    func validDatesAreAccepted(_ date: String) {
        #expect(Timestamp("\(date)T00:00:00Z")?.description == "\(date)T00:00:00.000Z")
    }

    @Test(arguments: [
        "", "2026-11-21", "2026-11-21T05:03:12", "2026-11-21T05:03Z", "2026-11-21 05:03:12Z", "2026-11-21T05:03:12 Z",
        " 2026-11-21T05:03:12Z",
        "2026-11-21T05:03:12Z\n", "2026-11-21T05:03:12ZZ", "2026-11-21T05:03:12.Z", "2026-11-21T05:03:12,1Z",
        "2026-11-21T05:03:12.0000000000Z",
        "2026-11-21T05:03:12.1", "2026-11-21T24:00:00Z", "2026-11-21T05:60:12Z", "2016-12-31T23:59:60Z",
        "2026-11-21T05:03:61Z",
        "2026-11-21T05:03:12+24:00", "2026-11-21T05:03:12+01:60", "2026-11-21T05:03:12+0100", "2026-11-21T05:03:12+01",
        "2026-11-21T05:03:12+1:00",
        "20261121T050312Z", "26-11-21T05:03:12Z", "+2026-11-21T05:03:12Z", "-2026-11-21T05:03:12Z",
        "12026-11-21T05:03:12Z",
        "2026-325T05:03:12Z",
        "2026-W47-6T05:03:12Z", "2026-1-21T05:03:12.00Z", "2026-11-21T5:03:12.00Z", "2026-11-21T-5:03:12Z",
        "2026-11-21T+5:03:12Z",
        "٢٠٢٦-11-21T05:03:12Z", "２026-11-21T05:03:12Z", "2026\u{2212}11-21T05:03:12Z",
        "2026-11-21T05:03:12\u{2212}01:00",
        "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "1e10-11-21T05:03:12Z", "0x1A-11-21T05:03:12Z",
    ])
    func invalidTextIsRejected(_ text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test func overlongTextIsRejected() {
        #expect(Timestamp("2026-11-21T05:03:12." + String(repeating: "0", count: 10_000_000) + "Z") == nil)
    }

    @Test func timestampsRoundTripAsText() {
        var random = SeededRandom(seed: Repetitions.seed)
        for _ in 0..<20_000 {
            let moment = Timestamp(
                millisecondsSince1970: Int64.random(in: -62_167_219_200_000...253_402_300_799_999, using: &random))
            #expect(
                Timestamp(moment.description) == moment, "\(moment.millisecondsSince1970), seed \(Repetitions.seed)")
        }
    }

    @Test func orderEqualsOrderOfTexts() {
        var random = SeededRandom(seed: Repetitions.seed)
        for _ in 0..<5000 {
            let first = Timestamp(
                millisecondsSince1970: Int64.random(in: -62_167_219_200_000...253_402_300_799_999, using: &random))
            let second = Timestamp(
                millisecondsSince1970: first.millisecondsSince1970 + Int64.random(in: -2000...2000, using: &random))
            guard second.millisecondsSince1970 <= 253_402_300_799_999,
                second.millisecondsSince1970 >= -62_167_219_200_000
            else { continue }
            #expect(
                (first < second) == (first.description < second.description),
                "\(first), \(second), seed \(Repetitions.seed)")
        }
    }

    @Test func everyTimestampCanBePrinted() {
        var random = SeededRandom(seed: Repetitions.seed)
        for _ in 0..<5000 {
            let milliseconds =
                Int64.random(in: .min ... .max, using: &random) >> Int64.random(in: 0...40, using: &random)
            let text = Timestamp(millisecondsSince1970: milliseconds).description
            let fraction = (milliseconds % 1000 + 1000) % 1000
            #expect(
                text.hasSuffix(String(fraction + 1000).dropFirst() + "Z"), "\(milliseconds), seed \(Repetitions.seed)")
        }
    }

    /// Foundation prints seconds correctly from the year after the introduction of the Gregorian
    /// calendar.
    @Test func foundationPrintsTheSameSeconds() {
        var random = SeededRandom(seed: Repetitions.seed)
        let style = Date.ISO8601FormatStyle()
        for _ in 0..<20_000 {
            let second = Int64.random(in: -12_212_553_600...253_402_300_799, using: &random)
            let expected = Date(timeIntervalSince1970: Double(second)).formatted(style)
            let text = Timestamp(millisecondsSince1970: second * 1000).description
            #expect(text == expected.dropLast() + ".000Z", "\(second), seed \(Repetitions.seed)")
        }
    }

    /// Counts the calendar day by day over one cycle of 400 years and over the first and last
    /// years.
    @Test func consecutiveDaysAreConsecutiveDates() {
        for years in [0...3, 1600...2001, 9996...9999] {
            var day = Timestamp("\(padded(years.lowerBound, 4))-01-01T00:00:00Z")
            for year in years {
                let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
                for (index, length) in [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].enumerated() {
                    for date in 1...length {
                        let text = "\(padded(year, 4))-\(padded(index + 1, 2))-\(padded(date, 2))T00:00:00.000Z"
                        #expect(day?.description == text)
                        #expect(Timestamp(text) == day)
                        day?.millisecondsSince1970 += 86_400_000
                    }
                }
            }
        }
    }

    @Test func codable() throws {
        let moments = [Timestamp(millisecondsSince1970: 0), Timestamp(millisecondsSince1970: 1_795_237_392_123)]
        let json = try JSONEncoder().encode(moments)
        #expect(String(decoding: json, as: UTF8.self) == #"["1970-01-01T00:00:00.000Z","2026-11-21T05:03:12.123Z"]"#)
        #expect(try JSONDecoder().decode([Timestamp].self, from: json) == moments)
        // Also outside the years 0000 to 9999.
        let distant = [.min, -62_167_219_200_001, 253_402_300_800_000, .max].map(Timestamp.init(millisecondsSince1970:))
        #expect(try JSONDecoder().decode([Timestamp].self, from: JSONEncoder().encode(distant)) == distant)
        for bad in [#"["2026-11-21"]"#, #"["+2026-11-21T05:03:12.123Z"]"#, "[0]", "[null]"] {
            #expect(throws: DecodingError.self) { try JSONDecoder().decode([Timestamp].self, from: Data(bad.utf8)) }
        }
    }

    private func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
