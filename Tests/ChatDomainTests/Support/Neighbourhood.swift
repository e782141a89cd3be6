import ChatDomain
import ChatTesting
import Testing

/// A small neighbourhood, the starting point of the rule tests.
enum Neighbourhood {
    static let ann = UserID(bits: 0xA << 120 | 1)
    static let bob = UserID(bits: 0xB << 120 | 2)
    static let cem = UserID(bits: 0xC << 120 | 3)
    static let dee = UserID(bits: 0xD << 120 | 5)
    static let eli = UserID(bits: 0xE << 120 | 6)
    static let nobody = UserID(bits: 0xF << 120 | 4)

    static let sw1a = thread(of: "SW1A")
    static let n1p = thread(of: "N1P")
    static let dogs = ThreadID(bits: 0xD << 120 | 1)
    static let club = ThreadID(bits: 0xC << 120 | 1)
    static let park = ThreadID(bits: 0xB << 120 | 1)
    static let nowhere = ThreadID(bits: 0xF << 120 | 2)

    static let milk = MessageID(bits: 0x1 << 120 | 1)
    static let walk = MessageID(bits: 0x1 << 120 | 2)
    static let early = MessageID(bits: 0x1 << 120 | 3)
    static let noMessage = MessageID(bits: 0xF << 120 | 3)
    static let yes = ReplyID(bits: 0x2 << 120 | 1)
    static let woof = ReplyID(bits: 0x2 << 120 | 2)
    static let earlyReply = ReplyID(bits: 0x2 << 120 | 3)
    static let noReply = ReplyID(bits: 0xF << 120 | 5)
    static let phone = SessionID(bits: 0x3 << 120 | 1)
    static let poll = CustomEventID(bits: 0x4 << 120 | 1)

    static let empty = DeciderSpecification()

    /// Ann and Bob have registered, at positions 1 and 2.
    static let people = empty.given(
        .registerUser(id: ann, username: "Ann", subject: "sub-ann"),
        .registerUser(id: bob, username: "Bob"))

    /// Both live in SW1A.
    ///
    /// Ann, the first resident, opened its thread at 4. The head is 7; the thread has three events.
    static let neighbours = people.given(
        .setPostcode(postcode: "SW1A 1AA", by: ann),
        .setPostcode(postcode: "SW1A 2AA", by: bob))

    /// Ann asks for milk at 8 and Bob replies at 9.
    ///
    /// Cem has registered at 10, without a postcode.
    static let talk = neighbours.given(
        .postMessage(id: milk, thread: sw1a, body: "Could someone pick up milk?", by: ann),
        .reply(id: yes, to: milk, body: "Yes.", by: bob),
        .registerUser(id: cem, username: "Cem"))

    /// Ann has opened a thread about dogs at 11 and joined it at 12.
    static let dogOwners = talk.given(.openThread(id: dogs, name: "Dogs", by: ann))

    /// In the thread about dogs, Ann is the owner, Bob a moderator and Cem a member.
    ///
    /// Cem asks for a walk at 19 and replies to himself at 20. Dee is an operator, and Eli a user
    /// who is in the park only, where all of them are.
    static let moderated = dogOwners.given(
        .registerUser(id: dee, username: "Dee"), .registerUser(id: eli, username: "Eli"), .grantOperator(user: dee),
        .joinThread(thread: dogs, by: bob), .joinThread(thread: dogs, by: cem),
        .setRole(user: bob, thread: dogs, role: .moderator, by: ann),
        .postMessage(id: walk, thread: dogs, body: "Walkies?", by: cem),
        .reply(id: woof, to: walk, body: "Woof.", by: cem),
        .openThread(id: park, name: "Park", by: eli), .joinThread(thread: park, by: ann),
        .joinThread(thread: park, by: bob),
        .joinThread(thread: park, by: cem), .joinThread(thread: park, by: dee))

    /// Eli has been in the thread about dogs, and has left it.
    static let visited = moderated.given(.joinThread(thread: dogs, by: eli), .leaveThread(thread: dogs, by: eli))

    /// The same users have the same roles in a club.
    ///
    /// Its policy is `inviteOnly`, its history `sinceJoining`. Ann posted a message, replied to it
    /// and caused a custom event before Bob and Cem joined.
    static let clubbed = moderated.given(
        .openThread(id: club, name: "Garden club", policy: .inviteOnly, history: .sinceJoining, by: ann),
        .postMessage(id: early, thread: club, body: "Welcome.", by: ann),
        .reply(id: earlyReply, to: early, body: "To all.", by: ann),
        .custom(id: poll, kind: "com.example.poll", thread: club, payload: payload("{}"), by: ann),
        .invite(user: bob, thread: club, by: ann), .acceptInvitation(thread: club, by: bob),
        .invite(user: cem, thread: club, by: ann), .acceptInvitation(thread: club, by: cem),
        .setRole(user: bob, thread: club, role: .moderator, by: ann))

    static func payload(_ text: String) -> CustomPayload {
        guard let payload = CustomPayload(text) else { preconditionFailure("\(text) is not JSON") }
        return payload
    }

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
