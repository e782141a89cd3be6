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

    static let message = MessageChanged(thread: Here.sw1a, number: 300, message: Here.milk, by: Here.ann)
    static let reply = ReplyChanged(thread: Here.sw1a, number: 127, message: Here.milk, reply: Here.yes, by: Here.bob)

    static let member = MemberChanged(thread: Here.dogs, number: 128, user: Here.bob, by: Here.ann)
    static let thread = ThreadChanged(thread: Here.dogs, number: 4, by: Here.ann)
    static let messageReport = MessageReport(thread: Here.sw1a, message: Here.milk, by: Here.ann)
    static let replyReport = ReplyReport(thread: Here.sw1a, message: Here.milk, reply: Here.yes, by: Here.ann)

    static func sanction(_ until: Int64?) -> Sanction {
        Sanction(
            thread: Here.dogs, number: 6, user: Here.bob, by: Here.ann, until: until.map { Timestamp(millisecondsSince1970: $0) })
    }

    static func role(_ role: ThreadRole) -> RoleSet {
        RoleSet(thread: Here.dogs, number: 5, user: Here.bob, role: role, by: Here.ann)
    }

    static func policy(_ policy: ThreadPolicy, _ history: ThreadHistory) -> ThreadPolicySet {
        ThreadPolicySet(thread: Here.dogs, number: 2, policy: policy, history: history, by: Here.ann)
    }

    static let custom = CustomEvent(thread: Here.dogs, number: 7, id: Here.poll, by: Here.ann)

    static func payload(_ kind: String, _ text: String) -> EventContent {
        CustomPayload(text).map { .custom(kind: kind, payload: .present($0)) } ?? .none
    }

    /// An event's details and content, the kept part after its header, and the erasable part.
    static let kinds: [(UInt8, EventDetails, EventContent, String, String)] = [
        (
            1, .userRegistered(UserRegistered(user: Here.ann)), .registration(Username(text: "Ann", foldKey: "ann"), subject: "s-1"),
            ann, "03 416E6E 03 616E6E 03 732D31"
        ),
        (
            1, .userRegistered(UserRegistered(user: Here.ann)), .registration(Username(text: "Ann", foldKey: "ann"), subject: nil),
            ann, "03 416E6E 03 616E6E 00"
        ),
        (
            2, .usernameChanged(UsernameChanged(user: Here.ann)), .username(Username(text: "Straße", foldKey: "strasse")),
            ann, "07 53747261C39F65 07 73747261737365"
        ),
        (
            3, .postcodeSet(PostcodeSet(user: Here.ann, thread: Here.sw1a)), Postcode("SW1A 1AA").map(EventContent.postcode) ?? .none,
            ann + sw1a, "00 41 41 31 41 31 57 53"
        ),
        (
            3, .postcodeSet(PostcodeSet(user: Here.ann, thread: Here.sw1a)), Postcode("M1 1AE").map(EventContent.postcode) ?? .none,
            ann + sw1a, "00 45 41 31 00 00 31 4D"
        ),
        (4, .threadOpened(ThreadOpened(thread: Here.sw1a, number: 1, by: Here.ann)), .none, sw1a + ann + "01", ""),
        (
            4, .threadOpened(ThreadOpened(thread: Here.dogs, number: 1, by: Here.ann)), .threadName("Dogs"),
            dogs + ann + "01", "446F6773"
        ),
        (5, .threadJoined(ThreadJoined(thread: Here.sw1a, number: 2, user: Here.ann)), .none, sw1a + ann + "02", ""),
        (6, .threadLeft(ThreadLeft(thread: Here.sw1a, number: 128, user: Here.ann)), .none, sw1a + ann + "80 01", ""),
        (
            7, .messagePosted(MessagePosted(thread: Here.sw1a, number: 16_384, message: Here.milk, author: Here.ann)), .body("Milk?\0"),
            sw1a + milk + ann + "80 80 01", "4D696C6B3F00"
        ),
        (
            8, .replyPosted(ReplyPosted(thread: Here.sw1a, number: 5, message: Here.milk, reply: Here.yes, author: Here.bob)),
            .body("Ja 🥛"), sw1a + milk + yes + bob + "05", "4A6120 F09FA59B"
        ),
        (9, .messageEdited(message), .body("Oat"), sw1a + milk + ann + "AC 02", "4F6174"),
        (10, .replyEdited(reply), .body("No"), sw1a + milk + yes + bob + "7F", "4E6F"),
        (11, .messageRetracted(message), .none, sw1a + milk + ann + "AC 02", ""),
        (12, .replyRetracted(reply), .none, sw1a + milk + yes + bob + "7F", ""),
        (
            13, .threadRead(ThreadRead(user: Here.ann, thread: Here.sw1a, upTo: .max)), .none,
            ann + sw1a + "FFFFFFFFFFFFFFFFFF 01", ""
        ),
        (14, .sessionStarted(SessionStarted(user: Here.ann, session: Here.phone)), .device("iPhone"), ann + phone, "6950686F6E65"),
        (15, .sessionEnded(SessionEnded(user: Here.ann, session: Here.phone)), .none, ann + phone, ""),
        (16, .lost, .none, "", ""),
        (17, .threadPolicySet(policy(.inviteOnly, .sinceJoining)), .none, dogs + ann + "02 01 01", ""),
        (17, .threadPolicySet(policy(.open, .sinceJoining)), .none, dogs + ann + "02 00 01", ""),
        (17, .threadPolicySet(policy(.residents, .all)), .none, dogs + ann + "02 02 00", ""),
        (18, .userInvited(member), .none, dogs + bob + ann + "80 01", ""),
        (
            19, .invitationDeclined(InvitationDeclined(thread: Here.dogs, number: 128, user: Here.bob)), .none, dogs + bob + "80 01", ""
        ),
        (20, .invitationRevoked(member), .none, dogs + bob + ann + "80 01", ""),
        (21, .roleSet(role(.member)), .none, dogs + bob + ann + "05 01", ""),
        (21, .roleSet(role(.moderator)), .none, dogs + bob + ann + "05 02", ""),
        (21, .roleSet(role(.owner)), .none, dogs + bob + ann + "05 03", ""),
        (22, .operatorGranted(OperatorChanged(user: Here.bob)), .none, bob, ""),
        (23, .operatorRevoked(OperatorChanged(user: Here.bob)), .none, bob, ""),
        (24, .messageRemoved(message), .reason("spam"), sw1a + milk + ann + "AC 02", "7370616D"),
        (25, .replyRemoved(reply), .reason("Ja 🥛"), sw1a + milk + yes + bob + "7F", "4A6120 F09FA59B"),
        (26, .userMuted(sanction(1_795_237_392_124)), .reason("spam"), dogs + bob + ann + "06 FC DD F2 E3 9F 34", "7370616D"),
        (26, .userMuted(sanction(nil)), .reason("spam"), dogs + bob + ann + "06 00", "7370616D"),
        (27, .userUnmuted(member), .none, dogs + bob + ann + "80 01", ""),
        (28, .userBanned(sanction(1 << 48 - 1)), .reason("spam"), dogs + bob + ann + "06 FF FF FF FF FF FF 3F", "7370616D"),
        (28, .userBanned(sanction(nil)), .reason("spam"), dogs + bob + ann + "06 00", "7370616D"),
        (29, .userUnbanned(member), .none, dogs + bob + ann + "80 01", ""),
        (30, .memberRemoved(member), .reason("spam"), dogs + bob + ann + "80 01", "7370616D"),
        (31, .messagePinned(message), .none, sw1a + milk + ann + "AC 02", ""),
        (32, .messageUnpinned(message), .none, sw1a + milk + ann + "AC 02", ""),
        (33, .threadLocked(thread), .none, dogs + ann + "04", ""),
        (34, .threadUnlocked(thread), .none, dogs + ann + "04", ""),
        (35, .threadClosed(thread), .none, dogs + ann + "04", ""),
        (36, .messageReported(messageReport), .reason("spam"), sw1a + milk + ann, "7370616D"),
        (37, .replyReported(replyReport), .reason("spam"), sw1a + milk + yes + ann, "7370616D"),
        (38, .messageReportsResolved(messageReport), .none, sw1a + milk + ann, ""),
        (39, .replyReportsResolved(replyReport), .none, sw1a + milk + yes + ann, ""),
        (40, .userBlocked(UserBlock(user: Here.bob, by: Here.ann)), .none, ann + bob, ""),
        (41, .userUnblocked(UserBlock(user: Here.bob, by: Here.ann)), .none, ann + bob, ""),
        (
            42, .custom(custom), payload("com.example.poll", "{\"b\":1.50,\"a\":null}"),
            dogs + poll + ann + "07 10 636F6D2E6578616D706C652E706F6C6C", "7B2262223A312E35302C2261223A6E756C6C7D"
        ),
        (42, .custom(custom), payload("", "null"), dogs + poll + ann + "07 00", "6E756C6C"),
        (43, .userErased(UserErased(user: Here.ann)), .erasure(reason: "spam", positions: nil), ann + "04 7370616D", ""),
        (
            44, .contentErased, .erasure(reason: "spam", positions: PositionSet([3...3, 10...200, 202...202])),
            "04 7370616D 03 02 00 06 BE01 01 00", ""
        ),
        (45, .clockCorrected, .none, "", ""),
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
            recordedAt: Self.time, origin: origin, details: .sessionEnded(SessionEnded(user: Here.ann, session: Here.phone)))
        let expected = EventBytes(kept: [15, flags] + bytes(Self.timeBytes) + bytes(sentAt) + bytes(Self.ann + Self.phone))
        #expect(EventBytes(event) == expected)
        #expect(try expected.event() == event)
    }

    @Test func originalTimeMarksImport() throws {
        let header = bytes("0F 02" + Self.timeBytes + "00 10 A5 D4 E8 00 00 00")
        let event = try EventBytes(kept: header + bytes(Self.ann + Self.phone)).event()
        #expect(event.origin == .imported(sentAt: Timestamp(millisecondsSince1970: 1_000_000_000_000)))
    }

    @Test(arguments: [0x10, 0x20, 0x40, 0x80] as [UInt8]) func reservedFlagsAreIgnored(flag: UInt8) throws {
        let event = ChatEvent(recordedAt: Self.time, details: .sessionEnded(SessionEnded(user: Here.ann, session: Here.phone)))
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
