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
        var lastPosition: Position
        var members: [(user: UserID, since: Position)] = []
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
            rooms.append(Room(id: details.thread, name: name, createdAt: event.createdAt, lastPosition: position))
        case .threadJoined(let details):
            stays.append(Stay(user: details.user, thread: details.thread, from: position))
            change(details.thread) { $0.members.append((details.user, recorded.position)) }
        case .threadLeft(let details):
            for index in stays.indices
            where stays[index].user == details.user && stays[index].thread == details.thread && stays[index].to == nil {
                stays[index].to = position
            }
            change(details.thread) { $0.members.removeAll { $0.user == details.user } }
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
        case .threadRead(let details): markers[Marker(user: details.user, thread: details.thread)] = details.upTo
        case .sessionStarted, .sessionEnded, .lost, .unknown: break
        default: if let thread = event.details.thread, event.details.threadNumber != nil { change(thread) { _ in } }
        }
    }

    /// Counts an event on the day of its creation.
    private mutating func count(_ event: ChatEvent) {
        if case .sessionEnded = event.details { return }
        guard let user = event.details.user else { return }
        let number = CalendarDay(event.createdAt)
        var day = days[number] ?? ActivityDay(day: number)
        if active.insert(ActiveUser(user: user, day: number)).inserted { day.activeUsers += 1 }
        switch event.details {
        case .userRegistered: day.registrations += 1
        case .sessionStarted: day.sessions += 1
        case .messagePosted: day.messages += 1
        case .replyPosted: day.replies += 1
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
}
