package import ChatDomain
package import Projections

/// A second, plain statement of the read models, for comparison.
///
/// Every query scans all events. It is written from the tables of the design, not from the projections.
package struct NaiveViews {
    /// The history, in order.
    package let events: [RecordedEvent]

    /// Makes the views of a history.
    package init(events: [RecordedEvent]) { self.events = events }

    /// A message as a timeline shows it, without its text.
    package struct Message: Equatable {
        package var id: MessageID
        package var position: Position
        package var author: UserID
        package var editPosition: Position?
        package var isRetracted: Bool
        package var replyCount: Int

        package init(
            id: MessageID, position: Position, author: UserID, editPosition: Position?, isRetracted: Bool, replyCount: Int
        ) {
            self.id = id
            self.position = position
            self.author = author
            self.editPosition = editPosition
            self.isRetracted = isRetracted
            self.replyCount = replyCount
        }
    }

    /// A reply as a list of replies shows it, without its text.
    package struct Reply: Equatable {
        package var id: ReplyID
        package var position: Position
        package var author: UserID
        package var editPosition: Position?
        package var isRetracted: Bool

        package init(id: ReplyID, position: Position, author: UserID, editPosition: Position?, isRetracted: Bool) {
            self.id = id
            self.position = position
            self.author = author
            self.editPosition = editPosition
            self.isRetracted = isRetracted
        }
    }

    /// The messages of a thread, in order.
    package func messages(of thread: ThreadID) -> [Message] {
        events.compactMap { recorded in
            guard case .messagePosted(let posted) = recorded.event.details, posted.thread == thread else { return nil }
            return Message(
                id: posted.message, position: recorded.position, author: posted.author,
                editPosition: lastPosition { $0 == .messageEdited(changed(posted.message, $0)) },
                isRetracted: lastPosition { $0 == .messageRetracted(changed(posted.message, $0)) } != nil,
                replyCount: replies(to: posted.message).count { !$0.isRetracted })
        }
    }

    /// The replies to a message, in order.
    package func replies(to message: MessageID) -> [Reply] {
        events.compactMap { recorded in
            guard case .replyPosted(let posted) = recorded.event.details, posted.message == message else { return nil }
            return Reply(
                id: posted.reply, position: recorded.position, author: posted.author,
                editPosition: lastPosition { if case .replyEdited(let edit) = $0 { edit.reply == posted.reply } else { false } },
                isRetracted: lastPosition { if case .replyRetracted(let change) = $0 { change.reply == posted.reply } else { false } }
                    != nil)
        }
    }

    /// Members now, each with the position of the latest join, in that order.
    package func members(of thread: ThreadID) -> [(user: UserID, since: Position)] {
        var members: [(user: UserID, since: Position)] = []
        for recorded in events {
            switch recorded.event.details {
            case .threadJoined(let joined) where joined.thread == thread: members.append((joined.user, recorded.position))
            case .threadLeft(let left) where left.thread == thread: members.removeAll { $0.user == left.user }
            default: break
            }
        }
        return members
    }

    /// When a user gained and lost each thread, in the order in which they were gained.
    package func access(of user: UserID) -> [Access] {
        var stretches: [Access] = []
        for recorded in events {
            switch recorded.event.details {
            case .threadJoined(let joined) where joined.user == user:
                stretches.append(Access(thread: joined.thread, from: recorded.position))
            case .threadLeft(let left) where left.user == user:
                if let index = stretches.lastIndex(where: { $0.thread == left.thread }) { stretches[index].to = recorded.position }
            default: break
            }
        }
        return stretches
    }

    /// Residents now, each with the position since which they live there, in that order.
    package func residents(of code: OutwardCode) -> [(user: UserID, since: Position, postcode: Postcode)] {
        var residents: [(user: UserID, since: Position, postcode: Postcode)] = []
        for recorded in events {
            guard case .postcodeSet(let details) = recorded.event.details, let postcode = recorded.event.postcode else { continue }
            if let index = residents.firstIndex(where: { $0.user == details.user }) {
                if postcode.outwardCode == code { residents[index].postcode = postcode } else { residents.remove(at: index) }
            } else if postcode.outwardCode == code {
                residents.append((details.user, recorded.position, postcode))
            }
        }
        return residents
    }

    /// The read marker of a user in a thread; 0 without one.
    package func readUpTo(_ user: UserID, in thread: ThreadID) -> Position {
        events.reduce(0) { marker, recorded in
            if case .threadRead(let read) = recorded.event.details, read.user == user, read.thread == thread { read.upTo } else { marker }
        }
    }

    /// Messages after the later of read marker and last join, by others, not retracted; none for who is no member.
    package func unread(_ user: UserID, in thread: ThreadID) -> Int {
        guard let since = members(of: thread).first(where: { $0.user == user })?.since else { return 0 }
        let seen = max(since, readUpTo(user, in: thread))
        return messages(of: thread).count { $0.position > seen && $0.author != user && !$0.isRetracted }
    }

    /// The position of the last event of a thread that is no read marker.
    package func lastPosition(of thread: ThreadID) -> Position? {
        events.last { recorded in
            if case .threadRead = recorded.event.details { return false }
            return recorded.event.details.thread == thread
        }?.position
    }

    /// The name that a user has now.
    package func username(_ user: UserID) -> String? {
        events.last { recorded in
            switch recorded.event.details {
            case .userRegistered(let details): details.user == user
            case .usernameChanged(let details): details.user == user
            default: false
            }
        }?.event.username?.text
    }

    /// The registered users, in order.
    package var users: [UserID] {
        events.compactMap { if case .userRegistered(let details) = $0.event.details { details.user } else { nil } }
    }

    /// The open threads, in order.
    package var threads: [ThreadID] {
        events.compactMap { if case .threadOpened(let details) = $0.event.details { details.thread } else { nil } }
    }

    private func lastPosition(where condition: (EventDetails) -> Bool) -> Position? {
        events.last { condition($0.event.details) }?.position
    }

    /// The same change of a message as a fact tells, or another that cannot be equal to it.
    private func changed(_ message: MessageID, _ details: EventDetails) -> MessageChanged {
        switch details {
        case .messageEdited(let change), .messageRetracted(let change):
            MessageChanged(thread: change.thread, number: change.number, message: message, by: change.by)
        default: MessageChanged(thread: ThreadID(bits: 0), number: 0, message: message, by: UserID(bits: 0))
        }
    }
}
