public import ChatDomain
public import ChatValues

/// A command that waits in the outbox of a client.
public struct OutboxItem: Hashable, Sendable, Identifiable {
    /// The number of the item, which grows with every command of the outbox.
    public let id: Int64
    /// The command, with the id that the client has made for what it creates.
    public let request: CommandRequest
    /// The time at which it was written, by the clock of the device.
    public let writtenAt: Timestamp
    /// Whether it waits, or was rejected.
    public let state: State
    /// Whether it was sent at least once; the server may have executed it.
    public let wasSent: Bool

    /// The state of an item.
    public enum State: Hashable, Sendable {
        /// It waits for the server, or for an answer.
        case queued
        /// A rule has rejected it, or the command that it depends on.
        case rejected(Rejection)
    }

    package init(id: Int64, request: CommandRequest, writtenAt: Timestamp, state: State, wasSent: Bool) {
        (self.id, self.request, self.writtenAt, self.state, self.wasSent) = (id, request, writtenAt, state, wasSent)
    }
}

/// What a screen shows of the command.
extension OutboxItem {
    /// The kind of the command, such as `postMessage`; a later version may have more.
    public var kind: String { request.command.name }

    /// The post that the command creates, or else the one that it is about; nil if it is about
    /// none.
    public var post: PostID? {
        createdPost ?? request.command.post
    }

    /// The message or reply that the command creates; nil for other commands.
    public var createdPost: PostID? { request.command.createdPost }

    /// The thread that the command names; nil for others, such as a reply, which names a
    /// message.
    public var thread: ThreadID? { request.command.thread }

    /// The text of a message, a reply or an edit; nil for other commands.
    public var text: String? { request.command.body }

    /// The rule that rejected it, or what it depends on; nil while it waits.
    public var rejection: Rejection? { if case .rejected(let rejection) = state { rejection } else { nil } }

    /// Returns the same command with another text, to replace the item by; nil if it has no
    /// text.
    public func request(withText text: String) -> CommandRequest? {
        guard self.text != nil else { return nil }
        var request = request
        request.command.text = text
        return request
    }
}

/// What has happened to a command of the outbox, with the item as it is afterwards.
public enum OutboxChange: Hashable, Sendable {
    /// It is durable on this device, and waits.
    case queued(OutboxItem)
    /// It is being sent.
    case sending(OutboxItem)
    /// The server has executed it.
    case confirmed(OutboxItem, Receipt)
    /// A rule has rejected it, or the command that it depends on; it stays in the outbox until
    /// it is withdrawn or sent again.
    case rejected(OutboxItem, Rejection)
    /// It was taken back before it was sent, or after it was rejected.
    case withdrawn(OutboxItem)

    /// The command, as it is afterwards.
    public var item: OutboxItem {
        switch self {
        case .queued(let item), .sending(let item), .confirmed(let item, _), .rejected(let item, _),
            .withdrawn(let item):
            item
        }
    }
}

extension ChatCommand {
    /// The post that the command creates; nil for others, and without an id.
    package var createdPost: PostID? {
        switch kind {
        case .postMessage: id.map { .message(MessageID(bits: $0)) }
        case .reply: id.map { .reply(ReplyID(bits: $0)) }
        default: nil
        }
    }
}
