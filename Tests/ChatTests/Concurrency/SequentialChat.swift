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

    struct Post<ID: EntityID, Place: EntityID> {
        var id: ID
        var place: Place
        var position: Position
        var author: UserID
        var body: String?
        var createdAt: Timestamp
        var editedAt: Timestamp?
        var isRetracted = false
        var isRemoved = false
        /// The position of the event that wrote the text; nil once retracted.
        var textPosition: Position?
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
    private(set) var messages: [Post<MessageID, ThreadID>] = []
    private(set) var replies: [Post<ReplyID, MessageID>] = []
    private(set) var stays: [Stay] = []
    /// The operators, in the order of the grants.
    private(set) var operators: [(user: UserID, since: Position)] = []
    /// The periods of all operators.
    private(set) var operatorPeriods: [(user: UserID, from: Position, to: Position?)] = []
    private(set) var blocks: Set<UserBlock> = []
    private(set) var markers: [Marker: Position] = [:]
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
        switch event.details {
        case .userRegistered(let details): users.append(User(id: details.user, name: event.username, createdAt: event.createdAt))
        case .usernameChanged(let details): change(details.user) { $0.name = event.username }
        case .postcodeSet(let details):
            change(details.user) { user in
                if user.postcode?.outwardCode != event.postcode?.outwardCode { user.residentSince = recorded.position }
                user.postcode = event.postcode
            }
        case .threadOpened(let details):
            let name: String? = if case .threadName(let name) = event.content { name } else { details.thread.outwardCode?.description }
            rooms.append(
                Room(
                    id: details.thread, name: name, createdAt: event.createdAt, openedAt: position, lastPosition: position,
                    policy: details.thread.outwardCode == nil ? .open : .residents,
                    awaitedOpener: details.thread.outwardCode == nil && event.origin == .native ? details.by : nil))
        case .threadPolicySet(let details):
            change(details.thread) { ($0.policy, $0.history) = (details.policy, details.history) }
        case .threadJoined(let details):
            stays.append(Stay(user: details.user, thread: details.thread, from: position))
            change(details.thread) { room in
                room.members.append((details.user, recorded.position, room.awaitedOpener == details.user ? .owner : .member))
                room.awaitedOpener = nil
                room.invited.remove(details.user)
            }
        case .threadLeft(let details): endMembership(details.user, details.thread)
        case .memberRemoved(let details): endMembership(details.user, details.thread)
        case .roleSet(let details):
            change(details.thread) { room in
                for index in room.members.indices where room.members[index].user == details.user { room.members[index].role = details.role }
            }
        case .threadLocked(let details): change(details.thread) { $0.isLocked = true }
        case .threadUnlocked(let details): change(details.thread) { $0.isLocked = false }
        case .threadClosed(let details): change(details.thread) { $0.isClosed = true }
        case .operatorGranted(let details):
            operators.append((details.user, position))
            operatorPeriods.append((details.user, position, nil))
        case .operatorRevoked(let details):
            operators.removeAll { $0.user == details.user }
            for index in operatorPeriods.indices where operatorPeriods[index].user == details.user && operatorPeriods[index].to == nil {
                operatorPeriods[index].to = position
            }
        case .userBlocked(let details): blocks.insert(details)
        case .userUnblocked(let details): blocks.remove(details)
        case .messagePosted(let details):
            messages.append(
                Post(
                    id: details.message, place: details.thread, position: position, author: details.author, body: event.body,
                    createdAt: event.createdAt, textPosition: position))
            change(details.thread) { _ in }
        case .replyPosted(let details):
            replies.append(
                Post(
                    id: details.reply, place: details.message, position: position, author: details.author, body: event.body,
                    createdAt: event.createdAt, textPosition: position))
            change(details.thread) { _ in }
        case .messageEdited(let details):
            for index in messages.indices where messages[index].id == details.message { messages[index].edit(recorded) }
            change(details.thread) { _ in }
        case .replyEdited(let details):
            for index in replies.indices where replies[index].id == details.reply { replies[index].edit(recorded) }
            change(details.thread) { _ in }
        case .messageRetracted(let details):
            for index in messages.indices where messages[index].id == details.message { messages[index].retract() }
            change(details.thread) { _ in }
        case .replyRetracted(let details):
            for index in replies.indices where replies[index].id == details.reply { replies[index].retract() }
            change(details.thread) { _ in }
        case .messageRemoved(let details):
            for index in messages.indices where messages[index].id == details.message { messages[index].remove() }
            change(details.thread) { _ in }
        case .replyRemoved(let details):
            for index in replies.indices where replies[index].id == details.reply { replies[index].remove() }
            change(details.thread) { _ in }
        case .userInvited(let details): change(details.thread) { $0.invited.insert(details.user) }
        case .invitationRevoked(let details): change(details.thread) { $0.invited.remove(details.user) }
        case .invitationDeclined(let details): change(details.thread) { $0.invited.remove(details.user) }
        case .userBanned(let details): change(details.thread) { $0.invited.remove(details.user) }
        // No query of the history shows these, except as the latest event of their thread.
        case .userUnmuted(let details), .userUnbanned(let details): change(details.thread) { _ in }
        case .userMuted(let details): change(details.thread) { _ in }
        case .messagePinned(let details), .messageUnpinned(let details): change(details.thread) { _ in }
        case .custom(let details): change(details.thread) { _ in }
        case .messageReported, .replyReported, .messageReportsResolved, .replyReportsResolved: break
        case .threadRead(let details): markers[Marker(user: details.user, thread: details.thread)] = details.upTo
        case .sessionStarted, .sessionEnded, .userErased, .contentErased, .clockCorrected, .lost, .unknown: break
        }
    }

    private mutating func endMembership(_ user: UserID, _ thread: ThreadID) {
        for index in stays.indices where stays[index].user == user && stays[index].thread == thread && stays[index].to == nil {
            stays[index].to = position
        }
        change(thread) { $0.members.removeAll { $0.user == user } }
    }

    /// Counts an event on the day of its creation.
    private mutating func count(_ event: ChatEvent) {
        switch event.details {
        case .sessionEnded, .operatorGranted, .operatorRevoked: return
        default: break
        }
        guard let user = event.details.otherActor ?? event.details.user else { return }
        let number = CalendarDay(event.createdAt)
        var day = days[number] ?? ActivityDay(day: number)
        if active.insert(ActiveUser(user: user, day: number)).inserted { day.activeUserCount += 1 }
        switch event.details {
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

extension SequentialChat.Post {
    fileprivate mutating func edit(_ recorded: RecordedEvent) {
        (body, editedAt, textPosition) = (recorded.event.body, recorded.event.createdAt, recorded.position)
    }

    fileprivate mutating func retract() { (body, isRetracted, textPosition) = (nil, true, nil) }

    /// A moderator still sees the removed text as of an earlier point, so its position stays.
    fileprivate mutating func remove() { (body, isRemoved) = (nil, true) }
}
