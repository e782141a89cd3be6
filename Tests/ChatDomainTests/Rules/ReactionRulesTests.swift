import ChatTesting
import Columns
import Testing

@testable import ChatDomain

/// Reactions to messages and replies: what the tables of the rules and the random tests do not
/// show.
struct ReactionRulesTests {
    typealias Here = Neighbourhood

    private static let walk = PostID.message(Here.walk)

    /// The bytes of an emoji's spelling do not make two of it.
    @Test func spellingsOfAnEmojiAreOneReaction() {
        let given = Here.moderated.given(.react(Self.walk, emoji: "\u{2764}", by: Here.bob))
        #expect(given.when(.react(Self.walk, emoji: "\u{2764}\u{FE0F}", by: Here.bob)).isUnchanged)
        #expect(given.when(.react(Self.walk, emoji: "👍", by: Here.bob)).events.first?.emoji?.text == "👍")
        #expect(
            given.when(.unreact(Self.walk, emoji: "\u{2764}\u{FE0F}", by: Here.bob)).events.first?.kind
                == .reactionRemoved)
    }

    /// Who has left takes a reaction back, from a locked thread too; others need not know the post.
    @Test func reactionIsTakenBackAfterLeaving() {
        let given = Here.moderated.given(
            .react(Self.walk, emoji: "👍", by: Here.cem), .leaveThread(thread: Here.dogs, by: Here.cem)
        )
        .given(.lockThread(thread: Here.dogs, by: Here.ann))
        #expect(given.when(.react(Self.walk, emoji: "🎉", by: Here.cem)).rejection?.code == .notAMember)
        #expect(given.when(.unreact(Self.walk, emoji: "👍", by: Here.cem)).events.count == 1)
        #expect(given.when(.unreact(Self.walk, emoji: "🎉", by: Here.cem)).isUnchanged)
        #expect(given.when(.unreact(Self.walk, emoji: "no emoji", by: Here.cem)).rejection?.code == .invalidEmoji)
    }

    /// An emoji that this version does not know counts, and its events are no faults.
    @Test func emojiOfLaterVersionIsApplied() throws {
        // Unassigned in Unicode 17, in a block of emoji: nothing but a later version can have
        // recorded it.
        let later = Emoji(recorded: "\u{1FAFF}")
        var state = Here.moderated.state
        let event = reaction(.reactionAdded, later, in: state)
        #expect(state.faults(of: event).isEmpty)
        state.evolve(event, at: state.head + 1)
        #expect(state.faults(of: reaction(.reactionAdded, later, in: state)).map(\.problem) == [.noEffect])
        for wrong in ["", "ok", "👍 ", String(repeating: "👍", count: 17)] {
            #expect(
                state.faults(of: reaction(.reactionAdded, Emoji(recorded: wrong), in: state)).map(\.problem) == [
                    .invalidText
                ], "\(wrong)")
        }
    }

    /// A removal whose emoji was erased takes back every reaction of its user, and so none comes
    /// back.
    @Test func erasedRemovalTakesBackEveryReactionOfItsUser() {
        var state = Here.moderated.given(
            .react(Self.walk, emoji: "👍", by: Here.bob), .react(Self.walk, emoji: "🎉", by: Here.bob),
            .react(Self.walk, emoji: "👍", by: Here.cem)
        ).state
        var removal = reaction(.reactionRemoved, Emoji(recorded: "👍"), in: state)
        removal.content = .erased
        #expect(state.faults(of: removal).isEmpty)
        state.evolve(removal, at: state.head + 1)
        // The removal of the other one is no fault: it was decided while the emoji was known.
        #expect(state.faults(of: reaction(.reactionRemoved, Emoji(recorded: "🎉"), in: state)).isEmpty)
        #expect(state.faults(of: reaction(.reactionAdded, Emoji(recorded: "👍"), in: state)).isEmpty)
        var added = reaction(.reactionAdded, Emoji(recorded: "👍"), in: state)
        added.content = .erased
        state.evolve(added, at: state.head + 1)
        #expect(
            state.identities.reactions.count(of: state.identities.index(ofUser: Here.bob) ?? -1, on: post(in: state))
                == 0)
        #expect(
            state.identities.reactions.count(of: state.identities.index(ofUser: Here.cem) ?? -1, on: post(in: state))
                == 1)
    }

    private func post(in state: ChatState) -> PostKey {
        PostKey(state.identities.posts.messages.find(Here.walk.bits) ?? 0, isReply: false)
    }

    private func reaction(_ kind: EventKind, _ emoji: Emoji, in state: ChatState) -> ChatEvent {
        let number = state.rules.threads[state.identities.index(ofThread: Here.dogs) ?? 0].lastEventNumber + 1
        return ChatEvent(
            recordedAt: state.lastRecordedAt,
            details: EventDetails(kind, .message(thread: Here.dogs, number: number, message: Here.walk, by: Here.bob)),
            content: .emoji(emoji))
    }
}
