public import ChatDomain
import Testing

/// A given-when-then test of the rules, without a store.
///
/// ```swift
/// let outcome = DeciderSpecification()
///     .given(.registerUser(id: ann, username: "Ann"))
///     .when(.changeUsername(username: "", by: ann))
/// #expect(outcome.rejection?.code == .invalidUsername)
/// ```
public struct DeciderSpecification: Sendable {
    /// The state after the given events.
    public private(set) var state = ChatState()
    /// The given events.
    public private(set) var history: [RecordedEvent] = []
    private var time = Timestamp.testStart
    private var nextID: UInt128 = 1

    /// Creates a specification with an empty history.
    public init() {}

    /// Adds an event to the history.
    public func given(_ event: ChatEvent) -> DeciderSpecification {
        var specification = self
        specification.append(event)
        return specification
    }

    /// Adds the events of commands to the history; each command must be accepted.
    ///
    /// A rejected command records an issue of the running test, at the line of the call, and adds
    /// nothing.
    ///
    /// - Precondition: Outside of a test of Swift Testing, no command is rejected.
    public func given(
        _ commands: ChatCommand..., fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column
    ) -> DeciderSpecification {
        given(commands.map { CommandRequest($0) }, fileID: fileID, filePath: filePath, line: line, column: column)
    }

    /// Adds the events of requests to the history; each request must be accepted.
    ///
    /// A rejected request records an issue of the running test, at the line of the call, and adds
    /// nothing.
    ///
    /// - Precondition: Outside of a test of Swift Testing, no request is rejected.
    public func given(
        _ requests: [CommandRequest], fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column
    ) -> DeciderSpecification {
        var specification = self
        for request in requests {
            switch specification.decide(request) {
            case .success(.append(let events)): for event in events { specification.append(event) }
            case .success: break
            case .failure(let rejection):
                let text = "given \(request) was rejected: \(rejection)"
                // Nothing else reports an issue that no test has.
                precondition(Test.current != nil, text)
                Issue.record(
                    "\(text)",
                    sourceLocation: SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
            }
        }
        return specification
    }

    /// Decides a command on the given history.
    public func when(_ command: ChatCommand) -> Outcome { when(CommandRequest(command)) }

    /// Decides a request on the given history.
    public func when(_ request: CommandRequest) -> Outcome {
        var specification = self
        return Outcome(result: specification.decide(request))
    }

    private mutating func decide(_ request: CommandRequest) -> Result<Decision, Rejection> {
        time = Timestamp(millisecondsSince1970: time.millisecondsSince1970 + 1)
        nextID += 1
        do throws(Rejection) { return .success(try state.decide(request, at: time, freshID: nextID)) } catch {
            return .failure(error)
        }
    }

    private mutating func append(_ event: ChatEvent) {
        let position = state.head + 1
        state.evolve(event, at: position)
        history.append(RecordedEvent(position: position, event: event))
    }

    /// The outcome of a command.
    public struct Outcome: Sendable {
        /// The decision or the rejection.
        public var result: Result<Decision, Rejection>

        /// The details of the events to append; empty if there are none.
        public var eventDetails: [EventDetails] { events.map(\.details) }

        /// The events to append; empty if there are none.
        public var events: [ChatEvent] {
            if case .success(.append(let events)) = result { return events }
            return []
        }

        /// The rejection, if any.
        public var rejection: Rejection? {
            if case .failure(let rejection) = result { return rejection }
            return nil
        }

        /// Whether the effect of the command already held.
        public var isUnchanged: Bool { result == .success(.unchanged) }

        /// The positions of the first receipt, if the command is a duplicate.
        public var duplicatePositions: ClosedRange<Position>? {
            if case .success(.duplicate(let positions)) = result { return positions }
            return nil
        }
    }
}

extension DeciderSpecification: CustomStringConvertible {
    /// The number of given events, for the output of a test with arguments.
    public var description: String { "\(history.count) events" }
}

extension Timestamp {
    /// The default start of clocks in tests: 2020-03-23T00:00:00Z.
    public static let testStart = Timestamp(millisecondsSince1970: 1_584_921_600_000)
}
