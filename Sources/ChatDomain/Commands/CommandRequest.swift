/// A command and what stands beside it: its correlation id, and the id that makes it take effect once.
public struct CommandRequest: Hashable, Sendable {
    /// The command.
    public var command: ChatCommand
    /// The correlation id of the acting user, 1 to 256 bytes, which the events record, except those
    /// of others.
    public var correlation: String?
    /// An id of the acting user's choice, or the host's, with which the command takes effect once: sent
    /// again, it is a duplicate, whatever has happened since.
    ///
    /// The same user and id with another kind of command, thread, post or user is rejected as
    /// `identifierTaken`; nothing else is compared. A command without effect leaves no memory.
    ///
    /// Only commands without an id of their own have it, except `endSession`, `markInboxRead`,
    /// `markRead`, `markUnread`, `react` and `unreact`; with other commands it has no effect.
    public var once: CommandID?
    /// Native or imported; not public, because an import skips the residence rule.
    package var origin: EventOrigin

    /// Creates a request.
    public init(_ command: ChatCommand, correlation: String? = nil, once: CommandID? = nil) {
        self.init(command, correlation: correlation, once: once, origin: .native)
    }

    /// Creates a request with an origin.
    package init(_ command: ChatCommand, correlation: String? = nil, once: CommandID? = nil, origin: EventOrigin) {
        self.command = command
        self.correlation = correlation
        self.once = once
        self.origin = origin
    }
}

/// What two commands with the same ``CommandRequest/once`` must have in common.
extension ChatCommand {
    /// A digest of the kind, the thread, the post and the user concerned (FNV-1a, over words).
    ///
    /// It compares only commands of one user, who gains nothing from two with the same digest.
    var subject: UInt64 {
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ bits: UInt128) {
            for word in [UInt64(truncatingIfNeeded: bits), UInt64(truncatingIfNeeded: bits >> 64)] {
                digest = ((digest ^ word) &* 0x100_0000_01B3)
                digest ^= digest >> 32
            }
        }
        // Both join a thread, and an event does not tell which it was.
        add(UInt128((kind == .acceptInvitation ? .joinThread : kind).rawValue))
        if let thread { add(thread.bits) }
        if let post {
            add(post.bits)
            add(post.isReply ? 1 : 0)
        }
        if kind.form.fields.contains(.user) { add(userID.bits) }
        return digest
    }
}

extension CommandKind {
    /// Whether a command can have a ``CommandRequest/once``.
    ///
    /// Not one with an id of its own, which does the same; not one that ends for good what it
    /// names, or moves a marker forward; and not one whose opposite is known by its position.
    package var takesOnce: Bool {
        !form.createsID && ![.endSession, .markInboxRead, .markRead, .markUnread, .react, .unreact].contains(self)
    }
}
