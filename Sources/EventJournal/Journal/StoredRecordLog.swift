internal import Primitives

/// Receives a record in its stored form, with the number of records of its commit from it on;
/// returns whether to continue.
package typealias StoredRecordHandler = (_ position: Position, _ recordsLeft: Int, _ record: RawSpan) -> Bool

/// A log whose records can be read in their stored form, to copy them unchanged to another log.
///
/// ``StoredRecord`` has the parts of a record.
package protocol StoredRecordLog: HistoryLog {
    /// Calls a closure with the stored form of each record in a range of positions, in order.
    ///
    /// Otherwise the same as ``CommitLog/forEachRecord(in:_:)``, except that it delivers hidden
    /// content too: the caller must not show it.
    ///
    /// - Parameter body: Receives the position, the number of records of the commit from this one
    ///   to its end, this one included, and the record. Returns whether to continue.
    func forEachStoredRecord(in positions: ClosedRange<Position>, _ body: StoredRecordHandler) throws(JournalError)
}

/// A place to which the records of a log are copied, in their stored form, under the same id.
package protocol StoredRecordSink {
    /// The end of the last commit that was added; 0 if the copy is empty.
    var position: Position { get }
    /// The head at ``position``.
    var head: JournalHead { get }

    /// Adds the next record.
    ///
    /// - Parameter recordsLeft: The number of records of the commit from this one to its end, this
    ///   one included.
    /// - Throws: `damaged` if the bytes are not one valid record, or do not continue the commit.
    mutating func add(_ record: RawSpan, recordsLeft: Int) throws(JournalError)

    /// Makes the commits durable that were added; drops an unfinished one.
    mutating func finish() throws(JournalError)
}
