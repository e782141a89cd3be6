import ChatDomain
import ChatTesting
import Testing

/// The exact JSON of exported events, and its decoding.
@Suite struct ExportedEventTests {
    typealias Here = Neighbourhood

    private static let user = "0a000000-0000-0000-0000-000000000001"
    private static let start = #"{"position":7,"recordedAt":"1970-01-01T00:00:00.000Z","#

    private static func event(_ details: EventDetails, _ content: EventContent) -> RecordedEvent {
        RecordedEvent(
            position: 7,
            event: ChatEvent(recordedAt: Timestamp(millisecondsSince1970: 0), details: details, content: content))
    }

    @Test func foldKeyAndEndOfCommitAreAdded() throws {
        let registered = Self.event(
            .init(.userRegistered, .user(Here.ann)),
            .registration(Username(text: "Ann", foldKey: "another version's"), subject: "s"))
        let exported = ExportedEvent(registered, commitEnd: 9)
        #expect(
            try json(exported)
                == #"{"commitEnd":9,"position":7,"recordedAt":"1970-01-01T00:00:00.000Z","userRegistered":{"foldKey":"another version's","subject":"s","user":"\#(Self.user)","username":"Ann"}}"#
        )
        #expect(try !json(registered).contains("foldKey"))
        let changed = Self.event(
            .init(.usernameChanged, .user(Here.ann)), .username(Username(text: "Straße", foldKey: "straße")))
        #expect(
            try json(ExportedEvent(changed))
                == Self.start + #""usernameChanged":{"foldKey":"straße","user":"\#(Self.user)","username":"Straße"}}"#)
        for event in [exported, ExportedEvent(changed)] {
            let read = try value(ExportedEvent.self, fromJSON: try json(event))
            #expect(read == event && read.recorded.event.username?.foldKey == event.recorded.event.username?.foldKey)
        }
    }

    @Test func earlierExportIsDecoded() throws {
        let text = Self.start + #""usernameChanged":{"user":"\#(Self.user)","username":"STRAẞE"}}"#
        let event = try value(ExportedEvent.self, fromJSON: text)
        #expect(event.commitEnd == nil && event.recorded.event.username?.foldKey == "strasse")
    }

    @Test func erasedNameHasNoFoldKey() throws {
        let stub = Self.event(.init(.usernameChanged, .user(Here.ann)), .erased)
        let text = try json(ExportedEvent(stub, commitEnd: 7))
        #expect(text.contains(#""usernameChanged":{"foldKey":null,"#) && text.contains(#""erased":true"#))
        #expect(try value(ExportedEvent.self, fromJSON: text) == ExportedEvent(stub, commitEnd: 7))
    }

    @Test(arguments: [
        #""redacted":[],"sessionEnded":{"session":"03000000-0000-0000-0000-000000000001","user":"\#(user)"}"#,
        #""redacted":["body"],"sessionEnded":{"session":"03000000-0000-0000-0000-000000000001","user":"\#(user)"}"#,
        #""usernameChanged":{"user":"\#(user)","username":"Ann","foldKey":""}"#,
        #""usernameChanged":{"user":"\#(user)","username":"Ann","foldKey":7}"#,
        #""erased":true,"usernameChanged":{"user":"\#(user)","username":null,"foldKey":"ann"}"#,
        #""commitEnd":-1,"lost":{}"#, #""commitEnd":"7","lost":{}"#,
        #""commitEnd":7"#, #""sentAt":"+2026-11-21T05:03:12.123Z","lost":{}"#,
    ])
    func invalidExportIsRejected(rest: String) throws {
        #expect(throws: DecodingError.self) { try value(ExportedEvent.self, fromJSON: Self.start + rest + "}") }
    }

    /// Times from clients lie within the years 0000 to 9999; times of events can lie outside.
    @Test(arguments: Seeds.seeds(4)) func everyTimeRoundTrips(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let special: [Int64] = [
            .min, .min + 1, -62_167_219_200_001, -62_167_219_200_000, 253_402_300_799_999, 253_402_300_800_000,
            .max - 1, .max,
        ]
        for milliseconds in special
            + (0..<500).map({ _ in
                Int64.random(in: .min ... .max, using: &random) >> Int64.random(in: 0...30, using: &random)
            })
        {
            let time = Timestamp(millisecondsSince1970: milliseconds)
            var event = Self.event(.init(.lost), .none)
            event.event.origin = .imported(sentAt: time)
            #expect(
                try value(ExportedEvent.self, fromJSON: try json(ExportedEvent(event))).recorded == event, "\(time)")
        }
    }
}
