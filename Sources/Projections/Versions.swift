import ChatDomain
import Columns

/// The values that things had, each since a position: as many chains as there are things, in one column, in the order of the journal.
///
/// A chain is known by its newest link (0 for none), which its owner keeps. Each link leads to the one before it and, by a jump pointer, to one further
/// back, so that the value as of any position is found in O(log *n*) steps from the newest, and at once where nothing has changed since (a skew-binary list: Myers,
/// An applicative random-access stack, 1983). A link's rank is its number in its chain, from 1, so a chain also counts.
struct Versions<Value: PlainElement & FixedWidthInteger & UnsignedInteger>: Equatable, Sendable {
    /// The number of a link, from 1; 0 is none.
    typealias Link = UInt32

    struct Version: Equatable, Sendable, BitwiseCopyable {
        var position: Position
        /// Its number in its chain, from 1.
        var rank: UInt32
        var value: Value
    }

    // Column by column, and packed: where most chains have one version, as memberships do, all but the positions take no bits.
    var positions = PackedColumn<Position>()
    var previous = PackedColumn<Link>()
    var jumps = PackedColumn<Link>()
    var ranks = PackedColumn<UInt32>()
    var values = PackedColumn<Value>()

    init() {}

    /// How many versions all chains have together.
    var count: Int { positions.count }

    /// The version at a link; a link is never 0 here.
    subscript(link: Link) -> Version { Version(position: position(link), rank: rank(link), value: value(link)) }

    /// The value at a link; a link is never 0 here.
    func value(_ link: Link) -> Value { values[Int(link) - 1] }

    /// Adds the newest version of a chain.
    mutating func append(_ value: Value, at position: Position, to newest: inout Link) {
        let jump = jump(from: newest)
        let rank = rank(newest) + 1
        positions.append(position)
        previous.append(newest)
        jumps.append(jump)
        ranks.append(rank)
        values.append(value)
        newest = Link(truncatingIfNeeded: positions.count)
    }

    /// The version that held as of a position, nil if there was none yet.
    func version(_ newest: Link, asOf position: Position) -> Version? {
        let link = link(newest, asOf: position)
        return link == 0 ? nil : self[link]
    }

    /// The value that held as of a position, 0 if there was none yet.
    func value(_ newest: Link, asOf position: Position) -> Value {
        let link = link(newest, asOf: position)
        return link == 0 ? 0 : value(link)
    }

    /// The position of the version that held as of a position, nil if there was none yet.
    func position(_ newest: Link, asOf position: Position) -> Position? {
        let link = link(newest, asOf: position)
        return link == 0 ? nil : self.position(link)
    }

    /// How many versions of a chain there were as of a position.
    func count(_ newest: Link, asOf position: Position) -> Int { Int(rank(link(newest, asOf: position))) }

    /// The versions of a chain with some ranks, oldest first: O(log *n*) for the last of them and O(1) for each.
    func versions(_ newest: Link, ranks: Range<Int>) -> [Version] {
        guard !ranks.isEmpty else { return [] }
        var link = back(from: newest) { Int(rank($0)) < ranks.upperBound }
        var found: [Version] = []
        found.reserveCapacity(ranks.count)
        while link != 0, rank(link) >= ranks.lowerBound {
            found.append(self[link])
            link = previous(link)
        }
        return found.reversed()
    }

    /// The position of the version with a rank: O(log *n*).
    func position(_ newest: Link, rank: Int) -> Position { position(back(from: newest) { Int(self.rank($0)) <= rank }) }

    /// How many versions of a chain of ascending values have a value below a bound: O(log *n*).
    func count(_ newest: Link, below bound: Value) -> Int { Int(rank(back(from: newest) { value($0) < bound })) }

    /// The value of the version with a rank, which has to be one: O(log *n*).
    func value(_ newest: Link, rank: Int) -> Value { value(back(from: newest) { Int(self.rank($0)) <= rank }) }

    private func link(_ newest: Link, asOf position: Position) -> Link { back(from: newest) { self.position($0) <= position } }

    /// The newest link of a chain that satisfies a condition which, going back, once it holds goes on to hold.
    private func back(from newest: Link, to condition: (Link) -> Bool) -> Link {
        var link = newest
        while link != 0, !condition(link) {
            let jump = jump(link)
            link = jump != 0 && !condition(jump) ? jump : previous(link)
        }
        return link
    }

    private func position(_ link: Link) -> Position { positions[Int(link) - 1] }

    private func previous(_ link: Link) -> Link { previous[Int(link) - 1] }

    private func rank(_ link: Link) -> UInt32 { link == 0 ? 0 : ranks[Int(link) - 1] }

    private func jump(_ link: Link) -> Link { link == 0 ? 0 : jumps[Int(link) - 1] }

    /// Where the link after this one jumps to: over two equal jumps, or else to this one.
    private func jump(from newest: Link) -> Link {
        let once = jump(newest)
        guard once != 0 else { return newest }
        let twice = jump(once)
        return rank(newest) - rank(once) == rank(once) - rank(twice) ? twice : newest
    }
}
