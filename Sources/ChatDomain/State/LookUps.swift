import Columns

extension IDTable {
    /// Finds the number of an id, or gives it the next one.
    mutating func lookUp(_ lookUp: (id: UInt128, inserts: Bool)) -> (number: Int?, isNew: Bool) {
        lookUp.inserts ? insert(lookUp.id) : (find(lookUp.id), false)
    }
}

/// Ids that are looked up together, and the events that name them.
struct LookUps {
    var ids: [UInt128] = []
    /// Whether each is given a number if it has none.
    var inserting: [Bool] = []
    private var events: [Int] = []

    init(_ capacity: Int) {
        ids.reserveCapacity(capacity)
        events.reserveCapacity(capacity)
    }

    @inline(__always)
    mutating func append(_ id: UInt128, for event: Int) {
        ids.append(id)
        events.append(event)
    }

    @inline(__always)
    mutating func append(_ lookUp: (id: UInt128, inserts: Bool), for event: Int) {
        append(lookUp.id, for: event)
        inserting.append(lookUp.inserts)
    }

    /// Calls a closure with each event and what was found for it.
    @inline(__always)
    func forEach(_ entries: [UInt32], _ body: (Int, UInt32) -> Void) {
        for index in entries.indices { body(events[index], entries[index]) }
    }
}
