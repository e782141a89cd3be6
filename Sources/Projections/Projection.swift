public import ChatDomain

/// A read model: a value that is rebuilt by replaying the journal, and kept current by the same code.
///
/// A projection sees every event once, in order, without a gap. It is a function of the events alone: no clock, no file, no randomness, so that a rebuild ends in the
/// same value. The built-in projections conform to this protocol and have no other way in.
public protocol Projection: Sendable {
    /// The name of the projection, unique within a store and stable across versions.
    static var name: String { get }

    /// What of the events' content ``apply(_:at:)`` needs.
    ///
    /// All of it unless said otherwise; a projection that reads no bodies replays several times faster with `.indexed`.
    static var contents: ContentSelection { get }

    /// Makes the projection as it is before the first event.
    init()

    /// Takes in the next event.
    ///
    /// - Parameters:
    ///   - event: What happened; its content may be erased.
    ///   - position: Where it stands in the journal: always greater than at the call before.
    mutating func apply(_ event: Event, at position: Position)
}

extension Projection {
    /// All of the content.
    public static var contents: ContentSelection { .all }
}
