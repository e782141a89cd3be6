import ChatDomain
import ChatTesting
import Testing

/// The exact JSON of events, and its decoding.
struct EventJSONTests {
    typealias Here = Neighbourhood

    private static let user = "0a000000-0000-0000-0000-000000000001"
    private static let bob = "0b000000-0000-0000-0000-000000000002"
    private static let sw1a = "53573141-0000-8000-806f-757477617264"
    private static let dogs = "0d000000-0000-0000-0000-000000000001"
    private static let milk = "01000000-0000-0000-0000-000000000001"
    private static let yes = "02000000-0000-0000-0000-000000000001"
    private static let phone = "03000000-0000-0000-0000-000000000001"
    private static let poll = "04000000-0000-0000-0000-000000000001"
    private static let onMessage = #""by":"\#(user)","message":"\#(milk)","number":6,"thread":"\#(sw1a)""#
    private static let onReply =
        #""by":"\#(bob)","message":"\#(milk)","number":6,"reply":"\#(yes)","thread":"\#(sw1a)""#

    private static let onMember = #""by":"\#(user)","number":7,"thread":"\#(dogs)","user":"\#(bob)""#
    private static let onReport = #""by":"\#(user)","message":"\#(milk)""#

    static let member = EventShape.member(thread: Here.dogs, number: 7, user: Here.bob, by: Here.ann)
    static let change = EventShape.thread(Here.dogs, number: 7, user: Here.ann)
    static let messageReport = EventShape.messageReport(thread: Here.sw1a, message: Here.milk, by: Here.ann)
    static let replyReport = EventShape.replyReport(
        thread: Here.sw1a, message: Here.milk, reply: Here.yes, by: Here.ann)
    static let custom = EventShape.custom(thread: Here.dogs, number: 7, id: Here.poll, by: Here.ann)

    static func sanction(_ until: Int64?) -> EventShape {
        EventShape.sanction(
            thread: Here.dogs, number: 7, user: Here.bob, by: Here.ann,
            until: until.map { Timestamp(millisecondsSince1970: $0) })
    }

    static let message = EventShape.message(thread: Here.sw1a, number: 6, message: Here.milk, by: Here.ann)
    static let reply = EventShape.reply(thread: Here.sw1a, number: 6, message: Here.milk, reply: Here.yes, by: Here.bob)

    /// The fields specific to each event kind, with sorted keys.
    static let golden: [(EventDetails, EventContent, String)] = [
        (
            .init(.userRegistered, .user(Here.ann)),
            .registration(Username(text: "Ann", foldKey: "ann"), subject: "sub-ann"),
            #""userRegistered":{"subject":"sub-ann","user":"\#(user)","username":"Ann"}"#
        ),
        (
            .init(.userRegistered, .user(Here.ann)), .registration(Username(text: "Ann", foldKey: "ann"), subject: nil),
            #""userRegistered":{"subject":null,"user":"\#(user)","username":"Ann"}"#
        ),
        (
            .init(.usernameChanged, .user(Here.ann)), .username(Username(text: "Straße", foldKey: "strasse")),
            #""usernameChanged":{"user":"\#(user)","username":"Straße"}"#
        ),
        (
            .init(.postcodeSet, .postcode(user: Here.ann, thread: Here.sw1a)),
            Postcode("SW1A 1AA").map(EventContent.postcode) ?? .none,
            #""postcodeSet":{"postcode":"SW1A 1AA","thread":"\#(sw1a)","user":"\#(user)"}"#
        ),
        (
            .init(.threadOpened, .thread(Here.sw1a, number: 1, user: Here.ann)), .none,
            #""threadOpened":{"by":"\#(user)","name":"SW1A","number":1,"thread":"\#(sw1a)"}"#
        ),
        (
            .init(.threadOpened, .thread(Here.dogs, number: 1, user: Here.ann)), .threadName("Dogs & \"cats\""),
            #""threadOpened":{"by":"\#(user)","name":"Dogs & \"cats\"","number":1,"thread":"\#(dogs)"}"#
        ),
        (
            .init(.threadJoined, .thread(Here.sw1a, number: 2, user: Here.ann)), .none,
            #""threadJoined":{"number":2,"thread":"\#(sw1a)","user":"\#(user)"}"#
        ),
        (
            .init(.threadLeft, .thread(Here.sw1a, number: 18_446_744_073_709_551_615, user: Here.ann)), .none,
            #""threadLeft":{"number":18446744073709551615,"thread":"\#(sw1a)","user":"\#(user)"}"#
        ),
        (
            .init(.messagePosted, .message(thread: Here.sw1a, number: 4, message: Here.milk, by: Here.ann)),
            .body("Milk?\n\u{1B}[31m 🥛"),
            #""messagePosted":{"author":"\#(user)","body":"Milk?\n\u001b[31m 🥛","message":"\#(milk)","number":4,"thread":"\#(sw1a)"}"#
        ),
        (
            .init(
                .replyPosted, .reply(thread: Here.sw1a, number: 5, message: Here.milk, reply: Here.yes, by: Here.bob)),
            .body("Yes."),
            #""replyPosted":{"author":"\#(bob)","body":"Yes.","message":"\#(milk)","number":5,"reply":"\#(yes)","thread":"\#(sw1a)"}"#
        ),
        (.init(.messageEdited, message), .body("Oat"), #""messageEdited":{"body":"Oat",\#(onMessage)}"#),
        (.init(.replyEdited, reply), .body("No."), #""replyEdited":{"body":"No.",\#(onReply)}"#),
        (.init(.messageRetracted, message), .none, #""messageRetracted":{\#(onMessage)}"#),
        (.init(.replyRetracted, reply), .none, #""replyRetracted":{\#(onReply)}"#),
        (
            .init(.threadRead, .marker(user: Here.ann, thread: Here.sw1a, upTo: 9)), .none,
            #""threadRead":{"thread":"\#(sw1a)","upTo":9,"user":"\#(user)"}"#
        ),
        (
            .init(.sessionStarted, .session(user: Here.ann, session: Here.phone)), .device("iPhone"),
            #""sessionStarted":{"device":"iPhone","session":"\#(phone)","user":"\#(user)"}"#
        ),
        (
            .init(.sessionEnded, .session(user: Here.ann, session: Here.phone)), .none,
            #""sessionEnded":{"session":"\#(phone)","user":"\#(user)"}"#
        ),
        (.init(.lost), .none, #""lost":{}"#),
        (
            .init(
                .threadPolicySet,
                .policy(thread: Here.dogs, number: 2, policy: .inviteOnly, history: .sinceJoining, by: Here.ann)),
            .none,
            #""threadPolicySet":{"by":"\#(user)","history":"sinceJoining","number":2,"policy":"inviteOnly","thread":"\#(dogs)"}"#
        ),
        (.init(.userInvited, member), .none, #""userInvited":{\#(onMember)}"#),
        (
            .init(.invitationDeclined, .thread(Here.dogs, number: 7, user: Here.bob)), .none,
            #""invitationDeclined":{"number":7,"thread":"\#(dogs)","user":"\#(bob)"}"#
        ),
        (.init(.invitationRevoked, member), .none, #""invitationRevoked":{\#(onMember)}"#),
        (
            .init(.roleSet, .role(thread: Here.dogs, number: 7, user: Here.bob, role: .moderator, by: Here.ann)), .none,
            #""roleSet":{"by":"\#(user)","number":7,"role":"moderator","thread":"\#(dogs)","user":"\#(bob)"}"#
        ),
        (.init(.operatorGranted, .user(Here.bob)), .none, #""operatorGranted":{"user":"\#(bob)"}"#),
        (.init(.operatorRevoked, .user(Here.bob)), .none, #""operatorRevoked":{"user":"\#(bob)"}"#),
        (
            .init(.messageRemoved, message), .reason("spam"),
            #""messageRemoved":{"by":"\#(user)","message":"\#(milk)","number":6,"reason":"spam","thread":"\#(sw1a)"}"#
        ),
        (
            .init(.replyRemoved, reply), .reason("spam"),
            #""replyRemoved":{"by":"\#(bob)","message":"\#(milk)","number":6,"reason":"spam","reply":"\#(yes)","thread":"\#(sw1a)"}"#
        ),
        (
            .init(.userMuted, sanction(1_795_237_392_124)), .reason("spam"),
            #""userMuted":{"by":"\#(user)","number":7,"reason":"spam","thread":"\#(dogs)","until":"2026-11-21T05:03:12.124Z","#
                + #""user":"\#(bob)"}"#
        ),
        (
            .init(.userMuted, sanction(nil)), .reason("spam"),
            #""userMuted":{"by":"\#(user)","number":7,"reason":"spam","thread":"\#(dogs)","until":null,"user":"\#(bob)"}"#
        ),
        (.init(.userUnmuted, member), .none, #""userUnmuted":{\#(onMember)}"#),
        (
            .init(.userBanned, sanction(1 << 48 - 1)), .reason("spam"),
            #""userBanned":{"by":"\#(user)","number":7,"reason":"spam","thread":"\#(dogs)","until":"+10889-08-02T05:31:50.655Z","#
                + #""user":"\#(bob)"}"#
        ),
        (
            .init(.userBanned, sanction(nil)), .reason("spam"),
            #""userBanned":{"by":"\#(user)","number":7,"reason":"spam","thread":"\#(dogs)","until":null,"user":"\#(bob)"}"#
        ),
        (.init(.userUnbanned, member), .none, #""userUnbanned":{\#(onMember)}"#),
        (
            .init(.memberRemoved, member), .reason("spam"),
            #""memberRemoved":{"by":"\#(user)","number":7,"reason":"spam","thread":"\#(dogs)","user":"\#(bob)"}"#
        ),
        (.init(.messagePinned, message), .none, #""messagePinned":{\#(onMessage)}"#),
        (.init(.messageUnpinned, message), .none, #""messageUnpinned":{\#(onMessage)}"#),
        (
            .init(.reactionAdded, message), .emoji(Emoji(recorded: "👍")),
            #""reactionAdded":{"by":"\#(user)","emoji":"👍","message":"\#(milk)","number":6,"thread":"\#(sw1a)"}"#
        ),
        (
            .init(.reactionAdded, reply), .emoji(Emoji(recorded: "👍")),
            #""reactionAdded":{"by":"\#(bob)","emoji":"👍","message":"\#(milk)","number":6,"reply":"\#(yes)","thread":"\#(sw1a)"}"#
        ),
        (
            .init(.reactionRemoved, message), .emoji(Emoji(recorded: ":x:")),
            #""reactionRemoved":{"by":"\#(user)","emoji":":x:","message":"\#(milk)","number":6,"thread":"\#(sw1a)"}"#
        ),
        (
            .init(.reactionRemoved, reply), .emoji(Emoji(recorded: ":x:")),
            #""reactionRemoved":{"by":"\#(bob)","emoji":":x:","message":"\#(milk)","number":6,"reply":"\#(yes)","thread":"\#(sw1a)"}"#
        ),
        (.init(.threadLocked, change), .none, #""threadLocked":{"by":"\#(user)","number":7,"thread":"\#(dogs)"}"#),
        (.init(.threadUnlocked, change), .none, #""threadUnlocked":{"by":"\#(user)","number":7,"thread":"\#(dogs)"}"#),
        (.init(.threadClosed, change), .none, #""threadClosed":{"by":"\#(user)","number":7,"thread":"\#(dogs)"}"#),
        (
            .init(.messageReported, messageReport), .reason("spam"),
            #""messageReported":{\#(onReport),"reason":"spam","thread":"\#(sw1a)"}"#
        ),
        (
            .init(.replyReported, replyReport), .reason("spam"),
            #""replyReported":{\#(onReport),"reason":"spam","reply":"\#(yes)","thread":"\#(sw1a)"}"#
        ),
        (
            .init(.messageReportsResolved, messageReport), .none,
            #""messageReportsResolved":{\#(onReport),"thread":"\#(sw1a)"}"#
        ),
        (
            .init(.replyReportsResolved, replyReport), .none,
            #""replyReportsResolved":{\#(onReport),"reply":"\#(yes)","thread":"\#(sw1a)"}"#
        ),
        (
            .init(.userBlocked, .block(user: Here.bob, by: Here.ann)), .none,
            #""userBlocked":{"by":"\#(user)","user":"\#(bob)"}"#
        ),
        (
            .init(.userUnblocked, .block(user: Here.bob, by: Here.ann)), .none,
            #""userUnblocked":{"by":"\#(user)","user":"\#(bob)"}"#
        ),
        (
            .init(.custom, custom),
            .custom(kind: "com.example.poll", payload: .present(Here.payload("{\"a\":[1,\"x\"],\"b\":null}"))),
            #""custom":{"by":"\#(user)","id":"\#(poll)","kind":"com.example.poll","number":7,"payload":{"a":[1,"x"],"b":null},"#
                + #""thread":"\#(dogs)"}"#
        ),
        (
            .init(.custom, custom), .custom(kind: "com.example.poll", payload: .present(Here.payload("null"))),
            #""custom":{"by":"\#(user)","id":"\#(poll)","kind":"com.example.poll","number":7,"payload":null,"thread":"\#(dogs)"}"#
        ),
        (
            .init(.userErased, .user(Here.ann)), .erasure(reason: "user-request", positions: nil),
            #""userErased":{"reason":"user-request","user":"\#(user)"}"#
        ),
        (
            .init(.contentErased), .erasure(reason: "spam", positions: PositionSet([3...3, 10...200])),
            #""contentErased":{"ranges":[[3,3],[10,200]],"reason":"spam"}"#
        ),
        (
            .init(.contentErased), .erasure(reason: "spam", positions: PositionSet([7...Position(Int.max)])),
            #""contentErased":{"ranges":[[7,9223372036854775807]],"reason":"spam"}"#
        ),
        (.init(.clockCorrected), .none, #""clockCorrected":{}"#),
        (.init(.historyRepaired, .repair(from: 300)), .none, #""historyRepaired":{"from":300}"#),
        (
            .init(.threadMarkedUnread, .marker(user: Here.ann, thread: Here.sw1a, upTo: 0)), .none,
            #""threadMarkedUnread":{"thread":"\#(sw1a)","upTo":0,"user":"\#(user)"}"#
        ),
        (
            .init(.notificationsSet, .notifications(user: Here.ann, thread: Here.dogs, level: .mentions)), .none,
            #""notificationsSet":{"level":"mentions","thread":"\#(dogs)","until":null,"user":"\#(user)"}"#
        ),
        (
            .init(
                .notificationsSet,
                .notifications(
                    user: Here.ann, thread: Here.dogs, level: .none,
                    until: Timestamp(millisecondsSince1970: 1_795_237_392_124))),
            .none,
            #""notificationsSet":{"level":"none","thread":"\#(dogs)","until":"2026-11-21T05:03:12.124Z","user":"\#(user)"}"#
        ),
        (.init(.inboxRead, .inbox(user: Here.ann, upTo: 9)), .none, #""inboxRead":{"upTo":9,"user":"\#(user)"}"#),
        (.init(.profileSet, .user(Here.ann)), .about("Bees"), #""profileSet":{"about":"Bees","user":"\#(user)"}"#),
        (.init(.profileSet, .user(Here.ann)), .about(""), #""profileSet":{"about":"","user":"\#(user)"}"#),
        (
            .init(.threadRenamed, change), .threadName("Cats"),
            #""threadRenamed":{"by":"\#(user)","name":"Cats","number":7,"thread":"\#(dogs)"}"#
        ),
        (.init(.directOpened, change), .none, #""directOpened":{"by":"\#(user)","number":7,"thread":"\#(dogs)"}"#),
        (
            .init(nil), .opaque(kept: bytes("C8 00 7B0000000000 FF"), erasable: bytes("CAFE")),
            #""unknown":{"erasable":"cafe","kept":"c8007b0000000000ff","kind":200}"#
        ),
    ]

    /// 2026-11-21T05:03:12.123Z, except for the unknown kind, whose bytes hold 123.
    private static func time(_ details: EventDetails) -> (Timestamp, String) {
        if details.kind == nil { return (Timestamp(millisecondsSince1970: 123), "1970-01-01T00:00:00.123Z") }
        return (Timestamp(millisecondsSince1970: 1_795_237_392_123), "2026-11-21T05:03:12.123Z")
    }

    @Test func examplesCoverEveryKind() {
        #expect(Set(Self.golden.compactMap(\.0.kind)) == Set(EventKind.allCases))
    }

    @Test(arguments: golden) func eventsEncodeExactly(details: EventDetails, content: EventContent, fields: String)
        throws
    {
        let (time, timeText) = Self.time(details)
        let recorded = RecordedEvent(
            position: 12, event: ChatEvent(recordedAt: time, details: details, content: content))
        // The keys of the envelope sort among those of the kind.
        var members = [#""position":12"#, #""recordedAt":"\#(timeText)""#, fields]
        members.sort()
        let text = "{\(members.joined(separator: ","))}"
        #expect(try json(recorded) == text)
        let read = try value(RecordedEvent.self, fromJSON: text)
        #expect(read == recorded)
        #expect(EventBytes(read.event) == EventBytes(recorded.event))
    }

    @Test func editHasItsIDIfItHasOne() throws {
        let message = EventShape.message(thread: Here.sw1a, number: 6, message: Here.milk, by: Here.ann)
        let reply = EventShape.reply(thread: Here.sw1a, number: 6, message: Here.milk, reply: Here.yes, by: Here.bob)
        for (details, fields) in [
            (EventDetails(.messageEdited, message), Self.onMessage), (.init(.replyEdited, reply), Self.onReply),
        ] {
            let event = ChatEvent(
                recordedAt: Timestamp(millisecondsSince1970: 0), details: details, edit: EditID(bits: Here.poll.bits),
                content: .body("Oat")
            )
            let before = #""\#(details.kind?.name ?? "")":{"body":"Oat",\#(fields)"#
            let parts = before.split(separator: #","message""#, maxSplits: 1).map(String.init)
            let edited = parts[0] + #","edit":"\#(Self.poll)","message""# + parts[1] + "}"
            let members = [#""position":1"#, #""recordedAt":"1970-01-01T00:00:00.000Z""#, edited].sorted()
            let text = "{\(members.joined(separator: ","))}"
            #expect(try json(RecordedEvent(position: 1, event: event)) == text)
            #expect(try value(RecordedEvent.self, fromJSON: text).event == event)
            #expect(throws: DecodingError.self) {
                try value(
                    RecordedEvent.self, fromJSON: text.replacing(#""edit":"\#(Self.poll)""#, with: #""edit":null"#))
            }
        }
    }

    @Test func envelopeHoldsOptionalFields() throws {
        let event = ChatEvent(
            recordedAt: Timestamp(millisecondsSince1970: 1),
            origin: .imported(sentAt: Timestamp(millisecondsSince1970: -1)),
            details: .init(.sessionEnded, .session(user: Here.ann, session: Here.phone)), correlation: "c/1")
        let fields = #""sessionEnded":{"session":"\#(Self.phone)","user":"\#(Self.user)"}"#
        #expect(
            try json(RecordedEvent(position: .max, event: event))
                == #"{"correlation":"c/1","imported":true,"position":18446744073709551615,"recordedAt":"1970-01-01T00:00:00.001Z","#
                + #""sentAt":"1969-12-31T23:59:59.999Z",\#(fields)}"#)
        var undated = event
        undated.origin = .imported(sentAt: nil)
        undated.correlation = nil
        #expect(
            try json(RecordedEvent(position: 1, event: undated))
                == #"{"imported":true,"position":1,"recordedAt":"1970-01-01T00:00:00.001Z",\#(fields)}"#)
    }

    /// An event that is shown to a user says why it came into their inbox.
    @Test(arguments: InboxReason.allCases) func envelopeNamesTheReasonOfTheInbox(reason: InboxReason) throws {
        let event = ChatEvent(
            recordedAt: Timestamp(millisecondsSince1970: 1),
            details: .init(.userInvited, .member(thread: Here.dogs, number: 2, user: Here.bob, by: Here.ann)))
        let recorded = RecordedEvent(position: 7, event: event, inbox: reason)
        let text = try json(recorded)
        #expect(text.hasPrefix(#"{"inbox":"\#(reason.rawValue)","position":7,"#))
        #expect(try value(RecordedEvent.self, fromJSON: text) == recorded)
        for wrong in [#""none""#, #""Reply""#, "1", "null"] {
            let malformed = text.replacing(#""\#(reason.rawValue)""#, with: wrong, maxReplacements: 1)
            #expect(throws: DecodingError.self, "\(wrong)") { try value(RecordedEvent.self, fromJSON: malformed) }
        }
    }

    @Test(arguments: golden) func erasedContentEncodesAsNull(
        details: EventDetails, content: EventContent, fields: String
    ) throws {
        // The order of an erasure is never erased.
        if case .erasure = content { return try expectNotErasable(details, content, fields) }
        let stub = try EventBytes(
            ChatEvent(recordedAt: Self.time(details).0, details: details, content: content, correlation: nil)
        ).stub()
        let text = try json(RecordedEvent(position: 12, event: stub))
        #expect(text.contains(#""erased":true"#) == stub.isErased)
        #expect(stub.isErased == (content != .none))
        #expect(try value(RecordedEvent.self, fromJSON: text).event == stub)
    }

    private func expectNotErasable(_ details: EventDetails, _ content: EventContent, _ fields: String) throws {
        let stub = try EventBytes(ChatEvent(recordedAt: Self.time(details).0, details: details, content: content))
            .stub()
        #expect(!stub.isErased && stub.content == content)
        let text = try json(RecordedEvent(position: 12, event: stub))
        #expect(throws: DecodingError.self) {
            try value(
                RecordedEvent.self, fromJSON: text.replacing("\"position\":12", with: "\"position\":12,\"erased\":true")
            )
        }
    }

    @Test(arguments: Seeds.seeds(50)) func eventsRoundTrip(seed: UInt64) throws {
        var generator = EventGenerator(seed: seed)
        var position: Position = 1
        for event in generator.oneOfEachKind() {
            for event in [event, try EventBytes(event).stub()] {
                let recorded = RecordedEvent(position: position, event: event)
                let read = try value(RecordedEvent.self, fromJSON: try json(recorded))
                #expect(read == recorded)
                if !event.isErased { #expect(EventBytes(read.event) == EventBytes(event)) }
                position = position &* 3 &+ 1
            }
        }
    }

    /// Every kind with its own field, null and listed, as a viewer reads it.
    @Test(arguments: golden) func redactedContentEncodesAsNull(
        details: EventDetails, content: EventContent, fields: String
    ) throws {
        let hidden: RedactedFields? =
            switch content {
            case .body: .body
            case .registration, .username: .username
            case .postcode: .postcode
            case .threadName: .name
            case .device: .device
            case .reason: .reason
            case .custom: .payload
            case .about: .about
            case .none, .erased, .omitted, .opaque, .erasure, .emoji: nil
            }
        guard let hidden else { return }
        for isFromBlockedUser in [false, true] {
            let recorded = RecordedEvent(
                position: 12,
                event: ChatEvent(recordedAt: Self.time(details).0, details: details, content: content.withoutText),
                redacted: hidden,
                isFromBlockedUser: isFromBlockedUser)
            let text = try json(recorded)
            let names = ["body", "username", "postcode", "name", "device", "reason", "payload", "about"]
            let name = try #require(names.first { text.contains("[\"\($0)\"]") })
            #expect(text.contains(#""redacted":["\#(name)"]"#) && text.contains(#""\#(name)":null"#))
            #expect(text.contains(#""blocked":true"#) == isFromBlockedUser)
            #expect(try value(RecordedEvent.self, fromJSON: text) == recorded)
            // A field that is listed is null, and one that is null is listed, except a null
            // payload.
            let listed = text.replacing(#","redacted":["\#(name)"]"#, with: "")
            if name != "payload" { #expect(JSONProblem.of(listed, as: RecordedEvent.self) != nil) }
            let shown = text.replacing(#""\#(name)":null"#, with: #""\#(name)":"SW1A 1AA""#)
            #expect(JSONProblem.of(shown, as: RecordedEvent.self)?.path.hasSuffix(name) == true)
        }
    }

    @Test func blockedIsTrueOrMissing() throws {
        let start = #"{"position":1,"recordedAt":"1970-01-01T00:00:00.000Z","lost":{}"#
        #expect(try value(RecordedEvent.self, fromJSON: start + "}").isFromBlockedUser == false)
        #expect(try value(RecordedEvent.self, fromJSON: start + #","blocked":true}"#).isFromBlockedUser)
        #expect(
            JSONProblem.of(start + #","blocked":false}"#, as: RecordedEvent.self) == JSONProblem(.corrupted, "blocked"))
        #expect(JSONProblem.of(start + #","blocked":1}"#, as: RecordedEvent.self) == JSONProblem(.wrongType, "blocked"))
    }

    @Test func foldKeyIsRecomputed() throws {
        let text =
            #"{"position":1,"recordedAt":"1970-01-01T00:00:00.000Z","usernameChanged":{"user":"\#(Self.user)","username":"STRAẞE"}}"#
        #expect(try value(RecordedEvent.self, fromJSON: text).event.username?.foldKey == "strasse")
    }

    @Test func uppercaseIDsAndOriginalTimeAreAccepted() throws {
        let text = #"""
            {"position":1,"recordedAt":"1970-01-01T00:00:00.000Z","sentAt":"2001-09-09T01:46:40Z",
             "sessionEnded":{"session":"\#(Self.phone.uppercased())","user":"\#(Self.user.uppercased())"}}
            """#
        let event = try value(RecordedEvent.self, fromJSON: text).event
        #expect(event.origin == .imported(sentAt: Timestamp(millisecondsSince1970: 1_000_000_000_000)))
        #expect(event.details == .init(.sessionEnded, .session(user: Here.ann, session: Here.phone)))
    }
}
