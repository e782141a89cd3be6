@testable import Chat
import ChatDomain
import EventJournal
import NaiveViews
import Projections

/// The answers to queries as of the last event.
extension NaiveViews {
    /// Answers a query as of the last event, regardless of the position that it names.
    ///
    /// - Parameter current: The current views, which also restrict a viewer. Nil for these views.
    func answer(_ query: Query, current: NaiveViews? = nil) -> Answer {
        let current = current ?? self
        do throws(ChatError) {
            switch query {
            case .head: return .position(position)
            case .timeline(let thread, let page, let viewer, _):
                var start = try readable(thread, viewer, current: current)
                if viewer != nil { start = max(start, try current.readable(thread, viewer)) }
                let picked = pick(page, of: messages(of: thread).filter { $0.position > start }, by: \.position)
                return .timeline(
                    picked.map { message in
                        var post = post(message, in: thread, viewer)
                        let isPresent = current.messages(of: thread).contains {
                            $0.id == message.id && $0.textPosition == message.textPosition
                                && (!$0.isRemoved || viewer.map { current.moderates($0, thread) } ?? true)
                        }
                        if let viewer, viewer != message.author, !isPresent { post.body = nil }
                        // The current blocks count, whatever the queried position.
                        post.isFromBlockedUser = current.isBlocked(message.author, by: viewer)
                        return post
                    })
            case .message(let id):
                let (message, thread) = try found(id)
                return .message(post(message, in: thread, nil))
            case .replies(let message):
                _ = try found(message)
                return .replies(replies(to: message).map { post($0, to: message, nil) })
            case .members(let thread, let viewer):
                _ = try readable(thread, viewer)
                return .members(shownMembers(of: thread))
            case .readers(let thread, _):
                _ = try readable(thread, nil)
                return .members(shownMembers(of: thread) + shownOperators(of: thread))
            case .user(let user):
                try find(user)
                return .user(details(of: user))
            case .threads(let viewer): return .threads(try shown(to: viewer).map { summary($0, viewer) })
            case .userNamed(let name):
                return .userID(
                    users.first { username($0).map { Username.foldKey($0) } == Username.foldKey(name) })
            case .residents(let code):
                return .residents(
                    residents(of: code).map {
                        Resident(user: person($0.user), since: $0.since, postcode: $0.postcode, outwardCode: code)
                    })
            case .access(let user, let viewer, _):
                if let viewer, viewer != user { throw ChatError.rejected(.notAllowed) }
                try find(user)
                return .access(
                    access(of: user).map {
                        ThreadAccess(thread: $0.thread, name: name(of: $0.thread), from: $0.from, to: $0.to)
                    })
            case .activity: return .activity(activity())
            case .page(let list, let page, let viewer): return try answer(list, page, viewer)
            }
        } catch {
            return Answer(error)
        }
    }

    private var position: Position { facts.last?.position ?? 0 }

    private func answer(_ list: Query.List, _ page: PageRequest, _ viewer: UserID?) throws(ChatError) -> Answer {
        switch list {
        case .threads:
            return answer(try shown(to: viewer), page, by: { lastPosition(of: $0) ?? 0 }) {
                .threads($0.map { summary($0, viewer) })
            }
        case .timeline(let thread):
            let start = try readable(thread, viewer)
            return answer(messages(of: thread).filter { $0.position > start }, page, by: \.position) {
                .timeline($0.map { post($0, in: thread, viewer) })
            }
        case .replies(let id):
            if let viewer { try find(viewer) }
            let (message, thread) = try found(id)
            let start: Position
            do throws(ChatError) { start = try readable(thread, viewer) } catch {
                if case .rejected(.unknownThread) = error { throw .rejected(.unknownMessage) }
                throw error
            }
            if message.position <= start { throw .rejected(.unknownMessage) }
            return answer(replies(to: id), page, by: \.position) { .replies($0.map { post($0, to: id, viewer) }) }
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

    private func pick<Entry>(_ page: PageRequest, of entries: [Entry], by key: (Entry) -> Position) -> [Entry] {
        let entries = entries.filter { key($0) < page.before ?? .max && key($0) > page.after ?? 0 }
        return Array(page.after == nil ? entries.suffix(page.limit) : entries.prefix(page.limit))
    }

    /// Returns the threads that a viewer may read, ordered by their last positions.
    private func shown(to viewer: UserID?) throws(ChatError) -> [ThreadID] {
        if let viewer { try find(viewer) }
        return threads.filter { start(viewer, in: $0) != nil }.sorted {
            lastPosition(of: $0) ?? 0 < lastPosition(of: $1) ?? 0
        }
    }

    /// Returns the position after which a viewer may read the messages of a thread; nil if they may
    /// read none of it.
    private func start(_ viewer: UserID?, in thread: ThreadID) -> Position? {
        guard let viewer else { return 0 }
        if policy(of: thread) != .inviteOnly, operators.contains(where: { $0.user == viewer }) { return 0 }
        return members(of: thread).first { $0.user == viewer }.map { member in
            let returns = people(of: thread)?.count ?? 0 > 2 && stays(of: viewer).count { $0.thread == thread } > 1
            return history(of: thread) == .sinceJoining || returns ? member.since : 0
        }
    }

    /// Returns the position after which a viewer may read a thread.
    ///
    /// - Parameter current: The current views, which tell whether the thread exists for the viewer.
    private func readable(
        _ thread: ThreadID, _ viewer: UserID?, current: NaiveViews? = nil
    ) throws(ChatError) -> Position {
        if let viewer { try find(viewer) }
        guard threads.contains(thread) else { throw .rejected(.unknownThread) }
        if let start = start(viewer, in: thread) { return start }
        let now = current ?? self
        let isConcerned =
            viewer.map { viewer in
                now.members(of: thread).contains { $0.user == viewer } || now.invitations(to: thread)[viewer] != nil
            } ?? true
        throw .rejected(now.policy(of: thread) != .inviteOnly || isConcerned ? .notAMember : .unknownThread)
    }

    private func find(_ user: UserID) throws(ChatError) {
        if !users.contains(user) { throw .rejected(.unknownUser) }
    }

    private func found(_ id: MessageID) throws(ChatError) -> (message: Message, thread: ThreadID) {
        guard let thread = facts.first(where: { $0.kind == .messagePosted && $0.message == id })?.thread,
            let message = messages(of: thread).first(where: { $0.id == id })
        else { throw .rejected(.unknownMessage) }
        return (message, thread)
    }

    private func moderates(_ user: UserID, _ thread: ThreadID) -> Bool {
        operators.contains { $0.user == user } && !isDirect(thread)
            || role(of: user, in: thread)?.role ?? .member > .member
    }

    private func isBlocked(_ user: UserID, by viewer: UserID?) -> Bool {
        viewer.map { blockedUsers(of: $0).contains(user) } ?? false
    }

    private func people(of thread: ThreadID) -> [UserID]? {
        facts.first { $0.kind == .directOpened && $0.thread == thread }?.event.people
    }

    private func person(_ user: UserID) -> UserSummary { UserSummary(id: user, username: username(user)) }

    private func shownMembers(of thread: ThreadID) -> [ThreadMember] {
        members(of: thread).map { ThreadMember(user: person($0.user), since: $0.since) }
    }

    /// Returns the operators who may read a thread without being a member.
    private func shownOperators(of thread: ThreadID) -> [ThreadMember] {
        let readers = readers(of: thread).dropFirst(members(of: thread).count)
        return operators.filter { readers.contains($0.user) }
            .map { ThreadMember(user: person($0.user), since: max($0.since, openingPosition(of: thread))) }.sorted {
                $0.since < $1.since
            }
    }

    private func event(at position: Position) -> ChatEvent { facts[Int(position) - 1].event }

    private func post(_ message: Message, in thread: ThreadID, _ viewer: UserID?) -> Post {
        let isShown = !message.isRetracted && !message.isRemoved
        return Post(
            id: .message(message.id), position: message.position, thread: thread, message: message.id,
            author: person(message.author),
            body: isShown ? event(at: message.editPosition ?? message.position).body : nil,
            createdAt: event(at: message.position).createdAt,
            editedAt: message.editPosition.map { event(at: $0).createdAt }, editPosition: message.editPosition,
            isRetracted: message.isRetracted, isRemoved: message.isRemoved,
            isFromBlockedUser: isBlocked(message.author, by: viewer), replyCount: message.replyCount,
            reactions: reactionCounts(of: .message(message.id), viewer: viewer))
    }

    private func post(_ reply: Reply, to message: MessageID, _ viewer: UserID?) -> Post {
        let isShown = !reply.isRetracted && !reply.isRemoved
        return Post(
            id: .reply(reply.id), position: reply.position, message: message, author: person(reply.author),
            body: isShown ? event(at: reply.editPosition ?? reply.position).body : nil,
            createdAt: event(at: reply.position).createdAt,
            editedAt: reply.editPosition.map { event(at: $0).createdAt }, editPosition: reply.editPosition,
            isRetracted: reply.isRetracted, isRemoved: reply.isRemoved,
            isFromBlockedUser: isBlocked(reply.author, by: viewer), replyCount: 0,
            reactions: reactionCounts(of: .reply(reply.id), viewer: viewer))
    }

    private func summary(_ thread: ThreadID, _ viewer: UserID?) -> ThreadSummary {
        let start = start(viewer, in: thread) ?? position
        let lock = lock(of: thread)
        return ThreadSummary(
            id: thread, name: name(of: thread), people: people(of: thread)?.map(person),
            outwardCode: thread.outwardCode, memberCount: members(of: thread).count,
            messageCount: messages(of: thread).count { $0.position > start },
            lastPosition: lastPosition(of: thread) ?? 0,
            createdAt: event(at: openingPosition(of: thread)).createdAt, policy: policy(of: thread),
            history: history(of: thread), isLocked: lock.isLocked, isClosed: lock.isClosed)
    }

    private func details(of user: UserID) -> UserDetails {
        let memberships = threads.compactMap { thread in
            members(of: thread).first { $0.user == user }.map { (thread: thread, since: $0.since) }
        }
        let registration = facts.first { $0.kind == .userRegistered && $0.user == user }
        return UserDetails(
            id: user, username: username(user),
            postcode: facts.last { $0.kind == .postcodeSet && $0.user == user }?.event.postcode,
            createdAt: event(at: registration?.position ?? 1).createdAt,
            threads: memberships.sorted { $0.since < $1.since }.map { thread, since in
                let start = start(user, in: thread) ?? position
                let unread = unreadPositions(user, in: thread, except: nil)
                let (level, until) = notifications(user, in: thread)
                return UserThread(
                    id: thread, name: name(of: thread), people: people(of: thread)?.map(person), since: since,
                    unreadCount: unread.count, firstUnread: unread.min(), readUpTo: readUpTo(user, in: thread),
                    notifications: ThreadNotifications(level: level, until: until),
                    lastMessage: messages(of: thread).last { $0.position > start }.map { post($0, in: thread, nil) })
            })
    }
}

extension NaiveViews.Message {
    /// The position of the event that wrote the text; nil once retracted.
    ///
    /// A moderator still sees the removed text as of an earlier point.
    fileprivate var textPosition: Position? { isRetracted ? nil : editPosition ?? position }
}
