import ChatDomain
import ChatTesting
import TestSupport
import Testing

/// The decider and an independent model of the rules give the same answers.
struct RuleModelTests {
    @Test(arguments: Seeds.seeds(15)) func deciderAgreesWithModel(seed: UInt64) throws {
        var requests = RequestGenerator(seed: seed)
        var clock: Int64 = 1_584_921_600_000
        let steps = (0..<250).map { _ in
            Step(request: requests.next(), time: requests.tick(&clock), freshID: requests.freshID())
        }
        try expectAgreement(steps, seed: seed) { _ = try Self.run($0) }
    }

    /// A request, with the time and the id that the store gives it.
    private struct Step: CustomStringConvertible {
        var request: CommandRequest
        var time: Timestamp
        var freshID: UInt128

        var description: String { "\(time) \(request)" }
    }

    /// Compares the answers to requests, and returns the codes of the refusals and the kinds of the
    /// events.
    private static func run(_ steps: [Step]) throws -> (codes: Set<Rejection.Code>, kinds: Set<EventKind>) {
        var (model, state) = (RuleModel(), ChatState())
        var (codes, kinds) = (Set<Rejection.Code>(), Set<EventKind>())
        for (number, step) in steps.enumerated() {
            let expected = model.execute(step.request, at: step.time, freshID: step.freshID)
            let answer = RuleModel.Answer(state, step.request, at: step.time, freshID: step.freshID)
            try Mismatch.after(number) { try same(answer, expected, "the answer") }
            switch answer {
            case .appended(let events):
                for event in events {
                    try Mismatch.after(number) { try same(state.faults(of: event), [], "the faults of \(event)") }
                    state.evolve(event, at: state.head + 1)
                    if let kind = event.kind { kinds.insert(kind) }
                }
            case .refused(let code): codes.insert(code)
            case .nothing, .duplicate: break
            }
            try Mismatch.after(number) { try same(state.head, model.head, "the head") }
        }
        return (codes, kinds)
    }

    /// Pins, and what ends them, around the maximum number of pins.
    @Test(arguments: Seeds.seeds(Repetitions.few(3, of: 10))) func deciderAgreesWithModelAboutPins(seed: UInt64) throws
    {
        typealias Here = Neighbourhood
        var random = SeededRandom(seed: seed)
        let messages = (0..<60).map { MessageID(bits: UInt128($0) + 1) }
        let posts = messages.map {
            ChatCommand.postMessage(message: $0, thread: Here.dogs, author: Here.ann, body: "x")
        }
        let changes = (0..<400).map { step -> ChatCommand in
            let message = messages[Int.random(in: messages.indices, using: &random)]
            switch Int.random(in: 0..<40, using: &random) {
            case 0..<4: return .unpin(message: message, by: Here.ann)
            case 4: return .retract(.message(message), by: Here.ann)
            case 5: return .remove(.message(message), by: Here.ann, reason: "spam")
            case 6:
                return .postMessage(
                    message: MessageID(bits: UInt128(step) + 100), thread: Here.dogs, author: Here.ann, body: "x")
            case 7: return .pin(message: MessageID(bits: UInt128.random(in: 100...500, using: &random)), by: Here.ann)
            default: return .pin(message: message, by: Here.ann)
            }
        }
        let opening: [ChatCommand] = [
            .registerUser(user: Here.ann, username: "Ann"), .openThread(thread: Here.dogs, name: "Dogs", by: Here.ann),
        ]
        let pins = messages.map { ChatCommand.pin(message: $0, by: Here.ann) }
        guard let codes = try compare(opening + posts + pins + changes, seed: seed)?.codes else { return }
        #expect(codes.isSuperset(of: [.tooManyPins, .retracted, .unknownMessage]))
    }

    /// Blocks, and what ends them, around the maximum number of blocks.
    @Test func deciderAgreesWithModelAboutBlocks() throws {
        var random = SeededRandom(seed: 1)
        let users = (0..<1_010).map { UserID(bits: UInt128($0) + 1) }
        let registrations = users.enumerated().map {
            ChatCommand.registerUser(user: $0.element, username: "u\($0.offset)")
        }
        // The last nine are too many.
        let blocks = users.dropFirst().map { ChatCommand.block(user: $0, by: users[0]) }
        let changes = (0..<200).map { _ -> ChatCommand in
            let user = users[Int.random(in: 990..<users.count, using: &random)]
            return random.oneIn(4) ? .unblock(user: user, by: users[0]) : .block(user: user, by: users[0])
        }
        let joins =
            [ChatCommand.openThread(thread: Neighbourhood.dogs, name: "Dogs", by: users[0])]
            + users.dropFirst().map { .joinThread(user: $0, thread: Neighbourhood.dogs) }
        guard let codes = try compare(registrations + joins + blocks + changes)?.codes else { return }
        #expect(codes == [.tooManyBlocks])
    }

    /// Reactions around both maximum numbers: 20 of a user on a post, and 50 different ones on a
    /// post.
    @Test(arguments: Seeds.seeds(Repetitions.few(3, of: 10))) func deciderAgreesWithModelAboutReactions(seed: UInt64)
        throws
    {
        typealias Here = Neighbourhood
        var random = SeededRandom(seed: seed)
        let users = (0..<6).map { UserID(bits: UInt128($0) + 1) }
        let posts: [PostID] = [.message(Here.milk), .reply(Here.yes)]
        let opening =
            users.enumerated().map { ChatCommand.registerUser(user: $0.element, username: "u\($0.offset)") }
            + [.openThread(thread: Here.dogs, name: "Dogs", by: users[0])]
            + users.dropFirst().map { .joinThread(user: $0, thread: Here.dogs) }
            + [
                .postMessage(message: Here.milk, thread: Here.dogs, author: users[0], body: "x"),
                .reply(reply: Here.yes, message: Here.milk, author: users[1], body: "y"),
            ]
        let changes = (0..<1_500).map { _ -> ChatCommand in
            let user = users[Int.random(in: users.indices, using: &random)]
            let post = posts[random.oneIn(4) ? 1 : 0]
            let emoji = ":n\(Int.random(in: 0..<60, using: &random)):"
            return random.oneIn(4) ? .unreact(post, by: user, emoji: emoji) : .react(post, by: user, emoji: emoji)
        }
        guard let codes = try compare(opening + changes, seed: seed)?.codes else { return }
        #expect(codes == [.tooManyReactions])
    }

    /// Direct threads of every set of two to four people, who leave and come back, while they block
    /// each other, leave the thread that they have in common and report posts.
    @Test(arguments: Seeds.seeds(Repetitions.few(3, of: 10))) func deciderAgreesWithModelAboutDirectThreads(
        seed: UInt64
    ) throws {
        typealias Here = Neighbourhood
        var random = SeededRandom(seed: seed)
        let users = (0..<5).map { UserID(bits: UInt128($0) + 1) }
        let people = users.prefix(4)
        let sets = (0..<16).map { set in people.indices.filter { set >> $0 & 1 == 1 }.map { people[$0] } }.filter {
            $0.count > 1
        }
        func thread(_ set: Int) -> ThreadID { ThreadID(bits: UInt128(set) + 100) }
        let opening =
            users.enumerated().map { ChatCommand.registerUser(user: $0.element, username: "u\($0.offset)") }
            + [.openThread(thread: Here.dogs, name: "Dogs", by: users[0]), .grantOperator(user: users[4])]
            + people.dropFirst().map { .joinThread(user: $0, thread: Here.dogs) }
        // The number of messages.
        var count = 0
        let changes = (0..<2_000).map { step -> ChatCommand in
            let set = Int.random(in: sets.indices, using: &random)
            let (user, other) = (
                sets[set].randomElement(using: &random) ?? users[4], random.oneIn(20) ? users[4] : people[set % 4]
            )
            let message = MessageID(bits: UInt128(max(1, count - Int.random(in: 0..<3, using: &random))))
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<6: return .openDirect(thread: random.oneIn(3) ? nil : thread(set), by: user, with: sets[set])
            case 6..<10: return .leaveThread(user: user, thread: thread(set))
            case 10..<13:
                let author = random.oneIn(10) ? other : user
                count += 1
                return .postMessage(
                    message: MessageID(bits: UInt128(count)), thread: thread(set), author: author, body: "x")
            case 13:
                return .reply(reply: ReplyID(bits: UInt128(step) + 1_000), message: message, author: user, body: "y")
            case 14: return .report(.message(message), by: user, reason: "rude")
            case 15, 17: return .remove(.message(message), by: random.oneIn(3) ? user : users[4], reason: "rude")
            case 16: return random.oneIn(4) ? .block(user: other, by: user) : .unblock(user: other, by: user)
            case 18: return .leaveThread(user: user, thread: Here.dogs)
            default: return .joinThread(user: user, thread: random.oneIn(3) ? thread(set) : Here.dogs)
            }
        }
        guard let (codes, kinds) = try compare(opening + changes, seed: seed) else { return }
        #expect(Set([.cannotMessage, .unknownThread, .unknownMessage]).subtracting(codes) == [])
        #expect(
            Set([.directOpened, .threadJoined, .threadLeft, .messagePosted, .replyPosted, .messageReported])
                .subtracting(kinds) == [])
    }

    /// Compares the answers to commands, and returns the codes of the refusals and the kinds of the
    /// events; nil after a mismatch.
    private func compare(
        _ commands: [ChatCommand], seed: UInt64 = 1, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> (codes: Set<Rejection.Code>, kinds: Set<EventKind>)? {
        let steps = commands.enumerated().map { number, command in
            Step(
                request: CommandRequest(command), time: Timestamp(millisecondsSince1970: Int64(number)),
                freshID: UInt128(number) + 1_000_000)
        }
        var found = (codes: Set<Rejection.Code>(), kinds: Set<EventKind>())
        let agrees = try expectAgreement(steps, seed: seed, sourceLocation: sourceLocation) {
            found = try Self.run($0)
        }
        return agrees ? found : nil
    }

    /// The comparison is meaningful only if the sequences reach every answer.
    @Test func sequencesReachEveryAnswer() {
        var kinds: Set<EventKind> = []
        var codes: Set<Rejection.Code> = []
        var unchanged = 0
        var duplicates = 0
        // Only a salvage produces lost events, and no command orders an erasure or corrects the
        // clock.
        let allKinds = Set(EventKind.allCases).subtracting([
            .lost, .userErased, .contentErased, .clockCorrected, .historyRepaired,
        ])
        // Three excluded codes belong to the store: a query's authorization, a full disk, a wrong
        // clock. Three need more pins, blocks and reactions than a sequence has
        // (`deciderAgreesWithModelAboutPins` and the like). No sequence erases a user.
        let allCodes = Set(Rejection.Code.allCases).subtracting([
            .notAllowed, .storageFull, .clockStepped, .tooManyPins, .tooManyBlocks, .tooManyReactions, .userErased,
        ])
        for seed in UInt64(1)...200 {
            if !Repetitions.areAll, kinds == allKinds, codes == allCodes, unchanged > 1_000, duplicates > 500 { break }
            var requests = RequestGenerator(seed: seed)
            var state = ChatState()
            var clock: Int64 = 0
            for _ in 0..<250 {
                switch RuleModel.Answer(state, requests.next(), at: requests.tick(&clock), freshID: requests.freshID())
                {
                case .appended(let events):
                    for event in events {
                        if let kind = event.kind { kinds.insert(kind) }
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
        #expect(duplicates > 500)
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
