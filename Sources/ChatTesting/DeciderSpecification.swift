public import ChatDomain

/// Given these events, when this command is decided, then this follows: a test of the rules without a store.
///
/// ```swift
/// DeciderSpecification()
///     .given(.registerUser(user: ann, username: "Ann"))
///     .when(.changeUsername(user: ann, username: ""))
///     .rejection?.code == .invalidUsername
/// ```
public struct DeciderSpecification: Sendable {
    /// The state after the given events.
    public private(set) var state = ChatState()
    /// The given events.
    public private(set) var history: [RecordedEvent] = []
    private var time = Timestamp(millisecondsSince1970: 1_584_921_600_000)
    private var nextID: UInt128 = 1

    /// Begins with an empty history.
    public init() {}

    /// Adds an event to the history.
    public func given(_ event: ChatEvent) -> DeciderSpecification {
        var specification = self
        specification.append(event)
        return specification
    }

    /// Adds the events of commands, each of which must be accepted, to the history.
    ///
    /// - Precondition: No command is refused; the message of the trap names the one that was.
    public func given(_ commands: ChatCommand...) -> DeciderSpecification {
        given(commands.map { CommandRequest($0) })
    }

    /// Adds the events of requests, each of which must be accepted, to the history.
    public func given(_ requests: [CommandRequest]) -> DeciderSpecification {
        var specification = self
        for request in requests {
            switch specification.decide(request) {
            case .success(.append(let events)): for event in events { specification.append(event) }
            case .success: break
            case .failure(let rejection): preconditionFailure("\(request.command) was refused: \(rejection)")
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
        do throws(Rejection) { return .success(try state.decide(request, at: time, freshID: nextID)) } catch { return .failure(error) }
    }

    private mutating func append(_ event: ChatEvent) {
        let position = state.head + 1
        state.evolve(event, at: position)
        history.append(RecordedEvent(position: position, event: event))
    }

    /// What followed from a command.
    public struct Outcome: Sendable {
        /// The decision or the refusal.
        public var result: Result<Decision, Rejection>

        /// The facts of the events that are to be appended; empty where there are none.
        public var facts: [EventDetails] { events.map(\.details) }

        /// The events that are to be appended; empty where there are none.
        public var events: [ChatEvent] {
            if case .success(.append(let events)) = result { return events }
            return []
        }

        /// The refusal, nil if there was none.
        public var rejection: Rejection? {
            if case .failure(let rejection) = result { return rejection }
            return nil
        }

        /// Whether the effect held already.
        public var isUnchanged: Bool { result == .success(.unchanged) }

        /// Where the first receipt of a duplicate stands.
        public var duplicateOf: ClosedRange<Position>? {
            if case .success(.duplicate(let positions)) = result { return positions }
            return nil
        }
    }
}
