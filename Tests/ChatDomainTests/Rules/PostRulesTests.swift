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
            .reply(reply: ReplyID(bits: Here.walk.bits), message: Here.walk, author: Here.cem, body: "Yes"))
        let replaces = posted.history.first { $0.event.post == post }?.position
        let given = posted.given(
            .react(post, by: Here.bob, emoji: "👍"), .report(post, by: Here.bob, reason: "spam"),
            .edit(post, edit: EditID(bits: 1), by: Here.cem, body: "No", replaces: replaces))
        #expect(given.when(.unreact(post, by: Here.bob, emoji: "👍")).events.map(\.post) == [post])
        #expect(given.when(.unreact(other, by: Here.bob, emoji: "👍")).isUnchanged)
        #expect(given.when(.report(post, by: Here.bob, reason: "spam")).isUnchanged)
        #expect(given.when(.report(other, by: Here.bob, reason: "spam")).events.map(\.post) == [other])
        #expect(given.when(.resolveReport(post, by: Here.ann)).events.map(\.post) == [post])
        #expect(given.when(.resolveReport(other, by: Here.ann)).isUnchanged)
        let edit = ChatCommand.edit(other, edit: EditID(bits: 1), by: Here.cem, body: "No", replaces: replaces)
        #expect(given.when(edit).rejection?.code == .identifierTaken)
        let retracted = given.given(.retract(post, by: Here.cem))
        #expect(retracted.when(.retract(post, by: Here.cem)).isUnchanged)
        #expect(retracted.when(.retract(other, by: Here.cem)).events.map(\.post) == [other])
    }

    @Test func memberPosts() {
        let id = MessageID(bits: 9)
        let outcome = Here.talk.when(.postMessage(message: id, thread: Here.sw1a, author: Here.bob, body: " Hello \n"))
        #expect(
            outcome.eventDetails == [
                .init(.messagePosted, .message(thread: Here.sw1a, number: 6, message: id, by: Here.bob))
            ])
        #expect(outcome.events.map(\.content) == [.body(" Hello \n")])
    }

    @Test(arguments: [full, "\0", "\u{1B}[31m", "\u{200B}", "\u{202E}x", "🥛"]) func bodyIsStoredUnchanged(body: String)
    {
        let outcome = Here.talk.when(.postMessage(thread: Here.sw1a, author: Here.bob, body: body))
        #expect(outcome.events.first?.body.map { Array($0.utf8) } == Array(body.utf8))
    }

    @Test(arguments: [
        RefusedCommand(
            "an id of another author", Here.talk,
            .postMessage(message: Here.milk, thread: Here.sw1a, author: Here.bob, body: "x"),
            .identifierTaken),
        RefusedCommand(
            "a stranger", Here.talk, .postMessage(thread: Here.sw1a, author: Here.nobody, body: "x"), .unknownUser),
        RefusedCommand(
            "an unknown thread", Here.talk, .postMessage(thread: Here.nowhere, author: Here.ann, body: "x"),
            .unknownThread),
        RefusedCommand(
            "a user who never joined", Here.talk, .postMessage(thread: Here.sw1a, author: Here.cem, body: "x"),
            .notAMember),
        RefusedCommand(
            "a user who has left", Here.talk.given(.leaveThread(user: Here.bob, thread: Here.sw1a)),
            .postMessage(thread: Here.sw1a, author: Here.bob, body: "x"), .notAMember),
        RefusedCommand(
            "an empty body", Here.talk, .postMessage(thread: Here.sw1a, author: Here.ann, body: ""), .invalidBody),
        RefusedCommand(
            "white space", Here.talk, .postMessage(thread: Here.sw1a, author: Here.ann, body: " \n\u{2003}"),
            .invalidBody),
        RefusedCommand(
            "16,385 bytes", Here.talk, .postMessage(thread: Here.sw1a, author: Here.ann, body: full + "x"), .invalidBody
        ),
        RefusedCommand(
            "an id of another thread by a stranger", Here.talk,
            .postMessage(message: Here.milk, thread: Here.nowhere, author: Here.nobody, body: ""), .identifierTaken),
        RefusedCommand(
            "a stranger and an unknown thread", Here.talk,
            .postMessage(thread: Here.nowhere, author: Here.nobody, body: ""), .unknownUser),
        RefusedCommand(
            "an unknown thread and an empty body", Here.talk,
            .postMessage(thread: Here.nowhere, author: Here.ann, body: ""), .unknownThread
        ),
        RefusedCommand(
            "not a member, and an empty body", Here.talk, .postMessage(thread: Here.sw1a, author: Here.cem, body: ""),
            .notAMember),
    ])
    func messageIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }

    @Test func memberRepliesToAnyMessage() {
        let id = ReplyID(bits: 9)
        for author in [Here.ann, Here.bob] {
            let outcome = Here.talk.when(.reply(reply: id, message: Here.milk, author: author, body: "Two pints?"))
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
            .reply(reply: Here.yes, message: Here.milk, author: Here.ann, body: "x"),
            .identifierTaken),
        RefusedCommand(
            "a stranger", Here.talk, .reply(message: Here.milk, author: Here.nobody, body: "x"), .unknownUser),
        RefusedCommand(
            "an unknown message", Here.talk, .reply(message: Here.noMessage, author: Here.ann, body: "x"),
            .unknownMessage),
        RefusedCommand(
            "a user who never joined", Here.talk, .reply(message: Here.milk, author: Here.cem, body: "x"), .notAMember),
        RefusedCommand(
            "a retracted message", retracted, .reply(message: Here.milk, author: Here.bob, body: "x"), .retracted),
        RefusedCommand(
            "a blank body", Here.talk, .reply(message: Here.milk, author: Here.ann, body: "\t"), .invalidBody),
        RefusedCommand(
            "16,385 bytes", Here.talk, .reply(message: Here.milk, author: Here.ann, body: full + "x"), .invalidBody),
        RefusedCommand(
            "an id of another message by a stranger", Here.talk,
            .reply(reply: Here.yes, message: Here.noMessage, author: Here.nobody, body: ""), .identifierTaken),
        RefusedCommand(
            "a stranger and an unknown message", Here.talk,
            .reply(message: Here.noMessage, author: Here.nobody, body: ""), .unknownUser),
        RefusedCommand(
            "an unknown message and an empty body", Here.talk,
            .reply(message: Here.noMessage, author: Here.cem, body: ""), .unknownMessage),
        RefusedCommand(
            "not a member, and a retracted message", retracted, .reply(message: Here.milk, author: Here.cem, body: ""),
            .notAMember),
        RefusedCommand(
            "a retracted message and an empty body", retracted, .reply(message: Here.milk, author: Here.bob, body: ""),
            .retracted),
    ])
    func replyIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }
}
