import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import Projections
import TestSupport
import Testing

@testable import Chat

/// A repair that loses a record shows nobody more than before.
///
/// `CHATJOURNAL_LOST_RECORDS` sets the number of repairs, 2,000 in the long form.
@Suite struct LostRecordTests {
    /// The kinds that decide who reads a thread, other than those that are listed and not undone.
    private static let narrowing: Set<EventKind> = [.directOpened, .threadOpened, .threadPolicySet]

    @Test func lostRecordWidensNoQuery() throws {
        let given = ProcessInfo.processInfo.environment["CHATJOURNAL_LOST_RECORDS"].flatMap { Int($0) }
        let count = given ?? Repetitions.few(24, of: 2_000)
        var (repairs, judged) = (0, 0)
        var kinds: Set<EventKind> = []
        var seed = Repetitions.seed
        print("lost records: first seed \(seed)")
        while repairs < count {
            let fixture = StoreFixture(seed: seed)
            let world = try VisibilityWorld(seed: seed, in: fixture.open())
            let original = try LostRecord.Answers(world.store, world)
            let events = try world.store.allEvents()
            try world.store.close()
            let records = try LostRecord.offsets(in: fixture)
            var random = SeededRandom(seed: seed)
            let others = events.filter { !Self.narrowing.contains($0.kind ?? .lost) }.shuffled(using: &random)
            for event in (events.filter { Self.narrowing.contains($0.kind ?? .lost) }.shuffled(using: &random) + others)
            {
                // Both halves occur in a sample.
                let isNarrowing = Self.narrowing.contains(event.kind ?? .lost)
                if count < 200, isNarrowing, repairs >= count / 2 { continue }
                guard repairs < count else { break }
                repairs += 1
                if let kind = event.kind { kinds.insert(kind) }
                let what = "seed \(seed), position \(event.position), \(event.kind?.name ?? "unknown")"
                let (options, report) = try LostRecord.repair(fixture, losing: [event.position], records)
                #expect(report.losses.map(\.positions) == [event.position...event.position], "\(what)")
                let verification = try ChatStore.verify(
                    "new", options: options.journal, deep: repairs.isMultiple(of: 20))
                #expect(verification.findings.map(\.message) == [], "\(what)")
                let repaired = try ChatStore.open("new", options: options)
                defer { try? repaired.close() }
                #expect(verification.threadsInDoubt == repaired.threadsInDoubt(), "\(what)")
                guard isNarrowing || !verification.possibleLosses.contains(event.kind ?? .lost) else { continue }
                judged += 1
                let answers = try LostRecord.Answers(repaired, world, events: isNarrowing)
                for leak in answers.leaks(beyond: original) { Issue.record("\(what): \(leak)") }
                if isNarrowing {
                    try Self.expectNoNewReader(of: try #require(event.thread), repaired, original, world, what)
                }
            }
            seed &+= 1
        }
        print("lost records: \(repairs) repairs of \(kinds.count) kinds, \(judged) judged")
    }

    /// Expects that nobody can join the thread of the lost event without an invitation who could
    /// not before.
    private static func expectNoNewReader(
        of thread: ThreadID, _ store: ChatStore, _ original: LostRecord.Answers, _ world: VisibilityWorld,
        _ what: String
    ) throws {
        if thread.outwardCode != nil { return }
        for user in world.users where try store.isUser(user) {
            let isAllowed =
                original.openThreads.contains(thread)
                || store.withCurrentModels { models, now in
                    models.joinPosition(user, in: thread, asOf: now) != nil
                        || models.people(ofDirect: thread, asOf: now) != nil
                        || models.invitationPosition(of: user, to: thread, asOf: now) != nil
                }
            let answer = try store.executeBlocking([CommandRequest(.joinThread(thread: thread, by: user))])[0]
            #expect(isAllowed || (try? answer.get()) == nil, "\(what): \(user) joined")
        }
    }

    // MARK: Scenarios

    private static let (ann, bert, cleo, olga) = (UserID(bits: 1), UserID(bits: 2), UserID(bits: 3), UserID(bits: 4))
    private static let (garden, shed, direct) = (ThreadID(bits: 31), ThreadID(bits: 32), ThreadID(bits: 33))

    /// Four people, of whom Olga is an operator; the open thread Garden, which all but Olga joined.
    private static func community(_ fixture: StoreFixture) throws -> ChatStore {
        let store = try fixture.openGarden(garden, [(ann, "Ann"), (bert, "Bert"), (cleo, "Cleo")])
        try store.executeBlocking(.registerUser(id: olga, username: "Olga"))
        try store.executeBlocking(.grantOperator(user: olga))
        return store
    }

    private static func post(_ thread: ThreadID, by user: UserID = ann, _ store: ChatStore) throws {
        try store.executeBlocking(.postMessage(thread: thread, body: "secret", by: user))
    }

    private static func position(of kind: EventKind, in thread: ThreadID, _ store: ChatStore) throws -> Position {
        try #require(store.allEvents().last { $0.kind == kind && $0.thread == thread }).position
    }

    /// Repairs a closed store that has lost these positions, and opens it.
    private static func repaired(_ fixture: StoreFixture, losing positions: [Position]) throws -> ChatStore {
        let (options, _) = try LostRecord.repair(fixture, losing: positions, LostRecord.offsets(in: fixture))
        return try ChatStore.open("new", options: options)
    }

    private static func expectStrangers(_ users: [UserID], in thread: ThreadID, _ store: ChatStore) throws {
        for user in users {
            expectRejection(.unknownThread) { () throws(ChatError) in
                _ = try store.reader(as: .user(user)).timeline(thread)
            }
            expectRejection(.unknownThread) { () throws(ChatError) in
                try store.executeBlocking(.joinThread(thread: thread, by: user))
            }
        }
    }

    @Test func lostOpeningOfDirectThreadLetsNobodyIn() throws {
        let fixture = StoreFixture()
        let store = try Self.community(fixture)
        try store.executeBlocking(.openDirect(id: Self.direct, with: [Self.bert], by: Self.ann))
        try Self.post(Self.direct, store)
        let lost = try Self.position(of: .directOpened, in: Self.direct, store)
        try store.close()
        let repaired = try Self.repaired(fixture, losing: [lost])
        #expect(repaired.threadsInDoubt() == [ThreadInDoubt(Self.direct, after: lost - 1)])
        try Self.expectStrangers([Self.cleo, Self.olga], in: Self.direct, repaired)
        #expect(try repaired.reader(as: .user(Self.bert)).timeline(Self.direct).count == 1)
        // It may be a direct thread, so it takes no policy and stays with its members.
        for policy in [ThreadPolicy.open, .inviteOnly] {
            expectRejection(.invalidPolicy) { () throws(ChatError) in
                try repaired.setPolicy(ofThreadInDoubt: Self.direct, policy)
            }
        }
        expectRejection(.unknownThread) { () throws(ChatError) in
            try repaired.executeBlocking(.setThreadPolicy(thread: Self.direct, policy: .open, by: Self.olga))
        }
        try Self.post(Self.direct, by: Self.bert, repaired)
        // The garden has an event after the loss neither, but the missing number explains the loss.
        #expect(try repaired.reader(as: .user(Self.olga)).thread(Self.garden).policy == .open)
        try repaired.close()
    }

    /// The opener's later join, as a member, is not taken for the lost one, which made them the
    /// owner.
    @Test func lostJoinOfTheOpenerGivesNoRole() throws {
        let fixture = StoreFixture()
        let store = try Self.community(fixture)
        try store.executeBlocking(.openThread(id: Self.shed, name: "Shed", by: Self.ann))
        let lost = try Self.position(of: .threadJoined, in: Self.shed, store)
        try store.executeBlocking(.removeMember(user: Self.ann, thread: Self.shed, reason: "x", by: Self.olga))
        try store.executeBlocking(.joinThread(thread: Self.shed, by: Self.ann))
        try store.executeBlocking(.joinThread(thread: Self.shed, by: Self.bert))
        try store.close()
        let repaired = try Self.repaired(fixture, losing: [lost])
        #expect(try repaired.reader(as: .host).roles(in: Self.shed).isEmpty)
        expectRejection(.notAModerator) { () throws(ChatError) in
            try repaired.executeBlocking(.mute(user: Self.bert, thread: Self.shed, reason: "x", by: Self.ann))
        }
        try repaired.close()
    }

    @Test func lostPolicyKeepsThreadPrivateUntilItIsSetAgain() throws {
        for settler in [Self.ann, nil] {
            let fixture = StoreFixture()
            let store = try Self.community(fixture)
            try store.executeBlocking(.openThread(id: Self.shed, name: "Shed", by: Self.ann))
            try store.executeBlocking(.joinThread(thread: Self.shed, by: Self.bert))
            try store.executeBlocking(
                .setThreadPolicy(thread: Self.shed, policy: .inviteOnly, history: .sinceJoining, by: Self.ann))
            try Self.post(Self.shed, store)
            let lost = try Self.position(of: .threadPolicySet, in: Self.shed, store)
            try store.close()
            let repaired = try Self.repaired(fixture, losing: [lost])
            #expect(repaired.threadsInDoubt() == [ThreadInDoubt(Self.shed, after: lost - 1)])
            try Self.expectStrangers([Self.cleo, Self.olga], in: Self.shed, repaired)
            #expect(try repaired.reader(as: .user(Self.bert)).timeline(Self.shed).count == 1)
            #expect(try repaired.reader(as: .host).thread(Self.shed).policy == .inviteOnly)
            let settlement: Position
            if let settler {
                // The last policy that is left is the same.
                settlement = try #require(
                    repaired.executeBlocking(
                        .setThreadPolicy(thread: Self.shed, policy: .open, history: .all, by: settler)
                    ).events.last
                ).position
            } else {
                settlement = try repaired.setPolicy(ofThreadInDoubt: Self.shed, .open)
                #expect(try repaired.event(at: settlement).user == Self.ann)
                expectRejection(.unknownThread) { () throws(ChatError) in
                    try repaired.setPolicy(ofThreadInDoubt: Self.shed, .open)
                }
            }
            #expect(repaired.threadsInDoubt() == [])
            try Self.post(Self.shed, repaired)
            // An operator reads what follows, and who joins what the new policy says.
            #expect(try repaired.reader(as: .user(Self.olga)).timeline(Self.shed).count == 1)
            try repaired.executeBlocking(.joinThread(thread: Self.shed, by: Self.cleo))
            #expect(try repaired.reader(as: .user(Self.cleo)).timeline(Self.shed).count == (settler == nil ? 0 : 2))
            let now = (repaired.head, repaired.storeModels)
            try repaired.close()
            let reopened = try ChatStore.open("new", options: fixture.options)
            #expect(reopened.storeModels == now.1 && reopened.head == now.0)
            try reopened.close()
            #expect(
                try ChatStore.verify("new", options: fixture.options.journal, deep: true).findings.map(\.message) == [])
        }
    }

    /// A closing whose record is lost is undone by a policy that an owner set after it, and is said to
    /// be among what may be lost.
    @Test func lostClosingIsListedAmongPossibleLosses() throws {
        let fixture = StoreFixture()
        let store = try Self.community(fixture)
        try store.executeBlocking(.openThread(id: Self.shed, name: "Shed", by: Self.ann))
        try store.executeBlocking(.closeThread(thread: Self.shed, by: Self.ann))
        let lost = try Self.position(of: .threadClosed, in: Self.shed, store)
        try store.executeBlocking(.setThreadPolicy(thread: Self.shed, policy: .listed, by: Self.ann))
        #expect(try store.reader(as: .user(Self.bert)).directory().entries.isEmpty)
        try store.close()
        let repaired = try Self.repaired(fixture, losing: [lost])
        #expect(repaired.threadsInDoubt().isEmpty)
        #expect(try repaired.reader(as: .user(Self.bert)).directory().entries.map(\.id) == [Self.shed])
        try repaired.close()
        let report = try ChatStore.verify("new", options: fixture.options.journal)
        #expect(report.possibleLosses.contains(.threadClosed))
    }

    /// A doubt that a later event ended is one as of every position from the loss on.
    @Test func aDoubtBeginsAtTheLoss() throws {
        let fixture = StoreFixture()
        let store = try Self.community(fixture)
        try store.executeBlocking(.openThread(id: Self.shed, name: "Shed", by: Self.ann))
        try store.executeBlocking(.setThreadPolicy(thread: Self.shed, policy: .inviteOnly, by: Self.ann))
        let lost = store.head.position
        try store.executeBlocking(.registerUser(username: "Dora"))
        try store.executeBlocking(.setThreadPolicy(thread: Self.shed, policy: .listed, by: Self.ann))
        let end = store.head.position
        try store.close()
        let repaired = try Self.repaired(fixture, losing: [lost])
        for (moment, isReadable) in [(lost - 1, true), (lost, false), (end - 1, false), (end, true)] {
            let start = try repaired.readingStart(of: Self.olga, in: Self.shed, asOf: .position(moment))
            #expect((start != nil) == isReadable, "as of \(moment)")
        }
        try repaired.close()
        let report = try ChatStore.verify("new", options: fixture.options.journal, deep: true)
        #expect(report.findings.map(\.message) == [])
    }

    @Test func laterEventsProveNothing() throws {
        let fixture = StoreFixture()
        let store = try Self.community(fixture)
        try store.executeBlocking(.openThread(id: Self.shed, name: "Shed", by: Self.ann))
        // The end of the history is lost, so the missing numbers do not explain it.
        try store.executeBlocking(.setThreadPolicy(thread: Self.shed, policy: .inviteOnly, by: Self.ann))
        let lost = store.head.position
        try store.close()
        let repaired = try Self.repaired(fixture, losing: [lost])
        let threads = [Self.garden, Self.shed].map { ThreadInDoubt($0, after: lost - 1) }
        #expect(repaired.threadsInDoubt() == threads)
        // The message has the number that the lost event had.
        try Self.post(Self.shed, repaired)
        #expect(repaired.threadsInDoubt() == threads)
        try Self.expectStrangers([Self.cleo, Self.olga], in: Self.shed, repaired)
        try Self.expectStrangers([Self.olga], in: Self.garden, repaired)
        // A new thread is in no doubt.
        try repaired.executeBlocking(.openThread(id: ThreadID(bits: 40), name: "New", by: Self.cleo))
        #expect(try repaired.reader(as: .user(Self.olga)).thread(ThreadID(bits: 40)).policy == .open)
        try repaired.close()
    }

    @Test func nextNumberOrSumOfGapsProvesThatNothingIsLost() throws {
        let fixture = StoreFixture()
        let store = try Self.community(fixture)
        try store.executeBlocking(.openThread(id: Self.shed, name: "Shed", by: Self.ann))
        try store.executeBlocking(.setProfile(about: "lost", by: Self.ann))
        let profile = store.head.position
        try Self.post(Self.shed, store)
        try Self.post(Self.garden, store)
        let message = store.head.position
        try Self.post(Self.garden, store)
        try store.close()
        // Both have the next number after the loss.
        var repaired = try Self.repaired(fixture, losing: [profile])
        #expect(repaired.threadsInDoubt() == [])
        try repaired.close()
        // The garden misses one number, so the shed has lost nothing, although nothing follows in
        // it.
        repaired = try Self.repaired(fixture, losing: [message])
        #expect(repaired.threadsInDoubt().map(\.thread) == [Self.garden])
        try repaired.close()
        // One of the two positions is of no thread.
        repaired = try Self.repaired(fixture, losing: [profile, message])
        #expect(repaired.threadsInDoubt().map(\.thread) == [Self.garden, Self.shed])
        try repaired.close()
    }

    /// A journal that an earlier version repaired, or a copy that ends within the window, has no
    /// end.
    @Test func windowWithoutEndProvesNothing() throws {
        let fixture = StoreFixture()
        let store = try Self.community(fixture)
        try store.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: Self.ann))
        try store.executeBlocking(.setProfile(about: "lost", by: Self.ann))
        let lost = store.head.position
        try Self.post(Self.garden, store)
        try store.executeBlocking(.openThread(id: Self.shed, name: "Shed", by: Self.ann))
        try store.close()
        let (options, report) = try LostRecord.repair(fixture, losing: [lost], LostRecord.offsets(in: fixture))
        let storage = options.journal.storage
        var copying = BackupOptions(upTo: report.head.position - 1)
        (copying.storage, copying.destinationStorage) = (storage, storage)
        // A commit holds several records, so the copy is an import of the events.
        let complete = try ChatStore.openReadOnly("new", options: options)
        #expect(complete.threadsInDoubt() == [])
        let copy = try ChatStore.open("copy", options: options)
        try LostRecord.append(complete.allEvents().dropLast().map(\.event), to: copy, options)
        let open = try ChatStore.open("copy", options: options)
        #expect(open.threadsInDoubt() == [ThreadInDoubt(Self.garden, after: lost - 1)])
        expectRejection(.unknownThread) { () throws(ChatError) in
            _ = try open.reader(as: .user(Self.olga)).timeline(Self.garden)
        }
        #expect(try open.reader(as: .user(Self.olga)).thread(Self.shed).policy == .open)
        try open.executeBlocking(.setThreadPolicy(thread: Self.garden, policy: .open, history: .all, by: Self.ann))
        #expect(open.threadsInDoubt() == [])
        try Self.post(Self.garden, open)
        #expect(try open.reader(as: .user(Self.olga)).timeline(Self.garden).count == 1)
        try open.close()
        #expect(try ChatStore.verify("copy", options: options.journal, deep: true).findings.map(\.message) == [])
    }
}

/// Damage to single records, and the answers to compare.
enum LostRecord {
    /// Returns the offset of the kept part of each record in the only segment of a closed journal.
    static func offsets(in fixture: StoreFixture) throws -> [Position: Int] {
        let (_, bytes) = try segment(fixture)
        let data = Data(bytes)
        var offsets: [Position: Int] = [:]
        var next = 0
        let journal = try Journal.openReadOnly(fixture.directory, options: fixture.options.journal)
        try journal.forEachRecord(in: 1...journal.lastPosition) { position, _, kept, _ in
            if let found = data.range(of: Data(kept.toArray()), in: next..<data.count) {
                offsets[position] = found.lowerBound
                next = found.upperBound
            }
            return true
        }
        return offsets
    }

    private static func segment(_ fixture: StoreFixture) throws -> (path: String, bytes: [UInt8]) {
        let storage = try #require(fixture.options.journal.storage as? MemoryStorage)
        let files = storage.allContents().filter {
            $0.key.hasPrefix("\(fixture.directory)/") && $0.key.hasSuffix(".segment")
        }
        let file = try #require(files.first)
        #expect(files.count == 1)
        return (file.key, file.value)
    }

    /// Repairs a journal whose records at these positions are damaged into the directory `new`.
    static func repair(
        _ fixture: StoreFixture, losing positions: [Position], _ offsets: [Position: Int]
    ) throws -> (options: StoreOptions, report: RepairReport) {
        let storage = try #require(fixture.options.journal.storage as? MemoryStorage)
        for path in storage.allContents().keys where path.hasPrefix("new/") { try storage.remove(path) }
        let (path, whole) = try segment(fixture)
        var bytes = whole
        for position in positions { bytes[try #require(offsets[position])] ^= 0x40 }
        storage.setContents(bytes, of: path)
        defer { storage.setContents(whole, of: path) }
        let options = RepairOptions(storage: storage, destinationStorage: storage)
        return (fixture.options, try ChatStore.repair(journalAt: fixture.directory, to: "new", options: options))
    }

    /// Closes a store and appends events to its journal.
    static func append(_ events: [ChatEvent], to store: ChatStore, _ options: StoreOptions) throws {
        try store.close()
        let journal = try Journal.open("copy", options: options.journal)
        var encoder = EventEncoder()
        for event in events {
            var draft = CommitDraft()
            encoder.encode(event)
            unsafe try draft.append(kept: encoder.kept.span.bytes, erasable: encoder.erasable.span.bytes)
            _ = try journal.append(draft, expecting: journal.lastPosition)
        }
        try journal.close()
    }

    /// What each user is shown.
    struct Answers {
        /// By user and thread: the position after which the user reads it, as of now and as of some
        /// moments.
        private var starts: [String: Position] = [:]
        private var moderated: Set<String> = []
        private var listed: Set<String> = []
        /// The threads that every user may join.
        private(set) var openThreads: Set<ThreadID> = []
        /// By user: the shown events, and the text if it is shown.
        private var events: [UserID: [Position: String]] = [:]

        init(_ store: ChatStore, _ world: VisibilityWorld, events includesEvents: Bool = true) throws {
            let now = store.head.position
            store.withCurrentModels { models, _ in
                for thread in world.threads {
                    guard let index = models.index(ofThread: thread, asOf: now) else { continue }
                    if models.policyAndHistory(ofThread: index, asOf: now).policy != .inviteOnly {
                        openThreads.insert(thread)
                    }
                    if models.isListed(index, asOf: now) { listed.insert("\(thread)") }
                }
                for user in world.users {
                    for thread in world.threads {
                        for moment in world.moments + [now] {
                            let key = "\(user) \(thread) \(moment >= now - 1 ? "now" : "\(moment)")"
                            if let start = models.readingStart(user, thread, at: moment, current: now) {
                                starts[key] = start
                            }
                        }
                        if models.moderates(user, thread, asOf: now), models.mayRead(user, thread, asOf: now) {
                            moderated.insert("\(user) \(thread)")
                        }
                    }
                }
            }
            guard includesEvents else { return }
            for user in world.users where try store.isUser(user) {
                var shown: [Position: String] = [:]
                try store.forEachEvent(matching: EventFilter(as: .user(user))) { event, _ in
                    shown[event.position] = event.event.body ?? ""
                }
                events[user] = shown
            }
        }

        func leaks(beyond original: Answers) -> [String] {
            var leaks = starts.filter { $0.value < original.starts[$0.key] ?? .max }.map {
                "reads \($0.key) after \($0.value)"
            }
            leaks += moderated.subtracting(original.moderated).map { "moderates \($0)" }
            leaks += openThreads.subtracting(original.openThreads).map { "everybody may join \($0)" }
            leaks += listed.subtracting(original.listed).map { "\($0) is listed" }
            for (user, shown) in events {
                let before = original.events[user] ?? [:]
                leaks += shown.filter { before[$0.key] == nil || !$0.value.isEmpty && before[$0.key] != $0.value }.map {
                    "\(user) is shown event \($0.key)"
                }
            }
            return leaks
        }
    }
}
