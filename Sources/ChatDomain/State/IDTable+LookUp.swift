import Columns

extension IDTable {
    /// Finds the index of an id, or gives it the next one.
    mutating func lookUp(_ lookUp: (id: UInt128, inserts: Bool)) -> (index: Int?, isNew: Bool) {
        lookUp.inserts ? insert(lookUp.id) : (find(lookUp.id), false)
    }
}
