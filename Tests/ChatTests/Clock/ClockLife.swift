import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Testing

/// A community whose clock a test sets, with a mute of Bob that ends after 30 days.
///
/// Positions: 1 to 3 the registrations of Ann, Bob and Eve; 4 and 5 Garden, opened by Ann; 6 and 7
/// the joins of Bob and Eve; 8 the mute.
struct ClockLife {
    static let ann = UserID(bits: 1)
    static let bob = UserID(bits: 2)
    static let eve = UserID(bits: 3)
    static let garden = ThreadID(bits: 31)
    static let day: Int64 = 86_400_000

    let fixture = StoreFixture()
    /// The time of the first event.
    let start: Timestamp
    var clock: ManualClock { fixture.clock }

    init() throws {
        start = fixture.clock.now()
        let store = try open()
        let commands: [ChatCommand] = [
            .registerUser(id: Self.ann, username: "Ann"), .registerUser(id: Self.bob, username: "Bob"),
            .registerUser(id: Self.eve, username: "Eve"),
            .openThread(id: Self.garden, name: "Garden", by: Self.ann),
            .joinThread(thread: Self.garden, by: Self.bob), .joinThread(thread: Self.garden, by: Self.eve),
            .mute(user: Self.bob, thread: Self.garden, reason: "rude", until: time(days: 30), by: Self.ann),
        ]
        for command in commands { try store.executeBlocking(command) }
        try store.close()
        #expect(store.head.position == 8)
    }

    func open(acceptsClock: Bool = false) throws(ChatError) -> ChatStore {
        var options = fixture.options
        options.acceptsClock = acceptsClock
        return try ChatStore.open(fixture.directory, options: options)
    }

    /// Returns the time that many days after the first event.
    func time(days: Int64) -> Timestamp {
        Timestamp(millisecondsSince1970: start.millisecondsSince1970 + days * Self.day)
    }

    /// Sets the clock forwards or backwards, while no time passes.
    func step(days: Int64) { clock.step(byMilliseconds: days * Self.day) }

    /// Lets time pass, whether the machine is suspended or not.
    func pass(days: Int64) { clock.advance(byMilliseconds: days * Self.day) }
}

extension ChatStore {
    /// Posts a message in Garden; returns the code of the rejection, or "posted".
    func post(by user: UserID, message: MessageID? = nil) throws(ChatError) -> String {
        let post = ChatCommand.postMessage(id: message, thread: ClockLife.garden, body: "Hello", by: user)
        return switch try executeBlocking([CommandRequest(post)])[0] {
        case .success(let receipt): receipt.isDuplicate ? "duplicate" : "posted"
        case .failure(let rejection): rejection.code.rawValue
        }
    }

    /// The users who are muted in Garden as of a point.
    func muted(asOf point: AsOf = .now) throws(ChatError) -> [UserID] {
        try reader(as: .host, asOf: point).sanctions(in: ClockLife.garden).map(\.user.id)
    }
}
