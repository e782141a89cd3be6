import Columns

extension IDTable {
    /// Finds the number of an id, or gives it the next one.
    mutating func lookUp(_ lookUp: (id: UInt128, inserts: Bool)) -> (number: Int?, isNew: Bool) {
        lookUp.inserts ? insert(lookUp.id) : (find(lookUp.id), false)
    }
}
