import Primitives

/// The outcome of a command that the decider accepts.
public enum Decision: Hashable, Sendable {
    /// Append these events in one commit; the array is never empty.
    case append([ChatEvent])

    /// The command's effect holds already; nothing is appended.
    case unchanged

    /// The same command already used this id; nothing is appended.
    ///
    /// The receipt is that of the first command, whose events have these positions.
    case duplicate(of: ClosedRange<Position>)
}

/// A ``Decision`` whose events have been appended to a batch.
package enum BatchDecision: Hashable, Sendable {
    /// The batch contains at least one more event.
    case append
    /// The command's effect holds already; the batch is unchanged.
    case unchanged
    /// The same command already used this id, and its events have these positions.
    case duplicate(of: ClosedRange<Position>)
}

extension EventBatch {
    /// Returns the events in the given rows, which a request produced.
    package func events(_ rows: Range<Int>, of request: CommandRequest) -> [ChatEvent] {
        rows.map {
            ChatEvent(
                self.rows[$0], content($0, of: request), correlation: correlation($0, of: request),
                mentions: mentions(of: $0))
        }
    }

    /// Returns the correlation id of the event in a row, which a request produced.
    package func correlation(_ row: Int, of request: CommandRequest) -> String? {
        rows[row].flags.contains(.correlation) ? request.correlation : nil
    }

    /// Returns the content of the event in a row, which a request produced.
    package func content(_ row: Int, of request: CommandRequest) -> EventContent {
        guard rows[row].kind?.form.isIndexed == true else {
            return request.command.unindexedContent(of: rows[row].kind)
        }
        return content(of: row).content
    }
}

extension ChatCommand {
    /// Returns the text that the command gives an event of this kind, or no content if the kind is
    /// indexed.
    package func unindexedContent(of kind: EventKind?) -> EventContent {
        guard let form = kind?.form.content, !form.isIndexed else { return .none }
        if form == .payload { return .custom(kind: label ?? "", payload: payload.map { .present($0) } ?? .omitted) }
        if form == .about { return .about(ProfileText.trimmed(text)) }
        return EventContent(form, recorded: text) ?? .none
    }
}
