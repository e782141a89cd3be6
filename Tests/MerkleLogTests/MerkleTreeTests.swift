import Primitives
import TestSupport
import Testing

@testable import MerkleLog

@Suite struct MerkleTreeTests {
    /// The tree of the tests of Certificate Transparency.
    private static let standard = SmallLog(
        ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
            .map { Hexadecimal.bytes(of: $0) ?? [] })

    private func hexadecimal(_ hashes: [MerkleHash]) -> [String] { hashes.map { Hexadecimal.text(of: $0.bytes) } }

    @Test func rootsMatchStandardVectors() {
        #expect(
            hexadecimal(Self.standard.heads.map(\.root)) == [
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
                "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
                "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
                "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
                "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
                "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
                "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
                "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
            ])
    }

    private static let hashes = [
        "96a2": "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f08": "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47": "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        "bc1a": "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca85": "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37e": "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "fac5": "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "6e34": "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "0ebc": "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
    ]

    @Test(arguments: [
        (0, 1, []), (0, 8, ["96a2", "5f08", "6b47"]), (5, 8, ["bc1a", "ca85", "d37e"]), (2, 3, ["fac5"]),
        (1, 5, ["6e34", "5f08", "bc1a"]),
    ])
    func inclusionProofsMatchStandardVectors(_ index: Int, _ size: Int, _ expected: [String]) {
        #expect(hexadecimal(Self.standard.inclusion(index, size).hashes) == expected.map { Self.hashes[$0] })
    }

    @Test(arguments: [
        (1, 1, []), (1, 8, ["96a2", "5f08", "6b47"]), (6, 8, ["0ebc", "ca85", "d37e"]), (2, 5, ["5f08", "bc1a"]),
    ])
    func consistencyProofsMatchStandardVectors(_ old: Int, _ size: Int, _ expected: [String]) {
        #expect(hexadecimal(Self.standard.consistency(old, size).hashes) == expected.map { Self.hashes[$0] })
    }

    @Test func rootsEqualDefinition() {
        let log = SmallLog(count: 300)
        for size in 0...300 {
            #expect(log.heads[size].root.bytes == NaiveTree.root(log.entries.prefix(size)), "size \(size)")
        }
    }

    @Test func allSmallProofsVerify() throws {
        let log = SmallLog(count: 64)
        // All small sizes; of the others, a sample by default.
        for size in Array(1..<24) + Repetitions.oneIn(8, of: 24..<65) {
            let entries = log.entries.prefix(size)
            for index in 0..<size {
                let proof = log.inclusion(index, size)
                #expect(
                    proof.hashes.map(\.bytes) == NaiveTree.inclusion(index, entries), "index \(index), size \(size)")
                try proof.verify(log.leaves[index])
            }
            for old in 0...size {
                let proof = log.consistency(old, size)
                if old > 0 {
                    #expect(proof.hashes.map(\.bytes) == NaiveTree.consistency(old, entries), "\(old) to \(size)")
                }
                try proof.verify(from: log.heads[old])
            }
        }
    }

    /// The computed roots are those that a verifier compares, so that one pass over the leaves
    /// gives a proof and its head.
    @Test func randomProofsVerify() throws {
        let log = SmallLog(count: 5_000)
        var random = SplitMix64(seed: Repetitions.seed)
        for _ in 0..<Repetitions.few(12, of: 100) {
            let size = Int.random(in: 1...5_000, using: &random)
            let index = Int.random(in: 0..<size, using: &random)
            let proof = log.inclusion(index, size)
            try proof.verify(log.leaves[index])
            #expect(try InclusionProof(parsing: proof.text) == proof)
            let old = Int.random(in: 0...size, using: &random)
            let growth = log.consistency(old, size)
            try growth.verify(from: log.heads[old])
            #expect(try ConsistencyProof(parsing: growth.text) == growth)
        }
        #expect(log.heads[5_000].root.bytes == NaiveTree.root(log.entries[...]))
    }

    /// Sizes near the end of the numbers neither trap nor loop.
    @Test func largestNumbersAreAnswered() {
        let head = TreeHead(origin: "log", size: .max, root: .emptyTree)
        for index in [0, 1, UInt64.max - 1, .max] {
            for count in [0, 1, 63, 64] {
                let hashes = [MerkleHash](repeating: .emptyTree, count: count)
                #expect(throws: ProofError.self) {
                    try InclusionProof(index: index, hashes: hashes, head: head).verify(.emptyTree)
                }
                let old = TreeHead(origin: "log", size: index, root: .leaf(of: []))
                #expect(throws: ProofError.self) {
                    try ConsistencyProof(oldSize: index, hashes: hashes, head: head).verify(from: old)
                }
            }
        }
        #expect(MerklePath.inclusion(of: .max - 1, in: .max).count == 63)
        #expect(MerklePath.consistency(from: .max - 1, in: .max).count == 64)
    }
}

/// Every proof with one wrong bit is rejected.
@Suite struct WrongProofTests {
    /// Returns the hashes with each one of their bits flipped; by default, with one of each 16.
    private func flips(_ hashes: [MerkleHash]) throws -> [[MerkleHash]] {
        try hashes.indices.flatMap { index in
            try Repetitions.oneIn(16, of: 0..<256).map { bit in
                var flipped = hashes
                var bytes = hashes[index].bytes
                bytes[bit / 8] ^= 1 << UInt8(bit % 8)
                flipped[index] = try #require(MerkleHash(bytes))
                return flipped
            }
        }
    }

    private func isRejected(_ verify: () throws(ProofError) -> Void) -> Bool {
        do {
            try verify()
            return false
        } catch { return true }
    }

    @Test(arguments: [1, 2, 3, 7, 8, 21]) func wrongInclusionProofsAreRejected(size: Int) throws {
        let log = SmallLog(count: size)
        for index in 0..<size {
            let (proof, leaf) = (log.inclusion(index, size), log.leaves[index])
            try proof.verify(leaf)
            for bit in 0..<64 {
                let wrong = InclusionProof(
                    index: proof.index ^ 1 << UInt64(bit), hashes: proof.hashes, head: proof.head)
                #expect(isRejected { () throws(ProofError) in try wrong.verify(leaf) }, "index \(index), bit \(bit)")
            }
            for hashes in try flips(proof.hashes) {
                let wrong = InclusionProof(index: proof.index, hashes: hashes, head: proof.head)
                #expect(isRejected { () throws(ProofError) in try wrong.verify(leaf) })
            }
            for hashes in [
                Array(proof.hashes.dropLast()), Array(proof.hashes.dropFirst()), proof.hashes + [leaf],
                [leaf] + proof.hashes,
            ]
            where hashes != proof.hashes {
                let wrong = InclusionProof(index: proof.index, hashes: hashes, head: proof.head)
                #expect(isRejected { () throws(ProofError) in try wrong.verify(leaf) })
            }
            for other in log.leaves where other != leaf {
                #expect(isRejected { () throws(ProofError) in try proof.verify(other) })
            }
        }
    }

    @Test(arguments: [2, 3, 7, 8, 21]) func wrongConsistencyProofsAreRejected(size: Int) throws {
        let log = SmallLog(count: size)
        for old in 1..<size {
            let (proof, head) = (log.consistency(old, size), log.heads[old])
            try proof.verify(from: head)
            for hashes in try flips(proof.hashes) {
                let wrong = ConsistencyProof(oldSize: proof.oldSize, hashes: hashes, head: proof.head)
                #expect(isRejected { () throws(ProofError) in try wrong.verify(from: head) })
            }
            for bit in 0..<64 {
                let flipped = proof.oldSize ^ 1 << UInt64(bit)
                let wrong = ConsistencyProof(oldSize: flipped, hashes: proof.hashes, head: proof.head)
                #expect(
                    isRejected { () throws(ProofError) in try wrong.verify(from: head) }, "old size \(old), bit \(bit)")
            }
            for hashes in [Array(proof.hashes.dropLast()), proof.hashes + [head.root]] {
                let wrong = ConsistencyProof(oldSize: proof.oldSize, hashes: hashes, head: proof.head)
                #expect(isRejected { () throws(ProofError) in try wrong.verify(from: head) })
            }
            let forged = TreeHead(origin: "log", size: head.size, root: log.heads[old - 1].root)
            for other in [log.heads[old - 1], forged, TreeHead(origin: "other", size: head.size, root: head.root)] {
                #expect(isRejected { () throws(ProofError) in try proof.verify(from: other) })
            }
        }
        let forked = TreeHead(origin: "log", size: UInt64(size), root: .emptyTree)
        let same = ConsistencyProof(oldSize: UInt64(size), hashes: [], head: log.heads[size])
        #expect(isRejected { () throws(ProofError) in try same.verify(from: forked) })
    }
}
