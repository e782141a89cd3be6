import ChatDomain

/// Invitations, roles and operators, moderation, reports, blocks and custom events.
extension RuleModel {
    // MARK: Conditions

    private func role(_ user: UserID, _ thread: ThreadID) -> ThreadRole? { threads[thread]?.roles[user] }

    private func owners(_ thread: ThreadID) -> Set<UserID> {
        Set(threads[thread]?.roles.filter { $0.value == .owner }.keys ?? [:].keys)
    }

    /// Whether the user is the last owner of a thread that is not closed.
    func isLastOwner(_ user: UserID, _ thread: ThreadID) -> Bool {
        owners(thread) == [user] && threads[thread]?.isClosed == false
    }

    /// Whether a user's sanction is in effect at a time.
    func isInEffect(_ sanctions: [UserID: End], _ user: UserID, at time: Timestamp) -> Bool {
        switch sanctions[user] {
        case nil: false
        case .never: true
        case .at(let end): end > time
        }
    }

    /// Whether the message was posted before what a member may read.
    func isHidden(_ message: Message, from user: UserID) -> Bool {
        guard let thread = threads[message.thread], thread.roles[user] != nil else { return false }
        if operators.contains(user), thread.policy != .inviteOnly, message.position > thread.disclosedAt {
            return false
        }
        return message.position < thread.readingStarts[user] ?? 0
    }

    /// Whether a thread exists for a user: an `inviteOnly` one for its members, for the invited,
    /// and for operators who moderate it.
    func knows(_ user: UserID, _ id: ThreadID, _ draft: Draft, moderating: Bool = false) -> Bool {
        guard let thread = threads[id] else { return false }
        if thread.policy != .inviteOnly || draft.isImport { return true }
        return thread.roles[user] != nil || thread.invited.contains(user) || moderating && operates(user, id)
    }

    /// Whether an operator has rights in a thread: in every one but direct threads.
    func operates(_ user: UserID, _ id: ThreadID) -> Bool { operators.contains(user) && threads[id]?.people == nil }

    /// Throws unless posts are possible in the thread.
    func checkPosting(_ user: UserID, _ id: ThreadID, _ draft: Draft) throws(Refusal) {
        guard let thread = threads[id] else { throw Refusal(code: .unknownThread) }
        try check(!thread.isClosed, .threadClosed)
        try check(!thread.isLocked, .threadLocked)
        if let people = thread.people, people.count == 2 {
            try check(
                blocks[people[0]]?.contains(people[1]) != true && blocks[people[1]]?.contains(people[0]) != true,
                .cannotMessage)
        }
        try check(!isInEffect(thread.mutes, user, at: draft.time), .muted)
    }

    /// Throws unless a user may join the thread, apart from its policy.
    func checkJoining(_ user: UserID, _ thread: Thread, _ draft: Draft) throws(Refusal) {
        try check(!thread.isClosed, .threadClosed)
        try check(!thread.isLocked, .threadLocked)
        try check(!isInEffect(thread.bans, user, at: draft.time), .banned)
    }

    func checkResidence(_ user: UserID, _ id: ThreadID, _ draft: Draft) throws(Refusal) {
        guard threads[id]?.isOutward == true, !draft.isImport else { return }
        try check(users[user]?.postcode.map { ThreadID($0.outwardCode) } == id, .notResident)
    }

    /// Throws unless both users exist, and the first one may act on the other one.
    private func checkUsers(_ by: UserID, _ user: UserID, isBlock: Bool = false, _ draft: Draft) throws(Refusal) {
        try check(users[by] != nil, .unknownUser)
        try check(users[user] != nil, .unknownUser)
        let hasBlocked =
            isBlock
            && journal.contains { $0.kind == .userBlocked && $0.row.userID == by && $0.row.secondID == user.bits }
        try check(draft.isImport || hasBlocked || mayActOn(user, by), .unknownUser)
    }

    private func mayActOn(_ user: UserID, _ by: UserID) -> Bool {
        if user == by { return true }
        for (id, thread) in threads {
            let (isMember, moderates) = (thread.roles[by] != nil, (try? checkModerator(by, id)) != nil)
            if isMember, thread.roles[user] != nil { return true }
            let isThere = thread.everMembers.contains(user) || thread.invited.contains(user)
            if moderates, isThere || thread.mutes[user] != nil || thread.bans[user] != nil { return true }
            let answered = replies.values.filter { $0.author == user }.compactMap { messages[$0.message] }
            let posts = messages.values.filter { $0.author == user } + answered
            if isMember, posts.contains(where: { $0.thread == id && !isHidden($0, from: by) }) { return true }
        }
        return journal.contains { acts($0, of: user, on: by) }
    }

    /// Whether an event is an act of a user on another one: an invitation, a sanction, a change of
    /// role, a mention, a direct thread, or a reaction to a post or its removal.
    private func acts(_ event: ChatEvent, of user: UserID, on other: UserID) -> Bool {
        if event.otherActor == user { return event.user == other }
        guard event.otherActor == nil, event.user == user else { return false }
        if event.mentions.contains(other) { return true }
        guard event.kind == .reactionAdded || event.kind == .messageRemoved || event.kind == .replyRemoved else {
            return false
        }
        return event.reply.map { replies[$0]?.author == other } ?? event.message.map { messages[$0]?.author == other }
            ?? false
    }

    /// Throws unless a user is or was in a thread, or is invited to it.
    private func checkSanctionable(_ user: UserID, _ thread: Thread) throws(Refusal) {
        try check(thread.everMembers.contains(user) || thread.invited.contains(user), .notAMember)
    }

    private func checkModerator(_ by: UserID, _ thread: ThreadID) throws(Refusal) {
        try check(operates(by, thread) || role(by, thread) == .moderator || role(by, thread) == .owner, .notAModerator)
    }

    /// Throws if a moderator acts against another moderator or an owner.
    private func checkRank(_ by: UserID, _ user: UserID, _ thread: ThreadID) throws(Refusal) {
        if operates(by, thread) || role(by, thread) == .owner { return }
        try check(role(user, thread) == nil || role(user, thread) == .member, .notAnOwner)
    }

    private func checkReason(_ reason: String) throws(Refusal) {
        try check(
            reason.utf8.count <= 512 && reason.unicodeScalars.contains { !$0.properties.isWhitespace }, .invalidReason)
    }

    /// The last time that an event can be recorded at is the latest end.
    func checkEnd(_ until: Timestamp?, _ draft: Draft) throws(Refusal) {
        guard let until else { return }
        try check(until > draft.time && until.millisecondsSince1970 < 1 << 48, .invalidUntil)
    }

    static func end(_ until: Timestamp?) -> End { until.map { .at($0) } ?? .never }

    // MARK: Memberships

    /// Makes a user a member, which ends the invitation.
    mutating func becomeMember(_ user: UserID, _ id: ThreadID, at position: Position, _ role: ThreadRole = .member) {
        threads[id]?.roles[user] = role
        let returns = threads[id]?.people?.count ?? 0 > 2 && threads[id]?.everMembers.contains(user) == true
        threads[id]?.everMembers.insert(user)
        let isSinceJoining = threads[id]?.history == .sinceJoining || returns
        threads[id]?.readingStarts[user] = isSinceJoining ? position : nil
        threads[id]?.invited.remove(user)
    }

    mutating func invite(_ user: UserID, _ id: ThreadID, _ by: UserID, _ draft: Draft) throws(Refusal) -> Answer {
        try checkUsers(by, user, draft)
        guard knows(by, id, draft, moderating: true), let thread = threads[id] else {
            throw Refusal(code: .unknownThread)
        }
        try checkModerator(by, id)
        if thread.roles[by] == nil || thread.roles[by] == .member {
            // An operator, by no role of the thread.
            try check(owners(id).isEmpty && !operators.contains(user), .notAnOwner)
            try check(!thread.isImported || thread.everMembers.count > 2, .notAnOwner)
        }
        try check(!thread.isClosed, .threadClosed)
        if thread.roles[user] != nil { return .nothing }
        try check(!isInEffect(thread.bans, user, at: draft.time), .banned)
        if thread.invited.contains(user) { return .nothing }
        threads[id]?.invited.insert(user)
        return append([(.init(.userInvited, .member(thread: id, number: next(id), user: user, by: by)), .none)], draft)
    }

    mutating func accept(_ user: UserID, _ id: ThreadID, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[user] != nil, .unknownUser)
        guard knows(user, id, draft), let thread = threads[id] else { throw Refusal(code: .unknownThread) }
        if thread.roles[user] != nil { return .nothing }
        try checkJoining(user, thread, draft)
        // An import joins its own threads without an invitation.
        if !(thread.isImported && draft.isImport) { try check(thread.invited.contains(user), .notInvited) }
        try checkResidence(user, id, draft)
        becomeMember(user, id, at: head + 1)
        return append([(.init(.threadJoined, .thread(id, number: next(id), user: user)), .none)], draft)
    }

    mutating func decline(_ user: UserID, _ id: ThreadID, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[user] != nil, .unknownUser)
        guard knows(user, id, draft), let thread = threads[id] else { throw Refusal(code: .unknownThread) }
        if !thread.invited.contains(user) { return .nothing }
        threads[id]?.invited.remove(user)
        return append([(.init(.invitationDeclined, .thread(id, number: next(id), user: user)), .none)], draft)
    }

    mutating func revokeInvitation(_ user: UserID, _ id: ThreadID, _ by: UserID, _ draft: Draft) throws(Refusal)
        -> Answer
    {
        try checkUsers(by, user, draft)
        guard knows(by, id, draft, moderating: true), let thread = threads[id] else {
            throw Refusal(code: .unknownThread)
        }
        try checkModerator(by, id)
        if !thread.invited.contains(user) { return .nothing }
        threads[id]?.invited.remove(user)
        return append(
            [(.init(.invitationRevoked, .member(thread: id, number: next(id), user: user, by: by)), .none)], draft)
    }

    mutating func removeMember(_ user: UserID, _ id: ThreadID, _ by: UserID, _ reason: String, _ draft: Draft)
        throws(Refusal) -> Answer
    {
        try checkUsers(by, user, draft)
        guard knows(by, id, draft, moderating: true), let thread = threads[id] else {
            throw Refusal(code: .unknownThread)
        }
        try checkModerator(by, id)
        try checkRank(by, user, id)
        try check(by != user || !isLastOwner(user, id), .lastOwner)
        if thread.roles[user] == nil { return .nothing }
        try checkReason(reason)
        threads[id]?.roles[user] = nil
        return append(
            [(.init(.memberRemoved, .member(thread: id, number: next(id), user: user, by: by)), .reason(reason))], draft
        )
    }

    // MARK: Roles

    mutating func setRole(_ user: UserID, _ id: ThreadID, _ role: ThreadRole, _ by: UserID, _ draft: Draft)
        throws(Refusal) -> Answer
    {
        try checkUsers(by, user, draft)
        guard knows(by, id, draft, moderating: true), let thread = threads[id] else {
            throw Refusal(code: .unknownThread)
        }
        let rank: [ThreadRole: Int] = [.member: 1, .moderator: 2, .owner: 3]
        let stepsDown = by == user && rank[role, default: 0] < thread.roles[by].flatMap { rank[$0] } ?? 0
        let mayGive = thread.roles[by] == .owner || owners(id).isEmpty && operates(by, id)
        try check(stepsDown || mayGive, .notAnOwner)
        try check(role != .owner || thread.canHaveOwner, .notAnOwner)
        try check(thread.roles[user] != nil, .notAMember)
        if thread.roles[user] == role { return .nothing }
        try check(!isLastOwner(user, id), .lastOwner)
        threads[id]?.roles[user] = role
        return append(
            [(.init(.roleSet, .role(thread: id, number: next(id), user: user, role: role, by: by)), .none)], draft)
    }

    mutating func setOperator(_ user: UserID, _ isOperator: Bool, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[user] != nil, .unknownUser)
        if operators.contains(user) == isOperator { return .nothing }
        if isOperator { operators.insert(user) } else { operators.remove(user) }
        let change = EventShape.user(user)
        return append([(isOperator ? .init(.operatorGranted, change) : .init(.operatorRevoked, change), .none)], draft)
    }

    // MARK: Sanctions

    mutating func mute(
        _ user: UserID, _ id: ThreadID, _ by: UserID, _ reason: String, _ until: Timestamp?, _ draft: Draft
    ) throws(Refusal)
        -> Answer
    {
        try checkUsers(by, user, draft)
        guard knows(by, id, draft, moderating: true), let thread = threads[id] else {
            throw Refusal(code: .unknownThread)
        }
        try checkModerator(by, id)
        try checkRank(by, user, id)
        if isInEffect(thread.mutes, user, at: draft.time), thread.mutes[user] == Self.end(until) { return .nothing }
        try checkSanctionable(user, thread)
        try checkReason(reason)
        try checkEnd(until, draft)
        threads[id]?.mutes[user] = Self.end(until)
        return append(
            [
                (
                    .init(.userMuted, .sanction(thread: id, number: next(id), user: user, by: by, until: until)),
                    .reason(reason)
                )
            ], draft)
    }

    mutating func unmute(_ user: UserID, _ id: ThreadID, _ by: UserID, _ draft: Draft) throws(Refusal) -> Answer {
        try checkUsers(by, user, draft)
        guard knows(by, id, draft, moderating: true), let thread = threads[id] else {
            throw Refusal(code: .unknownThread)
        }
        try checkModerator(by, id)
        try checkRank(by, user, id)
        if !isInEffect(thread.mutes, user, at: draft.time) { return .nothing }
        threads[id]?.mutes[user] = nil
        return append([(.init(.userUnmuted, .member(thread: id, number: next(id), user: user, by: by)), .none)], draft)
    }

    mutating func ban(
        _ user: UserID, _ id: ThreadID, _ by: UserID, _ reason: String, _ until: Timestamp?, _ draft: Draft
    ) throws(Refusal)
        -> Answer
    {
        try checkUsers(by, user, draft)
        guard knows(by, id, draft, moderating: true), let thread = threads[id] else {
            throw Refusal(code: .unknownThread)
        }
        try checkModerator(by, id)
        try checkRank(by, user, id)
        try check(by != user || !isLastOwner(user, id), .lastOwner)
        if isInEffect(thread.bans, user, at: draft.time), thread.bans[user] == Self.end(until) { return .nothing }
        try checkSanctionable(user, thread)
        try checkReason(reason)
        try checkEnd(until, draft)
        var facts: [(EventDetails, EventContent)] = [
            (
                .init(.userBanned, .sanction(thread: id, number: next(id), user: user, by: by, until: until)),
                .reason(reason)
            )
        ]
        if thread.roles[user] != nil {
            facts.append(
                (
                    .init(.memberRemoved, .member(thread: id, number: next(id, after: 1), user: user, by: by)),
                    .reason(reason)
                ))
        }
        threads[id]?.bans[user] = Self.end(until)
        threads[id]?.roles[user] = nil
        threads[id]?.invited.remove(user)
        return append(facts, draft)
    }

    mutating func unban(_ user: UserID, _ id: ThreadID, _ by: UserID, _ draft: Draft) throws(Refusal) -> Answer {
        try checkUsers(by, user, draft)
        guard knows(by, id, draft, moderating: true), let thread = threads[id] else {
            throw Refusal(code: .unknownThread)
        }
        try checkModerator(by, id)
        try checkRank(by, user, id)
        if !isInEffect(thread.bans, user, at: draft.time) { return .nothing }
        threads[id]?.bans[user] = nil
        return append([(.init(.userUnbanned, .member(thread: id, number: next(id), user: user, by: by)), .none)], draft)
    }

    // MARK: Threads

    mutating func setLock(_ id: ThreadID, _ by: UserID, _ isLocked: Bool, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[by] != nil, .unknownUser)
        guard knows(by, id, draft, moderating: true), let thread = threads[id] else {
            throw Refusal(code: .unknownThread)
        }
        try checkModerator(by, id)
        try check(!thread.isClosed, .threadClosed)
        if thread.isLocked == isLocked { return .nothing }
        threads[id]?.isLocked = isLocked
        let change = EventShape.thread(id, number: next(id), user: by)
        return append([(isLocked ? .init(.threadLocked, change) : .init(.threadUnlocked, change), .none)], draft)
    }

    mutating func close(_ id: ThreadID, _ by: UserID, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[by] != nil, .unknownUser)
        guard knows(by, id, draft, moderating: true), let thread = threads[id] else {
            throw Refusal(code: .unknownThread)
        }
        try check(thread.roles[by] == .owner || operates(by, id), .notAnOwner)
        if thread.isClosed { return .nothing }
        threads[id]?.isClosed = true
        return append([(.init(.threadClosed, .thread(id, number: next(id), user: by)), .none)], draft)
    }

    mutating func setPolicy(
        _ id: ThreadID, _ policy: ThreadPolicy, _ history: ThreadHistory?, _ by: UserID, _ draft: Draft
    ) throws(Refusal) -> Answer {
        try check(users[by] != nil, .unknownUser)
        guard knows(by, id, draft, moderating: true), let thread = threads[id] else {
            throw Refusal(code: .unknownThread)
        }
        let opens = thread.policy == .inviteOnly && policy != .inviteOnly
        if draft.isImport {
            // The host, in the name of the opener.
            try check(thread.isImported && thread.opener == by && policy == .inviteOnly, .notAnOwner)
        } else if thread.roles[by] != .owner {
            try check(owners(id).isEmpty && operates(by, id), .notAnOwner)
            try check(!opens || !thread.isImported || thread.everMembers.count > 2, .notAnOwner)
        }
        try check(!thread.isOutward && policy != .residents, .invalidPolicy)
        let widest: ThreadHistory = opens ? .sinceJoining : thread.history
        let wanted = history ?? widest
        try check(wanted == widest || widest == .all, .invalidPolicy)
        if thread.policy == policy, thread.history == wanted { return .nothing }
        let position = head + 1
        if opens { threads[id]?.disclosedAt = position }
        threads[id]?.policy = policy
        threads[id]?.history = wanted
        let set = EventShape.policy(thread: id, number: next(id), policy: policy, history: wanted, by: by)
        return append([(.init(.threadPolicySet, set), .none)], draft)
    }

    mutating func renameThread(_ id: ThreadID, _ text: String, _ by: UserID, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[by] != nil, .unknownUser)
        guard knows(by, id, draft, moderating: true), let thread = threads[id] else {
            throw Refusal(code: .unknownThread)
        }
        try check(
            !thread.isOutward && (thread.roles[by] == .owner || owners(id).isEmpty && operates(by, id)), .notAnOwner)
        guard let name = ThreadName(text) else { throw Refusal(code: .invalidThreadName) }
        return append([(.init(.threadRenamed, .thread(id, number: next(id), user: by)), .threadName(name.text))], draft)
    }

    mutating func openDirect(_ id: ThreadID?, _ by: UserID, _ others: [UserID], _ draft: Draft) throws(Refusal)
        -> Answer
    {
        if let id, let thread = threads[id], thread.opener == by, thread.people.map(Set.init) == Set(others + [by]) {
            return .duplicate(first: thread.opened.lowerBound, last: thread.opened.upperBound)
        }
        try check(users[by] != nil, .unknownUser)
        var people = [by]
        for user in others where !people.contains(user) { people.append(user) }
        try check(people.count >= 2 && people.count <= 8, .invalidPeople)
        for user in people { try check(users[user] != nil, .cannotMessage) }
        if let (known, thread) = threads.first(where: { $0.value.people.map(Set.init) == Set(people) }) {
            if thread.roles[by] != nil {
                return .duplicate(first: thread.opened.lowerBound, last: thread.opened.upperBound)
            }
            becomeMember(by, known, at: head + 1)
            return append([(.init(.threadJoined, .thread(known, number: next(known), user: by)), .none)], draft)
        }
        for user in people.dropFirst() {
            try check(blocks[user]?.contains(by) != true && blocks[by]?.contains(user) != true, .cannotMessage)
            try check(threads.values.contains { $0.roles[by] != nil && $0.roles[user] != nil }, .cannotMessage)
            for other in people { try check(blocks[user]?.contains(other) != true, .cannotMessage) }
        }
        let thread = id ?? ThreadID(bits: draft.freshID)
        try check(thread.outwardCode == nil && threads[thread] == nil, .identifierTaken)
        let opened = head + 1...head + 1 + Position(people.count)
        threads[thread] = Thread(
            opener: by, people: people, opened: opened, isOutward: false, canHaveOwner: false, policy: .inviteOnly)
        var facts: [(EventDetails, EventContent)] = [
            (.init(.directOpened, .thread(thread, number: 1, user: by)), .none)
        ]
        for user in people {
            facts.append((.init(.threadJoined, .thread(thread, number: UInt64(facts.count + 1), user: user)), .none))
            becomeMember(user, thread, at: head + Position(facts.count))
        }
        return append(facts, mentions: people, draft)
    }

    // MARK: Posts

    /// Returns the other one of a direct thread of two who has left it; none if they are there.
    func returning(_ author: UserID, to thread: ThreadID) throws(Refusal) -> [UserID] {
        guard let people = threads[thread]?.people, people.count == 2,
            let other = people.first(where: { $0 != author }),
            !isMember(other, thread)
        else { return [] }
        try check(blocks[other]?.contains(author) != true && blocks[author]?.contains(other) != true, .cannotMessage)
        try check(threads.values.contains { $0.roles[author] != nil && $0.roles[other] != nil }, .cannotMessage)
        return [other]
    }

    /// Returns the joins of users who return to a thread.
    func joins(of users: [UserID], _ thread: ThreadID) -> [(EventDetails, EventContent)] {
        users.map { (.init(.threadJoined, .thread(thread, number: next(thread), user: $0)), .none) }
    }

    /// Whether an operator decides the open reports of a post in a direct thread, of which they are
    /// no member.
    private func decides(_ user: UserID, _ id: PostID, _ thread: ThreadID) -> Bool {
        threads[thread]?.people != nil && operators.contains(user) && !isMember(user, thread) && openReports[id] != nil
    }

    /// A message or a reply, and the message that it is or answers.
    private struct Post {
        var message: MessageID
        var facts: Message
        var isWithdrawn: Bool
        var isRemoved: Bool
        var unknown: Rejection.Code
    }

    private func post(_ id: PostID) throws(Refusal) -> Post {
        switch id {
        case .message(let id):
            guard let message = messages[id] else { throw Refusal(code: .unknownMessage) }
            return Post(
                message: id, facts: message, isWithdrawn: message.isWithdrawn, isRemoved: message.removed,
                unknown: .unknownMessage)
        case .reply(let id):
            guard let reply = replies[id], let message = messages[reply.message] else {
                throw Refusal(code: .unknownReply)
            }
            return Post(
                message: reply.message, facts: message, isWithdrawn: reply.isWithdrawn, isRemoved: reply.removed,
                unknown: .unknownReply)
        }
    }

    mutating func remove(_ id: PostID, _ by: UserID, _ reason: String, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[by] != nil, .unknownUser)
        let post = try post(id)
        let thread = post.facts.thread
        if !decides(by, id, thread) {
            try check(knows(by, thread, draft, moderating: true), post.unknown)
            try checkModerator(by, thread)
        }
        if post.isRemoved { return .nothing }
        try checkReason(reason)
        switch id {
        case .message(let message):
            messages[message]?.removed = true
            threads[thread]?.pins.remove(message)
            let change = EventShape.message(thread: thread, number: next(thread), message: message, by: by)
            return append([(.init(.messageRemoved, change), .reason(reason))], draft)
        case .reply(let reply):
            replies[reply]?.removed = true
            let change = EventShape.reply(
                thread: thread, number: next(thread), message: post.message, reply: reply, by: by)
            return append([(.init(.replyRemoved, change), .reason(reason))], draft)
        }
    }

    mutating func pin(_ id: MessageID, _ by: UserID, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[by] != nil, .unknownUser)
        guard let message = messages[id], let thread = threads[message.thread],
            knows(by, message.thread, draft, moderating: true)
        else { throw Refusal(code: .unknownMessage) }
        try checkModerator(by, message.thread)
        try check(!thread.isClosed, .threadClosed)
        try check(!message.isWithdrawn, .retracted)
        if thread.pins.contains(id) { return .nothing }
        try check(thread.pins.count < 50, .tooManyPins)
        threads[message.thread]?.pins.insert(id)
        let change = EventShape.message(thread: message.thread, number: next(message.thread), message: id, by: by)
        return append([(.init(.messagePinned, change), .none)], draft)
    }

    mutating func unpin(_ id: MessageID, _ by: UserID, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[by] != nil, .unknownUser)
        guard let message = messages[id], let thread = threads[message.thread],
            knows(by, message.thread, draft, moderating: true)
        else { throw Refusal(code: .unknownMessage) }
        try checkModerator(by, message.thread)
        try check(!thread.isClosed, .threadClosed)
        if !thread.pins.contains(id) { return .nothing }
        threads[message.thread]?.pins.remove(id)
        let change = EventShape.message(thread: message.thread, number: next(message.thread), message: id, by: by)
        return append([(.init(.messageUnpinned, change), .none)], draft)
    }

    mutating func report(_ id: PostID, _ by: UserID, _ reason: String, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[by] != nil, .unknownUser)
        let post = try post(id)
        let thread = post.facts.thread
        try check(knows(by, thread, draft), post.unknown)
        try check(isMember(by, thread), .notAMember)
        try check(!isHidden(post.facts, from: by), post.unknown)
        try check(!post.isWithdrawn, .retracted)
        if openReports[id]?.contains(by) == true { return .nothing }
        try checkReason(reason)
        openReports[id, default: []].insert(by)
        switch id {
        case .message(let message):
            return append(
                [(.init(.messageReported, .messageReport(thread: thread, message: message, by: by)), .reason(reason))],
                draft)
        case .reply(let reply):
            let report = EventShape.replyReport(thread: thread, message: post.message, reply: reply, by: by)
            return append([(.init(.replyReported, report), .reason(reason))], draft)
        }
    }

    mutating func resolve(_ id: PostID, _ by: UserID, _ draft: Draft) throws(Refusal) -> Answer {
        try check(users[by] != nil, .unknownUser)
        let post = try post(id)
        let thread = post.facts.thread
        if !decides(by, id, thread) {
            try check(knows(by, thread, draft, moderating: true), post.unknown)
            try checkModerator(by, thread)
        }
        if openReports[id] == nil { return .nothing }
        openReports[id] = nil
        switch id {
        case .message(let message):
            return append(
                [(.init(.messageReportsResolved, .messageReport(thread: thread, message: message, by: by)), .none)],
                draft)
        case .reply(let reply):
            let report = EventShape.replyReport(thread: thread, message: post.message, reply: reply, by: by)
            return append([(.init(.replyReportsResolved, report), .none)], draft)
        }
    }

    // MARK: Blocks and custom events

    mutating func setBlock(_ user: UserID, _ by: UserID, _ isBlocked: Bool, _ draft: Draft) throws(Refusal) -> Answer {
        try checkUsers(by, user, isBlock: true, draft)
        if blocks[by, default: []].contains(user) == isBlocked || by == user { return .nothing }
        try check(!isBlocked || blocks[by, default: []].count < 1_000, .tooManyBlocks)
        if isBlocked { blocks[by, default: []].insert(user) } else { blocks[by]?.remove(user) }
        let block = EventShape.block(user: user, by: by)
        return append([(isBlocked ? .init(.userBlocked, block) : .init(.userUnblocked, block), .none)], draft)
    }

    mutating func custom(
        _ id: CustomEventID?, _ kind: String, _ thread: ThreadID, _ by: UserID, _ payload: CustomPayload?,
        _ draft: Draft
    ) throws(Refusal) -> Answer {
        if let id, let known = customEvents[id] {
            try check(known.thread == thread && known.by == by, .identifierTaken)
            return .duplicate(first: known.position, last: known.position)
        }
        try check(users[by] != nil, .unknownUser)
        try check(knows(by, thread, draft), .unknownThread)
        try check(isMember(by, thread), .notAMember)
        try checkPosting(by, thread, draft)
        try check(CustomKind(kind) != nil, .invalidKind)
        guard let payload, payload.text.utf8.count <= 16_384 else { throw Refusal(code: .invalidPayload) }
        let event = id ?? CustomEventID(bits: draft.freshID)
        customEvents[event] = Custom(thread: thread, by: by, position: head + 1)
        let details = EventShape.custom(thread: thread, number: next(thread), id: event, by: by)
        return append([(.init(.custom, details), .custom(kind: kind, payload: .present(payload)))], draft)
    }
}
