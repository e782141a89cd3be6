/// Consecutive events of which most of a long history consists: new messages, and joins of threads by users who had not been there.
///
/// What such a stretch comes to is what its events come to one after the other; it is only said once for all of them, in a fraction of the time.
struct EventStretch {
    enum Kind {
        /// New messages.
        case messages
        /// Joins that each begin a membership.
        case joins
        /// Anything else.
        case others
    }

    let kind: Kind
    /// The indices of the events.
    var range: Range<Int>

    /// The stretches of events that have been given their numbers, and have not been taken in yet.
    static func all(of events: [EventRow], _ numbers: [EventNumbers]) -> [EventStretch] {
        var stretches: [EventStretch] = []
        for index in events.indices {
            let kind: Kind =
                switch events[index].kind {
                case .messagePosted where numbers[index].isNew: .messages
                case .threadJoined where numbers[index].isNew: .joins
                default: .others
                }
            if let last = stretches.indices.last, stretches[last].kind == kind {
                stretches[last].range = stretches[last].range.lowerBound..<index + 1
            } else {
                stretches.append(EventStretch(kind: kind, range: index..<index + 1))
            }
        }
        return stretches
    }
}
