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
                self.rows[$0], content($0, of: request), correlation: request.correlation)
        }
    }

    /// Returns the content of the event in a row, which a request produced.
    package func content(_ row: Int, of request: CommandRequest) -> EventContent {
        guard rows[row].kind?.form.isIndexed == true else { return request.command.unindexedContent(of: rows[row].kind) }
        return content(of: row).content
    }
}

extension ChatCommand {
    /// Returns the text that the command gives an event of this kind, or no content if the kind is
    /// indexed.
    package func unindexedContent(of kind: EventKind?) -> EventContent {
        switch (self, kind) {
        case (.postMessage(_, _, _, let body), .messagePosted), (.reply(_, _, _, let body), .replyPosted),
            (.edit(_, _, let body), .messageEdited), (.edit(_, _, let body), .replyEdited):
            .body(body)
        case (.startSession(_, _, let device), .sessionStarted): .device(device)
        case (.remove(_, _, let reason), .messageRemoved), (.remove(_, _, let reason), .replyRemoved),
            (.mute(_, _, _, let reason, _), .userMuted), (.ban(_, _, _, let reason, _), .userBanned),
            (.ban(_, _, _, let reason, _), .memberRemoved), (.removeMember(_, _, _, let reason), .memberRemoved),
            (.report(_, _, let reason), .messageReported), (.report(_, _, let reason), .replyReported):
            .reason(reason)
        case (.custom(_, let kind, _, _, let payload), .custom): .custom(kind: kind, payload: .present(payload))
        default: .none
        }
    }
}
