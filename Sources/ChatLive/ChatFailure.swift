public import ChatDomain

/// The error of a chat, whether a store or a server is behind it.
public protocol ChatFailure: Error, Sendable {
    /// The rejection, if a rule rejected the command or the query.
    var rejection: Rejection? { get }
}
