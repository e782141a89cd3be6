import ChatDomain
import Columns
import Primitives

/// The names that threads were given after their opening, as of any position.
struct ThreadRenamings: Equatable, Sendable {
    /// By thread: the number of its name in ``names``, from 1.
    private var numbers = SparseChains<UInt32>()
    /// The names in journal order; nil for an erased one.
    private var names = Column<String?>()

    mutating func append(_ name: String?, at position: Position, to thread: Int) {
        names.append(name)
        numbers.set(UInt32(truncatingIfNeeded: names.count), at: position, of: thread)
    }

    /// Returns the name that a thread was given last and the position of that; nil if it kept its
    /// first one.
    func latest(of thread: Int, asOf position: Position) -> (name: String?, position: Position)? {
        numbers.version(of: thread, asOf: position).map { (names[Int($0.value) - 1], $0.position) }
    }

    mutating func removeSlots() { numbers.removeSlots() }
}

extension ThreadRenamings {
    func write(to writer: inout ColumnWriter) {
        writer.write(names.count)
        writer.write(names.indices, text: { names[$0] })
        numbers.write(to: &writer)
    }

    init(from reader: inout ColumnReader, threads: Int, head: Position) throws(ColumnError) {
        let count = try reader.readCount()
        for name in try reader.readTexts(count) { names.append(name) }
        numbers = try SparseChains(from: &reader, entries: threads, below: count + 1, head: head)
        try require(numbers.hasOnlyNonZeroValues, "a thread has no name that it was given")
    }
}
