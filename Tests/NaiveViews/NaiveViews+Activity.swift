package import ChatDomain
package import Projections

/// The queries of auditors and operators, each as a scan of all events.
extension NaiveViews {
    /// Returns the current members of a thread, ordered by their latest joins.
    package func readers(of thread: ThreadID) -> [UserID] {
        users.compactMap { user -> (user: UserID, since: Position)? in
            let joined = events.last {
                if case .threadJoined(let details) = $0.event.details { details.user == user && details.thread == thread } else { false }
            }
            let left = events.last {
                if case .threadLeft(let details) = $0.event.details { details.user == user && details.thread == thread } else { false }
            }
            guard let joined, joined.position > left?.position ?? 0 else { return nil }
            return (user, joined.position)
        }.sorted { $0.since < $1.since }.map(\.user)
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
                day.registrations += 1
            case .sessionStarted(let details):
                user = details.user
                day.sessions += 1
            case .messagePosted(let details):
                user = details.author
                day.messages += 1
            case .replyPosted(let details):
                user = details.author
                day.replies += 1
            case .usernameChanged(let details): user = details.user
            case .postcodeSet(let details): user = details.user
            case .threadOpened(let details): user = details.by
            case .threadJoined(let details): user = details.user
            case .threadLeft(let details): user = details.user
            case .messageEdited(let details), .messageRetracted(let details): user = details.by
            case .replyEdited(let details), .replyRetracted(let details): user = details.by
            case .threadRead(let details): user = details.user
            case .sessionEnded, .lost, .unknown: break
            }
            if let user {
                if active.insert([date, user.description]).inserted { day.activeUsers += 1 }
                days[date] = day
            }
        }
        return days.sorted { $0.key < $1.key }.map(\.value)
    }
}
