@testable import Chat
import ChatDomain
import EventJournal
import Projections

/// What a store shows after some events, one after another: lists that are gone through from end to end.
///
/// The naive model of the read models' tests goes through all events for every question, which is too slow to be asked at every position of thousands of histories. This
/// one keeps what it was told; ``LinearizabilityTests`` holds it to that one.
struct SequentialChat {
    struct User {
        var id: UserID
        var name: Username?
        var postcode: Postcode?
        /// Since when the user lives in the outward code of the postcode.
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
        /// Of the event that wrote the text; nil once it is retracted.
        var textPosition: Position?
    }

    /// A stretch of positions in which somebody was in a thread.
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
    private(set) var days: [Day: ActivityDay] = [:]
    private var active: Set<ActiveUser> = []

    private struct ActiveUser: Hashable {
        var user: UserID
        var day: Day
    }

    mutating func take(_ recorded: RecordedEvent) {
        let event = recorded.event
        position = recorded.position
        count(event)
        switch event.fact {
        case .userRegistered(let fact): users.append(User(id: fact.user, name: event.username, createdAt: event.createdAt))
        case .usernameChanged(let fact): change(fact.user) { $0.name = event.username }
        case .postcodeSet(let fact):
            change(fact.user) { user in
                if user.postcode?.outwardCode != event.postcode?.outwardCode { user.residentSince = recorded.position }
                user.postcode = event.postcode
            }
        case .threadOpened(let fact):
            let name: String? = if case .threadName(let name) = event.content { name } else { fact.thread.outwardCode?.description }
            rooms.append(Room(id: fact.thread, name: name, createdAt: event.createdAt, lastPosition: position))
        case .threadJoined(let fact):
            stays.append(Stay(user: fact.user, thread: fact.thread, from: position))
            change(fact.thread) { $0.members.append((fact.user, recorded.position)) }
        case .threadLeft(let fact):
            for index in stays.indices where stays[index].user == fact.user && stays[index].thread == fact.thread && stays[index].to == nil
            {
                stays[index].to = position
            }
            change(fact.thread) { $0.members.removeAll { $0.user == fact.user } }
        case .messagePosted(let fact):
            messages.append(
                Post(
                    id: fact.message, place: fact.thread, position: position, author: fact.author, body: event.body,
                    createdAt: event.createdAt, textPosition: position))
            change(fact.thread) { _ in }
        case .replyPosted(let fact):
            replies.append(
                Post(
                    id: fact.reply, place: fact.message, position: position, author: fact.author, body: event.body,
                    createdAt: event.createdAt, textPosition: position))
            change(fact.thread) { _ in }
        case .messageEdited(let fact):
            for index in messages.indices where messages[index].id == fact.message { messages[index].edit(recorded) }
            change(fact.thread) { _ in }
        case .replyEdited(let fact):
            for index in replies.indices where replies[index].id == fact.reply { replies[index].edit(recorded) }
            change(fact.thread) { _ in }
        case .messageRetracted(let fact):
            for index in messages.indices where messages[index].id == fact.message { messages[index].retract() }
            change(fact.thread) { _ in }
        case .replyRetracted(let fact):
            for index in replies.indices where replies[index].id == fact.reply { replies[index].retract() }
            change(fact.thread) { _ in }
        case .threadRead(let fact): markers[Marker(user: fact.user, thread: fact.thread)] = fact.upTo
        case .sessionStarted, .sessionEnded, .lost, .unknown: break
        }
    }

    /// Counts an event on the day that it shows.
    private mutating func count(_ event: Event) {
        if case .sessionEnded = event.fact { return }
        guard let user = event.fact.user else { return }
        let number = Day(event.createdAt)
        var day = days[number] ?? ActivityDay(day: number)
        if active.insert(ActiveUser(user: user, day: number)).inserted { day.activeUsers += 1 }
        switch event.fact {
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

    /// Changes a thread by an event of its own, which is its latest.
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
