import ChatDomain
import ChatTesting
import Testing

/// Edits and retractions.
struct EditRulesTests {
    typealias Here = Neighbourhood

    static let message = PostID.message(Here.milk)
    static let reply = PostID.reply(Here.yes)
    static let bothRetracted = Here.talk.given(.retract(message, by: Here.ann), .retract(reply, by: Here.bob))
    static let bothLeft = Here.talk.given(
        .leaveThread(user: Here.ann, thread: Here.sw1a), .leaveThread(user: Here.bob, thread: Here.sw1a))

    @Test func authorEdits() {
        let message = Here.talk.when(.edit(Self.message, by: Here.ann, body: "Oat milk"))
        #expect(
            message.eventDetails == [
                .init(.messageEdited, .message(thread: Here.sw1a, number: 6, message: Here.milk, by: Here.ann))
            ])
        #expect(message.events.map(\.content) == [.body("Oat milk")])
        let reply = Here.talk.when(.edit(Self.reply, by: Here.bob, body: "No."))
        #expect(
            reply.eventDetails == [
                .init(
                    .replyEdited,
                    .reply(thread: Here.sw1a, number: 6, message: Here.milk, reply: Here.yes, by: Here.bob))
            ])
        #expect(reply.events.map(\.content) == [.body("No.")])
    }

    @Test func editKeepsItsIDOrGetsOne() {
        let given = Here.talk.when(.edit(Self.message, edit: EditID(bits: 7), by: Here.ann, body: "Oat milk"))
        #expect(given.events.map(\.edit) == [EditID(bits: 7)])
        let made = Here.talk.when(.edit(Self.reply, by: Here.bob, body: "No.")).events
        #expect(made.count == 1 && made[0].edit != nil)
        #expect(Here.talk.when(.retract(Self.message, by: Here.ann)).events.map(\.edit) == [nil])
    }

    /// The text that an edit replaces is that of the post, then that of the latest edit, also of
    /// one without an id.
    @Test(arguments: [(message, Here.ann, 8), (reply, Here.bob, 9)] as [(PostID, UserID, Position)])
    func editOfAnotherTextIsRejected(post: PostID, author: UserID, posted: Position) {
        let other: ChatCommand =
            post.isReply ? .edit(Self.message, by: Here.ann, body: "x") : .edit(Self.reply, by: Here.bob, body: "x")
        func edit(_ replaces: Position?, _ body: String = "Oat") -> ChatCommand {
            .edit(post, by: author, body: body, replaces: replaces)
        }
        #expect(Here.talk.when(edit(posted)).events.count == 1)
        for other in [0, posted - 1, posted + 1, .max] {
            #expect(Here.talk.when(edit(other)).rejection?.code == .edited)
        }
        let edited = Here.talk.given(edit(posted), other)
        let position = Position(Here.talk.history.count) + 1
        #expect(edited.when(edit(posted)).rejection?.code == .edited)
        #expect(edited.when(edit(position + 1)).rejection?.code == .edited)
        #expect(edited.when(edit(position)).events.count == 1)
        #expect(edited.when(edit(nil)).events.count == 1)
        // The state of the post is checked before the text, and this before the body.
        #expect(edited.when(edit(posted, "")).rejection?.code == .edited)
        #expect(edited.given(.retract(post, by: author)).when(edit(posted)).rejection?.code == .retracted)
    }

    @Test func editWithSameBodyAppends() {
        #expect(
            Here.talk.when(.edit(Self.message, by: Here.ann, body: "Could someone pick up milk?")).events.count == 1)
    }

    @Test func replyToRetractedMessageCanBeEdited() {
        let given = Here.talk.given(.retract(Self.message, by: Here.ann))
        #expect(given.when(.edit(Self.reply, by: Here.bob, body: "No.")).events.count == 1)
    }

    @Test(arguments: [
        RefusedCommand("a stranger", Here.talk, .edit(message, by: Here.nobody, body: "x"), .unknownUser),
        RefusedCommand(
            "an unknown message", Here.talk, .edit(.message(Here.noMessage), by: Here.ann, body: "x"), .unknownMessage),
        RefusedCommand(
            "an unknown reply", Here.talk, .edit(.reply(Here.noReply), by: Here.ann, body: "x"), .unknownReply),
        RefusedCommand("an author who has left", bothLeft, .edit(message, by: Here.ann, body: "x"), .notAMember),
        RefusedCommand(
            "an author of a reply who has left", bothLeft, .edit(reply, by: Here.bob, body: "x"), .notAMember),
        RefusedCommand("another's message", Here.talk, .edit(message, by: Here.bob, body: "x"), .notTheAuthor),
        RefusedCommand("another's reply", Here.talk, .edit(reply, by: Here.ann, body: "x"), .notTheAuthor),
        RefusedCommand("a retracted message", bothRetracted, .edit(message, by: Here.ann, body: "x"), .retracted),
        RefusedCommand("a retracted reply", bothRetracted, .edit(reply, by: Here.bob, body: "x"), .retracted),
        RefusedCommand("a blank body", Here.talk, .edit(message, by: Here.ann, body: " "), .invalidBody),
        RefusedCommand(
            "a reply that is too long", Here.talk, .edit(reply, by: Here.bob, body: PostRulesTests.full + "x"),
            .invalidBody),
    ])
    func editIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }

    @Test(arguments: [
        RefusedCommand(
            "a stranger, an unknown message", Here.talk, .edit(.message(Here.noMessage), by: Here.nobody, body: ""),
            .unknownUser),
        RefusedCommand(
            "a stranger, an unknown reply", Here.talk, .edit(.reply(Here.noReply), by: Here.nobody, body: ""),
            .unknownUser),
        RefusedCommand(
            "an unknown message, an empty body", Here.talk, .edit(.message(Here.noMessage), by: Here.cem, body: ""),
            .unknownMessage),
        RefusedCommand(
            "an unknown reply, an empty body", Here.talk, .edit(.reply(Here.noReply), by: Here.cem, body: ""),
            .unknownReply),
        RefusedCommand(
            "not a member, not the author", bothRetracted, .edit(message, by: Here.cem, body: ""), .notAMember),
        RefusedCommand(
            "not the author, retracted", bothRetracted, .edit(message, by: Here.bob, body: ""), .notTheAuthor),
        RefusedCommand(
            "not the reply's author, retracted", bothRetracted, .edit(reply, by: Here.ann, body: ""), .notTheAuthor),
        RefusedCommand("retracted, an empty body", bothRetracted, .edit(message, by: Here.ann, body: ""), .retracted),
        RefusedCommand(
            "retracted, too long", bothRetracted, .edit(reply, by: Here.bob, body: PostRulesTests.full + "x"),
            .retracted),
        RefusedCommand(
            "a stranger retracts an unknown message", Here.talk, .retract(.message(Here.noMessage), by: Here.nobody),
            .unknownUser),
        RefusedCommand(
            "a stranger retracts an unknown reply", Here.talk, .retract(.reply(Here.noReply), by: Here.nobody),
            .unknownUser),
        RefusedCommand("another user retracts again", bothRetracted, .retract(message, by: Here.bob), .notTheAuthor),
    ])
    func firstBrokenRuleIsReported(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }

    @Test func authorRetracts() {
        let message = Here.talk.when(.retract(Self.message, by: Here.ann))
        #expect(
            message.eventDetails == [
                .init(.messageRetracted, .message(thread: Here.sw1a, number: 6, message: Here.milk, by: Here.ann))
            ])
        #expect(message.events.map(\.content) == [.none])
        let reply = Here.talk.when(.retract(Self.reply, by: Here.bob))
        #expect(
            reply.eventDetails == [
                .init(
                    .replyRetracted,
                    .reply(thread: Here.sw1a, number: 6, message: Here.milk, reply: Here.yes, by: Here.bob))
            ])
    }

    @Test func retractionNeedsNoMembership() {
        #expect(Self.bothLeft.when(.retract(Self.message, by: Here.ann)).events.count == 1)
        #expect(Self.bothLeft.when(.retract(Self.reply, by: Here.bob)).events.count == 1)
    }

    @Test func repeatedRetractionChangesNothing() {
        #expect(Self.bothRetracted.when(.retract(Self.message, by: Here.ann)).isUnchanged)
        #expect(Self.bothRetracted.when(.retract(Self.reply, by: Here.bob)).isUnchanged)
    }

    @Test func replyToRetractedMessageCanBeRetracted() {
        let given = Here.talk.given(.retract(Self.message, by: Here.ann))
        #expect(given.when(.retract(Self.reply, by: Here.bob)).events.count == 1)
    }

    @Test(arguments: [
        RefusedCommand("a stranger", Here.talk, .retract(message, by: Here.nobody), .unknownUser),
        RefusedCommand(
            "an unknown message", Here.talk, .retract(.message(Here.noMessage), by: Here.ann), .unknownMessage),
        RefusedCommand("an unknown reply", Here.talk, .retract(.reply(Here.noReply), by: Here.ann), .unknownReply),
        RefusedCommand("another's message", Here.talk, .retract(message, by: Here.bob), .notTheAuthor),
        RefusedCommand("another's reply", Here.talk, .retract(reply, by: Here.ann), .notTheAuthor),
    ])
    func retractionIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }
}
