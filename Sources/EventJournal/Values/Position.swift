/// The number of a record in its journal, counted from 1 without gaps.
///
/// 0 is the position before the first record. Positions define the order of records. A position
/// never changes and is never reused.
public typealias Position = UInt64
