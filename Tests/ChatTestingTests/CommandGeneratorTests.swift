import ChatDomain
import ChatTesting
import TestSupport
import Testing

/// Generated commands are repeatable, refer to common entities and reach every rule.
struct CommandGeneratorTests {
    @Test(arguments: Seeds.seeds(10)) func sameSeedGivesSameRequests(seed: UInt64) {
        var first = CommandGenerator(seed: seed)
        var second = CommandGenerator(seed: seed)
        for _ in 0..<200 {
            let (request, other) = (first.nextRequest(), second.nextRequest())
            #expect(request == other)
        }
    }

    @Test(arguments: Seeds.seeds(10)) func sameSeedGivesSameCommands(seed: UInt64) {
        var first = CommandGenerator(seed: seed)
        var second = CommandGenerator(seed: seed)
        for _ in 0..<200 {
            let (command, other) = (first.next(), second.next())
            #expect(command == other)
        }
    }

    @Test func differentSeedGivesDifferentCommands() {
        var first = CommandGenerator(seed: 1)
        var second = CommandGenerator(seed: 2)
        let commands = (0..<20).map { _ in first.next() }
        let others = (0..<20).map { _ in second.next() }
        #expect(commands != others)
    }

    @Test(arguments: Seeds.seeds(Repetitions.few(4, of: 20))) func commandsAreAcceptedAndRejected(seed: UInt64) throws {
        var generator = CommandGenerator(seed: seed)
        var state = ChatState()
        var accepted = 0
        var refused = 0
        for _ in 0..<600 {
            do throws(Rejection) {
                let now = Timestamp(millisecondsSince1970: 0)
                guard case .append(let events) = try state.decide(CommandRequest(generator.next()), at: now, freshID: 0)
                else { continue }
                accepted += 1
                for event in events { state.evolve(event, at: state.head + 1) }
            } catch {
                refused += 1
            }
        }
        #expect(accepted > 300)
        #expect(refused > 60)
    }

    @Test func everyEventKindAndRejectionOccurs() {
        var kinds: Set<EventKind> = []
        var codes: Set<Rejection.Code> = []
        var origins: Set<Bool> = []
        var duplicates = 0
        // Only a salvage produces lost events, and no command orders an erasure or corrects the
        // clock.
        let allKinds = Set(EventKind.allCases).subtracting([
            .lost, .userErased, .contentErased, .clockCorrected, .historyRepaired,
        ])
        // These codes belong to the store or to bounds that no generated command exceeds.
        let allCodes = Set(Rejection.Code.allCases).subtracting([
            .notAllowed, .storageFull, .clockStepped, .invalidDevice, .invalidCorrelation, .invalidPayload,
            .tooManyPins, .tooManyBlocks,
            .tooManyReactions,
            .userErased,
        ])
        for seed in UInt64(1)...30 {
            if !Repetitions.areAll, kinds == allKinds, codes == allCodes, origins == [true, false], duplicates > 100 {
                break
            }
            var generator = CommandGenerator(seed: seed)
            var state = ChatState()
            for _ in 0..<600 {
                let request = generator.nextRequest()
                origins.insert(request.origin == .native)
                do throws(Rejection) {
                    switch try state.decide(request, at: Timestamp(millisecondsSince1970: 0), freshID: 0) {
                    case .append(let events):
                        for event in events {
                            if let kind = event.kind { kinds.insert(kind) }
                            state.evolve(event, at: state.head + 1)
                        }
                    case .duplicate: duplicates += 1
                    case .unchanged: continue
                    }
                } catch {
                    codes.insert(error.code)
                }
            }
        }
        #expect(kinds == allKinds)
        #expect(codes == allCodes)
        #expect(origins == [true, false])
        #expect(duplicates > 100)
    }
}
