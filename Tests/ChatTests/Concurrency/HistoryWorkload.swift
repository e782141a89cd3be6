import Chat
import ChatDomain
import ChatTesting
import Projections

/// The calls of one caller: random commands and queries.
///
/// The ids come from small ranges, so that the calls of concurrent callers conflict.
struct HistoryWorkload {
    /// What the calls are about.
    enum Subject {
        /// The commands and queries that the naive views answer. No erasures: an erasure
        /// changes what earlier answers showed.
        case everything
        /// The opening of direct threads, beside blocks, departures and erasures.
        case directThreads
    }

    private var random: SeededRandom
    private let caller: Int
    private let subject: Subject
    private var count = 0

    private static let codes = ["SW1A", "E1"].compactMap { OutwardCode($0) }

    init(seed: UInt64, caller: Int, about subject: Subject = .everything) {
        random = SeededRandom(seed: seed &* 1_000 &+ UInt64(caller))
        (self.caller, self.subject) = (caller, subject)
    }

    /// The commands before the callers start, so that most calls succeed.
    static let beginning: [CommandRequest] = [
        .registerUser(id: UserID(bits: 1), username: "Ann"),
        .registerUser(id: UserID(bits: 2), username: "Bob"),
        .openThread(id: ThreadID(bits: 31), name: "Garden", by: UserID(bits: 1)),
        .joinThread(thread: ThreadID(bits: 31), by: UserID(bits: 2)),
        .postMessage(id: MessageID(bits: 100), thread: ThreadID(bits: 31), body: "Tomatoes?", by: UserID(bits: 1)),
        .setPostcode(postcode: "E1 6AN", by: UserID(bits: 2)),
        .registerUser(id: UserID(bits: 3), username: "Cem"),
        .joinThread(thread: ThreadID(bits: 31), by: UserID(bits: 3)),
    ].map { CommandRequest($0) }

    /// Returns the next call of a caller who knows all events up to `head`.
    mutating func next(knowing head: Position) -> Call {
        if subject == .directThreads {
            return random.oneIn(24) ? .erase(user()) : .execute([CommandRequest(directCommand())])
        }
        if random.oneIn(2) { return .ask(query(head)) }
        return .execute((0..<(random.oneIn(5) ? 3 : 1)).map { _ in request(head) })
    }

    private mutating func request(_ head: Position) -> CommandRequest {
        count += 1
        return CommandRequest(command(head), correlation: random.oneIn(8) ? "caller \(caller)" : nil)
    }

    private mutating func directCommand() -> ChatCommand {
        count += 1
        let direct = ThreadID(bits: UInt128(number(40..<43)))
        switch number(0..<16) {
        case 0..<8:
            return .openDirect(
                id: random.oneIn(2) ? nil : direct, with: (0..<number(1..<3)).map { _ in user() }, by: user())
        case 8, 9: return .leaveThread(thread: direct, by: user())
        case 10: return .leaveThread(thread: ThreadID(bits: 31), by: user())
        case 11: return .joinThread(thread: ThreadID(bits: 31), by: user())
        case 12: return .block(user: user(), by: user())
        case 13: return .unblock(user: user(), by: user())
        default: return .postMessage(thread: direct, body: body(), by: user())
        }
    }

    private mutating func command(_ head: Position) -> ChatCommand {
        switch number(0..<40) {
        // Few people, so that several callers open the thread of the same set.
        case 36...38:
            let people = (0..<number(1..<3)).map { _ in user() }
            return .openDirect(
                id: random.oneIn(2) ? nil : ThreadID(bits: UInt128(number(40..<43))), with: people, by: user())
        case 39: return .renameThread(thread: thread(), name: "Shed \(count)", by: user())
        // Few emoji: callers add and take back the same ones.
        case 32...34:
            return .react(
                random.oneIn(2) ? .message(message()) : .reply(reply()), emoji: random.oneIn(2) ? "👍" : "🎉", by: user())
        case 35: return .unreact(random.oneIn(2) ? .message(message()) : .reply(reply()), emoji: "👍", by: user())
        case 0, 1: return .registerUser(id: random.oneIn(6) ? nil : user(), username: name())
        case 2: return .changeUsername(username: name(), by: user())
        case 3: return .setPostcode(postcode: random.oneIn(2) ? "SW1A 1AA" : "E1 6AN", by: user())
        case 4:
            return .openThread(
                id: thread(), name: "Shopping", policy: random.oneIn(4) ? .inviteOnly : .open,
                history: random.oneIn(2) ? .sinceJoining : .all, by: user())
        case 5, 6: return .joinThread(thread: thread(), by: user())
        case 7: return .leaveThread(thread: thread(), by: user())
        case 8...12:
            return .postMessage(id: random.oneIn(2) ? nil : message(), thread: thread(), body: body(), by: user())
        case 13, 14:
            return .reply(id: random.oneIn(2) ? nil : reply(), to: message(), body: body(), by: user())
        case 15:
            // Few ids: callers send the edits of others again, and their own for other posts.
            return .edit(
                random.oneIn(2) ? .message(message()) : .reply(reply()),
                id: random.oneIn(3) ? nil : EditID(bits: UInt128(number(1..<7))), body: body(),
                replaces: random.oneIn(4) ? Position.random(in: 0...head + 1, using: &random) : nil, by: user())
        case 16: return .retract(random.oneIn(2) ? .message(message()) : .reply(reply()), by: user())
        case 17, 18: return unreadCommand(head)
        case 19:
            return random.oneIn(2)
                ? .invite(user: user(), thread: thread(), by: user())
                : .acceptInvitation(thread: thread(), by: user())
        case 20: return .setRole(user: user(), thread: thread(), role: ThreadRole.allCases[number(0..<3)], by: user())
        case 21, 22: return random.oneIn(2) ? .grantOperator(user: user()) : .revokeOperator(user: user())
        case 23, 24: return .remove(random.oneIn(2) ? .message(message()) : .reply(reply()), reason: "spam", by: user())
        case 25: return .removeMember(user: user(), thread: thread(), reason: "spam", by: user())
        case 26:
            return random.oneIn(2)
                ? .ban(user: user(), thread: thread(), reason: "spam", by: user())
                : .unban(user: user(), thread: thread(), by: user())
        case 27:
            return random.oneIn(2)
                ? .mute(user: user(), thread: thread(), reason: "spam", by: user())
                : .unmute(user: user(), thread: thread(), by: user())
        case 28:
            return random.oneIn(2)
                ? .lockThread(thread: thread(), by: user()) : .unlockThread(thread: thread(), by: user())
        case 29:
            return random.oneIn(8)
                ? .closeThread(thread: thread(), by: user()) : .unlockThread(thread: thread(), by: user())
        case 30: return random.oneIn(2) ? .block(user: user(), by: user()) : .unblock(user: user(), by: user())
        default:
            let session = SessionID(bits: UInt128(number(300..<303)))
            return random.oneIn(2)
                ? .startSession(id: session, device: "", by: user()) : .endSession(session: session)
        }
    }

    private mutating func unreadCommand(_ head: Position) -> ChatCommand {
        let position = Position.random(in: 0...head + 2, using: &random)
        if random.oneIn(4) {
            return .setNotifications(thread: thread(), level: NotificationLevel.allCases[number(0..<3)], by: user())
        }
        if random.oneIn(6) { return .markInboxRead(upTo: position, by: user()) }
        if random.oneIn(3) { return .markUnread(thread: thread(), from: position, by: user()) }
        return .markRead(thread: thread(), upTo: position, by: user())
    }

    private mutating func query(_ head: Position) -> Query {
        switch number(0..<24) {
        case 0: .head
        case 1...3: .timeline(thread(), page: page(head), viewer: viewer(), asOf: nil)
        case 4: .timeline(thread(), page: page(head), viewer: viewer(), asOf: moment(head))
        case 5: .message(message())
        case 6, 7: .replies(message())
        case 8: .members(thread(), viewer: viewer())
        case 9...11: .user(user())
        case 12, 13: .threads(viewer: viewer())
        case 14: .userNamed(name())
        case 15: .residents(Self.codes[number(Self.codes.indices)])
        case 16, 17: .readers(thread(), asOf: random.oneIn(2) ? nil : moment(head))
        case 18, 19: .access(user(), viewer: viewer(), asOf: random.oneIn(2) ? nil : moment(head))
        case 20, 21: .activity(asOf: random.oneIn(2) ? nil : moment(head))
        default: .page(list(), page(head), viewer: viewer())
        }
    }

    private mutating func moment(_ head: Position) -> Position { Position.random(in: 0...head + 3, using: &random) }

    private mutating func list() -> Query.List {
        switch number(0..<3) {
        case 0: .threads
        case 1: .timeline(thread())
        default: .replies(message())
        }
    }

    private mutating func page(_ head: Position) -> PageRequest {
        switch number(0..<3) {
        case 0: PageRequest.latest()
        case 1: PageRequest.before(Position.random(in: 0...head + 3, using: &random), limit: 3)
        default: PageRequest.after(Position.random(in: 0...head + 3, using: &random), limit: 3)
        }
    }

    private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    private mutating func user() -> UserID { UserID(bits: UInt128(number(1..<4))) }

    private mutating func viewer() -> UserID? { random.oneIn(2) ? nil : user() }

    private mutating func thread() -> ThreadID {
        if random.oneIn(5) { return ThreadID(Self.codes[number(Self.codes.indices)]) }
        return ThreadID(bits: UInt128(random.oneIn(5) ? number(40..<43) : random.oneIn(4) ? 32 : 31))
    }

    private mutating func message() -> MessageID { MessageID(bits: UInt128(number(100..<108))) }

    private mutating func reply() -> ReplyID { ReplyID(bits: UInt128(number(200..<205))) }

    private mutating func name() -> String { ["Ann", "ann", "Bob", "Cat", "Dan"][number(0..<5)] }

    /// A unique text, so that an answer identifies the command that wrote it.
    private mutating func body() -> String { "\(count) of caller \(caller)" }
}
