/// Numbers 128-bit ids; not generic, so that its code is made once, for this type, and not looked up at each call from another module.
@usableFromInline
struct IDTable: Equatable, Sendable {
    var table = NumberTable<UInt128>()

    @usableFromInline init() {}

    @usableFromInline var count: Int { table.keys.count }

    @usableFromInline func key(_ number: Int) -> UInt128 { table.keys[number] }

    @usableFromInline func find(_ key: UInt128) -> Int? { table.find(key) }

    @usableFromInline mutating func insert(_ key: UInt128) -> (number: Int, isNew: Bool) { table.insert(key) }
}
