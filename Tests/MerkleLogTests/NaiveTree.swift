import Primitives
import Testing

@testable import MerkleLog

/// The definitions of RFC 6962 section 2.1, by recursion over a list of entries.
enum NaiveTree {
    static func root(_ entries: ArraySlice<[UInt8]>) -> [UInt8] {
        guard let first = entries.first else { return SHA256.hash([]) }
        if entries.count == 1 { return SHA256.hash([0] + first) }
        let (left, right) = halves(entries)
        return SHA256.hash([1] + root(left) + root(right))
    }

    static func inclusion(_ index: Int, _ entries: ArraySlice<[UInt8]>) -> [[UInt8]] {
        if entries.count == 1 { return [] }
        let (left, right) = halves(entries)
        return index < left.count
            ? inclusion(index, left) + [root(right)] : inclusion(index - left.count, right) + [root(left)]
    }

    static func consistency(_ old: Int, _ entries: ArraySlice<[UInt8]>, isWhole: Bool = true) -> [[UInt8]] {
        if old == entries.count { return isWhole ? [] : [root(entries)] }
        let (left, right) = halves(entries)
        return old <= left.count
            ? consistency(old, left, isWhole: isWhole) + [root(right)]
            : consistency(old - left.count, right, isWhole: false) + [root(left)]
    }

    private static func halves(_ entries: ArraySlice<[UInt8]>) -> (ArraySlice<[UInt8]>, ArraySlice<[UInt8]>) {
        var power = 1
        while 2 * power < entries.count { power *= 2 }
        return (entries.prefix(power), entries.dropFirst(power))
    }
}

/// A log of entries in memory, and the proofs about it.
struct SmallLog {
    let entries: [[UInt8]]
    let leaves: [MerkleHash]
    let heads: [TreeHead]

    init(_ entries: [[UInt8]]) {
        self.entries = entries
        leaves = entries.map(MerkleHash.leaf(of:))
        var accumulator = MerkleAccumulator()
        var heads = [TreeHead(origin: "log", size: 0, root: accumulator.root)]
        for leaf in leaves {
            accumulator.append(leaf)
            heads.append(TreeHead(origin: "log", size: accumulator.size, root: accumulator.root))
        }
        self.heads = heads
    }

    /// A log of distinct entries.
    init(count: Int) {
        self.init((0..<count).map { [UInt8("e"), UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] })
    }

    func hash(_ subtree: Range<UInt64>) -> MerkleHash {
        var accumulator = MerkleAccumulator()
        for index in subtree { accumulator.append(leaves[Int(index)]) }
        return accumulator.root
    }

    func inclusion(_ index: Int, _ size: Int) -> InclusionProof {
        let path = MerklePath.inclusion(of: UInt64(index), in: UInt64(size))
        return InclusionProof(index: UInt64(index), hashes: path.map(hash), head: heads[size])
    }

    func consistency(_ old: Int, _ size: Int) -> ConsistencyProof {
        let path = old == 0 ? [] : MerklePath.consistency(from: UInt64(old), in: UInt64(size))
        return ConsistencyProof(oldSize: UInt64(old), hashes: path.map(hash), head: heads[size])
    }
}

extension UInt8 {
    fileprivate init(_ character: Character) { self = character.asciiValue ?? 0 }
}
