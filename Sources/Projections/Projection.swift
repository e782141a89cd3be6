public import ChatDomain

/// A read model: a value built by replaying the journal and kept current by the same code.
///
/// A projection receives every event once, in order, without gaps. Its state is a function of the
/// events alone: no clock, no file, no randomness. A rebuild therefore produces an equal value. The
/// built-in read models, `ReadModels`, conform to it.
public protocol Projection: Sendable {
    /// The name of the projection, unique within a store and stable across versions.
    ///
    /// The checkpoints of a ``CheckpointedProjection`` have it: of two types with one name, the
    /// queries of the second one throw.
    ///
    /// A ``CheckpointedProjection`` requires 1 to 32 ASCII letters, digits and hyphens.
    static var name: String { get }

    /// The version of the projection's logic and encoding; checkpoints of other versions are
    /// ignored.
    ///
    /// The default is 1. Change it whenever the projection interprets events differently or encodes
    /// its state differently.
    static var version: UInt32 { get }

    /// The event contents that ``apply(_:at:)`` reads.
    ///
    /// The default is all contents. A projection that reads no bodies replays faster with
    /// `.indexed`.
    static var contents: ContentSelection { get }

    /// Creates the projection in its state before the first event.
    init()

    /// Applies the next event.
    ///
    /// - Parameters:
    ///   - event: The event; its content may have been erased.
    ///   - position: The position of the event, greater than at the previous call.
    mutating func apply(_ event: ChatEvent, at position: Position)
}

extension Projection {
    /// The default version, 1.
    public static var version: UInt32 { 1 }

    /// The default, all contents.
    public static var contents: ContentSelection { .all }
}
