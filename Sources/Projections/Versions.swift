import ChatDomain
import Columns

/// The values that things had, each since a position: as many chains as there are things, in one column, in the order of the journal.
///
/// A chain is known by its newest link (0 for none), which its owner keeps. Each link leads to the one before it and, by a jump pointer, to one further
/// back, so that the value as of any position is found in O(log *n*) steps from the newest, and at once where nothing has changed since (a skew-binary list: Myers,
/// An applicative random-access stack, 1983). A link's rank is its number in its chain, from 1, so a chain also counts.
struct Versions<Value: Equatable & PlainElement & FixedWidthInteger>: Equatable, Sendable {
    /// The number of a link, from 1; 0 is none.
    typealias Link = UInt32

    struct Version: Equatable, Sendable, BitwiseCopyable {
        var position: Position
        var previous: Link
        var jump: Link
        /// Its number in its chain, from 1.
        var rank: UInt32
        var value: Value
    }

    var versions = Column<Version>()

    init() {}

    /// The version at a link; a link is never 0 here.
    subscript(link: Link) -> Version { versions[Int(link) - 1] }

    /// Adds the newest version of a chain.
    mutating func append(_ value: Value, at position: Position, to newest: inout Link) {
        versions.append(
            Version(position: position, previous: newest, jump: jump(from: newest), rank: rank(newest) + 1, value: value))
        newest = Link(truncatingIfNeeded: versions.count)
    }

    /// The version that held as of a position, nil if there was none yet.
    func version(_ newest: Link, asOf position: Position) -> Version? {
        let link = link(newest, asOf: position)
        return link == 0 ? nil : self[link]
    }

    /// How many versions of a chain there were as of a position.
    func count(_ newest: Link, asOf position: Position) -> Int { Int(rank(link(newest, asOf: position))) }

    /// The versions of a chain with some ranks, oldest first: O(log *n*) for the last of them and O(1) for each.
    func versions(_ newest: Link, ranks: Range<Int>) -> [Version] {
        guard !ranks.isEmpty else { return [] }
        var link = back(from: newest) { Int($0.rank) < ranks.upperBound }
        var found: [Version] = []
        found.reserveCapacity(ranks.count)
        while link != 0, self[link].rank >= ranks.lowerBound {
            found.append(self[link])
            link = self[link].previous
        }
        return found.reversed()
    }

    /// The position of the version with a rank: O(log *n*).
    func position(_ newest: Link, rank: Int) -> Position { self[back(from: newest) { Int($0.rank) <= rank }].position }

    private func link(_ newest: Link, asOf position: Position) -> Link { back(from: newest) { $0.position <= position } }

    /// The newest link of a chain that satisfies a condition which, going back, once it holds goes on to hold.
    private func back(from newest: Link, to condition: (Version) -> Bool) -> Link {
        var link = newest
        while link != 0 {
            let version = self[link]
            if condition(version) { return link }
            link = version.jump != 0 && !condition(self[version.jump]) ? version.jump : version.previous
        }
        return 0
    }

    private func rank(_ link: Link) -> UInt32 { link == 0 ? 0 : self[link].rank }

    private func jump(_ link: Link) -> Link { link == 0 ? 0 : self[link].jump }

    /// Where the link after this one jumps to: over two equal jumps, or else to this one.
    private func jump(from newest: Link) -> Link {
        let once = jump(newest)
        guard once != 0 else { return newest }
        let twice = jump(once)
        return rank(newest) - rank(once) == rank(once) - rank(twice) ? twice : newest
    }
}
