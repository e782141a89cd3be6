/// The number of a record or an event in its journal, from 1 upwards without gaps.
///
/// 0 is the position before the first one. Positions define the order; times do not. A position
/// never changes and is never reused.
public typealias Position = UInt64

extension Position {
    /// Returns the sum, at most the greatest position.
    package func addingClamped(_ other: Position) -> Position {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
