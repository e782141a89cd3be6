/// The reason why a proof does not prove its claim.
public struct ProofError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A sentence.
    public let description: String

    package init(_ description: String) { self.description = description }
}
