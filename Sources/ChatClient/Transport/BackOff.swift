#if Client || canImport(SQLite3)
    package import Foundation

    /// The waits between attempts to reach a server.
    ///
    /// Full jitter: a random time up to a bound that doubles with each attempt, so that the clients
    /// of a server that was away do not return together (AWS Architecture Blog, "Exponential
    /// Backoff And Jitter").
    package enum BackOff {
        /// The bound of the wait before the first attempt.
        package static let first = Duration.milliseconds(500)
        /// The longest wait that the client chooses.
        package static let longest = Duration.seconds(60)
        /// The longest wait that a server can ask for.
        package static let longestAsked = Duration.seconds(3_600)

        /// Returns the wait before an attempt.
        ///
        /// - Parameters:
        ///   - attempt: The number of the attempt since the last success, from 1.
        ///   - retryAfter: The wait that the server has asked for; the wait is at least as long,
        ///     but at most ``longestAsked``.
        package static func wait(
            before attempt: Int, retryAfter: Duration? = nil, using generator: inout some RandomNumberGenerator
        ) -> Duration {
            // Beyond 2^7 the bound is the longest wait anyway.
            let bound = min(longest, first * (1 << (min(max(attempt, 1), 8) - 1)))
            // A fraction below 1, of the 53 bits that a Double has.
            let jitter = bound * (Double(generator.next() >> 11) / Double(1 << 53))
            return retryAfter.map { min(max($0, .zero) + jitter, longestAsked) } ?? jitter
        }
    }

    /// The header `Retry-After` (RFC 9110, 10.2.3).
    package enum RetryAfter {
        /// The three forms of a date (RFC 9110, 5.6.7).
        private static let dateForms = [
            "EEE, dd MMM yyyy HH:mm:ss zzz", "EEEE, dd-MMM-yy HH:mm:ss zzz", "EEE MMM d HH:mm:ss yyyy",
        ]

        /// Returns the wait that a value asks for, at least zero; nil if it is neither seconds nor
        /// a date.
        package static func parse(_ text: String, now: Date) -> Duration? {
            let text = text.trimmingCharacters(in: .whitespaces)
            guard !text.isEmpty, text.utf8.count <= 64 else { return nil }
            if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
                // More seconds than an Int32 has are as good as for ever.
                return .seconds(Int32(text) ?? .max)
            }
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(secondsFromGMT: 0)
            for form in dateForms {
                formatter.dateFormat = form
                guard let date = formatter.date(from: text) else { continue }
                return .seconds(min(max(0, date.timeIntervalSince(now)), Double(Int32.max)))
            }
            return nil
        }
    }
#endif
