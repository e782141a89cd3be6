package import ChatDomain
package import Projections

/// Roles, sanctions, invitations, pins, reports and blocks, each as a scan of all events.
extension NaiveViews {
    /// Returns a member's role and the position since which they have it; nil for other users.
    package func role(of user: UserID, in thread: ThreadID) -> (role: ThreadRole, since: Position)? {
        var held: (role: ThreadRole, since: Position)?
        var awaitedOpener: UserID?
        for recorded in events {
            switch recorded.event.details {
            case .threadOpened(let details) where details.thread == thread && thread.outwardCode == nil && recorded.event.origin == .native:
                awaitedOpener = details.by
            case .threadJoined(let details) where details.thread == thread:
                if details.user == user { held = (awaitedOpener == user ? .owner : .member, recorded.position) }
                awaitedOpener = nil
            case .threadLeft(let details) where details.thread == thread && details.user == user: held = nil
            case .memberRemoved(let details) where details.thread == thread && details.user == user: held = nil
            case .roleSet(let details) where details.thread == thread && details.user == user: held = (details.role, recorded.position)
            default: break
            }
        }
        return held
    }

    /// Returns the mutes and bans of a thread that no command has ended, by position.
    package func sanctions(in thread: ThreadID) -> [Position: (user: UserID, isBan: Bool)] {
        var sanctions: [Position: (user: UserID, isBan: Bool)] = [:]
        func end(_ user: UserID, isBan: Bool) { sanctions = sanctions.filter { $0.value != (user, isBan) } }
        for recorded in events {
            switch recorded.event.details {
            case .userMuted(let details) where details.thread == thread:
                end(details.user, isBan: false)
                sanctions[recorded.position] = (details.user, false)
            case .userBanned(let details) where details.thread == thread:
                end(details.user, isBan: true)
                sanctions[recorded.position] = (details.user, true)
            case .userUnmuted(let details) where details.thread == thread: end(details.user, isBan: false)
            case .userUnbanned(let details) where details.thread == thread: end(details.user, isBan: true)
            default: break
            }
        }
        return sanctions
    }

    /// Returns the invited users of a thread, with the positions of their invitations.
    package func invitations(to thread: ThreadID) -> [UserID: Position] {
        var invitations: [UserID: Position] = [:]
        for recorded in events where recorded.event.details.thread == thread {
            switch recorded.event.details {
            case .userInvited(let details): invitations[details.user] = recorded.position
            case .threadJoined(let details): invitations[details.user] = nil
            case .invitationDeclined(let details): invitations[details.user] = nil
            case .invitationRevoked(let details): invitations[details.user] = nil
            case .userBanned(let details): invitations[details.user] = nil
            default: break
            }
        }
        return invitations
    }

    /// Returns the pinned messages of a thread, in the order in which they were pinned.
    package func pins(in thread: ThreadID) -> [MessageID] {
        var pins: [MessageID] = []
        for recorded in events where recorded.event.details.thread == thread {
            switch recorded.event.details {
            case .messagePinned(let details): pins.append(details.message)
            case .messageUnpinned(let details), .messageRetracted(let details), .messageRemoved(let details):
                pins.removeAll { $0 == details.message }
            default: break
            }
        }
        return pins
    }

    /// Returns the open reports of a thread, oldest first.
    package func reports(in thread: ThreadID) -> [ReportRecord] {
        var reports: [ReportRecord] = []
        for recorded in events where recorded.event.details.thread == thread {
            switch recorded.event.details {
            case .messageReported(let details):
                reports.append(ReportRecord(position: recorded.position, reporter: details.by, post: .message(details.message)))
            case .replyReported(let details):
                reports.append(ReportRecord(position: recorded.position, reporter: details.by, post: .reply(details.reply)))
            case .messageReportsResolved(let details): reports.removeAll { $0.post == .message(details.message) }
            case .replyReportsResolved(let details): reports.removeAll { $0.post == .reply(details.reply) }
            default: break
            }
        }
        return reports
    }

    /// Returns the users whom a user has blocked.
    package func blockedUsers(of blocker: UserID) -> Set<UserID> {
        var blocked: Set<UserID> = []
        for recorded in events {
            switch recorded.event.details {
            case .userBlocked(let details) where details.by == blocker: blocked.insert(details.user)
            case .userUnblocked(let details) where details.by == blocker: blocked.remove(details.user)
            default: break
            }
        }
        return blocked
    }

    /// Returns whether a thread is locked, and whether it is closed.
    package func lock(of thread: ThreadID) -> (isLocked: Bool, isClosed: Bool) {
        var lock = (isLocked: false, isClosed: false)
        for recorded in events where recorded.event.details.thread == thread {
            switch recorded.event.details {
            case .threadLocked: lock.isLocked = true
            case .threadUnlocked: lock.isLocked = false
            case .threadClosed: lock.isClosed = true
            default: break
            }
        }
        return lock
    }
}
