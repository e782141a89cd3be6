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
}

extension ThreadRenamings {
    mutating func visit(_ visitor: inout ColumnVisitor, threads: Int, head: Position) throws(ColumnError) {
        try visitor.visit(
            &names,
            write: { names, writer in
                writer.write(names.count)
                writer.write(names.indices, text: { names[$0] })
            },
            read: { (names, reader) throws(ColumnError) in
                let count = try reader.readCount()
                names = Column(try reader.readTexts(count))
            })
        try numbers.visit(&visitor, entries: threads, below: names.count + 1, head: head)
        if visitor.isReading {
            try require(numbers.hasOnlyNonZeroValues, "a thread has no name that it was given")
        }
    }
}
