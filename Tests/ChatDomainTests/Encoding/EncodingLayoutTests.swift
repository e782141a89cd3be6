import ChatDomain
import Testing

/// The bytes of each event kind, transcribed by hand from the documentation.
struct EncodingLayoutTests {
    typealias Here = Neighbourhood

    private static let ann = "0A000000000000000000000000000001"
    private static let bob = "0B000000000000000000000000000002"
    private static let sw1a = "53573141 0000 8000 806F 757477617264"
    private static let dogs = "0D000000000000000000000000000001"
    private static let milk = "01000000000000000000000000000001"
    private static let yes = "02000000000000000000000000000001"
    private static let phone = "03000000000000000000000000000001"
    private static let poll = "04000000000000000000000000000001"

    static let message = EventShape.message(thread: Here.sw1a, number: 300, message: Here.milk, by: Here.ann)
    static let reply = EventShape.reply(
        thread: Here.sw1a, number: 127, message: Here.milk, reply: Here.yes, by: Here.bob)

    static let member = EventShape.member(thread: Here.dogs, number: 128, user: Here.bob, by: Here.ann)
    static let thread = EventShape.thread(Here.dogs, number: 4, user: Here.ann)
    static let messageReport = EventShape.messageReport(thread: Here.sw1a, message: Here.milk, by: Here.ann)
    static let replyReport = EventShape.replyReport(
        thread: Here.sw1a, message: Here.milk, reply: Here.yes, by: Here.ann)

    static func sanction(_ until: Int64?) -> EventShape {
        EventShape.sanction(
            thread: Here.dogs, number: 6, user: Here.bob, by: Here.ann,
            until: until.map { Timestamp(millisecondsSince1970: $0) })
    }

    static func notifications(_ level: NotificationLevel, _ until: Int64?) -> EventShape {
        EventShape.notifications(
            user: Here.ann, thread: Here.dogs, level: level, until: until.map { Timestamp(millisecondsSince1970: $0) })
    }

    static func role(_ role: ThreadRole) -> EventShape {
        EventShape.role(thread: Here.dogs, number: 5, user: Here.bob, role: role, by: Here.ann)
    }

    static func policy(_ policy: ThreadPolicy, _ history: ThreadHistory) -> EventShape {
        EventShape.policy(thread: Here.dogs, number: 2, policy: policy, history: history, by: Here.ann)
    }

    static let custom = EventShape.custom(thread: Here.dogs, number: 7, id: Here.poll, by: Here.ann)

    static func payload(_ kind: String, _ text: String) -> EventContent {
        CustomPayload(text).map { .custom(kind: kind, payload: .present($0)) } ?? .none
    }

    /// An event's details and content, the kept part after its header, and the erasable part.
    static let kinds: [(UInt8, EventDetails, EventContent, String, String)] = [
        (
            1, .init(.userRegistered, .user(Here.ann)),
            .registration(Username(text: "Ann", foldKey: "ann"), subject: "s-1"),
            ann, "03 416E6E 03 616E6E 03 732D31"
        ),
        (
            1, .init(.userRegistered, .user(Here.ann)),
            .registration(Username(text: "Ann", foldKey: "ann"), subject: nil),
            ann, "03 416E6E 03 616E6E 00"
        ),
        (
            2, .init(.usernameChanged, .user(Here.ann)), .username(Username(text: "Straße", foldKey: "strasse")),
            ann, "07 53747261C39F65 07 73747261737365"
        ),
        (
            3, .init(.postcodeSet, .postcode(user: Here.ann, thread: Here.sw1a)),
            Postcode("SW1A 1AA").map(EventContent.postcode) ?? .none,
            ann + sw1a, "00 41 41 31 41 31 57 53"
        ),
        (
            3, .init(.postcodeSet, .postcode(user: Here.ann, thread: Here.sw1a)),
            Postcode("M1 1AE").map(EventContent.postcode) ?? .none,
            ann + sw1a, "00 45 41 31 00 00 31 4D"
        ),
        (4, .init(.threadOpened, .thread(Here.sw1a, number: 1, user: Here.ann)), .none, sw1a + ann + "01", ""),
        (
            4, .init(.threadOpened, .thread(Here.dogs, number: 1, user: Here.ann)), .threadName("Dogs"),
            dogs + ann + "01", "446F6773"
        ),
        (5, .init(.threadJoined, .thread(Here.sw1a, number: 2, user: Here.ann)), .none, sw1a + ann + "02", ""),
        (6, .init(.threadLeft, .thread(Here.sw1a, number: 128, user: Here.ann)), .none, sw1a + ann + "80 01", ""),
        (
            7, .init(.messagePosted, .message(thread: Here.sw1a, number: 16_384, message: Here.milk, by: Here.ann)),
            .body("Milk?\0"),
            sw1a + milk + ann + "80 80 01", "4D696C6B3F00"
        ),
        (
            8,
            .init(
                .replyPosted, .reply(thread: Here.sw1a, number: 5, message: Here.milk, reply: Here.yes, by: Here.bob)),
            .body("Ja 🥛"), sw1a + milk + yes + bob + "05", "4A6120 F09FA59B"
        ),
        (9, .init(.messageEdited, message), .body("Oat"), sw1a + milk + ann + "AC 02", "4F6174"),
        (10, .init(.replyEdited, reply), .body("No"), sw1a + milk + yes + bob + "7F", "4E6F"),
        (11, .init(.messageRetracted, message), .none, sw1a + milk + ann + "AC 02", ""),
        (12, .init(.replyRetracted, reply), .none, sw1a + milk + yes + bob + "7F", ""),
        (
            13, .init(.threadRead, .marker(user: Here.ann, thread: Here.sw1a, upTo: .max)), .none,
            ann + sw1a + "FFFFFFFFFFFFFFFFFF 01", ""
        ),
        (
            14, .init(.sessionStarted, .session(user: Here.ann, session: Here.phone)), .device("iPhone"), ann + phone,
            "6950686F6E65"
        ),
        (15, .init(.sessionEnded, .session(user: Here.ann, session: Here.phone)), .none, ann + phone, ""),
        (16, .init(.lost), .none, "", ""),
        (17, .init(.threadPolicySet, policy(.inviteOnly, .sinceJoining)), .none, dogs + ann + "02 01 01", ""),
        (17, .init(.threadPolicySet, policy(.open, .sinceJoining)), .none, dogs + ann + "02 00 01", ""),
        (17, .init(.threadPolicySet, policy(.residents, .all)), .none, dogs + ann + "02 02 00", ""),
        (18, .init(.userInvited, member), .none, dogs + bob + ann + "80 01", ""),
        (
            19, .init(.invitationDeclined, .thread(Here.dogs, number: 128, user: Here.bob)), .none,
            dogs + bob + "80 01", ""
        ),
        (20, .init(.invitationRevoked, member), .none, dogs + bob + ann + "80 01", ""),
        (21, .init(.roleSet, role(.member)), .none, dogs + bob + ann + "05 01", ""),
        (21, .init(.roleSet, role(.moderator)), .none, dogs + bob + ann + "05 02", ""),
        (21, .init(.roleSet, role(.owner)), .none, dogs + bob + ann + "05 03", ""),
        (22, .init(.operatorGranted, .user(Here.bob)), .none, bob, ""),
        (23, .init(.operatorRevoked, .user(Here.bob)), .none, bob, ""),
        (24, .init(.messageRemoved, message), .reason("spam"), sw1a + milk + ann + "AC 02", "7370616D"),
        (25, .init(.replyRemoved, reply), .reason("Ja 🥛"), sw1a + milk + yes + bob + "7F", "4A6120 F09FA59B"),
        (
            26, .init(.userMuted, sanction(1_795_237_392_124)), .reason("spam"),
            dogs + bob + ann + "06 FC DD F2 E3 9F 34", "7370616D"
        ),
        (26, .init(.userMuted, sanction(nil)), .reason("spam"), dogs + bob + ann + "06 00", "7370616D"),
        (27, .init(.userUnmuted, member), .none, dogs + bob + ann + "80 01", ""),
        (
            28, .init(.userBanned, sanction(1 << 48 - 1)), .reason("spam"),
            dogs + bob + ann + "06 FF FF FF FF FF FF 3F", "7370616D"
        ),
        (28, .init(.userBanned, sanction(nil)), .reason("spam"), dogs + bob + ann + "06 00", "7370616D"),
        (29, .init(.userUnbanned, member), .none, dogs + bob + ann + "80 01", ""),
        (30, .init(.memberRemoved, member), .reason("spam"), dogs + bob + ann + "80 01", "7370616D"),
        (31, .init(.messagePinned, message), .none, sw1a + milk + ann + "AC 02", ""),
        (32, .init(.messageUnpinned, message), .none, sw1a + milk + ann + "AC 02", ""),
        (33, .init(.threadLocked, thread), .none, dogs + ann + "04", ""),
        (34, .init(.threadUnlocked, thread), .none, dogs + ann + "04", ""),
        (35, .init(.threadClosed, thread), .none, dogs + ann + "04", ""),
        (36, .init(.messageReported, messageReport), .reason("spam"), sw1a + milk + ann, "7370616D"),
        (37, .init(.replyReported, replyReport), .reason("spam"), sw1a + milk + yes + ann, "7370616D"),
        (38, .init(.messageReportsResolved, messageReport), .none, sw1a + milk + ann, ""),
        (39, .init(.replyReportsResolved, replyReport), .none, sw1a + milk + yes + ann, ""),
        (40, .init(.userBlocked, .block(user: Here.bob, by: Here.ann)), .none, ann + bob, ""),
        (41, .init(.userUnblocked, .block(user: Here.bob, by: Here.ann)), .none, ann + bob, ""),
        (
            42, .init(.custom, custom), payload("com.example.poll", "{\"b\":1.50,\"a\":null}"),
            dogs + poll + ann + "07 10 636F6D2E6578616D706C652E706F6C6C", "7B2262223A312E35302C2261223A6E756C6C7D"
        ),
        (42, .init(.custom, custom), payload("", "null"), dogs + poll + ann + "07 00", "6E756C6C"),
        (43, .init(.userErased, .user(Here.ann)), .erasure(reason: "spam", positions: nil), ann + "04 7370616D", ""),
        (
            44, .init(.contentErased), .erasure(reason: "spam", positions: PositionSet([3...3, 10...200, 202...202])),
            "04 7370616D 03 02 00 06 BE01 01 00", ""
        ),
        (45, .init(.clockCorrected), .none, "", ""),
        (54, .init(.historyRepaired, .repair(from: 300)), .none, "AC 02", ""),
        (46, .init(.reactionAdded, message), .emoji(Emoji(recorded: "👍")), sw1a + milk + ann + "AC 02", "F09F918D"),
        (47, .init(.reactionRemoved, message), .emoji(Emoji(recorded: ":x:")), sw1a + milk + ann + "AC 02", "3A783A"),
        (
            48, .init(.threadMarkedUnread, .marker(user: Here.ann, thread: Here.sw1a, upTo: 300)), .none,
            ann + sw1a + "AC 02", ""
        ),
        (
            48, .init(.threadMarkedUnread, .marker(user: Here.ann, thread: Here.sw1a, upTo: 0)), .none,
            ann + sw1a + "00", ""
        ),
        (49, .init(.notificationsSet, notifications(.all, nil)), .none, ann + dogs + "00 00", ""),
        (49, .init(.notificationsSet, notifications(.mentions, nil)), .none, ann + dogs + "01 00", ""),
        (
            49, .init(.notificationsSet, notifications(.none, 1_795_237_392_124)), .none,
            ann + dogs + "02 FC DD F2 E3 9F 34", ""
        ),
        (50, .init(.inboxRead, .inbox(user: Here.ann, upTo: 300)), .none, ann + "AC 02", ""),
        (51, .init(.threadRenamed, thread), .threadName("Cats"), dogs + ann + "04", "43 61 74 73"),
        (52, .init(.profileSet, .user(Here.ann)), .about("Bees"), ann, "42656573"),
        (52, .init(.profileSet, .user(Here.ann)), .about(""), ann, ""),
        (53, .init(.directOpened, thread), .none, dogs + ann + "04", ""),
    ]

    /// 2026-11-21T05:03:12.123Z in six bytes.
    static let time = Timestamp(millisecondsSince1970: 1_795_237_392_123)
    static let timeBytes = "FB AE 7C FC A1 01"

    @Test func examplesCoverEveryKind() {
        #expect(Set(Self.kinds.map(\.0)) == Set(EventKind.allCases.map(\.rawValue)))
    }

    @Test(arguments: kinds) func bytesMatchDocumentation(
        kind: UInt8, details: EventDetails, content: EventContent, kept: String, erasable: String
    )
        throws
    {
        let event = ChatEvent(recordedAt: Self.time, details: details, content: content)
        let expected = EventBytes(kept: [kind, 0] + bytes(Self.timeBytes) + bytes(kept), erasable: bytes(erasable))
        #expect(EventBytes(event) == expected)
        #expect(try expected.event() == event)
    }

    @Test(arguments: kinds) func correlationPrecedesContent(
        kind: UInt8, details: EventDetails, content: EventContent, kept: String, erasable: String
    ) throws {
        let event = ChatEvent(recordedAt: Self.time, details: details, content: content, correlation: "c-1")
        let expected = EventBytes(
            kept: [kind, 4] + bytes(Self.timeBytes) + bytes(kept), erasable: bytes("03 632D31") + bytes(erasable))
        #expect(EventBytes(event) == expected)
        #expect(try expected.event() == event)
    }

    @Test(
        arguments: [
            (EventOrigin.imported(sentAt: nil), 1, ""),
            (.imported(sentAt: Timestamp(millisecondsSince1970: 1_000_000_000_000)), 3, "00 10 A5 D4 E8 00 00 00"),
            (.imported(sentAt: Timestamp(millisecondsSince1970: -1)), 3, "FF FF FF FF FF FF FF FF"),
        ] as [(EventOrigin, UInt8, String)])
    func originalTimeIsInHeader(origin: EventOrigin, flags: UInt8, sentAt: String) throws {
        let event = ChatEvent(
            recordedAt: Self.time, origin: origin,
            details: .init(.sessionEnded, .session(user: Here.ann, session: Here.phone)))
        let expected = EventBytes(
            kept: [15, flags] + bytes(Self.timeBytes) + bytes(sentAt) + bytes(Self.ann + Self.phone))
        #expect(EventBytes(event) == expected)
        #expect(try expected.event() == event)
    }

    /// Also with other flags, and before a field of a later version; a cut id is an error.
    @Test(
        arguments: [
            (9, .init(.messageEdited, message), sw1a + milk + ann + "AC 02"),
            (10, .init(.replyEdited, reply), sw1a + milk + yes + bob + "7F"),
        ] as [(UInt8, EventDetails, String)])
    func editEndsWithItsID(kind: UInt8, details: EventDetails, kept: String) throws {
        for edit in [EditID(bits: 0), EditID(bits: Here.poll.bits)] {
            var event = ChatEvent(recordedAt: Self.time, details: details, edit: edit, content: .body("Oat"))
            let id = edit.bits == 0 ? String(repeating: "00", count: 16) : Self.poll
            let fields = bytes(Self.timeBytes) + bytes(kept) + bytes(id)
            #expect(EventBytes(event) == EventBytes(kept: [kind, 16] + fields, erasable: bytes("4F6174")))
            #expect(try EventBytes(event).event() == event)
            #expect(try EventBytes(kept: [kind, 16] + fields + [1, 2], erasable: bytes("4F6174")).event() == event)
            let cut = EventBytes(kept: [kind, 16] + fields.dropLast(), erasable: bytes("4F6174"))
            #expect(throws: EventDecodingError.self) { try cut.event() }
            (event.correlation, event.origin) = ("c-1", .imported(sentAt: nil))
            #expect(event.edit == edit && EventBytes(event).kept == [kind, 21] + fields)
            event.details = EventDetails(.messageRetracted, Self.message)
            #expect(event.edit == nil)
        }
    }

    /// A flag says whether the event is about a message or about a reply; it stays with other
    /// changes.
    @Test(arguments: [(46, .reactionAdded), (47, .reactionRemoved)] as [(UInt8, EventKind)])
    func flagNamesReply(byte: UInt8, kind: EventKind) throws {
        let emoji = EventContent.emoji(Emoji(recorded: "👍"))
        var event = ChatEvent(recordedAt: Self.time, details: EventDetails(kind, Self.reply), content: emoji)
        let fields = bytes(Self.timeBytes) + bytes(Self.sw1a + Self.milk + Self.yes + Self.bob + "7F")
        #expect(EventBytes(event) == EventBytes(kept: [byte, 32] + fields, erasable: bytes("F09F918D")))
        #expect(try EventBytes(event).event() == event)
        #expect(event.reply == Here.yes && event.message == Here.milk && event.threadNumber == 127)
        (event.correlation, event.origin) = ("c-1", .imported(sentAt: nil))
        #expect(event.shape == Self.reply && EventBytes(event).kept == [byte, 37] + fields)
        event.details = EventDetails(kind, Self.message)
        #expect(event.reply == nil && EventBytes(event).kept.prefix(2) == [byte, 5])
        #expect(throws: EventDecodingError.self) {
            try EventBytes(kept: [byte, 32] + fields.dropLast(), erasable: []).event()
        }
    }

    @Test func originalTimeMarksImport() throws {
        let header = bytes("0F 02" + Self.timeBytes + "00 10 A5 D4 E8 00 00 00")
        let event = try EventBytes(kept: header + bytes(Self.ann + Self.phone)).event()
        #expect(event.origin == .imported(sentAt: Timestamp(millisecondsSince1970: 1_000_000_000_000)))
    }

    @Test(arguments: [0x10, 0x20, 0x40, 0x80] as [UInt8]) func reservedFlagsAreIgnored(flag: UInt8) throws {
        let event = ChatEvent(
            recordedAt: Self.time, details: .init(.sessionEnded, .session(user: Here.ann, session: Here.phone)))
        var later = EventBytes(event)
        later.kept[1] |= flag
        #expect(try later.event() == event)
    }

    @Test func kindsRoundTripByName() {
        for kind in EventKind.allCases { #expect(EventKind(name: kind.name) == kind) }
        #expect(EventKind.messagePosted.name == "messagePosted")
        #expect(EventKind(name: "MessagePosted") == nil)
        #expect(EventKind(name: "unknown") == nil)
    }

    @Test func errorDescriptionIsReadable() {
        #expect(EventBytes(kept: [1, 0, 0]).problem?.description == "tooShort at byte 2 of the kept part")
    }
}
