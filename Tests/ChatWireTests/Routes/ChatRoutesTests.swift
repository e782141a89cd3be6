import Chat
import ChatDomain
import Foundation
import Projections
import Testing

@testable import ChatWire

/// The responses of every route, as users with different rights.
@Suite struct ChatRoutesTests {
    /// Each route answers with the store's own answer for the viewer.
    @Test func everyRouteHasTheAnswerOfTheStore() async throws {
        let village = try Village()
        try village.community.execute(.setProfile(about: "Sells pears.", by: village.om))
        let (store, maya, market, code) = (village.store, village.maya, village.market, Village.code)
        let outward = try #require(OutwardCode(code))
        func list(_ items: [some Encodable]) throws -> String { "{\"items\":\(try json(items))}" }
        func page(_ page: Page<some Encodable>) throws -> String {
            let (older, newer) = (page.older?.before.map { "\($0)" } ?? "null", try #require(page.newer.after))
            return "{\"items\":\(try json(page.entries)),\"older\":\(older),\"newer\":\(newer)}"
        }
        try village.community.execute(
            .openThread(name: "Club", policy: .listed, by: maya), .block(user: village.zoe, by: maya))
        let events = try numberedEvents(of: market, store, maya)
        let expected: [(pattern: String, target: String, text: String)] = [
            ("/v1/me", "/v1/me", try json(try store.reader(as: .user(maya)).user(maya))),
            ("/v1/me/threads", "/v1/me/threads", try page(try store.reader(as: .user(maya)).threads(of: maya))),
            ("/v1/me/blocks", "/v1/me/blocks", try page(try store.reader(as: .user(maya)).blocks(by: maya))),
            ("/v1/threads", "/v1/threads", try page(try store.reader(as: .user(maya)).threads())),
            ("/v1/threads/{thread}", "/v1/threads/\(market)", try answer(about: market, store, maya)),
            ("/v1/threads/{thread}", "/v1/threads/\(code)", try answer(about: ThreadID(outward), store, maya)),
            (
                "/v1/threads/{thread}/standing", "/v1/threads/\(market)/standing",
                try json(try store.reader(as: .user(maya)).standing(of: maya, in: market))
            ),
            (
                "/v1/threads/{thread}/timeline", "/v1/threads/\(market)/timeline",
                try page(try store.reader(as: .user(maya)).timeline(market))
            ),
            (
                "/v1/threads/{thread}/events", "/v1/threads/\(market)/events",
                "{\"items\":\(try json(events)),\"older\":null,\"newer\":\(events.last?.position ?? 0)}"
            ),
            (
                "/v1/threads/{thread}/custom-events", "/v1/threads/\(market)/custom-events",
                try page(try store.reader(as: .user(maya)).customEvents(in: market))
            ),
            (
                "/v1/threads/{thread}/activity", "/v1/threads/\(market)/activity?days=7",
                try json(try store.reader(as: .user(maya)).activity(in: market, days: 7))
            ),
            (
                "/v1/threads/{thread}/members", "/v1/threads/\(market)/members",
                try page(try store.reader(as: .user(maya)).members(of: market))
            ),
            (
                "/v1/threads/{thread}/residents", "/v1/threads/\(code)/residents",
                try page(try store.reader(as: .user(maya)).residents(of: outward))
            ),
            (
                "/v1/threads/{thread}/roles", "/v1/threads/\(market)/roles",
                try page(try store.reader(as: .user(maya)).roles(in: market))
            ),
            (
                "/v1/threads/{thread}/pins", "/v1/threads/\(market)/pins",
                try list(try store.reader(as: .user(maya)).pins(in: market))
            ),
            (
                "/v1/threads/{thread}/sanctions", "/v1/threads/\(market)/sanctions",
                try page(try store.reader(as: .user(maya)).sanctions(in: market))
            ),
            (
                "/v1/threads/{thread}/reports", "/v1/threads/\(market)/reports",
                try page(try store.reader(as: .user(maya)).reports(in: market))
            ),
            (
                "/v1/threads/{thread}/invitations", "/v1/threads/\(market)/invitations",
                try page(try store.reader(as: .user(maya)).invitations(to: market))
            ),
            (
                "/v1/messages/{message}", "/v1/messages/\(village.message)",
                try json(try store.reader(as: .user(maya)).message(village.message))
            ),
            (
                "/v1/messages/{message}/replies", "/v1/messages/\(village.message)/replies",
                try page(try store.reader(as: .user(maya)).replies(to: village.message))
            ),
            (
                "/v1/messages/{message}/reactions", "/v1/messages/\(village.message)/reactions",
                try page(try store.reader(as: .user(maya)).reactions(to: .message(village.message)))
            ),
            (
                "/v1/replies/{reply}", "/v1/replies/\(CommandSamples.reply)",
                try json(try store.reader(as: .user(maya)).reply(CommandSamples.reply))
            ),
            ("/v1/inbox", "/v1/inbox", try inbox(of: maya, store)),
            ("/v1/directory", "/v1/directory", try page(try store.reader(as: .user(maya)).directory())),
            ("/v1/people", "/v1/people", try page(try store.reader(as: .user(maya)).people())),
            (
                "/v1/people", "/v1/people?name=OM&limit=1",
                try page(try store.reader(as: .user(maya)).people(named: "o", page: .latest(1)))
            ),
            (
                "/v1/people/{user}", "/v1/people/\(village.om)",
                try json(try store.reader(as: .user(maya)).person(village.om))
            ),
            (
                "/v1/replies/{reply}/reactions", "/v1/replies/\(CommandSamples.reply)/reactions",
                try page(try store.reader(as: .user(maya)).reactions(to: .reply(CommandSamples.reply)))
            ),
        ]
        for (_, target, text) in expected {
            let response = await village.community.get(target, as: maya)
            #expect((response.status, response.text) == (200, text), "\(target)")
            #expect(response[header: "Content-Type"] == "application/json")
            #expect(!text.contains("[]"), "\(target) shows nothing")
            let head = await village.community.send("HEAD", target, as: maya)
            #expect(Appearance(head) == Appearance(response))
        }
        let own = await village.community.get("/v1/invitations", as: village.om)
        #expect(
            (own.status, own.text) == (
                200, try page(try store.reader(as: .user(village.om)).invitations(of: village.om))
            ))
        #expect(own.text.contains("\(village.secret)"))
        let following = await village.community.get("/v1/events", as: maya)
        #expect((following.status, following[header: "Content-Type"]) == (200, "text/event-stream"))
        #expect(following.stream != nil)
        let command = await village.community.post(
            "{\"postMessage\":{\"thread\":\"\(market)\",\"body\":\"Plums\"}}", as: maya)
        #expect(command.status == 200)
        let tried = Set(expected.map(\.pattern) + ["/v1/invitations", "/v1/events", "/v1/commands"])
        #expect(tried == Set(ChatRoutes.routes.map(\.pattern)), "a route has no test")
    }

    /// A link opens a thread at a message, and a day: the pages of the tool's `--around` and
    /// `--from`.
    @Test func pagesAroundAPositionAndAtATime() async throws {
        let village = try Village()
        let (store, market, maya) = (village.store, village.market, village.maya)
        for number in 0..<9 { try await store.execute(.postMessage(thread: market, body: "\(number)", by: maya)) }
        let posts = try store.reader(as: .user(maya)).timeline(market).entries
        let message = posts[posts.count - 5]
        func found(_ query: String) async throws -> [Post] {
            let response = await village.community.get("/v1/threads/\(market)/timeline?\(query)", as: maya)
            return try JSONDecoder().decode(Page<Post>.self, from: Data(response.text.utf8)).entries
        }
        #expect(try await found("limit=4&around=\(message.position)") == Array(posts[(posts.count - 7)...].prefix(4)))
        // The message says where it stands: its thread and its position.
        #expect(try store.reader(as: .user(maya)).message(message.message).thread == market)
        let time = "\(message.createdAt)"
        #expect(try await found("at=\(time)&limit=200") == posts.filter { $0.createdAt >= message.createdAt })
        #expect(try await found("at=2999-01-01T00:00:00Z") == [])
    }

    /// The inbox has the newest entry first, the bounds of its page, and the number of all unread
    /// entries.
    @Test func inboxIsPagedAndRead() async throws {
        let village = try Village()
        let (community, store, maya, om) = (village.community, village.store, village.maya, village.om)
        let all = try store.reader(as: .user(maya)).inbox(of: maya).entries
        #expect(all.map(\.reason) == [.reaction, .reply])
        let latest = await community.get("/v1/inbox?limit=1", as: maya)
        #expect(
            latest.text
                == "{\"items\":\(try json([all[0]])),\"older\":\(all[0].position),\"newer\":\(all[0].position),\"unread\":{\"count\":2}}"
        )
        let older = await community.get("/v1/inbox?limit=1&before=\(all[0].position)", as: maya)
        #expect(
            older.text
                == "{\"items\":\(try json([all[1]])),\"older\":null,\"newer\":\(all[1].position),\"unread\":{\"count\":2}}"
        )
        let newer = await community.get("/v1/inbox?after=\(all[1].position)&limit=5", as: maya)
        #expect(newer.text.hasPrefix("{\"items\":\(try json([all[0]])),"))
        let answer = await community.post("{\"markInboxRead\":{\"upTo\":\(all[1].position)}}", as: maya)
        #expect(answer.status == 200 && answer.text.contains("inboxRead"))
        let page = try JSONDecoder().decode(
            Page<InboxEntry>.self, from: Data(await community.get("/v1/inbox", as: maya).text.utf8))
        #expect(page.entries.map(\.isUnread) == [true, false])
        #expect(await community.get("/v1/inbox", as: maya).text.hasSuffix("\"unread\":{\"count\":1}}"))
        // Everybody has their own: Om was muted and invited.
        let other = try JSONDecoder().decode(
            Page<InboxEntry>.self, from: Data(await community.get("/v1/inbox", as: om).text.utf8))
        #expect(other.entries.map(\.reason) == [.invitation, .moderation, .reaction])
        #expect(await community.get("/v1/inbox", as: village.zoe).text.contains("\"why\":\"invitation\""))
        let none = await community.get("/v1/inbox", as: village.ada)
        #expect(
            none.text.hasPrefix("{\"items\":[],\"older\":null,\"newer\":")
                && none.text.hasSuffix(",\"unread\":{\"count\":0}}"))
    }

    /// A removed user asks why, and is shown nothing else of the thread.
    @Test func removedUserIsToldWhy() async throws {
        let village = try Village()
        let (store, community) = (village.store, village.community)
        let secret = "/v1/threads/\(village.secret)"
        try await store.execute(.acceptInvitation(thread: village.secret, by: village.om))
        let member = await community.get(secret, as: village.om)
        #expect(
            member.text.hasSuffix(
                #""mute":null,"ban":null,"removal":null,"notifications":{"level":"all","until":null}}}}"#)
                && member.text.contains(#""me":{"standing":{"role":"member""#))
        try await store.execute(.mute(user: village.om, thread: village.secret, reason: "too loud", by: village.maya))
        #expect(await community.get(secret, as: village.om).text.contains(#""until":null,"reason":"too loud"}"#))
        try await store.execute(
            .removeMember(user: village.om, thread: village.secret, reason: "moved away", by: village.maya))
        #expect(await community.get(secret, as: village.om).status == 404)
        let standing = await community.get(secret + "/standing", as: village.om)
        #expect(standing.status == 200 && standing.text.hasPrefix(#"{"role":null,"since":null,"mute":{"position":"#))
        #expect(
            standing.text.contains(#""reason":"moved away"},"notifications":"#)
                && !standing.text.contains("\(village.maya)"))
        // To others the thread is as one that does not exist.
        for user in [village.zoe, village.ada] {
            let none = await community.get("/v1/threads/\(ThreadID(bits: 77))/standing", as: user)
            #expect(Appearance(await community.get(secret + "/standing", as: user)) == Appearance(none))
        }
    }

    /// What does not exist and what the user may not see cannot be told apart.
    @Test func hiddenEqualsUnknown() async throws {
        let village = try Village()
        let unknown = Village.targets(thread: "\(ThreadID(bits: 77))", message: "\(MessageID(bits: 78))")
        let hidden = Village.targets(thread: "\(village.secret)", message: "\(village.hidden)")
        let none = Appearance(WireResponse(.notFound))
        for user in [village.om, village.zoe, village.ada, UserID(bits: 79)] {
            for (hidden, unknown) in zip(hidden, unknown) {
                #expect(Appearance(await village.community.get(hidden, as: user)) == none, "\(hidden)")
                #expect(Appearance(await village.community.get(unknown, as: user)) == none, "\(unknown)")
            }
        }
        // The owner sees the same things: they exist.
        for target in hidden where !target.hasSuffix("/residents") {
            #expect(await village.community.get(target, as: village.maya).status == 200, "\(target)")
        }
        // Moderators' lists do not exist for a member, though the thread does.
        for list in ["sanctions", "reports", "invitations"] {
            #expect(
                Appearance(await village.community.get("/v1/threads/\(village.market)/\(list)", as: village.om)) == none
            )
        }
        #expect(await village.community.get("/v1/threads/\(village.market)/roles", as: village.om).status == 200)
        // A code without a thread, one that the user does not live in, and text that is no code.
        for code in ["SW1A", "M1", "nowhere", "", "SW1A%2F"] {
            for target in Village.targets(thread: code, message: code) {
                #expect(Appearance(await village.community.get(target, as: village.zoe)) == none, "\(target)")
            }
        }
    }

    @Test func unknownUserSeesNothing() async throws {
        let village = try Village()
        for target in [
            "/v1/me", "/v1/threads", "/v1/invitations", "/v1/inbox", "/v1/people", "/v1/people/\(village.maya)",
        ] {
            #expect(
                Appearance(await village.community.get(target, as: UserID(bits: 80)))
                    == Appearance(WireResponse(.notFound)))
        }
    }

    /// A person is found by the threads in common, and is otherwise as one who does not exist.
    @Test func peopleAreThoseOfTheThreadsInCommon() async throws {
        let village = try Village()
        try village.community.execute(.setProfile(about: "Sells pears.", by: village.om))
        let found = await village.community.get("/v1/people/\(village.om)", as: village.maya)
        #expect(found.text.contains("\"about\":\"Sells pears.\"") && found.text.contains("\"name\":\"Market\""))
        let none = Appearance(await village.community.get("/v1/people/\(UserID(bits: 80))", as: village.zoe))
        #expect(none == Appearance(WireResponse(.notFound)))
        // Zoe is invited, and Ada reads the thread as an operator.
        for viewer in [village.zoe, village.ada] {
            for target in ["\(village.om)", "om", "x%2F"] {
                #expect(Appearance(await village.community.get("/v1/people/\(target)", as: viewer)) == none)
            }
            #expect(await village.community.get("/v1/people", as: viewer).text.hasPrefix("{\"items\":[],"))
        }
        let answer = await village.community.post("{\"setProfile\":{\"about\":null}}", as: village.om)
        #expect(answer.status == 200 && answer.text.contains("\"about\":\"\""))
        #expect(
            await village.community.get("/v1/people/\(village.om)", as: village.maya).text.contains("\"about\":null"))
    }

    @Test func anErasedUserDoesNothing() async throws {
        let village = try Village()
        try village.store.eraseUser(village.om, reason: "account-deleted")
        let response = await village.community.post(
            "{\"postMessage\":{\"thread\":\"\(village.market)\",\"body\":\"x\"}}", as: village.om)
        #expect(((response.json as? [String: Any])?["rejection"] as? [String: Any])?["code"] != nil)
    }

    @Test func wrongMethodsAndPathsAreProblems() async throws {
        let village = try Village()
        for route in ChatRoutes.routes {
            let target = route.pattern.replacing("{thread}", with: "\(village.market)").replacing(
                "{message}", with: "\(village.message)")
            let response = await village.community.send("PATCH", target, as: village.maya)
            #expect((response.status, response.code) == (405, "methodNotAllowed"))
            #expect(response[header: "Allow"] == (route.method == "GET" ? "GET, HEAD" : "POST"))
        }
        for target in ["/", "/v1", "/v1/", "/v1/users", "/v1/threads/SW1A/secrets", "/v1/me/", "/v2/me", "/v1/me/x"] {
            #expect(
                Appearance(await village.community.get(target, as: village.maya))
                    == Appearance(WireResponse(.notFound)), "\(target)")
        }
    }

    @Test(arguments: [
        "/v1/me?x=1", "/v1/threads?limit=0", "/v1/threads?limit=201", "/v1/threads?limit=x",
        "/v1/threads?limit=1&limit=1",
        "/v1/threads?before=1&after=1", "/v1/threads?before=-1", "/v1/threads?around=-1",
        "/v1/threads?around=1&at=2026-11-21T05:03:12Z",
        "/v1/threads?at=yesterday", "/v1/threads?after=18446744073709551616",
        "/v1/threads/THREAD?limit=1", "/v1/threads/THREAD/timeline?before=1&after=2",
        "/v1/threads/THREAD/timeline?asOf=1",
        "/v1/threads/THREAD/members?limit=0", "/v1/threads/SW1A/residents?limit=0", "/v1/threads/THREAD/roles?limit=0",
        "/v1/threads/THREAD/pins?limit=1", "/v1/messages/MESSAGE?x", "/v1/replies/MESSAGE?x",
        "/v1/messages/MESSAGE/replies?limit=", "/v1/invitations?limit=201", "/v1/inbox?limit=0",
        "/v1/threads/THREAD/activity?days=",
        "/v1/threads/THREAD/activity?days=0", "/v1/threads/THREAD/activity?days=367",
        "/v1/threads/THREAD/activity?limit=1",
        "/v1/inbox?before=1&after=2", "/v1/inbox?user=1",
        "/v1/people?limit=0", "/v1/people?prefix=a", "/v1/people?name=a&name=b", "/v1/people?before=1&after=2",
        "/v1/events?viewer=1", "/v1/events?after=1&after=2", "/v1/threads?limit=%",
    ]) func wrongParametersAreProblems(target: String) async throws {
        let village = try Village()
        let target = target.replacing("THREAD", with: "\(village.market)").replacing(
            "MESSAGE", with: "\(village.message)")
        let response = await village.community.get(target, as: village.maya)
        #expect((response.status, response.code) == (400, "invalidQuery"), "\(target): \(response.text)")
        #expect(response[header: "Content-Type"] == "application/problem+json")
    }

    @Test func closedStoreIsClosing() async throws {
        let village = try Village()
        try village.store.close()
        let response = await village.community.post(
            "{\"postMessage\":{\"thread\":\"\(village.market)\",\"body\":\"x\"}}", as: village.maya)
        #expect((response.status, response.code) == (503, "closing"))
        #expect(response[header: "Retry-After"] == "1")
    }
}
