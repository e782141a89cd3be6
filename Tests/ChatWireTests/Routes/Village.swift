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
            .grantOperator(user: ada), .setPostcode(postcode: "SW1A 1AA", by: maya),
            .setPostcode(postcode: "SW1A 2AA", by: om),
            .openThread(id: market, name: "Market", by: maya), .joinThread(thread: market, by: om),
            .postMessage(id: message, thread: market, body: "Apples", by: maya),
            .postMessage(id: second, thread: market, body: "Pears", by: om),
            .postMessage(id: pinned, thread: market, body: "Rules", by: maya), .pin(message: pinned, by: maya),
            .reply(id: CommandSamples.reply, to: message, body: "How much?", by: om),
            .react(.message(message), emoji: "👍", by: om),
            .react(.reply(CommandSamples.reply), emoji: ":coin:", by: maya),
            .report(.message(second), reason: "spam", by: maya),
            .mute(user: om, thread: market, reason: "spam", by: maya),
            .custom(kind: "com.example.poll", thread: market, payload: CustomPayload(unchecked: "1"), by: maya))
        // Maya does not know Zoe: an import invites her.
        let invitation = ChatCommand.invite(user: zoe, thread: market, by: maya)
        _ = try community.store.executeBlocking([CommandRequest(invitation, origin: .imported(sentAt: nil))])[0].get()
        try community.execute(
            .openThread(id: secret, name: "Secret", policy: .inviteOnly, by: maya),
            .postMessage(id: hidden, thread: secret, body: "Hidden", by: maya),
            .invite(user: om, thread: secret, by: maya),
            .startSession(id: session, device: "phone", by: maya))
    }

    var store: ChatStore { community.store }

    /// Every request for something of a thread or a message.
    static func targets(thread: String, message: String) -> [String] {
        [
            "/v1/threads/\(thread)", "/v1/threads/\(thread)/timeline", "/v1/threads/\(thread)/events",
            "/v1/threads/\(thread)/custom-events",
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
