package import ChatDomain
package import Projections

/// The queries of auditors and operators, each as a scan of all events.
extension NaiveViews {
    /// Returns the users who can read a thread now: its members, ordered by their latest joins, and
    /// then the operators who are no members, unless the thread is `inviteOnly`.
    package func readers(of thread: ThreadID) -> [UserID] {
        let members = members(of: thread).map(\.user)
        if policy(of: thread) == .inviteOnly || lastPosition(of: thread) == nil { return members }
        return members + operators.map(\.user).filter { !members.contains($0) }
    }

    /// Returns the policy of a thread.
    package func policy(of thread: ThreadID) -> ThreadPolicy {
        if thread.outwardCode != nil { return .residents }
        return policies(of: thread).last?.policy ?? .open
    }

    /// Returns the history of a thread, for users who join now.
    package func history(of thread: ThreadID) -> ThreadHistory { policies(of: thread).last?.history ?? .all }

    /// Returns the policies of a thread that were set, in order.
    ///
    /// A direct thread begins as an `inviteOnly` one.
    package func policies(of thread: ThreadID) -> [(position: Position, policy: ThreadPolicy, history: ThreadHistory)] {
        facts.compactMap { recorded in
            if recorded.kind == .directOpened, recorded.thread == thread {
                return (recorded.position, .inviteOnly, .all)
            }
            guard case .policy(thread, _, let policy, let history, _) = recorded.shape else { return nil }
            return (recorded.position, policy, history)
        }
    }

    /// Returns the periods in which operators could read a thread: it was not `inviteOnly`.
    ///
    /// A thread that was opened with that policy has none before.
    func disclosedPeriods(of thread: ThreadID) -> [(from: Position, to: Position?)] {
        let opening = openingPosition(of: thread)
        var periods: [(from: Position, to: Position?)] = [(opening, nil)]
        for (position, policy, _) in policies(of: thread) {
            let isDisclosed = periods.last.map { $0.to == nil } ?? false
            if policy == .inviteOnly, isDisclosed {
                if position <= opening + 1 { periods.removeLast() } else { periods[periods.count - 1].to = position }
            } else if policy != .inviteOnly, !isDisclosed {
                periods.append((position, nil))
            }
        }
        return periods
    }

    /// Returns the operators with the positions at which they became that, in that order.
    package var operators: [(user: UserID, since: Position)] {
        var operators: [(user: UserID, since: Position)] = []
        for recorded in facts {
            switch (recorded.kind, recorded.shape) {
            case (.operatorGranted, .user(let itsUser)): operators.append((itsUser, recorded.position))
            case (.operatorRevoked, .user(let itsUser)): operators.removeAll { $0.user == itsUser }
            default: break
            }
        }
        return operators
    }

    /// Returns the threads opened under a name; an outward code's thread has its code as name.
    package func threadIDs(named name: String) -> [ThreadID] {
        threads.filter { self.name(of: $0) == name }
    }

    /// Returns whether a thread is a direct one.
    package func isDirect(_ thread: ThreadID) -> Bool {
        facts.contains { $0.kind == .directOpened && $0.thread == thread }
    }

    /// Returns the name that a thread was given last; nil if erased, and for a direct thread.
    package func name(of thread: ThreadID) -> String? {
        let naming = facts.last { ($0.kind == .threadOpened || $0.kind == .threadRenamed) && $0.thread == thread }
        if case .threadName(let name)? = naming?.event.content { return name }
        return thread.outwardCode?.description
    }

    /// The names of all threads, and names without a thread.
    package var threadNames: Set<String> {
        Set(
            facts.compactMap { if case .threadName(let name) = $0.event.content { name } else { nil } } + [
                "SW1A", "E1", "nobody's",
            ])
    }

    /// Returns half of the entries before a position and half from it on, counted one by one.
    package func page<Entry>(_ entries: [Entry], limit: Int, around position: Position, _ key: (Entry) -> Position)
        -> [Entry]
    {
        let older = entries.filter { key($0) < position }.suffix(limit / 2)
        let newer = entries.filter { key($0) >= position }.prefix(limit - limit / 2)
        return Array(older + newer)
    }

    /// Returns the activity of each day, ascending; a day is the date in the printed time.
    package func activity() -> [ActivityDay] {
        var days: [String: ActivityDay] = [:]
        var active: Set<[String]> = []
        for recorded in facts {
            let date = String(recorded.event.createdAt.description.prefix(10))
            guard let parsed = CalendarDay(date) else { continue }
            var day = days[date] ?? ActivityDay(day: parsed)
            var user: UserID?
            switch (recorded.kind, recorded.shape) {
            case (.userRegistered, .user(let itsUser)):
                user = itsUser
                day.registrationCount += 1
            case (.sessionStarted, .session(let itsUser, _)):
                user = itsUser
                day.sessionCount += 1
            case (.messagePosted, .message(_, _, _, let itsAuthor)):
                user = itsAuthor
                day.messageCount += 1
            case (.replyPosted, .reply(_, _, _, _, let itsAuthor)):
                user = itsAuthor
                day.replyCount += 1
            case (.usernameChanged, .user(let itsUser)): user = itsUser
            case (.postcodeSet, .postcode(let itsUser, _)): user = itsUser
            case (.threadOpened, .thread(_, _, let itsBy)): user = itsBy
            case (.threadJoined, .thread(_, _, let itsUser)): user = itsUser
            case (.threadLeft, .thread(_, _, let itsUser)): user = itsUser
            case (.messageEdited, .message(_, _, _, let itsBy)), (.messageRetracted, .message(_, _, _, let itsBy)):
                user = itsBy
            case (.replyEdited, .reply(_, _, _, _, let itsBy)), (.replyRetracted, .reply(_, _, _, _, let itsBy)):
                user = itsBy
            case (.threadRead, .marker(let itsUser, _, _)): user = itsUser
            case (.sessionEnded, _), (.operatorGranted, _), (.operatorRevoked, _), (.clockCorrected, _), (.lost, _),
                (nil, _):
                break
            // Roles, moderation and custom events: whoever acted.
            default: user = recorded.event.otherActor ?? recorded.user
            }
            if let user {
                if active.insert([date, user.description]).inserted { day.activeUserCount += 1 }
                days[date] = day
            }
        }
        return days.sorted { $0.key < $1.key }.map(\.value)
    }
}
