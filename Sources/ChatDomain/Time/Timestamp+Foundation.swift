#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Timestamp {
    /// Creates the timestamp nearest to a date, in whole milliseconds.
    ///
    /// A date out of range becomes the first or the last timestamp, and a date that is not a number
    /// becomes 1970.
    public init(_ date: Date) {
        let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
        if milliseconds.isNaN {
            self.init(millisecondsSince1970: 0)
        } else if let exact = Int64(exactly: milliseconds) {
            self.init(millisecondsSince1970: exact)
        } else {
            self.init(millisecondsSince1970: milliseconds < 0 ? .min : .max)
        }
    }

    /// The timestamp as a date, exact to the millisecond for the years 0 to 9999.
    public var date: Date { Date(timeIntervalSince1970: Double(millisecondsSince1970) / 1_000) }
}
