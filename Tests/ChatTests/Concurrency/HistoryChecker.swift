@testable import Chat
import ChatDomain
import EventJournal
import NaiveViews

/// Decides whether a concurrent history is linearizable.
///
/// The positions in the receipts order all commands that appended events. The checker has to place
/// only the other operations: queries, rejections, duplicates and unchanged commands.
///
/// Each of these gets the earliest state that explains its answer and is not older than any answer
/// returned before its invocation. A later state would only constrain later operations more, so a
/// failure proves that no linearization exists.
struct HistoryChecker {
    let operations: [Operation]
    let events: [RecordedEvent]
    /// The state of the rules and the views, by position.
    private let states: [ChatState]
    private let views: [NaiveViews]

    /// Creates a checker.
    ///
    /// - Parameters:
    ///   - operations: The operations in any order.
    ///   - events: All events of the log at the end.
    init(_ operations: [Operation], _ events: [RecordedEvent]) {
        self.operations = operations.sorted { $0.invoked < $1.invoked }
        self.events = events
        var states = [ChatState()]
        for recorded in events {
            var state = states[states.count - 1]
            state.evolve(recorded.event, at: recorded.position)
            states.append(state)
        }
        self.states = states
        let facts = events.map { NaiveViews.Fact($0) }
        views = (0...facts.count).map { NaiveViews(facts: Array(facts.prefix($0))) }
    }

    /// Returns the problems of the history.
    ///
    /// The result is empty if the history is linearizable and every answer rests on durable events
    /// only.
    func problems() -> [HistoryProblem] {
        var problems: [HistoryProblem] = []
        let acknowledged = operations.flatMap(\.appended).sorted { $0.position < $1.position }
        let logged = events.filter { !isOfErasure($0) }
        let areSame = acknowledged.elementsEqual(logged) { own, logged in
            own == logged
                || logged.event.isErased && (own.position, own.event.details) == (logged.position, logged.event.details)
        }
        if !areSame {
            problems.append(
                HistoryProblem(.lostOrInvented, "the receipts hold \(acknowledged), the log holds \(logged)"))
        }
        /// The return time of each placed operation, with the latest position that its answer
        /// shows.
        var told: [(returned: UInt64, position: Position)] = []
        for operation in operations {
            // Each operation that returned before this invocation was invoked earlier, and so is
            // placed.
            let known = told.reduce(0) { $1.returned < operation.invoked ? max($0, $1.position) : $0 }
            switch place(operation, known) {
            case .success(let position): told.append((operation.returned, position))
            case .failure(let problem): problems.append(problem)
            }
        }
        return problems
    }

    /// Returns the latest position that an operation's answer shows.
    ///
    /// For an operation that appended nothing, this is the position of the state that explains its
    /// answer.
    private func place(_ operation: Operation, _ known: Position) -> Result<Position, HistoryProblem> {
        func problem(_ kind: HistoryProblem.Kind, _ message: String) -> Result<Position, HistoryProblem> {
            .failure(HistoryProblem(kind, "\(message): \(operation)"))
        }
        if case .failed = operation.answer { return problem(.failed, "the store reported an error on a sound log") }
        if case .erase(let user) = operation.call { return placeErasure(of: user, operation, known) }
        if let first = operation.appended.first, let last = operation.appended.last {
            if last.position > operation.durable {
                return problem(.beforeDurable, "the receipt was returned before its events were durable")
            }
            if first.position <= known {
                return problem(.outOfOrder, "the command was invoked after an answer had shown position \(known)")
            }
            guard last.position < states.count, explains(operation, first.position - 1) else {
                return problem(.wrong, "the rules give a different answer after position \(first.position - 1)")
            }
            return .success(last.position)
        }
        let last = Position(events.count)
        let durable = min(operation.durable, last)
        if let position = (min(known, durable + 1)..<durable + 1).first(where: { explains(operation, $0) }) {
            return .success(position)
        }
        // The answer is a violation. The search below classifies it.
        if (durable...last).dropFirst().contains(where: { $0 >= known && explains(operation, $0) }) {
            return problem(.beforeDurable, "the answer shows events that were not durable")
        }
        if (0..<known).contains(where: { $0 <= last && explains(operation, $0) }) {
            return problem(.stale, "the answer is older than position \(known), which an earlier answer had shown")
        }
        return problem(.wrong, "no state explains the answer")
    }

    /// Returns the position of the order that erased a user, if it explains the answer.
    private func placeErasure(of user: UserID, _ operation: Operation, _ known: Position) -> Result<
        Position, HistoryProblem
    > {
        let order = events.first { $0.event.kind == .userErased && $0.event.user == user }?.position
        guard let order, case .erased(let own) = operation.answer else {
            return .failure(HistoryProblem(.wrong, "the user is not erased: \(operation)"))
        }
        if order > operation.durable {
            return .failure(HistoryProblem(.beforeDurable, "the order is not durable: \(operation)"))
        }
        guard let own else { return .success(max(known, order)) }
        if own != order { return .failure(HistoryProblem(.wrong, "the user was erased before: \(operation)")) }
        return own > known
            ? .success(own)
            : .failure(HistoryProblem(.outOfOrder, "the order is before position \(known): \(operation)"))
    }

    /// Whether an erasure, and no command, appended an event: the order, or the end of a role in
    /// the name of the erased user.
    private func isOfErasure(_ recorded: RecordedEvent) -> Bool {
        switch recorded.event.kind {
        case .userErased: true
        case .roleSet, .operatorRevoked:
            events.prefix(Int(recorded.position)).contains {
                $0.event.kind == .userErased && $0.event.user == recorded.event.otherActor ?? recorded.event.user
            }
        default: false
        }
    }

    /// Returns whether the state after `position` gives the operation's answer.
    private func explains(_ operation: Operation, _ position: Position) -> Bool {
        switch operation.call {
        case .execute(let batch):
            guard case .results(let given) = operation.answer, given.count == batch.count else { return false }
            return results(of: batch, given, after: position) == given
        case .erase: return false
        case .ask(let query):
            if let moment = query.moment, moment > position { return operation.answer == .refused(.invalidPosition) }
            return views[Int(query.moment ?? position)].answer(query, current: views[Int(position)]) == operation.answer
        }
    }

    /// Returns the results of a batch decided on the state after `position`.
    ///
    /// Times and generated ids come from the given receipts, because the store chose them.
    private func results(
        of batch: [CommandRequest], _ given: [Result<Receipt, Rejection>], after position: Position
    ) -> [Result<Receipt, Rejection>] {
        var state = states[Int(position)]
        return zip(batch, given).map { request, given in
            let receipt = try? given.get()
            do throws(Rejection) {
                let decision = try state.decide(
                    request, at: receipt?.events.first?.event.recordedAt ?? state.lastRecordedAt,
                    freshID: receipt?.createdID ?? 0)
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

/// A violation in a history that no order of its operations explains.
struct HistoryProblem: Error, CustomStringConvertible {
    enum Kind: Hashable {
        /// An answer is older than an answer that returned before the invocation.
        case stale
        /// An answer shows events that were not durable.
        case beforeDurable
        /// Two commands took effect in the reverse of their real-time order.
        case outOfOrder
        /// No state gives the answer.
        case wrong
        /// The events of the receipts differ from the events of the log.
        case lostOrInvented
        /// The store reported an error on a sound log.
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
    /// The events that the operation appended, in order.
    var appended: [RecordedEvent] {
        guard case .results(let results) = answer else { return [] }
        return results.flatMap { result in
            guard case .success(let receipt) = result, !receipt.isDuplicate else { return [RecordedEvent]() }
            return receipt.events
        }
    }
}

extension Receipt {
    /// The id of the entity that the command created, of any kind.
    fileprivate var createdID: UInt128? {
        message?.bits ?? reply?.bits ?? session?.bits ?? edit?.bits ?? thread?.bits ?? user?.bits
    }
}
