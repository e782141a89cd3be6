import Columns
import Primitives

/// The reactions to posts: their indexes, and which of them are present.
///
/// A *tally* is one emoji on one post, from the first reaction with it until the last one is taken
/// back; a later reaction begins another tally. A *reaction* is a user's part in a tally, and stays
/// the same if the user takes it back and adds it again. Both have dense indexes in the order of
/// their first event.
///
/// A post lists its present tallies, at most ``maximumTallyCount``, and those that have ended,
/// latest first, so that a query as of a position reads no more of them than have ended since.
///
/// It belongs to the identities, because a tally cannot be found without knowing which are present.
package struct ReactionIndex: Equatable, Sendable {
    /// The maximum number of present tallies of a post.
    ///
    /// A reaction of a damaged journal beyond it has no effect, which bounds every search.
    package static let maximumTallyCount = 50

    /// The texts of the emoji.
    private var emojis = TextInterner()
    /// The posts that have tallies.
    private var posts = SubsetInterner()
    /// By post with tallies: the index + 1 of the newest present tally, or 0.
    private var newestPresent = PackedColumn<UInt32>()
    /// By post with tallies: the index + 1 of the tally that ended last, or 0.
    private var lastEnded = MostlyZeroColumn<UInt32>()
    /// By tally: the index of its emoji.
    private var tallyEmojis = PackedColumn<UInt32>()
    /// By tally: the index + 1 of the next tally in its list, or 0.
    private var nextTallies = PackedColumn<UInt32>()
    /// By tally: the number of present reactions.
    private var counts = PackedColumn<UInt32>()
    /// By tally: the position at which it ended, or 0.
    private var ends = MostlyZeroColumn<Position>()
    /// The reactions: pairs of a tally and a user.
    private var reactions = PairInterner()
    /// By reaction: 1 if it is present.
    private var presence = PackedColumn<UInt8>()
    /// By reaction: the position of its first event.
    private var positions = PackedColumn<Position>(pieceLength: .short)
    /// The pairs of a post with tallies and an emoji, one of whose reactions was taken back; one pair
    /// for all tallies of the emoji on the post.
    private var places = PairInterner()
    /// The pairs of such a place and a user who took the reaction back.
    private var takenBack = PairInterner()
    /// By pair of `takenBack`: the position of the user's last event.
    private var changes = PackedColumn<Position>()
    /// Whether an event was applied whose emoji was erased.
    package private(set) var hasErased = false

    /// The number of reactions.
    package var count: Int { reactions.count }

    /// The number of tallies.
    package var tallyCount: Int { tallyEmojis.count }
}

extension ReactionIndex {
    /// Returns the text of the emoji of a tally.
    package func emoji(ofTally tally: Int) -> String { emojis.text(Int(tallyEmojis[tally])) }

    /// Returns the tally of a reaction, and the index of its user.
    package func reaction(_ index: Int) -> (tally: Int, user: Int) {
        let pair = reactions.pair(index)
        return (pair.first, pair.second)
    }

    /// Returns the reaction of a user in a tally, present or not.
    package func find(_ tally: Int, of user: Int) -> Int? { reactions.find(tally, user) }

    /// Returns the tallies of a post that are present now or were so as of a position.
    ///
    /// - Complexity: O(*n*) in the tallies that are present and those that have ended since.
    package func tallies(of post: PostKey, asOf position: Position) -> [Int] {
        guard let row = posts.find(post.number) else { return [] }
        var tallies = presentTallies(ofRow: row)
        var ended = Int(lastEnded[row]) - 1
        while ended >= 0, ends[ended] > position {
            tallies.append(ended)
            ended = Int(nextTallies[ended]) - 1
        }
        return tallies
    }

    /// Whether a reaction is present.
    func hasReaction(_ emoji: Emoji, to post: PostKey, of user: Int) -> Bool {
        tally(emoji.text, of: post).flatMap { reactions.find($0, user) }.map { presence[$0] != 0 } ?? false
    }

    /// Whether the last event of a user about a reaction comes after a position; false for nil.
    func hasChanged(_ emoji: Emoji, to post: PostKey, of user: Int, since position: Position?) -> Bool {
        guard let position, let row = posts.find(post.number), let emojiIndex = emojis.find(emoji.text) else {
            return false
        }
        if let change = change(emojiIndex, onRow: row, of: user) { return changes[change] > position }
        return tally(emoji.text, in: presentTallies(ofRow: row))
            .flatMap { reactions.find($0, user) }.map { positions[$0] > position } ?? false
    }

    /// Returns the index of a user who took a reaction back, as the index in `takenBack`.
    private func change(_ emoji: Int, onRow row: Int, of user: Int) -> Int? {
        // Most stores have none.
        if changes.isEmpty { return nil }
        return places.find(row, emoji).flatMap { takenBack.find($0, user) }
    }

    /// Whether a post has a tally of an emoji, or room for one.
    func mayTake(_ emoji: Emoji, on post: PostKey) -> Bool {
        guard let row = posts.find(post.number) else { return true }
        let present = presentTallies(ofRow: row)
        return present.count < Self.maximumTallyCount || tally(emoji.text, in: present) != nil
    }

    /// Returns the number of present reactions of a user on a post.
    func count(of user: Int, on post: PostKey) -> Int {
        posts.find(post.number).map { present(of: user, onRow: $0).count } ?? 0
    }

    private func present(of user: Int, onRow row: Int) -> [ReactionChange] {
        presentTallies(ofRow: row).compactMap { tally in
            reactions.find(tally, user).flatMap { presence[$0] != 0 ? ReactionChange(reaction: $0, tally: tally) : nil }
        }
    }

    private func presentTallies(ofRow row: Int) -> [Int] {
        var found: [Int] = []
        var tally = Int(newestPresent[row]) - 1
        while tally >= 0 {
            found.append(tally)
            tally = Int(nextTallies[tally]) - 1
        }
        return found
    }

    private func tally(_ emoji: String, of post: PostKey) -> Int? {
        posts.find(post.number).flatMap { tally(emoji, in: presentTallies(ofRow: $0)) }
    }

    private func tally(_ emoji: String, in tallies: [Int]) -> Int? {
        guard let emoji = emojis.find(emoji) else { return nil }
        return tallies.first { tallyEmojis[$0] == emoji }
    }
}

extension ReactionIndex {
    /// Applies an event about a reaction, and returns what it changes.
    ///
    /// An event without its emoji adds nothing; as a removal it takes back every present reaction
    /// of its user on the post, because it is not known which one was meant.
    mutating func resolve(
        _ event: EventRow, _ content: borrowing EventContent, _ indexes: EventIndexes, at position: Position
    ) -> [ReactionChange] {
        guard let post = indexes.post(of: event) else { return [] }
        guard let emoji = content.emoji else {
            hasErased = true
            guard event.kind == .reactionRemoved, let row = posts.find(post.number) else { return [] }
            let changes = present(of: indexes.user, onRow: row)
            for change in changes { take(change, from: row, at: position) }
            return changes
        }
        guard event.kind == .reactionAdded else {
            guard let row = posts.find(post.number), let tally = tally(emoji.text, of: post),
                let reaction = reactions.find(tally, indexes.user), presence[reaction] != 0
            else { return [] }
            take(ReactionChange(reaction: reaction, tally: tally), from: row, at: position)
            return [ReactionChange(reaction: reaction, tally: tally)]
        }
        return add(emoji.text, to: post, by: indexes.user, at: position).map { [$0] } ?? []
    }

    private mutating func add(
        _ emoji: String, to post: PostKey, by user: Int, at position: Position
    ) -> ReactionChange? {
        let (row, isNewPost) = posts.insert(post.number)
        if isNewPost {
            newestPresent.append(0)
            lastEnded.appendZero()
        }
        let present = presentTallies(ofRow: row)
        let tally: Int
        if let found = self.tally(emoji, in: present) {
            tally = found
        } else {
            guard present.count < Self.maximumTallyCount else { return nil }
            tally = tallyEmojis.count
            tallyEmojis.append(UInt32(truncatingIfNeeded: emojis.insert(emoji).index))
            nextTallies.append(newestPresent[row])
            counts.append(0)
            ends.appendZero()
            newestPresent[row] = UInt32(truncatingIfNeeded: tally + 1)
        }
        let (reaction, isNew) = reactions.insert(tally, user)
        if isNew {
            presence.append(0)
            positions.append(position)
        }
        guard presence[reaction] == 0 else { return nil }
        presence[reaction] = 1
        // Wrapping: a checkpoint can contain any count, and nothing may trap.
        counts[tally] &+= 1
        if let change = change(Int(tallyEmojis[tally]), onRow: row, of: user) { changes[change] = position }
        return ReactionChange(reaction: reaction, tally: tally, isNew: isNew)
    }

    private mutating func take(_ change: ReactionChange, from row: Int, at position: Position) {
        presence[change.reaction] = 0
        counts[change.tally] &-= 1
        let place = places.insert(row, Int(tallyEmojis[change.tally])).index
        let user = reactions.pair(change.reaction).second
        let (index, isNew) = takenBack.insert(place, user)
        if isNew { changes.append(position) } else { changes[index] = position }
        guard counts[change.tally] == 0 else { return }
        let link = UInt32(truncatingIfNeeded: change.tally + 1)
        let next = nextTallies[change.tally]
        if newestPresent[row] == link {
            newestPresent[row] = next
        } else if let before = presentTallies(ofRow: row).first(where: { nextTallies[$0] == link }) {
            nextTallies[before] = next
        }
        nextTallies[change.tally] = lastEnded[row]
        lastEnded[row] = link
        ends[change.tally] = position
    }
}

extension ReactionIndex {
    mutating func visit(_ visitor: inout ColumnVisitor, users: Int) throws(ColumnError) {
        try emojis.visit(&visitor)
        try visitor.visit(coded: &posts) { $0.removeSlots() }
        try newestPresent.visit(&visitor, rows: posts.count)
        try lastEnded.visit(&visitor, rows: posts.count)
        try tallyEmojis.visit(&visitor, atMost: .max, below: emojis.count)
        let tallies = tallyEmojis.count
        try nextTallies.visit(&visitor, rows: tallies)
        try counts.visit(&visitor, rows: tallies)
        try ends.visit(&visitor, rows: tallies)
        if visitor.isReading { try checkLists() }
        try visitor.visit(coded: &reactions) { $0.removeSlots() }
        try presence.visit(&visitor, rows: reactions.count, below: 2)
        let rows = reactions.count
        try visitor.visit(
            &positions, write: { $0.write(to: &$1) },
            read: { (positions, reader) throws(ColumnError) in
                positions = try PackedColumn(from: &reader, pieceLength: .short, atMost: rows)
            })
        if visitor.isReading {
            try require(positions.count == rows, "\(positions.count) positions of \(rows) reactions")
        }
        try places.visit(&visitor, below: posts.count, emojis.count)
        try takenBack.visit(&visitor, below: places.count, users)
        try changes.visit(&visitor, rows: takenBack.count)
        try visitor.visit(&hasErased)
    }

    /// Throws unless each tally is in at most one list, once: then no list has a cycle.
    private func checkLists() throws(ColumnError) {
        let tallies = tallyEmojis.count
        var isListed = [Bool](repeating: false, count: tallies)
        func check(_ first: UInt32, isPresent: Bool) throws(ColumnError) {
            var (link, count) = (Int(first), 0)
            while link > 0 {
                try require(link <= tallies && !isListed[link - 1], "a tally that does not exist or is listed twice")
                isListed[link - 1] = true
                count += 1
                link = Int(nextTallies[link - 1])
            }
            try require(!isPresent || count <= Self.maximumTallyCount, "\(count) present tallies of a post")
        }
        for row in newestPresent.indices {
            try check(newestPresent[row], isPresent: true)
            try check(lastEnded[row], isPresent: false)
        }
    }

    /// Throws unless the posts and the users exist, and no tally has ended after `head`.
    func check(posts postCount: Int, users: Int, head: Position) throws(ColumnError) {
        try posts.check(below: postCount)
        try reactions.check(firstBelow: tallyCount, secondBelow: users)
        try positions.check(ascendingTo: head)
        try changes.forEachPiece { piece throws(ColumnError) in
            for change in piece { try require(change <= head, "a reaction was taken back after \(head)") }
        }
        try ends.forEachPiece { piece throws(ColumnError) in
            for end in piece { try require(end <= head, "a tally has ended after \(head)") }
        }
    }
}
