@testable import Chat
import ChatDomain
import EventJournal
import Projections

/// The answers to the questions as of the last event that was taken.
extension SequentialChat {
    /// Answers a question, which is about now whatever moment it names.
    func answer(_ query: Query) -> Answer {
        do throws(ChatError) {
            switch query {
            case .head: return .position(position)
            case .timeline(let thread, let page, let viewer, _):
                let room = try readable(thread, viewer)
                return .timeline(pick(page, of: messages.filter { $0.place == room.id }).map(entry))
            case .message(let message): return .message(entry(try found(message)))
            case .replies(let message):
                let message = try found(message)
                return .replies(replies.filter { $0.place == message.id }.map(entry))
            case .members(let thread, let viewer):
                return .members(try readable(thread, viewer).members.map { Member(user: person($0.user), since: $0.since) })
            case .user(let user): return .user(view(of: try found(user)))
            case .threads(let viewer):
                if let viewer { _ = try found(viewer) }
                let shown = rooms.filter { room in viewer.map { viewer in room.members.contains { $0.user == viewer } } ?? true }
                return .threads(shown.sorted { $0.lastPosition < $1.lastPosition }.map(summary))
            case .userNamed(let name): return .userID(users.first { $0.name?.foldKey == Username.foldKey(name) }?.id)
            case .residents(let code):
                let residents = users.filter { $0.postcode?.outwardCode == code }.sorted { $0.residentSince < $1.residentSince }
                return .residents(residents.map { Resident(user: person($0.id), since: $0.residentSince, postcode: $0.postcode) })
            }
        } catch {
            return Answer(error)
        }
    }

    /// Messages after the later of read marker and last join, by others, not retracted.
    func unread(_ user: UserID, in room: Room) -> Int {
        guard let since = room.members.first(where: { $0.user == user })?.since else { return 0 }
        let seen = max(since, readUpTo(user, in: room))
        return messages.count { $0.place == room.id && $0.position > seen && $0.author != user && !$0.isRetracted }
    }

    func readUpTo(_ user: UserID, in room: Room) -> Position { markers[Marker(user: user, thread: room.id)] ?? 0 }

    private func found(_ user: UserID) throws(ChatError) -> User {
        guard let found = users.first(where: { $0.id == user }) else { throw .rejected(.unknownUser) }
        return found
    }

    private func found(_ message: MessageID) throws(ChatError) -> Post<MessageID, ThreadID> {
        guard let found = messages.first(where: { $0.id == message }) else { throw .rejected(.unknownMessage) }
        return found
    }

    private func readable(_ thread: ThreadID, _ viewer: UserID?) throws(ChatError) -> Room {
        if let viewer { _ = try found(viewer) }
        guard let room = rooms.first(where: { $0.id == thread }) else { throw .rejected(.unknownThread) }
        if let viewer, !room.members.contains(where: { $0.user == viewer }) { throw .rejected(.notAMember) }
        return room
    }

    private func pick(_ page: Page, of entries: [Post<MessageID, ThreadID>]) -> [Post<MessageID, ThreadID>] {
        let entries = entries.filter { $0.position < page.before ?? .max && $0.position > page.after ?? 0 }
        return Array(page.after == nil ? entries.suffix(page.limit) : entries.prefix(page.limit))
    }

    private func person(_ user: UserID) -> Person { Person(id: user, username: users.first { $0.id == user }?.name?.text) }

    private func entry(_ message: Post<MessageID, ThreadID>) -> TimelineEntry {
        TimelineEntry(
            position: message.position, id: message.id, thread: message.place, author: person(message.author), body: message.body,
            createdAt: message.createdAt, editedAt: message.editedAt, retracted: message.isRetracted,
            replyCount: replies.count { $0.place == message.id && !$0.isRetracted })
    }

    private func entry(_ reply: Post<ReplyID, MessageID>) -> ReplyEntry {
        ReplyEntry(
            position: reply.position, id: reply.id, message: reply.place, author: person(reply.author), body: reply.body,
            createdAt: reply.createdAt, editedAt: reply.editedAt, retracted: reply.isRetracted)
    }

    private func summary(_ room: Room) -> ThreadSummary {
        ThreadSummary(
            id: room.id, name: room.name, outwardCode: room.id.outwardCode, members: room.members.count,
            messages: messages.count { $0.place == room.id }, lastPosition: room.lastPosition, createdAt: room.createdAt)
    }

    private func view(of user: User) -> UserView {
        let memberships = rooms.compactMap { room in
            room.members.first { $0.user == user.id }.map { (room: room, since: $0.since) }
        }
        return UserView(
            id: user.id, username: user.name?.text, postcode: user.postcode, createdAt: user.createdAt,
            threads: memberships.sorted { $0.since < $1.since }.map(\.room).map { room in
                UserThread(
                    id: room.id, name: room.name, unread: unread(user.id, in: room), readUpTo: readUpTo(user.id, in: room),
                    lastMessage: messages.last { $0.place == room.id }.map(entry))
            })
    }
}
