import Columns

/// What the decider makes of a command that it does not refuse.
public enum Decision: Hashable, Sendable {
    /// These events are to be appended in one commit; there is at least one.
    case append([ChatEvent])

    /// The command's effect holds already: nothing is appended.
    case unchanged

    /// The id was used by the same command before: nothing is appended, and the answer is the first receipt, whose events stand at these positions.
    case duplicate(of: ClosedRange<Position>)
}

/// A ``Decision`` whose events have been added to a batch.
package enum BatchDecision: Hashable, Sendable {
    /// The batch has at least one more event.
    case append
    case unchanged
    case duplicate(of: ClosedRange<Position>)
}

extension EventBatch {
    /// The events of rows that a request brought about.
    package func events(_ rows: Range<Int>, of request: CommandRequest) -> [ChatEvent] {
        rows.map { ChatEvent(self.rows[$0], content($0, of: request), correlation: request.correlation) }
    }

    /// The content of the event of a row that a request brought about.
    package func content(_ row: Int, of request: CommandRequest) -> EventContent {
        guard rows[row].kind?.isIndexed == true else { return request.command.text(of: rows[row].kind) }
        return contents[partition(contents.count) { contents[$0].row >= row }].content
    }
}

extension ChatCommand {
    /// The content of an event that the command brings about, where its kind has one that is not indexed.
    package func text(of kind: EventKind?) -> EventContent {
        switch (self, kind) {
        case (.postMessage(_, _, _, let body), .messagePosted), (.reply(_, _, _, let body), .replyPosted),
            (.edit(_, _, let body), .messageEdited), (.edit(_, _, let body), .replyEdited):
            .body(body)
        case (.startSession(_, _, let device), .sessionStarted): .device(device)
        default: .none
        }
    }
}
