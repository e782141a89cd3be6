public import ChatDomain

/// A generator of random commands about a small set of entities.
///
/// Because the set is small, the commands interact: most are valid, many are rejected, and some are
/// repeated. The same seed gives the same commands. Every kind of command occurs, and every
/// rejection of the command rules. The generator decides each command itself to know the existing
/// entities, so execute all commands in order.
public struct CommandGenerator: Sendable {
    private var random: SeededRandom
    private var world = GeneratedWorld()
    private var made: [ChatCommand] = []

    /// Creates a generator.
    public init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// Returns the next command.
    public mutating func next() -> ChatCommand {
        let command = makeCommand()
        world.execute(CommandRequest(command))
        return command
    }

    /// Returns the next command as a request, sometimes with a correlation id or as an import.
    public mutating func nextRequest() -> CommandRequest {
        var request = CommandRequest(makeCommand())
        if random.oneIn(8) { request.correlation = "correlation \(made.count)" }
        if random.oneIn(16) {
            let time = Int64.random(in: 0...1_700_000_000_000, using: &random)
            request.origin = .imported(sentAt: random.oneIn(2) ? Timestamp(millisecondsSince1970: time) : nil)
        }
        world.execute(request)
        return request
    }

    private mutating func makeCommand() -> ChatCommand {
        if !made.isEmpty, random.oneIn(12) { return pick(made) }
        let command = fresh()
        made.append(command)
        return command
    }

    private mutating func fresh() -> ChatCommand {
        // The first commands register users, so that later commands have actors.
        if world.users.count < 3 || random.oneIn(20) {
            let subject = random.oneIn(3) ? "subject \(Int.random(in: 0..<100, using: &random))" : nil
            return .registerUser(user: newOr(world.users), username: username(), subject: subject)
        }
        if world.threads.isEmpty || random.oneIn(12) { return .setPostcode(user: user(), postcode: postcode()) }
        switch Int.random(in: 0..<40, using: &random) {
        case 0, 1: return .changeUsername(user: user(), username: username())
        case 2, 3: return openThread()
        case 4...8: return .joinThread(user: user(), thread: thread())
        case 9, 10:
            let thread = thread()
            return .leaveThread(user: member(of: thread), thread: thread)
        case 11...20:
            let thread = thread()
            return .postMessage(message: newOr(world.messages.map(\.id)), thread: thread, author: member(of: thread), body: body())
        case 21...27:
            let (message, thread) = message()
            return .reply(reply: newOr(world.replies.map(\.id)), message: message, author: member(of: thread), body: body())
        case 28...30:
            let (post, author) = post()
            return .edit(post, by: author, body: body())
        case 31, 32:
            let (post, author) = post()
            return .retract(post, by: author)
        case 33...35:
            let thread = thread()
            return .markRead(user: member(of: thread), thread: thread, upTo: UInt64.random(in: 0...world.head + 3, using: &random))
        case 36, 37:
            return .startSession(
                user: user(), session: newOr(world.sessions), device: pick(["iPhone", "", "a browser", "Pixel 4a \u{1F4F1}"]))
        default:
            return .endSession(
                session: world.sessions.isEmpty || random.oneIn(10) ? SessionID(bits: random.bits128()) : pick(world.sessions))
        }
    }

    private mutating func openThread() -> ChatCommand {
        let id = random.oneIn(15) ? ThreadID(code()) : newOr(world.threads)
        let name = pick(["Shopping", "Dogs", "  Garden club ", "Lost & found", "Ünïcode 🐈", "SW1A", ""])
        return .openThread(thread: id, name: id.outwardCode.map { random.oneIn(5) ? name : $0.description } ?? name, by: user())
    }

    /// Returns a new id, or sometimes an existing one.
    private mutating func newOr<ID: EntityID>(_ taken: [ID]) -> ID {
        taken.isEmpty || !random.oneIn(25) ? ID(bits: random.bits128()) : pick(taken)
    }

    private mutating func user() -> UserID { world.users.isEmpty || random.oneIn(30) ? UserID(bits: random.bits128()) : pick(world.users) }

    private mutating func thread() -> ThreadID {
        if random.oneIn(30) { return ThreadID(bits: random.bits128()) }
        return world.threads.isEmpty || random.oneIn(12) ? ThreadID(code()) : pick(world.threads)
    }

    /// Returns a user, usually a member of the thread, so that the command is accepted.
    private mutating func member(of thread: ThreadID?) -> UserID {
        guard let thread, let members = world.members[thread], !members.isEmpty, !random.oneIn(6) else { return user() }
        return pick(members)
    }

    /// Returns an existing message with its thread, or sometimes an unknown message.
    private mutating func message() -> (MessageID, ThreadID?) {
        guard !world.messages.isEmpty, !random.oneIn(20) else { return (MessageID(bits: random.bits128()), nil) }
        let message = pick(world.messages)
        return (message.id, message.thread)
    }

    /// Returns a message or a reply, usually with its author.
    private mutating func post() -> (PostID, UserID) {
        let found: (PostID, UserID)
        if !world.replies.isEmpty, random.oneIn(2) {
            let reply = pick(world.replies)
            found = (.reply(reply.id), reply.author)
        } else if !world.messages.isEmpty {
            let message = pick(world.messages)
            found = (.message(message.id), message.author)
        } else {
            found = (.message(MessageID(bits: random.bits128())), user())
        }
        if random.oneIn(40) { return (.reply(ReplyID(bits: random.bits128())), found.1) }
        if random.oneIn(40) { return (.message(MessageID(bits: random.bits128())), found.1) }
        return random.oneIn(5) ? (found.0, user()) : found
    }

    private mutating func username() -> String {
        random.oneIn(3)
            ? pick(["Ann", "ann", "Bob", "Çelik", "C\u{327}elik", "Strasse", "straße", "Дима", "李雷", "", "a\u{7}b"])
            : "Name \(Int.random(in: 0..<300, using: &random))"
    }

    private mutating func postcode() -> String {
        random.oneIn(8) ? pick(["GIR 0AA", "QQ1 1AA", ""]) : pick(["SW1A 1AA", "sw1a1ab", " N1P 2NG", "E1 6AN", "E1 7AA", "M1 1AE"])
    }

    private mutating func code() -> OutwardCode {
        guard let code = OutwardCode(pick(["SW1A", "N1P", "E1", "M1"])) else { preconditionFailure("every text is a valid outward code") }
        return code
    }

    private mutating func body() -> String {
        switch Int.random(in: 0..<30, using: &random) {
        case 0: " \n\t"
        case 1: ""
        case 2: String(repeating: "x", count: Int.random(in: 16_380...16_390, using: &random))
        case 3: "\u{1b}[31mred\u{1b}[0m and a nul \0"
        case 4: "Zum Glück gibt es 🥛 noch, e\u{301}!"
        default: "Message \(made.count) " + String(repeating: "la ", count: Int.random(in: 0..<30, using: &random))
        }
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: values.indices, using: &random)] }
}
