extension ChatCommand {
    /// The user who acts, as the command names them; nil for a command without an acting user.
    ///
    /// A server compares it with the user of the session. Every command is listed, so that a new one
    /// cannot be forgotten here.
    package var actor: UserID? {
        switch self {
        case .registerUser, .endSession, .grantOperator, .revokeOperator: nil
        case .changeUsername(let user, _), .setPostcode(let user, _), .joinThread(let user, _), .leaveThread(let user, _),
            .markRead(let user, _, _), .startSession(let user, _, _), .acceptInvitation(let user, _), .declineInvitation(let user, _):
            user
        case .postMessage(_, _, let author, _), .reply(_, _, let author, _): author
        case .edit(_, let by, _), .retract(_, let by), .remove(_, let by, _), .report(_, let by, _), .resolveReport(_, let by),
            .pin(_, let by), .unpin(_, let by), .lockThread(_, let by), .unlockThread(_, let by), .closeThread(_, let by),
            .block(_, let by), .unblock(_, let by):
            by
        case .openThread(_, _, let by, _, _), .setThreadPolicy(_, _, _, let by), .invite(_, _, let by), .revokeInvitation(_, _, let by),
            .setRole(_, _, _, let by),
            .mute(_, _, let by, _, _), .unmute(_, _, let by), .ban(_, _, let by, _, _), .unban(_, _, let by),
            .removeMember(_, _, let by, _), .custom(_, _, _, let by, _):
            by
        }
    }
}
