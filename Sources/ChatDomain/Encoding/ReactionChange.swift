/// A reaction that an event adds or takes back.
package struct ReactionChange: Hashable, Sendable {
    /// The reaction's dense index.
    package let reaction: Int
    /// The dense index of its tally.
    package let tally: Int
    /// Whether the event is the first about the reaction.
    package let isNew: Bool

    init(reaction: Int, tally: Int, isNew: Bool = false) {
        self.reaction = reaction
        self.tally = tally
        self.isNew = isNew
    }
}
