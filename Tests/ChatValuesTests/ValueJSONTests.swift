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

    private func expectRoundTrip<Value: Codable & Equatable>(_ value: Value, _ location: SourceLocation = #_sourceLocation) throws {
        let json = try JSONEncoder().encode(value)
        let decoded = try JSONDecoder().decode(Value.self, from: json)
        #expect(decoded == value, "\(String(decoding: json, as: UTF8.self))", sourceLocation: location)
    }

    private var message: Post {
        Post(
            position: 9, id: .message(hello), thread: garden, message: hello, author: ann, body: "Milk?", createdAt: time, editedAt: time,
            editPosition: 10, isRetracted: false, replyCount: 2)
    }

    private var reply: Post {
        Post(
            position: 11, id: .reply(ReplyID(bits: 5)), message: hello, author: bob, createdAt: time, isRetracted: true, isRemoved: true,
            isFromBlockedUser: true, replyCount: 0)
    }

    private var events: [RecordedEvent] {
        [
            RecordedEvent(
                position: 9,
                event: ChatEvent(
                    recordedAt: time, details: .init(.messagePosted, .message(thread: garden, number: 1, message: hello, by: ann.id)),
                    content: .body("Milk?"))
            )
        ]
    }

    @Test func posts() throws {
        try expectRoundTrip(message)
        try expectRoundTrip(reply)
        let member = ThreadMember(user: ann, since: 7)
        try expectRoundTrip(PostDetails(post: message, thread: garden, threadName: "Garden", history: events, readers: [member]))
        try expectRoundTrip(PostDetails(post: reply, thread: garden, history: []))
        for post in [PostID.message(hello), .reply(ReplyID(bits: 5))] {
            try expectRoundTrip(
                PostReport(position: 12, post: post, author: ann, isRemoved: post.isReply, by: bob, reason: "spam", reportedAt: time))
        }
    }

    @Test func threadsAndPeople() throws {
        let code = try #require(OutwardCode("SW1A"))
        for (policy, history, code) in [(ThreadPolicy.inviteOnly, ThreadHistory.sinceJoining, nil), (.residents, .all, code)] {
            try expectRoundTrip(
                ThreadSummary(
                    id: code.map(ThreadID.init) ?? garden, name: "Garden", outwardCode: code, memberCount: 2, messageCount: 3,
                    lastPosition: 12, createdAt: time, policy: policy, history: history, isLocked: code == nil, isClosed: code != nil))
        }
        let thread = UserThread(id: garden, name: "Garden", since: 7, unreadCount: 1, readUpTo: 8, lastMessage: message)
        try expectRoundTrip(UserDetails(id: ann.id, username: "ann", createdAt: time, threads: [thread]))
        try expectRoundTrip(ThreadAccess(thread: garden, from: 7))
        try expectRoundTrip(Resident(user: ann, since: 3, postcode: Postcode("SW1A 1AA"), outwardCode: code))
        try expectRoundTrip(RoleHolder(user: ann, role: .moderator, since: 8))
        try expectRoundTrip(CommunityOperator(user: bob, since: 2))
        try expectRoundTrip(ThreadSanction(user: bob, kind: .mute, position: 13, imposedAt: time, until: time, by: ann, reason: "loud"))
        try expectRoundTrip(ThreadStanding(role: .member, since: 7, mute: ThreadStanding.Act(position: 13, imposedAt: time)))
        for isBlocked in [false, true] {
            try expectRoundTrip(
                ThreadInvitation(thread: garden, user: bob, by: ann, position: 14, invitedAt: time, isFromBlockedUser: isBlocked))
        }
    }

    @Test func receiptsAndNotices() throws {
        try expectRoundTrip(Receipt(events: events.map(\.event), from: 9, isDuplicate: true))
        try expectRoundTrip(Receipt())
        var erased = ErasedContent()
        erased.positions.append(9)
        erased.posts = [.message(hello), .reply(ReplyID(bits: 5))]
        (erased.threads, erased.users, erased.namelessThreads, erased.namelessUsers) = ([garden], [ann.id], [garden], [ann.id])
        try expectRoundTrip(erased)
        let head = JournalHead(journal: JournalID(bits: 6), position: 14, chain: 7)
        try expectRoundTrip(try #require(ResumeToken(position: 12, head: head)))
    }

    /// A page is decoded from the form of the HTTP API.
    @Test func pages() throws {
        let items = String(decoding: try JSONEncoder().encode([message, reply]), as: UTF8.self)
        let body = Data(#"{"items":\#(items),"older":9,"newer":11,"more":true}"#.utf8)
        let page = try JSONDecoder().decode(Page<Post>.self, from: body)
        for post in page { print(post.author.username ?? "?", post.body ?? "") }
        #expect(page == Page(entries: [message, reply], older: PageRequest(before: 9), newer: PageRequest(after: 11)))
        let last = try JSONDecoder().decode(Page<Post>.self, from: Data(#"{"items":[],"older":null,"newer":0}"#.utf8))
        #expect(last == Page(entries: [], newer: PageRequest(after: 0)))
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Page<Post>.self, from: Data(#"{"items":[]}"#.utf8)) }
    }
}
