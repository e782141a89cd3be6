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

    /// Creates a community in which Ann's thread has some of everything; every third mute has an end.
    init() throws {
        store = try StoreFixture().open()
        code = try #require(OutwardCode("SW1A"))
        var commands: [ChatCommand] = [
            .registerUser(user: ann, username: "Ann"), .setPostcode(user: ann, postcode: "SW1A 1AA"),
            .openThread(thread: thread, name: "Market", by: ann),
        ]
        for index in 1...17 as ClosedRange<UInt128> {
            let (user, guest, post) = (UserID(bits: 100 + index), UserID(bits: 200 + index), MessageID(bits: 300 + index))
            let (room, hall) = (ThreadID(bits: 400 + index), ThreadID(bits: 500 + index))
            commands += [
                .registerUser(user: user, username: "User \(index)"), .registerUser(user: guest, username: "Guest \(index)"),
                .setPostcode(user: user, postcode: "SW1A 2AA"), .joinThread(user: user, thread: thread),
                .postMessage(message: post, thread: thread, author: user, body: "message \(index)"),
                .report(.message(post), by: ann, reason: "spam"), .invite(user: guest, thread: thread, by: ann),
                .openThread(thread: room, name: "Room \(index)", by: user), .joinThread(user: ann, thread: room),
                .openThread(thread: hall, name: "Hall \(index)", by: user), .invite(user: ann, thread: hall, by: user),
                .mute(
                    user: user, thread: thread, by: ann, reason: "spam",
                    until: index % 3 == 0 ? Timestamp(millisecondsSince1970: 1 << 42) : nil),
                .setRole(user: user, thread: thread, role: .moderator, by: ann), .grantOperator(user: user),
            ]
        }
        for answer in try store.executeBlocking(commands.map { CommandRequest($0) }) { _ = try answer.get() }
    }

    @Test func everyPageIsARangeOfTheWholeList() throws {
        var random = SplitMix64(seed: Repetitions.seed)
        let afterTheEnds = AsOf.time(Timestamp(millisecondsSince1970: 1 << 43))
        #expect(
            try store.sanctions(in: thread, as: .host).count == 17 && store.sanctions(in: thread, as: .host, asOf: afterTheEnds).count == 12
        )
        for viewer in [nil, ann] {
            try check("members", by: \.since, &random) { try store.members(of: thread, page: $0, as: Viewer(orHost: viewer)) }
            try check("residents", by: \.since, &random) { try store.residents(of: code, page: $0, as: Viewer(orHost: viewer)) }
            try check("roles", by: \.since, &random) { try store.roles(in: thread, page: $0, as: Viewer(orHost: viewer)) }
            try check("sanctions", by: \.position, &random) { try store.sanctions(in: thread, page: $0, as: Viewer(orHost: viewer)) }
            try check("ended sanctions", by: \.position, &random) {
                try store.sanctions(in: thread, page: $0, as: Viewer(orHost: viewer), asOf: afterTheEnds)
            }
            try check("reports", by: \.position, &random) { try store.reports(in: thread, page: $0, as: Viewer(orHost: viewer)) }
            try check("invitations to", by: \.position, &random) { try store.invitations(to: thread, page: $0, as: Viewer(orHost: viewer)) }
            try check("invitations of", by: \.position, &random) { try store.invitations(of: ann, page: $0, as: Viewer(orHost: viewer)) }
            try check("threads", by: \.since, &random) { try store.threads(of: ann, page: $0, as: Viewer(orHost: viewer)) }
            #expect(
                try store.user(ann, threads: PageRequest(limit: 3), as: Viewer(orHost: viewer)).threads
                    == store.threads(of: ann, as: .host).suffix(3))
        }
        try check("operators", by: \.since, &random) { try store.operators(page: $0, as: .host) }
    }

    private func check<Item: Equatable>(
        _ name: String, by position: (Item) -> Position, _ random: inout SplitMix64, _ list: (PageRequest) throws -> PartialList<Item>
    ) throws {
        let all = try list(.all)
        #expect(all.count > 10 && !all.hasOlder && all.map(position) == all.map(position).sorted(), "\(name)")
        let end = store.head.position + 2
        func bound() -> Position? { Bool.random(using: &random) ? .random(in: 0...end, using: &random) : nil }
        for _ in 0..<Repetitions.few(40, of: 400) {
            let limit = Int.random(in: -1...20, using: &random)
            let request = PageRequest(limit: limit, before: bound(), after: bound(), around: bound())
            let (page, range) = (try list(request), request.indices(count: all.count) { position(all[$0]) })
            #expect(page.items == Array(all.items[range]) && page.hasOlder == (range.lowerBound > 0), "\(name) \(request)")
        }
        let limit = Int.random(in: 1...9, using: &random)
        var page = try list(PageRequest(limit: limit))
        var backwards = page.items
        while page.hasOlder, let first = page.first {
            page = try list(PageRequest(limit: limit, before: position(first)))
            backwards = page.items + backwards
        }
        var forwards: [Item] = []
        repeat {
            page = try list(PageRequest(limit: limit, after: forwards.last.map(position) ?? 0))
            forwards += page.items
        } while !page.isEmpty
        #expect(backwards == all.items && forwards == all.items, "\(name) by \(limit)")
    }
}
