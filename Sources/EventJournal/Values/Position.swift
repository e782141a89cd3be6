/// The number of a record in its journal, counted from 1 with no gaps; 0 stands for "before the first".
///
/// Positions order everything; they never change and are never used twice.
public typealias Position = UInt64
