import ChatDomain
import ChatTesting
import Testing

/// Messages and replies.
struct PostRulesTests {
    typealias Here = Neighbourhood

    static let full = String(repeating: "x", count: 16_384)

    /// A message and a reply can have the same bits, and what happens to one does not happen to the
    /// other.
    @Test(arguments: [false, true]) func messageAndReplyWithEqualBitsAreDifferentPosts(isReply: Bool) {
        let (message, reply) = (PostID.message(Here.walk), PostID.reply(ReplyID(bits: Here.walk.bits)))
        let (post, other) = isReply ? (reply, message) : (message, reply)
        let posted = Here.moderated.given(
            .reply(id: ReplyID(bits: Here.walk.bits), to: Here.walk, body: "Yes", by: Here.cem))
        let replaces = posted.history.first { $0.event.post == post }?.position
        let given = posted.given(
            .react(post, emoji: "👍", by: Here.bob), .report(post, reason: "spam", by: Here.bob),
            .edit(post, id: EditID(bits: 1), body: "No", replaces: replaces, by: Here.cem))
        #expect(given.when(.unreact(post, emoji: "👍", by: Here.bob)).events.map(\.post) == [post])
        #expect(given.when(.unreact(other, emoji: "👍", by: Here.bob)).isUnchanged)
        #expect(given.when(.report(post, reason: "spam", by: Here.bob)).isUnchanged)
        #expect(given.when(.report(other, reason: "spam", by: Here.bob)).events.map(\.post) == [other])
        #expect(given.when(.resolveReport(post, by: Here.ann)).events.map(\.post) == [post])
        #expect(given.when(.resolveReport(other, by: Here.ann)).isUnchanged)
        let edit = ChatCommand.edit(other, id: EditID(bits: 1), body: "No", replaces: replaces, by: Here.cem)
        #expect(given.when(edit).rejection?.code == .identifierTaken)
        let retracted = given.given(.retract(post, by: Here.cem))
        #expect(retracted.when(.retract(post, by: Here.cem)).isUnchanged)
        #expect(retracted.when(.retract(other, by: Here.cem)).events.map(\.post) == [other])
    }

    @Test func memberPosts() {
        let id = MessageID(bits: 9)
        let outcome = Here.talk.when(.postMessage(id: id, thread: Here.sw1a, body: " Hello \n", by: Here.bob))
        #expect(
            outcome.eventDetails == [
                .init(.messagePosted, .message(thread: Here.sw1a, number: 6, message: id, by: Here.bob))
            ])
        #expect(outcome.events.map(\.content) == [.body(" Hello \n")])
    }

    @Test(arguments: [full, "\0", "\u{1B}[31m", "\u{200B}", "\u{202E}x", "🥛"]) func bodyIsStoredUnchanged(body: String)
    {
        let outcome = Here.talk.when(.postMessage(thread: Here.sw1a, body: body, by: Here.bob))
        #expect(outcome.events.first?.body.map { Array($0.utf8) } == Array(body.utf8))
    }

    @Test(arguments: [
        RefusedCommand(
            "an id of another author", Here.talk,
            .postMessage(id: Here.milk, thread: Here.sw1a, body: "x", by: Here.bob),
            .identifierTaken),
        RefusedCommand(
            "a stranger", Here.talk, .postMessage(thread: Here.sw1a, body: "x", by: Here.nobody), .unknownUser),
        RefusedCommand(
            "an unknown thread", Here.talk, .postMessage(thread: Here.nowhere, body: "x", by: Here.ann),
            .unknownThread),
        RefusedCommand(
            "a user who never joined", Here.talk, .postMessage(thread: Here.sw1a, body: "x", by: Here.cem),
            .notAMember),
        RefusedCommand(
            "a user who has left", Here.talk.given(.leaveThread(thread: Here.sw1a, by: Here.bob)),
            .postMessage(thread: Here.sw1a, body: "x", by: Here.bob), .notAMember),
        RefusedCommand(
            "an empty body", Here.talk, .postMessage(thread: Here.sw1a, body: "", by: Here.ann), .invalidBody),
        RefusedCommand(
            "white space", Here.talk, .postMessage(thread: Here.sw1a, body: " \n\u{2003}", by: Here.ann),
            .invalidBody),
        RefusedCommand(
            "16,385 bytes", Here.talk, .postMessage(thread: Here.sw1a, body: full + "x", by: Here.ann), .invalidBody
        ),
        RefusedCommand(
            "an id of another thread by a stranger", Here.talk,
            .postMessage(id: Here.milk, thread: Here.nowhere, body: "", by: Here.nobody), .identifierTaken),
        RefusedCommand(
            "a stranger and an unknown thread", Here.talk,
            .postMessage(thread: Here.nowhere, body: "", by: Here.nobody), .unknownUser),
        RefusedCommand(
            "an unknown thread and an empty body", Here.talk,
            .postMessage(thread: Here.nowhere, body: "", by: Here.ann), .unknownThread
        ),
        RefusedCommand(
            "not a member, and an empty body", Here.talk, .postMessage(thread: Here.sw1a, body: "", by: Here.cem),
            .notAMember),
    ])
    func messageIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }

    @Test func memberRepliesToAnyMessage() {
        let id = ReplyID(bits: 9)
        for author in [Here.ann, Here.bob] {
            let outcome = Here.talk.when(.reply(id: id, to: Here.milk, body: "Two pints?", by: author))
            #expect(
                outcome.eventDetails == [
                    .init(.replyPosted, .reply(thread: Here.sw1a, number: 6, message: Here.milk, reply: id, by: author))
                ])
            #expect(outcome.events.map(\.content) == [.body("Two pints?")])
        }
    }

    static let retracted = Here.talk.given(.retract(.message(Here.milk), by: Here.ann))

    @Test(arguments: [
        RefusedCommand(
            "an id of another author", Here.talk,
            .reply(id: Here.yes, to: Here.milk, body: "x", by: Here.ann),
            .identifierTaken),
        RefusedCommand(
            "a stranger", Here.talk, .reply(to: Here.milk, body: "x", by: Here.nobody), .unknownUser),
        RefusedCommand(
            "an unknown message", Here.talk, .reply(to: Here.noMessage, body: "x", by: Here.ann),
            .unknownMessage),
        RefusedCommand(
            "a user who never joined", Here.talk, .reply(to: Here.milk, body: "x", by: Here.cem), .notAMember),
        RefusedCommand(
            "a retracted message", retracted, .reply(to: Here.milk, body: "x", by: Here.bob), .retracted),
        RefusedCommand(
            "a blank body", Here.talk, .reply(to: Here.milk, body: "\t", by: Here.ann), .invalidBody),
        RefusedCommand(
            "16,385 bytes", Here.talk, .reply(to: Here.milk, body: full + "x", by: Here.ann), .invalidBody),
        RefusedCommand(
            "an id of another message by a stranger", Here.talk,
            .reply(id: Here.yes, to: Here.noMessage, body: "", by: Here.nobody), .identifierTaken),
        RefusedCommand(
            "a stranger and an unknown message", Here.talk,
            .reply(to: Here.noMessage, body: "", by: Here.nobody), .unknownUser),
        RefusedCommand(
            "an unknown message and an empty body", Here.talk,
            .reply(to: Here.noMessage, body: "", by: Here.cem), .unknownMessage),
        RefusedCommand(
            "not a member, and a retracted message", retracted, .reply(to: Here.milk, body: "", by: Here.cem),
            .notAMember),
        RefusedCommand(
            "a retracted message and an empty body", retracted, .reply(to: Here.milk, body: "", by: Here.bob),
            .retracted),
    ])
    func replyIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }
}
