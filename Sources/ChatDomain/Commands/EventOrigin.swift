/// The origin of a command and its events.
public enum EventOrigin: Hashable, Sendable {
    /// Decided by this store.
    case native

    /// Imported from another system, with the original time if known; the residence rule is
    /// skipped.
    case imported(sentAt: Timestamp?)

    /// The original time of an imported event, if known.
    public var sentAt: Timestamp? {
        if case .imported(let sentAt) = self { return sentAt }
        return nil
    }
}
