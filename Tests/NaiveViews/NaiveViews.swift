package import ChatDomain
package import Projections

/// A naive implementation of the read models, for comparison.
///
/// Every query scans all events. The implementation follows the documentation (`ChatDomain.md`,
/// `Projections.md`), not the code of the projections.
package struct NaiveViews {
    /// The history, in order.
    package var events: [RecordedEvent] { facts.map(\.recorded) }
    /// The history, in order.
    package let facts: [Fact]

    /// Creates the views of a history.
    package init(events: [RecordedEvent]) { self.init(facts: events.map { Fact($0) }) }

    package init(facts: [Fact]) { self.facts = facts }

    /// Returns the views of the events up to a position.
    package func asOf(_ position: Position) -> NaiveViews {
        NaiveViews(facts: Array(facts.prefix { $0.position <= position }))
    }

    /// An event, with its fields at hand: to make the shape of an event for each scan would take most
    /// of the time.
    package final class Fact: Sendable {
        package let recorded: RecordedEvent
        package let position: Position
        package let kind: EventKind?
        package let shape: EventShape
        package let thread: ThreadID?
        package let user: UserID?
        package let otherActor: UserID?
        package let message: MessageID?
        package let reply: ReplyID?
        package let threadNumber: UInt64?

        package init(_ recorded: RecordedEvent) {
            self.recorded = recorded
            let event = recorded.event
            (position, kind, shape, thread) = (recorded.position, event.kind, event.shape, event.thread)
            (user, otherActor, message, reply) = (event.user, event.otherActor, event.message, event.reply)
            threadNumber = event.threadNumber
        }

        package var event: ChatEvent { recorded.event }
        var mentions: [UserID] { recorded.event.mentions }
        var emoji: Emoji? { recorded.event.emoji }
        var recordedAt: Timestamp { recorded.event.recordedAt }
    }

    /// A message as a timeline shows it, without its text.
    package struct Message: Equatable {
        package var id: MessageID
        package var position: Position
        package var author: UserID
        package var editPosition: Position?
        package var isRetracted: Bool
        package var isRemoved: Bool
        package var replyCount: Int

        package init(
            id: MessageID, position: Position, author: UserID, editPosition: Position?, isRetracted: Bool,
            isRemoved: Bool = false,
            replyCount: Int
        ) {
            self.id = id
            self.position = position
            self.author = author
            self.editPosition = editPosition
            self.isRetracted = isRetracted
            self.isRemoved = isRemoved
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
        package var isRemoved: Bool

        package init(
            id: ReplyID, position: Position, author: UserID, editPosition: Position?, isRetracted: Bool,
            isRemoved: Bool = false
        ) {
            self.id = id
            self.position = position
            self.author = author
            self.editPosition = editPosition
            self.isRetracted = isRetracted
            self.isRemoved = isRemoved
        }
    }

    /// Returns the messages of a thread, in order.
    package func messages(of thread: ThreadID) -> [Message] {
        facts.compactMap { recorded in
            guard recorded.kind == .messagePosted, recorded.thread == thread, let id = recorded.message,
                let author = recorded.user
            else {
                return nil
            }
            return Message(
                id: id, position: recorded.position, author: author,
                editPosition: lastPosition { $0.kind == .messageEdited && $0.message == id },
                isRetracted: lastPosition { $0.kind == .messageRetracted && $0.message == id } != nil,
                isRemoved: lastPosition { $0.kind == .messageRemoved && $0.message == id } != nil,
                replyCount: replies(to: id).count { !$0.isRetracted && !$0.isRemoved })
        }
    }

    /// Returns the replies to a message, in order.
    package func replies(to message: MessageID) -> [Reply] {
        facts.compactMap { recorded in
            guard recorded.kind == .replyPosted, recorded.message == message, let id = recorded.reply,
                let author = recorded.user
            else {
                return nil
            }
            return Reply(
                id: id, position: recorded.position, author: author,
                editPosition: lastPosition { $0.kind == .replyEdited && $0.reply == id },
                isRetracted: lastPosition { $0.kind == .replyRetracted && $0.reply == id } != nil,
                isRemoved: lastPosition { $0.kind == .replyRemoved && $0.reply == id } != nil)
        }
    }

    /// Returns the current members with the positions of their latest joins, in that order.
    package func members(of thread: ThreadID) -> [(user: UserID, since: Position)] {
        var members: [(user: UserID, since: Position)] = []
        for recorded in facts {
            switch (recorded.kind, recorded.shape) {
            case (.threadJoined, .thread(let joinedThread, _, let joinedUser)) where joinedThread == thread:
                members.append((joinedUser, recorded.position))
            case (.threadLeft, .thread(let leftThread, _, let leftUser)) where leftThread == thread:
                members.removeAll { $0.user == leftUser }
            case (.memberRemoved, .member(let removedThread, _, let removedUser, _)) where removedThread == thread:
                members.removeAll { $0.user == removedUser }
            default: break
            }
        }
        return members
    }

    /// Returns the positions at which a user gained and lost each thread, ordered by the gains.
    ///
    /// Operators gain every thread while it is not `inviteOnly`.
    package func access(of user: UserID) -> [Access] {
        Self.merged(
            stays(of: user)
                + operatorPeriods(of: user).flatMap { period in
                    threads.flatMap { thread in
                        disclosedPeriods(of: thread).compactMap { disclosed in
                            let from = max(period.from, disclosed.from)
                            let to = [period.to, disclosed.to].compactMap { $0 }.min()
                            return from < to ?? .max ? Access(thread: thread, from: from, to: to) : nil
                        }
                    }
                })
    }

    /// Returns the ranges, ordered by start and thread, with overlapping ones of a thread as one.
    private static func merged(_ ranges: [Access]) -> [Access] {
        var rest = ranges
        var merged: [Access] = []
        while var range = rest.popLast() {
            // Takes in overlapping ranges until there are none.
            while let index = rest.firstIndex(where: {
                $0.thread == range.thread && $0.from < range.to ?? .max && range.from < $0.to ?? .max
            }) {
                let other = rest.remove(at: index)
                range.from = min(range.from, other.from)
                range.to = if let to = range.to, let end = other.to { max(to, end) } else { nil }
            }
            merged.append(range)
        }
        return merged.sorted { ($0.from, $0.thread) < ($1.from, $1.thread) }
    }

    private func operatorPeriods(of user: UserID) -> [(from: Position, to: Position?)] {
        var periods: [(from: Position, to: Position?)] = []
        for recorded in facts {
            switch (recorded.kind, recorded.shape) {
            case (.operatorGranted, .user(let itsUser)) where itsUser == user: periods.append((recorded.position, nil))
            case (.operatorRevoked, .user(let itsUser)) where itsUser == user:
                periods[periods.count - 1].to = recorded.position
            default: break
            }
        }
        return periods
    }

    /// Returns the position at which a thread was opened.
    package func openingPosition(of thread: ThreadID) -> Position {
        facts.first { ($0.kind == .threadOpened || $0.kind == .directOpened) && $0.thread == thread }?.position ?? 0
    }

    /// Returns the memberships of a user, ordered by start.
    package func stays(of user: UserID) -> [Access] {
        var stretches: [Access] = []
        for recorded in facts {
            switch (recorded.kind, recorded.shape) {
            case (.threadJoined, .thread(let joinedThread, _, let joinedUser)) where joinedUser == user:
                stretches.append(Access(thread: joinedThread, from: recorded.position))
            case (.threadLeft, .thread(let leftThread, _, let leftUser)) where leftUser == user:
                if let index = stretches.lastIndex(where: { $0.thread == leftThread }) {
                    stretches[index].to = recorded.position
                }
            case (.memberRemoved, .member(let removedThread, _, let removedUser, _)) where removedUser == user:
                if let index = stretches.lastIndex(where: { $0.thread == removedThread }), stretches[index].to == nil {
                    stretches[index].to = recorded.position
                }
            default: break
            }
        }
        return stretches
    }

    /// Returns the current residents with the positions of their latest moves, in that order.
    package func residents(of code: OutwardCode) -> [(user: UserID, since: Position, postcode: Postcode)] {
        var residents: [(user: UserID, since: Position, postcode: Postcode)] = []
        for recorded in facts {
            guard case (.postcodeSet, .postcode(let itsUser, _)) = (recorded.kind, recorded.shape),
                let postcode = recorded.event.postcode
            else { continue }
            if let index = residents.firstIndex(where: { $0.user == itsUser }) {
                if postcode.outwardCode == code {
                    residents[index].postcode = postcode
                } else {
                    residents.remove(at: index)
                }
            } else if postcode.outwardCode == code {
                residents.append((itsUser, recorded.position, postcode))
            }
        }
        return residents
    }

    /// Returns the read marker of a user in a thread, or 0 without one.
    package func readUpTo(_ user: UserID, in thread: ThreadID) -> Position {
        facts.reduce(0) { marker, recorded in
            switch (recorded.kind, recorded.shape) {
            case (.threadRead, .marker(let readUser, let readThread, let upTo))
            where readUser == user && readThread == thread: upTo
            case (.threadMarkedUnread, .marker(let readUser, let readThread, let upTo))
            where readUser == user && readThread == thread: upTo
            default: marker
            }
        }
    }

    /// Returns the level that a user set in a thread last, and its end; `all` once an event was
    /// recorded at the end or later.
    ///
    /// - Parameter position: Later events count only for the end, up to this one itself.
    package func notifications(
        _ user: UserID, in thread: ThreadID, asOf position: Position = .max
    ) -> (level: NotificationLevel, until: Timestamp?) {
        var held: (level: NotificationLevel, until: Timestamp?) = (.all, nil)
        for recorded in facts where recorded.position <= position {
            if let until = held.until, recorded.recordedAt >= until { held = (.all, nil) }
            if case (.notificationsSet, .notifications(user, thread, let level, let until)) = (
                recorded.kind, recorded.shape
            ) {
                held = (level, until)
            }
        }
        return held
    }

    /// Counts messages by others whom the user does not block that are neither retracted nor
    /// removed, after the later of read marker and last join; 0 for non-members.
    ///
    /// Under the level `mentions`, those that mention the user now; under `none`, no message.
    ///
    /// - Parameter blocked: The users whom the user blocks now; nil for those of this history.
    package func unreadCount(_ user: UserID, in thread: ThreadID, except blocked: Set<UserID>? = nil) -> Int {
        unreadPositions(user, in: thread, except: blocked).count
    }

    /// Returns the position of the first message that ``unreadCount(_:in:except:)`` counts.
    package func firstUnread(_ user: UserID, in thread: ThreadID, except blocked: Set<UserID>? = nil) -> Position? {
        unreadPositions(user, in: thread, except: blocked).min()
    }

    package func unreadPositions(_ user: UserID, in thread: ThreadID, except blocked: Set<UserID>?) -> [Position] {
        guard let since = members(of: thread).first(where: { $0.user == user })?.since else { return [] }
        let seen = max(since, readUpTo(user, in: thread))
        let skipped = (blocked ?? blockedUsers(of: user)).union([user])
        return messages(of: thread).filter { message in
            guard message.position > seen, !skipped.contains(message.author), !message.isRetracted, !message.isRemoved
            else { return false }
            return switch notifications(user, in: thread, asOf: message.position).level {
            case .all: true
            case .mentions: facts[Int(message.editPosition ?? message.position) - 1].mentions.contains(user)
            case .none: false
            }
        }.map(\.position)
    }

    /// Returns the position of the last event of a thread, without read markers, reports and
    /// reactions.
    package func lastPosition(of thread: ThreadID) -> Position? {
        facts.last { recorded in
            recorded.threadNumber != nil && recorded.thread == thread
                && recorded.kind != .reactionAdded && recorded.kind != .reactionRemoved
        }?.position
    }

    /// Returns the current name of a user.
    package func username(_ user: UserID) -> String? {
        facts.last { recorded in
            switch (recorded.kind, recorded.shape) {
            case (.userRegistered, .user(let itsUser)): itsUser == user
            case (.usernameChanged, .user(let itsUser)): itsUser == user
            default: false
            }
        }?.event.username?.text
    }

    /// The registered users, in order.
    package var users: [UserID] {
        facts.compactMap {
            if case (.userRegistered, .user(let itsUser)) = ($0.kind, $0.shape) { itsUser } else { nil }
        }
    }

    /// The open threads, in order.
    package var threads: [ThreadID] {
        facts.compactMap { $0.kind == .threadOpened || $0.kind == .directOpened ? $0.thread : nil }
    }

    private func lastPosition(where condition: (Fact) -> Bool) -> Position? {
        facts.last(where: condition)?.position
    }
}
