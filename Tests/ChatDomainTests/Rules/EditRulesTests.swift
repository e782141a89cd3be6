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
        .leaveThread(thread: Here.sw1a, by: Here.ann), .leaveThread(thread: Here.sw1a, by: Here.bob))

    @Test func authorEdits() {
        let message = Here.talk.when(.edit(Self.message, body: "Oat milk", by: Here.ann))
        #expect(
            message.eventDetails == [
                .init(.messageEdited, .message(thread: Here.sw1a, number: 6, message: Here.milk, by: Here.ann))
            ])
        #expect(message.events.map(\.content) == [.body("Oat milk")])
        let reply = Here.talk.when(.edit(Self.reply, body: "No.", by: Here.bob))
        #expect(
            reply.eventDetails == [
                .init(
                    .replyEdited,
                    .reply(thread: Here.sw1a, number: 6, message: Here.milk, reply: Here.yes, by: Here.bob))
            ])
        #expect(reply.events.map(\.content) == [.body("No.")])
    }

    @Test func editKeepsItsIDOrGetsOne() {
        let given = Here.talk.when(.edit(Self.message, id: EditID(bits: 7), body: "Oat milk", by: Here.ann))
        #expect(given.events.map(\.edit) == [EditID(bits: 7)])
        let made = Here.talk.when(.edit(Self.reply, body: "No.", by: Here.bob)).events
        #expect(made.count == 1 && made[0].edit != nil)
        #expect(Here.talk.when(.retract(Self.message, by: Here.ann)).events.map(\.edit) == [nil])
    }

    /// The text that an edit replaces is that of the post, then that of the latest edit, also of
    /// one without an id.
    @Test(arguments: [(message, Here.ann, 8), (reply, Here.bob, 9)] as [(PostID, UserID, Position)])
    func editOfAnotherTextIsRejected(post: PostID, author: UserID, posted: Position) {
        let other: ChatCommand =
            post.isReply ? .edit(Self.message, body: "x", by: Here.ann) : .edit(Self.reply, body: "x", by: Here.bob)
        func edit(_ replaces: Position?, _ body: String = "Oat") -> ChatCommand {
            .edit(post, body: body, replaces: replaces, by: author)
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
            Here.talk.when(.edit(Self.message, body: "Could someone pick up milk?", by: Here.ann)).events.count == 1)
    }

    @Test func replyToRetractedMessageCanBeEdited() {
        let given = Here.talk.given(.retract(Self.message, by: Here.ann))
        #expect(given.when(.edit(Self.reply, body: "No.", by: Here.bob)).events.count == 1)
    }

    @Test(arguments: [
        RefusedCommand("a stranger", Here.talk, .edit(message, body: "x", by: Here.nobody), .unknownUser),
        RefusedCommand(
            "an unknown message", Here.talk, .edit(.message(Here.noMessage), body: "x", by: Here.ann), .unknownMessage),
        RefusedCommand(
            "an unknown reply", Here.talk, .edit(.reply(Here.noReply), body: "x", by: Here.ann), .unknownReply),
        RefusedCommand("an author who has left", bothLeft, .edit(message, body: "x", by: Here.ann), .notAMember),
        RefusedCommand(
            "an author of a reply who has left", bothLeft, .edit(reply, body: "x", by: Here.bob), .notAMember),
        RefusedCommand("another's message", Here.talk, .edit(message, body: "x", by: Here.bob), .notTheAuthor),
        RefusedCommand("another's reply", Here.talk, .edit(reply, body: "x", by: Here.ann), .notTheAuthor),
        RefusedCommand("a retracted message", bothRetracted, .edit(message, body: "x", by: Here.ann), .retracted),
        RefusedCommand("a retracted reply", bothRetracted, .edit(reply, body: "x", by: Here.bob), .retracted),
        RefusedCommand("a blank body", Here.talk, .edit(message, body: " ", by: Here.ann), .invalidBody),
        RefusedCommand(
            "a reply that is too long", Here.talk, .edit(reply, body: PostRulesTests.full + "x", by: Here.bob),
            .invalidBody),
    ])
    func editIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }

    @Test(arguments: [
        RefusedCommand(
            "a stranger, an unknown message", Here.talk, .edit(.message(Here.noMessage), body: "", by: Here.nobody),
            .unknownUser),
        RefusedCommand(
            "a stranger, an unknown reply", Here.talk, .edit(.reply(Here.noReply), body: "", by: Here.nobody),
            .unknownUser),
        RefusedCommand(
            "an unknown message, an empty body", Here.talk, .edit(.message(Here.noMessage), body: "", by: Here.cem),
            .unknownMessage),
        RefusedCommand(
            "an unknown reply, an empty body", Here.talk, .edit(.reply(Here.noReply), body: "", by: Here.cem),
            .unknownReply),
        RefusedCommand(
            "not a member, not the author", bothRetracted, .edit(message, body: "", by: Here.cem), .notAMember),
        RefusedCommand(
            "not the author, retracted", bothRetracted, .edit(message, body: "", by: Here.bob), .notTheAuthor),
        RefusedCommand(
            "not the reply's author, retracted", bothRetracted, .edit(reply, body: "", by: Here.ann), .notTheAuthor),
        RefusedCommand("retracted, an empty body", bothRetracted, .edit(message, body: "", by: Here.ann), .retracted),
        RefusedCommand(
            "retracted, too long", bothRetracted, .edit(reply, body: PostRulesTests.full + "x", by: Here.bob),
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
