import Columns

/// The direct threads and their people, by the indexes of ``Identities``.
///
/// The rules and the read models share them in ``Identities``, because the people of a thread never
/// change.
package struct DirectThreads: Equatable, Sendable {
    /// The direct threads, in the order of their openings.
    private var threads = SubsetInterner()
    /// By row of ``threads``: the end of its people in ``people``.
    private var ends = PackedColumn<UInt32>()
    /// The people of each thread, in the order of its opening.
    private var people = PackedColumn<UInt32>()
    /// The sets of people, each as its sorted indexes; not stored, because they follow from the
    /// people.
    private var sets = TextInterner()
    /// By set: the row of its thread.
    private var rows = PackedColumn<UInt32>()

    /// Adds a thread.
    ///
    /// If there is one of the same people, ``thread(of:)`` goes on to return that one.
    mutating func insert(_ thread: Int, people users: [Int]) {
        let (row, isNew) = threads.insert(thread)
        guard isNew else { return }
        for user in users { people.append(UInt32(truncatingIfNeeded: user)) }
        ends.append(UInt32(truncatingIfNeeded: people.count))
        addSet(of: users, row)
    }

    private mutating func addSet(of users: [Int], _ row: Int) {
        if sets.insert(Self.key(users)).isNew { rows.append(UInt32(truncatingIfNeeded: row)) }
    }

    /// Returns the thread of a set of people, in any order; nil if it has none.
    func thread(of users: [Int]) -> Int? { sets.find(Self.key(users)).map { threads.entry(Int(rows[$0])) } }

    /// Whether a thread is a direct one.
    package func contains(_ thread: Int) -> Bool { threads.find(thread) != nil }

    /// Returns the people of a direct thread, of whom the opener is the first; none for another
    /// thread.
    package func people(of thread: Int) -> [Int] { threads.find(thread).map(people(ofRow:)) ?? [] }

    private func people(ofRow row: Int) -> [Int] {
        ((row == 0 ? 0 : Int(ends[row - 1]))..<Int(ends[row])).map { Int(people[$0]) }
    }

    private static func key(_ users: [Int]) -> String { users.sorted().map(String.init).joined(separator: ",") }
}

extension DirectThreads {
    mutating func visit(_ visitor: inout ColumnVisitor, users: Int, threads threadCount: Int)
        throws(ColumnError)
    {
        try threads.visit(&visitor, below: threadCount)
        try ends.visit(&visitor, rows: threads.count)
        // A journal of another writer may list as many people as an event can.
        try people.visit(&visitor, atMost: threads.count * MessageBody.maximumMentionCount, below: users)
        if visitor.isReading {
            try require(ends.last.map { Int($0) } ?? 0 == people.count, "people of no direct thread")
            for row in ends.indices {
                try require(
                    row == 0 || ends[row - 1] <= ends[row], "the ends of the people of direct threads do not ascend")
                addSet(of: people(ofRow: row), row)
            }
        }
        try visitor.visit(unstored: &sets) { $0.removeSlots() }
    }
}
