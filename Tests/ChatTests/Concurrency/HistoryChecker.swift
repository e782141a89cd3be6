@testable import Chat
import ChatDomain
import EventJournal

/// Decides whether the answers of a concurrent history are those of its operations one after another, in an order that keeps the real time between them.
///
/// The positions in the receipts are the order of all commands that appended anything, so that only the others have to be placed: questions, refusals, duplicates, and
/// commands whose effect held already. Each gets the earliest state of those that explain its answer and are not older than what anybody had been told before it was
/// invoked. No later state would leave more room to those that come after, so a history for which this fails has no such order at all.
struct HistoryChecker {
    let operations: [Operation]
    let events: [RecordedEvent]
    /// The deciding state and the views after so many events.
    private let states: [ChatState]
    private let views: [SequentialChat]

    /// Makes a checker of the operations, in any order, and of all events that the log had in the end.
    init(_ operations: [Operation], _ events: [RecordedEvent]) {
        self.operations = operations.sorted { $0.invoked < $1.invoked }
        self.events = events
        var states = [ChatState()]
        var views = [SequentialChat()]
        for recorded in events {
            var (state, view) = (states[states.count - 1], views[views.count - 1])
            state.evolve(recorded.event, at: recorded.position)
            view.take(recorded)
            states.append(state)
            views.append(view)
        }
        (self.states, self.views) = (states, views)
    }

    /// What is wrong with the history; nothing, if it is linearizable and shows only what is durable.
    func problems() -> [HistoryProblem] {
        var problems: [HistoryProblem] = []
        let acknowledged = operations.flatMap(\.appended).sorted { $0.position < $1.position }
        if acknowledged != events {
            problems.append(HistoryProblem(.lostOrInvented, "the receipts tell of \(acknowledged), the log has \(events)"))
        }
        /// When an operation had returned, and the latest state that it told of.
        var told: [(returned: UInt64, position: Position)] = []
        for operation in operations {
            // Whatever returned before this was invoked was invoked before it too, and has been placed.
            let known = told.reduce(0) { $1.returned < operation.invoked ? max($0, $1.position) : $0 }
            switch place(operation, known) {
            case .success(let position): told.append((operation.returned, position))
            case .failure(let problem): problems.append(problem)
            }
        }
        return problems
    }

    /// Finds the latest state that an operation tells of, which for one that appended nothing is the one that it saw.
    private func place(_ operation: Operation, _ known: Position) -> Result<Position, HistoryProblem> {
        func problem(_ kind: HistoryProblem.Kind, _ message: String) -> Result<Position, HistoryProblem> {
            .failure(HistoryProblem(kind, "\(message): \(operation)"))
        }
        if case .failed = operation.answer { return problem(.failed, "a store on a sound log does not answer that") }
        if let first = operation.appended.first, let last = operation.appended.last {
            if last.position > operation.durable { return problem(.beforeDurable, "a receipt came before its events were durable") }
            if first.position <= known {
                return problem(.outOfOrder, "the command was invoked when somebody had been told of position \(known)")
            }
            guard last.position < states.count, explains(operation, first.position - 1) else {
                return problem(.wrong, "the rules give another answer after \(first.position - 1)")
            }
            return .success(last.position)
        }
        let last = Position(events.count)
        let durable = min(operation.durable, last)
        if let position = (min(known, durable + 1)..<durable + 1).first(where: { explains(operation, $0) }) { return .success(position) }
        // It is wrong in any case; what it tells of says how.
        if (durable...last).dropFirst().contains(where: { $0 >= known && explains(operation, $0) }) {
            return problem(.beforeDurable, "the answer tells of what was not durable")
        }
        if (0..<known).contains(where: { $0 <= last && explains(operation, $0) }) {
            return problem(.stale, "the answer is older than position \(known), of which somebody had been told")
        }
        return problem(.wrong, "no state explains the answer")
    }

    /// Whether an operation on one state gives the answer that was given.
    private func explains(_ operation: Operation, _ position: Position) -> Bool {
        switch operation.call {
        case .execute(let batch):
            guard case .results(let given) = operation.answer, given.count == batch.count else { return false }
            return results(of: batch, given, after: position) == given
        case .ask(let query):
            if let moment = query.moment, moment > position { return operation.answer == .refused(.invalidPosition) }
            return views[Int(query.moment ?? position)].answer(query, present: views[Int(position)]) == operation.answer
        }
    }

    /// What the rules make of a batch, with the times and the ids of its receipts, which were not in the callers' hands.
    private func results(
        of batch: [CommandRequest], _ given: [Result<Receipt, Rejection>], after position: Position
    ) -> [Result<Receipt, Rejection>] {
        var state = states[Int(position)]
        return zip(batch, given).map { request, given in
            let receipt = try? given.get()
            do throws(Rejection) {
                let decision = try state.decide(
                    request, at: receipt?.events.first?.event.recordedAt ?? state.lastRecordedAt, freshID: receipt?.createdID ?? 0)
                switch decision {
                case .append(let events):
                    let first = state.head + 1
                    for event in events { state.evolve(event, at: state.head + 1) }
                    return .success(Receipt(events: events, from: first))
                case .unchanged: return .success(Receipt())
                case .duplicate(let positions):
                    let former = events.filter { positions.contains($0.position) }
                    return .success(Receipt(duplicateOf: former.compactMap { $0.shown(toCallerOf: request) }))
                }
            } catch {
                return .failure(error)
            }
        }
    }
}

/// Something in a history that no order of its operations explains.
struct HistoryProblem: Error, CustomStringConvertible {
    enum Kind: Hashable {
        /// An answer is older than what the caller or somebody else had been told before.
        case stale
        /// An answer tells of what was not durable when it was given.
        case beforeDurable
        /// The order of two commands is not that in which they were executed.
        case outOfOrder
        /// An answer that the rules do not give in any state.
        case wrong
        /// The events of the receipts are not those of the log.
        case lostOrInvented
        /// An error where there was no cause.
        case failed
    }

    var kind: Kind
    var description: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        description = "\(kind): \(message)"
    }
}

extension Operation {
    /// The events that it appended, in their order.
    var appended: [RecordedEvent] {
        guard case .results(let results) = answer else { return [] }
        return results.flatMap { result in
            guard case .success(let receipt) = result, !receipt.isDuplicate else { return [RecordedEvent]() }
            return receipt.events
        }
    }
}

extension Receipt {
    /// The id of what the command created, whichever kind that is.
    fileprivate var createdID: UInt128? { message?.bits ?? reply?.bits ?? session?.bits ?? thread?.bits ?? user?.bits }
}
