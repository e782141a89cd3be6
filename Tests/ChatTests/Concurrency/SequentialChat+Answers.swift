@testable import Chat
import ChatDomain
import EventJournal
import NaiveViews
import Projections

/// The answers to queries as of the last applied event.
extension SequentialChat {
    /// Answers a query as of the last applied event, regardless of the position that it names.
    ///
    /// - Parameter current: The current state, which also restricts a viewer. Nil for this state.
    func answer(_ query: Query, current: SequentialChat? = nil) -> Answer {
        let current = current ?? self
        do throws(ChatError) {
            switch query {
            case .head: return .position(position)
            case .timeline(let thread, let page, let viewer, _):
                var (room, start) = try readable(thread, viewer, current: current)
                if viewer != nil { start = max(start, try current.readable(thread, viewer).start) }
                let picked = pick(
                    page, of: messages.filter { $0.place == room.id && $0.position > start }, by: \.position)
                return .timeline(
                    picked.map { message in
                        var post = post(message, viewer)
                        let isPresent = current.messages.contains {
                            $0.id == message.id && $0.textPosition == message.textPosition
                                && (!$0.isRemoved || viewer.map { current.moderates($0, room.id) } ?? true)
                        }
                        if let viewer, viewer != message.author, !isPresent { post.body = nil }
                        // The current blocks count, whatever the queried position.
                        post.isFromBlockedUser = current.isBlocked(message.author, by: viewer)
                        return post
                    })
            case .message(let message): return .message(post(try found(message), nil))
            case .replies(let message):
                let message = try found(message)
                return .replies(replies.filter { $0.place == message.id }.map { post($0, nil) })
            case .members(let thread, let viewer): return .members(members(of: try readable(thread, viewer).room))
            case .readers(let thread, _):
                let room = try readable(thread, nil).room
                return .members(members(of: room) + operators(of: room))
            case .user(let user): return .user(view(of: try found(user)))
            case .threads(let viewer):
                return .threads(try shown(to: viewer).map { summary($0, viewer) })
            case .userNamed(let name): return .userID(users.first { $0.name?.foldKey == Username.foldKey(name) }?.id)
            case .residents(let code):
                let residents = users.filter { $0.postcode?.outwardCode == code }.sorted {
                    $0.residentSince < $1.residentSince
                }
                return .residents(
                    residents.map {
                        Resident(user: person($0.id), since: $0.residentSince, postcode: $0.postcode, outwardCode: code)
                    })
            case .access(let user, let viewer, _):
                if let viewer, viewer != user { throw ChatError.rejected(.notAllowed) }
                let user = try found(user).id
                return .access(
                    access(of: user).map {
                        ThreadAccess(thread: $0.thread, name: name(of: $0.thread), from: $0.from, to: $0.to)
                    })
            case .activity: return .activity(days.values.sorted { $0.day < $1.day })
            case .page(let list, let page, let viewer): return try answer(list, page, viewer)
            }
        } catch {
            return Answer(error)
        }
    }

    private func answer(_ list: Query.List, _ page: PageRequest, _ viewer: UserID?) throws(ChatError) -> Answer {
        switch list {
        case .threads:
            return answer(try shown(to: viewer), page, by: \.lastPosition) { .threads($0.map { summary($0, viewer) }) }
        case .timeline(let thread):
            let (room, start) = try readable(thread, viewer)
            return answer(messages.filter { $0.place == room.id && $0.position > start }, page, by: \.position) {
                .timeline($0.map { post($0, viewer) })
            }
        case .replies(let message):
            if let viewer { _ = try found(viewer) }
            let message = try found(message)
            let start: Position
            do throws(ChatError) { start = try readable(message.place, viewer).start } catch {
                if case .rejected(.unknownThread) = error { throw .rejected(.unknownMessage) }
                throw error
            }
            if message.position <= start { throw .rejected(.unknownMessage) }
            return answer(replies.filter { $0.place == message.id }, page, by: \.position) {
                .replies($0.map { post($0, viewer) })
            }
        }
    }

    private func answer<Entry>(
        _ entries: [Entry], _ page: PageRequest, by key: (Entry) -> Position, _ shown: ([Entry]) -> Answer
    ) -> Answer {
        let picked = pick(page, of: entries, by: key)
        // The place of an empty page: after its `after`, before its `before`, or at the end.
        let end = page.after ?? page.before.map { $0 == 0 ? 0 : $0 - 1 } ?? position
        let place = min(position, end)
        let newer = picked.last.map(key) ?? max(page.after ?? 0, place)
        let start = picked.first.map(key) ?? place + 1
        return .page(shown(picked), older: entries.contains { key($0) < start } ? start : nil, newer: newer)
    }

    /// Returns the threads that a viewer may read, ordered by their last positions.
    private func shown(to viewer: UserID?) throws(ChatError) -> [Room] {
        if let viewer { _ = try found(viewer) }
        return rooms.filter { start(viewer, in: $0) != nil }.sorted { $0.lastPosition < $1.lastPosition }
    }

    /// Returns the position after which a viewer may read the messages of a thread; nil if they may
    /// read none of it.
    private func start(_ viewer: UserID?, in room: Room) -> Position? {
        guard let viewer else { return 0 }
        if room.policy != .inviteOnly, operators.contains(where: { $0.user == viewer }) { return 0 }
        return room.members.first { $0.user == viewer }.map { member in
            let returns = room.people?.count ?? 0 > 2 && stays.count { $0.thread == room.id && $0.user == viewer } > 1
            return room.history == .sinceJoining || returns ? member.since : 0
        }
    }

    private func moderates(_ user: UserID, _ thread: ThreadID) -> Bool {
        operators.contains { $0.user == user } && !rooms.contains { $0.id == thread && $0.people != nil }
            || rooms.contains { $0.id == thread && $0.members.contains { $0.user == user && $0.role != .member } }
    }

    /// Returns the periods in which a user could read each thread.
    func access(of user: UserID) -> [Access] {
        var ranges = stays.filter { $0.user == user }.map { Access(thread: $0.thread, from: $0.from, to: $0.to) }
        for period in operatorPeriods where period.user == user {
            for room in rooms where room.policy != .inviteOnly {
                let from = max(period.from, room.openedAt)
                if from < period.to ?? .max { ranges.append(Access(thread: room.id, from: from, to: period.to)) }
            }
        }
        return NaiveViews.merged(ranges)
    }

    private func members(of room: Room) -> [ThreadMember] {
        room.members.map { ThreadMember(user: person($0.user), since: $0.since) }
    }

    /// Returns the operators who may read a thread without being a member.
    private func operators(of room: Room) -> [ThreadMember] {
        if room.policy == .inviteOnly { return [] }
        return operators.filter { reader in !room.members.contains { $0.user == reader.user } }
            .map { ThreadMember(user: person($0.user), since: max($0.since, room.openedAt)) }.sorted {
                $0.since < $1.since
            }
    }

    private func isBlocked(_ user: UserID, by viewer: UserID?) -> Bool {
        viewer.map { blocks.contains(EventShape.block(user: user, by: $0)) } ?? false
    }

    private func name(of thread: ThreadID) -> String? { rooms.first { $0.id == thread }?.name }

    /// Returns the positions of the unread messages.
    ///
    /// These are the messages of others whom the user does not block that are neither retracted nor
    /// removed, after the later of read marker and last join, and that no level silenced.
    func unread(_ user: UserID, in room: Room) -> [Position] {
        guard let since = room.members.first(where: { $0.user == user })?.since else { return [] }
        let seen = max(since, readUpTo(user, in: room))
        return messages.filter { message in
            message.place == room.id && message.position > seen && message.author != user && !message.isRetracted
                && !message.isRemoved
                && !isBlocked(message.author, by: user) && !message.silenced.contains(user)
        }.map(\.position)
    }

    func readUpTo(_ user: UserID, in room: Room) -> Position { markers[Marker(user: user, thread: room.id)] ?? 0 }

    private func found(_ user: UserID) throws(ChatError) -> User {
        guard let found = users.first(where: { $0.id == user }) else { throw .rejected(.unknownUser) }
        return found
    }

    private func found(_ message: MessageID) throws(ChatError) -> Text<MessageID, ThreadID> {
        guard let found = messages.first(where: { $0.id == message }) else { throw .rejected(.unknownMessage) }
        return found
    }

    /// Returns a thread that a viewer may read, and the position after which.
    ///
    /// - Parameter current: The current state, which tells whether the thread exists for the
    ///   viewer.
    private func readable(
        _ thread: ThreadID, _ viewer: UserID?, current: SequentialChat? = nil
    ) throws(ChatError) -> (room: Room, start: Position) {
        if let viewer { _ = try found(viewer) }
        guard let room = rooms.first(where: { $0.id == thread }) else { throw .rejected(.unknownThread) }
        if let start = start(viewer, in: room) { return (room, start) }
        let now = (current ?? self).rooms.first { $0.id == thread } ?? room
        let isConcerned = now.members.contains { $0.user == viewer } || viewer.map(now.invited.contains) ?? true
        throw .rejected(now.policy != .inviteOnly || isConcerned ? .notAMember : .unknownThread)
    }

    private func pick<Entry>(_ page: PageRequest, of entries: [Entry], by key: (Entry) -> Position) -> [Entry] {
        let entries = entries.filter { key($0) < page.before ?? .max && key($0) > page.after ?? 0 }
        return Array(page.after == nil ? entries.suffix(page.limit) : entries.prefix(page.limit))
    }

    private func person(_ user: UserID) -> UserSummary {
        UserSummary(id: user, username: users.first { $0.id == user }?.name?.text)
    }

    private func post(_ message: Text<MessageID, ThreadID>, _ viewer: UserID?) -> Post {
        Post(
            id: .message(message.id), position: message.position, thread: message.place, message: message.id,
            author: person(message.author), body: message.body, createdAt: message.createdAt,
            editedAt: message.editedAt,
            editPosition: message.editPosition, isRetracted: message.isRetracted, isRemoved: message.isRemoved,
            isFromBlockedUser: isBlocked(message.author, by: viewer),
            replyCount: replies.count { $0.place == message.id && !$0.isRetracted && !$0.isRemoved },
            reactions: message.reactions(of: viewer))
    }

    private func post(_ reply: Text<ReplyID, MessageID>, _ viewer: UserID?) -> Post {
        Post(
            id: .reply(reply.id), position: reply.position, message: reply.place, author: person(reply.author),
            body: reply.body,
            createdAt: reply.createdAt, editedAt: reply.editedAt, editPosition: reply.editPosition,
            isRetracted: reply.isRetracted,
            isRemoved: reply.isRemoved, isFromBlockedUser: isBlocked(reply.author, by: viewer), replyCount: 0,
            reactions: reply.reactions(of: viewer))
    }

    private func summary(_ room: Room, _ viewer: UserID?) -> ThreadSummary {
        let start = start(viewer, in: room) ?? position
        return ThreadSummary(
            id: room.id, name: room.name, people: room.people?.map(person), outwardCode: room.id.outwardCode,
            memberCount: room.members.count,
            messageCount: messages.count { $0.place == room.id && $0.position > start },
            lastPosition: room.lastPosition,
            createdAt: room.createdAt, policy: room.policy, history: room.history, isLocked: room.isLocked,
            isClosed: room.isClosed)
    }

    private func view(of user: User) -> UserDetails {
        let memberships = rooms.compactMap { room in
            room.members.first { $0.user == user.id }.map { (room: room, since: $0.since) }
        }
        return UserDetails(
            id: user.id, username: user.name?.text, postcode: user.postcode, createdAt: user.createdAt,
            threads: memberships.sorted { $0.since < $1.since }.map { room, since in
                let start = start(user.id, in: room) ?? position
                let unread = unread(user.id, in: room)
                return UserThread(
                    id: room.id, name: room.name, people: room.people?.map(person), since: since,
                    unreadCount: unread.count,
                    firstUnread: unread.min(),
                    readUpTo: readUpTo(user.id, in: room),
                    notifications: levels[Marker(user: user.id, thread: room.id)] ?? ThreadNotifications(),
                    lastMessage: messages.last { $0.place == room.id && $0.position > start }.map { post($0, nil) })
            })
    }
}
