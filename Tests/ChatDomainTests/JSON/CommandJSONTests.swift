import ChatDomain
import ChatTesting
import Testing

/// The exact JSON of commands, and its decoding.
struct CommandJSONTests {
    typealias Here = Neighbourhood

    private static let user = "0a000000-0000-0000-0000-000000000001"
    private static let sw1a = "53573141-0000-8000-806f-757477617264"
    private static let dogs = "0d000000-0000-0000-0000-000000000001"
    private static let milk = "01000000-0000-0000-0000-000000000001"
    private static let yes = "02000000-0000-0000-0000-000000000001"
    private static let phone = "03000000-0000-0000-0000-000000000001"
    private static let bob = "0b000000-0000-0000-0000-000000000002"
    private static let poll = "04000000-0000-0000-0000-000000000001"
    private static let onBob = #""by":"\#(user)","thread":"\#(dogs)","user":"\#(bob)""#
    private static let until = Timestamp(millisecondsSince1970: 1_795_237_392_124)

    /// A kind has no two fields of those that share a place in `ChatCommand`.
    @Test(arguments: CommandKind.allCases) func fieldsOfAKindHaveTheirOwnPlaces(kind: CommandKind) {
        let fields = kind.form.fields
        let ids = fields.filter { if case .newID = $0 { true } else { [.user, .session, .newThread].contains($0) } }
        #expect(ids.count <= 1 && fields.count { [.thread, .post, .message].contains($0) } <= 1)
        #expect(fields.count { if case .text = $0 { true } else { $0 == .payload } } <= 1)
        #expect(
            fields.count { [.until, .upTo, .replaces].contains($0) } <= 1
                && fields.count { $0 == .subject || $0 == .customKind } <= 1)
    }

    static let golden: [(ChatCommand, String)] = [
        (.registerUser(username: "Ann"), #"{"registerUser":{"username":"Ann"}}"#),
        (
            .registerUser(id: Here.ann, username: "Ann", subject: "s"),
            #"{"registerUser":{"subject":"s","user":"\#(user)","username":"Ann"}}"#
        ),
        (
            .changeUsername(username: "Anna", by: Here.ann),
            #"{"changeUsername":{"user":"\#(user)","username":"Anna"}}"#
        ),
        (
            .setPostcode(postcode: " sw1a1aa", by: Here.ann),
            #"{"setPostcode":{"postcode":" sw1a1aa","user":"\#(user)"}}"#
        ),
        (.openThread(name: "Dogs", by: Here.ann), #"{"openThread":{"by":"\#(user)","name":"Dogs"}}"#),
        (
            .openThread(id: Here.dogs, name: "Dogs", by: Here.ann),
            #"{"openThread":{"by":"\#(user)","name":"Dogs","thread":"\#(dogs)"}}"#
        ),
        (.joinThread(thread: Here.dogs, by: Here.ann), #"{"joinThread":{"thread":"\#(dogs)","user":"\#(user)"}}"#),
        (.leaveThread(thread: Here.sw1a, by: Here.ann), #"{"leaveThread":{"thread":"\#(sw1a)","user":"\#(user)"}}"#),
        (
            .postMessage(thread: Here.sw1a, body: "Could someone pick up milk?", by: Here.ann),
            #"{"postMessage":{"author":"\#(user)","body":"Could someone pick up milk?","thread":"\#(sw1a)"}}"#
        ),
        (
            .postMessage(id: Here.milk, thread: Here.dogs, body: "", by: Here.ann),
            #"{"postMessage":{"author":"\#(user)","body":"","message":"\#(milk)","thread":"\#(dogs)"}}"#
        ),
        (
            .reply(to: Here.milk, body: "Yes.", by: Here.ann),
            #"{"reply":{"author":"\#(user)","body":"Yes.","message":"\#(milk)"}}"#
        ),
        (
            .reply(id: Here.yes, to: Here.milk, body: "Yes.", by: Here.ann),
            #"{"reply":{"author":"\#(user)","body":"Yes.","message":"\#(milk)","reply":"\#(yes)"}}"#
        ),
        (
            .edit(.message(Here.milk), body: "x", by: Here.ann),
            #"{"edit":{"body":"x","by":"\#(user)","message":"\#(milk)"}}"#
        ),
        (.edit(.reply(Here.yes), body: "x", by: Here.ann), #"{"edit":{"body":"x","by":"\#(user)","reply":"\#(yes)"}}"#),
        (
            .edit(.reply(Here.yes), id: EditID(bits: Here.poll.bits), body: "x", replaces: 0, by: Here.ann),
            #"{"edit":{"body":"x","by":"\#(user)","edit":"\#(poll)","replaces":0,"reply":"\#(yes)"}}"#
        ),
        (
            .postMessage(thread: Here.dogs, body: "x", mentions: [Here.bob, Here.ann, Here.bob], by: Here.ann),
            #"{"postMessage":{"author":"\#(user)","body":"x","mentions":["\#(bob)","\#(user)","\#(bob)"],"thread":"\#(dogs)"}}"#
        ),
        (
            .reply(to: Here.milk, body: "x", mentions: [Here.bob], by: Here.ann),
            #"{"reply":{"author":"\#(user)","body":"x","mentions":["\#(bob)"],"message":"\#(milk)"}}"#
        ),
        (
            .edit(.message(Here.milk), body: "x", mentions: [Here.bob], replaces: 3, by: Here.ann),
            #"{"edit":{"body":"x","by":"\#(user)","mentions":["\#(bob)"],"message":"\#(milk)","replaces":3}}"#
        ),
        (
            .postMessage(thread: Here.dogs, body: "@Bob", findMentions: true, by: Here.ann),
            #"{"postMessage":{"author":"\#(user)","body":"@Bob","findMentions":true,"thread":"\#(dogs)"}}"#
        ),
        (
            .edit(.message(Here.milk), body: "@Bob", mentions: [Here.ann], findMentions: true, by: Here.ann),
            #"{"edit":{"body":"@Bob","by":"\#(user)","findMentions":true,"mentions":["\#(user)"],"message":"\#(milk)"}}"#
        ),
        (.retract(.message(Here.milk), by: Here.ann), #"{"retract":{"by":"\#(user)","message":"\#(milk)"}}"#),
        (.retract(.reply(Here.yes), by: Here.ann), #"{"retract":{"by":"\#(user)","reply":"\#(yes)"}}"#),
        (
            .markRead(thread: Here.sw1a, upTo: .max, by: Here.ann),
            #"{"markRead":{"thread":"\#(sw1a)","upTo":18446744073709551615,"user":"\#(user)"}}"#
        ),
        (
            .markUnread(thread: Here.sw1a, from: .max, by: Here.ann),
            #"{"markUnread":{"from":18446744073709551615,"thread":"\#(sw1a)","user":"\#(user)"}}"#
        ),
        (
            .setNotifications(thread: Here.sw1a, level: .none, by: Here.ann),
            #"{"setNotifications":{"level":"none","thread":"\#(sw1a)","until":null,"user":"\#(user)"}}"#
        ),
        (
            .setNotifications(
                thread: Here.sw1a, level: .mentions, until: Timestamp(millisecondsSince1970: 1_795_237_392_124),
                by: Here.ann),
            #"{"setNotifications":{"level":"mentions","thread":"\#(sw1a)","until":"2026-11-21T05:03:12.124Z","user":"\#(user)"}}"#
        ),
        (
            .renameThread(thread: Here.dogs, name: "Cats", by: Here.ann),
            #"{"renameThread":{"by":"\#(user)","name":"Cats","thread":"\#(dogs)"}}"#
        ),
        (
            .openDirect(with: [Here.ann], by: Here.ann), #"{"openDirect":{"by":"\#(user)","with":["\#(user)"]}}"#
        ),
        (
            .markInboxRead(upTo: .max, by: Here.ann),
            #"{"markInboxRead":{"upTo":18446744073709551615,"user":"\#(user)"}}"#
        ),
        (.setProfile(by: Here.ann), #"{"setProfile":{"user":"\#(user)"}}"#),
        (.setProfile(about: "Bees", by: Here.ann), #"{"setProfile":{"about":"Bees","user":"\#(user)"}}"#),
        (.startSession(device: "", by: Here.ann), #"{"startSession":{"device":"","user":"\#(user)"}}"#),
        (
            .startSession(id: Here.phone, device: "iPhone", by: Here.ann),
            #"{"startSession":{"device":"iPhone","session":"\#(phone)","user":"\#(user)"}}"#
        ),
        (.endSession(session: Here.phone), #"{"endSession":{"session":"\#(phone)"}}"#),
        (
            .openThread(id: Here.dogs, name: "Dogs", policy: .inviteOnly, history: .sinceJoining, by: Here.ann),
            #"{"openThread":{"by":"\#(user)","history":"sinceJoining","name":"Dogs","policy":"inviteOnly","thread":"\#(dogs)"}}"#
        ),
        (
            .openThread(name: "Dogs", policy: .residents, by: Here.ann),
            #"{"openThread":{"by":"\#(user)","name":"Dogs","policy":"residents"}}"#
        ),
        (.invite(user: Here.bob, thread: Here.dogs, by: Here.ann), #"{"invite":{\#(onBob)}}"#),
        (
            .acceptInvitation(thread: Here.dogs, by: Here.bob),
            #"{"acceptInvitation":{"thread":"\#(dogs)","user":"\#(bob)"}}"#
        ),
        (
            .declineInvitation(thread: Here.dogs, by: Here.bob),
            #"{"declineInvitation":{"thread":"\#(dogs)","user":"\#(bob)"}}"#
        ),
        (.revokeInvitation(user: Here.bob, thread: Here.dogs, by: Here.ann), #"{"revokeInvitation":{\#(onBob)}}"#),
        (
            .setRole(user: Here.bob, thread: Here.dogs, role: .moderator, by: Here.ann),
            #"{"setRole":{"by":"\#(user)","role":"moderator","thread":"\#(dogs)","user":"\#(bob)"}}"#
        ),
        (.grantOperator(user: Here.bob), #"{"grantOperator":{"user":"\#(bob)"}}"#),
        (.revokeOperator(user: Here.bob), #"{"revokeOperator":{"user":"\#(bob)"}}"#),
        (
            .remove(.message(Here.milk), reason: "spam", by: Here.ann),
            #"{"remove":{"by":"\#(user)","message":"\#(milk)","reason":"spam"}}"#
        ),
        (
            .remove(.reply(Here.yes), reason: "spam", by: Here.ann),
            #"{"remove":{"by":"\#(user)","reason":"spam","reply":"\#(yes)"}}"#
        ),
        (
            .mute(user: Here.bob, thread: Here.dogs, reason: "spam", by: Here.ann),
            #"{"mute":{"by":"\#(user)","reason":"spam","thread":"\#(dogs)","until":null,"user":"\#(bob)"}}"#
        ),
        (
            .mute(user: Here.bob, thread: Here.dogs, reason: "spam", until: until, by: Here.ann),
            #"{"mute":{"by":"\#(user)","reason":"spam","thread":"\#(dogs)","until":"2026-11-21T05:03:12.124Z","user":"\#(bob)"}}"#
        ),
        (.unmute(user: Here.bob, thread: Here.dogs, by: Here.ann), #"{"unmute":{\#(onBob)}}"#),
        (
            .ban(user: Here.bob, thread: Here.dogs, reason: "spam", by: Here.ann),
            #"{"ban":{"by":"\#(user)","reason":"spam","thread":"\#(dogs)","until":null,"user":"\#(bob)"}}"#
        ),
        (
            .ban(user: Here.bob, thread: Here.dogs, reason: "spam", until: until, by: Here.ann),
            #"{"ban":{"by":"\#(user)","reason":"spam","thread":"\#(dogs)","until":"2026-11-21T05:03:12.124Z","user":"\#(bob)"}}"#
        ),
        (.unban(user: Here.bob, thread: Here.dogs, by: Here.ann), #"{"unban":{\#(onBob)}}"#),
        (
            .removeMember(user: Here.bob, thread: Here.dogs, reason: "spam", by: Here.ann),
            #"{"removeMember":{"by":"\#(user)","reason":"spam","thread":"\#(dogs)","user":"\#(bob)"}}"#
        ),
        (.pin(message: Here.milk, by: Here.ann), #"{"pin":{"by":"\#(user)","message":"\#(milk)"}}"#),
        (
            .react(.message(Here.milk), emoji: "👍", by: Here.ann),
            #"{"react":{"by":"\#(user)","emoji":"👍","message":"\#(milk)"}}"#
        ),
        (
            .unreact(.reply(Here.yes), emoji: ":x:", by: Here.ann),
            #"{"unreact":{"by":"\#(user)","emoji":":x:","reply":"\#(yes)"}}"#
        ),
        (.unpin(message: Here.milk, by: Here.ann), #"{"unpin":{"by":"\#(user)","message":"\#(milk)"}}"#),
        (.lockThread(thread: Here.dogs, by: Here.ann), #"{"lockThread":{"by":"\#(user)","thread":"\#(dogs)"}}"#),
        (.unlockThread(thread: Here.dogs, by: Here.ann), #"{"unlockThread":{"by":"\#(user)","thread":"\#(dogs)"}}"#),
        (.closeThread(thread: Here.sw1a, by: Here.ann), #"{"closeThread":{"by":"\#(user)","thread":"\#(sw1a)"}}"#),
        (
            .setThreadPolicy(thread: Here.dogs, policy: .inviteOnly, by: Here.ann),
            #"{"setThreadPolicy":{"by":"\#(user)","policy":"inviteOnly","thread":"\#(dogs)"}}"#
        ),
        (
            .setThreadPolicy(thread: Here.dogs, policy: .open, history: .sinceJoining, by: Here.ann),
            #"{"setThreadPolicy":{"by":"\#(user)","history":"sinceJoining","policy":"open","thread":"\#(dogs)"}}"#
        ),
        (
            .report(.message(Here.milk), reason: "spam", by: Here.ann),
            #"{"report":{"by":"\#(user)","message":"\#(milk)","reason":"spam"}}"#
        ),
        (
            .report(.reply(Here.yes), reason: "spam", by: Here.ann),
            #"{"report":{"by":"\#(user)","reason":"spam","reply":"\#(yes)"}}"#
        ),
        (
            .resolveReport(.message(Here.milk), by: Here.ann),
            #"{"resolveReport":{"by":"\#(user)","message":"\#(milk)"}}"#
        ),
        (.resolveReport(.reply(Here.yes), by: Here.ann), #"{"resolveReport":{"by":"\#(user)","reply":"\#(yes)"}}"#),
        (.block(user: Here.bob, by: Here.ann), #"{"block":{"by":"\#(user)","user":"\#(bob)"}}"#),
        (.unblock(user: Here.bob, by: Here.ann), #"{"unblock":{"by":"\#(user)","user":"\#(bob)"}}"#),
        (
            .custom(kind: "a.b", thread: Here.dogs, payload: payload("null"), by: Here.ann),
            #"{"custom":{"by":"\#(user)","kind":"a.b","payload":null,"thread":"\#(dogs)"}}"#
        ),
        (
            .custom(id: Here.poll, kind: "a.b", thread: Here.dogs, payload: payload("{\"x\":[1]}"), by: Here.ann),
            #"{"custom":{"by":"\#(user)","id":"\#(poll)","kind":"a.b","payload":{"x":[1]},"thread":"\#(dogs)"}}"#
        ),
    ]

    private static func payload(_ text: String) -> CustomPayload {
        guard let payload = CustomPayload(text) else { preconditionFailure("\(text) is not JSON") }
        return payload
    }

    @Test(arguments: golden) func commandsEncodeExactly(command: ChatCommand, text: String) throws {
        #expect(try json(command) == text)
        #expect(try value(ChatCommand.self, fromJSON: text) == command)
        #expect(try json(CommandRequest(command)) == text)
        #expect(try value(CommandRequest.self, fromJSON: text) == CommandRequest(command))
    }

    @Test(arguments: golden) func requestHoldsCorrelationBesideCommand(command: ChatCommand, text: String) throws {
        let request = CommandRequest(command, correlation: "c-1")
        let correlated = try json(request)
        #expect(
            correlated == #"{"correlation":"c-1",\#(text.dropFirst())"#
                || correlated == #"\#(text.dropLast()),"correlation":"c-1"}"#)
        #expect(try value(CommandRequest.self, fromJSON: correlated) == request)
    }

    @Test(arguments: Seeds.seeds(20)) func requestsRoundTrip(seed: UInt64) throws {
        var requests = RequestGenerator(seed: seed)
        for _ in 0..<100 {
            var request = requests.next()
            // The JSON has no origin: a client cannot mark its request as an import.
            request.origin = .native
            if let payload = request.command.payload {
                // Foundation sorts the fields of a payload and shortens its numbers.
                request.command.payload = try value(CustomPayload.self, fromJSON: try json(payload))
            }
            #expect(try value(CommandRequest.self, fromJSON: try json(request)) == request)
            #expect(try value(ChatCommand.self, fromJSON: try json(request.command)) == request.command)
        }
    }

    @Test(arguments: ["SW1A", "sw1a", " SW1A ", sw1a, sw1a.uppercased()]) func threadIsIDOrOutwardCode(thread: String)
        throws
    {
        let text = #"{"joinThread":{"thread":"\#(thread)","user":"\#(Self.user.uppercased())"}}"#
        #expect(try value(ChatCommand.self, fromJSON: text) == .joinThread(thread: Here.sw1a, by: Here.ann))
    }

    @Test(
        arguments: [
            (#"{"registerUser":{"user":null,"username":"Ann","subject":null}}"#, .registerUser(username: "Ann")),
            (#"{"openThread":{"thread":null,"name":"Dogs","by":"\#(user)"}}"#, .openThread(name: "Dogs", by: Here.ann)),
            (
                #"{"postMessage":{"message":null,"thread":"SW1A","author":"\#(user)","body":"x"}}"#,
                .postMessage(thread: Here.sw1a, body: "x", by: Here.ann)
            ),
            (
                #"{"reply":{"reply":null,"message":"\#(milk)","author":"\#(user)","body":"x"}}"#,
                .reply(to: Here.milk, body: "x", by: Here.ann)
            ),
            (
                #"{"retract":{"message":null,"reply":"\#(yes)","by":"\#(user)"}}"#,
                .retract(.reply(Here.yes), by: Here.ann)
            ),
            (
                #"{"startSession":{"session":null,"user":"\#(user)","device":"x"}}"#,
                .startSession(device: "x", by: Here.ann)
            ),
            (
                #"{"openThread":{"policy":null,"history":null,"name":"Dogs","by":"\#(user)"}}"#,
                .openThread(name: "Dogs", by: Here.ann)
            ),
            (
                #"{"mute":{\#(onBob),"reason":"spam"}}"#,
                .mute(user: Here.bob, thread: Here.dogs, reason: "spam", by: Here.ann)
            ),
            (
                #"{"custom":{"id":null,"by":"\#(user)","kind":"a.b","payload":null,"thread":"\#(dogs)"}}"#,
                .custom(kind: "a.b", thread: Here.dogs, payload: payload("null"), by: Here.ann)
            ),
        ] as [(String, ChatCommand)])
    func nullEqualsMissingField(text: String, command: ChatCommand) throws {
        #expect(try value(ChatCommand.self, fromJSON: text) == command)
    }
}
