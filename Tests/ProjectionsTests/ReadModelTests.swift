import ChatDomain
import ChatValues
import ChatTesting
import NaiveViews
import TestSupport
import Testing

@testable import Chat
@testable import Projections

/// Makes random requests about the same few entities.
func requests(seed: UInt64, commands: Int) -> [CommandRequest] {
    var generator = CommandGenerator(seed: seed)
    return (0..<commands).map { _ in generator.nextRequest() }
}

/// Makes a random history that follows the rules.
func history(seed: UInt64, commands: Int) -> [RecordedEvent] {
    history(of: requests(seed: seed, commands: commands))
}

/// Returns the events of requests, of which some are rejected.
func history(of requests: [CommandRequest]) -> [RecordedEvent] {
    var state = ChatState()
    var events: [RecordedEvent] = []
    var time: Int64 = 1_584_921_600_000
    for (number, request) in requests.enumerated() {
        // A day has about thirty commands. Imports among them have their own times.
        time += 2_880_000
        guard
            case .append(let decided)? = try? state.decide(
                request, at: Timestamp(millisecondsSince1970: time), freshID: UInt128(number))
        else { continue }
        for event in decided {
            events.append(RecordedEvent(position: state.head + 1, event: event))
            state.evolve(event, at: state.head + 1)
        }
    }
    return events
}

func models(of events: some Sequence<RecordedEvent>) -> ReadModels {
    var models = ReadModels()
    for recorded in events { models.apply(recorded.event, at: recorded.position) }
    return models
}

func storeModels(of events: some Sequence<RecordedEvent>) -> StoreModels {
    var models = StoreModels()
    for recorded in events { models.apply(recorded.event, at: recorded.position) }
    return models
}

extension StoreModels {
    /// Applies one event as a verification does.
    mutating func apply(_ event: ChatEvent, at position: Position) {
        var batch = EventBatch(from: position)
        batch.append(event)
        apply(&batch)
    }
}

@Suite struct ReadModelTests {
    /// Compares three results at many positions: the naive model of a prefix, the models of that
    /// prefix, and the models of the whole history as of the same position.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 4))) func viewsAndViewsAsOfEqualNaiveModel(seed: UInt64) throws
    {
        let requests = requests(seed: seed, commands: 400)
        try expectAgreement(requests, seed: seed) { requests in
            let events = history(of: requests)
            let (whole, naive) = (models(of: events), NaiveViews(events: events))
            var models = ReadModels()
            for (index, recorded) in events.enumerated() {
                models.apply(recorded.event, at: recorded.position)
                guard index % 67 == 0 || index == events.count - 1 else { continue }
                let naive = naive.asOf(recorded.position)
                try compare(models, naive, asOf: recorded.position)
                try compare(whole, naive, asOf: recorded.position)
            }
            try compare(whole, NaiveViews(events: []), asOf: 0)
        }
        let events = history(of: requests)
        #expect(events.count > 100)
        #expect(models(of: events).activity(asOf: .max).count > 8)
    }

    /// Compares the same three results, and a rebuild, at every position of shorter histories; at
    /// one of three positions by default.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 3))) func viewsAgreeAtEveryPosition(seed: UInt64) throws {
        let requests = requests(seed: seed, commands: 90)
        try expectAgreement(requests, seed: seed) { requests in
            let events = history(of: requests)
            let (whole, naive) = (models(of: events), NaiveViews(events: events))
            var incremental = ReadModels()
            let compared = Set(Repetitions.oneIn(6, of: events.indices, "seed \(seed)"))
            for (index, recorded) in events.enumerated() {
                incremental.apply(recorded.event, at: recorded.position)
                guard compared.contains(index) else { continue }
                let naive = naive.asOf(recorded.position)
                try compare(incremental, naive, asOf: recorded.position)
                try compare(whole, naive, asOf: recorded.position)
                try same(models(of: events[...index]) == incremental, true, "a rebuild at \(recorded.position)")
            }
        }
        #expect(history(of: requests).count > 40)
    }

    /// Compares the models of a history whose replies have the bits of messages.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 3))) func repliesWithBitsOfMessagesAreOtherPosts(seed: UInt64)
        throws
    {
        var messages: [UInt128] = []
        var equalBits: [UInt128: UInt128] = [:]
        let requests = requests(seed: seed, commands: 400).map { request in
            var request = request
            if request.command.kind == .postMessage, let id = request.command.id { messages.append(id) }
            if request.command.kind == .reply, let id = request.command.id, equalBits.count < messages.count {
                let bits = equalBits[id] ?? messages[equalBits.count]
                (equalBits[id], request.command.id) = (bits, bits)
            }
            if request.command.postID.isReply, let bits = equalBits[request.command.postID.bits] {
                request.command.postID = PostID(bits: bits, isReply: true)
            }
            return request
        }
        let events = history(of: requests)
        let posted = Set(events.compactMap { $0.kind == .messagePosted ? $0.event.post?.bits : nil })
        let others = events.filter { $0.event.post.map { $0.isReply && posted.contains($0.bits) } ?? false }
        #expect(Set(others.map(\.kind)).count > 3 && others.count > 20)
        let (models, naive) = (models(of: events), NaiveViews(events: events))
        for position in [Position(events.count / 2), Position(events.count)] {
            try compare(models, naive.asOf(position), asOf: position)
        }
    }

    /// The views keep the reactions of withdrawn posts, which no query shows.
    private func compareReactions(
        _ models: ReadModels, _ naive: NaiveViews, _ post: PostID, isWithdrawn: Bool, asOf now: Position
    ) throws(Mismatch) {
        guard !isWithdrawn else { return }
        let expected = naive.reactions(to: post)
        for user in Set(expected.map(\.user)) {
            try same(
                models.reactions(to: post, of: user, asOf: now), naive.reactionCounts(of: post, viewer: user),
                "the reactions to \(post) as \(user) sees them as of \(now)")
        }
        try same(
            models.reactions(to: post, of: nil, asOf: now), naive.reactionCounts(of: post, viewer: nil),
            "the reactions to \(post) as of \(now)")
        var found: [NaiveViews.Reaction] = []
        for scan in models.scans(reactionsTo: post, emoji: nil, asOf: now) {
            found += models.compactMap(scan) { models.reaction($0, asOf: now) }
                .map { NaiveViews.Reaction(position: $0.position, user: $0.user, emoji: $0.emoji) }
        }
        try same(found.sorted { $0.position < $1.position }, expected, "the users of reactions to \(post) as of \(now)")
    }

    private func compare(_ models: ReadModels, _ naive: NaiveViews, asOf now: Position) throws(Mismatch) {
        let everything = PageRequest.latest(.max)
        let threads = models.threads(everything, asOf: now)
        try same(Set(threads.map(\.id)), Set(naive.threads), "the threads as of \(now)")
        try same(
            threads.map(\.lastPosition), threads.map(\.lastPosition).sorted(), "the order of threads as of \(now)")
        try same(models.threadCount(asOf: now), naive.threads.count, "the count of threads as of \(now)")
        let users = naive.users
        try same(models.userCount(asOf: now), users.count, "the count of users as of \(now)")
        var messageCount = 0
        for thread in naive.threads {
            messageCount += try compare(thread, models, naive, users, asOf: now)
        }
        try same(models.messageCount(asOf: now), messageCount, "the count of messages as of \(now)")
        try same(models.activity(asOf: now), naive.activity(), "the activity as of \(now)")
        for name in naive.threadNames {
            try same(
                models.threadIDs(named: name, asOf: now), naive.threadIDs(named: name),
                "the threads named \(name) as of \(now)")
        }
        for user in users {
            let name = naive.username(user)
            try same(models.profile(user, asOf: now)?.username?.text, name, "the name of \(user) as of \(now)")
            try same(
                name.flatMap { models.userID(named: $0, asOf: now) }, user, "the user named \(name ?? "") at \(now)")
            try same(models.access(of: user, asOf: now), naive.access(of: user), "the access of \(user) as of \(now)")
            let stays = naive.stays(of: user).filter { $0.to == nil }
            let shown = models.threads(of: user, asOf: now)
            try same(shown.map(\.thread), stays.map(\.thread), "the threads of \(user) as of \(now)")
            try same(shown.map(\.since), stays.map(\.from), "the joins of \(user) as of \(now)")
        }
    }

    /// Compares one thread, and returns the number of its messages.
    private func compare(
        _ thread: ThreadID, _ models: ReadModels, _ naive: NaiveViews, _ users: [UserID], asOf now: Position
    ) throws(Mismatch) -> Int {
        let everything = PageRequest.latest(.max)
        let messages = naive.messages(of: thread)
        let posts = models.messages(of: thread, everything, asOf: now).posts
        let shown = posts.map {
            NaiveViews.Message(
                id: $0.message, position: $0.position, author: $0.author, editPosition: $0.editPosition,
                isRetracted: $0.isRetracted, isRemoved: $0.isRemoved, replyCount: $0.replyCount)
        }
        try same(shown, messages, "the messages of \(thread) as of \(now)")
        try same(
            posts.map(\.authorName), messages.map { naive.username($0.author) },
            "the authors' names in \(thread) as of \(now)")
        try same(
            models.lastMessage(of: thread, asOf: now)?.message, messages.last?.id,
            "the last message of \(thread) as of \(now)")
        for message in messages {
            let replies = models.replies(to: message.id, everything, asOf: now).posts.compactMap {
                reply -> NaiveViews.Reply? in
                guard case .reply(let id) = reply.id, reply.message == message.id else { return nil }
                return NaiveViews.Reply(
                    id: id, position: reply.position, author: reply.author, editPosition: reply.editPosition,
                    isRetracted: reply.isRetracted, isRemoved: reply.isRemoved)
            }
            try same(replies, naive.replies(to: message.id), "the replies to \(message.id) as of \(now)")
            try compareReactions(
                models, naive, .message(message.id), isWithdrawn: message.isRetracted || message.isRemoved, asOf: now)
            for reply in replies {
                try compareReactions(
                    models, naive, .reply(reply.id), isWithdrawn: reply.isRetracted || reply.isRemoved, asOf: now)
            }
            let around = models.replies(to: message.id, PageRequest.around(now / 2, limit: 3), asOf: now).posts
                .map(\.position)
            try same(
                around, naive.page(replies, limit: 3, around: now / 2, \.position).map(\.position),
                "three replies to \(message.id) around \(now / 2) as of \(now)")
            try same(
                models.thread(of: .message(message.id), asOf: now), thread, "the thread of \(message.id) as of \(now)")
        }
        let record = models.thread(thread, asOf: now)
        try same(record?.lastPosition, naive.lastPosition(of: thread), "the last position of \(thread) as of \(now)")
        try same(record?.messageCount, messages.count, "the count of messages of \(thread) as of \(now)")
        let (members, shownMembers) = (naive.members(of: thread), models.members(of: thread, asOf: now))
        try same(shownMembers.map(\.user), members.map(\.user), "the members of \(thread) as of \(now)")
        try same(shownMembers.map(\.since), members.map(\.since), "the joins of \(thread) as of \(now)")
        try same(record?.memberCount, members.count, "the count of members of \(thread) as of \(now)")
        let readers = naive.readers(of: thread)
        try same(models.readers(of: thread, asOf: now).map(\.user), readers, "the readers of \(thread) as of \(now)")
        for limit in [0, 1, 2, 7] {
            // At an entry, between two, before the first and after the last.
            let own = messages.prefix(3).map(\.position)
            for position in own + [1, now / 2, now, now + 9] {
                let page = models.messages(of: thread, PageRequest.around(position, limit: limit), asOf: now).posts
                    .map(\.position)
                try same(
                    page, naive.page(messages, limit: limit, around: position, \.position).map(\.position),
                    "\(limit) messages of \(thread) around \(position) as of \(now)")
            }
        }
        for user in users { try compare(user, thread, models, naive, isReader: readers.contains(user), asOf: now) }
        if let code = thread.outwardCode {
            let (residents, shown) = (naive.residents(of: code), models.residents(of: code, asOf: now))
            try same(shown.map(\.user), residents.map(\.user), "the residents of \(code) as of \(now)")
            try same(shown.map(\.since), residents.map(\.since), "the moves to \(code) as of \(now)")
            try same(shown.map(\.postcode), residents.map(\.postcode), "the postcodes of \(code) as of \(now)")
        }
        return messages.count
    }

    private func compare(
        _ user: UserID, _ thread: ThreadID, _ models: ReadModels, _ naive: NaiveViews, isReader: Bool,
        asOf now: Position
    ) throws(Mismatch) {
        var place: String { "of \(user) in \(thread) as of \(now)" }
        try same(models.mayRead(user, thread, asOf: now), isReader, "the access " + place)
        let unread = naive.unreadPositions(user, in: thread, except: [])
        try same(
            models.unread(of: user, in: thread, except: .none, asOf: now).count, unread.count,
            "the unread count " + place)
        try same(
            models.unread(of: user, in: thread, except: .none, asOf: now).first, unread.min(),
            "the first unread " + place)
        try same(
            models.readMarker(user, in: thread, asOf: now), naive.readUpTo(user, in: thread), "the marker " + place)
        let level = models.notifications(of: user, in: thread, asOf: now)
        let expected = naive.notifications(user, in: thread)
        try same(level.level, expected.level, "the level " + place)
        try same(level.until, expected.until, "the end of the level " + place)
    }

    @Test(arguments: Seeds.seeds(4)) func rebuildEqualsLiveModels(seed: UInt64) throws {
        let events = history(seed: seed, commands: 600)
        var encoder = EventEncoder()
        var rebuilt = ReadModels()
        for recorded in events {
            encoder.encode(recorded.event)
            let event = unsafe try ChatEvent(
                kept: encoder.kept.span.bytes, erasable: encoder.erasable.span.bytes, contents: .indexed)
            rebuilt.apply(event, at: recorded.position)
        }
        #expect(rebuilt == models(of: events))
    }

    /// Batches of any length equal single events, with all parts of the models together or apart.
    ///
    /// Some histories lack random events, or all events before the first join or message of a
    /// thread.
    @Test(arguments: Seeds.seeds(4)) func batchesEqualSingleEvents(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let isLossy = seed % 4 == 1
        let lost: Set<EventKind> =
            switch seed % 4 {
            case 2: [.threadOpened, .postcodeSet]
            case 3: [.threadOpened, .postcodeSet, .threadJoined, .threadLeft, .threadRead]
            default: []
            }
        let events = history(seed: seed, commands: 900).filter { recorded in
            !lost.contains(recorded.event.kind ?? .lost) && (!isLossy || Int.random(in: 0..<8, using: &random) > 0)
        }
        var encoder = EventEncoder()
        try expectPortionsEqual(
            events.map { recorded in
                encoder.encode(recorded.event)
                return (encoder.kept, encoder.erasable)
            }, &random)
        #expect(events.count > 300)
    }

    /// The same for histories outside the rules: few ids (0 among them) that repeat, come before
    /// their opening or registration, or have another type; any numbers and times; unknown and lost
    /// kinds.
    @Test(arguments: Seeds.seeds(4)) func batchesOutsideTheRulesEqualSingleEvents(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let idCounts: [EventKind: Int] = [
            .userRegistered: 1, .usernameChanged: 1, .postcodeSet: 2, .threadOpened: 2, .threadJoined: 2,
            .threadLeft: 2, .messagePosted: 3,
            .replyPosted: 4, .messageEdited: 3, .replyEdited: 4, .messageRetracted: 3, .replyRetracted: 4,
            .threadRead: 2,
            .sessionStarted: 2, .sessionEnded: 2, .lost: 0, .threadPolicySet: 2, .userInvited: 3,
            .invitationDeclined: 2,
            .invitationRevoked: 3, .roleSet: 3, .operatorGranted: 1, .operatorRevoked: 1, .messageRemoved: 3,
            .replyRemoved: 4,
            .userMuted: 3, .userUnmuted: 3, .userBanned: 3, .userUnbanned: 3, .memberRemoved: 3, .messagePinned: 3,
            .messageUnpinned: 3,
            .threadLocked: 2, .threadUnlocked: 2, .threadClosed: 2, .messageReported: 3, .replyReported: 4,
            .messageReportsResolved: 3,
            .replyReportsResolved: 4, .userBlocked: 2, .userUnblocked: 2, .custom: 3, .userErased: 1, .contentErased: 0,
            .clockCorrected: 0, .reactionAdded: 3, .reactionRemoved: 3,
            .threadMarkedUnread: 2, .notificationsSet: 2, .inboxRead: 1, .profileSet: 1, .threadRenamed: 2,
            .directOpened: 2,
            .historyRepaired: 0,
        ]
        #expect(idCounts.count == EventKind.allCases.count)
        let often: [EventKind] = [.messagePosted, .threadJoined, .threadLeft, .replyPosted]
        let idValues = UInt8(Int.random(in: 1...30, using: &random))
        let times: [Int64] = [.min, -86_400_001, -1, 0, 86_399_999, 86_400_000, .max]
        let records = (0..<1_000).map { _ -> (kept: [UInt8], erasable: [UInt8]?) in
            let kind =
                random.oneIn(2) ? often.randomElement(using: &random) : EventKind.allCases.randomElement(using: &random)
            let isUnknown = random.oneIn(40)
            let sentAt = random.oneIn(3) ? times.randomElement(using: &random) : nil
            var kept: [UInt8] = [isUnknown ? 99 : kind?.rawValue ?? 0, sentAt == nil ? 0 : 3]
            // Any recording time, so that times also decrease.
            for _ in 0..<6 { kept.append(random.oneIn(2) ? 0 : UInt8.random(in: 0...9, using: &random)) }
            if let sentAt { for byte in 0..<8 { kept.append(UInt8(truncatingIfNeeded: sentAt >> Int64(8 * byte))) } }
            // A reaction to a reply has a flag and one more id.
            let isOfReply = (kind == .reactionAdded || kind == .reactionRemoved) && random.oneIn(2)
            if isOfReply { kept[1] |= 32 }
            for _ in 0..<(kind.flatMap { idCounts[$0] } ?? 0) + (isOfReply ? 1 : 0) {
                kept += [UInt8](repeating: 0, count: 15) + [UInt8.random(in: 0..<idValues, using: &random)]
            }
            // A number for the kinds that have one; a field of a later version for the others.
            if kind != .userErased, kind != .contentErased, kind != .notificationsSet {
                kept.append(UInt8.random(in: 0..<128, using: &random))
            }
            // Bytes that are a policy and a history, a role, the end of a sanction, or the empty
            // name of a kind.
            switch kind {
            case .threadPolicySet:
                kept += [UInt8.random(in: 0...3, using: &random), UInt8.random(in: 0...1, using: &random)]
            case .notificationsSet:
                kept += [UInt8.random(in: 0...2, using: &random), UInt8.random(in: 0..<128, using: &random)]
            case .roleSet: kept.append(UInt8.random(in: 1...3, using: &random))
            case .userMuted, .userBanned: kept.append(UInt8.random(in: 0..<128, using: &random))
            case .custom, .userErased: kept.append(0)
            // No reason, and one range.
            case .contentErased: kept += [0, 1, UInt8.random(in: 0..<128, using: &random), 5]
            default: break
            }
            // Few emoji, and some that were erased.
            let isReaction = (kind == .reactionAdded || kind == .reactionRemoved) && !isUnknown && !random.oneIn(8)
            return (kept, isReaction ? Array((random.oneIn(3) ? "👍" : "🎉").utf8) : nil)
        }
        try expectPortionsEqual(records, &random)
    }

    /// Applies records one by one and in batches, with all parts together and apart.
    private func expectPortionsEqual(_ records: [(kept: [UInt8], erasable: [UInt8]?)], _ random: inout SeededRandom)
        throws
    {
        var (single, together) = (StoreModels(), StoreModels())
        var (identities, rules, views) = (Identities(), RuleState(), Views())
        var rest = records[...]
        var position: Position = 0
        while !rest.isEmpty {
            let portion = rest.prefix(Int.random(in: 1...(random.oneIn(3) ? 300 : 40), using: &random))
            rest = rest.dropFirst(portion.count)
            var batch = EventBatch(from: position + 1, capacity: portion.count)
            for (kept, erasable) in portion {
                position += 1
                let event = unsafe try ChatEvent(
                    kept: kept.span.bytes, erasable: erasable?.span.bytes, contents: ReadModels.contents)
                single.apply(event, at: position)
                unsafe try batch.append(kept: kept.span.bytes, erasable: erasable?.span.bytes)
            }
            var apart = batch
            together.apply(&batch)
            #expect(together == single)
            identities.resolve(&apart)
            rules.apply(apart, 0..<apart.count)
            var start = 0
            while start < apart.count {
                let slice = start..<min(apart.count, start + Int.random(in: 1...64, using: &random))
                views.apply(apart, slice)
                start = slice.upperBound
            }
            #expect(StoreModels(rules, ReadModels(identities, views)) == single)
        }
        #expect(together.digests == single.digests)
    }

    @Test(arguments: Seeds.seeds(4)) func pagesCoverThreadOnceInBothDirections(seed: UInt64) {
        let models = models(of: history(seed: seed, commands: 600))
        for thread in models.threads(PageRequest.latest(.max), asOf: .max).map(\.id) {
            let all = models.messages(of: thread, PageRequest.latest(.max), asOf: .max).posts
            for limit in [1, 3, 50] {
                var forward: [PostRecord] = []
                var page = models.messages(of: thread, PageRequest.after(0, limit: limit), asOf: .max).posts
                while let last = page.last {
                    forward += page
                    page =
                        models.messages(of: thread, PageRequest.after(last.position, limit: limit), asOf: .max).posts
                }
                var backward: [PostRecord] = []
                page = models.messages(of: thread, PageRequest.latest(limit), asOf: .max).posts
                while let first = page.first {
                    backward = page + backward
                    page =
                        models.messages(of: thread, PageRequest.before(first.position, limit: limit), asOf: .max).posts
                }
                #expect(forward == all)
                #expect(backward == all)
            }
        }
    }

    @Test(arguments: Seeds.seeds(4)) func modelsHandleErasedContent(seed: UInt64) {
        let events = history(seed: seed, commands: 400)
        var erased = ReadModels()
        for recorded in events {
            var event = recorded.event
            if event.content != .none { event.content = .erased }
            event.correlation = nil
            erased.apply(event, at: recorded.position)
        }
        let whole = models(of: events)
        for thread in whole.threads(PageRequest.latest(.max), asOf: .max) {
            let posts = whole.messages(of: thread.id, PageRequest.latest(.max), asOf: .max).posts.map { post in
                var post = post
                post.authorName = nil
                return post
            }
            #expect(erased.messages(of: thread.id, PageRequest.latest(.max), asOf: .max).posts == posts)
            #expect(
                erased.members(of: thread.id, asOf: .max).map(\.user)
                    == whole.members(of: thread.id, asOf: .max).map(\.user))
            #expect(erased.thread(thread.id, asOf: .max)?.name == thread.id.outwardCode?.description)
        }
    }
}

@Suite struct PageTests {
    private let positions: [Position] = [2, 3, 5, 8, 13, 21]

    private func page(_ page: PageRequest) -> [Position] {
        Array(positions[page.indices(count: positions.count) { positions[$0] }])
    }

    @Test func pageWithoutBoundsHasLatestEntries() {
        #expect(page(PageRequest.latest(2)) == [13, 21])
        #expect(page(PageRequest.latest()) == positions)
        #expect(page(PageRequest.latest(0)) == [])
        #expect(page(PageRequest.latest(-1)) == [])
        var negative = PageRequest.latest()
        negative.limit = .min
        #expect(page(negative) == [])
        negative.after = 3
        #expect(page(negative) == [])
    }

    @Test func boundsAreExclusive() {
        #expect(page(PageRequest.before(13, limit: 2)) == [5, 8])
        #expect(page(PageRequest.after(3, limit: 2)) == [5, 8])
        #expect(page(PageRequest(limit: 9, before: 13, after: 3)) == [5, 8])
        #expect(page(PageRequest(limit: 1, before: 21, after: 3)) == [5])
        #expect(page(PageRequest.before(2)) == [])
        #expect(page(PageRequest.after(21)) == [])
        #expect(page(PageRequest(before: 3, after: 8)) == [])
        #expect(page(PageRequest(limit: .max, before: .max, after: 0)) == positions)
    }

    @Test func pageAroundPositionIsBalanced() {
        #expect(page(PageRequest.around(8, limit: 4)) == [3, 5, 8, 13])
        #expect(page(PageRequest.around(8, limit: 5)) == [3, 5, 8, 13, 21])
        #expect(page(PageRequest.around(7, limit: 4)) == [3, 5, 8, 13])
        #expect(page(PageRequest.around(8, limit: 1)) == [8])
        #expect(page(PageRequest.around(8, limit: 0)) == [])
        #expect(page(PageRequest.around(8, limit: -3)) == [])
        // A page does not replace missing entries on one side with more on the other.
        #expect(page(PageRequest.around(2, limit: 4)) == [2, 3])
        #expect(page(PageRequest.around(99, limit: 4)) == [13, 21])
        #expect(page(PageRequest.around(0, limit: .max)) == positions)
        #expect(page(PageRequest.around(.max, limit: .max)) == positions)
    }

    @Test func boundsLimitPageAroundPosition() {
        #expect(page(PageRequest(limit: 4, before: 13, around: 8)) == [3, 5, 8])
        #expect(page(PageRequest(limit: 4, after: 5, around: 8)) == [8, 13])
        #expect(page(PageRequest(limit: 4, before: 5, around: 13)) == [2, 3])
        #expect(page(PageRequest(limit: 4, before: 3, after: 8, around: 5)) == [])
    }
}

extension Array where Element: Comparable {
    fileprivate var isSorted: Bool { zip(self, dropFirst()).allSatisfy { $0 <= $1 } }
}
