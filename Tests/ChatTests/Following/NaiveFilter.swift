import Chat
import ChatDomain

/// What a follower is to be given, from the rule and from the first event on: memberships are kept in a dictionary, and each event is looked at once.
struct NaiveFilter {
    let filter: EventFilter
    private var threads: [UserID: Set<ThreadID>] = [:]

    init(_ filter: EventFilter) { self.filter = filter }

    /// The events of a journal, from its first one on, that stand after a position and pass.
    static func events(_ all: [RecordedEvent], after position: Position, matching filter: EventFilter) -> [RecordedEvent] {
        var naive = NaiveFilter(filter)
        return all.filter { naive.passes($0.event.fact) && $0.position > position }
    }

    /// Whether the next event passes.
    private mutating func passes(_ fact: Fact) -> Bool {
        switch fact {
        case .threadJoined(let fact): threads[fact.user, default: []].insert(fact.thread)
        case .threadLeft(let fact): threads[fact.user, default: []].remove(fact.thread)
        default: break
        }
        return isWanted(fact) && filter.viewer.map { isVisible(fact, to: $0) } ?? true
    }

    private func isWanted(_ fact: Fact) -> Bool {
        var isWanted = true
        if let threads = filter.threads { isWanted = isWanted && fact.thread.map { threads.contains($0) } == true }
        if let users = filter.users { isWanted = isWanted && fact.user.map { users.contains($0) } == true }
        if let kinds = filter.kinds { isWanted = isWanted && fact.kind.map { kinds.contains($0) } == true }
        if let codes = filter.outwardCodes {
            var thread = fact.thread
            if case .postcodeSet(let fact) = fact { thread = fact.thread }
            isWanted = isWanted && thread?.outwardCode.map { codes.contains($0) } == true
        }
        return isWanted
    }

    private func isVisible(_ fact: Fact, to viewer: UserID) -> Bool {
        if fact.user == viewer { return true }
        let own = threads[viewer] ?? []
        switch fact {
        case .postcodeSet(let fact): return own.contains(fact.thread)
        case .usernameChanged(let fact): return !own.isDisjoint(with: threads[fact.user] ?? [])
        case .threadRead, .userRegistered, .sessionStarted, .sessionEnded, .lost, .unknown: return false
        default: return fact.thread.map { own.contains($0) } == true
        }
    }
}
