import ChatDomain
import ChatTesting
import ChatValues
import TestSupport
import Testing

@testable import Projections

/// Compares the reactions to a post with a list of those that are present.
@Suite struct ReactionHistoryTests {
    private static let thread = ThreadID(bits: 1)
    private static let message = MessageID(bits: 2)

    /// Few users and emoji, so that most reactions are taken back and added again.
    @Test(arguments: Seeds.seeds(Repetitions.few(4, of: 40))) func orderIsThatOfTheFirstPresentReaction(seed: UInt64)
        throws
    {
        var random = SeededRandom(seed: seed)
        let users = (0..<6).map { UserID(bits: UInt128(100 + $0)) }
        let emojis = try ["👍", "🎉", ":wave:"].map { try #require(Emoji($0)) }
        var models = ReadModels()
        func apply(_ kind: EventKind, _ shape: EventShape, _ content: EventContent) {
            models.apply(
                ChatEvent(
                    recordedAt: Timestamp(millisecondsSince1970: 0), details: EventDetails(kind, shape),
                    content: content),
                at: models.position + 1)
        }
        apply(.threadOpened, .thread(Self.thread, number: 1, user: users[0]), .threadName("T"))
        apply(.messagePosted, .message(thread: Self.thread, number: 2, message: Self.message, by: users[0]), .body("x"))
        var present: [(user: UserID, emoji: Emoji)] = []
        var expected: [[PostReaction]] = []
        for number in 3..<120 {
            let user = try #require(users.randomElement(using: &random))
            let emoji = try #require(emojis.randomElement(using: &random))
            let index = present.firstIndex { $0.user == user && $0.emoji == emoji }
            let shape = EventShape.message(thread: Self.thread, number: UInt64(number), message: Self.message, by: user)
            apply(index == nil ? .reactionAdded : .reactionRemoved, shape, .emoji(emoji))
            if let index { present.remove(at: index) } else { present.append((user, emoji)) }
            var order: [Emoji] = []
            for reaction in present where !order.contains(reaction.emoji) { order.append(reaction.emoji) }
            expected.append(
                order.map { emoji in
                    let own = present.filter { $0.emoji == emoji }
                    return PostReaction(
                        emoji: emoji.text, count: own.count, isMine: own.contains { $0.user == users[0] })
                })
        }
        for (index, reactions) in expected.enumerated() {
            let found = models.reactions(to: .message(Self.message), of: users[0], asOf: Position(index + 3))
            #expect(found == reactions, "position \(index + 3)")
        }
    }
}
