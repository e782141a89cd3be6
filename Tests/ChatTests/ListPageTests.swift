import ChatDomain
import EventJournal
import Projections
import TestSupport
import Testing

@testable import Chat

/// The pages of the lists that are ordered by the positions of their items.
@Suite struct ListPageTests {
    private let ann = UserID(bits: 1)
    private let thread = ThreadID(bits: 31)
    private let code: OutwardCode
    private let store: ChatStore

    /// Creates a community in which Ann's thread has some of everything; every third mute has an
    /// end.
    init() throws {
        store = try StoreFixture().open()
        code = try #require(OutwardCode("SW1A"))
        var commands: [ChatCommand] = [
            .registerUser(id: ann, username: "Ann"), .setPostcode(postcode: "SW1A 1AA", by: ann),
            .openThread(id: thread, name: "Market", by: ann),
        ]
        for index in 1...17 as ClosedRange<UInt128> {
            let (user, guest, post) = (
                UserID(bits: 100 + index), UserID(bits: 200 + index), MessageID(bits: 300 + index)
            )
            let (room, hall) = (ThreadID(bits: 400 + index), ThreadID(bits: 500 + index))
            commands += [
                .registerUser(id: user, username: "User \(index)"),
                .registerUser(id: guest, username: "Guest \(index)"),
                .setPostcode(postcode: "SW1A 2AA", by: user), .joinThread(thread: thread, by: user),
                .postMessage(id: post, thread: thread, body: "message \(index)", by: user),
                .reply(to: MessageID(bits: 301), body: "reply \(index)", by: user),
                .report(.message(post), reason: "spam", by: ann),
                .custom(
                    kind: index % 2 == 0 ? "com.example.poll" : "com.example.vote", thread: thread,
                    payload: CustomPayload(unchecked: "\(index)"), by: user),
                .openThread(id: room, name: "Room \(index)", by: user), .joinThread(thread: room, by: ann),
                .joinThread(thread: thread, by: guest), .leaveThread(thread: thread, by: guest),
                .invite(user: guest, thread: thread, by: ann),
                .openThread(id: hall, name: "Hall \(index)", by: user), .invite(user: ann, thread: hall, by: user),
                .mute(
                    user: user, thread: thread, reason: "spam",
                    until: index % 3 == 0 ? Timestamp(millisecondsSince1970: 1 << 42) : nil, by: ann),
                .setRole(user: user, thread: thread, role: .moderator, by: ann), .grantOperator(user: user),
                .block(user: guest, by: ann),
            ]
        }
        for answer in try store.executeBlocking(commands.map { CommandRequest($0) }) { _ = try answer.get() }
    }

    /// Every page is a range of the whole list, and the pages that follow it in both directions
    /// hold the rest.
    @Test func everyPageLeadsThroughTheWholeList() throws {
        var random = SplitMix64(seed: Repetitions.seed)
        let afterTheEnds = AsOf.time(Timestamp(millisecondsSince1970: 1 << 43))
        #expect(
            try store.reader(as: .host).sanctions(in: thread).count == 17
                && store.reader(as: .host, asOf: afterTheEnds).sanctions(in: thread).count == 12
        )
        for viewer in [Viewer.host, .user(ann)] {
            try check("all threads", by: \.lastPosition, &random) { try store.reader(as: viewer).threads(page: $0) }
            try check("timeline", by: \.position, &random) { try store.reader(as: viewer).timeline(thread, page: $0) }
            try check("replies", by: \.position, &random) {
                try store.reader(as: viewer).replies(to: MessageID(bits: 301), page: $0)
            }
            try check("custom events", by: \.position, &random) {
                try store.reader(as: viewer).customEvents(in: thread, page: $0)
            }
            try check("custom events of a kind", count: 5...100, by: \.position, &random) {
                try store.reader(as: viewer).customEvents(in: thread, kind: "com.example.poll", page: $0)
            }
            try check("members", by: \.since, &random) { try store.reader(as: viewer).members(of: thread, page: $0) }
            try check("residents", by: \.since, &random) { try store.reader(as: viewer).residents(of: code, page: $0) }
            try check("roles", by: \.since, &random) { try store.reader(as: viewer).roles(in: thread, page: $0) }
            try check("sanctions", by: \.position, &random) {
                try store.reader(as: viewer).sanctions(in: thread, page: $0)
            }
            try check("ended sanctions", by: \.position, &random) {
                try store.reader(as: viewer, asOf: afterTheEnds).sanctions(in: thread, page: $0)
            }
            try check("reports", by: \.position, &random) { try store.reader(as: viewer).reports(in: thread, page: $0) }
            try check("invitations to", by: \.position, &random) {
                try store.reader(as: viewer).invitations(to: thread, page: $0)
            }
            try check("invitations of", by: \.position, &random) {
                try store.reader(as: viewer).invitations(of: ann, page: $0)
            }
            try check("blocks", by: \.since, &random) { try store.reader(as: viewer).blocks(by: ann, page: $0) }
            try check("inbox", by: \.position, &random) {
                // The only list whose newest entry is the first one.
                var page = try store.reader(as: viewer).inbox(of: ann, page: $0)
                page.entries.reverse()
                return page
            }
            try check("people", by: \.since, &random) { try store.reader(as: viewer).people(page: $0) }
            try check("people by name", by: \.since, &random) {
                try store.reader(as: viewer).people(named: "uSER ", page: $0)
            }
            try check("threads in common", by: \.since, &random) {
                try store.reader(as: viewer).person(ann, threads: $0).threads
            }
            try check("threads", by: \.since, &random) { try store.reader(as: viewer).threads(of: ann, page: $0) }
            #expect(
                try store.reader(as: viewer).user(ann, threads: .latest(3)).threads
                    == store.reader(as: .host).threads(of: ann).suffix(3))
        }
        try check("operators", by: \.since, &random) { try store.reader(as: .host).operators(page: $0) }
    }

    /// The pages of an empty list are placed at its end, or at their bound if it comes first.
    @Test func emptyListsHaveEmptyPages() throws {
        var random = SplitMix64(seed: Repetitions.seed)
        let (room, guest) = (ThreadID(bits: 401), UserID(bits: 201))
        try check("timeline", count: 0...0, by: \.position, &random) {
            try store.reader(as: .host).timeline(room, page: $0)
        }
        try check("replies", count: 0...0, by: \.position, &random) {
            try store.reader(as: .host).replies(to: MessageID(bits: 302), page: $0)
        }
        try check("sanctions", count: 0...0, by: \.position, &random) {
            try store.reader(as: .host).sanctions(in: room, page: $0)
        }
        try check("custom events", count: 0...0, by: \.position, &random) {
            try store.reader(as: .host).customEvents(in: room, page: $0)
        }
        try check("reports", count: 0...0, by: \.position, &random) {
            try store.reader(as: .host).reports(in: room, page: $0)
        }
        try check("invitations to", count: 0...0, by: \.position, &random) {
            try store.reader(as: .host).invitations(to: room, page: $0)
        }
        try check("blocks", count: 0...0, by: \.since, &random) {
            try store.reader(as: .host).blocks(by: guest, page: $0)
        }
        try check("threads", count: 0...0, by: \.since, &random) {
            try store.reader(as: .host).threads(of: guest, page: $0)
        }
        try check("people", count: 0...0, by: \.since, &random) { try store.reader(as: .user(guest)).people(page: $0) }
        try check("people by name", count: 0...0, by: \.since, &random) {
            try store.reader(as: .host).people(named: "x", page: $0)
        }
        try check("threads in common", count: 0...0, by: \.since, &random) {
            try store.reader(as: .host).person(guest, threads: $0).threads
        }
        try check("operators", count: 0...0, by: \.since, &random) {
            try store.reader(as: .host, asOf: .position(3)).operators(page: $0)
        }
        #expect(
            try store.reader(as: .host).reports(in: room).newer == PageRequest.after(store.head.position, limit: .max))
        #expect(try store.reader(as: .host, asOf: .position(3)).operators().newer == PageRequest.after(3, limit: .max))
        #expect(
            try store.reader(as: .host, asOf: .position(3)).operators(page: .after(2)).newer
                == PageRequest.after(2))
    }

    private func check<Entry: Equatable>(
        _ name: String, count: ClosedRange<Int> = 11...100, by position: (Entry) -> Position,
        _ random: inout SplitMix64,
        _ list: (PageRequest) throws -> Page<Entry>
    ) throws {
        let all = try list(.all)
        #expect(
            count.contains(all.count) && all.older == nil && all.map(position) == all.map(position).sorted(), "\(name)")
        let end = store.head.position + 2
        func bound() -> Position? {
            switch Int.random(in: 0..<16, using: &random) {
            case 0..<8: nil
            case 8: .max
            default: .random(in: 0...end, using: &random)
            }
        }
        for _ in 0..<Repetitions.few(40, of: 400) {
            let limit = Int.random(in: -1...20, using: &random)
            let request = PageRequest(limit: limit, before: bound(), after: bound(), around: bound())
            var page = try list(request)
            let range = request.indices(count: all.count) { position(all[$0]) }
            #expect(
                page.entries == Array(all.entries[range]) && (page.older != nil) == (range.lowerBound > 0),
                "\(name) \(request)")
            #expect(page.newer.limit == limit && page.older.map { $0.limit == limit } ?? true, "\(name) \(request)")
            // A page without entries has a place in the list too.
            let further = max(limit, 1)
            page.older?.limit = further
            page.newer.limit = further
            let found = try entries(around: page, further, list)
            #expect(found == all.entries, "\(name) from \(request)")
        }
    }

    /// Returns the entries of a page and of all pages that follow it, in both directions.
    private func entries<Entry: Equatable>(
        around start: Page<Entry>, _ limit: Int, _ list: (PageRequest) throws -> Page<Entry>
    ) throws -> [Entry] {
        var (found, older, newer) = (start.entries, start.older, start.newer)
        while let request = older {
            let page = try list(request)
            #expect(page.count <= limit && (page.older == nil || !page.isEmpty), "\(request)")
            found = page.entries + found
            older = page.older
        }
        while true {
            let page = try list(newer)
            #expect(page.count <= limit, "\(newer)")
            // At the end, the request of newer entries stays.
            #expect(!page.isEmpty || page.newer == newer)
            if page.isEmpty { return found }
            found += page.entries
            newer = page.newer
        }
    }
}
