extension EventEncoder {
    /// Encodes the kept part of an event whose content the journal does not hold; ``erasable`` is then empty.
    ///
    /// Whether an event with content once had a correlation id is not known any more, and the flag is not set. One without content counts as erased only if it had one.
    package mutating func encodeStub(_ event: ChatEvent) {
        var kept = event
        switch event.content {
        case .opaque: break
        default:
            kept.content = .none
            kept.correlation = event.details.hasContent ? nil : ""
        }
        encode(kept)
        removeErasable()
    }
}

extension EventDetails {
    /// Whether an event with this fact has content of its kind.
    fileprivate var hasContent: Bool {
        switch self {
        case .userRegistered, .usernameChanged, .postcodeSet, .messagePosted, .replyPosted, .messageEdited, .replyEdited, .sessionStarted:
            true
        case .threadOpened(let details): details.thread.outwardCode == nil
        case .threadJoined, .threadLeft, .messageRetracted, .replyRetracted, .threadRead, .sessionEnded, .lost, .unknown: false
        }
    }
}
