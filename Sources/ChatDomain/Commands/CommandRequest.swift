/// A command and its correlation id.
public struct CommandRequest: Hashable, Sendable {
    /// The command.
    public var command: ChatCommand
    /// The correlation id of the acting user, 1 to 256 bytes, which the events record, except those
    /// of others.
    public var correlation: String?
    /// Native or imported; not public, because an import skips the residence rule.
    package var origin: EventOrigin

    /// Creates a request.
    public init(_ command: ChatCommand, correlation: String? = nil) {
        self.init(command, correlation: correlation, origin: .native)
    }

    /// Creates a request with an origin.
    package init(_ command: ChatCommand, correlation: String? = nil, origin: EventOrigin) {
        self.command = command
        self.correlation = correlation
        self.origin = origin
    }
}
