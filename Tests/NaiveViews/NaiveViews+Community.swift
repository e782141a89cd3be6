package import ChatDomain
package import ChatValues
package import Projections

/// Roles, sanctions, invitations, pins, reports and blocks, each as a scan of all events.
extension NaiveViews {
    /// Returns a member's role and the position since which they have it; nil for other users.
    package func role(of user: UserID, in thread: ThreadID) -> (role: ThreadRole, since: Position)? {
        var held: (role: ThreadRole, since: Position)?
        var awaitedOpener: UserID?
        for recorded in facts {
            switch (recorded.kind, recorded.shape) {
            case (.threadOpened, .thread(let itsThread, _, let itsBy))
            where itsThread == thread && thread.outwardCode == nil && recorded.event.origin == .native:
                awaitedOpener = itsBy
            case (.threadJoined, .thread(let itsThread, _, let itsUser)) where itsThread == thread:
                if itsUser == user { held = (awaitedOpener == user ? .owner : .member, recorded.position) }
                awaitedOpener = nil
            case (.threadLeft, .thread(let itsThread, _, let itsUser)) where itsThread == thread && itsUser == user:
                held = nil
            case (.memberRemoved, .member(let itsThread, _, let itsUser, _))
            where itsThread == thread && itsUser == user: held = nil
            case (.roleSet, .role(let itsThread, _, let itsUser, let itsRole, _))
            where itsThread == thread && itsUser == user:
                held = (itsRole, recorded.position)
            default: break
            }
        }
        return held
    }

    /// Returns the mutes and bans of a thread that no command has ended, by position.
    package func sanctions(in thread: ThreadID) -> [Position: (user: UserID, isBan: Bool)] {
        var sanctions: [Position: (user: UserID, isBan: Bool)] = [:]
        func end(_ user: UserID, isBan: Bool) { sanctions = sanctions.filter { $0.value != (user, isBan) } }
        for recorded in facts {
            switch (recorded.kind, recorded.shape) {
            case (.userMuted, .sanction(let itsThread, _, let itsUser, _, _)) where itsThread == thread:
                end(itsUser, isBan: false)
                sanctions[recorded.position] = (itsUser, false)
            case (.userBanned, .sanction(let itsThread, _, let itsUser, _, _)) where itsThread == thread:
                end(itsUser, isBan: true)
                sanctions[recorded.position] = (itsUser, true)
            case (.userUnmuted, .member(let itsThread, _, let itsUser, _)) where itsThread == thread:
                end(itsUser, isBan: false)
            case (.userUnbanned, .member(let itsThread, _, let itsUser, _)) where itsThread == thread:
                end(itsUser, isBan: true)
            default: break
            }
        }
        return sanctions
    }

    /// Returns the invited users of a thread, with the positions of their invitations.
    package func invitations(to thread: ThreadID) -> [UserID: Position] {
        var invitations: [UserID: Position] = [:]
        for recorded in facts where recorded.thread == thread {
            switch (recorded.kind, recorded.shape) {
            case (.userInvited, .member(_, _, let itsUser, _)): invitations[itsUser] = recorded.position
            case (.threadJoined, .thread(_, _, let itsUser)): invitations[itsUser] = nil
            case (.invitationDeclined, .thread(_, _, let itsUser)): invitations[itsUser] = nil
            case (.invitationRevoked, .member(_, _, let itsUser, _)): invitations[itsUser] = nil
            case (.userBanned, .sanction(_, _, let itsUser, _, _)): invitations[itsUser] = nil
            default: break
            }
        }
        return invitations
    }

    /// Returns the pinned messages of a thread, in the order in which they were pinned.
    package func pins(in thread: ThreadID) -> [MessageID] {
        var pins: [MessageID] = []
        for recorded in facts where recorded.thread == thread {
            switch (recorded.kind, recorded.shape) {
            case (.messagePinned, .message(_, _, let itsMessage, _)): pins.append(itsMessage)
            case (.messageUnpinned, .message(_, _, let itsMessage, _)),
                (.messageRetracted, .message(_, _, let itsMessage, _)),
                (.messageRemoved, .message(_, _, let itsMessage, _)):
                pins.removeAll { $0 == itsMessage }
            default: break
            }
        }
        return pins
    }

    /// Returns the open reports of a thread, oldest first.
    package func reports(in thread: ThreadID) -> [ReportRecord] {
        var reports: [ReportRecord] = []
        for recorded in facts where recorded.thread == thread {
            switch (recorded.kind, recorded.shape) {
            case (.messageReported, .messageReport(_, let itsMessage, let itsBy)):
                reports.append(ReportRecord(position: recorded.position, reporter: itsBy, post: .message(itsMessage)))
            case (.replyReported, .replyReport(_, _, let itsReply, let itsBy)):
                reports.append(ReportRecord(position: recorded.position, reporter: itsBy, post: .reply(itsReply)))
            case (.messageReportsResolved, .messageReport(_, let itsMessage, _)):
                reports.removeAll { $0.post == .message(itsMessage) }
            case (.replyReportsResolved, .replyReport(_, _, let itsReply, _)):
                reports.removeAll { $0.post == .reply(itsReply) }
            default: break
            }
        }
        return reports
    }

    /// Returns the users whom a user has blocked.
    package func blockedUsers(of blocker: UserID) -> Set<UserID> {
        var blocked: Set<UserID> = []
        for recorded in facts {
            switch (recorded.kind, recorded.shape) {
            case (.userBlocked, .block(let itsUser, let itsBy)) where itsBy == blocker: blocked.insert(itsUser)
            case (.userUnblocked, .block(let itsUser, let itsBy)) where itsBy == blocker: blocked.remove(itsUser)
            default: break
            }
        }
        return blocked
    }

    /// Returns whether a thread is locked, and whether it is closed.
    package func lock(of thread: ThreadID) -> (isLocked: Bool, isClosed: Bool) {
        var lock = (isLocked: false, isClosed: false)
        for recorded in facts where recorded.thread == thread {
            switch recorded.kind {
            case .threadLocked: lock.isLocked = true
            case .threadUnlocked: lock.isLocked = false
            case .threadClosed: lock.isClosed = true
            default: break
            }
        }
        return lock
    }

    /// A present reaction to a post.
    package struct Reaction: Equatable {
        package var position: Position
        package var user: UserID
        package var emoji: String

        package init(position: Position, user: UserID, emoji: String) {
            (self.position, self.user, self.emoji) = (position, user, emoji)
        }
    }

    /// Returns the present reactions to a post, oldest first; none to a withdrawn one.
    package func reactions(to post: PostID) -> [Reaction] {
        var reactions: [Reaction] = []
        for recorded in facts
        where (recorded.reply.map(PostID.reply) ?? recorded.message.map(PostID.message)) == post {
            guard let user = recorded.user else { continue }
            switch recorded.kind {
            case .reactionAdded:
                guard let emoji = recorded.event.emoji?.text,
                    !reactions.contains(where: { $0.user == user && $0.emoji == emoji })
                else {
                    continue
                }
                reactions.append(Reaction(position: recorded.position, user: user, emoji: emoji))
            case .reactionRemoved:
                // An erased removal takes back every reaction of its user.
                let emoji = recorded.event.emoji?.text
                reactions.removeAll { $0.user == user && (emoji == nil || $0.emoji == emoji) }
            case .messageRetracted, .messageRemoved, .replyRetracted, .replyRemoved: return []
            default: break
            }
        }
        return reactions
    }

    /// Returns the counts of the present reactions to a post, in the order of the first one of each
    /// emoji.
    package func reactionCounts(of post: PostID, viewer: UserID?) -> [PostReaction] {
        var counts: [PostReaction] = []
        for reaction in reactions(to: post) {
            let isMine = reaction.user == viewer
            if let index = counts.firstIndex(where: { $0.emoji == reaction.emoji }) {
                counts[index].count += 1
                counts[index].isMine = counts[index].isMine || isMine
            } else {
                counts.append(PostReaction(emoji: reaction.emoji, count: 1, isMine: isMine))
            }
        }
        return counts
    }
}
