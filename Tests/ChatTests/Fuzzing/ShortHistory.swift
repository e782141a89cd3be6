import ChatDomain
import ChatTesting

/// Commands whose effects are seed inputs of fuzzing, a few of each kind.
///
/// Together the histories contain every command, and cause every event except `lost`. They share
/// their users, so all of them can be executed in one store.
struct ShortHistory {
    /// The name of the inputs made of it.
    var name: String
    /// The commands after which the state contains something of every kind.
    var setup: [ChatCommand]
    /// The commands that end or change this state.
    var endings: [ChatCommand]

    var requests: [CommandRequest] { (setup + endings).map { CommandRequest($0) } }

    static let all = [usersAndPosts, invitationsAndRoles, moderation, pinsLocksAndCustom]

    private static func bits(_ number: UInt128) -> UInt128 { 0x0189_0a5d_ac96_774b_bcce_b302_0990_0000 + number }

    private static let (maya, om, zoe) = (UserID(bits: bits(1)), UserID(bits: bits(2)), UserID(bits: bits(3)))

    private static let users: [ChatCommand] = [
        .registerUser(id: maya, username: "Maya", subject: "s"), .registerUser(id: om, username: "Om"),
        .registerUser(id: zoe, username: "Zoe"),
    ]

    private static func end(afterSeconds seconds: Int64) -> Timestamp {
        Timestamp(millisecondsSince1970: ManualClock().now().millisecondsSince1970 + 1_000 * seconds)
    }

    private static var usersAndPosts: ShortHistory {
        guard let code = OutwardCode("SW1A"), case let (thread, message) = (ThreadID(code), MessageID(bits: bits(4)))
        else {
            preconditionFailure("the text is an outward code")
        }
        let (reply, session) = (ReplyID(bits: bits(5)), SessionID(bits: bits(6)))
        return ShortHistory(
            name: "users-and-posts",
            setup: users + [
                .setPostcode(postcode: "SW1A 1AA", by: maya), .setPostcode(postcode: "SW1A 2AA", by: om),
                .postMessage(id: message, thread: thread, body: "Hello", by: maya),
                .reply(id: reply, to: message, body: "Yes", by: om),
                .edit(.message(message), body: "Hi", by: maya),
                .edit(.reply(reply), id: EditID(bits: bits(17)), body: "No", by: om),
                .startSession(id: session, device: "d", by: maya),
                .markRead(thread: thread, upTo: 9, by: om),
                .markUnread(thread: thread, from: 9, by: om),
                .setNotifications(thread: thread, level: .mentions, until: end(afterSeconds: 900), by: om),
                .markInboxRead(upTo: 9, by: maya), .setProfile(about: "Bees", by: om),
            ],
            endings: [
                .retract(.reply(reply), by: om), .endSession(session: session),
                .changeUsername(username: "Mia", by: maya),
                .setPostcode(postcode: "M1 1AA", by: maya), .leaveThread(thread: thread, by: om),
                .retract(.message(message), by: maya),
            ])
    }

    private static var invitationsAndRoles: ShortHistory {
        let thread = ThreadID(bits: bits(7))
        return ShortHistory(
            name: "invitations-and-roles",
            setup: users + [
                .openThread(id: ThreadID(bits: bits(30)), name: "Square", by: zoe),
                .joinThread(thread: ThreadID(bits: bits(30)), by: maya),
                .joinThread(thread: ThreadID(bits: bits(30)), by: om),
                .openThread(id: thread, name: "Party", policy: .inviteOnly, history: .sinceJoining, by: maya),
                .postMessage(id: MessageID(bits: bits(8)), thread: thread, body: "x", by: maya),
                .invite(user: om, thread: thread, by: maya), .acceptInvitation(thread: thread, by: om),
                .setRole(user: om, thread: thread, role: .moderator, by: maya),
                .invite(user: zoe, thread: thread, by: om),
                .declineInvitation(thread: thread, by: zoe), .invite(user: zoe, thread: thread, by: om),
                .grantOperator(user: zoe),
                .openDirect(id: ThreadID(bits: bits(20)), with: [maya], by: om),
                .renameThread(thread: thread, name: "Club", by: maya),
            ],
            endings: [
                .revokeInvitation(user: zoe, thread: thread, by: om), .revokeOperator(user: zoe),
                .setRole(user: om, thread: thread, role: .owner, by: maya),
                .setRole(user: maya, thread: thread, role: .member, by: maya),
                .leaveThread(thread: thread, by: maya),
            ])
    }

    private static var moderation: ShortHistory {
        let thread = ThreadID(bits: bits(9))
        let (first, second, reply) = (MessageID(bits: bits(10)), MessageID(bits: bits(11)), ReplyID(bits: bits(12)))
        return ShortHistory(
            name: "moderation",
            setup: users + [
                .openThread(id: thread, name: "Market", by: maya), .joinThread(thread: thread, by: om),
                .joinThread(thread: thread, by: zoe),
                .postMessage(id: first, thread: thread, body: "x", by: om),
                .reply(id: reply, to: first, body: "y", by: zoe),
                .postMessage(id: second, thread: thread, body: "z", by: zoe),
                .report(.message(first), reason: "r", by: zoe), .report(.reply(reply), reason: "r", by: om),
                .remove(.message(second), reason: "r", by: maya),
                .mute(user: om, thread: thread, reason: "r", until: end(afterSeconds: 15), by: maya),
                .ban(user: zoe, thread: thread, reason: "r", by: maya), .block(user: zoe, by: om),
            ],
            endings: [
                .resolveReport(.message(first), by: maya), .resolveReport(.reply(reply), by: maya),
                .remove(.reply(reply), reason: "r", by: maya), .unmute(user: om, thread: thread, by: maya),
                .unban(user: zoe, thread: thread, by: maya),
                .removeMember(user: om, thread: thread, reason: "r", by: maya),
                .unblock(user: zoe, by: om),
            ])
    }

    private static var pinsLocksAndCustom: ShortHistory {
        let (thread, closed, message) = (ThreadID(bits: bits(13)), ThreadID(bits: bits(14)), MessageID(bits: bits(15)))
        guard let payload = CustomPayload("{\"a\":[1]}") else { preconditionFailure("the text is JSON") }
        return ShortHistory(
            name: "pins-locks-and-custom",
            setup: users + [
                .openThread(id: thread, name: "Garden", by: maya),
                .postMessage(id: message, thread: thread, body: "x", by: maya),
                .pin(message: message, by: maya),
                .react(.message(message), emoji: "👍", by: maya),
                .custom(
                    id: CustomEventID(bits: bits(16)), kind: "com.example.poll", thread: thread, payload: payload,
                    by: maya),
                .lockThread(thread: thread, by: maya),
                .openThread(id: closed, name: "Old", history: .sinceJoining, by: om),
                .closeThread(thread: closed, by: om),
            ],
            endings: [
                .unlockThread(thread: thread, by: maya), .unpin(message: message, by: maya),
                .unreact(.message(message), emoji: "👍", by: maya), .joinThread(thread: thread, by: zoe),
            ])
    }
}
