package import ChatDomain
package import ChatValues
import Columns
import Primitives

/// The reactions to posts, as of any position, by the indexes of ``ChatDomain/ReactionIndex``.
///
/// Most reactions are never taken back, and cost one version here.
struct ReactionHistory: Equatable, Sendable {
    /// Lets a query borrow the history where it is.
    private var addressOnly = AddressOnly()
    /// By tally: the newest link of the chain of its reactions.
    private(set) var links = PackedColumn<UInt32>()
    /// The first addition of each reaction: its link is its index + 1, and its value is 0.
    private(set) var additions = VersionChains<UInt8>()
    /// By reaction: 0 once taken back, 1 once added again.
    private var changes = SparseChains<UInt8>()
    /// By tally: the number of reactions that are taken back.
    private var absences = SparseChains<UInt32>()
    /// By tally: the reactions that were added again, in order.
    private var returns = SparseChains<UInt32>()
    /// By tally: the position of the first reaction that is still present, if that is not the first
    /// one.
    private var firsts = SparseChains<UInt64>()

    /// Applies the changes of an event.
    mutating func apply(_ event: EventRow, _ changed: [ReactionChange], at position: Position) {
        for change in changed {
            if event.kind == .reactionRemoved {
                remove(change.reaction, from: change.tally, at: position)
            } else if change.isNew {
                while links.count <= change.tally { links.append(0) }
                additions.append(0, at: position, to: &links[change.tally])
            } else {
                changes.set(1, at: position, of: change.reaction)
                returns.set(UInt32(truncatingIfNeeded: change.reaction), at: position, of: change.tally)
                absences.set(absences.value(of: change.tally) &- 1, at: position, of: change.tally)
            }
        }
    }

    private mutating func remove(_ reaction: Int, from tally: Int, at position: Position) {
        let (added, first) = (addition(of: reaction, asOf: position), firstPosition(ofTally: tally, asOf: position))
        changes.set(0, at: position, of: reaction)
        absences.set(absences.value(of: tally) &+ 1, at: position, of: tally)
        guard let added, added == first else { return }
        if let next = firstAddition(toTally: tally, after: first, asOf: position) {
            firsts.set(next, at: position, of: tally)
        }
    }

    /// Returns the position of the first addition to a tally after a position that is not taken
    /// back.
    ///
    /// - Complexity: O((*m* + 1) log *n*), where *m* is the number of additions between the two
    ///   positions. Those before the first present one stay taken back, so that each is passed
    ///   once.
    private func firstAddition(toTally tally: Int, after first: Position, asOf position: Position) -> Position? {
        var found = Position.max
        for rank in additions.count(links[tally], asOf: first)..<additions.count(links[tally], asOf: position) {
            let reaction = Int(additions.link(links[tally], rank: rank + 1)) - 1
            guard addition(of: reaction, asOf: position) == additions.positions[reaction] else { continue }
            found = additions.positions[reaction]
            break
        }
        for rank in returns.count(of: tally, asOf: first)..<returns.count(of: tally, asOf: position) {
            guard let again = returns.versions(of: tally, ranks: rank + 1..<rank + 2).first, again.position < found
            else { break }
            guard addition(of: Int(again.value), asOf: position) == again.position else { continue }
            found = again.position
            break
        }
        return found < .max ? found : nil
    }

    /// Returns the reactions of a tally that are present as of a position, among the first and the
    /// last that were added after another one, with the positions of their events.
    ///
    /// - Parameter limit: The number of the first, and of the last, additions that are looked at.
    /// - Complexity: O(log *n*) for each.
    func additions(
        toTally tally: Int, after start: Position, asOf position: Position, atEnds limit: Int
    ) -> [(reaction: Int, position: Position)] {
        guard tally < links.count else { return [] }
        func ends(_ ranks: Range<Int>) -> [Range<Int>] {
            let first = ranks.prefix(limit)
            return [first, max(first.upperBound, ranks.upperBound - limit)..<ranks.upperBound]
        }
        let first = additions.count(links[tally], asOf: start)..<additions.count(links[tally], asOf: position)
        let again = returns.count(of: tally, asOf: start)..<returns.count(of: tally, asOf: position)
        var added =
            ends(first).joined().map {
                (Int(additions.link(links[tally], rank: $0 + 1)) - 1, additions.position(links[tally], rank: $0 + 1))
            }
            + ends(again).flatMap { ranks in
                returns.versions(of: tally, ranks: ranks.lowerBound + 1..<ranks.upperBound + 1).map {
                    (Int($0.value), $0.position)
                }
            }
        added.sort { $0.1 < $1.1 }
        if added.count > 2 * limit { added.removeSubrange(limit..<added.count - limit) }
        return added.filter { addition(of: $0.0, asOf: position) == $0.1 }
    }

    /// Returns the newest reaction of a tally.
    func newest(ofTally tally: Int) -> Int? { tally < links.count && links[tally] > 0 ? Int(links[tally]) - 1 : nil }

    /// Returns the reaction before another one in their tally.
    func row(before reaction: Int) -> Int? {
        let link = additions.previous(UInt32(truncatingIfNeeded: reaction + 1))
        return link > 0 ? Int(link) - 1 : nil
    }

    /// Returns the position of the event that added a reaction that is present as of a position.
    func addition(of reaction: Int, asOf position: Position) -> Position? {
        // The identities can be ahead of the read models.
        guard reaction < additions.count, additions.positions[reaction] <= position else { return nil }
        guard let change = changes.version(of: reaction, asOf: position) else { return additions.positions[reaction] }
        return change.value == 0 ? nil : change.position
    }

    /// Returns the number of a tally's reactions as of a position.
    func count(ofTally tally: Int, asOf position: Position) -> Int {
        guard tally < links.count else { return 0 }
        // Only a forged checkpoint can make this negative.
        return max(0, additions.count(links[tally], asOf: position) - Int(absences.value(of: tally, asOf: position)))
    }

    /// Returns the position of the first reaction of a tally that is present as of a position.
    func firstPosition(ofTally tally: Int, asOf position: Position) -> Position {
        firsts.version(of: tally, asOf: position)?.value ?? additions.position(links[tally], rank: 1)
    }
}

/// A reaction to a post.
package struct ReactionRecord: Hashable, Sendable {
    /// The position of the event that added it.
    package var position: Position
    /// The user.
    package var user: UserID
    /// The emoji.
    package var emoji: String
}

extension ReadModels {
    /// Returns the present reactions to a post by emoji, in the order of the first one that is
    /// still present.
    ///
    /// - Parameter user: The user whose own reactions are marked.
    /// - Complexity: O(*m* log *n*) in the number *m* of different emoji and *n* of reactions.
    package func reactions(to post: PostID, of user: UserID?, asOf position: Position) -> [PostReaction] {
        guard let post = identities.find(post) else { return [] }
        let user = user.flatMap { identities.index(ofUser: $0) }
        return identities.reactions.tallies(of: post, asOf: position).compactMap {
            tally -> (first: Position, reaction: PostReaction)? in
            let count = views.reactions.count(ofTally: tally, asOf: position)
            guard count > 0 else { return nil }
            let own = user.flatMap { identities.reactions.find(tally, of: $0) }
            return (
                views.reactions.firstPosition(ofTally: tally, asOf: position),
                PostReaction(
                    emoji: identities.reactions.emoji(ofTally: tally), count: count,
                    isMine: own.flatMap { views.reactions.addition(of: $0, asOf: position) } != nil)
            )
        }.sorted { $0.first < $1.first }.map(\.reaction)
    }

    /// Returns a scan of the reactions that a post has, or had as of a position, for each emoji.
    ///
    /// - Parameter emoji: The only emoji to scan; nil for all.
    package func scans(reactionsTo post: PostID, emoji: String?, asOf position: Position) -> [Scan] {
        guard let post = identities.find(post) else { return [] }
        return identities.reactions.tallies(of: post, asOf: position).compactMap { tally in
            if let emoji, identities.reactions.emoji(ofTally: tally) != emoji { return nil }
            return Scan(from: views.reactions.newest(ofTally: tally)) { $0.views.reactions.row(before: $1) }
        }
    }

    /// Returns a reaction of a scan; nil if it is not present as of a position.
    package func reaction(_ row: Int, asOf position: Position) -> ReactionRecord? {
        guard let added = views.reactions.addition(of: row, asOf: position) else { return nil }
        let (tally, user) = identities.reactions.reaction(row)
        return ReactionRecord(
            position: added, user: identities.userID(user), emoji: identities.reactions.emoji(ofTally: tally))
    }
}

extension ReactionHistory: CheckpointComponent {
    mutating func visit(_ visitor: inout ColumnVisitor, _ ids: Identities, head: Position) throws(ColumnError) {
        let (tallies, count) = (ids.reactions.tallyCount, ids.reactions.count)
        try links.visit(&visitor, rows: tallies, below: count + 1)
        try additions.visit(&visitor, head: head)
        if visitor.isReading {
            try require(additions.count == count, "\(additions.count) additions of \(count) reactions")
            for tally in links.indices { try require(links[tally] > 0, "a tally without a reaction") }
        }
        try changes.visit(&visitor, entries: count, below: 2, head: head)
        try absences.visit(&visitor, entries: tallies, below: count + 1, head: head)
        try returns.visit(&visitor, entries: tallies, below: count + 1, head: head)
        try firsts.visit(&visitor, entries: tallies, below: Int(clamping: head) + 1, head: head)
    }
}
