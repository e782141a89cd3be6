import ChatDomain

/// One command of each kind, of the same acting user.
enum CommandSamples {
    static let actor = UserID(bits: 0x0189_0a5d_ac96_774b_bcce_b302_0990_0001)
    static let other = UserID(bits: 0x0189_0a5d_ac96_774b_bcce_b302_0990_0002)
    static let thread = ThreadID(bits: 0x0189_0a5d_ac96_774b_bcce_b302_0990_0003)
    static let message = MessageID(bits: 0x0189_0a5d_ac96_774b_bcce_b302_0990_0004)
    static let reply = ReplyID(bits: 0x0189_0a5d_ac96_774b_bcce_b302_0990_0005)
    static let session = SessionID(bits: 0x0189_0a5d_ac96_774b_bcce_b302_0990_0006)
    static let custom = CustomEventID(bits: 0x0189_0a5d_ac96_774b_bcce_b302_0990_0007)

    static func all(by actor: UserID = actor) -> [ChatCommand] {
        [
            .registerUser(id: actor, username: "Ann"), .changeUsername(username: "Ann", by: actor),
            .setPostcode(postcode: "SW1A 1AA", by: actor), .openThread(id: thread, name: "x", by: actor),
            .openDirect(id: thread, with: [other], by: actor), .renameThread(thread: thread, name: "y", by: actor),
            .joinThread(thread: thread, by: actor), .leaveThread(thread: thread, by: actor),
            .postMessage(id: message, thread: thread, body: "x", by: actor),
            .reply(id: reply, to: message, body: "x", by: actor),
            .edit(.message(message), body: "y", by: actor),
            .edit(.reply(reply), body: "y", by: actor), .retract(.message(message), by: actor),
            .retract(.reply(reply), by: actor),
            .markRead(thread: thread, upTo: 3, seen: 4, by: actor), .startSession(id: session, device: "d", by: actor),
            .markUnread(thread: thread, from: 2, seen: 0, by: actor),
            .setNotifications(thread: thread, level: .mentions, by: actor),
            .markInboxRead(upTo: 3, by: actor), .setProfile(about: "x", by: actor),
            .endSession(session: session), .invite(user: other, thread: thread, by: actor),
            .acceptInvitation(thread: thread, by: actor), .declineInvitation(thread: thread, by: actor),
            .revokeInvitation(user: other, thread: thread, by: actor),
            .setRole(user: other, thread: thread, role: .moderator, by: actor),
            .grantOperator(user: actor), .revokeOperator(user: actor),
            .remove(.message(message), reason: "r", by: actor),
            .mute(user: other, thread: thread, reason: "r", by: actor), .unmute(user: other, thread: thread, by: actor),
            .ban(user: other, thread: thread, reason: "r", by: actor), .unban(user: other, thread: thread, by: actor),
            .removeMember(user: other, thread: thread, reason: "r", by: actor), .pin(message: message, by: actor),
            .unpin(message: message, by: actor), .lockThread(thread: thread, by: actor),
            .unlockThread(thread: thread, by: actor),
            .closeThread(thread: thread, by: actor), .setThreadPolicy(thread: thread, policy: .inviteOnly, by: actor),
            .setThreadPolicy(thread: thread, policy: .open, history: .sinceJoining, by: actor),
            .report(.reply(reply), reason: "r", by: actor),
            .resolveReport(.message(message), by: actor), .block(user: other, by: actor),
            .unblock(user: other, by: actor),
            .react(.message(message), emoji: "👍", seen: 5, by: actor),
            .unreact(.reply(reply), emoji: ":x:", seen: 6, by: actor),
            .custom(
                id: custom, kind: "com.example.poll", thread: thread, payload: CustomPayload(unchecked: "[1.50,2]"),
                by: actor),
        ]
    }

    /// The key of a command in JSON and the field that names who acts; nil if no field does.
    ///
    /// Every command is listed, so that a new one gets a sample.
    static func fields(of command: ChatCommand) -> (key: String, acting: String?) {
        switch command.kind {
        case .registerUser: ("registerUser", nil)
        case .changeUsername: ("changeUsername", "user")
        case .setPostcode: ("setPostcode", "user")
        case .openThread: ("openThread", "by")
        case .openDirect: ("openDirect", "by")
        case .renameThread: ("renameThread", "by")
        case .joinThread: ("joinThread", "user")
        case .leaveThread: ("leaveThread", "user")
        case .postMessage: ("postMessage", "author")
        case .reply: ("reply", "author")
        case .edit: ("edit", "by")
        case .retract: ("retract", "by")
        case .markRead: ("markRead", "user")
        case .markUnread: ("markUnread", "user")
        case .setNotifications: ("setNotifications", "user")
        case .markInboxRead: ("markInboxRead", "user")
        case .setProfile: ("setProfile", "user")
        case .startSession: ("startSession", "user")
        case .endSession: ("endSession", nil)
        case .invite: ("invite", "by")
        case .acceptInvitation: ("acceptInvitation", "user")
        case .declineInvitation: ("declineInvitation", "user")
        case .revokeInvitation: ("revokeInvitation", "by")
        case .setRole: ("setRole", "by")
        case .grantOperator: ("grantOperator", nil)
        case .revokeOperator: ("revokeOperator", nil)
        case .remove: ("remove", "by")
        case .mute: ("mute", "by")
        case .unmute: ("unmute", "by")
        case .ban: ("ban", "by")
        case .unban: ("unban", "by")
        case .removeMember: ("removeMember", "by")
        case .pin: ("pin", "by")
        case .unpin: ("unpin", "by")
        case .lockThread: ("lockThread", "by")
        case .unlockThread: ("unlockThread", "by")
        case .closeThread: ("closeThread", "by")
        case .setThreadPolicy: ("setThreadPolicy", "by")
        case .report: ("report", "by")
        case .resolveReport: ("resolveReport", "by")
        case .block: ("block", "by")
        case .unblock: ("unblock", "by")
        case .react: ("react", "by")
        case .unreact: ("unreact", "by")
        case .custom: ("custom", "by")
        }
    }

    /// The number of kinds in ``fields(of:)``.
    static let kindCount = 45
}
