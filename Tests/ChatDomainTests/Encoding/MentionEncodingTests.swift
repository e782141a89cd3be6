import ChatDomain
import Foundation
import Testing

/// The list of mentioned users at the end of the kept part, transcribed by hand from the
/// documentation.
struct MentionEncodingTests {
    typealias Here = Neighbourhood

    private static let ann = "0A000000000000000000000000000001"
    private static let bob = "0B000000000000000000000000000002"
    private static let dogs = "0D000000000000000000000000000001"
    private static let milk = "01000000000000000000000000000001"
    private static let yes = "02000000000000000000000000000001"
    private static let poll = "04000000000000000000000000000001"
    private static let time = Timestamp(millisecondsSince1970: 1_795_237_392_123)
    private static let timeBytes = "FB AE 7C FC A1 01"

    static let message = EventShape.message(thread: Here.dogs, number: 300, message: Here.milk, by: Here.ann)
    static let reply = EventShape.reply(
        thread: Here.dogs, number: 127, message: Here.milk, reply: Here.yes, by: Here.bob)
    static let editID = EditID(bits: Here.poll.bits)

    /// The kind, its details and its edit, and the flag and the bytes of the kept part before the
    /// list.
    static let kinds: [(EventKind, EventShape, EditID?, UInt8, String)] = [
        (.messagePosted, message, nil, 0, dogs + milk + ann + "AC 02"),
        (.replyPosted, reply, nil, 0, dogs + milk + yes + bob + "7F"),
        (.messageEdited, message, editID, 16, dogs + milk + ann + "AC 02" + poll),
        (.messageEdited, message, nil, 0, dogs + milk + ann + "AC 02"),
        (.replyEdited, reply, editID, 16, dogs + milk + yes + bob + "7F" + poll),
    ]

    private static func event(_ kind: EventKind, _ shape: EventShape, _ edit: EditID?, _ mentions: [UserID])
        -> ChatEvent
    {
        ChatEvent(recordedAt: time, details: .init(kind, shape), edit: edit, content: .body("Oat"), mentions: mentions)
    }

    private static func kept(_ kind: EventKind, _ flags: UInt8, _ fields: String, _ list: String) -> EventBytes {
        EventBytes(kept: [kind.rawValue, flags] + bytes(timeBytes + fields + list), erasable: bytes("4F6174"))
    }

    @Test(arguments: kinds) func listIsLast(
        kind: EventKind, shape: EventShape, edit: EditID?, flag: UInt8, fields: String
    ) throws {
        #expect(EventBytes(Self.event(kind, shape, edit, [])) == Self.kept(kind, flag, fields, ""))
        let one = Self.event(kind, shape, edit, [Here.bob])
        #expect(EventBytes(one) == Self.kept(kind, flag | 64, fields, "01" + Self.bob))
        let two = Self.event(kind, shape, edit, [Here.bob, Here.ann])
        let encoded = Self.kept(kind, flag | 64, fields, "02" + Self.bob + Self.ann)
        #expect(EventBytes(two) == encoded)
        for bytes in [encoded, EventBytes(kept: encoded.kept + [1, 2, 3], erasable: encoded.erasable)] {
            #expect(try bytes.event() == two)
            #expect(try bytes.event(.indexed).mentions == [Here.bob, Here.ann])
            #expect(try bytes.text().mentions == [Here.bob, Here.ann] && bytes.text().body == "Oat")
        }
        // A reader of before skips the list with its flag.
        #expect(try Self.kept(kind, flag, fields, "02" + Self.bob + Self.ann).event().mentions == [])
    }

    /// The list is kept: the stub of an erased event has it.
    @Test(arguments: kinds) func listStaysWithoutContent(
        kind: EventKind, shape: EventShape, edit: EditID?, flag: UInt8, fields: String
    ) throws {
        let encoded = Self.kept(kind, flag | 64, fields, "01" + Self.bob)
        let stub = try encoded.stub()
        #expect(stub.isErased && stub.body == nil && stub.mentions == [Here.bob])
        #expect(stub == Self.event(kind, shape, edit, [Here.bob]).withoutContent)
        #expect(try encoded.text(isStub: true).mentions == [Here.bob])
        var encoder = EventEncoder()
        encoder.encodeStub(stub)
        #expect(encoder.kept == encoded.kept)
    }

    @Test func flagIsIgnoredByOtherKinds() throws {
        let event = ChatEvent(recordedAt: Self.time, details: .init(.messageRetracted, Self.message))
        var later = EventBytes(event)
        later.kept[1] |= 64
        later.kept += [1] + bytes(Self.bob)
        #expect(try later.event() == event)
    }

    /// The bytes of a list that a part has, and the error of its decoding.
    ///
    /// 2^60, 2^63 and 2^64 - 1 are numbers of users.
    static let broken: [(String, EventDecodingError.Problem)] = [
        ("", .tooShort), ("00", .invalidNumber), ("01", .tooShort), ("80", .tooShort), ("80 00", .malformedNumber),
        ("80 80 80 80 80 80 80 80 10 \(bob)", .tooShort), ("80 80 80 80 80 80 80 80 80 01 \(bob)", .tooShort),
        ("FF FF FF FF FF FF FF FF FF 01 \(bob)", .tooShort), ("02 \(bob)", .tooShort),
        ("02 \(bob) 0A0000000000000000000000000000", .tooShort),
    ]

    @Test(arguments: broken)
    func listsThatDoNotFitAreErrors(list: String, problem: EventDecodingError.Problem) {
        for (kind, _, _, flag, fields) in Self.kinds {
            let broken = Self.kept(kind, flag | 64, fields, list)
            #expect(broken.problem?.problem == problem && broken.problem?.part == .kept)
            #expect(throws: EventDecodingError.self) { try broken.stub() }
            #expect(throws: EventDecodingError.self) { try broken.text() }
            #expect(throws: EventDecodingError.self) { try broken.row() }
        }
    }

    /// What only the rules forbid is read as it is: a later version may allow more users.
    @Test func longListsAndRepeatedUsersDecode() throws {
        let many = (0..<1_000).map { UserID(bits: UInt128($0 / 2)) }
        let event = Self.event(.messagePosted, Self.message, nil, many)
        #expect(try EventBytes(event).event() == event)
    }

    @Test func changesOfAnEventKeepItsFlag() {
        var event = Self.event(.messageEdited, Self.message, Self.editID, [Here.bob])
        (event.correlation, event.origin) = ("c-1", .imported(sentAt: nil))
        #expect(EventBytes(event).kept[1] == 1 | 4 | 16 | 64 && event.mentions == [Here.bob])
        event.mentions = []
        #expect(EventBytes(event).kept[1] == 1 | 4 | 16)
        event.mentions = [Here.ann]
        event.details = EventDetails(.messageRetracted, Self.message)
        #expect(event.mentions == [] && EventBytes(event).kept[1] == 1 | 4)
    }

    // MARK: JSON

    private static let annText = "0a000000-0000-0000-0000-000000000001"
    private static let bobText = "0b000000-0000-0000-0000-000000000002"

    @Test(arguments: kinds) func jsonHasMentionsIfThereAreSome(
        kind: EventKind, shape: EventShape, edit: EditID?, flag: UInt8, fields: String
    ) throws {
        let list = #""mentions":["\#(Self.bobText)","\#(Self.annText)"]"#
        let with = RecordedEvent(position: 3, event: Self.event(kind, shape, edit, [Here.bob, Here.ann]))
        let text = try json(with)
        #expect(text.contains(list))
        #expect(try value(RecordedEvent.self, fromJSON: text) == with)
        let without = RecordedEvent(position: 3, event: Self.event(kind, shape, edit, []))
        #expect(try !json(without).contains("mentions"))
        #expect(try value(RecordedEvent.self, fromJSON: json(without)) == without)
        // They stay with an erased text.
        let erased = RecordedEvent(position: 3, event: with.event.withoutContent)
        #expect(try json(erased).contains(list) && json(erased).contains(#""body":null"#))
        #expect(try value(RecordedEvent.self, fromJSON: json(erased)) == erased)
        for wrong in [
            #""mentions":[]"#, #""mentions":null"#, #""mentions":["x"]"#, #""mentions":"\#(Self.bobText)""#,
            #""mentions":[null]"#,
        ] {
            #expect(throws: DecodingError.self) {
                try value(RecordedEvent.self, fromJSON: text.replacing(list, with: wrong))
            }
        }
        // A hidden text hides its mentions.
        let hidden = text.replacing(#""body":"Oat""#, with: #""body":null"#).replacing(
            #""position":3"#, with: #""position":3,"redacted":["body"]"#)
        #expect(throws: DecodingError.self) { try value(RecordedEvent.self, fromJSON: hidden) }
        #expect(try value(RecordedEvent.self, fromJSON: hidden.replacing("," + list, with: "")).event.mentions == [])
    }

    @Test func otherKindsHaveNoMentions() throws {
        let event = RecordedEvent(
            position: 3, event: ChatEvent(recordedAt: Self.time, details: .init(.messageRetracted, Self.message)))
        let text = try json(event).replacing(#""number":300"#, with: #""mentions":["\#(Self.bobText)"],"number":300"#)
        #expect(throws: DecodingError.self) { try value(RecordedEvent.self, fromJSON: text) }
    }

    /// The list of a command can be left out, empty or null.
    @Test(arguments: ["", #","mentions":[]"#, #","mentions":null"#]) func commandWithoutMentions(field: String) throws {
        let text =
            #"{"reply":{"author":"\#(Self.annText)","body":"x","message":"01000000-0000-0000-0000-000000000001"\#(field)}}"#
        let command = ChatCommand.reply(to: Here.milk, body: "x", by: Here.ann)
        #expect(try value(ChatCommand.self, fromJSON: text) == command)
        #expect(try !json(command).contains("mentions"))
    }

    @Test(arguments: [#"{}"#, #""x""#, #"["x"]"#, #"[1]"#, #"[null]"#, #"[[]]"#, #""\#(annText)""#])
    func otherListsAreErrors(list: String) {
        let text =
            #"{"reply":{"author":"\#(Self.annText)","body":"x","message":"\#(Self.bobText)","mentions":\#(list)}}"#
        #expect(throws: DecodingError.self) { try value(ChatCommand.self, fromJSON: text) }
    }
}
