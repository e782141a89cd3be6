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
        .registerUser(user: maya, username: "Maya", subject: "s"), .registerUser(user: om, username: "Om"),
        .registerUser(user: zoe, username: "Zoe"),
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
                .setPostcode(user: maya, postcode: "SW1A 1AA"), .setPostcode(user: om, postcode: "SW1A 2AA"),
                .postMessage(message: message, thread: thread, author: maya, body: "Hello"),
                .reply(reply: reply, message: message, author: om, body: "Yes"),
                .edit(.message(message), by: maya, body: "Hi"),
                .edit(.reply(reply), edit: EditID(bits: bits(17)), by: om, body: "No"),
                .startSession(user: maya, session: session, device: "d"),
                .markRead(user: om, thread: thread, upTo: 9),
                .markUnread(user: om, thread: thread, from: 9),
                .setNotifications(user: om, thread: thread, level: .mentions, until: end(afterSeconds: 900)),
                .markInboxRead(user: maya, upTo: 9), .setProfile(user: om, about: "Bees"),
            ],
            endings: [
                .retract(.reply(reply), by: om), .endSession(session: session),
                .changeUsername(user: maya, username: "Mia"),
                .setPostcode(user: maya, postcode: "M1 1AA"), .leaveThread(user: om, thread: thread),
                .retract(.message(message), by: maya),
            ])
    }

    private static var invitationsAndRoles: ShortHistory {
        let thread = ThreadID(bits: bits(7))
        return ShortHistory(
            name: "invitations-and-roles",
            setup: users + [
                .openThread(thread: ThreadID(bits: bits(30)), name: "Square", by: zoe),
                .joinThread(user: maya, thread: ThreadID(bits: bits(30))),
                .joinThread(user: om, thread: ThreadID(bits: bits(30))),
                .openThread(thread: thread, name: "Party", by: maya, policy: .inviteOnly, history: .sinceJoining),
                .postMessage(message: MessageID(bits: bits(8)), thread: thread, author: maya, body: "x"),
                .invite(user: om, thread: thread, by: maya), .acceptInvitation(user: om, thread: thread),
                .setRole(user: om, thread: thread, role: .moderator, by: maya),
                .invite(user: zoe, thread: thread, by: om),
                .declineInvitation(user: zoe, thread: thread), .invite(user: zoe, thread: thread, by: om),
                .grantOperator(user: zoe),
                .openDirect(thread: ThreadID(bits: bits(20)), by: om, with: [maya]),
                .renameThread(thread: thread, name: "Club", by: maya),
            ],
            endings: [
                .revokeInvitation(user: zoe, thread: thread, by: om), .revokeOperator(user: zoe),
                .setRole(user: om, thread: thread, role: .owner, by: maya),
                .setRole(user: maya, thread: thread, role: .member, by: maya),
                .leaveThread(user: maya, thread: thread),
            ])
    }

    private static var moderation: ShortHistory {
        let thread = ThreadID(bits: bits(9))
        let (first, second, reply) = (MessageID(bits: bits(10)), MessageID(bits: bits(11)), ReplyID(bits: bits(12)))
        return ShortHistory(
            name: "moderation",
            setup: users + [
                .openThread(thread: thread, name: "Market", by: maya), .joinThread(user: om, thread: thread),
                .joinThread(user: zoe, thread: thread),
                .postMessage(message: first, thread: thread, author: om, body: "x"),
                .reply(reply: reply, message: first, author: zoe, body: "y"),
                .postMessage(message: second, thread: thread, author: zoe, body: "z"),
                .report(.message(first), by: zoe, reason: "r"), .report(.reply(reply), by: om, reason: "r"),
                .remove(.message(second), by: maya, reason: "r"),
                .mute(user: om, thread: thread, by: maya, reason: "r", until: end(afterSeconds: 15)),
                .ban(user: zoe, thread: thread, by: maya, reason: "r"), .block(user: zoe, by: om),
            ],
            endings: [
                .resolveReport(.message(first), by: maya), .resolveReport(.reply(reply), by: maya),
                .remove(.reply(reply), by: maya, reason: "r"), .unmute(user: om, thread: thread, by: maya),
                .unban(user: zoe, thread: thread, by: maya),
                .removeMember(user: om, thread: thread, by: maya, reason: "r"),
                .unblock(user: zoe, by: om),
            ])
    }

    private static var pinsLocksAndCustom: ShortHistory {
        let (thread, closed, message) = (ThreadID(bits: bits(13)), ThreadID(bits: bits(14)), MessageID(bits: bits(15)))
        guard let payload = CustomPayload("{\"a\":[1]}") else { preconditionFailure("the text is JSON") }
        return ShortHistory(
            name: "pins-locks-and-custom",
            setup: users + [
                .openThread(thread: thread, name: "Garden", by: maya),
                .postMessage(message: message, thread: thread, author: maya, body: "x"),
                .pin(message: message, by: maya),
                .react(.message(message), by: maya, emoji: "👍"),
                .custom(
                    id: CustomEventID(bits: bits(16)), kind: "com.example.poll", thread: thread, by: maya,
                    payload: payload),
                .lockThread(thread: thread, by: maya),
                .openThread(thread: closed, name: "Old", by: om, history: .sinceJoining),
                .closeThread(thread: closed, by: om),
            ],
            endings: [
                .unlockThread(thread: thread, by: maya), .unpin(message: message, by: maya),
                .unreact(.message(message), by: maya, emoji: "👍"), .joinThread(user: zoe, thread: thread),
            ])
    }
}
