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
        if random.oneIn(40), request.command.kind == .startSession {
            request.command.text = String(repeating: "d", count: 1_025)
        }
        if random.oneIn(10), request.command.kind == .custom {
            guard let payload = CustomPayload("\"" + String(repeating: "p", count: 16_383) + "\"") else {
                preconditionFailure("a long string is JSON")
            }
            request.command.payload = payload
        }
        return request
    }

    /// Advances the clock a little, and sometimes jumps forward or back.
    mutating func tick(_ clock: inout Int64) -> Timestamp {
        clock +=
            random.oneIn(10)
            ? Int64.random(in: -5_000_000...5_000_000, using: &random) : Int64.random(in: 0...500, using: &random)
        return Timestamp(millisecondsSince1970: clock)
    }

    /// Returns an id as the store might make it.
    mutating func freshID() -> UInt128 { random.bits128() }
}

extension ChatCommand {
    /// The same command without its id, which the store then makes.
    var withoutID: ChatCommand {
        var command = self
        if bearsID { command.id = nil }
        return command
    }

    /// Whether the command has its own id, which identifies a repetition.
    var bearsID: Bool { id != nil && kind != .endSession }
}
