import ChatTesting
import TestSupport
import Testing

@testable import Columns

@Suite struct RowIndexTests {
    /// Rows with an optional name, and the dictionary that the index must agree with.
    private struct Rows {
        var names: [String?] = []
        var index = RowIndex()
        var model: [String: Int] = [:]

        mutating func set(_ name: String?, of row: Int) {
            if let former = names[row] { model[former] = nil }
            names[row] = name
            guard let name else { return }
            model[name] = row
            let names = names
            index.update(row, of: names.count) { names[$0] }
        }

        func find(_ name: String) -> Int? { index.find(name) { names[$0] } }

        func agrees(_ count: Int) -> Bool { (0..<count).allSatisfy { find("name \($0)") == model["name \($0)"] } }
    }

    /// Names are assigned, swapped, removed and reused while the index grows.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 6))) func namesAgreeWithDictionary(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var rows = Rows()
        var copies: [Rows] = []
        // Few names, so that they repeat. With seed 1 almost no row has a name, with seed 2 almost
        // all.
        let nameCount = 1_500
        let unnamed = seed == 1 ? 15 : seed == 2 ? 0 : Int.random(in: 0...8, using: &random)
        for step in 0..<12_000 {
            if rows.names.count < 2_000, random.oneIn(3) { rows.names.append(nil) }
            guard !rows.names.isEmpty else { continue }
            let row = Int.random(in: rows.names.indices, using: &random)
            let name = "name \(Int.random(in: 0..<nameCount, using: &random))"
            if rows.find(name) != rows.model[name] { Issue.record("step \(step): \(name)") }
            if Int.random(in: 0..<16, using: &random) < unnamed {
                rows.set(nil, of: row)
            } else if rows.model[name] ?? row == row {
                rows.set(name, of: row)
            }
            if random.oneIn(400) {
                #expect(rows.agrees(nameCount))
                copies.append(rows)
            }
        }
        #expect(rows.agrees(nameCount) && copies.allSatisfy { $0.agrees(nameCount) })
    }

    /// A row gets its old name back after the growing index has placed the row under another.
    ///
    /// Growth starts at 156 rows and again at 208.
    @Test(arguments: 150...160) func restoredNameIsFound(_ count: Int) {
        var rows = Rows()
        for row in 0..<200 {
            rows.names.append(nil)
            rows.set("name \(row)", of: row)
            guard row + 1 == count else { continue }
            rows.set("other", of: 0)
            rows.set("name 0", of: 0)
        }
        #expect(rows.agrees(300) && rows.find("other") == nil)
    }

    /// The first row with a name follows many rows without.
    @Test func rowsWithoutNameTakeNoSlots() {
        var rows = Rows(names: [String?](repeating: nil, count: 5_000))
        rows.set("name 1", of: 4_999)
        rows.set("name 2", of: 0)
        #expect(rows.agrees(10))
    }

    /// The same while a copy shares the growing index.
    @Test func growingIndexIsCopiedOnWrite() {
        var rows = Rows(names: [String?](repeating: nil, count: 157))
        // The index starts to grow at 156 rows.
        for row in 0..<157 { rows.set("name \(row)", of: row) }
        var copy = rows
        rows.names += [String?](repeating: nil, count: 5_000)
        rows.set("name 200", of: 5_100)
        #expect(rows.agrees(300) && copy.agrees(300))
        for row in 0..<100 { copy.set("other \(row)", of: row) }
        #expect(rows.agrees(300) && copy.agrees(300))
    }
}
