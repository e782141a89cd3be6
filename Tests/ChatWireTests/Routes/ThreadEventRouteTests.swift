import Chat
import ChatDomain
import Testing

@testable import ChatWire

/// The pages of a thread's events.
@Suite struct ThreadEventRouteTests {
    private static let poll: CustomKind = "org.example.poll"
    private static let vote: CustomKind = "org.example.vote"

    private let community: Community
    /// Maya owns the thread, Om is a member, Zoe is none.
    private let maya, om, zoe: UserID
    private let thread = CommandSamples.thread
    private let message = CommandSamples.message

    init() throws {
        community = try Community()
        let users = try community.register("Maya", "Om", "Zoe")
        (maya, om, zoe) = (users[0], users[1], users[2])
        // Maya knows Om.
        let square = ThreadID(bits: thread.bits + 2)
        try community.execute(
            .openThread(id: square, name: "Square", by: om), .joinThread(thread: square, by: maya),
            .openThread(id: thread, name: "Market", policy: .inviteOnly, history: .sinceJoining, by: maya),
            .postMessage(id: message, thread: thread, body: "Apples", by: maya),
            .custom(kind: Self.poll, thread: thread, payload: CustomPayload(unchecked: #"{"of":"fruit"}"#), by: maya),
            .openThread(id: ThreadID(bits: thread.bits + 1), name: "Elsewhere", by: maya),
            .invite(user: om, thread: thread, by: maya), .acceptInvitation(thread: thread, by: om),
            .reply(to: message, body: "Sold", by: maya), .edit(.message(message), body: "Pears", by: maya),
            .markRead(thread: thread, upTo: 5, by: maya),
            .postMessage(thread: thread, body: "Plums", by: om),
            .custom(kind: Self.vote, thread: thread, payload: CustomPayload(unchecked: "1"), by: om),
            .custom(kind: Self.vote, thread: thread, payload: CustomPayload(unchecked: "2"), by: maya))
    }

    /// A page as a client reads it.
    private struct Page: Decodable {
        let items: [RecordedEvent]
        let older: Position?
        let newer: Position
        let more: Bool?
    }

    private func response(_ query: String = "", as user: UserID) async -> WireResponse {
        await community.get("/v1/threads/\(thread)/events\(query)", as: user)
    }

    private func page(_ query: String = "", as user: UserID) async throws -> Page {
        let response = await response(query, as: user)
        #expect(response.status == 200, "\(query): \(response.text)")
        return try decodeLine(Page.self, from: response.bytes)
    }

    @Test func pageHasTheEventsThatAScanFinds() async throws {
        for user in [maya, om] {
            let expected = try numberedEvents(of: thread, community.store, user)
            let page = try await page(as: user)
            #expect(
                page.items == expected && page.older == nil && page.newer == expected.last?.position && page.more == nil
            )
        }
        let items = try json(try numberedEvents(of: thread, community.store, om))
        #expect(await response(as: om).text.hasPrefix("{\"items\":\(items),"))
    }

    @Test func kindsSelectEvents() async throws {
        let kinds = try await page("?kinds=messagePosted,replyPosted", as: maya).items.map(\.kind)
        #expect(kinds == [.messagePosted, .replyPosted, .messagePosted])
        #expect(try await page("?kinds=custom", as: maya).items.map(\.customKind) == [Self.poll, Self.vote, Self.vote])
        let polls = try await page("?customKinds=\(Self.poll.text)", as: maya).items
        #expect(polls.map(\.customKind) == [Self.poll] && polls[0].payload?.text == #"{"of":"fruit"}"#)
        #expect(try await page("?customKinds=\(Self.poll.text),\(Self.vote.text)", as: maya).items.count == 3)
        #expect(try await page("?customKinds=\(Self.poll.text)&kinds=messagePosted", as: maya).items.isEmpty)
        // Read markers have no number.
        #expect(try await page("?kinds=threadRead", as: maya).items.isEmpty)
    }

    @Test func historyBeginsWithTheJoin() async throws {
        let posts = try await page("?kinds=messagePosted,messageEdited,replyPosted", as: om).items
        #expect(posts.map(\.body) == ["Plums"])
        #expect(try await page("?kinds=custom", as: om).items.map(\.customKind) == [Self.vote, Self.vote])
    }

    @Test func outsiderAndUnknownThreadAreNotFound() async throws {
        let unknown = await community.get("/v1/threads/\(ThreadID(bits: 77))/events", as: maya)
        #expect(unknown.status == 404)
        #expect(Appearance(await response(as: zoe)) == Appearance(unknown))
        try community.execute(.leaveThread(thread: thread, by: om))
        #expect(Appearance(await response(as: om)) == Appearance(unknown))
    }

    @Test(arguments: [1, 2, 3, 200]) func pagesHaveNoGapAndNoRepeat(limit: Int) async throws {
        for (user, query) in [(maya, ""), (om, ""), (maya, "&kinds=custom,messagePosted")] {
            var (found, after): ([RecordedEvent], Position) = ([], 0)
            while true {
                let page = try await page("?limit=\(limit)&after=\(after)\(query)", as: user)
                #expect(page.items.count <= limit && page.newer >= after)
                if page.items.isEmpty { break }
                (found, after) = (found + page.items, page.newer)
            }
            let all = try numberedEvents(of: thread, community.store, user)
            #expect(found == all.filter { query.isEmpty || $0.kind == .custom || $0.kind == .messagePosted })
            try community.execute(.postMessage(thread: thread, body: "Later", by: om))
            #expect(try await page("?after=\(after)", as: user).items.map(\.body) == ["Later"])
        }
    }

    /// A page whose events are far apart ends early, says so, and leads on.
    @Test func aPageReadsABoundedNumberOfEvents() async throws {
        let count = ThreadEvents.maximumReadCount
        for index in 0..<count + 10 { try community.execute(.edit(.message(message), body: "\(index)", by: maya)) }
        try community.execute(
            .custom(kind: Self.vote, thread: thread, payload: CustomPayload(unchecked: "3"), by: maya))
        let first = try await page("?customKinds=\(Self.vote.text)", as: maya)
        #expect(first.items.count == 2 && first.more == true)
        let second = try await page("?customKinds=\(Self.vote.text)&after=\(first.newer)", as: maya)
        #expect(second.items.map(\.payload?.text) == ["3"] && second.more == nil)
        // A page that is full is not cut.
        #expect(try await page("?limit=2&customKinds=\(Self.vote.text)", as: maya).more == nil)
    }

    @Test func aLargePageIsCut() async throws {
        let payload = CustomPayload(unchecked: "\"\(String(repeating: "x", count: 16_000))\"")
        for _ in 0..<40 { try community.execute(.custom(kind: Self.poll, thread: thread, payload: payload, by: om)) }
        let response = await response("?limit=200", as: maya)
        #expect(response.bytes.count < ListLimit.answer.byteCount + 1_000)
        let first = try await page("?limit=200", as: maya)
        #expect(first.more == true && first.newer == first.items.last?.position)
        let rest = try await page("?limit=200&after=\(first.newer)", as: maya)
        #expect(try first.items + rest.items == numberedEvents(of: thread, community.store, maya) && rest.more == nil)
    }

    /// Reads pages up to the first one with a token, and returns its events with the token.
    private func history(limit: Int, _ query: String = "", as user: UserID) async throws -> (
        events: [RecordedEvent], token: String
    ) {
        var (found, after): ([RecordedEvent], Position) = ([], 0)
        while true {
            let response = await response("?limit=\(limit)&after=\(after)\(query)", as: user)
            let page = try decodeLine(Page.self, from: response.bytes)
            found += page.items
            guard let token = response[header: "Resume-Token"] else {
                try #require(!page.items.isEmpty || page.more == true, "the last page has no token")
                after = page.newer
                continue
            }
            #expect(page.more == nil)
            return (found, token)
        }
    }

    @Test(arguments: [1, 2, 3, 200]) func onlyTheLastPageHasAToken(limit: Int) async throws {
        let queries = ["", "&kinds=custom", "&kinds=messagePosted", "&kinds=threadOpened"]
        for (user, query) in queries.map({ (maya, $0) }) + [(om, "")] {
            let all = try await page("?limit=200\(query)", as: user).items
            let (events, token) = try await history(limit: limit, query, as: user)
            #expect(events == all)
            #expect(token == "\(ResumeToken(community.store.head))")
        }
        // A page from beyond the end leads to the end too.
        #expect(
            await response("?after=1000000", as: maya)[header: "Resume-Token"] == "\(ResumeToken(community.store.head))"
        )
        #expect(await response(as: zoe)[header: "Resume-Token"] == nil)
    }

    /// Pages that end early have no token: at the bound of events that are read, and at that of
    /// bytes.
    @Test func aPageThatEndsEarlyHasNoToken() async throws {
        for index in 0..<ThreadEvents.maximumReadCount {
            try community.execute(.edit(.message(message), body: "\(index)", by: maya))
        }
        let few = await response("?customKinds=\(Self.poll.text)", as: maya)
        #expect(few.text.hasSuffix(#""more":true}"#) && few[header: "Resume-Token"] == nil)
        let payload = CustomPayload(unchecked: "\"\(String(repeating: "x", count: 16_000))\"")
        for _ in 0..<40 { try community.execute(.custom(kind: Self.poll, thread: thread, payload: payload, by: om)) }
        let after = community.store.head.position - 40
        let large = await response("?limit=200&after=\(after)", as: maya)
        #expect(large.text.hasSuffix(#""more":true}"#) && large[header: "Resume-Token"] == nil)
        // As many as the limit, and no more.
        #expect(await response("?limit=40&after=\(after + 30)", as: maya)[header: "Resume-Token"] != nil)
        #expect(await response("?limit=10&after=\(after + 30)", as: maya)[header: "Resume-Token"] != nil)
        #expect(await response("?limit=9&after=\(after + 30)", as: maya)[header: "Resume-Token"] == nil)
    }

    /// Pages and then the stream have every event once, while others write.
    @Test func theStreamContinuesAfterTheLastPage() async throws {
        let count = 400
        let writing = Task.detached { [community, om, thread] in
            for index in 0..<count { try community.execute(.postMessage(thread: thread, body: "\(index)", by: om)) }
        }
        var firsts: [Int] = []
        for limit in [1, 7, 200] {
            let (events, token) = try await history(limit: limit, as: maya)
            let stream = await community.get("/v1/events?after=\(token)&thread=\(thread)", as: maya)
            var bodies = events.compactMap(\.body).compactMap(Int.init)
            firsts.append(bodies.count)
            if bodies.count < count {
                bodies += try await StreamReader.read(stream) { $0.body == "\(count - 1)" }.compactMap(\.body)
                    .compactMap(Int.init)
            }
            #expect(bodies == Array(0..<count), "limit \(limit), \(firsts) on pages")
        }
        try await writing.value
    }

    @Test func wrongParametersAreProblems() async {
        for (query, field) in [
            ("kinds=messagePosted,", "kinds"), ("kinds=", "kinds"), ("kinds=posted", "kinds"),
            ("customKinds=poll", "customKinds"),
            ("limit=0", "limit"), ("limit=201", "limit"), ("after=-1", "after"), ("before=9", "before"),
            ("kinds=custom&kinds=custom", "kinds"),
        ] {
            let response = await response("?\(query)", as: maya)
            #expect((response.status, response.code) == (400, "invalidQuery"), "\(query)")
            #expect((response.json as? [String: Any])?["field"] as? String == field, "\(query)")
        }
        #expect(await response("?after=\(UInt64.max)", as: maya).status == 200)
    }
}
