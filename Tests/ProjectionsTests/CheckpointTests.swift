import ChatDomain
import ChatValues
import ChatTesting
import Columns
import EventJournal
import TestSupport
import Testing

@testable import Projections

/// The sections of a checkpoint in memory.
private final class Sections: ColumnSink, ColumnSource {
    var bytes: [UInt8] = []
    var offset = 0

    init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    var byteCount: Int { bytes.count }

    func write(_ block: [UInt8]) { bytes += block }

    func read(into block: inout [UInt8]) throws(ColumnError) -> Int {
        let count = min(ColumnWriter.blockByteCount, bytes.count - offset)
        block.replaceSubrange(0..<count, with: bytes[offset..<offset + count])
        offset += count
        return count
    }
}

private func written(_ models: StoreModels, isCanonical: Bool = false) -> [String: [UInt8]] {
    var sections: [String: [UInt8]] = [:]
    for name in StoreModels.componentNames {
        let sink = Sections()
        var writer = ColumnWriter(sink, isCanonical: isCanonical)
        models.write(component: name, to: &writer)
        writer.flush()
        sections[name] = sink.bytes
    }
    return sections
}

private func read(_ sections: [String: [UInt8]], at position: Position) throws(ColumnError) -> StoreModels {
    try StoreModels(at: position) { (name) throws(ColumnError) in
        guard let bytes = sections[name] else { throw ColumnError("no section \(name)") }
        return Sections(bytes)
    }
}

@Suite struct CheckpointTests {
    @Test(arguments: Seeds.seeds(2)) func restoredModelsContinueLikeRebuild(seed: UInt64) throws {
        let events = history(seed: seed, commands: 300)
        var random = SeededRandom(seed: seed)
        let whole = storeModels(of: events)
        for round in 0..<6 {
            let cut = Int.random(in: 0...events.count, using: &random)
            let before = storeModels(of: events.prefix(cut))
            var after = try read(written(before), at: before.position)
            #expect(after == before)
            for recorded in events.dropFirst(cut) { after.apply(recorded.event, at: recorded.position) }
            #expect(after == whole)
            if round == 0 { #expect(after.digests == whole.digests) }
            // A second replay uses the restored tables: known keys keep their dense indexes, and
            // new keys get further ones.
            for recorded in events { after.apply(recorded.event, at: recorded.position) }
            var twice = whole
            for recorded in events { twice.apply(recorded.event, at: recorded.position) }
            #expect(after == twice)
        }
    }

    @Test(arguments: Seeds.seeds(4)) func digestIsIndependentOfTableSeeds(seed: UInt64) {
        let events = history(seed: seed, commands: 300)
        let (first, second) = (storeModels(of: events), storeModels(of: events))
        #expect(written(first) != written(second))
        #expect(written(first, isCanonical: true) == written(second, isCanonical: true))
        #expect(first.digests == second.digests)
        let shorter = storeModels(of: events.dropLast())
        #expect(shorter.digests["rules"] != first.digests["rules"])
    }

    /// Forged bytes with a valid checksum are rejected, or give models that answer queries and
    /// apply events.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 2))) func forgedBytesAreRejectedOrHarmless(seed: UInt64) {
        let events = history(seed: seed, commands: 120)
        let head = storeModels(of: events).position
        let original = written(storeModels(of: events))
        let later = history(seed: seed &+ 1, commands: 60)
        var random = SeededRandom(seed: seed)
        var refused = 0
        for _ in 0..<Repetitions.few(60, of: 200) {
            var sections = original
            let name = StoreModels.componentNames[Int.random(in: 0..<StoreModels.componentNames.count, using: &random)]
            let count = sections[name]?.count ?? 0
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let offset = Int.random(in: 0..<count, using: &random)
                sections[name]?[offset] =
                    [0, 1, 2, 127, 128, 255, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random)
                    ?? 0
            }
            guard var models = try? read(sections, at: head) else {
                refused += 1
                continue
            }
            ask(models, events)
            for recorded in later { models.apply(recorded.event, at: head + recorded.position) }
            ask(models, events + later)
            for recorded in later {
                _ = ChatState(models.readModels.identities, models.rules).faults(of: recorded.event)
            }
        }
        #expect(refused > 20)
    }

    /// The inboxes of users on whom another one acts much, which have chains and blocks.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 4))) func inboxesOfActiveUsersAreRestored(seed: UInt64) throws {
        var (history, random) = (InboxTests.History(seed: seed, users: 5, messages: 5), SeededRandom(seed: seed))
        for turn in 0..<900 { history.act(turn.isMultiple(of: 50) ? 2 : turn % 2, on: 3) }
        let events = history.events
        let whole = storeModels(of: events)
        for _ in 0..<4 {
            let cut = Int.random(in: 100...events.count, using: &random)
            var after = try read(written(storeModels(of: events.prefix(cut))), at: Position(cut))
            for recorded in events.dropFirst(cut) { after.apply(recorded.event, at: recorded.position) }
            #expect(after == whole && after.digests["inbox"] == whole.digests["inbox"])
        }
        // Forged bytes are rejected, or give models that answer queries and apply events.
        let original = written(whole)
        var rejected = 0
        for _ in 0..<Repetitions.few(60, of: 300) {
            var sections = original
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                sections["inbox"]?[Int.random(in: 0..<(original["inbox"]?.count ?? 1), using: &random)] =
                    [0, 1, 2, 40, 127, 128, 255, UInt8.random(in: 0...255, using: &random)].randomElement(
                        using: &random) ?? 0
            }
            guard var models = try? read(sections, at: whole.position) else {
                rejected += 1
                continue
            }
            for recorded in events { models.apply(recorded.event, at: whole.position + recorded.position) }
            ask(models, events)
            for user in Set(events.compactMap(\.user)) {
                let count = models.readModels.inboxCount(of: user, asOf: .max)
                for row in models.readModels.next(200, of: InboxScan(of: user, 0..<count, except: .none)) {
                    _ = models.readModels.inboxItem(row + 1, of: user, except: .none, asOf: .max)
                }
            }
        }
        #expect(rejected > 5)
    }

    /// The community component after each event, also between the opening of a thread and its first
    /// join.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 2))) func communityIsRestoredAtEveryPosition(seed: UInt64)
        throws
    {
        var before = StoreModels()
        var digests: Set<[UInt8]> = []
        for (index, recorded) in history(seed: seed, commands: 500).enumerated() {
            before.apply(recorded.event, at: recorded.position)
            // By default, each position whose event changes the component, and one of eight others.
            let digest = before.digests["community"] ?? []
            guard Repetitions.areAll || index.isMultiple(of: 8) || !digests.contains(digest) else { continue }
            let after = try read(written(before), at: before.position)
            #expect(after.readModels.views.community == before.readModels.views.community)
            #expect(after.digests["community"] == digest)
            digests.insert(digest)
        }
        #expect(digests.count > 20)
    }

    /// As ``forgedBytesAreRejectedOrHarmless(seed:)``, in the community component only.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 3))) func forgedCommunityIsRejectedOrHarmless(seed: UInt64) {
        let events = history(seed: seed, commands: 250)
        let head = storeModels(of: events).position
        let original = written(storeModels(of: events))
        let later = history(seed: seed &+ 1, commands: 80)
        var random = SeededRandom(seed: seed)
        var rejected = 0
        for _ in 0..<Repetitions.few(45, of: 150) {
            var sections = original
            let count = sections["community"]?.count ?? 0
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                sections["community"]?[Int.random(in: 0..<count, using: &random)] =
                    [0, 1, 2, 3, 127, 128, 255, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random)
                    ?? 0
            }
            guard var models = try? read(sections, at: head) else {
                rejected += 1
                continue
            }
            askCommunity(models.readModels, events)
            for recorded in later { models.apply(recorded.event, at: head + recorded.position) }
            askCommunity(models.readModels, events + later)
        }
        #expect(rejected > 20)
    }

    /// The queries of reports name the author of the post, which must exist at the report's
    /// position.
    @Test(arguments: [false, true]) func reportBeforeItsPostIsRejected(isReply: Bool) throws {
        var models = storeModels(of: history(seed: 3, commands: 120))
        let identities = models.readModels.identities
        let post = PostKey(identities.posts.read(isReply: isReply) { $0.count } / 2, isReply: isReply)
        let posted = identities.position(of: post)
        for (position, isAccepted) in [(1, false), (posted, false), (posted + 1, true)] {
            models.readModels.views.community.reports = ReportHistory()
            models.readModels.views.community.reports.append(post, by: 0, 0, at: position)
            if isAccepted {
                #expect(try read(written(models), at: models.position) == models)
            } else {
                #expect(throws: ColumnError.self) { try read(written(models), at: models.position) }
            }
        }
    }

    /// The histories of ``CommunityHistory`` whose entries are rows of another table.
    enum SparseHistory: CaseIterable {
        case roles, mutes, bans, invitations, policies, locks, operators, pins, blocks, blockingUser, blockedUser
    }

    @Test(arguments: SparseHistory.allCases) func historiesOfMissingEntriesAreRejected(_ kind: SparseHistory) throws {
        var models = storeModels(of: history(seed: 3, commands: 120))
        let ids = models.readModels.identities
        let (users, threads, memberships) = (ids.users.count, ids.threads.count, ids.memberships.count)
        for excess in [-1, 0, 1] {
            var community = CommunityHistory()
            switch kind {
            case .roles: community.roles.set(1, at: 1, of: memberships + excess)
            case .mutes: community.mutes.set(1, at: 1, of: memberships + excess)
            case .bans: community.bans.set(1, at: 1, of: memberships + excess)
            case .invitations: community.invitations.set(1, at: 1, of: memberships + excess)
            case .policies: community.policies.set(1, at: 1, of: threads + excess)
            case .locks: community.locks.set(1, at: 1, of: threads + excess)
            case .operators: community.operators.set(1, at: 1, of: users + excess)
            case .pins:
                community.pins.set(1, at: 1, of: ids.posts.messages.count + excess)
                community.pinsOfThread.append(to: 0)
            case .blocks:
                _ = community.blockPairs.insert(0, 1)
                community.blocks.set(1, at: 1, of: community.blockPairs.count + excess)
            case .blockingUser: community.blocks.set(1, at: 1, of: community.blockPairs.insert(users + excess, 0).index)
            case .blockedUser: community.blocks.set(1, at: 1, of: community.blockPairs.insert(0, users + excess).index)
            }
            models.readModels.views.community = community
            if excess < 0 {
                // Compares what is stored. The lists of blocked users are derived by reading, and
                // the test has not set them.
                let restored = try read(written(models), at: models.position)
                #expect(written(restored, isCanonical: true) == written(models, isCanonical: true))
            } else {
                #expect(throws: ColumnError.self) { try read(written(models), at: models.position) }
            }
        }
    }

    @Test func truncatedSectionsAreRejected() {
        let models = storeModels(of: history(seed: 3, commands: 12))
        let original = written(models)
        for name in StoreModels.componentNames {
            let bytes = original[name] ?? []
            // Tests each length near both ends, where the counts and the last column are, and every
            // seventh between them.
            for count in 0..<bytes.count where count < 48 || bytes.count - count < 48 || count % 7 == 0 {
                var sections = original
                sections[name] = Array(bytes.prefix(count))
                #expect(throws: ColumnError.self) { try read(sections, at: models.position) }
            }
            var sections = original
            sections[name]?.append(0)
            #expect(throws: ColumnError.self) { try read(sections, at: models.position) }
        }
    }

    /// Queries the roles, sanctions, pins, reports, blocks and access of what the events name.
    private func askCommunity(_ models: ReadModels, _ events: [RecordedEvent]) {
        let users = Set(events.compactMap(\.event.user))
        for now in [models.position, models.position / 2, 0] {
            _ = models.operators(asOf: now)
            for thread in Set(events.compactMap(\.event.thread)) {
                _ = models.pinnedMessages(of: thread, asOf: now)
                _ = models.compactMap(models.scan(reportsOf: thread)) { models.openReport($0, in: thread, asOf: now) }
                _ = models.readers(of: thread, asOf: now)
                for membership in models.compactMap(models.scan(membershipsOf: thread), { $0 }) {
                    _ = models.role(ofMembership: membership, asOf: now)
                    _ = models.sanctions(ofMembership: membership, asOf: now)
                    _ = models.invitation(ofMembership: membership, asOf: now)
                }
                for user in users { _ = models.moderates(user, thread, asOf: now) }
            }
            for user in users {
                _ = models.access(of: user, asOf: now)
                for other in users { _ = models.isBlocked(user, by: other, asOf: now) }
            }
        }
    }

    private struct Reader: Hashable {
        var user: UserID
        var thread: ThreadID
    }

    /// Queries everything that the events name, by default for one event in three.
    private func ask(_ storeModels: StoreModels, _ events: [RecordedEvent]) {
        let models = storeModels.readModels
        for now in [models.position, models.position / 2, 0] {
            _ = models.threads(PageRequest.latest(.max), asOf: now)
            // Each thread and each user once.
            var (threads, users, readers): (Set<ThreadID>, Set<UserID>, Set<Reader>) = ([], [], [])
            for index in Repetitions.oneIn(6, of: events.indices) {
                let event = events[index].event
                if let thread = event.thread, threads.insert(thread).inserted {
                    _ = models.messages(of: thread, PageRequest.latest(20), asOf: now)
                    _ = models.members(of: thread, asOf: now)
                    _ = models.lastMessage(of: thread, asOf: now)
                    if let code = thread.outwardCode { _ = models.residents(of: code, asOf: now) }
                }
                if let thread = event.thread, let user = event.user,
                    readers.insert(Reader(user: user, thread: thread)).inserted
                {
                    _ = models.unread(of: user, in: thread, except: models.blockedUsers(by: user), asOf: now)
                }
                if let user = event.user, users.insert(user).inserted {
                    _ = models.profile(user, asOf: now)
                    _ = models.threads(of: user, asOf: now)
                    _ = models.access(of: user, asOf: now)
                }
                if case (.messagePosted, .message(_, _, let itsMessage, _)) = (event.kind, event.shape) {
                    _ = models.replies(to: itsMessage, PageRequest.latest(20), asOf: now)
                }
                if case (.replyPosted, .reply(_, _, _, let itsReply, _)) = (event.kind, event.shape) {
                    _ = models.post(.reply(itsReply), asOf: now)
                }
                if index.isMultiple(of: 8) { askCommunity(models, [events[index]]) }
                if let name = event.username { _ = models.userID(named: name.text, asOf: now) }
                if let subject = event.subject { _ = models.userID(withSubject: subject, asOf: now) }
            }
        }
    }
}
