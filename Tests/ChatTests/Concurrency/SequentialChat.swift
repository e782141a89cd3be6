@testable import Chat
import ChatDomain
import EventJournal
import Projections

/// A sequential model of a store's views, made of lists that are scanned linearly.
///
/// The naive model of the read models' tests scans all events for each query, which is too slow for
/// every position of thousands of histories. This model keeps its state, and
/// ``HistoryCheckerTests`` compares the two.
struct SequentialChat {
    struct User {
        var id: UserID
        var name: Username?
        var postcode: Postcode?
        /// The position of the move into the outward code.
        var residentSince: Position = 0
        var createdAt: Timestamp
    }

    struct Room {
        var id: ThreadID
        var name: String?
        /// The people of a direct thread.
        var people: [UserID]?
        var createdAt: Timestamp
        var openedAt: Position
        var lastPosition: Position
        var policy: ThreadPolicy
        var history = ThreadHistory.all
        var isLocked = false
        var isClosed = false
        /// The opener, whose join makes them the owner; nil once a user has joined.
        var awaitedOpener: UserID?
        var members: [(user: UserID, since: Position, role: ThreadRole)] = []
        var invited: Set<UserID> = []
    }

    struct Text<ID: EntityID, Place: EntityID> {
        var id: ID
        var place: Place
        var position: Position
        var author: UserID
        var body: String?
        var createdAt: Timestamp
        var editedAt: Timestamp?
        var editPosition: Position?
        var isRetracted = false
        var isRemoved = false
        /// The users whom a level of notifications kept from learning of it; no text mentions
        /// anybody.
        var silenced: Set<UserID> = []
        /// The position of the event that wrote the text; nil once retracted.
        var textPosition: Position?
        /// The present reactions, oldest first.
        var reactions: [(user: UserID, emoji: String)] = []

        /// Returns the reactions as a viewer sees them.
        func reactions(of viewer: UserID?) -> [PostReaction] {
            var counts: [PostReaction] = []
            for (user, emoji) in reactions where !isRetracted && !isRemoved {
                if !counts.contains(where: { $0.emoji == emoji }) {
                    counts.append(PostReaction(emoji: emoji, count: 0, isMine: false))
                }
                for index in counts.indices where counts[index].emoji == emoji {
                    counts[index].count += 1
                    if user == viewer { counts[index].isMine = true }
                }
            }
            return counts
        }
    }

    /// A range of positions in which a user was a member of a thread.
    struct Stay {
        var user: UserID
        var thread: ThreadID
        var from: Position
        var to: Position?
    }

    struct Marker: Hashable {
        var user: UserID
        var thread: ThreadID
    }

    private(set) var position: Position = 0
    private(set) var users: [User] = []
    private(set) var rooms: [Room] = []
    private(set) var messages: [Text<MessageID, ThreadID>] = []
    private(set) var replies: [Text<ReplyID, MessageID>] = []
    private(set) var stays: [Stay] = []
    /// The operators, in the order of the grants.
    private(set) var operators: [(user: UserID, since: Position)] = []
    /// The periods of all operators.
    private(set) var operatorPeriods: [(user: UserID, from: Position, to: Position?)] = []
    private(set) var blocks: Set<EventShape> = []
    private(set) var markers: [Marker: Position] = [:]
    private(set) var levels: [Marker: ThreadNotifications] = [:]
    private(set) var days: [CalendarDay: ActivityDay] = [:]
    private var active: Set<ActiveUser> = []

    private struct ActiveUser: Hashable {
        var user: UserID
        var day: CalendarDay
    }

    mutating func take(_ recorded: RecordedEvent) {
        let event = recorded.event
        position = recorded.position
        count(event)
        switch (event.kind, event.shape) {
        case (.userRegistered, .user(let itsUser)):
            users.append(User(id: itsUser, name: event.username, createdAt: event.createdAt))
        case (.usernameChanged, .user(let itsUser)): change(itsUser) { $0.name = event.username }
        case (.postcodeSet, .postcode(let itsUser, _)):
            change(itsUser) { user in
                if user.postcode?.outwardCode != event.postcode?.outwardCode { user.residentSince = recorded.position }
                user.postcode = event.postcode
            }
        case (.threadOpened, .thread(let itsThread, _, let itsBy)):
            let name: String? =
                if case .threadName(let name) = event.content { name } else { itsThread.outwardCode?.description }
            rooms.append(
                Room(
                    id: itsThread, name: name, createdAt: event.createdAt, openedAt: position, lastPosition: position,
                    policy: itsThread.outwardCode == nil ? .open : .residents,
                    awaitedOpener: itsThread.outwardCode == nil && event.origin == .native ? itsBy : nil))
        case (.directOpened, .thread(let itsThread, _, _)):
            rooms.append(
                Room(
                    id: itsThread, people: event.people, createdAt: event.createdAt, openedAt: position,
                    lastPosition: position,
                    policy: .inviteOnly))
        case (.threadRenamed, .thread(let itsThread, _, _)):
            change(itsThread) { if case .threadName(let name) = event.content { $0.name = name } }
        case (.threadPolicySet, .policy(let itsThread, _, let itsPolicy, let itsHistory, _)):
            change(itsThread) { ($0.policy, $0.history) = (itsPolicy, itsHistory) }
        case (.threadJoined, .thread(let itsThread, _, let itsUser)):
            stays.append(Stay(user: itsUser, thread: itsThread, from: position))
            change(itsThread) { room in
                room.members.append((itsUser, recorded.position, room.awaitedOpener == itsUser ? .owner : .member))
                room.awaitedOpener = nil
                room.invited.remove(itsUser)
            }
        case (.threadLeft, .thread(let itsThread, _, let itsUser)): endMembership(itsUser, itsThread)
        case (.memberRemoved, .member(let itsThread, _, let itsUser, _)): endMembership(itsUser, itsThread)
        case (.roleSet, .role(let itsThread, _, let itsUser, let itsRole, _)):
            change(itsThread) { room in
                for index in room.members.indices where room.members[index].user == itsUser {
                    room.members[index].role = itsRole
                }
            }
        case (.threadLocked, .thread(let itsThread, _, _)): change(itsThread) { $0.isLocked = true }
        case (.threadUnlocked, .thread(let itsThread, _, _)): change(itsThread) { $0.isLocked = false }
        case (.threadClosed, .thread(let itsThread, _, _)): change(itsThread) { $0.isClosed = true }
        case (.operatorGranted, .user(let itsUser)):
            operators.append((itsUser, position))
            operatorPeriods.append((itsUser, position, nil))
        case (.operatorRevoked, .user(let itsUser)):
            operators.removeAll { $0.user == itsUser }
            for index in operatorPeriods.indices
            where operatorPeriods[index].user == itsUser && operatorPeriods[index].to == nil {
                operatorPeriods[index].to = position
            }
        case (.userBlocked, _): blocks.insert(event.shape)
        case (.userUnblocked, _): blocks.remove(event.shape)
        case (.messagePosted, .message(let itsThread, _, let itsMessage, let itsAuthor)):
            messages.append(
                Text(
                    id: itsMessage, place: itsThread, position: position, author: itsAuthor, body: event.body,
                    createdAt: event.createdAt,
                    silenced: Set(
                        levels.filter { $0.key.thread == itsThread && $0.value.level != .all }.map(\.key.user)),
                    textPosition: position))
            change(itsThread) { _ in }
        case (.replyPosted, .reply(let itsThread, _, let itsMessage, let itsReply, let itsAuthor)):
            replies.append(
                Text(
                    id: itsReply, place: itsMessage, position: position, author: itsAuthor, body: event.body,
                    createdAt: event.createdAt, textPosition: position))
            change(itsThread) { _ in }
        case (.messageEdited, .message(let itsThread, _, let itsMessage, _)):
            for index in messages.indices where messages[index].id == itsMessage { messages[index].edit(recorded) }
            change(itsThread) { _ in }
        case (.replyEdited, .reply(let itsThread, _, _, let itsReply, _)):
            for index in replies.indices where replies[index].id == itsReply { replies[index].edit(recorded) }
            change(itsThread) { _ in }
        case (.messageRetracted, .message(let itsThread, _, let itsMessage, _)):
            for index in messages.indices where messages[index].id == itsMessage { messages[index].retract() }
            change(itsThread) { _ in }
        case (.replyRetracted, .reply(let itsThread, _, _, let itsReply, _)):
            for index in replies.indices where replies[index].id == itsReply { replies[index].retract() }
            change(itsThread) { _ in }
        case (.messageRemoved, .message(let itsThread, _, let itsMessage, _)):
            for index in messages.indices where messages[index].id == itsMessage { messages[index].remove() }
            change(itsThread) { _ in }
        case (.replyRemoved, .reply(let itsThread, _, _, let itsReply, _)):
            for index in replies.indices where replies[index].id == itsReply { replies[index].remove() }
            change(itsThread) { _ in }
        case (.userInvited, .member(let itsThread, _, let itsUser, _)): change(itsThread) { $0.invited.insert(itsUser) }
        case (.invitationRevoked, .member(let itsThread, _, let itsUser, _)):
            change(itsThread) { $0.invited.remove(itsUser) }
        case (.invitationDeclined, .thread(let itsThread, _, let itsUser)):
            change(itsThread) { $0.invited.remove(itsUser) }
        case (.userBanned, .sanction(let itsThread, _, let itsUser, _, _)):
            change(itsThread) { $0.invited.remove(itsUser) }
        // No query of the history shows these, except as the latest event of their thread.
        case (.userUnmuted, .member(let itsThread, _, _, _)), (.userUnbanned, .member(let itsThread, _, _, _)):
            change(itsThread) { _ in }
        case (.userMuted, .sanction(let itsThread, _, _, _, _)): change(itsThread) { _ in }
        case (.messagePinned, .message(let itsThread, _, _, _)), (.messageUnpinned, .message(let itsThread, _, _, _)):
            change(itsThread) { _ in }
        case (.custom, .custom(let itsThread, _, _, _)): change(itsThread) { _ in }
        // A reaction does not move its thread.
        case (.reactionAdded, .message(_, _, let itsMessage, let itsUser)),
            (.reactionRemoved, .message(_, _, let itsMessage, let itsUser)):
            for index in messages.indices where messages[index].id == itsMessage {
                messages[index].react(itsUser, event)
            }
        case (.reactionAdded, .reply(_, _, _, let itsReply, let itsUser)),
            (.reactionRemoved, .reply(_, _, _, let itsReply, let itsUser)):
            for index in replies.indices where replies[index].id == itsReply { replies[index].react(itsUser, event) }
        case (.messageReported, _), (.replyReported, _), (.messageReportsResolved, _), (.replyReportsResolved, _): break
        case (.threadRead, .marker(let itsUser, let itsThread, let itsUpTo)):
            markers[Marker(user: itsUser, thread: itsThread)] = itsUpTo
        case (.threadMarkedUnread, .marker(let itsUser, let itsThread, let itsUpTo)):
            markers[Marker(user: itsUser, thread: itsThread)] = itsUpTo
        case (.notificationsSet, .notifications(let itsUser, let itsThread, let itsLevel, let itsUntil)):
            levels[Marker(user: itsUser, thread: itsThread)] = ThreadNotifications(level: itsLevel, until: itsUntil)
        // No query of the history shows the marker of an inbox, or a profile.
        case (.inboxRead, _), (.profileSet, _): break
        // The histories of these tests have no erasures and no lost events.
        default: break
        }
    }

    private mutating func endMembership(_ user: UserID, _ thread: ThreadID) {
        for index in stays.indices
        where stays[index].user == user && stays[index].thread == thread && stays[index].to == nil {
            stays[index].to = position
        }
        change(thread) { $0.members.removeAll { $0.user == user } }
    }

    /// Counts an event on the day of its creation.
    private mutating func count(_ event: ChatEvent) {
        switch event.kind {
        case .sessionEnded, .operatorGranted, .operatorRevoked: return
        default: break
        }
        guard let user = event.otherActor ?? event.user else { return }
        let number = CalendarDay(event.createdAt)
        var day = days[number] ?? ActivityDay(day: number)
        if active.insert(ActiveUser(user: user, day: number)).inserted { day.activeUserCount += 1 }
        switch event.kind {
        case .userRegistered: day.registrationCount += 1
        case .sessionStarted: day.sessionCount += 1
        case .messagePosted: day.messageCount += 1
        case .replyPosted: day.replyCount += 1
        default: break
        }
        days[number] = day
    }

    private mutating func change(_ user: UserID, _ body: (inout User) -> Void) {
        for index in users.indices where users[index].id == user { body(&users[index]) }
    }

    /// Changes a thread and records the event as its latest.
    private mutating func change(_ thread: ThreadID, _ body: (inout Room) -> Void) {
        for index in rooms.indices where rooms[index].id == thread {
            rooms[index].lastPosition = position
            body(&rooms[index])
        }
    }
}

extension SequentialChat.Text {
    fileprivate mutating func edit(_ recorded: RecordedEvent) {
        (body, editedAt) = (recorded.event.body, recorded.event.createdAt)
        (editPosition, textPosition) = (recorded.position, recorded.position)
    }

    fileprivate mutating func retract() { (body, isRetracted, textPosition) = (nil, true, nil) }

    fileprivate mutating func react(_ user: UserID, _ event: ChatEvent) {
        guard let emoji = event.emoji?.text else { return }
        if event.kind == .reactionAdded {
            reactions.append((user, emoji))
        } else {
            reactions.removeAll { $0 == (user, emoji) }
        }
    }

    /// A moderator still sees the removed text as of an earlier point, so its position stays.
    fileprivate mutating func remove() { (body, isRemoved) = (nil, true) }
}
