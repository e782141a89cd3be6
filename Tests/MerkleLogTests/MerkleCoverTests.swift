import MerkleLog
import TestSupport
import Testing

/// The fold of a pruned tree to its root.
@Suite struct MerkleCoverTests {
    private struct Part: Hashable {
        var leaves: Range<UInt64>
        var hash: MerkleHash
        var isShown: Bool
    }

    private static let leaves = (0..<40).map { MerkleHash.leaf(of: [UInt8($0)]) }

    private func root(_ leaves: Range<UInt64>) -> MerkleHash {
        var tree = MerkleAccumulator()
        for leaf in leaves { tree.append(Self.leaves[Int(leaf)]) }
        return tree.root
    }

    private func parts(_ size: UInt64, showing indexes: [UInt64]) -> [Part] {
        MerkleCover.subtrees(of: size, showing: indexes).map {
            Part(leaves: $0, hash: root($0), isShown: indexes.contains($0.lowerBound) && $0.count == 1)
        }
    }

    private func fold(_ parts: [Part], size: UInt64, pathOf index: UInt64? = nil) throws(ProofError) -> MerkleCover {
        var cover = MerkleCover(size: size, pathOf: index)
        for part in parts { try cover.append(part.leaves, part.hash, isShown: part.isShown) }
        return cover
    }

    /// Every set of shown leaves of the trees of up to 8 leaves, and a sample for larger trees.
    @Test func foldLeadsToTheRootAndProvesEachShownLeaf() throws {
        var random = SplitMix64(seed: Repetitions.seed)
        var cases = (0...8).flatMap { size in (0..<1 << size).map { (UInt64(size), UInt64($0)) } }
        cases += (9...40).flatMap { size in
            (0..<4).map { _ in (UInt64(size), UInt64.random(in: 0..<1 << UInt64(size), using: &random)) }
        }
        for (size, set) in cases {
            let indexes = (0..<size).filter { set >> $0 & 1 == 1 }
            let parts = parts(size, showing: indexes)
            #expect(parts.filter(\.isShown).map(\.leaves.lowerBound) == indexes, "size \(size), set \(set)")
            #expect(try fold(parts, size: size).root == root(0..<size), "size \(size), set \(set)")
            for index in indexes {
                let path = try fold(parts, size: size, pathOf: index).path
                let found = InclusionProof.root(Self.leaves[Int(index)], at: index, in: size, path)
                #expect(found == root(0..<size), "index \(index) of size \(size), set \(set)")
            }
        }
    }

    @Test func incompleteCoverHasNoRoot() throws {
        let parts = parts(11, showing: [3, 9])
        for count in parts.indices {
            let cover = try fold(Array(parts[..<count]), size: 11)
            #expect(cover.root == nil && cover.end == (count == 0 ? 0 : parts[count - 1].leaves.upperBound))
        }
        #expect(throws: ProofError("The tree has only 11 leaves.")) { try fold(parts + [parts[0]], size: 11) }
    }

    @Test func wrongPartsAreRejected() throws {
        let hash = MerkleHash.emptyTree
        func rejects(_ ranges: [Range<UInt64>], size: UInt64) -> Bool {
            do {
                _ = try fold(ranges.map { Part(leaves: $0, hash: hash, isShown: true) }, size: size)
                return false
            } catch { return true }
        }
        #expect(rejects([1..<2], size: 8))
        #expect(rejects([0..<3], size: 8))
        #expect(rejects([0..<4, 4..<7], size: 8))
        #expect(rejects([0..<0], size: 8))
        #expect(rejects([0..<9], size: 8))
        #expect(rejects([0..<4, 0..<4], size: 8))
        #expect(rejects([0..<1], size: 0))
        #expect(!rejects([0..<4, 4..<6, 6..<8], size: 8))
        // Sizes and ranges that do not fit in an Int.
        #expect(rejects([0..<(.max)], size: .max - 1))
        #expect(!rejects([0..<(1 << 63), 1 << 63..<(.max)], size: .max))
        #expect(rejects([1 << 63..<(.max)], size: .max))
    }

    /// A pruned tree has one form.
    @Test func adjacentHashesAreRejected() throws {
        let halves = [
            Part(leaves: 0..<2, hash: root(0..<2), isShown: false),
            Part(leaves: 2..<4, hash: root(2..<4), isShown: false),
        ]
        #expect(throws: ProofError("The leaves of index 0 to 3 have two hashes in the place of one.")) {
            try fold(halves, size: 4)
        }
    }
}
