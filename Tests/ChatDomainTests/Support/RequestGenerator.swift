import ChatDomain
import ChatTesting

/// The commands of a ``CommandGenerator``, some without their ids and some with texts beyond the
/// limits.
struct RequestGenerator {
    private var commands: CommandGenerator
    private var random: SeededRandom

    init(seed: UInt64) {
        commands = CommandGenerator(seed: seed)
        random = SeededRandom(seed: ~seed)
    }

    mutating func next() -> CommandRequest {
        var request = commands.nextRequest()
        if random.oneIn(15) { request.command = request.command.withoutID }
        if random.oneIn(40) { request.correlation = random.oneIn(2) ? "" : String(repeating: "c", count: 257) }
        if random.oneIn(40), case .startSession(let user, let session, _) = request.command {
            request.command = .startSession(user: user, session: session, device: String(repeating: "d", count: 1_025))
        }
        if random.oneIn(10), case .custom(let id, let kind, let thread, let by, _) = request.command {
            guard let payload = CustomPayload("\"" + String(repeating: "p", count: 16_383) + "\"") else {
                preconditionFailure("a long string is JSON")
            }
            request.command = .custom(id: id, kind: kind, thread: thread, by: by, payload: payload)
        }
        return request
    }

    /// Advances the clock a little, and sometimes jumps forward or back.
    mutating func tick(_ clock: inout Int64) -> Timestamp {
        clock += random.oneIn(10) ? Int64.random(in: -5_000_000...5_000_000, using: &random) : Int64.random(in: 0...500, using: &random)
        return Timestamp(millisecondsSince1970: clock)
    }

    /// Returns an id as the store might make it.
    mutating func freshID() -> UInt128 { random.bits128() }
}

extension ChatCommand {
    /// The same command without its id, which the store then makes.
    var withoutID: ChatCommand {
        switch self {
        case .registerUser(_, let username, let subject): .registerUser(username: username, subject: subject)
        case .openThread(_, let name, let by, let policy, let history): .openThread(name: name, by: by, policy: policy, history: history)
        case .postMessage(_, let thread, let author, let body): .postMessage(thread: thread, author: author, body: body)
        case .reply(_, let message, let author, let body): .reply(message: message, author: author, body: body)
        case .startSession(let user, _, let device): .startSession(user: user, device: device)
        case .custom(_, let kind, let thread, let by, let payload): .custom(kind: kind, thread: thread, by: by, payload: payload)
        default: self
        }
    }

    /// Whether the command has its own id, which identifies a repetition.
    var bearsID: Bool {
        switch self {
        case .registerUser(let id, _, _): id != nil
        case .openThread(let id, _, _, _, _): id != nil
        case .postMessage(let id, _, _, _): id != nil
        case .reply(let id, _, _, _): id != nil
        case .startSession(_, let id, _): id != nil
        case .custom(let id, _, _, _, _): id != nil
        default: false
        }
    }
}
