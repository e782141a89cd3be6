import Chat
import ChatDomain
import ChatTesting
import Foundation
import Testing

@Suite struct EventFilterTests {
    private func decode(_ text: String) throws -> EventFilter {
        try JSONDecoder().decode(EventFilter.self, from: Data(text.utf8))
    }

    @Test func filterRoundTripsThroughJSON() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(EventFilter(as: .host)), as: UTF8.self) == #"{"viewer":"host"}"#)
        let filter = EventFilter(
            as: .user(UserID(bits: 4)), threads: [ThreadID(bits: 2), ThreadID(bits: 1)], users: [UserID(bits: 3)],
            kinds: [.replyPosted, .messagePosted],
            customKinds: ["com.example.poll", "com.example.lunch"],
            outwardCodes: [try #require(OutwardCode("SW1A")), try #require(OutwardCode("E1"))])
        let text = String(decoding: try encoder.encode(filter), as: UTF8.self)
        func id(_ digit: Int) -> String { "\"00000000-0000-0000-0000-00000000000\(digit)\"" }
        #expect(
            text
                == #"{"customKinds":["com.example.lunch","com.example.poll"],"kinds":["messagePosted","replyPosted"],"outwardCodes":["E1","SW1A"],"threads":["#
                + id(1) + "," + id(2) + #"],"users":["# + id(3) + #"],"viewer":"# + id(4) + "}")
        #expect(try decode(text) == filter)
        #expect(try decode(#"{"threads":[],"kinds":null,"viewer":"host"}"#) == EventFilter(as: .host, threads: []))
    }

    /// An ignored misspelt condition would match every event.
    @Test(
        arguments: [
            #"{"viewer":"host","usres":["00000000-0000-0000-0000-000000000004"]}"#,
            #"{"viewer":"host","kinds":["messagePost"]}"#,
            #"{"viewer":"host","customKinds":["poll"]}"#, #"{"viewer":"host","threads":["SW1A"]}"#,
            #"{"viewer":"host","outwardCodes":["SW1A 1AA"]}"#,
            #"{"viewer":"host","users":"00000000-0000-0000-0000-000000000004"}"#, "[]",
            // Who asks is always said.
            "{}", #"{"viewer":null}"#, #"{"viewer":7}"#, #"{"viewer":"guest"}"#,
        ]) func invalidFilterIsRejected(text: String)
    {
        #expect(throws: DecodingError.self) { try decode(text) }
    }

    /// An empty set matches nothing.
    ///
    /// A condition that is nil matches everything.
    @Test func filterRequiresEveryCondition() {
        func event(_ kind: EventKind?, _ shape: EventShape = .none) -> ChatEvent {
            ChatEvent(recordedAt: Timestamp(millisecondsSince1970: 0), details: EventDetails(kind, shape))
        }
        let posted = event(
            .messagePosted,
            .message(thread: ThreadID(bits: 1), number: 1, message: MessageID(bits: 2), by: UserID(bits: 3)))
        #expect(
            EventFilter(as: .host).matches(posted) && EventFilter(as: .host).matches(event(nil))
                && EventFilter(as: .host).matches(event(.lost)))
        #expect(
            EventFilter(as: .host, threads: [ThreadID(bits: 1)], users: [UserID(bits: 3)], kinds: [.messagePosted])
                .matches(posted))
        #expect(
            !EventFilter(as: .host, threads: []).matches(posted) && !EventFilter(as: .host, users: []).matches(posted)
                && !EventFilter(as: .host, kinds: []).matches(posted))
        #expect(
            !EventFilter(as: .host, outwardCodes: []).matches(posted)
                && !EventFilter(as: .host, kinds: Set(EventKind.allCases)).matches(event(nil)))
        #expect(!EventFilter(as: .host, threads: [ThreadID(bits: 1)], users: [UserID(bits: 4)]).matches(posted))
        #expect(!EventFilter(as: .host, customKinds: ["com.example.poll"]).matches(posted))
    }

    /// A journal of another program may have any text.
    @Test func filterMatchesCustomKinds() throws {
        func event(_ kind: String) -> ChatEvent {
            let shape = EventShape.custom(
                thread: ThreadID(bits: 1), number: 1, id: CustomEventID(bits: 2), by: UserID(bits: 3))
            return ChatEvent(
                recordedAt: Timestamp(millisecondsSince1970: 0), details: EventDetails(.custom, shape),
                content: .custom(kind: kind, payload: .erased))
        }
        let filter = EventFilter(as: .host, kinds: [.custom], customKinds: ["com.example.poll"])
        #expect(
            ["com.example.poll", "com.example.Poll", "com.example.lunch", "poll", ""].map { filter.matches(event($0)) }
                == [
                    true, false, false, false, false,
                ])
        #expect(event("poll").customKind == nil && event("a.b").customKind == "a.b")
    }
}
