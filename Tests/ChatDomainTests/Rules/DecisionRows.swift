import ChatDomain

/// A row of a table of `DecisionTable.md`: its command, and what its setup adds to that of the
/// state.
struct DecisionRow {
    typealias Scene = DecisionThreadScene
    typealias Step = (Scene) throws -> Void

    let name: String
    /// Happens while the acting user is a member, before the state is entered.
    var early: Step = { _ in }
    /// Happens before the thread is locked or closed.
    var before: Step = { _ in }
    /// Happens after the thread is locked or closed.
    var late: Step = { _ in }
    /// Whether the row needs a post or a report of the acting user.
    var needsOwnPosts = false
    var asOnlyOwner = false
    var withoutOwner = false
    /// Whether the thread has the history `sinceJoining`.
    var isSinceJoining = false
    /// Replaces the thread of the table.
    var thread: String?
    let command: (Scene) -> ChatCommand

    init(
        _ name: String, early: @escaping Step = { _ in }, before: @escaping Step = { _ in }, late: @escaping Step = { _ in },
        needsOwnPosts: Bool = false, asOnlyOwner: Bool = false, withoutOwner: Bool = false, thread: String? = nil,
        _ command: @escaping (Scene) -> ChatCommand
    ) {
        (self.name, self.early, self.before, self.late) = (name, early, before, late)
        (self.needsOwnPosts, self.asOnlyOwner, self.withoutOwner) = (needsOwnPosts, asOnlyOwner, withoutOwner)
        (self.thread, self.command) = (thread, command)
    }

    /// A row that needs a post or a report of the acting user.
    static func own(
        _ name: String, early: @escaping Step = { _ in }, before: @escaping Step = { _ in }, late: @escaping Step = { _ in },
        _ command: @escaping (Scene) -> ChatCommand
    ) -> DecisionRow {
        DecisionRow(name, early: early, before: before, late: late, needsOwnPosts: true, command)
    }

    /// A row of a thread with the history `sinceJoining`.
    static func past(
        _ name: String, before: @escaping Step = { _ in }, late: @escaping Step = { _ in }, needsOwnPosts: Bool = false,
        _ command: @escaping (Scene) -> ChatCommand
    ) -> DecisionRow {
        var row = DecisionRow(name, before: before, late: late, needsOwnPosts: needsOwnPosts, command)
        row.isSinceJoining = true
        return row
    }
}

// MARK: Shorter forms for the rows

extension DecisionThreadScene {
    /// A message by the acting user with a new id.
    func posting(_ body: String = "Milk?", in thread: ThreadID? = nil) -> ChatCommand {
        .postMessage(message: newID(), thread: thread ?? self.thread, author: actor, body: body)
    }

    /// A reply by the acting user with a new id.
    func replying(to message: MessageID? = nil, _ body: String = "Yes") -> ChatCommand {
        .reply(reply: newID(), message: message ?? self.message, author: actor, body: body)
    }

    func editing(_ post: PostID, _ body: String = "Milk and bread?") -> ChatCommand { .edit(post, by: actor, body: body) }

    func removing(_ post: PostID, _ reason: String = reason) -> ChatCommand { .remove(post, by: actor, reason: reason) }

    func reporting(_ post: PostID, _ reason: String = reason) -> ChatCommand { .report(post, by: actor, reason: reason) }

    func inviting(_ user: UserID) -> ChatCommand { .invite(user: user, thread: thread, by: actor) }

    func setting(_ policy: ThreadPolicy, _ history: ThreadHistory? = nil) -> ChatCommand {
        .setThreadPolicy(thread: thread, policy: policy, history: history, by: actor)
    }

    func giving(_ role: ThreadRole, to user: UserID) -> ChatCommand { .setRole(user: user, thread: thread, role: role, by: actor) }

    func muting(_ user: UserID, _ reason: String = reason, until: Timestamp? = nil) -> ChatCommand {
        .mute(user: user, thread: thread, by: actor, reason: reason, until: until)
    }

    func unmuting(_ user: UserID) -> ChatCommand { .unmute(user: user, thread: thread, by: actor) }

    func banning(_ user: UserID, _ reason: String = reason, until: Timestamp? = nil) -> ChatCommand {
        .ban(user: user, thread: thread, by: actor, reason: reason, until: until)
    }

    func unbanning(_ user: UserID) -> ChatCommand { .unban(user: user, thread: thread, by: actor) }

    func removingMember(_ user: UserID, _ reason: String = reason) -> ChatCommand {
        .removeMember(user: user, thread: thread, by: actor, reason: reason)
    }

    func custom(
        _ id: CustomEventID? = nil, by user: UserID? = nil, kind: String = "org.example.poll", payload: String = "{\"question\":\"Tea?\"}"
    )
        -> ChatCommand
    {
        guard let payload = CustomPayload(payload) else { preconditionFailure("\(payload) is not JSON") }
        return .custom(id: id ?? newID(), kind: kind, thread: thread, by: user ?? actor, payload: payload)
    }

    /// Executes a custom command whose id is ``knownID``.
    func sendCustom(by user: UserID) throws {
        knownID = newID()
        try execute(custom(knownID, by: user))
    }

    func retractMessage() throws { try execute(.retract(.message(message), by: member)) }

    func retractOwn() throws { try execute(.retract(.message(own), by: actor)) }
}

// MARK: Rows

extension DecisionRow {
    private static let later = DecisionScene.later
    private static let past = DecisionScene.past
    private static let blank = " \n "
    private static let unknown: UInt128 = 0xFFFF << 96

    /// The rows of the table of a thread.
    static func main(thread: String) -> [DecisionRow] {
        let isNamed = thread != "residents"
        return people(isNamed) + invitations(isNamed) + roles(isNamed) + posts + sanctions(isNamed) + removals(isNamed) + settings
            + policies(isNamed)
    }

    private static func people(_ isNamed: Bool) -> [DecisionRow] {
        var rows: [DecisionRow] = [
            DecisionRow("`changeUsername`") { .changeUsername(user: $0.actor, username: "renamed") },
            DecisionRow("`setPostcode` to another outward code") { .setPostcode(user: $0.actor, postcode: Scene.elsewhere) },
        ]
        if !isNamed {
            rows += [
                DecisionRow("`setPostcode` into the outward code", before: { try $0.moveOut() }) {
                    .setPostcode(user: $0.actor, postcode: $0.here)
                },
                DecisionRow(
                    "`leaveThread` after moving into the outward code", before: { try $0.moveOut() }, late: { try $0.moveIn() }
                ) { .leaveThread(user: $0.actor, thread: $0.thread) },
            ]
        }
        rows += [
            DecisionRow("`openThread`") { .openThread(thread: $0.newID(), name: "Another thread", by: $0.actor) },
            DecisionRow("`joinThread`") { .joinThread(user: $0.actor, thread: $0.thread) },
        ]
        if !isNamed {
            rows.append(
                DecisionRow("`joinThread` (lives elsewhere)", before: { try $0.moveOut() }) {
                    .joinThread(user: $0.actor, thread: $0.thread)
                })
        }
        rows.append(DecisionRow("`leaveThread`") { .leaveThread(user: $0.actor, thread: $0.thread) })
        if isNamed {
            rows.append(
                DecisionRow("`leaveThread` as the only owner", asOnlyOwner: true) { .leaveThread(user: $0.actor, thread: $0.thread) })
        }
        return rows + [
            DecisionRow("`markRead`") { .markRead(user: $0.actor, thread: $0.thread, upTo: 1) },
            own("`markRead` again", early: { try $0.execute(.markRead(user: $0.actor, thread: $0.thread, upTo: 1)) }) {
                .markRead(user: $0.actor, thread: $0.thread, upTo: 1)
            },
        ]
    }

    private static func invitations(_ isNamed: Bool) -> [DecisionRow] {
        var rows: [DecisionRow] = [
            DecisionRow("`invite` a stranger") { $0.inviting($0.stranger) },
            DecisionRow("`invite` a member") { $0.inviting($0.member) },
            DecisionRow("`invite` an invited user", before: { try $0.invite($0.stranger) }) { $0.inviting($0.stranger) },
            DecisionRow("`invite` a banned user", before: { try $0.ban($0.stranger) }) { $0.inviting($0.stranger) },
            DecisionRow("`invite` an operator") { $0.inviting($0.communityOperator) },
            DecisionRow("`invite` oneself") { $0.inviting($0.actor) },
        ]
        if isNamed {
            rows += [
                DecisionRow("`invite` a stranger without an owner", withoutOwner: true) { $0.inviting($0.stranger) },
                DecisionRow("`invite` an operator without an owner", withoutOwner: true) { $0.inviting($0.communityOperator) },
                DecisionRow("`invite` oneself without an owner", withoutOwner: true) { $0.inviting($0.actor) },
            ]
        }
        rows.append(DecisionRow("`acceptInvitation`") { .acceptInvitation(user: $0.actor, thread: $0.thread) })
        if !isNamed {
            rows.append(
                DecisionRow("`acceptInvitation` (lives elsewhere)", before: { try $0.moveOut() }) {
                    .acceptInvitation(user: $0.actor, thread: $0.thread)
                })
        }
        return rows + [
            DecisionRow("`declineInvitation`") { .declineInvitation(user: $0.actor, thread: $0.thread) },
            DecisionRow("`revokeInvitation` of an invited user", before: { try $0.invite($0.stranger) }) {
                .revokeInvitation(user: $0.stranger, thread: $0.thread, by: $0.actor)
            },
            DecisionRow("`revokeInvitation` of a stranger") { .revokeInvitation(user: $0.stranger, thread: $0.thread, by: $0.actor) },
        ]
    }

    private static func roles(_ isNamed: Bool) -> [DecisionRow] {
        var rows: [DecisionRow] = [
            DecisionRow("`setRole` of a member to moderator") { $0.giving(.moderator, to: $0.member) },
            DecisionRow("`setRole` of a member to owner") { $0.giving(.owner, to: $0.member) },
            DecisionRow("`setRole` of a moderator to member") { $0.giving(.member, to: $0.moderator) },
            DecisionRow("`setRole` of a moderator to moderator") { $0.giving(.moderator, to: $0.moderator) },
        ]
        if isNamed { rows.append(DecisionRow("`setRole` of an owner to member") { $0.giving(.member, to: $0.host) }) }
        rows += [
            DecisionRow("`setRole` of a stranger to moderator") { $0.giving(.moderator, to: $0.stranger) },
            DecisionRow("`setRole` of oneself to member") { $0.giving(.member, to: $0.actor) },
            DecisionRow("`setRole` of oneself to moderator") { $0.giving(.moderator, to: $0.actor) },
            DecisionRow("`setRole` of oneself to owner") { $0.giving(.owner, to: $0.actor) },
        ]
        guard isNamed else { return rows }
        return rows + [
            DecisionRow("`setRole` of oneself to member as the only owner", asOnlyOwner: true) { $0.giving(.member, to: $0.actor) },
            DecisionRow("`setRole` of oneself to owner as the only owner", asOnlyOwner: true) { $0.giving(.owner, to: $0.actor) },
            DecisionRow("`setRole` of a member to moderator without an owner", withoutOwner: true) { $0.giving(.moderator, to: $0.member) },
            DecisionRow("`setRole` of a member to owner without an owner", withoutOwner: true) { $0.giving(.owner, to: $0.member) },
            DecisionRow("`setRole` of oneself to owner without an owner", withoutOwner: true) { $0.giving(.owner, to: $0.actor) },
        ]
    }

    private static var posts: [DecisionRow] {
        [
            DecisionRow("`postMessage`") { $0.posting() },
            own("`postMessage` repeated") { .postMessage(message: $0.own, thread: $0.thread, author: $0.actor, body: "Milk?") },
            DecisionRow("`reply` to a member") { $0.replying() },
            own("`reply` repeated") { .reply(reply: $0.ownReply, message: $0.own, author: $0.actor, body: "Yes") },
            own("`edit` an own message") { $0.editing(.message($0.own)) },
            own("`edit` an own reply") { $0.editing(.reply($0.ownReply)) },
            DecisionRow("`edit` a member's message") { $0.editing(.message($0.message)) },
            own("`retract` an own message") { .retract(.message($0.own), by: $0.actor) },
            DecisionRow("`retract` a member's message") { .retract(.message($0.message), by: $0.actor) },
            DecisionRow("`custom`") { $0.custom() },
            own("`custom` repeated", early: { try $0.sendCustom(by: $0.actor) }) { $0.custom($0.knownID) },
            DecisionRow("`remove` a member's message") { $0.removing(.message($0.message)) },
            DecisionRow("`remove` a moderator's message") { $0.removing(.message($0.moderatorsMessage)) },
            own("`remove` an own message") { $0.removing(.message($0.own)) },
            DecisionRow("`remove` a removed message", before: { try $0.remove($0.message) }) { $0.removing(.message($0.message)) },
        ]
    }

    private static func sanctions(_ isNamed: Bool) -> [DecisionRow] {
        var rows: [DecisionRow] = [
            DecisionRow("`mute` a member") { $0.muting($0.member) }, DecisionRow("`mute` a moderator") { $0.muting($0.moderator) },
        ]
        if isNamed { rows.append(DecisionRow("`mute` an owner") { $0.muting($0.host) }) }
        rows += [
            DecisionRow("`mute` a stranger") { $0.muting($0.stranger, until: later) },
            DecisionRow("`mute` oneself") { $0.muting($0.actor, until: later) },
            DecisionRow("`mute` a muted member until the same time", before: { try $0.mute($0.member, until: later) }) {
                $0.muting($0.member, until: later)
            },
            DecisionRow("`unmute` a muted member", before: { try $0.mute($0.member, until: later) }) { $0.unmuting($0.member) },
            DecisionRow("`unmute` a muted moderator", before: { try $0.mute($0.moderator) }) { $0.unmuting($0.moderator) },
            DecisionRow("`unmute` a member who is not muted") { $0.unmuting($0.member) },
            DecisionRow("`unmute` a moderator who is not muted") { $0.unmuting($0.moderator) },
            DecisionRow("`unmute` oneself after a mute", before: { try $0.muteActor() }) { $0.unmuting($0.actor) },
            DecisionRow("`ban` a member") { $0.banning($0.member) }, DecisionRow("`ban` a moderator") { $0.banning($0.moderator) },
        ]
        if isNamed { rows.append(DecisionRow("`ban` an owner") { $0.banning($0.host) }) }
        rows += [
            DecisionRow("`ban` a stranger") { $0.banning($0.stranger, until: later) },
            DecisionRow("`ban` oneself") { $0.banning($0.actor, until: later) },
        ]
        if isNamed { rows.append(DecisionRow("`ban` oneself as the only owner", asOnlyOwner: true) { $0.banning($0.actor, until: later) }) }
        return rows + [
            DecisionRow("`ban` a banned user until the same time", before: { try $0.ban($0.stranger, until: later) }) {
                $0.banning($0.stranger, until: later)
            },
            DecisionRow("`unban` a banned user", before: { try $0.ban($0.stranger) }) { $0.unbanning($0.stranger) },
            DecisionRow("`unban` a user who is not banned") { $0.unbanning($0.stranger) },
            DecisionRow("`unban` a moderator who is not banned") { $0.unbanning($0.moderator) },
            DecisionRow("`unban` oneself") { $0.unbanning($0.actor) },
        ]
    }

    private static func removals(_ isNamed: Bool) -> [DecisionRow] {
        var rows: [DecisionRow] = [
            DecisionRow("`removeMember` a member") { $0.removingMember($0.member) },
            DecisionRow("`removeMember` a moderator") { $0.removingMember($0.moderator) },
        ]
        if isNamed { rows.append(DecisionRow("`removeMember` an owner") { $0.removingMember($0.host) }) }
        rows += [
            DecisionRow("`removeMember` a stranger") { $0.removingMember($0.stranger) },
            DecisionRow("`removeMember` oneself") { $0.removingMember($0.actor) },
        ]
        if isNamed {
            rows.append(DecisionRow("`removeMember` oneself as the only owner", asOnlyOwner: true) { $0.removingMember($0.actor) })
        }
        return rows
    }

    private static var settings: [DecisionRow] {
        [
            DecisionRow("`pin` a message") { .pin(message: $0.message, by: $0.actor) },
            DecisionRow("`pin` a pinned message", before: { try $0.pin($0.message) }) { .pin(message: $0.message, by: $0.actor) },
            DecisionRow("`unpin` a pinned message", before: { try $0.pin($0.message) }) { .unpin(message: $0.message, by: $0.actor) },
            DecisionRow("`unpin` a message that is not pinned") { .unpin(message: $0.message, by: $0.actor) },
            DecisionRow("`lockThread`") { .lockThread(thread: $0.thread, by: $0.actor) },
            DecisionRow("`unlockThread`") { .unlockThread(thread: $0.thread, by: $0.actor) },
            DecisionRow("`closeThread`") { .closeThread(thread: $0.thread, by: $0.actor) },
            DecisionRow("`report` a member's message") { $0.reporting(.message($0.message)) },
            own("`report` an own message") { $0.reporting(.message($0.own)) },
            own("`report` a message again", early: { try $0.report(.message($0.message), by: $0.actor) }) {
                $0.reporting(.message($0.message))
            },
            DecisionRow("`resolveReport` of a reported message", before: { try $0.report(.message($0.message), by: $0.moderator) }) {
                .resolveReport(.message($0.message), by: $0.actor)
            },
            DecisionRow("`resolveReport` of a message without a report") { .resolveReport(.message($0.message), by: $0.actor) },
            DecisionRow("`block` a member") { .block(user: $0.member, by: $0.actor) },
            DecisionRow("`block` a blocked member", before: { try $0.execute(.block(user: $0.member, by: $0.actor)) }) {
                .block(user: $0.member, by: $0.actor)
            },
            DecisionRow("`unblock` a blocked member", before: { try $0.execute(.block(user: $0.member, by: $0.actor)) }) {
                .unblock(user: $0.member, by: $0.actor)
            },
            DecisionRow("`unblock` a member who is not blocked") { .unblock(user: $0.member, by: $0.actor) },
        ]
    }

    // MARK: Further cases

    private static func policies(_ isNamed: Bool) -> [DecisionRow] {
        var rows = [
            DecisionRow("`setThreadPolicy` to inviteOnly") { $0.setting(.inviteOnly) },
            DecisionRow("`setThreadPolicy` to open") { $0.setting(.open) },
            DecisionRow("`setThreadPolicy` to inviteOnly and sinceJoining") { $0.setting(.inviteOnly, .sinceJoining) },
            DecisionRow("`setThreadPolicy` to open and all") { $0.setting(.open, .all) },
            DecisionRow("`setThreadPolicy` to residents") { $0.setting(.residents) },
        ]
        if isNamed {
            rows += [
                DecisionRow("`setThreadPolicy` to inviteOnly without an owner", withoutOwner: true) { $0.setting(.inviteOnly) },
                DecisionRow("`setThreadPolicy` to open without an owner", withoutOwner: true) { $0.setting(.open) },
            ]
        }
        return rows
    }

    /// The rows of the table of further cases; the thread is open, or the one that the row names.
    static var further: [DecisionRow] {
        sinceJoining + changedPolicies + gonePosts + limits + lockedAndClosed + invalidFields + invalidReasons
    }

    private static var sinceJoining: [DecisionRow] {
        [
            past("`reply` to a message before the join") { $0.replying() },
            past("`edit` an own message before the join", needsOwnPosts: true) { $0.editing(.message($0.own)) },
            past("`edit` an own reply before the join", needsOwnPosts: true) { $0.editing(.reply($0.ownReply)) },
            past("`pin` a message before the join") { .pin(message: $0.message, by: $0.actor) },
            past("`report` a message before the join") { $0.reporting(.message($0.message)) },
            past("`report` a reply before the join") { $0.reporting(.reply($0.reply)) },
            past("`report` a reply after the join to a message before it", before: { try $0.postLater() }) {
                $0.reporting(.reply($0.laterReply))
            },
            past("`retract` an own message before the join", needsOwnPosts: true) { .retract(.message($0.own), by: $0.actor) },
            past("`remove` a message before the join") { $0.removing(.message($0.message)) },
            past("`unpin` a message before the join", before: { try $0.pin($0.message) }) { .unpin(message: $0.message, by: $0.actor) },
            past("`resolveReport` of a message before the join", before: { try $0.report(.message($0.message), by: $0.moderator) }) {
                .resolveReport(.message($0.message), by: $0.actor)
            },
            past("`reply` to a message before the join in a locked thread", late: { try $0.lock() }) { $0.replying() },
            past("`pin` a message before the join in a closed thread", late: { try $0.close() }) {
                .pin(message: $0.message, by: $0.actor)
            },
            past("`report` a retracted message before the join", before: { try $0.retractMessage() }) {
                $0.reporting(.message($0.message))
            },
            past("`reply` to a message after the join", before: { try $0.postLater() }) { $0.replying(to: $0.laterMessage) },
            past("`pin` a message after the join", before: { try $0.postLater() }) { .pin(message: $0.laterMessage, by: $0.actor) },
            past("`report` a message after the join", before: { try $0.postLater() }) { $0.reporting(.message($0.laterMessage)) },
            past("`report` a reply to a message after the join", before: { try $0.postLater() }) { $0.reporting(.reply($0.replyToLater)) },
        ]
    }

    private static var changedPolicies: [DecisionRow] {
        [
            DecisionRow("`joinThread` after the policy became inviteOnly", before: { try $0.setPolicy(.inviteOnly) }) {
                .joinThread(user: $0.actor, thread: $0.thread)
            },
            DecisionRow("`joinThread` after the policy became open", before: { try $0.setPolicy(.open) }, thread: "inviteOnly") {
                .joinThread(user: $0.actor, thread: $0.thread)
            },
            DecisionRow(
                "`setThreadPolicy` to inviteOnly after the policy became open", before: { try $0.setPolicy(.open) }, thread: "inviteOnly"
            ) { $0.setting(.inviteOnly) },
            DecisionRow(
                "`setThreadPolicy` to open and all after the history became sinceJoining",
                before: { try $0.setPolicy(.open, .sinceJoining) }
            ) { $0.setting(.open, .all) },
            DecisionRow(
                "`setThreadPolicy` to open and sinceJoining after the history became sinceJoining",
                before: { try $0.setPolicy(.open, .sinceJoining) }
            ) { $0.setting(.open, .sinceJoining) },
            DecisionRow(
                "`reply` to an earlier message after the history became sinceJoining", before: { try $0.setPolicy(.open, .sinceJoining) }
            ) { $0.replying() },
            DecisionRow(
                "`reply` to an earlier message after the history became sinceJoining and a new join",
                before: { try $0.setPolicy(.open, .sinceJoining) }, late: { try $0.joinAnew() }
            ) { $0.replying() },
            DecisionRow(
                "`reply` to an earlier message after the policy became open and a new join", before: { try $0.setPolicy(.open) },
                late: { try $0.joinAnew() }, thread: "inviteOnly"
            ) { $0.replying() },
            DecisionRow(
                "`reply` to a later message after the policy became open and a new join",
                before: {
                    try $0.setPolicy(.open)
                    try $0.postLater()
                }, late: { try $0.joinAnew() }, thread: "inviteOnly"
            ) { $0.replying(to: $0.laterMessage) },
            DecisionRow(
                "`remove` an earlier message after the policy became open", before: { try $0.setPolicy(.open) }, thread: "inviteOnly"
            ) { $0.removing(.message($0.message)) },
        ]
    }

    private static var gonePosts: [DecisionRow] {
        [
            DecisionRow("`reply` to a retracted message", before: { try $0.retractMessage() }) { $0.replying() },
            DecisionRow("`reply` to a removed message", before: { try $0.remove($0.message) }) { $0.replying() },
            own("`edit` an own retracted message", before: { try $0.retractOwn() }) { $0.editing(.message($0.own)) },
            own("`edit` an own removed message", before: { try $0.remove($0.own) }) { $0.editing(.message($0.own)) },
            DecisionRow("`edit` a member's retracted message", before: { try $0.retractMessage() }) { $0.editing(.message($0.message)) },
            own("`edit` an own reply to a retracted message", before: { try $0.retractOwn() }) { $0.editing(.reply($0.ownReply)) },
            own("`edit` an own reply to a removed message", before: { try $0.remove($0.own) }) { $0.editing(.reply($0.ownReply)) },
            DecisionRow("`retract` a member's retracted message", before: { try $0.retractMessage() }) {
                .retract(.message($0.message), by: $0.actor)
            },
            own("`retract` a retracted message", before: { try $0.retractOwn() }) { .retract(.message($0.own), by: $0.actor) },
            own("`retract` a removed message", before: { try $0.remove($0.own) }) { .retract(.message($0.own), by: $0.actor) },
            own("`retract` an own reply") { .retract(.reply($0.ownReply), by: $0.actor) },
            DecisionRow("`retract` a member's reply") { .retract(.reply($0.reply), by: $0.actor) },
            DecisionRow("`remove` a retracted message", before: { try $0.retractMessage() }) { $0.removing(.message($0.message)) },
            DecisionRow("`remove` a member's reply") { $0.removing(.reply($0.reply)) },
            DecisionRow("`pin` a retracted message", before: { try $0.retractMessage() }) { .pin(message: $0.message, by: $0.actor) },
            DecisionRow("`pin` a retracted message in a closed thread", before: { try $0.retractMessage() }, late: { try $0.close() }) {
                .pin(message: $0.message, by: $0.actor)
            },
            DecisionRow(
                "`pin` a message that was unpinned",
                before: {
                    try $0.pin($0.message)
                    try $0.unpin($0.message)
                }
            ) { .pin(message: $0.message, by: $0.actor) },
            DecisionRow("`pin` a removed message", before: { try $0.remove($0.message) }) { .pin(message: $0.message, by: $0.actor) },
            own("`pin` an own message") { .pin(message: $0.own, by: $0.actor) },
            DecisionRow(
                "`unpin` a message that was pinned and retracted",
                before: {
                    try $0.pin($0.message)
                    try $0.retractMessage()
                }
            ) { .unpin(message: $0.message, by: $0.actor) },
            DecisionRow(
                "`unpin` a message that was pinned and removed",
                before: {
                    try $0.pin($0.message)
                    try $0.remove($0.message)
                }
            ) { .unpin(message: $0.message, by: $0.actor) },
            DecisionRow("`report` a retracted message", before: { try $0.retractMessage() }) { $0.reporting(.message($0.message)) },
            DecisionRow("`report` a removed message", before: { try $0.remove($0.message) }) { $0.reporting(.message($0.message)) },
            own(
                "`report` a message again after its removal", early: { try $0.report(.message($0.message), by: $0.actor) },
                before: { try $0.remove($0.message) }
            ) { $0.reporting(.message($0.message)) },
            own(
                "`report` a message again after the reports are resolved", early: { try $0.report(.message($0.message), by: $0.actor) },
                before: { try $0.resolveReport() }
            ) { $0.reporting(.message($0.message)) },
            DecisionRow("`report` a message that another user reported", before: { try $0.report(.message($0.message), by: $0.moderator) })
            {
                $0.reporting(.message($0.message))
            },
            DecisionRow("`report` a member's reply") { $0.reporting(.reply($0.reply)) },
            DecisionRow("`resolveReport` of a reported reply", before: { try $0.report(.reply($0.reply), by: $0.moderator) }) {
                .resolveReport(.reply($0.reply), by: $0.actor)
            },
            DecisionRow(
                "`resolveReport` of a reported message that is removed",
                before: {
                    try $0.report(.message($0.message), by: $0.moderator)
                    try $0.remove($0.message)
                }
            ) { .resolveReport(.message($0.message), by: $0.actor) },
        ]
    }

    private static var limits: [DecisionRow] {
        [
            DecisionRow("`pin` with 50 pins", before: { try $0.pinFifty() }) { .pin(message: $0.message, by: $0.actor) },
            DecisionRow("`pin` a pinned message with 50 pins", before: { try $0.pinFifty() }) { .pin(message: $0.firstPin, by: $0.actor) },
            DecisionRow(
                "`pin` with 50 pins, one of them retracted",
                before: {
                    try $0.pinFifty()
                    try $0.execute(.retract(.message($0.firstPin), by: $0.member))
                }
            ) { .pin(message: $0.message, by: $0.actor) },
            DecisionRow(
                "`pin` with 50 pins, one of them removed",
                before: {
                    try $0.pinFifty()
                    try $0.remove($0.firstPin)
                }
            ) { .pin(message: $0.message, by: $0.actor) },
            DecisionRow(
                "`postMessage` after a mute and a new join",
                late: {
                    try $0.muteActor()
                    try $0.joinAnew()
                }
            ) { $0.posting() },
            DecisionRow("`mute` a member after a new join", late: { try $0.joinAnew() }) { $0.muting($0.member) },
            DecisionRow(
                "`acceptInvitation` after an invitation, a ban and its end", before: { try $0.endInvitationByBan() }, thread: "inviteOnly"
            ) { .acceptInvitation(user: $0.actor, thread: $0.thread) },
            DecisionRow(
                "`joinThread` after an invitation, a ban and its end", before: { try $0.endInvitationByBan() }, thread: "inviteOnly"
            ) {
                .joinThread(user: $0.actor, thread: $0.thread)
            },
            DecisionRow("`acceptInvitation` after declining an invitation", before: { try $0.inviteAndDecline() }) {
                .acceptInvitation(user: $0.actor, thread: $0.thread)
            },
            DecisionRow("`mute` a muted member until another time", before: { try $0.mute($0.member, until: later) }) {
                $0.muting($0.member)
            },
            DecisionRow("`ban` a banned user until another time", before: { try $0.ban($0.stranger, until: later) }) {
                $0.banning($0.stranger)
            },
            DecisionRow("`unban` oneself after a ban", before: { try $0.banActor() }) { $0.unbanning($0.actor) },
            DecisionRow("`mute` a muted moderator until the same time", before: { try $0.mute($0.moderator) }) { $0.muting($0.moderator) },
            DecisionRow("`mute` an operator") { $0.muting($0.communityOperator) },
            DecisionRow("`ban` an operator") { $0.banning($0.communityOperator) },
            DecisionRow(
                "`remove` an owner's message",
                before: {
                    $0.hostsMessage = $0.newID()
                    try $0.post($0.hostsMessage, by: $0.host)
                }
            ) { $0.removing(.message($0.hostsMessage)) },
            DecisionRow(
                "`leaveThread` after moving into an outward code whose thread is locked",
                before: {
                    try $0.moveOut()
                    try $0.lock()
                }, late: { try $0.moveIn() }, thread: "residents"
            ) { .leaveThread(user: $0.actor, thread: $0.thread) },
            DecisionRow(
                "`leaveThread` after moving into an outward code whose thread is closed",
                before: {
                    try $0.moveOut()
                    try $0.close()
                }, late: { try $0.moveIn() }, thread: "residents"
            ) { .leaveThread(user: $0.actor, thread: $0.thread) },
            DecisionRow(
                "`block` a member who was unblocked",
                before: {
                    try $0.execute(.block(user: $0.member, by: $0.actor))
                    try $0.execute(.unblock(user: $0.member, by: $0.actor))
                }
            ) { .block(user: $0.member, by: $0.actor) },
            DecisionRow("`block` oneself") { .block(user: $0.actor, by: $0.actor) },
        ]
    }

    private static func lockAndClose(_ scene: Scene) throws {
        try scene.lock()
        try scene.close()
    }

    private static var lockedAndClosed: [DecisionRow] {
        [
            DecisionRow("`joinThread` in a locked and closed thread", late: lockAndClose) {
                .joinThread(user: $0.actor, thread: $0.thread)
            },
            DecisionRow("`acceptInvitation` in a locked and closed thread", late: lockAndClose) {
                .acceptInvitation(user: $0.actor, thread: $0.thread)
            },
            DecisionRow("`postMessage` in a locked and closed thread", late: lockAndClose) { $0.posting() },
            DecisionRow("`reply` in a locked and closed thread", late: lockAndClose) { $0.replying() },
            own("`edit` in a locked and closed thread", late: lockAndClose) { $0.editing(.message($0.own)) },
            DecisionRow("`custom` in a locked and closed thread", late: lockAndClose) { $0.custom() },
        ]
    }

    private static let oversized = "\"" + String(repeating: "x", count: 16_400) + "\""

    private static var invalidFields: [DecisionRow] {
        [
            DecisionRow("`changeUsername` to an invalid name") { .changeUsername(user: $0.actor, username: " ") },
            DecisionRow("`changeUsername` to the name of another user") { .changeUsername(user: $0.actor, username: "host") },
            DecisionRow("`changeUsername` to the current name") { .changeUsername(user: $0.actor, username: "actor") },
            DecisionRow("`setPostcode` to an invalid postcode") { .setPostcode(user: $0.actor, postcode: "SW1A") },
            DecisionRow("`setPostcode` to the same postcode", before: { try $0.moveOut() }) {
                .setPostcode(user: $0.actor, postcode: Scene.elsewhere)
            },
            DecisionRow("`openThread` with the policy residents") {
                .openThread(thread: $0.newID(), name: "Another thread", by: $0.actor, policy: .residents)
            },
            DecisionRow("`openThread` with an invalid name and the policy residents") {
                .openThread(thread: $0.newID(), name: " ", by: $0.actor, policy: .residents)
            },
            DecisionRow("`openThread` with the id of the thread") { .openThread(thread: $0.thread, name: "Another thread", by: $0.actor) },
            DecisionRow("`markRead` after the last position") { .markRead(user: $0.actor, thread: $0.thread, upTo: 1 << 40) },
            DecisionRow("`postMessage` with an invalid body") { $0.posting(blank) },
            DecisionRow("`postMessage` with the id of a member's message") {
                .postMessage(message: $0.message, thread: $0.thread, author: $0.actor, body: "Milk?")
            },
            DecisionRow("`postMessage` in an unknown thread") { $0.posting(in: ThreadID(bits: unknown)) },
            DecisionRow("`reply` with an invalid body") { $0.replying(blank) },
            DecisionRow("`reply` with an invalid body to a retracted message", before: { try $0.retractMessage() }) { $0.replying(blank) },
            DecisionRow("`reply` to an unknown message") { $0.replying(to: MessageID(bits: unknown)) },
            DecisionRow("`reply` with the id of a member's reply") {
                .reply(reply: $0.reply, message: $0.message, author: $0.actor, body: "Yes")
            },
            own("`edit` with an invalid body") { $0.editing(.message($0.own), blank) },
            own("`edit` with an invalid body of a retracted message", before: { try $0.retractOwn() }) {
                $0.editing(.message($0.own), blank)
            },
            DecisionRow("`edit` an unknown reply") { $0.editing(.reply(ReplyID(bits: unknown))) },
            DecisionRow("`custom` with an invalid kind and payload") { $0.custom(kind: "poll", payload: oversized) },
            DecisionRow("`custom` with an invalid payload") { $0.custom(payload: oversized) },
            DecisionRow("`custom` with the id of a member's custom event", before: { try $0.sendCustom(by: $0.member) }) {
                $0.custom($0.knownID)
            },
        ]
    }

    private static var invalidReasons: [DecisionRow] {
        [
            DecisionRow("`remove` with an invalid reason") { $0.removing(.message($0.message), blank) },
            DecisionRow("`remove` a removed message with an invalid reason", before: { try $0.remove($0.message) }) {
                $0.removing(.message($0.message), blank)
            },
            DecisionRow("`mute` with an invalid reason and until") { $0.muting($0.member, blank, until: past) },
            DecisionRow("`mute` a moderator with an invalid reason") { $0.muting($0.moderator, blank) },
            DecisionRow("`mute` with an invalid until") { $0.muting($0.member, until: past) },
            DecisionRow("`mute` until the same time with an invalid reason", before: { try $0.mute($0.member, until: later) }) {
                $0.muting($0.member, blank, until: later)
            },
            DecisionRow("`ban` with an invalid reason and until") { $0.banning($0.member, blank, until: past) },
            DecisionRow("`ban` a moderator with an invalid reason") { $0.banning($0.moderator, blank) },
            DecisionRow("`ban` with an invalid until") { $0.banning($0.member, until: past) },
            DecisionRow("`ban` until the same time with an invalid reason", before: { try $0.ban($0.stranger, until: later) }) {
                $0.banning($0.stranger, blank, until: later)
            },
            DecisionRow("`ban` oneself as the only owner with an invalid reason", asOnlyOwner: true) { $0.banning($0.actor, blank) },
            DecisionRow("`removeMember` with an invalid reason") { $0.removingMember($0.member, blank) },
            DecisionRow("`removeMember` a moderator with an invalid reason") { $0.removingMember($0.moderator, blank) },
            DecisionRow("`removeMember` a stranger with an invalid reason") { $0.removingMember($0.stranger, blank) },
            DecisionRow("`report` with an invalid reason") { $0.reporting(.message($0.message), blank) },
            own("`report` a message again with an invalid reason", early: { try $0.report(.message($0.message), by: $0.actor) }) {
                $0.reporting(.message($0.message), blank)
            },
            DecisionRow("`invite` an unknown user") { $0.inviting(UserID(bits: unknown)) },
            DecisionRow("`pin` an unknown message") { .pin(message: MessageID(bits: unknown), by: $0.actor) },
            DecisionRow("`resolveReport` of an unknown reply") { .resolveReport(.reply(ReplyID(bits: unknown)), by: $0.actor) },
        ]
    }
}
