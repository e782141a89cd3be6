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
        return policies(of: thread).last?.set.policy ?? .open
    }

    /// Returns the history of a thread, for users who join now.
    package func history(of thread: ThreadID) -> ThreadHistory { policies(of: thread).last?.set.history ?? .all }

    /// Returns the policies of a thread that were set, in order.
    func policies(of thread: ThreadID) -> [(position: Position, set: ThreadPolicySet)] {
        events.compactMap { recorded in
            if case .threadPolicySet(let set) = recorded.event.details, set.thread == thread { (recorded.position, set) } else { nil }
        }
    }

    /// Returns the periods in which operators could read a thread: it was not `inviteOnly`.
    ///
    /// A thread that was opened with that policy has none before.
    func disclosedPeriods(of thread: ThreadID) -> [(from: Position, to: Position?)] {
        let opening = openingPosition(of: thread)
        var periods: [(from: Position, to: Position?)] = [(opening, nil)]
        for (position, set) in policies(of: thread) {
            let isDisclosed = periods.last.map { $0.to == nil } ?? false
            if set.policy == .inviteOnly, isDisclosed {
                if position == opening + 1 { periods.removeLast() } else { periods[periods.count - 1].to = position }
            } else if set.policy != .inviteOnly, !isDisclosed {
                periods.append((position, nil))
            }
        }
        return periods
    }

    /// Returns the operators with the positions at which they became that, in that order.
    package var operators: [(user: UserID, since: Position)] {
        var operators: [(user: UserID, since: Position)] = []
        for recorded in events {
            switch recorded.event.details {
            case .operatorGranted(let details): operators.append((details.user, recorded.position))
            case .operatorRevoked(let details): operators.removeAll { $0.user == details.user }
            default: break
            }
        }
        return operators
    }

    /// Returns the threads opened under a name; an outward code's thread has its code as name.
    package func threads(named name: String) -> [ThreadID] {
        events.compactMap { recorded in
            guard case .threadOpened(let details) = recorded.event.details else { return nil }
            let given: String? =
                if case .threadName(let name) = recorded.event.content { name } else { details.thread.outwardCode?.description }
            return given == name ? details.thread : nil
        }
    }

    /// The names of all threads, and names without a thread.
    package var threadNames: Set<String> {
        Set(events.compactMap { if case .threadName(let name) = $0.event.content { name } else { nil } } + ["SW1A", "E1", "nobody's"])
    }

    /// Returns half of the entries before a position and half from it on, counted one by one.
    package func page<Entry>(_ entries: [Entry], limit: Int, around position: Position, _ key: (Entry) -> Position) -> [Entry] {
        let older = entries.filter { key($0) < position }.suffix(limit / 2)
        let newer = entries.filter { key($0) >= position }.prefix(limit - limit / 2)
        return Array(older + newer)
    }

    /// Returns the activity of each day, ascending; a day is the date in the printed time.
    package func activity() -> [ActivityDay] {
        var days: [String: ActivityDay] = [:]
        var active: Set<[String]> = []
        for recorded in events {
            let date = String(recorded.event.createdAt.description.prefix(10))
            guard let parsed = CalendarDay(date) else { continue }
            var day = days[date] ?? ActivityDay(day: parsed)
            var user: UserID?
            switch recorded.event.details {
            case .userRegistered(let details):
                user = details.user
                day.registrationCount += 1
            case .sessionStarted(let details):
                user = details.user
                day.sessionCount += 1
            case .messagePosted(let details):
                user = details.author
                day.messageCount += 1
            case .replyPosted(let details):
                user = details.author
                day.replyCount += 1
            case .usernameChanged(let details): user = details.user
            case .postcodeSet(let details): user = details.user
            case .threadOpened(let details): user = details.by
            case .threadJoined(let details): user = details.user
            case .threadLeft(let details): user = details.user
            case .messageEdited(let details), .messageRetracted(let details): user = details.by
            case .replyEdited(let details), .replyRetracted(let details): user = details.by
            case .threadRead(let details): user = details.user
            case .sessionEnded, .operatorGranted, .operatorRevoked, .clockCorrected, .lost, .unknown: break
            // Roles, moderation and custom events: whoever acted.
            default: user = recorded.event.details.otherActor ?? recorded.event.details.user
            }
            if let user {
                if active.insert([date, user.description]).inserted { day.activeUserCount += 1 }
                days[date] = day
            }
        }
        return days.sorted { $0.key < $1.key }.map(\.value)
    }
}
