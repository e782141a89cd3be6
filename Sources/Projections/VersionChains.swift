import ChatDomain
import Columns

/// The version histories of many values: one chain per value, all in one column in journal order.
///
/// A chain is identified by its newest link, which its owner stores and passes as `newest`; 0 is an
/// empty chain. For example, ``UserViews/nameVersions`` holds all changes of all names, and
/// `users[user].nameLink` is the newest link of that user's chain.
///
/// Each link has the previous link and a jump pointer further back (a skew-binary list: Myers, An
/// applicative random-access stack, 1983). The value as of a position is thus found in O(log *n*)
/// steps, and in one step if it has not changed since. The rank of a link is its number in its
/// chain, from 1, so a chain also counts its versions.
struct VersionChains<Value: PlainElement & FixedWidthInteger & UnsignedInteger>: Equatable, Sendable {
    /// The number of a link, from 1; 0 for none.
    typealias Link = UInt32

    struct Version: Equatable, Sendable, BitwiseCopyable {
        var position: Position
        /// The number of the version in its chain, from 1.
        var rank: UInt32
        var value: Value
    }

    // Most chains have one version, such as memberships: its links and its number of earlier
    // versions are 0. Other links are stored as distances, which pack well, because the versions of
    // a chain are often close to one another.
    var positions = PackedColumn<Position>()
    private var previousDistances = MostlyZeroColumn<Link>()
    private var jumpDistances = MostlyZeroColumn<Link>()
    var earlierCounts = MostlyZeroColumn<UInt32>()
    var values = PackedColumn<Value>()

    init() {}

    /// The number of versions in all chains.
    var count: Int { positions.count }

    /// The version at a link, which must not be 0.
    subscript(link: Link) -> Version { Version(position: position(link), rank: rank(link), value: value(link)) }

    /// The value at a link, which must not be 0.
    func value(_ link: Link) -> Value { values[Int(link) - 1] }

    /// Appends a version to a chain and updates the chain's newest link.
    mutating func append(_ value: Value, at position: Position, to newest: inout Link) {
        let index = positions.count
        positions.append(position)
        values.append(value)
        previousDistances.appendZero()
        jumpDistances.appendZero()
        earlierCounts.appendZero()
        let link = Link(truncatingIfNeeded: index + 1)
        if newest != 0 {
            previousDistances[index] = link &- newest
            let jump = jump(from: newest)
            jumpDistances[index] = jump == 0 ? 0 : link &- jump
            earlierCounts[index] = rank(newest)
        }
        newest = link
    }

    /// Returns the version as of a position; nil if the chain starts later.
    func version(_ newest: Link, asOf position: Position) -> Version? {
        let link = link(newest, asOf: position)
        return link == 0 ? nil : self[link]
    }

    /// Returns the value as of a position; 0 if the chain starts later.
    func value(_ newest: Link, asOf position: Position) -> Value {
        let link = link(newest, asOf: position)
        return link == 0 ? 0 : value(link)
    }

    /// Returns the position of the version as of a position; nil if the chain starts later.
    func position(_ newest: Link, asOf position: Position) -> Position? {
        let link = link(newest, asOf: position)
        return link == 0 ? nil : self.position(link)
    }

    /// Returns the number of versions in a chain as of a position.
    func count(_ newest: Link, asOf position: Position) -> Int { Int(rank(link(newest, asOf: position))) }

    /// Returns the versions with the given ranks, oldest first.
    ///
    /// - Complexity: O(log *n* + *m*), where *m* is the number of ranks.
    func versions(_ newest: Link, ranks: Range<Int>) -> [Version] {
        guard !ranks.isEmpty else { return [] }
        var link = newestLink(from: newest) { Int(rank($0)) < ranks.upperBound }
        var found: [Version] = []
        found.reserveCapacity(ranks.count)
        while link != 0, rank(link) >= ranks.lowerBound {
            found.append(self[link])
            link = previous(link)
        }
        return found.reversed()
    }

    /// Returns the position of the version with a rank.
    ///
    /// - Complexity: O(log *n*).
    func position(_ newest: Link, rank: Int) -> Position { position(link(newest, rank: rank)) }

    /// Returns the link of the version with a rank, which must exist.
    ///
    /// - Complexity: O(log *n*).
    func link(_ newest: Link, rank: Int) -> Link { newestLink(from: newest) { Int(self.rank($0)) <= rank } }

    /// Returns the number of versions with a value below a bound, in a chain of ascending values.
    ///
    /// - Complexity: O(log *n*).
    func count(_ newest: Link, below bound: Value) -> Int { Int(rank(newestLink(from: newest) { value($0) < bound })) }

    /// Returns the value of the version with a rank, which must exist.
    ///
    /// - Complexity: O(log *n*).
    func value(_ newest: Link, rank: Int) -> Value { value(link(newest, rank: rank)) }

    private func link(_ newest: Link, asOf position: Position) -> Link {
        newestLink(from: newest) { self.position($0) <= position }
    }

    /// Returns the first link from `newest` backwards that satisfies a condition; 0 if none does.
    ///
    /// The condition must hold for all links older than the first that satisfies it.
    private func newestLink(from newest: Link, to condition: (Link) -> Bool) -> Link {
        var link = newest
        while link != 0, !condition(link) {
            let jump = jump(link)
            link = jump != 0 && !condition(jump) ? jump : previous(link)
        }
        return link
    }

    private func position(_ link: Link) -> Position { positions[Int(link) - 1] }

    /// Returns the link before a link, which must not be 0; 0 for the first one of a chain.
    func previous(_ link: Link) -> Link { Self.link(previousDistances[Int(link) - 1], before: link) }

    /// Returns the rank of a link; 0 for no link.
    func rank(_ link: Link) -> UInt32 { link == 0 ? 0 : earlierCounts[Int(link) - 1] + 1 }

    private func jump(_ link: Link) -> Link { link == 0 ? 0 : Self.link(jumpDistances[Int(link) - 1], before: link) }

    /// Returns the link at a distance before another one; 0 for no distance.
    private static func link(_ distance: Link, before link: Link) -> Link { distance == 0 ? 0 : link &- distance }

    /// Returns the jump target of the next link, by the skew-binary rule.
    ///
    /// If the jump from the newest link and the jump that follows it have equal length, the target
    /// skips both; otherwise it is the newest link.
    private func jump(from newest: Link) -> Link {
        let once = jump(newest)
        guard once != 0 else { return newest }
        let twice = jump(once)
        return rank(newest) - rank(once) == rank(once) - rank(twice) ? twice : newest
    }
}

/// The encoding of version histories: positions, distances to previous links, and values.
///
/// Jumps and ranks are recomputed when reading, so that a forged file cannot contain wrong ones.
extension VersionChains {
    /// Visits the versions.
    ///
    /// - Parameters:
    ///   - head: The maximum position.
    ///   - most: The maximum number of versions per event; by default two, a name released and a
    ///     name taken.
    ///   - bound: Values are below it, if it is not nil.
    mutating func visit(
        _ visitor: inout ColumnVisitor, head: Position, perEvent most: Int = 2, below bound: Int? = nil
    ) throws(ColumnError) {
        try positions.visit(&visitor, atMost: min(Int(clamping: head), .max / most) * most, ascendingTo: head)
        try previousDistances.visit(&visitor, rows: count)
        try values.visit(&visitor, rows: count, below: bound)
        if visitor.isReading {
            try require(positions.isEmpty || positions[0] > 0, "a version at position 0")
            (jumpDistances, earlierCounts) = try jumpsAndRanks(of: previousDistances)
        }
    }

    /// Whether no version has the value 0.
    var hasOnlyNonZeroValues: Bool { values.indices.allSatisfy { values[$0] != 0 } }

    /// Throws unless every value is below a bound.
    func check(below bound: Int) throws(ColumnError) { try values.check(below: bound) }

    /// Throws unless a chain's newest link exists or is 0.
    func check(_ newest: Link) throws(ColumnError) {
        if Int(newest) > count { throw ColumnError("link \(newest), but only \(count) exist") }
    }
}

/// Returns the distances of the jumps and the numbers of earlier versions that follow from the distances to
/// previous links.
///
/// Not in the generic type, which would not be specialized here.
private func jumpsAndRanks(of distances: MostlyZeroColumn<UInt32>) throws(ColumnError) -> (
    jumpDistances: MostlyZeroColumn<UInt32>, earlierCounts: MostlyZeroColumn<UInt32>
) {
    // By link, in flat arrays, which are faster to index than columns; entry 0 is unused.
    var jumps: [UInt32] = [0]
    var ranks: [UInt32] = [0]
    jumps.reserveCapacity(distances.count + 1)
    ranks.reserveCapacity(distances.count + 1)
    try distances.forEachPiece { piece throws(ColumnError) in
        for distance in piece {
            let link = UInt32(truncatingIfNeeded: ranks.count)
            try require(distance < link, "a link points before the first version")
            let previous = distance == 0 ? 0 : link - distance
            jumps.append(jump(from: previous, jumps, ranks))
            ranks.append(ranks[Int(previous)] + 1)
        }
    }
    return (
        MostlyZeroColumn(
            jumps.indices.dropFirst().lazy.map { jumps[$0] == 0 ? 0 : UInt32(truncatingIfNeeded: $0) - jumps[$0] }),
        MostlyZeroColumn(ranks.dropFirst().lazy.map { $0 - 1 })
    )
}

/// Returns the jump target of the next link, by the same rule as when appending.
private func jump(from newest: UInt32, _ jumps: [UInt32], _ ranks: [UInt32]) -> UInt32 {
    let once = jumps[Int(newest)]
    guard once != 0 else { return newest }
    let twice = jumps[Int(once)]
    return ranks[Int(newest)] - ranks[Int(once)] == ranks[Int(once)] - ranks[Int(twice)] ? twice : newest
}
