import Chat
import ChatDomain

@testable import ChatWire

/// A community with something in every list, and users with different rights.
struct Village: Sendable {
    let community: Community
    /// Maya owns both threads; Om is a member of the open one, Zoe of neither; Ada is an operator.
    let maya, om, zoe, ada: UserID
    /// An open thread, and one on invitation that only Maya and Om can read.
    let market, secret: ThreadID
    let message, hidden: MessageID
    let session: SessionID

    static let code = "SW1A"

    init() throws {
        community = try Community()
        let users = try community.register("Maya", "Om", "Zoe", "Ada")
        (maya, om, zoe, ada) = (users[0], users[1], users[2], users[3])
        (market, secret) = (CommandSamples.thread, ThreadID(bits: CommandSamples.thread.bits + 100))
        (message, hidden) = (CommandSamples.message, MessageID(bits: CommandSamples.message.bits + 100))
        session = CommandSamples.session
        let (second, pinned) = (MessageID(bits: message.bits + 200), MessageID(bits: message.bits + 300))
        try community.execute(
            .grantOperator(user: ada), .setPostcode(user: maya, postcode: "SW1A 1AA"),
            .setPostcode(user: om, postcode: "SW1A 2AA"),
            .openThread(thread: market, name: "Market", by: maya), .joinThread(user: om, thread: market),
            .postMessage(message: message, thread: market, author: maya, body: "Apples"),
            .postMessage(message: second, thread: market, author: om, body: "Pears"),
            .postMessage(message: pinned, thread: market, author: maya, body: "Rules"), .pin(message: pinned, by: maya),
            .reply(reply: CommandSamples.reply, message: message, author: om, body: "How much?"),
            .react(.message(message), by: om, emoji: "👍"),
            .react(.reply(CommandSamples.reply), by: maya, emoji: ":coin:"),
            .report(.message(second), by: maya, reason: "spam"),
            .mute(user: om, thread: market, by: maya, reason: "spam"))
        // Maya does not know Zoe: an import invites her.
        let invitation = ChatCommand.invite(user: zoe, thread: market, by: maya)
        _ = try community.store.executeBlocking([CommandRequest(invitation, origin: .imported(sentAt: nil))])[0].get()
        try community.execute(
            .openThread(thread: secret, name: "Secret", by: maya, policy: .inviteOnly),
            .postMessage(message: hidden, thread: secret, author: maya, body: "Hidden"),
            .invite(user: om, thread: secret, by: maya),
            .startSession(user: maya, session: session, device: "phone"))
    }

    var store: ChatStore { community.store }

    /// Every request for something of a thread or a message.
    static func targets(thread: String, message: String) -> [String] {
        [
            "/v1/threads/\(thread)", "/v1/threads/\(thread)/timeline", "/v1/threads/\(thread)/events",
            "/v1/threads/\(thread)/activity",
            "/v1/threads/\(thread)/members",
            "/v1/threads/\(thread)/residents",
            "/v1/threads/\(thread)/roles", "/v1/threads/\(thread)/pins", "/v1/threads/\(thread)/sanctions",
            "/v1/threads/\(thread)/reports",
            "/v1/threads/\(thread)/invitations", "/v1/messages/\(message)", "/v1/messages/\(message)/replies",
            "/v1/messages/\(message)/reactions",
            "/v1/events?thread=\(thread)",
        ]
    }
}
