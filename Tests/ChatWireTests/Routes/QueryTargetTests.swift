import Chat
import ChatDomain
import ChatTesting
import Foundation
import Projections
import TestSupport
import Testing

@testable import ChatWire

/// The path and the parameters of a query, as a client sends them and a server receives them.
@Suite struct QueryTargetTests {
    /// Returns the query that the router finds for its own target.
    private func received<Query: ChatQuery>(_ query: Query) throws -> Query? {
        let request = try WireRequest(method: "GET", target: query.target)
        guard
            case .route(let route, let parameters) = Router(ChatRoutes.routes).match(method: "GET", path: request.path)
        else {
            return nil
        }
        #expect(route.pattern == Query.path)
        return try Query.received(path: parameters.values, parameters: request.query).query
    }

    private func expectSame(_ query: some ChatQuery, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let target = try query.target
        #expect(try received(query) == query, "\(target)", sourceLocation: sourceLocation)
    }

    @Test func everyQueryIsReceivedAsItWasSent() throws {
        var random = SplitMix64(seed: Repetitions.seed)
        for _ in 0..<Repetitions.few(200, of: 20_000) {
            let bits = UInt128(random.next()) << 64 | UInt128(random.next())
            var page = PageRequest.latest(Int.random(in: 1...200, using: &random))
            switch Int.random(in: 0..<4, using: &random) {
            case 0: page.before = random.next()
            case 1: page.after = random.next() >> 40
            case 2: page.around = .max
            default: break
            }
            let code = try #require(OutwardCode(["SW1A", "M1", "EC1A"][Int.random(in: 0..<3, using: &random)]))
            let thread = Bool.random(using: &random) ? ThreadID(bits: bits) : ThreadID(code)
            let (message, reply) = (MessageID(bits: bits), ReplyID(bits: bits))
            let emoji = [nil, Emoji("👍"), Emoji(":+1:"), Emoji("👨‍👩‍👧")][Int.random(in: 0..<4, using: &random)]
            let prefix = [nil, "", "a&b=c?d#e%/+", "René 中", "\u{202e}x"][Int.random(in: 0..<5, using: &random)]
            let queries: [any ChatQuery] = [
                UserQuery(),
                UserThreadsQuery(page: page),
                BlocksQuery(page: page),
                ThreadsQuery(page: page),
                DirectoryQuery(page: page),
                ThreadQuery(thread: thread),
                StandingQuery(thread: thread),
                TimelineQuery(thread: thread, page: page),
                CustomEventsQuery(
                    thread: thread, kind: Bool.random(using: &random) ? nil : "com.example.poll", page: page),
                ThreadActivityQuery(
                    thread: thread, days: Bool.random(using: &random) ? nil : Int.random(in: 1...366, using: &random)),
                MembersQuery(thread: thread, page: page),
                ResidentsQuery(code: code, page: page),
                RolesQuery(thread: thread, page: page),
                PinsQuery(thread: thread),
                SanctionsQuery(thread: thread, page: page),
                ReportsQuery(thread: thread, page: page),
                ThreadInvitationsQuery(thread: thread, page: page),
                MessageQuery(message: message),
                RepliesQuery(message: message, page: page),
                MessageReactionsQuery(message: message, emoji: emoji, page: page),
                ReplyQuery(reply: reply),
                ReplyReactionsQuery(reply: reply, emoji: emoji, page: page),
                InvitationsQuery(page: page),
                InboxQuery(page: page),
                PeopleQuery(prefix: prefix, page: page),
                PersonQuery(user: UserID(bits: bits), page: page),
            ]
            for query in queries { try expectSame(query) }
            let routes = ChatRoutes.routes.filter { $0.description != nil }.map(\.pattern)
            #expect(Set(queries.map { type(of: $0).path }) == Set(routes), "a query has no case")
        }
    }

    /// A limit that no server answers is sent as the nearest one; nobody asks for another user.
    @Test func whatIsNotSent() throws {
        #expect(try BlocksQuery(page: .all).target == "/v1/me/blocks?limit=200")
        #expect(try InboxQuery(page: .before(3, limit: -1)).target == "/v1/inbox?limit=1&before=3")
        #expect(try UserQuery().target == "/v1/me")
        #expect(throws: QueryProblem.unsupported) { try UserQuery(user: UserID(bits: 1)).target }
        #expect(throws: QueryProblem.unsupported) { try BlocksQuery(user: UserID(bits: 1)).target }
    }

    /// A query with a property that is no text has no target, and is not received.
    @Test func listsAreNoParameters() throws {
        struct Lists: ChatQuery {
            typealias Answer = ItemList<Post>
            static let name = "lists", path = "/v1/lists"
            var lists: [[Int]]
        }
        #expect(throws: QueryProblem.unsupported) { try Lists(lists: [[1]]).target }
        #expect(throws: QueryProblem.self) { try Lists.received(path: [:], parameters: [("lists", "1")]) }
    }

    /// A value of a type of its own is a text, and a required parameter can be missing.
    @Test func otherValuesAreTexts() throws {
        enum Colour: String, Codable { case red, blue }
        struct Colours: ChatQuery {
            typealias Answer = ItemList<Post>
            static let name = "colours", path = "/v1/colours"
            var first: Colour
            var second: Colour?
        }
        #expect(try Colours(first: .red, second: .blue).target == "/v1/colours?first=red&second=blue")
        #expect(
            try Colours.received(path: [:], parameters: [("first", "red"), ("second", "blue")]).query
                == Colours(first: .red, second: .blue))
        #expect(throws: QueryProblem.missing("first")) { try Colours.received(path: [:], parameters: []) }
        #expect(throws: QueryProblem.invalid("second", form: "a value that this version knows")) {
            try Colours.received(path: [:], parameters: [("first", "red"), ("second", "green")])
        }
    }

    /// The problems of wrong parameters: what is unknown first, then the parameters, then the path.
    @Test(arguments: [
        ("/v1/threads?limit=x&colour=red", "colour", "This route has no such parameter."),
        ("/v1/me?limit=1", "limit", "This route has no such parameter."),
        ("/v1/threads/THREAD?limit=1", "limit", "This route has no such parameter."),
        ("/v1/threads/nowhere/pins?x=1", "x", "This route has no such parameter."),
        ("/v1/me/blocks?user=1", "user", "This route has no such parameter."),
        ("/v1/threads?thread=1", "thread", "This route has no such parameter."),
        ("/v1/threads/THREAD/members?thread=THREAD", "thread", "This route has no such parameter."),
        ("/v1/people?prefix=a", "prefix", "This route has no such parameter."),
        ("/v1/people?name=a&name=b", "name", "The parameter is given twice."),
        ("/v1/threads?limit=1&limit=1", "limit", "The parameter is given twice."),
        ("/v1/threads?before=1&after=x", "after", "Only one of before, after, around and at is allowed."),
        ("/v1/threads?at=x&around=1", "at", "Only one of before, after, around and at is allowed."),
        ("/v1/threads?limit=", "limit", "The parameter is a whole number from 1 to 200."),
        ("/v1/threads?limit=+5", "limit", "The parameter is a whole number from 1 to 200."),
        ("/v1/threads?limit=201", "limit", "The parameter is a whole number from 1 to 200."),
        ("/v1/threads?limit=99999999999999999999", "limit", "The parameter is a whole number from 1 to 200."),
        ("/v1/threads?before=-1", "before", "The parameter is a whole number from 0 to 18446744073709551615."),
        ("/v1/threads?at=yesterday", "at", "The parameter is a time such as 2026-11-21T05:03:12Z."),
        ("/v1/threads/nowhere/timeline?limit=0", "limit", "The parameter is a whole number from 1 to 200."),
        ("/v1/threads/THREAD/activity?days=0", "days", "The parameter is a whole number from 1 to 366."),
        (
            "/v1/messages/MESSAGE/reactions?emoji=x", "emoji",
            "The parameter is an emoji of Unicode, or a name such as :wave:."
        ),
    ]) func wrongParametersSayWhatIsWrong(target: String, field: String, detail: String) async throws {
        let village = try Village()
        let target = target.replacing("THREAD", with: "\(village.market)").replacing(
            "MESSAGE", with: "\(village.message)")
        let response = await village.community.get(target, as: village.maya)
        let problem = Problem(400, .invalidQuery, detail, field: field)
        #expect(Appearance(response) == Appearance(WireResponse(problem)), "\(target): \(response.text)")
    }

    /// The parameter `at` is the position of a time, as the tool's `--from`.
    @Test func timeIsAPosition() async throws {
        let village = try Village()
        let time = try village.store.reader(as: .user(village.maya)).message(village.message).createdAt
        let after = try village.store.lastPosition(before: time)
        for list in ["/v1/threads/\(village.market)/timeline", "/v1/directory", "/v1/people/\(village.om)"] {
            let (one, other) = (
                await village.community.get("\(list)?at=\(time)", as: village.maya),
                await village.community.get("\(list)?after=\(after)", as: village.maya)
            )
            #expect(one.status == 200 && one.text == other.text, "\(list)")
        }
    }
}
