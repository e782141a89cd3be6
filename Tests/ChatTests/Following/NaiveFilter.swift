import Chat
import ChatDomain

/// The events that a follower must receive, computed naively.
///
/// Scans all events and asks the visibility oracle about each.
struct NaiveFilter {
    let filter: EventFilter

    /// Returns the events after `position` that pass the filter, as its viewer is shown them at the
    /// end.
    ///
    /// - Parameter all: All events of the journal, from position 1.
    static func events(_ all: [RecordedEvent], after position: Position, matching filter: EventFilter)
        -> [RecordedEvent]
    {
        let visibility = NaiveVisibility(all)
        return NaiveFilter(filter: filter).wanted(all, after: position).compactMap {
            visibility.shown($0, to: filter.viewer.user, current: Position(all.count))
        }
    }

    /// Returns the events that satisfy every condition except the viewer.
    func wanted(_ all: [RecordedEvent], after position: Position) -> [RecordedEvent] {
        all.filter { $0.position > position && isWanted($0.event) }
    }

    private func isWanted(_ details: ChatEvent) -> Bool {
        var isWanted = true
        if let threads = filter.threads { isWanted = isWanted && details.thread.map { threads.contains($0) } == true }
        if let users = filter.users {
            isWanted =
                isWanted
                && [details.user, details.otherActor].contains { user in user.map { users.contains($0) } == true }
        }
        if let kinds = filter.kinds { isWanted = isWanted && details.kind.map { kinds.contains($0) } == true }
        if let codes = filter.outwardCodes {
            var thread = details.thread
            if case (.postcodeSet, .postcode(_, let itsThread)) = (details.kind, details.shape) { thread = itsThread }
            isWanted = isWanted && thread?.outwardCode.map { codes.contains($0) } == true
        }
        return isWanted
    }
}

/// An event as delivered, with the durable positions around its delivery.
struct Delivery: Sendable {
    var event: RecordedEvent
    /// The durable position when the follower requested the event.
    var since: Position
    /// The durable position after the delivery.
    var until: Position
}

extension NaiveFilter {
    /// Returns the events that a follower receives at any time of delivery.
    ///
    /// These are the events that the viewer is shown at every point since.
    func required(_ all: [RecordedEvent], after position: Position) -> [RecordedEvent] {
        let wanted = wanted(all, after: position)
        guard let viewer = filter.viewer.user else { return wanted }
        let visibility = NaiveVisibility(all)
        // A later join also hides events of a thread whose history begins there.
        let departures = all.filter { recorded in
            switch (recorded.event.kind, recorded.event.shape) {
            case (.threadJoined, .thread(_, _, let itsUser)): itsUser == viewer
            case (.threadLeft, .thread(_, _, let itsUser)): itsUser == viewer
            case (.memberRemoved, .member(_, _, let itsUser, _)): itsUser == viewer
            case (.roleSet, .role(_, _, let itsUser, _, _)): itsUser == viewer
            case (.operatorRevoked, .user(let itsUser)): itsUser == viewer
            default: false
            }
        }.map(\.position)
        return wanted.filter { recorded in
            ([recorded.position, Position(all.count)] + departures.filter { $0 > recorded.position }).allSatisfy {
                visibility.shown(recorded, to: viewer, current: $0) != nil
            }
        }
    }

    /// Returns a description of the first wrong delivery, or nil.
    ///
    /// Visibility depends on the time of delivery. So each delivered event needs one point at which
    /// the oracle shows it in that form, and each omitted event one point at which the oracle hides
    /// it.
    func problem(_ all: [RecordedEvent], after position: Position, _ deliveries: [Delivery]) -> String? {
        let visibility = NaiveVisibility(all)
        var deliveries = deliveries[...]
        for recorded in wanted(all, after: position) {
            if let delivery = deliveries.first, delivery.event.position == recorded.position {
                deliveries.removeFirst()
                let moments = max(delivery.since, recorded.position)...max(delivery.until, recorded.position)
                let isRight = moments.reversed().contains {
                    visibility.shown(recorded, to: filter.viewer.user, current: $0) == delivery.event.withoutInbox
                }
                if !isRight { return "\(delivery.event) was delivered between \(moments)" }
            } else {
                let moments = recorded.position...max(recorded.position, deliveries.first?.until ?? Position(all.count))
                let isRight = moments.reversed().contains {
                    visibility.shown(recorded, to: filter.viewer.user, current: $0) == nil
                }
                if !isRight { return "\(recorded.position) was not delivered" }
            }
        }
        return deliveries.first.map { "\($0.event) was delivered although it does not match, or twice" }
    }
}
