import ChatDomain
import ChatTesting
import TestSupport
import Testing

/// The decider and an independent model of the rules give the same answers.
struct RuleModelTests {
    @Test(arguments: Seeds.seeds(2000)) func deciderAgreesWithModel(seed: UInt64) {
        var requests = RequestGenerator(seed: seed)
        var model = RuleModel()
        var state = ChatState()
        var clock: Int64 = 1_584_921_600_000
        for step in 1...250 {
            let request = requests.next()
            let now = requests.tick(&clock)
            let freshID = requests.freshID()
            let expected = model.execute(request, at: now, freshID: freshID)
            let answer = RuleModel.Answer(state, request, at: now, freshID: freshID)
            #expect(answer == expected, "step \(step): \(request)")
            guard answer == expected else { return }
            if case .appended(let events) = answer {
                for event in events { state.evolve(event, at: state.head + 1) }
            }
            #expect(state.head == model.head)
        }
    }

    /// The comparison is meaningful only if the sequences reach every answer.
    @Test func sequencesReachEveryAnswer() {
        var kinds: Set<EventKind> = []
        var codes: Set<Rejection.Code> = []
        var unchanged = 0
        var duplicates = 0
        // Only a salvage produces lost events.
        let allKinds = Set(EventKind.allCases).subtracting([.lost])
        // The two excluded codes belong to the store: a query's authorization and a full disk.
        let allCodes = Set(Rejection.Code.allCases).subtracting([.notAllowed, .storageFull])
        for seed in UInt64(1)...200 {
            if !Repetitions.areAll, kinds == allKinds, codes == allCodes, unchanged > 1_000, duplicates > 1_000 { break }
            var requests = RequestGenerator(seed: seed)
            var state = ChatState()
            var clock: Int64 = 0
            for _ in 0..<250 {
                switch RuleModel.Answer(state, requests.next(), at: requests.tick(&clock), freshID: requests.freshID()) {
                case .appended(let events):
                    for event in events {
                        if let kind = event.details.kind { kinds.insert(kind) }
                        state.evolve(event, at: state.head + 1)
                    }
                case .nothing: unchanged += 1
                case .duplicate: duplicates += 1
                case .refused(let code): codes.insert(code)
                }
            }
        }
        #expect(kinds == allKinds)
        #expect(codes == allCodes)
        #expect(unchanged > 1_000)
        #expect(duplicates > 1_000)
    }
}

extension RuleModel.Answer {
    /// Converts the decider's answer to the model's terms.
    init(_ state: ChatState, _ request: CommandRequest, at now: Timestamp, freshID: UInt128) {
        do throws(Rejection) {
            switch try state.decide(request, at: now, freshID: freshID) {
            case .append(let events): self = .appended(events)
            case .unchanged: self = .nothing
            case .duplicate(let positions): self = .duplicate(first: positions.lowerBound, last: positions.upperBound)
            }
        } catch {
            self = .refused(error.code)
        }
    }
}
