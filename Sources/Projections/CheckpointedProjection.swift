#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A projection whose state can be encoded, so that a store keeps checkpoints of it.
///
/// A checkpoint shortens the replay when the projection is created again, and when it is queried as
/// of an earlier point. A type that is also `Codable` needs no more code: its state is encoded as
/// JSON. For a large state, implement the two requirements with a compact encoding.
public protocol CheckpointedProjection: Projection {
    /// Returns the state as bytes.
    ///
    /// Called while the store writes a checkpoint; the store executes commands and answers queries
    /// meanwhile. An error means that the checkpoint is not written.
    func encodedState() throws -> [UInt8]

    /// Creates the projection from the result of ``encodedState()``.
    ///
    /// The bytes are those of a projection of the same name and ``Projection/version``, verified by
    /// checksums. An error means that the checkpoint is ignored.
    init(encodedState: [UInt8]) throws
}

extension CheckpointedProjection where Self: Codable {
    /// Returns the state as JSON.
    public func encodedState() throws -> [UInt8] { Array(try JSONEncoder().encode(self)) }

    /// Creates the projection from JSON.
    public init(encodedState: [UInt8]) throws { self = try JSONDecoder().decode(Self.self, from: Data(encodedState)) }
}
