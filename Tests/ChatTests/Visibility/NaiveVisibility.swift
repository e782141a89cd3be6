import ChatDomain
import NaiveViews

@testable import Chat

/// The visibility rules of `WhoIsShownWhat.md`, computed by scanning the events for each query.
///
/// The events of the kinds that a rule depends on are listed once, because they are few.
struct NaiveVisibility {
    let events: [RecordedEvent]
    /// The same events, which are cheaper to scan.
    private let facts: [NaiveViews.Fact]
    /// The events of memberships, operators, policies and blocks.
    private let access: [NaiveViews.Fact]
    /// The events of roles.
    private let roles: [NaiveViews.Fact]
    /// The events of each post.
    private let posts: [PostID: [NaiveViews.Fact]]
    /// The events about the reactions to each post, and those that withdraw it.
    private let reactions: [PostID: [NaiveViews.Fact]]
    /// The position of the first event of each thread.
    private let firstPositions: [ThreadID: Position]

    /// Creates an oracle.
    ///
    /// - Parameter events: All events of a journal, from position 1.
    init(_ events: [RecordedEvent]) { self.init(events.map { NaiveViews.Fact($0) }) }

    /// Creates an oracle of events of which an earlier one has made the facts.
    init(_ facts: [NaiveViews.Fact]) {
        self.facts = facts
        events = facts.map(\.recorded)
        access = facts.filter { $0.event.decidesAccess }
        roles = facts.filter { $0.event.decidesRoles }
        posts = facts.reduce(into: [:]) { posts, fact in
            if let post = fact.event.writtenPost { posts[post, default: []].append(fact) }
        }
        reactions = facts.reduce(into: [:]) { reactions, fact in
            switch fact.kind {
            case .reactionAdded, .reactionRemoved, .messageRetracted, .messageRemoved, .replyRetracted, .replyRemoved:
                guard let post = fact.reply.map(PostID.reply) ?? fact.message.map(PostID.message) else { return }
                reactions[post, default: []].append(fact)
            default: break
            }
        }
        firstPositions = Dictionary(
            events.compactMap { fact in fact.thread.map { ($0, fact.position) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// The relation of a viewer to an event.
    ///
    /// An operator of the community counts as a member of every thread while it is not
    /// `inviteOnly`.
    enum Role: Hashable, CaseIterable {
        case itsUser, member, formerMember, stranger
    }

    // MARK: Facts

    /// Returns whether a user was a member of a thread after the event at a position.
    func isMember(_ user: UserID, of thread: ThreadID, at position: Position) -> Bool {
        joinPosition(of: user, in: thread, at: position) != nil
    }

    /// Returns the position of a member's latest join; nil for other users.
    private func joinPosition(of user: UserID, in thread: ThreadID, at position: Position) -> Position? {
        var join: Position?
        for fact in access.prefix(while: { $0.position <= position }) {
            switch (fact.kind, fact.shape) {
            case (.threadJoined, .thread(let itsThread, _, let itsUser)) where itsUser == user && itsThread == thread:
                join = join ?? fact.position
            case (.threadLeft, .thread(let itsThread, _, let itsUser)) where itsUser == user && itsThread == thread:
                join = nil
            case (.memberRemoved, .member(let itsThread, _, let itsUser, _))
            where itsUser == user && itsThread == thread: join = nil
            default: break
            }
        }
        return join
    }

    /// Returns whether a user was an operator of the community.
    func isOperator(_ user: UserID, at position: Position) -> Bool {
        var isOperator = false
        for fact in access.prefix(while: { $0.position <= position }) {
            switch (fact.kind, fact.shape) {
            case (.operatorGranted, .user(let itsUser)) where itsUser == user: isOperator = true
            case (.operatorRevoked, .user(let itsUser)) where itsUser == user: isOperator = false
            default: break
            }
        }
        return isOperator
    }

    /// Returns the history that a user got who joined a thread after the event at a position.
    private func history(of thread: ThreadID, at position: Position) -> ThreadHistory {
        var history = ThreadHistory.all
        for fact in access.prefix(while: { $0.position <= position }) {
            if case (.threadPolicySet, .policy(let itsThread, _, _, let itsHistory, _)) = (fact.kind, fact.shape),
                itsThread == thread
            {
                history = itsHistory
            }
        }
        return history
    }

    /// Returns the position at which a thread last ceased to be `inviteOnly`, 0 if it never was,
    /// and nil if it is.
    private func disclosure(of thread: ThreadID, at position: Position) -> Position? {
        var disclosure: Position? = 0
        for fact in access.prefix(while: { $0.position <= position }) {
            if fact.kind == .directOpened, fact.thread == thread { disclosure = nil }
            guard case (.threadPolicySet, .policy(let itsThread, _, let itsPolicy, _, _)) = (fact.kind, fact.shape),
                itsThread == thread
            else { continue }
            disclosure = itsPolicy == .inviteOnly ? nil : disclosure ?? fact.position
        }
        return disclosure
    }

    /// Returns the people of a direct thread; none for another thread.
    private func people(of thread: ThreadID) -> [UserID] {
        access.first { $0.kind == .directOpened && $0.thread == thread }?.event.people ?? []
    }

    func isDirect(_ thread: ThreadID) -> Bool { !people(of: thread).isEmpty }

    /// Returns whether a user is a member of a direct thread again, which they had left.
    private func hasReturned(_ user: UserID, to thread: ThreadID, at position: Position) -> Bool {
        access.count { $0.position <= position && $0.kind == .threadJoined && $0.thread == thread && $0.user == user }
            > 1
    }

    /// Returns whether a user decides the open reports of a post in a direct thread; nil for any
    /// post of it.
    func decidesReports(_ user: UserID, of post: PostID? = nil, in thread: ThreadID, at position: Position) -> Bool {
        !people(of: thread).isEmpty && isOperator(user, at: position) && !isMember(user, of: thread, at: position)
            && NaiveViews(facts: facts.filter { $0.position <= position && $0.thread == thread }).reports(in: thread)
                .contains {
                    post == nil || $0.post == post
                }
    }

    /// Returns whether a thread is in the directory for a viewer, who is not banned from it.
    func isListed(_ thread: ThreadID, to viewer: UserID, at position: Position) -> Bool {
        let past = NaiveViews(facts: facts.filter { $0.position <= position && $0.thread == thread })
        guard past.policies(of: thread).last?.policy == .listed, !past.lock(of: thread).isClosed else { return false }
        return standing(of: viewer, in: thread, at: position)?.ban == nil
    }

    /// Returns the position of the event that gave a thread the name that it had.
    private func namePosition(of thread: ThreadID, at position: Position) -> Position? {
        facts.last {
            $0.position <= position && ($0.kind == .threadOpened || $0.kind == .threadRenamed) && $0.thread == thread
        }?.position
    }

    private func threadName(at position: Position) -> String? {
        if case .threadName(let name) = events[Int(position) - 1].event.content { name } else { nil }
    }

    /// Returns whether a thread exists for a user: an `inviteOnly` one for its members and for the
    /// users with an invitation.
    func knows(_ user: UserID, _ thread: ThreadID, at position: Position) -> Bool {
        if disclosure(of: thread, at: position) != nil { return true }
        if isMember(user, of: thread, at: position) { return true }
        var isInvited = false
        for fact in access.prefix(while: { $0.position <= position }) {
            switch (fact.kind, fact.shape) {
            case (.userInvited, .member(let itsThread, _, let itsUser, _)) where itsUser == user && itsThread == thread:
                isInvited = true
            case (.invitationDeclined, .thread(let itsThread, _, let itsUser))
            where itsUser == user && itsThread == thread:
                isInvited = false
            case (.invitationRevoked, .member(let itsThread, _, let itsUser, _))
            where itsUser == user && itsThread == thread:
                isInvited = false
            case (.userBanned, .sanction(let itsThread, _, let itsUser, _, _))
            where itsUser == user && itsThread == thread:
                isInvited = false
            case (.threadJoined, .thread(let itsThread, _, let itsUser)) where itsUser == user && itsThread == thread:
                isInvited = false
            default: break
            }
        }
        return isInvited
    }

    /// Returns whether a user was a moderator or an owner of a thread, or an operator.
    func moderates(_ user: UserID, _ thread: ThreadID, at position: Position) -> Bool {
        if isOperator(user, at: position), people(of: thread).isEmpty { return true }
        var role: ThreadRole?
        var awaitedOpener: UserID?
        for recorded in roles.prefix(while: { $0.position <= position }) {
            switch (recorded.kind, recorded.shape) {
            case (.threadOpened, .thread(let itsThread, _, let itsBy)) where itsThread == thread:
                if recorded.event.origin == .native, thread.outwardCode == nil { awaitedOpener = itsBy }
            case (.threadJoined, .thread(let itsThread, _, let itsUser)) where itsThread == thread:
                if itsUser == user { role = awaitedOpener == user ? .owner : .member }
                awaitedOpener = nil
            case (.threadLeft, .thread(let itsThread, _, let itsUser)) where itsThread == thread && itsUser == user:
                role = nil
            case (.memberRemoved, .member(let itsThread, _, let itsUser, _))
            where itsThread == thread && itsUser == user: role = nil
            case (.roleSet, .role(let itsThread, _, let itsUser, let itsRole, _))
            where itsThread == thread && itsUser == user:
                role = itsRole
            default: break
            }
        }
        return role == .moderator || role == .owner
    }

    /// Returns a user's standing in a thread; nil if they never were a member, muted, banned or
    /// invited.
    func standing(of user: UserID, in thread: ThreadID, at position: Position) -> ThreadStanding? {
        var (standing, isConcerned, awaitedOpener) = (ThreadStanding(), false, nil as UserID?)
        for recorded in facts.prefix(Int(position)) where recorded.thread == thread {
            func act(until: Timestamp? = nil) -> ThreadStanding.Act {
                ThreadStanding.Act(
                    position: recorded.position, imposedAt: recorded.event.createdAt, until: until,
                    reason: recorded.event.reason)
            }
            switch (recorded.kind, recorded.shape) {
            case (.threadOpened, .thread(_, _, let itsBy))
            where recorded.event.origin == .native && thread.outwardCode == nil:
                awaitedOpener = itsBy
            case (.threadJoined, .thread(_, _, let itsUser)):
                if itsUser == user {
                    (standing.role, standing.since) = (awaitedOpener == user ? .owner : .member, recorded.position)
                    (standing.removal, isConcerned) = (nil, true)
                }
                awaitedOpener = nil
            case (.threadLeft, .thread(_, _, let itsUser)) where itsUser == user:
                (standing.role, standing.since, standing.removal) = (nil, nil, nil)
            case (.memberRemoved, .member(_, _, let itsUser, _)) where itsUser == user:
                (standing.role, standing.since, standing.removal) = (nil, nil, act())
            case (.roleSet, .role(_, _, let itsUser, let itsRole, _)) where itsUser == user:
                (standing.role, standing.since) = (itsRole, recorded.position)
            case (.userMuted, .sanction(_, _, let itsUser, _, let itsUntil)) where itsUser == user:
                (standing.mute, isConcerned) = (act(until: itsUntil), true)
            case (.userBanned, .sanction(_, _, let itsUser, _, let itsUntil)) where itsUser == user:
                (standing.ban, isConcerned) = (act(until: itsUntil), true)
            case (.userUnmuted, .member(_, _, let itsUser, _)) where itsUser == user: standing.mute = nil
            case (.userUnbanned, .member(_, _, let itsUser, _)) where itsUser == user: standing.ban = nil
            case (.userInvited, .member(_, _, let itsUser, _)) where itsUser == user: isConcerned = true
            case (.notificationsSet, .notifications(user, _, let itsLevel, let itsUntil)):
                standing.notifications = ThreadNotifications(level: itsLevel, until: itsUntil)
            default: break
            }
        }
        standing.people = isDirect(thread) ? people(of: thread) : nil
        guard isConcerned, let now = events.prefix(Int(position)).last?.event.recordedAt else { return nil }
        if let until = standing.notifications.until, until <= now { standing.notifications = ThreadNotifications() }
        if let until = standing.mute?.until, until <= now { standing.mute = nil }
        if let until = standing.ban?.until, until <= now { standing.ban = nil }
        return standing
    }

    /// Returns whether a user had blocked another one.
    func isBlocked(_ user: UserID, by blocker: UserID, at position: Position) -> Bool {
        var isBlocked = false
        for fact in access.prefix(while: { $0.position <= position }) {
            switch (fact.kind, fact.shape) {
            case (.userBlocked, .block(let itsUser, let itsBy)) where itsUser == user && itsBy == blocker:
                isBlocked = true
            case (.userUnblocked, .block(let itsUser, let itsBy)) where itsUser == user && itsBy == blocker:
                isBlocked = false
            default: break
            }
        }
        return isBlocked
    }

    /// Returns the threads of the events up to a position.
    func threads(at position: Position) -> Set<ThreadID> { Set(firstPositions.filter { $0.value <= position }.keys) }

    /// Returns the position of the event that wrote a post's text as of a position.
    ///
    /// Returns nil for a post that is unknown, retracted or, unless `includesRemoved`, removed.
    func textPosition(of post: PostID, at position: Position, includesRemoved: Bool = false) -> Position? {
        var text: Position?
        for fact in (posts[post] ?? []).prefix(while: { $0.position <= position }) {
            switch fact.kind {
            case .messagePosted, .replyPosted, .messageEdited, .replyEdited: text = fact.position
            case .messageRetracted, .replyRetracted: return nil
            case .messageRemoved, .replyRemoved: if !includesRemoved { return nil }
            default: break
            }
        }
        return text
    }

    /// Returns a naive model of the reactions to a post as of a position.
    func reactions(to post: PostID, at position: Position) -> NaiveViews {
        NaiveViews(facts: (reactions[post] ?? []).filter { $0.position <= position })
    }

    /// Returns the author of a post.
    private func author(of post: PostID) -> UserID? {
        for fact in posts[post] ?? [] {
            switch (fact.kind, fact.shape) {
            case (.messagePosted, .message(_, _, _, let itsAuthor)): return itsAuthor
            case (.replyPosted, .reply(_, _, _, _, let itsAuthor)): return itsAuthor
            default: break
            }
        }
        return nil
    }

    /// Returns whether an entry of a user's inbox as of `position`, queried at `current`, may be
    /// shown to them, whatever the rest of the inbox.
    ///
    /// An entry about a post needs the post, the right to read it then and now, and for a report
    /// the role of a moderator then and now. What a moderator did stays.
    func mayHave(_ entry: InboxEntry, in inbox: UserID, at position: Position, current: Position) -> Bool {
        guard entry.position <= position, entry.by.id != inbox, !isBlocked(entry.by.id, by: inbox, at: current) else {
            return false
        }
        let event = events[Int(entry.position) - 1].event
        guard event.otherActor ?? event.user == entry.by.id, (entry.reason == .moderation) == (entry.kind != nil) else {
            return false
        }
        // A user who may not read the thread is told the name that they knew, and no people.
        let mayRead = readingStart(inbox, entry.thread, at: position, current: current) != nil
        let named = namePosition(
            of: entry.thread, at: mayRead || entry.reason == .invitation ? position : entry.position)
        guard entry.name == entry.thread.outwardCode?.description ?? named.flatMap(threadName(at:)),
            entry.people?.map(\.id) ?? [] == (mayRead ? people(of: entry.thread) : [])
        else { return false }
        guard let post = entry.post else {
            switch entry.reason {
            case .invitation:
                return event.kind == .userInvited && event.user == inbox && knows(inbox, entry.thread, at: position)
            case .moderation:
                return event.kind == entry.kind && event.thread == entry.thread
                    && (event.user == inbox || event.writtenPost.flatMap(author(of:)) == inbox)
            default: return false
            }
        }
        var message: MessageID?
        switch post {
        case .message(let id): message = id
        case .reply: message = posts[post]?.first { $0.kind == .replyPosted }?.message
        }
        if entry.reason == .report, !people(of: entry.thread).isEmpty {
            return decidesReports(inbox, of: post, in: entry.thread, at: position)
                && decidesReports(inbox, of: post, in: entry.thread, at: current)
        }
        guard let start = readingStart(inbox, entry.thread, at: position, current: current),
            let posted = message.flatMap(postingPosition), posted > start, textPosition(of: post, at: position) != nil
        else { return false }
        switch entry.reason {
        case .reply: return event.kind == .replyPosted
        case .mention: return event.mentions.contains(inbox)
        case .reaction: return event.kind == .reactionAdded && author(of: post) == inbox
        case .report: return moderates(inbox, entry.thread, at: position) && moderates(inbox, entry.thread, at: current)
        case .invitation, .moderation: return false
        }
    }

    /// Returns the position at which a message was posted.
    func postingPosition(of message: MessageID) -> Position? {
        posts[.message(message)]?.first { $0.kind == .messagePosted }?.position
    }

    /// Returns the number of messages of a thread in a range of positions.
    func messageCount(of thread: ThreadID, after start: Position, through end: Position) -> Int {
        guard start < end else { return 0 }
        return facts[Int(start)..<Int(end)].count {
            if case (.messagePosted, .message(let itsThread, _, _, _)) = ($0.kind, $0.shape) {
                itsThread == thread
            } else {
                false
            }
        }
    }

    /// Returns the position of the event that set a user's name as of a position.
    private func namePosition(of user: UserID, at position: Position) -> Position? {
        facts.prefix(Int(position)).lastIndex { details in
            switch (details.kind, details.shape) {
            case (.userRegistered, .user(let itsUser)): itsUser == user
            case (.usernameChanged, .user(let itsUser)): itsUser == user
            default: false
            }
        }.map { Position($0 + 1) }
    }

    /// Returns the last position at which two users had a thread in common; the given one if they
    /// never had one.
    private func lastLookUp(of user: UserID, by viewer: UserID, at position: Position) -> Position {
        let threads = threads(at: position)
        // Memberships are the same until one of these events.
        let ends = access.map(\.position).filter { $0 <= position }.map { $0 - 1 } + [position]
        return ends.reversed().first { past in
            threads.contains { isMember(user, of: $0, at: past) && isMember(viewer, of: $0, at: past) }
        } ?? position
    }

    /// Returns the position of the event that set the text about a user as of a position.
    func aboutPosition(of user: UserID, at position: Position) -> Position? {
        facts.prefix(Int(position)).lastIndex { $0.kind == .profileSet && $0.user == user }.map { Position($0 + 1) }
    }

    /// Returns the threads of which two users are members, then and now, with the joins of the
    /// second as of then.
    func commonThreads(_ viewer: UserID, _ person: UserID, at position: Position, current: Position) -> [(
        thread: ThreadID, since: Position
    )] {
        threads(at: position).compactMap { thread in
            guard isMember(viewer, of: thread, at: position), isMember(viewer, of: thread, at: current),
                isMember(person, of: thread, at: current)
            else { return nil }
            return joinPosition(of: person, in: thread, at: position).map { (thread, $0) }
        }.sorted { $0.since < $1.since }
    }

    // MARK: The rules

    /// Returns the position after which a viewer could read the messages of a thread; nil if they
    /// could read nothing of it.
    private func readingStart(_ viewer: UserID, _ thread: ThreadID, at position: Position) -> Position? {
        var starts: [Position] = []
        if isOperator(viewer, at: position), firstPositions[thread] ?? .max <= position,
            let disclosure = disclosure(of: thread, at: position)
        {
            starts.append(disclosure)
        }
        if let join = joinPosition(of: viewer, in: thread, at: position) {
            let begins = people(of: thread).count > 2 && hasReturned(viewer, to: thread, at: position)
            starts.append(begins || history(of: thread, at: join) == .sinceJoining ? join : 0)
        }
        return starts.min()
    }

    /// Returns the position after which a viewer may read the messages of a thread as of
    /// `position`, queried at `current`; nil if they may read nothing of it.
    func readingStart(_ viewer: UserID?, _ thread: ThreadID, at position: Position, current: Position) -> Position? {
        guard let viewer else { return 0 }
        guard let then = readingStart(viewer, thread, at: position), let now = readingStart(viewer, thread, at: current)
        else { return nil }
        return max(then, now)
    }

    /// Returns whether a viewer may read a thread as of `position`, queried at `current`.
    func mayRead(_ viewer: UserID?, _ thread: ThreadID, at position: Position, current: Position) -> Bool {
        readingStart(viewer, thread, at: position, current: current) != nil
    }

    /// Returns whether a viewer is shown the text that a post had at `position`, queried at
    /// `current`.
    func showsText(
        of post: PostID, by author: UserID, in thread: ThreadID, to viewer: UserID?, at position: Position,
        current: Position
    ) -> Bool {
        guard let viewer, viewer != author else { return true }
        guard let written = textPosition(of: post, at: position) else { return false }
        return textPosition(of: post, at: current, includesRemoved: moderates(viewer, thread, at: current)) == written
    }

    // MARK: The table

    /// Returns the relation of a viewer to an event as of `current`.
    func role(of viewer: UserID, to recorded: RecordedEvent, current: Position) -> Role {
        if recorded.event.user == viewer || recorded.event.otherActor == viewer { return .itsUser }
        switch recorded.event.kind {
        case .messageRemoved, .replyRemoved:
            if recorded.event.writtenPost.flatMap(author(of:)) == viewer { return .itsUser }
        default: break
        }
        let threads: Set<ThreadID>
        switch (recorded.event.kind, recorded.event.shape) {
        case (.usernameChanged, .user(let itsUser)), (.profileSet, .user(let itsUser)):
            threads = self.threads(at: current).filter { isMember(itsUser, of: $0, at: recorded.position) }
        case (.postcodeSet, .postcode(_, let itsThread)): threads = [itsThread]
        default: threads = recorded.event.thread.map { [$0] } ?? []
        }
        let then = threads.filter { readingStart(viewer, $0, at: recorded.position) != nil }
        if then.isEmpty { return .stranger }
        let now = then.filter { readingStart(viewer, $0, at: current) != nil }
        if now.isEmpty { return .formerMember }
        // In a thread with history since joining, an event before the latest join is unknown.
        return now.contains {
            recorded.position > readingStart(viewer, $0, at: recorded.position, current: current) ?? .max
        }
            ? .member : .stranger
    }

    /// Returns the user whose correlation id an event has: the one who acted, and for the joins of
    /// an opening the opener; nil for the host.
    func correlationOwner(of recorded: RecordedEvent) -> UserID? {
        let isOfHost = recorded.kind == .operatorGranted || recorded.kind == .operatorRevoked
        if isOfHost || recorded.kind != .threadJoined {
            return isOfHost ? nil : recorded.event.otherActor ?? recorded.user
        }
        // The event before the joins that precede this one.
        let opening = access.last {
            $0.position < recorded.position && $0.kind == .directOpened && $0.thread == recorded.thread
        }
        guard let opening, recorded.position - opening.position <= opening.event.people.count else {
            return recorded.user
        }
        return opening.user
    }

    /// Returns the event as a viewer is shown it as of `current`, or nil if it is hidden; without
    /// the reason why it came into the inbox of the viewer.
    func shown(_ recorded: RecordedEvent, to viewer: UserID?, current: Position) -> RecordedEvent? {
        guard let viewer else { return recorded }
        let isOwner = correlationOwner(of: recorded) == viewer
        var recorded = recorded
        // The id of a command is for who gave it.
        let isOfHost = recorded.kind == .operatorGranted || recorded.kind == .operatorRevoked
        if isOfHost || (recorded.otherActor ?? recorded.user) != viewer { recorded.event.once = nil }
        switch role(of: viewer, to: recorded, current: current) {
        case .itsUser:
            var concerning = recorded
            if !isOwner { concerning.event.correlation = nil }
            guard let actor = recorded.event.otherActor ?? recorded.event.user, actor != viewer else {
                return concerning
            }
            // Another user's event that concerns the viewer.
            concerning.isFromBlockedUser = isBlocked(actor, by: viewer, at: current)
            // The reason is for who is or was a member by then.
            if recorded.kind == .userMuted || recorded.kind == .userBanned, let thread = recorded.thread,
                !access.contains(where: {
                    $0.position <= recorded.position && isMember(viewer, of: thread, at: $0.position)
                }),
                !recorded.event.isErased
            {
                concerning.event.content = .omitted
                concerning.redacted = .reason
            }
            return concerning
        case .formerMember, .stranger:
            // The reports of a direct thread, to who decides them.
            guard recorded.event.isAboutReports, let thread = recorded.thread, let message = recorded.message,
                decidesReports(
                    viewer, of: recorded.reply.map(PostID.reply) ?? .message(message), in: thread, at: current)
            else { return nil }
            var report = recorded
            report.event.correlation = nil
            if let reporter = recorded.user { report.isFromBlockedUser = isBlocked(reporter, by: viewer, at: current) }
            return report
        case .member: break
        }
        let details = recorded.event
        if let thread = details.thread,
            let start = readingStart(viewer, thread, at: recorded.position, current: current)
        {
            if recorded.position <= start { return nil }
            if let message = details.message, (postingPosition(of: message) ?? 0) <= start { return nil }
        }
        var shown = recorded
        if !isOwner { shown.event.correlation = nil }
        // The user who acted has caused the event, not the user whom it concerns.
        if let author = details.otherActor ?? details.user {
            shown.isFromBlockedUser = isBlocked(author, by: viewer, at: current)
        }
        func null(_ field: RedactedFields) {
            shown.event.content = .omitted
            shown.redacted = field
            if field == .body { shown.event.mentions = [] }
        }
        let moderates = details.thread.map { self.moderates(viewer, $0, at: current) } ?? false
        func nullBody() {
            guard let post = details.writtenPost else { return }
            if textPosition(of: post, at: current, includesRemoved: moderates) != recorded.position { null(.body) }
        }
        switch details.kind {
        case .userRegistered, .threadRead, .sessionStarted, .sessionEnded, .operatorGranted, .operatorRevoked,
            .userBlocked,
            .userUnblocked, .userErased, .contentErased, .clockCorrected, .lost, .historyRepaired, .threadMarkedUnread,
            .notificationsSet,
            .inboxRead,
            nil:
            return nil
        case .messageReported, .replyReported, .messageReportsResolved, .replyReportsResolved:
            guard moderates, let thread = details.thread, self.moderates(viewer, thread, at: recorded.position) else {
                return nil
            }
        case .usernameChanged:
            if details.user.flatMap({ namePosition(of: $0, at: lastLookUp(of: $0, by: viewer, at: current)) })
                != recorded.position
            {
                null(.username)
            }
        case .profileSet:
            if details.user.flatMap({ aboutPosition(of: $0, at: current) }) != recorded.position { null(.about) }
        case .postcodeSet: null(.postcode)
        case .messagePosted, .messageEdited, .replyPosted, .replyEdited: nullBody()
        case .messageRemoved, .replyRemoved, .userMuted, .userBanned, .memberRemoved: if !moderates { null(.reason) }
        case .threadOpened, .threadRenamed:
            if details.thread.flatMap({ namePosition(of: $0, at: current) }) != recorded.position { null(.name) }
        case .directOpened, .threadJoined, .threadLeft, .messageRetracted, .replyRetracted, .threadPolicySet,
            .userInvited,
            .invitationDeclined, .invitationRevoked, .roleSet, .userUnmuted, .userUnbanned, .messagePinned,
            .messageUnpinned,
            .threadLocked, .threadUnlocked, .threadClosed, .custom, .reactionAdded, .reactionRemoved:
            break
        }
        return shown
    }
}

extension RecordedEvent {
    /// The event without the reason why it came into the inbox of the viewer, as
    /// ``NaiveVisibility`` shows it.
    var withoutInbox: RecordedEvent {
        var event = self
        event.inbox = nil
        return event
    }
}

extension ChatEvent {
    /// Whether the event changes a membership, an invitation, an operator, a policy or a block.
    fileprivate var decidesAccess: Bool {
        switch kind {
        case .directOpened, .threadJoined, .threadLeft, .memberRemoved, .operatorGranted, .operatorRevoked,
            .threadPolicySet,
            .userBlocked, .userUnblocked,
            .userInvited, .invitationDeclined, .invitationRevoked, .userBanned:
            true
        default: false
        }
    }

    /// Whether the event changes a role in a thread.
    fileprivate var decidesRoles: Bool {
        switch kind {
        case .threadOpened, .threadJoined, .threadLeft, .memberRemoved, .roleSet: true
        default: false
        }
    }

    /// Whether the event is a report of a post, or resolves its reports.
    fileprivate var isAboutReports: Bool {
        [.messageReported, .replyReported, .messageReportsResolved, .replyReportsResolved].contains(kind)
    }

    /// The post that the event posts, edits, retracts or removes.
    fileprivate var writtenPost: PostID? {
        switch kind {
        case .messagePosted, .messageEdited, .messageRetracted, .messageRemoved: message.map(PostID.message)
        case .replyPosted, .replyEdited, .replyRetracted, .replyRemoved: reply.map(PostID.reply)
        default: nil
        }
    }
}
