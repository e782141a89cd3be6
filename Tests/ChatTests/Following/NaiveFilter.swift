import Chat
import ChatDomain

/// What a follower is to be given, from the rule: each event is looked at once, and what its viewer is shown of it is the oracle's answer.
struct NaiveFilter {
    let filter: EventFilter

    /// The events of a journal, from its first one on, that stand after a position and pass, as the filter's viewer is shown them at the end.
    static func events(_ all: [RecordedEvent], after position: Position, matching filter: EventFilter) -> [RecordedEvent] {
        let visibility = NaiveVisibility(all)
        return NaiveFilter(filter: filter).wanted(all, after: position).compactMap {
            visibility.shown($0, to: filter.viewer, present: Position(all.count))
        }
    }

    /// The events that satisfy every condition but that of the viewer.
    func wanted(_ all: [RecordedEvent], after position: Position) -> [RecordedEvent] {
        all.filter { $0.position > position && isWanted($0.event.details) }
    }

    private func isWanted(_ details: EventDetails) -> Bool {
        var isWanted = true
        if let threads = filter.threads { isWanted = isWanted && details.thread.map { threads.contains($0) } == true }
        if let users = filter.users { isWanted = isWanted && details.user.map { users.contains($0) } == true }
        if let kinds = filter.kinds { isWanted = isWanted && details.kind.map { kinds.contains($0) } == true }
        if let codes = filter.outwardCodes {
            var thread = details.thread
            if case .postcodeSet(let details) = details { thread = details.thread }
            isWanted = isWanted && thread?.outwardCode.map { codes.contains($0) } == true
        }
        return isWanted
    }
}

/// An event as a follower was given it, and between which ends of the journal.
struct Delivery: Sendable {
    var event: RecordedEvent
    /// The durable position when the follower asked for it.
    var since: Position
    /// The durable position once it had come.
    var until: Position
}

extension NaiveFilter {
    /// The events that a follower has to be given, whenever they are delivered: a viewer could be shown them at every moment since.
    func required(_ all: [RecordedEvent], after position: Position) -> [RecordedEvent] {
        let wanted = wanted(all, after: position)
        guard let viewer = filter.viewer else { return wanted }
        let visibility = NaiveVisibility(all)
        let departures = all.filter { if case .threadLeft(let details) = $0.event.details { details.user == viewer } else { false } }.map(
            \.position)
        return wanted.filter { recorded in
            ([recorded.position, Position(all.count)] + departures.filter { $0 > recorded.position }).allSatisfy {
                visibility.shown(recorded, to: viewer, present: $0) != nil
            }
        }
    }

    /// What is wrong with what a follower was given; nil if nothing is.
    ///
    /// A viewer is shown an event as it may be shown when it is delivered, so each delivery needs a moment at which the oracle shows the same, and each event that was left out
    /// one at which it shows nothing.
    func problem(_ all: [RecordedEvent], after position: Position, _ deliveries: [Delivery]) -> String? {
        let visibility = NaiveVisibility(all)
        var deliveries = deliveries[...]
        for recorded in wanted(all, after: position) {
            if let delivery = deliveries.first, delivery.event.position == recorded.position {
                deliveries.removeFirst()
                let moments = max(delivery.since, recorded.position)...max(delivery.until, recorded.position)
                let isRight = moments.reversed().contains { visibility.shown(recorded, to: filter.viewer, present: $0) == delivery.event }
                if !isRight { return "\(delivery.event) came between \(moments)" }
            } else {
                let moments = recorded.position...max(recorded.position, deliveries.first?.until ?? Position(all.count))
                let isRight = moments.reversed().contains { visibility.shown(recorded, to: filter.viewer, present: $0) == nil }
                if !isRight { return "\(recorded.position) did not come" }
            }
        }
        return deliveries.first.map { "\($0.event) came, for which nobody asked, or a second time" }
    }
}
