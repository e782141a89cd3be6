import ChatValues
import Foundation
import Testing

/// A client that links no store decodes every value that a server encodes.
@Suite struct ValueJSONTests {
    private let ann = UserSummary(id: UserID(bits: 1), username: "ann")
    private let bob = UserSummary(id: UserID(bits: 2))
    private let garden = ThreadID(bits: 3)
    private let hello = MessageID(bits: 4)
    private let time = Timestamp(millisecondsSince1970: 1_700_000_000_123)

    private func expectRoundTrip<Value: Codable & Equatable>(
        _ value: Value, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let json = try JSONEncoder().encode(value)
        let decoded = try JSONDecoder().decode(Value.self, from: json)
        #expect(decoded == value, "\(String(decoding: json, as: UTF8.self))", sourceLocation: location)
    }

    private var message: Post {
        Post(
            id: .message(hello), position: 9, thread: garden, message: hello, author: ann, body: "Milk?",
            createdAt: time, editedAt: time,
            editPosition: 10, isRetracted: false, replyCount: 2)
    }

    private var reply: Post {
        Post(
            id: .reply(ReplyID(bits: 5)), position: 11, message: hello, author: bob, createdAt: time, isRetracted: true,
            isRemoved: true,
            isFromBlockedUser: true, replyCount: 0)
    }

    private var events: [RecordedEvent] {
        [
            RecordedEvent(
                position: 9,
                event: ChatEvent(
                    recordedAt: time,
                    details: .init(.messagePosted, .message(thread: garden, number: 1, message: hello, by: ann.id)),
                    content: .body("Milk?"))
            )
        ]
    }

    @Test func posts() throws {
        try expectRoundTrip(message)
        try expectRoundTrip(reply)
        let member = ThreadMember(user: ann, since: 7)
        try expectRoundTrip(
            PostDetails(post: message, thread: garden, threadName: "Garden", history: events, readers: [member]))
        try expectRoundTrip(PostDetails(post: reply, thread: garden, history: []))
        for post in [PostID.message(hello), .reply(ReplyID(bits: 5))] {
            try expectRoundTrip(
                PostReport(
                    position: 12, post: post, author: ann, isRemoved: post.isReply, by: bob, reason: "spam",
                    reportedAt: time))
        }
    }

    @Test func answersOfCommands() throws {
        let rejection = try JSONDecoder().decode(
            Rejection.self, from: Data(#"{"code":"notAMember","message":"M."}"#.utf8))
        for result: Result<Receipt, Rejection> in [
            .success(Receipt(events: events.map(\.event), from: 9)), .success(Receipt(isDuplicate: true)),
            .failure(rejection),
        ] {
            let answer = CommandAnswer(line: 3, result)
            try expectRoundTrip(answer)
            #expect(answer.result == result)
        }
        try expectRoundTrip([CommandAnswer(line: 1, .failure(rejection)), CommandAnswer(line: 2, .success(Receipt()))])
        // A line that is no command, as the tool prints it.
        let wrong = CommandAnswer(line: 2, outcome: .error(code: "notJSON", message: "not JSON at byte 0"))
        try expectRoundTrip(wrong)
        #expect(wrong.result == nil && !wrong.isReceipt)
    }

    @Test func problems() throws {
        try expectRoundTrip(Problem(404, .notFound, "There is nothing here that you can see."))
        try expectRoundTrip(
            Problem(400, .init(rawValue: "wrongType"), "D.", field: "postMessage.body", line: 3, retryAfter: 7))
        #expect("\(Problem(503, .busy, "Later."))" == "busy: Later.")
        // The code alone says what is wrong.
        let least = try JSONDecoder().decode(Problem.self, from: Data(#"{"code":"later","more":{}}"#.utf8))
        #expect(least == Problem(500, .init(rawValue: "later"), ""))
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Problem.self, from: Data(#"{"status":404}"#.utf8))
        }
    }

    @Test func threadsAndPeople() throws {
        let code = try #require(OutwardCode("SW1A"))
        for (policy, history, code) in [
            (ThreadPolicy.inviteOnly, ThreadHistory.sinceJoining, nil), (.residents, .all, code),
        ] {
            try expectRoundTrip(
                ThreadSummary(
                    id: code.map(ThreadID.init) ?? garden, name: "Garden", outwardCode: code, memberCount: 2,
                    messageCount: 3,
                    lastPosition: 12, createdAt: time, policy: policy, history: history, isLocked: code == nil,
                    isClosed: code != nil))
        }
        let thread = UserThread(
            id: garden, name: "Garden", since: 7, unreadCount: 1, firstUnread: 9, readUpTo: 8,
            notifications: ThreadNotifications(level: .none, until: time), lastMessage: message)
        try expectRoundTrip(UserDetails(id: ann.id, username: "ann", createdAt: time, threads: [thread]))
        try expectRoundTrip(ThreadAccess(thread: garden, from: 7))
        try expectRoundTrip(Resident(user: ann, since: 3, postcode: Postcode("SW1A 1AA"), outwardCode: code))
        try expectRoundTrip(RoleHolder(user: ann, role: .moderator, since: 8))
        try expectRoundTrip(CommunityOperator(user: bob, since: 2))
        try expectRoundTrip(
            ThreadSanction(user: bob, kind: .mute, position: 13, imposedAt: time, until: time, by: ann, reason: "loud"))
        try expectRoundTrip(
            ThreadStanding(role: .member, since: 7, mute: ThreadStanding.Act(position: 13, imposedAt: time)))
        for isBlocked in [false, true] {
            try expectRoundTrip(
                ThreadInvitation(
                    thread: garden, user: bob, by: ann, position: 14, invitedAt: time, isFromBlockedUser: isBlocked))
        }
    }

    @Test func receiptsAndNotices() throws {
        try expectRoundTrip(Receipt(events: events.map(\.event), from: 9, isDuplicate: true))
        try expectRoundTrip(Receipt())
        var unread = Receipt(events: events.map(\.event), from: 9)
        unread.moderatorCount = 0
        try expectRoundTrip(unread)
        var event = events[0].event
        event.content = .omitted
        let redacted = RecordedEvent(position: 9, event: event, redacted: [.body])
        try expectRoundTrip(Receipt(duplicateOf: [redacted]))
        var erased = ErasedContent()
        erased.positions.append(9)
        erased.posts = [.message(hello), .message(MessageID(bits: 8)), .reply(ReplyID(bits: 5))]
        (erased.threads, erased.users, erased.namelessThreads, erased.namelessUsers) = (
            [garden], [ann.id], [garden], [ann.id]
        )
        try expectRoundTrip(erased)
        let head = JournalHead(journal: JournalID(bits: 6), position: 14, chain: 7)
        try expectRoundTrip(try #require(ResumeToken(position: 12, head: head)))
    }

    /// Positions that are not those of the events, or beyond every journal, are errors.
    @Test func receiptWithWrongPositionsIsAnError() throws {
        let event = String(decoding: try JSONEncoder().encode(events[0]), as: UTF8.self)
        func receipt(_ positions: String, _ events: String) throws -> Receipt {
            let json = #"{"positions":\#(positions),"events":[\#(events)],"duplicate":false}"#
            return try JSONDecoder().decode(Receipt.self, from: Data(json.utf8))
        }
        #expect(try receipt("[9,9]", event).positions == 9...9)
        let last = event.replacing(#""position":9"#, with: #""position":\#(Position.max)"#)
        for (positions, events) in [
            ("null", event), ("[9,10]", event), ("[8,8]", event), ("[9,9]", ""), ("[]", event),
            ("[9,10]", "\(event),\(event)"),
            ("[\(Position.max),\(Position.max)]", last),
        ] {
            #expect(throws: DecodingError.self, "\(positions)") { try receipt(positions, events) }
        }
    }

    /// A page is decoded from the form of the HTTP API.
    @Test func pages() throws {
        let items = String(decoding: try JSONEncoder().encode([message, reply]), as: UTF8.self)
        let body = Data(#"{"items":\#(items),"older":9,"newer":11,"more":true}"#.utf8)
        let page = try JSONDecoder().decode(Page<Post>.self, from: body)
        for post in page { print(post.author.username ?? "?", post.body ?? "") }
        #expect(
            page
                == Page(
                    entries: [message, reply], older: .before(9), newer: .after(11),
                    isTruncated: true))
        try expectRoundTrip(page)
        let last = try JSONDecoder().decode(Page<Post>.self, from: Data(#"{"items":[],"older":null,"newer":0}"#.utf8))
        #expect(last == Page(entries: [], newer: .after(0)))
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Page<Post>.self, from: Data(#"{"items":[]}"#.utf8))
        }
    }

    @Test func aPagePassesOverReasonsOfALaterVersion() throws {
        let json = """
            {"items":[\(entry("whisper", 8)),\(entry("reply", 7))],"older":null,"newer":8}
            """
        let page = try JSONDecoder().decode(Page<InboxEntry>.self, from: Data(json.utf8))
        #expect(page.map(\.position) == [7] && page.newer.after == 8)
        // What is wrong in another way is an error.
        let wrong = json.replacingOccurrences(of: #""by":{"#, with: #""from":{"#)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Page<InboxEntry>.self, from: Data(wrong.utf8)) }
    }

    /// A page of threads, and a user's own details, with what a later version has added.
    @Test func valuesOfALaterVersionAreTakenForCautiousOnes() throws {
        let thread =
            #"{"id":"\#(garden)","name":"Garden","members":2,"messages":1,"lastPosition":9,"createdAt":"\#(time)","#
        let summary = try JSONDecoder().decode(
            ThreadSummary.self, from: Data((thread + #""policy":"byPoll","history":"lastWeek"}"#).utf8))
        #expect(summary.policy == .inviteOnly && summary.history == .sinceJoining)
        let notifications = try JSONDecoder().decode(
            ThreadNotifications.self, from: Data(#"{"level":"digest","until":null}"#.utf8))
        #expect(notifications == ThreadNotifications(level: .all))
        try expectRoundTrip(ThreadNotifications(level: .mentions, until: time))
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(ThreadNotifications.self, from: Data(#"{"level":7}"#.utf8))
        }
    }

    private func entry(_ why: String, _ position: Position) -> String {
        """
        {"position":\(position),"why":"\(why)","thread":"\(garden)","name":"Garden","by":{"id":"\(ann.id)","username":"ann"},\
        "createdAt":"\(time)","unread":true}
        """
    }
}
