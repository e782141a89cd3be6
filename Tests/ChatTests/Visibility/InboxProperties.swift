import ChatDomain
import ChatTesting
import Locking
import NaiveViews
import Primitives
import Projections
import TestSupport
import Testing

@testable import Chat

/// Compares the inboxes that users are shown with scans of all events: as of positions, with
/// blocks, bans and departures since, and after erasures.
@Suite struct InboxProperties {
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 40))) func shownInboxesEqualScans(seed: UInt64) throws {
        let world = try VisibilityWorld(seed: seed)
        var random = SeededRandom(seed: seed)
        let store = world.store
        var found = 0
        try compare(store, world.users, world.moments, &found)
        #expect(found > 0)

        // Entries go with the content of their posts.
        let events = try store.allEvents()
        var erased = PositionSet()
        for event in events where event.body != nil || event.emoji != nil {
            if random.oneIn(6) { erased.append(event.position) }
        }
        _ = try store.eraseContent(of: erased, reason: "spam")
        try compare(store, world.users, world.moments, &found)
        let writer = try #require(events.last { $0.kind == .replyPosted }?.user)
        _ = try store.eraseUser(writer, reason: "user-request")
        try compare(store, world.users, world.moments, &found)
    }

    private let ann = UserID(bits: 1)
    private let bob = UserID(bits: 2)
    private let message = MessageID(bits: 4)

    /// Returns a store in which Ann wrote a message in a thread with Bob.
    private func messageOfAnn() throws -> ChatStore {
        let store = try StoreFixture(seed: 1).open()
        let thread = ThreadID(bits: 3)
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        try store.executeBlocking(.registerUser(id: bob, username: "Bob"))
        try store.executeBlocking(.openThread(id: thread, name: "Soup", by: ann))
        try store.executeBlocking(.joinThread(thread: thread, by: bob))
        try store.executeBlocking(.postMessage(id: message, thread: thread, body: "Soup", by: ann))
        return store
    }

    /// An erased reaction has no row once the models are rebuilt, so that the rows of a query that
    /// has begun are others or gone.
    @Test(arguments: [false, true]) func inboxIsReadAgainAfterAnErasure(hasReply: Bool) throws {
        let store = try messageOfAnn()
        if hasReply { try store.executeBlocking(.reply(to: message, body: "bread", by: bob)) }
        let reaction = try #require(
            try store.executeBlocking(.react(.message(message), emoji: "👍", by: bob)).events.first
        ).position
        #expect(try store.reader(as: .user(ann)).inbox(of: ann).first?.reason == .reaction)
        for isCount in [false, true] {
            let mayErase = Lock(true)
            store.readSide.willBeginSection.withLock { hook in
                hook = {
                    let isFirst = mayErase.withLock { may in
                        defer { may = false }
                        return may
                    }
                    if isFirst { _ = try? store.eraseContent(of: PositionSet([reaction...reaction]), reason: "spam") }
                }
            }
            if isCount {
                #expect(
                    try store.reader(as: .user(ann)).unreadInboxCount(of: ann) == InboxCount(count: hasReply ? 1 : 0))
            } else {
                #expect(try store.reader(as: .user(ann)).inbox(of: ann).map(\.reason) == (hasReply ? [.reply] : []))
            }
            let isErased = mayErase.withLock { !$0 }
            // The first query leaves no row to the count if there is no reply.
            if hasReply || !isCount { #expect(isErased) }
        }
        store.readSide.willBeginSection.withLock { $0 = nil }
    }

    /// A page looks at 1,000 rows, and its bounds continue after them, in both directions.
    @Test func pagesGoOnAfterRowsWithoutEntries() throws {
        let store = try messageOfAnn()
        let first = try store.executeBlocking(.reply(to: message, body: "bread", by: bob)).position
        for _ in 0..<1_100 {
            try store.executeBlocking(.react(.message(message), emoji: "👍", by: bob))
            try store.executeBlocking(.unreact(.message(message), emoji: "👍", by: bob))
        }
        let page = try store.reader(as: .user(ann)).inbox(of: ann)
        #expect(page.isEmpty && page.isTruncated)
        let older = try store.reader(as: .user(ann)).inbox(of: ann, page: try #require(page.older))
        #expect(older.map(\.position) == [first] && older.older == nil && !older.isTruncated)
        #expect(try store.reader(as: .user(ann)).unreadInboxCount(of: ann) == InboxCount(count: 0, hasMore: true))

        let last = try store.executeBlocking(.reply(to: message, body: "butter", by: bob)).position
        var request = PageRequest.after(0, limit: 1)
        var (found, cuts) = ([] as [Position], 0)
        for _ in 0..<9 {
            let next = try store.reader(as: .user(ann)).inbox(of: ann, page: request)
            found += next.map(\.position)
            if next.isTruncated { cuts += 1 } else if next.isEmpty { break }
            request = next.newer
        }
        // The later reply is the entry of both.
        #expect(found == [last] && cuts == 1)
    }

    /// What one user does much of.
    enum Act: CaseIterable {
        case mutes, roles, removals, memberships, invitations, posts, replies, edits, reactions, reports, repliesToSame,
            reactionsToSame
    }

    /// A store in which Cem does one thing very often to Ann, after Bob has invited her and replied
    /// to her.
    private struct Crowd {
        let store: ChatStore
        let ann = UserID(bits: 1)
        let bob = UserID(bits: 2)
        let cem = UserID(bits: 5)
        /// In the first thread, in which Cem is a member, and in the second, where Cem is an owner.
        let home = ThreadID(bits: 3)
        let other = ThreadID(bits: 6)
        let message = MessageID(bits: 4)
        let second = MessageID(bits: 7)
        private var number: UInt128 = 1_000

        init(seed: UInt64) throws {
            store = try StoreFixture(seed: seed).open()
            for (user, name) in [(ann, "Ann"), (bob, "Bob"), (cem, "Cem")] {
                try store.executeBlocking(.registerUser(id: user, username: name))
            }
            try store.executeBlocking(.openThread(id: home, name: "Soup", by: ann))
            try store.executeBlocking(.openThread(id: other, name: "Bread", by: cem))
            for user in [bob, cem] { try store.executeBlocking(.joinThread(thread: home, by: user)) }
            for user in [ann, bob] { try store.executeBlocking(.joinThread(thread: other, by: user)) }
            for (message, thread) in [(message, home), (second, other)] {
                try store.executeBlocking(.postMessage(id: message, thread: thread, body: "Soup", by: ann))
            }
        }

        /// What Bob does, whose entries are to be shown.
        func befriend() throws -> [Position] {
            let party = ThreadID(bits: 8)
            try store.executeBlocking(.openThread(id: party, name: "Party", by: bob))
            return [
                try store.executeBlocking(.invite(user: ann, thread: party, by: bob)).position,
                try store.executeBlocking(.react(.message(message), emoji: "👍", by: bob)).position,
                try store.executeBlocking(.reply(to: message, body: "soon", by: bob)).position,
            ]
        }

        mutating func act(_ act: Act, _ count: Int) throws {
            var commands: [ChatCommand] = []
            for _ in 0..<count {
                number += 1
                let (post, reply, isEven) = (MessageID(bits: number), ReplyID(bits: number), number.isMultiple(of: 2))
                switch act {
                case .mutes:
                    commands.append(
                        isEven
                            ? .mute(user: ann, thread: other, reason: "\(number)", until: nil, by: cem)
                            : .unmute(user: ann, thread: other, by: cem))
                case .roles:
                    commands.append(.setRole(user: ann, thread: other, role: isEven ? .moderator : .member, by: cem))
                case .removals:
                    commands.append(.postMessage(id: post, thread: other, body: "soup", by: ann))
                    commands.append(.remove(.message(post), reason: "spam", by: cem))
                case .memberships:
                    commands.append(.removeMember(user: ann, thread: other, reason: "bye", by: cem))
                    commands.append(.joinThread(thread: other, by: ann))
                case .invitations:
                    commands.append(
                        isEven
                            ? .invite(user: ann, thread: ThreadID(bits: 9), by: cem)
                            : .revokeInvitation(user: ann, thread: ThreadID(bits: 9), by: cem))
                case .posts:
                    commands.append(
                        .postMessage(id: post, thread: other, body: "soup", mentions: [ann], by: cem))
                case .replies: commands.append(.reply(id: reply, to: second, body: "soup", by: cem))
                case .edits:
                    commands.append(
                        .edit(
                            .message(MessageID(bits: 10)), body: "\(number)", mentions: isEven ? [ann] : [ann, bob],
                            by: cem))
                case .reactions:
                    commands.append(
                        isEven
                            ? .react(.message(second), emoji: "🎉", by: cem)
                            : .unreact(.message(second), emoji: "🎉", by: cem))
                case .reports:
                    commands.append(.postMessage(id: post, thread: home, body: "soup", by: bob))
                    commands.append(.report(.message(post), reason: "spam", by: cem))
                case .repliesToSame:
                    commands.append(.reply(id: reply, to: message, body: "soup", by: cem))
                    commands.append(.retract(.reply(reply), by: cem))
                case .reactionsToSame:
                    commands.append(.react(.message(message), emoji: "👍", by: cem))
                    commands.append(.unreact(.message(message), emoji: "👍", by: cem))
                }
            }
            for start in stride(from: 0, to: commands.count, by: 500) {
                _ = try store.executeBlocking(
                    commands[start..<min(start + 500, commands.count)].map { CommandRequest($0) })
            }
        }
    }

    /// A friend's entries are on the first page and counted, whatever another user does and however
    /// often: as of every position, blocked or not, and after erasures.
    @Test(arguments: Repetitions.oneIn(12, of: 0..<2 * Act.allCases.count)) func oneUserDoesNotEmptyAnInbox(number: Int)
        throws
    {
        let (act, isBlocked) = (Act.allCases[number / 2], number.isMultiple(of: 2))
        var crowd = try Crowd(seed: 1)
        let (store, ann, cem) = (crowd.store, crowd.ann, crowd.cem)
        try store.executeBlocking(.openThread(id: ThreadID(bits: 9), name: "Jam", by: cem))
        try store.executeBlocking(
            .postMessage(id: MessageID(bits: 10), thread: crowd.other, body: "soup", by: cem))
        if isBlocked { try store.executeBlocking(.block(user: cem, by: ann)) }
        let friendly = try crowd.befriend()
        let first = store.head.position
        try crowd.act(act, 1_100)
        func check(_ comment: String) throws {
            let last = store.head.position
            for point in [last, first + (last - first) / 3] {
                let page = try store.reader(as: .user(ann), asOf: .position(point)).inbox(of: ann)
                let shown = Set(page.map(\.position))
                // A later reply to the same message, or reaction, has the entry while it is
                // present.
                let isSame = !isBlocked && (act == .repliesToSame || act == .reactionsToSame)
                #expect(
                    isSame
                        ? Set(page.map(\.reason)).isSuperset(of: [.invitation, .reaction, .reply])
                        : friendly.allSatisfy(shown.contains),
                    "\(comment), \(act) as of \(point): \(page.map(\.position))")
                if isBlocked { #expect(shown == Set(friendly) && page.older == nil && !page.isTruncated) }
                let (unread, whole) = (
                    try store.reader(as: .user(ann), asOf: .position(point)).unreadInboxCount(of: ann),
                    try store.reader(as: .user(ann), asOf: .position(point)).inbox(
                        of: ann, page: .latest(.max))
                )
                #expect(unread.count == whole.count && shown.isSubset(of: whole.map(\.position)))
            }
            let live = try InboxSource(user: ann, limit: 50).load(from: store, asOf: store.head.position)
            let page = try store.reader(as: .user(ann)).inbox(of: ann)
            #expect(live.value.entries == page.entries && live.hasEarlier == (page.older != nil))
        }
        try check("live")
        let written = try store.allEvents().filter {
            $0.position > first && $0.user == cem && ($0.body != nil || $0.emoji != nil)
        }
        var erased = PositionSet()
        for (index, event) in written.enumerated() where index % 3 != 0 { erased.append(event.position) }
        if !written.isEmpty { _ = try store.eraseContent(of: erased, reason: "spam") }
        try check("content erased")
        _ = try store.eraseUser(cem, reason: "user-request")
        try check("user erased")
        try crowd.act(act, 50)
        try check("after the erasure")
    }

    /// Pages of random worlds with one very active user have the entries, in the order in which the
    /// scan looks at events, as of positions, after blocks and erasures.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 20))) func pagesBesideAnActiveUserEqualScans(seed: UInt64)
        throws
    {
        var (random, crowd) = (SeededRandom(seed: seed), try Crowd(seed: seed))
        let (store, ann, cem) = (crowd.store, crowd.ann, crowd.cem)
        try store.executeBlocking(.openThread(id: ThreadID(bits: 9), name: "Jam", by: cem))
        try store.executeBlocking(
            .postMessage(id: MessageID(bits: 10), thread: crowd.other, body: "soup", by: cem))
        for _ in 0..<12 {
            if random.oneIn(3) {
                _ = try store.executeBlocking([
                    CommandRequest(.reply(to: crowd.second, body: "soon", by: crowd.bob))
                ])
            }
            if random.oneIn(3) {
                _ = try store.executeBlocking([
                    CommandRequest(.postMessage(thread: crowd.home, body: "soup", mentions: [ann], by: crowd.bob))
                ])
            }
            guard let act = Act.allCases.filter({ $0 != .memberships }).randomElement(using: &random) else { continue }
            try crowd.act(act, Int.random(in: 1...45, using: &random))
        }
        func compare() throws {
            let events = try store.allEvents()
            let (naive, history, end) = (NaiveVisibility(events), NaiveViews(events: events), Position(events.count))
            for moment in [end, Position.random(in: 20...end, using: &random)] {
                let views = history.asOf(moment)
                let blocked = Set([crowd.bob, cem].filter { naive.isBlocked($0, by: ann, at: end) })
                let rows = views.inboxRows(of: ann)
                let items = Dictionary(
                    uniqueKeysWithValues: views.inbox(of: ann, except: blocked)
                        .filter { isShown($0, to: ann, naive, blocked, asOf: moment, end) }.map { ($0.position, $0) })
                for limit in [1, 5, 20, 50, .max] {
                    for before in [nil, Position.random(in: 1...moment, using: &random)] {
                        let order = NaiveViews.order(
                            of: rows.filter { before == nil || $0.position < before ?? 0 }, except: blocked,
                            entries: Set(items.keys))
                        let expected = order.prefix(1_000).filter { items[$0] != nil }.prefix(limit).sorted(by: >)
                        let page = try store.reader(as: .user(ann), asOf: .position(moment)).inbox(
                            of: ann, page: PageRequest(limit: limit, before: before))
                        #expect(
                            page.map(\.position) == expected, "\(limit) before \(before ?? 0) as of \(moment) of \(end)"
                        )
                        #expect(page.allSatisfy { items[$0.position]?.reason == $0.reason })
                    }
                }
            }
        }
        try compare()
        try store.executeBlocking(.block(user: cem, by: ann))
        try compare()
        try store.executeBlocking(.unblock(user: cem, by: ann))
        var erased = PositionSet()
        for event in try store.allEvents() where event.body != nil || event.emoji != nil {
            if random.oneIn(4) { erased.append(event.position) }
        }
        _ = try store.eraseContent(of: erased, reason: "spam")
        try compare()
        _ = try store.eraseUser(cem, reason: "user-request")
        try compare()
    }

    /// What a friend did that has no entry does not use up their place, and a blocked user takes
    /// none at all.
    @Test(arguments: [false, true]) func rowsWithoutEntriesTakeNoPlace(isBlocked: Bool) throws {
        let store = try StoreFixture().open()
        let (ann, bob, cem) = (UserID(bits: 1), UserID(bits: 2), UserID(bits: 3))
        let (busy, club, mine) = (ThreadID(bits: 4), ThreadID(bits: 5), ThreadID(bits: 6))
        for (user, name) in [(ann, "Ann"), (bob, "Bob"), (cem, "Cem")] {
            try store.executeBlocking(.registerUser(id: user, username: name))
        }
        for (thread, opener) in [(busy, bob), (club, bob), (mine, cem)] {
            try store.executeBlocking(.openThread(id: thread, name: "x", by: opener))
        }
        for thread in [busy, mine] { try store.executeBlocking(.joinThread(thread: thread, by: ann)) }
        try store.executeBlocking(.invite(user: ann, thread: club, by: bob))
        let invited = store.head.position
        // The mentions are taken back.
        for number in 0..<60 {
            let message = MessageID(bits: UInt128(100 + number))
            try store.executeBlocking(
                .postMessage(id: message, thread: busy, body: "x", mentions: [ann], by: bob))
            try store.executeBlocking(.retract(.message(message), by: bob))
        }
        let acts = (0..<1_000).map { number -> ChatCommand in
            number.isMultiple(of: 2)
                ? .mute(user: ann, thread: mine, reason: "\(number)", by: cem)
                : .unmute(user: ann, thread: mine, by: cem)
        }
        for act in acts { try store.executeBlocking(act) }
        if isBlocked { try store.executeBlocking(.block(user: cem, by: ann)) }
        let page = try store.reader(as: .user(ann)).inbox(of: ann)
        #expect(page.contains { $0.position == invited } && page.count == (isBlocked ? 1 : 50))
        let unread = try store.reader(as: .user(ann)).unreadInboxCount(of: ann)
        #expect(isBlocked ? unread.count == 1 && !unread.hasMore : unread.count > 50)
    }

    /// An event whose text is hidden from a user does not tell them that it mentions them.
    @Test func hiddenTextHasNoMention() throws {
        let store = try messageOfAnn()
        let thread = ThreadID(bits: 3)
        let post = try #require(
            try store.executeBlocking(.postMessage(thread: thread, body: "@Bob", mentions: [bob], by: ann)).message)
        func reasons() throws -> [InboxReason?] {
            try store.events(
                of: thread, after: 0, limit: 50, matching: EventFilter(as: .user(bob), kinds: [.messagePosted]),
                asOf: .now
            )
            .events.map(
                \.inbox)
        }
        #expect(try reasons() == [nil, .mention])
        try store.executeBlocking(.retract(.message(post), by: ann))
        #expect(try reasons() == [nil, nil])
    }

    /// Who comes back finds the replies of the time in which they were away, if they can read the
    /// message.
    @Test(arguments: [ThreadHistory.all, .sinceJoining]) func repliesWhileAwayAreThereIfTheMessageIs(
        history: ThreadHistory
    ) throws {
        let store = try messageOfAnn()
        let (thread, message) = (ThreadID(bits: 5), MessageID(bits: 6))
        try store.executeBlocking(.openThread(id: thread, name: "Bread", history: history, by: bob))
        try store.executeBlocking(.joinThread(thread: thread, by: ann))
        try store.executeBlocking(.postMessage(id: message, thread: thread, body: "Bread", by: ann))
        try store.executeBlocking(.leaveThread(thread: thread, by: ann))
        let reply = try #require(
            try store.executeBlocking(.reply(to: message, body: "Rye", by: bob)).events.first
        ).position
        #expect(try store.reader(as: .user(ann)).inbox(of: ann).isEmpty)
        try store.executeBlocking(.joinThread(thread: thread, by: ann))
        let isThere = history == .all
        let entries = try store.reader(as: .user(ann)).inbox(of: ann).entries
        #expect(entries.map(\.position) == (isThere ? [reply] : []) && entries.allSatisfy(\.isUnread))
        #expect(try store.reader(as: .user(ann)).unreadInboxCount(of: ann).count == (isThere ? 1 : 0))
        // The event itself is of a time in which they could not read it, and as of that time
        // nothing is there.
        #expect(
            try store.events(of: thread, after: reply - 1, limit: 9, matching: EventFilter(as: .user(ann)), asOf: .now)
                .events.first?.inbox
                == nil)
        #expect(try store.reader(as: .user(ann), asOf: .position(reply)).inbox(of: ann).isEmpty)
    }

    /// A reply whose text is erased does not hide those before it.
    @Test func erasedReplyGivesWayToTheOneBefore() throws {
        let store = try messageOfAnn()
        func reply(_ body: String) throws -> Position {
            try #require(try store.executeBlocking(.reply(to: message, body: body, by: bob)).events.first)
                .position
        }
        let (first, second) = (try reply("bread"), try reply("butter"))
        #expect(try store.reader(as: .user(ann)).inbox(of: ann).map(\.position) == [second])
        _ = try store.eraseContent(of: PositionSet([second...second]), reason: "spam")
        #expect(try store.reader(as: .user(ann)).inbox(of: ann).map(\.position) == [first])
        _ = try store.eraseContent(of: PositionSet([first...first]), reason: "spam")
        #expect(try store.reader(as: .user(ann)).inbox(of: ann).isEmpty)
    }

    /// Compares the inbox of each user, whole and in pages, as of some positions.
    private func compare(_ store: ChatStore, _ users: [UserID], _ moments: [Position], _ found: inout Int) throws {
        let events = try store.allEvents()
        let (naive, history, end) = (NaiveVisibility(events), NaiveViews(events: events), Position(events.count))
        for moment in moments + [end] {
            let views = history.asOf(moment)
            for user in users where views.users.contains(user) {
                let blocked = Set(users.filter { naive.isBlocked($0, by: user, at: end) })
                let expected = views.inbox(of: user, except: blocked).filter {
                    isShown($0, to: user, naive, blocked, asOf: moment, end)
                }
                let page = try store.reader(as: .user(user), asOf: .position(moment)).inbox(
                    of: user, page: .latest(.max))
                let shown = page.entries.map {
                    InboxItem(position: $0.position, reason: $0.reason, thread: $0.thread, post: $0.post)
                }
                #expect(shown == expected.reversed(), "\(user) as of \(moment) of \(end)")
                let marker = events.prefix(Int(moment)).last { $0.kind == .inboxRead && $0.user == user }
                var upTo: Position = 0
                if case .inbox(_, let position)? = marker?.shape { upTo = position }
                #expect(page.entries.allSatisfy { $0.isUnread == ($0.position > upTo) })
                let count = try store.reader(as: .user(user), asOf: .position(moment)).unreadInboxCount(of: user)
                #expect(count == InboxCount(count: expected.count { $0.position > upTo }))
                // Forwards in pages, each with its newest entry first.
                var forwards: [InboxEntry] = []
                var request = PageRequest.after(0, limit: 2)
                while true {
                    let next = try store.reader(as: .user(user), asOf: .position(moment)).inbox(of: user, page: request)
                    if next.isEmpty { break }
                    forwards += next.entries.reversed()
                    request = next.newer
                    request.limit = 2
                }
                #expect(forwards == page.entries.reversed())
                found += expected.count
            }
        }
    }

    /// Whether a user may see what is in their inbox, and its content is not erased.
    private func isShown(
        _ item: InboxItem, to user: UserID, _ naive: NaiveVisibility, _ blocked: Set<UserID>, asOf moment: Position,
        _ end: Position
    ) -> Bool {
        let event = naive.events[Int(item.position) - 1].event
        if let actor = event.otherActor ?? event.user, blocked.contains(actor) { return false }
        guard let post = item.post else { return true }
        let message: MessageID? =
            switch post {
            case .message(let id): id
            case .reply(let id): naive.events.first { $0.kind == .replyPosted && $0.reply == id }?.message
            }
        if item.reason == .report, naive.isDirect(item.thread) {
            let isPresent =
                naive.textPosition(of: post, at: moment).map { !naive.events[Int($0) - 1].event.isErased } ?? false
            return isPresent && naive.decidesReports(user, of: post, in: item.thread, at: moment)
                && naive.decidesReports(user, of: post, in: item.thread, at: end)
        }
        guard let start = naive.readingStart(user, item.thread, at: moment, current: end),
            let posted = message.flatMap({ naive.postingPosition(of: $0) }), posted > start,
            let text = naive.textPosition(of: post, at: moment), !naive.events[Int(text) - 1].event.isErased
        else { return false }
        if item.reason == .report {
            return naive.moderates(user, item.thread, at: moment) && naive.moderates(user, item.thread, at: end)
        }
        return true
    }
}
