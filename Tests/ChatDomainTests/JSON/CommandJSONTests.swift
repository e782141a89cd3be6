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

    static let golden: [(ChatCommand, String)] = [
        (.registerUser(username: "Ann"), #"{"registerUser":{"username":"Ann"}}"#),
        (
            .registerUser(user: Here.ann, username: "Ann", subject: "s"),
            #"{"registerUser":{"subject":"s","user":"\#(user)","username":"Ann"}}"#
        ),
        (.changeUsername(user: Here.ann, username: "Anna"), #"{"changeUsername":{"user":"\#(user)","username":"Anna"}}"#),
        (.setPostcode(user: Here.ann, postcode: " sw1a1aa"), #"{"setPostcode":{"postcode":" sw1a1aa","user":"\#(user)"}}"#),
        (.openThread(name: "Dogs", by: Here.ann), #"{"openThread":{"by":"\#(user)","name":"Dogs"}}"#),
        (
            .openThread(thread: Here.dogs, name: "Dogs", by: Here.ann),
            #"{"openThread":{"by":"\#(user)","name":"Dogs","thread":"\#(dogs)"}}"#
        ),
        (.joinThread(user: Here.ann, thread: Here.dogs), #"{"joinThread":{"thread":"\#(dogs)","user":"\#(user)"}}"#),
        (.leaveThread(user: Here.ann, thread: Here.sw1a), #"{"leaveThread":{"thread":"\#(sw1a)","user":"\#(user)"}}"#),
        (
            .postMessage(thread: Here.sw1a, author: Here.ann, body: "Could someone pick up milk?"),
            #"{"postMessage":{"author":"\#(user)","body":"Could someone pick up milk?","thread":"\#(sw1a)"}}"#
        ),
        (
            .postMessage(message: Here.milk, thread: Here.dogs, author: Here.ann, body: ""),
            #"{"postMessage":{"author":"\#(user)","body":"","message":"\#(milk)","thread":"\#(dogs)"}}"#
        ),
        (
            .reply(message: Here.milk, author: Here.ann, body: "Yes."),
            #"{"reply":{"author":"\#(user)","body":"Yes.","message":"\#(milk)"}}"#
        ),
        (
            .reply(reply: Here.yes, message: Here.milk, author: Here.ann, body: "Yes."),
            #"{"reply":{"author":"\#(user)","body":"Yes.","message":"\#(milk)","reply":"\#(yes)"}}"#
        ),
        (.edit(.message(Here.milk), by: Here.ann, body: "x"), #"{"edit":{"body":"x","by":"\#(user)","message":"\#(milk)"}}"#),
        (.edit(.reply(Here.yes), by: Here.ann, body: "x"), #"{"edit":{"body":"x","by":"\#(user)","reply":"\#(yes)"}}"#),
        (.retract(.message(Here.milk), by: Here.ann), #"{"retract":{"by":"\#(user)","message":"\#(milk)"}}"#),
        (.retract(.reply(Here.yes), by: Here.ann), #"{"retract":{"by":"\#(user)","reply":"\#(yes)"}}"#),
        (
            .markRead(user: Here.ann, thread: Here.sw1a, upTo: .max),
            #"{"markRead":{"thread":"\#(sw1a)","upTo":18446744073709551615,"user":"\#(user)"}}"#
        ),
        (.startSession(user: Here.ann, device: ""), #"{"startSession":{"device":"","user":"\#(user)"}}"#),
        (
            .startSession(user: Here.ann, session: Here.phone, device: "iPhone"),
            #"{"startSession":{"device":"iPhone","session":"\#(phone)","user":"\#(user)"}}"#
        ),
        (.endSession(session: Here.phone), #"{"endSession":{"session":"\#(phone)"}}"#),
    ]

    @Test(arguments: golden) func commandsEncodeExactly(command: ChatCommand, text: String) throws {
        #expect(try json(command) == text)
        #expect(try value(ChatCommand.self, fromJSON: text) == command)
        #expect(try json(CommandRequest(command)) == text)
        #expect(try value(CommandRequest.self, fromJSON: text) == CommandRequest(command))
    }

    @Test(arguments: golden) func requestHoldsCorrelationBesideCommand(command: ChatCommand, text: String) throws {
        let request = CommandRequest(command, correlation: "c-1")
        let correlated = try json(request)
        #expect(correlated == #"{"correlation":"c-1",\#(text.dropFirst())"# || correlated == #"\#(text.dropLast()),"correlation":"c-1"}"#)
        #expect(try value(CommandRequest.self, fromJSON: correlated) == request)
    }

    @Test(arguments: Seeds.seeds(20)) func requestsRoundTrip(seed: UInt64) throws {
        var requests = RequestGenerator(seed: seed)
        for _ in 0..<100 {
            var request = requests.next()
            // The JSON has no origin: a client cannot mark its request as an import.
            request.origin = .native
            if case .custom(let id, let kind, let thread, let by, let payload) = request.command {
                // Foundation sorts the fields of a payload and shortens its numbers.
                let read = try value(CustomPayload.self, fromJSON: try json(payload))
                request.command = .custom(id: id, kind: kind, thread: thread, by: by, payload: read)
            }
            #expect(try value(CommandRequest.self, fromJSON: try json(request)) == request)
            #expect(try value(ChatCommand.self, fromJSON: try json(request.command)) == request.command)
        }
    }

    @Test(arguments: ["SW1A", "sw1a", " SW1A ", sw1a, sw1a.uppercased()]) func threadIsIDOrOutwardCode(thread: String) throws {
        let text = #"{"joinThread":{"thread":"\#(thread)","user":"\#(Self.user.uppercased())"}}"#
        #expect(try value(ChatCommand.self, fromJSON: text) == .joinThread(user: Here.ann, thread: Here.sw1a))
    }

    @Test(
        arguments: [
            (#"{"registerUser":{"user":null,"username":"Ann","subject":null}}"#, .registerUser(username: "Ann")),
            (#"{"openThread":{"thread":null,"name":"Dogs","by":"\#(user)"}}"#, .openThread(name: "Dogs", by: Here.ann)),
            (
                #"{"postMessage":{"message":null,"thread":"SW1A","author":"\#(user)","body":"x"}}"#,
                .postMessage(thread: Here.sw1a, author: Here.ann, body: "x")
            ),
            (
                #"{"reply":{"reply":null,"message":"\#(milk)","author":"\#(user)","body":"x"}}"#,
                .reply(message: Here.milk, author: Here.ann, body: "x")
            ),
            (#"{"retract":{"message":null,"reply":"\#(yes)","by":"\#(user)"}}"#, .retract(.reply(Here.yes), by: Here.ann)),
            (#"{"startSession":{"session":null,"user":"\#(user)","device":"x"}}"#, .startSession(user: Here.ann, device: "x")),
        ] as [(String, ChatCommand)])
    func nullEqualsMissingField(text: String, command: ChatCommand) throws {
        #expect(try value(ChatCommand.self, fromJSON: text) == command)
    }
}
