public import ChatDomain

/// Makes random commands about a small world, so that they meet: most make sense, many are refused, some come twice.
///
/// The same seed gives the same commands. Every kind of command and of refusal occurs.
public struct CommandGenerator: Sendable {
    private var random: SeededRandom
    private var users: [UserID] = []
    private var threads: [ThreadID] = []
    private var messages: [MessageID] = []
    private var replies: [ReplyID] = []
    private var sessions: [SessionID] = []
    private var made: [Command] = []
    private var count = 0

    /// Makes a generator.
    public init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// The next command.
    public mutating func next() -> Command {
        count += 1
        if !made.isEmpty, random.oneIn(12) { return pick(made) }
        let command = fresh()
        made.append(command)
        return command
    }

    /// The next command as a request: now and then with a correlation id, or as an import.
    public mutating func nextRequest() -> CommandRequest {
        let command = next()
        let correlation = random.oneIn(8) ? "correlation \(count)" : nil
        guard random.oneIn(16) else { return CommandRequest(command, correlation: correlation) }
        let sentAt = random.oneIn(2) ? Timestamp(millisecondsSince1970: Int64.random(in: 0...1_700_000_000_000, using: &random)) : nil
        return CommandRequest(command, correlation: correlation, origin: .imported(sentAt: sentAt))
    }

    private mutating func fresh() -> Command {
        // The first commands people the world; later ones live in it.
        if users.count < 3 || random.oneIn(12) { return registerUser() }
        switch Int.random(in: 0..<40, using: &random) {
        case 0: return .changeUsername(user: user(), username: username())
        case 1...4: return .setPostcode(user: user(), postcode: postcode())
        case 5, 6: return openThread()
        case 7...10: return .joinThread(user: user(), thread: thread())
        case 11, 12: return .leaveThread(user: user(), thread: thread())
        case 13...22: return postMessage()
        case 23...28: return reply()
        case 29, 30: return .edit(post(), by: user(), body: body())
        case 31, 32: return .retract(post(), by: user())
        case 33...36: return .markRead(user: user(), thread: thread(), upTo: UInt64.random(in: 0...UInt64(count * 2), using: &random))
        case 37, 38: return startSession()
        default: return .endSession(session: sessions.isEmpty || random.oneIn(10) ? SessionID(bits: random.bits128()) : pick(sessions))
        }
    }

    private mutating func registerUser() -> Command {
        let id = UserID(bits: random.bits128())
        users.append(id)
        let subject = random.oneIn(3) ? "subject \(Int.random(in: 0..<40, using: &random))" : nil
        return .registerUser(user: id, username: username(), subject: subject)
    }

    private mutating func openThread() -> Command {
        let id = random.oneIn(20) ? ThreadID(pickCode()) : ThreadID(bits: random.bits128())
        threads.append(id)
        return .openThread(
            thread: id, name: pick(["Shopping", "Dogs", "  Garden club ", "SW1A", "", "Lost & found", "Ünïcode 🐈"]), by: user())
    }

    private mutating func postMessage() -> Command {
        let id = random.oneIn(20) && !messages.isEmpty ? pick(messages) : MessageID(bits: random.bits128())
        messages.append(id)
        return .postMessage(message: id, thread: thread(), author: user(), body: body())
    }

    private mutating func reply() -> Command {
        let id = random.oneIn(20) && !replies.isEmpty ? pick(replies) : ReplyID(bits: random.bits128())
        replies.append(id)
        let message = messages.isEmpty || random.oneIn(20) ? MessageID(bits: random.bits128()) : pick(messages)
        return .reply(reply: id, message: message, author: user(), body: body())
    }

    private mutating func startSession() -> Command {
        let id = SessionID(bits: random.bits128())
        sessions.append(id)
        return .startSession(user: user(), session: id, device: pick(["iPhone", "", "a browser", "Pixel 4a \u{1F4F1}"]))
    }

    private mutating func user() -> UserID { random.oneIn(30) ? UserID(bits: random.bits128()) : pick(users) }

    private mutating func thread() -> ThreadID {
        if random.oneIn(30) { return ThreadID(bits: random.bits128()) }
        return threads.isEmpty || random.oneIn(2) ? ThreadID(pickCode()) : pick(threads)
    }

    private mutating func post() -> Post {
        switch (messages.isEmpty, replies.isEmpty) {
        case (false, false): random.oneIn(2) ? .message(pick(messages)) : .reply(pick(replies))
        case (false, true): .message(pick(messages))
        case (true, false): .reply(pick(replies))
        case (true, true): .message(MessageID(bits: random.bits128()))
        }
    }

    private mutating func username() -> String {
        pick([
            "Ann", "ann", "Bob", "Çelik", "C\u{327}elik", "Strasse", "straße", "Дима", "李雷", "", "a\u{7}b",
            "Name \(Int.random(in: 0..<60, using: &random))",
        ])
    }

    private mutating func postcode() -> String {
        pick(["SW1A 1AA", "sw1a1ab", " N1P 2NG", "E1 6AN", "E1 7AA", "M1 1AE", "GIR 0AA", "QQ1 1AA", ""])
    }

    private mutating func pickCode() -> OutwardCode {
        guard let code = OutwardCode(pick(["SW1A", "N1P", "E1", "M1"])) else { preconditionFailure("these are outward codes") }
        return code
    }

    private mutating func body() -> String {
        switch Int.random(in: 0..<20, using: &random) {
        case 0: " \n\t"
        case 1: ""
        case 2: String(repeating: "x", count: Int.random(in: 16_380...16_390, using: &random))
        case 3: "\u{1b}[31mred\u{1b}[0m and a nul \0"
        case 4: "Zum Glück gibt es 🥛 noch, e\u{301}!"
        default: "Message \(count) " + String(repeating: "la ", count: Int.random(in: 0..<30, using: &random))
        }
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: values.indices, using: &random)] }
}
