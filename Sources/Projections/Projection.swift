public import ChatDomain

/// A read model: a value that is rebuilt by replaying the journal, and kept current by the same code.
///
/// A projection sees every event once, in order, without a gap. It is a function of the events alone: no clock, no file, no randomness, so that a rebuild ends in the
/// same value. The built-in projections conform to this protocol and have no other way in.
public protocol Projection: Sendable {
    /// The name of the projection, unique within a store and stable across versions.
    ///
    /// 1 to 32 ASCII letters, digits and hyphens, where its state is kept in checkpoints.
    static var name: String { get }

    /// The version of what the projection makes of events; a checkpoint of another one is ignored.
    ///
    /// 1 unless said otherwise. Another one is due whenever an event comes to mean something else, or the state is encoded in another way.
    static var version: UInt32 { get }

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
    mutating func apply(_ event: ChatEvent, at position: Position)
}

extension Projection {
    /// 1.
    public static var version: UInt32 { 1 }

    /// All of the content.
    public static var contents: ContentSelection { .all }
}
