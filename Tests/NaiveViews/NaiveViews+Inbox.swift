package import ChatDomain
package import Projections

/// Inboxes, whatever the rights of their users.
extension NaiveViews {
    /// The number of the latest events of one user that a page of another's inbox looks at before
    /// the others.
    package static let inboxShare = 40

    /// Returns what is in a user's inbox, oldest first.
    ///
    /// - Parameter blocked: The users whom the user blocks.
    package func inbox(of user: UserID, except blocked: Set<UserID>) -> [InboxItem] {
        let rows = inboxRows(of: user)
        let inShare = Set(Self.share(of: rows).map(\.position))
        let told = rows.filter { isTold(user, of: $0) }
        let positions = Set(told.map(\.position))
        var items: [Position: InboxItem] = [:]
        for recorded in told {
            guard let thread = recorded.thread else { continue }
            let post = post(of: recorded)
            let isGone = post.map { isWithdrawn($0) } ?? false
            let isFromBlocked = recorded.user.map { blocked.contains($0) } ?? false
            let reason: InboxReason?
            switch recorded.kind {
            case .messagePosted, .replyPosted, .messageEdited, .replyEdited:
                guard let post, !isGone, !isFromBlocked else { continue }
                if mentionStart(of: user, in: post) == recorded.position {
                    reason = .mention
                } else if recorded.kind == .replyPosted {
                    reason = isLatestReply(recorded, user, positions, inShare, blocked) ? .reply : nil
                } else {
                    reason = nil
                }
            case .reactionAdded:
                guard let post, !isGone else { continue }
                reason = isLatestReaction(recorded.position, to: post, positions, inShare, blocked) ? .reaction : nil
            case .userInvited: reason = invitations(to: thread)[user] == recorded.position ? .invitation : nil
            case .messageReported, .replyReported:
                guard !isGone, !isFromBlocked else { continue }
                reason = reports(in: thread).contains { $0.position == recorded.position } ? .report : nil
            default: reason = .moderation
            }
            guard let reason else { continue }
            items[recorded.position] = InboxItem(
                position: recorded.position, reason: reason, thread: thread,
                post: reason == .moderation || reason == .invitation ? nil : post)
        }
        return items.values.sorted { $0.position < $1.position }
    }

    /// Returns the events that a page of a user's inbox can look at, oldest first.
    package func inboxRows(of user: UserID) -> [Fact] {
        facts.filter { recorded in
            let isText = [.messagePosted, .replyPosted, .messageEdited, .replyEdited].contains(recorded.kind)
            return isTold(user, of: recorded) || isText && recorded.user != user && recorded.mentions.contains(user)
        }
    }

    /// Returns the latest events of each user who acted, among some events.
    private static func share(of rows: [Fact]) -> [Fact] {
        var counts: [UserID?: Int] = [:]
        return rows.reversed().filter { row in
            counts[row.otherActor ?? row.user, default: 0] += 1
            return counts[row.otherActor ?? row.user, default: 0] <= inboxShare
        }.reversed()
    }

    /// Returns the positions of the events of a user's inbox in the order in which a page looks at
    /// them.
    ///
    /// - Parameters:
    ///   - rows: The events that the page can look at, oldest first.
    ///   - entries: The positions of those with an entry, if the page counts them.
    package static func order(of rows: [Fact], except blocked: Set<UserID>, entries: Set<Position> = [])
        -> [Position]
    {
        let rows = rows.filter { row in !((row.otherActor ?? row.user).map { blocked.contains($0) } ?? false) }
        var found = Array(share(of: rows).map(\.position).reversed())
        let first = Set(found)
        var rest = Dictionary(grouping: rows.filter { !first.contains($0.position) }) { $0.otherActor ?? $0.user }
        let seen = Dictionary(grouping: rows.filter { first.contains($0.position) }) { $0.otherActor ?? $0.user }
        var counts = seen.mapValues { (rows: $0.count, entries: $0.count { entries.contains($0.position) }) }
        while true {
            let next = rest.compactMap { user, rows in rows.last.map { (user: user, position: $0.position) } }.min {
                one, other in
                func rank(_ user: UserID?, _ position: Position) -> [Int] {
                    let count = counts[user] ?? (0, 0)
                    return [count.entries / inboxShare, count.rows / inboxShare, -Int(position)]
                }
                return rank(one.user, one.position).lexicographicallyPrecedes(rank(other.user, other.position))
            }
            guard let next else { return found }
            found.append(next.position)
            rest[next.user]?.removeLast()
            counts[next.user]?.rows += 1
            if entries.contains(next.position) { counts[next.user]?.entries += 1 }
        }
    }

    /// Whether a user is told of an event when it is recorded.
    private func isTold(_ user: UserID, of recorded: Fact) -> Bool {
        guard let thread = recorded.thread, (recorded.otherActor ?? recorded.user) != user else { return false }
        var level: NotificationLevel { notifications(user, in: thread, asOf: recorded.position).level }
        switch recorded.kind {
        case .messagePosted, .messageEdited, .replyEdited: return recorded.mentions.contains(user) && level != .none
        case .replyPosted:
            return recorded.mentions.contains(user) && level != .none
                || level == .all && isTold(user, ofReplyAt: recorded.position, recorded.message)
        // An erased reaction is to nothing.
        case .reactionAdded:
            return recorded.emoji != nil && post(of: recorded).flatMap { author(of: $0) } == user && level == .all
        case .messageRemoved, .replyRemoved: return post(of: recorded).flatMap { author(of: $0) } == user
        case .memberRemoved:
            // A ban has both events in one commit.
            let before = facts[Int(recorded.position) - 2]
            return recorded.user == user
                && !(before.kind == .userBanned && before.user == user && before.thread == thread)
        case .userMuted, .userUnmuted, .userBanned, .userUnbanned, .roleSet, .userInvited: return recorded.user == user
        case .messageReported, .replyReported:
            return moderators(of: thread, asOf: recorded.position).prefix(50).contains(user)
        default: return false
        }
    }

    /// Whether a user wrote the message that is answered, or is one of the last 50 who began to
    /// write there.
    private func isTold(_ user: UserID, ofReplyAt position: Position, _ message: MessageID?) -> Bool {
        guard let message, let owner = author(of: .message(message)) else { return false }
        if owner == user { return true }
        var writers: [UserID] = []
        for recorded in facts
        where recorded.position < position && recorded.kind == .replyPosted && recorded.message == message {
            guard let writer = recorded.user, writer != owner, !writers.suffix(50).contains(writer) else { continue }
            writers.append(writer)
        }
        return writers.suffix(50).contains(user)
    }

    /// Returns the owners and moderators of a thread, or else the operators, longest first; no
    /// erased users.
    private func moderators(of thread: ThreadID, asOf position: Position) -> [UserID] {
        let past = asOf(position)
        let erased = past.facts.filter { $0.kind == .userErased }.compactMap(\.user)
        let holders = past.users.compactMap { user in
            past.role(of: user, in: thread).map { (user: user, role: $0.role, since: $0.since) }
        }
        let moderators = holders.filter { $0.role > .member && !erased.contains($0.user) }.sorted {
            $0.since < $1.since
        }.map(\.user)
        return moderators.isEmpty ? past.operators.map(\.user).filter { !erased.contains($0) } : moderators
    }

    /// Whether a reply is present, and none of those that follow it is that the user looks at now.
    private func isLatestReply(
        _ reply: Fact, _ user: UserID, _ told: Set<Position>, _ inShare: Set<Position>, _ blocked: Set<UserID>
    ) -> Bool {
        func isPresent(_ recorded: Fact) -> Bool {
            guard told.contains(recorded.position), let reply = recorded.reply, let author = recorded.user else {
                return false
            }
            // A level that lets mentions through silences replies.
            guard let thread = recorded.thread, notifications(user, in: thread, asOf: recorded.position).level == .all,
                isTold(user, ofReplyAt: recorded.position, recorded.message)
            else { return false }
            let text = facts.last { $0.kind == .replyEdited && $0.reply == reply } ?? recorded
            return !isWithdrawn(.reply(reply)) && !blocked.contains(author) && !text.event.isErased
        }
        let later = facts.filter {
            $0.kind == .replyPosted && $0.message == reply.message && $0.position > reply.position
        }
        return isPresent(reply)
            && !(later.suffix(50) + later.prefix(50)).contains { inShare.contains($0.position) && isPresent($0) }
    }

    /// Returns where the present mention of a user in a post began.
    private func mentionStart(of user: UserID, in post: PostID) -> Position? {
        let texts = facts.filter { recorded in
            [.messagePosted, .replyPosted, .messageEdited, .replyEdited].contains(recorded.kind)
                && self.post(of: recorded) == post
        }
        return texts.suffix(50).reversed().prefix { $0.mentions.contains(user) }.last?.position
    }

    /// Whether a reaction is present, and none of those that follow it is that the user looks at
    /// now.
    private func isLatestReaction(
        _ added: Position, to post: PostID, _ told: Set<Position>, _ inShare: Set<Position>, _ blocked: Set<UserID>
    ) -> Bool {
        /// By emoji: the additions since it was last absent, and the users whose reaction is
        /// present.
        var runs: [String: (added: [Position], present: [UserID: Position])] = [:]
        for recorded in facts where self.post(of: recorded) == post {
            guard let user = recorded.user, recorded.kind == .reactionAdded || recorded.kind == .reactionRemoved else {
                continue
            }
            guard let emoji = recorded.emoji?.text else {
                // Nobody knows which reaction an erased removal meant: it takes back all of its
                // user.
                guard recorded.kind == .reactionRemoved else { continue }
                for emoji in runs.keys {
                    runs[emoji]?.present[user] = nil
                    if runs[emoji]?.present.isEmpty == true { runs[emoji] = nil }
                }
                continue
            }
            if recorded.kind == .reactionAdded, runs[emoji]?.present[user] == nil {
                runs[emoji, default: ([], [:])].added.append(recorded.position)
                runs[emoji, default: ([], [:])].present[user] = recorded.position
            } else if recorded.kind == .reactionRemoved {
                runs[emoji]?.present[user] = nil
                if runs[emoji]?.present.isEmpty == true { runs[emoji] = nil }
            }
        }
        let present = Set(
            runs.values.flatMap { $0.present }.filter { !blocked.contains($0.key) && told.contains($0.value) }.map(
                \.value))
        let looked = runs.values.flatMap { run in
            let later = run.added.filter { $0 >= added }
            return later.prefix(10) + later.suffix(10)
        }
        return present.contains(added)
            && !looked.contains { $0 > added && inShare.contains($0) && present.contains($0) }
    }

    private func post(of recorded: Fact) -> PostID? {
        recorded.reply.map(PostID.reply) ?? recorded.message.map(PostID.message)
    }

    private func author(of post: PostID) -> UserID? {
        facts.first { recorded in
            switch post {
            case .message(let id): recorded.kind == .messagePosted && recorded.message == id
            case .reply(let id): recorded.kind == .replyPosted && recorded.reply == id
            }
        }?.user
    }

    private func isWithdrawn(_ post: PostID) -> Bool {
        facts.contains { recorded in
            [.messageRetracted, .messageRemoved, .replyRetracted, .replyRemoved].contains(recorded.kind)
                && self.post(of: recorded) == post
        }
    }
}
