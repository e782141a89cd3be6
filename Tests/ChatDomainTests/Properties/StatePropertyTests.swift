import ChatDomain
import ChatTesting
import TestSupport
import Testing

/// Invariants of the state after any sequence of commands.
struct StatePropertyTests {
    /// The result of a random sequence of commands.
    private struct Run {
        var state = ChatState()
        var events: [ChatEvent] = []
        /// The accepted commands with their own ids, and the positions of their events.
        var accepted: [(CommandRequest, ClosedRange<Position>)] = []
    }

    /// Runs a sequence; calls `check` with each state, request and answer.
    private func run(
        _ seed: UInt64, steps: Int,
        check: (ChatState, CommandRequest, Result<Decision, Rejection>) -> Void = { _, _, _ in }
    ) -> Run {
        var requests = RequestGenerator(seed: seed)
        var run = Run()
        var clock: Int64 = 1_584_921_600_000
        for _ in 0..<steps {
            let request = requests.next()
            let answer = Self.answer(run.state, request, at: requests.tick(&clock), freshID: requests.freshID())
            check(run.state, request, answer)
            guard case .success(.append(let events)) = answer else { continue }
            let first = run.state.head + 1
            for event in events { run.state.evolve(event, at: run.state.head + 1) }
            run.events += events
            // Who comes back to a direct thread is known by it, not by the id of the command.
            if request.command.kind == .openDirect, events.first?.kind != .directOpened { continue }
            if request.command.bearsID { run.accepted.append((request, first...run.state.head)) }
        }
        return run
    }

    private static func answer(
        _ state: ChatState, _ request: CommandRequest, at now: Timestamp = Timestamp(millisecondsSince1970: 0),
        freshID: UInt128
    ) -> Result<Decision, Rejection> {
        Result { () throws(Rejection) in try state.decide(request, at: now, freshID: freshID) }
    }

    private func replayed(_ events: [ChatEvent]) -> ChatState {
        var state = ChatState()
        for event in events { state.evolve(event, at: state.head + 1) }
        return state
    }

    @Test(arguments: Seeds.seeds(Repetitions.few(3, of: 10))) func replayRestoresState(seed: UInt64) throws {
        let run = run(seed, steps: 400)
        #expect(replayed(run.events) == run.state)
        #expect(replayed(try run.events.map { try EventBytes($0).event() }) == run.state)
        // The state does not hold bodies, devices or correlation ids.
        #expect(replayed(try run.events.map { try EventBytes($0).event(.indexed) }) == run.state)
        #expect(run.events.count > 50)
    }

    @Test(arguments: Seeds.seeds(10)) func statesOfDifferentHistoriesDiffer(seed: UInt64) {
        let run = run(seed, steps: 100)
        #expect(replayed(run.events.dropLast()) != run.state)
    }

    @Test(arguments: Seeds.seeds(Repetitions.few(3, of: 10))) func decidedEventsHaveNoFaults(seed: UInt64) throws {
        let run = run(seed, steps: 400)
        var state = ChatState()
        for event in run.events {
            #expect(state.faults(of: event).isEmpty)
            #expect(state.faults(of: try EventBytes(event).event()).isEmpty)
            #expect(state.faults(of: try EventBytes(event).stub()).isEmpty)
            state.evolve(event, at: state.head + 1)
        }
    }

    @Test(arguments: Seeds.seeds(Repetitions.few(3, of: 10))) func rejectedCommandChangesNothing(seed: UInt64) {
        _ = run(seed, steps: 300) { state, request, answer in
            guard case .failure = answer else { return }
            let copy = state
            for time in [Int64.min, 0, Int64.max] {
                _ = Self.answer(copy, request, at: Timestamp(millisecondsSince1970: time), freshID: 5)
            }
            #expect(copy == state)
            // A repeated command is rejected for the same reason, at any time and with any fresh
            // id.
            #expect(Self.answer(state, request, freshID: 7) == answer)
        }
    }

    @Test(arguments: Seeds.seeds(Repetitions.few(3, of: 10))) func repeatedIDReturnsFirstPositions(seed: UInt64) {
        let run = run(seed, steps: 400)
        #expect(run.accepted.count > 20)
        for (request, positions) in run.accepted {
            let again = Self.answer(run.state, request, freshID: 3)
            // A repeated post is the post alone, without the return of the other person to a direct
            // thread.
            let isReturn = request.command.kind == .postMessage || request.command.kind == .reply
            let first = isReturn ? positions.upperBound : positions.lowerBound
            #expect(again == .success(.duplicate(of: first...positions.upperBound)), "\(request)")
        }
    }

    @Test(arguments: Seeds.seeds(Repetitions.few(3, of: 10))) func timesAscendAndThreadNumbersHaveNoGaps(seed: UInt64) {
        let run = run(seed, steps: 400)
        #expect(zip(run.events, run.events.dropFirst()).allSatisfy { $0.recordedAt <= $1.recordedAt })
        var numbers: [ThreadID: [UInt64]] = [:]
        for event in run.events {
            guard let thread = event.thread else { continue }
            switch event.kind {
            case .postcodeSet, .threadRead, .messageReported, .replyReported, .messageReportsResolved,
                .replyReportsResolved, .threadMarkedUnread, .notificationsSet:
                continue
            default: break
            }
            numbers[thread, default: []].append(event.threadNumber ?? 0)
        }
        for (thread, numbers) in numbers { #expect(numbers == (1...numbers.count).map { UInt64($0) }, "\(thread)") }
    }

    /// Erased content is missing only from the indexes over content.
    @Test(arguments: Seeds.seeds(Repetitions.few(3, of: 10))) func evolveHandlesStubs(seed: UInt64) throws {
        let run = run(seed, steps: 300)
        let withoutBodies = try run.events.map { event in
            switch event.content {
            case .body, .device, .threadName, .reason, .custom, .none: try EventBytes(event).stub()
            default: event
            }
        }
        #expect(replayed(withoutBodies) == run.state)

        let bare = replayed(try run.events.map { try EventBytes($0).stub() })
        #expect(bare.head == run.state.head)
        #expect(bare.lastRecordedAt == run.state.lastRecordedAt)
        for (request, positions) in run.accepted {
            let again = Self.answer(bare, request, freshID: 3)
            if request.command.kind == .registerUser {
                // With the first name erased, the decider cannot recognise the same registration.
                #expect(again == .failure(.identifierTaken))
            } else {
                // A repeated post is the post alone, without the return of the other person to a
                // direct thread.
                let isReturn = request.command.kind == .postMessage || request.command.kind == .reply
                let first = isReturn ? positions.upperBound : positions.lowerBound
                #expect(again == .success(.duplicate(of: first...positions.upperBound)), "\(request)")
            }
        }
    }

    @Test(arguments: Seeds.seeds(20)) func unknownKindChangesOnlyHeadAndFlag(seed: UInt64) {
        var generator = EventGenerator(seed: seed)
        let run = run(seed, steps: 100)
        var state = run.state
        #expect(!state.hasUnknownEvents)
        let unknown = generator.unknown()
        #expect(state.faults(of: unknown).allSatisfy { $0.problem == .timeWentBack })
        state.evolve(unknown, at: state.head + 1)
        #expect(state.hasUnknownEvents)
        #expect(state.head == run.state.head + 1)
        for (request, positions) in run.accepted {
            let again = Self.answer(state, request, freshID: 3)
            #expect(again == .success(.duplicate(of: positions)))
        }
    }
}
