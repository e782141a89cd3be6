import ChatDomain

/// The setup of one cell of `DecisionTable.md`, and the outcome of the cell's command.
class DecisionScene {
    /// The columns of the tables of threads.
    static let states = [
        "stranger", "invited", "member", "muted", "banned", "moderator", "owner", "operator", "former invited", "former member",
        "former muted", "former banned", "former moderator", "former owner", "former operator",
    ]
    static let reason = "Against the rules of the street"
    static let later = Timestamp(millisecondsSince1970: 253_402_214_400_000)
    static let past = Timestamp(millisecondsSince1970: 946_684_800_000)
    static let elsewhere = "M1 1AE"

    /// A cell that cannot occur.
    struct NotApplicable: Error {}

    /// A command of a setup that appends nothing.
    struct InvalidSetup: Error {
        var command: ChatCommand
        var outcome: String
    }

    private var state = ChatState()
    private var lastID: UInt128 = 0

    func newID<ID: EntityID>() -> ID {
        lastID += 1
        return ID(bits: lastID)
    }

    /// Executes a command; returns its outcome in the words of the page.
    @discardableResult
    func attempt(_ command: ChatCommand) -> String {
        let now = Timestamp(millisecondsSince1970: 1_700_000_000_000 + Int64(state.head))
        do throws(Rejection) {
            guard case .append(let events) = try state.decide(CommandRequest(command), at: now, freshID: 1 << 100) else { return "-" }
            for event in events { state.evolve(event, at: state.head + 1) }
            return "ok"
        } catch {
            return error.code.rawValue
        }
    }

    /// Executes a command of the setup, which must append events.
    func execute(_ command: ChatCommand) throws {
        let outcome = attempt(command)
        if outcome != "ok" { throw InvalidSetup(command: command, outcome: outcome) }
    }

    func register(_ name: String) throws -> UserID {
        let user: UserID = newID()
        try execute(.registerUser(user: user, username: name))
        return user
    }
}

/// The setup of a cell for an acting user and a thread.
///
/// The page describes the users, the posts and the states.
final class DecisionThreadScene: DecisionScene {
    private static let neverMembers = ["stranger", "invited", "operator", "former invited", "former operator"]
    private static let openers = ["owner", "former owner"]
    private static let leavers = ["banned", "former member", "former banned"]

    let kind: String
    let userState: String
    private var livingHere: Set<UserID> = []
    private var takesInvitedOnly = false
    /// The owner, until the moderator has the role.
    private var inviter = UserID(bits: 0)

    private(set) var actor = UserID(bits: 0)
    private(set) var host = UserID(bits: 0)
    private(set) var member = UserID(bits: 0)
    private(set) var moderator = UserID(bits: 0)
    private(set) var stranger = UserID(bits: 0)
    private(set) var communityOperator = UserID(bits: 0)
    private(set) var thread = ThreadID(bits: 0)
    private(set) var message = MessageID(bits: 0)
    private(set) var reply = ReplyID(bits: 0)
    private(set) var moderatorsMessage = MessageID(bits: 0)
    private(set) var own = MessageID(bits: 0)
    private(set) var ownReply = ReplyID(bits: 0)
    var knownID = CustomEventID(bits: 0)
    var firstPin = MessageID(bits: 0)
    var hostsMessage = MessageID(bits: 0)
    var laterMessage = MessageID(bits: 0)
    var replyToLater = ReplyID(bits: 0)
    var laterReply = ReplyID(bits: 0)

    private var isOutward: Bool { kind == "residents" }

    /// Whether the acting user is a member, which the setup knows without the rules.
    var isMember: Bool { !(Self.neverMembers + Self.leavers).contains(userState) }

    let here = "SW1A 1AA"

    /// Executes the setup and the command of a cell; returns the outcome.
    static func outcome(thread: String, state: String, row: DecisionRow) throws -> String {
        do {
            let scene = try DecisionThreadScene(thread, state, row)
            return scene.attempt(row.command(scene))
        } catch is NotApplicable {
            return "n/a"
        }
    }

    private init(_ kind: String, _ state: String, _ row: DecisionRow) throws {
        self.kind = kind
        userState = state
        super.init()
        if isOutward, Self.openers.contains(state) { throw NotApplicable() }
        if row.needsOwnPosts, Self.neverMembers.contains(state) { throw NotApplicable() }
        if row.asOnlyOwner, state != "owner" { throw NotApplicable() }
        if row.withoutOwner, state == "owner" { throw NotApplicable() }
        actor = try register("actor")
        host = try register("host")
        member = try register("member")
        moderator = try register("moderator")
        stranger = try register("stranger")
        communityOperator = try register("operator")
        try execute(.grantOperator(user: communityOperator))
        try openThread(row)
        (message, reply, moderatorsMessage) = (newID(), newID(), newID())
        try post(message, by: member)
        try postReply(reply, to: message, by: member)
        try post(moderatorsMessage, by: moderator)
        if !Self.neverMembers.contains(state) {
            try becomeMember(row)
        } else if isOutward {
            try moveInWithoutJoining()
        }
        try enterState()
        if row.withoutOwner, !isOutward { try endMembership(of: host) }
        try row.before(self)
        if kind == "locked" { try lock() }
        if kind == "closed" { try close() }
        try row.late(self)
    }

    // MARK: Steps of every setup

    private func openThread(_ row: DecisionRow) throws {
        if isOutward {
            guard let code = OutwardCode("SW1A") else { preconditionFailure("SW1A is an outward code") }
            thread = ThreadID(code)
            for user in [host, member, moderator] { try join(user) }
            try setRole(of: moderator, .moderator, by: communityOperator)
            inviter = moderator
            return
        }
        thread = newID()
        let opener = Self.openers.contains(userState) ? actor : host
        (inviter, takesInvitedOnly) = (opener, kind == "inviteOnly")
        try execute(
            .openThread(
                thread: thread, name: "A thread", by: opener, policy: kind == "inviteOnly" ? .inviteOnly : .open,
                history: row.isSinceJoining ? .sinceJoining : .all))
        for user in [host, member, moderator] where user != opener { try join(user) }
        if opener == actor, !row.asOnlyOwner { try setRole(of: host, .owner, by: actor) }
        try setRole(of: moderator, .moderator, by: opener)
        inviter = moderator
    }

    private func becomeMember(_ row: DecisionRow) throws {
        let isOpener = Self.openers.contains(userState)
        if !isOpener { try join(actor) }
        (own, ownReply) = (newID(), newID())
        try post(own, by: actor)
        try postReply(ownReply, to: own, by: actor)
        try row.early(self)
        guard row.isSinceJoining else { return }
        try execute(.leaveThread(user: actor, thread: thread))
        try join(actor)
        if isOpener { try setRole(of: actor, .owner, by: host) }
    }

    private func enterState() throws {
        let superior = isOutward ? communityOperator : host
        switch userState {
        case "invited", "former invited": try invite(actor)
        case "muted", "former muted": try mute(actor)
        case "banned", "former banned": try ban(actor)
        case "moderator", "former moderator": try setRole(of: actor, .moderator, by: superior)
        case "operator", "former operator": try execute(.grantOperator(user: actor))
        default: break
        }
        switch userState {
        case "former invited": try execute(.revokeInvitation(user: actor, thread: thread, by: communityOperator))
        case "former member": try execute(.leaveThread(user: actor, thread: thread))
        case "former muted": try execute(.unmute(user: actor, thread: thread, by: communityOperator))
        case "former banned": try execute(.unban(user: actor, thread: thread, by: communityOperator))
        case "former moderator": try setRole(of: actor, .member, by: superior)
        case "former owner": try setRole(of: actor, .member, by: actor)
        case "former operator": try execute(.revokeOperator(user: actor))
        default: break
        }
    }

    // MARK: Steps that rows use

    func join(_ user: UserID) throws {
        if isOutward, livingHere.insert(user).inserted {
            try execute(.setPostcode(user: user, postcode: here))
        } else if takesInvitedOnly {
            try invite(user)
            try execute(.acceptInvitation(user: user, thread: thread))
        } else {
            try execute(.joinThread(user: user, thread: thread))
        }
    }

    /// The acting user leaves, if a member, and joins again, if not banned.
    func joinAnew() throws {
        if isMember { try execute(.leaveThread(user: actor, thread: thread)) }
        if userState != "banned" { try join(actor) }
    }

    private func moveInWithoutJoining() throws {
        try lock()
        livingHere.insert(actor)
        try execute(.setPostcode(user: actor, postcode: here))
        try execute(.unlockThread(thread: thread, by: communityOperator))
    }

    func moveOut() throws { try execute(.setPostcode(user: actor, postcode: Self.elsewhere)) }

    func moveIn() throws { try execute(.setPostcode(user: actor, postcode: here)) }

    func invite(_ user: UserID) throws { try execute(.invite(user: user, thread: thread, by: inviter)) }

    /// The owner sets the policy.
    func setPolicy(_ policy: ThreadPolicy, _ history: ThreadHistory? = nil) throws {
        try execute(.setThreadPolicy(thread: thread, policy: policy, history: history, by: host))
        takesInvitedOnly = policy == .inviteOnly
    }

    func setRole(of user: UserID, _ role: ThreadRole, by other: UserID) throws {
        try execute(.setRole(user: user, thread: thread, role: role, by: other))
    }

    func mute(_ user: UserID, until: Timestamp? = nil) throws {
        try execute(.mute(user: user, thread: thread, by: communityOperator, reason: Self.reason, until: until))
    }

    func ban(_ user: UserID, until: Timestamp? = nil) throws {
        try execute(.ban(user: user, thread: thread, by: communityOperator, reason: Self.reason, until: until))
    }

    private func endMembership(of user: UserID) throws {
        try execute(.removeMember(user: user, thread: thread, by: communityOperator, reason: Self.reason))
    }

    func post(_ message: MessageID, by author: UserID) throws {
        try execute(.postMessage(message: message, thread: thread, author: author, body: "Hello"))
    }

    func postReply(_ reply: ReplyID, to message: MessageID, by author: UserID) throws {
        try execute(.reply(reply: reply, message: message, author: author, body: "Hello again"))
    }

    func remove(_ message: MessageID) throws { try execute(.remove(.message(message), by: communityOperator, reason: Self.reason)) }

    func pin(_ message: MessageID) throws { try execute(.pin(message: message, by: communityOperator)) }

    func unpin(_ message: MessageID) throws { try execute(.unpin(message: message, by: communityOperator)) }

    func report(_ post: PostID, by user: UserID) throws { try execute(.report(post, by: user, reason: Self.reason)) }

    func resolveReport() throws { try execute(.resolveReport(.message(message), by: communityOperator)) }

    func lock() throws { try execute(.lockThread(thread: thread, by: communityOperator)) }

    func close() throws { try execute(.closeThread(thread: thread, by: communityOperator)) }

    func muteActor() throws { if userState != "muted" { try mute(actor) } }

    func banActor() throws { if userState != "banned" { try ban(actor) } }

    /// Pins 50 messages of the member; ``firstPin`` is the first of them.
    func pinFifty() throws {
        for number in 0..<50 {
            let message: MessageID = newID()
            if number == 0 { firstPin = message }
            try post(message, by: member)
            try pin(message)
        }
    }

    func inviteIfPossible() throws { if userState != "invited", userState != "banned", !isMember { try invite(actor) } }

    func inviteAndDecline() throws {
        try inviteIfPossible()
        if userState != "banned", !isMember { try execute(.declineInvitation(user: actor, thread: thread)) }
    }

    /// A ban ends an invitation of the acting user, and then the ban is ended.
    func endInvitationByBan() throws {
        try inviteIfPossible()
        try banActor()
        try execute(.unban(user: actor, thread: thread, by: communityOperator))
    }

    /// The member posts after the acting user joined: a message, a reply to it, and a reply to the
    /// first message.
    func postLater() throws {
        (laterMessage, replyToLater, laterReply) = (newID(), newID(), newID())
        try post(laterMessage, by: member)
        try postReply(replyToLater, to: laterMessage, by: member)
        try postReply(laterReply, to: message, by: member)
    }
}
