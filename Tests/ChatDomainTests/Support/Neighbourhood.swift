import ChatDomain
import ChatTesting
import Testing

/// A small neighbourhood, the starting point of the rule tests.
enum Neighbourhood {
    static let ann = UserID(bits: 0xA << 120 | 1)
    static let bob = UserID(bits: 0xB << 120 | 2)
    static let cem = UserID(bits: 0xC << 120 | 3)
    static let nobody = UserID(bits: 0xF << 120 | 4)

    static let sw1a = thread(of: "SW1A")
    static let n1p = thread(of: "N1P")
    static let dogs = ThreadID(bits: 0xD << 120 | 1)
    static let nowhere = ThreadID(bits: 0xF << 120 | 2)

    static let milk = MessageID(bits: 0x1 << 120 | 1)
    static let noMessage = MessageID(bits: 0xF << 120 | 3)
    static let yes = ReplyID(bits: 0x2 << 120 | 1)
    static let noReply = ReplyID(bits: 0xF << 120 | 5)
    static let phone = SessionID(bits: 0x3 << 120 | 1)
    static let poll = CustomEventID(bits: 0x4 << 120 | 1)

    static let empty = DeciderSpecification()

    /// Ann and Bob have registered, at positions 1 and 2.
    static let people = empty.given(
        .registerUser(user: ann, username: "Ann", subject: "sub-ann"),
        .registerUser(user: bob, username: "Bob"))

    /// Both live in SW1A.
    ///
    /// Ann, the first resident, opened its thread at 4. The head is 7; the thread has three events.
    static let neighbours = people.given(
        .setPostcode(user: ann, postcode: "SW1A 1AA"),
        .setPostcode(user: bob, postcode: "SW1A 2AA"))

    /// Ann asks for milk at 8 and Bob replies at 9.
    ///
    /// Cem has registered at 10, without a postcode.
    static let talk = neighbours.given(
        .postMessage(message: milk, thread: sw1a, author: ann, body: "Could someone pick up milk?"),
        .reply(reply: yes, message: milk, author: bob, body: "Yes."),
        .registerUser(user: cem, username: "Cem"))

    /// Ann has opened a thread about dogs at 11 and joined it at 12.
    static let dogOwners = talk.given(.openThread(thread: dogs, name: "Dogs", by: ann))

    static func thread(of code: String) -> ThreadID {
        guard let code = OutwardCode(code) else { preconditionFailure("\(code) is not an outward code") }
        return ThreadID(code)
    }
}

/// A rejected command and the history before it.
struct RefusedCommand: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let given: DeciderSpecification
    let when: CommandRequest
    let code: Rejection.Code

    init(_ what: String, _ given: DeciderSpecification, _ command: ChatCommand, _ code: Rejection.Code) {
        testDescription = "\(what): \(code.rawValue)"
        self.given = given
        when = CommandRequest(command)
        self.code = code
    }

    /// The code of the rejection, or nil if the command was accepted.
    var refusedWith: Rejection.Code? { given.when(when).rejection?.code }
}
