import Chat
import ChatTesting
import Testing

// TestingWithChatTesting.md and the documentation of the types of `ChatTesting` show parts of this
// code.

let ann = UserID(bits: 1)
// swift-format-ignore: NeverForceUnwrap
let sw1a = ThreadID(OutwardCode("SW1A")!)

/// Options with which two runs produce the same bytes.
func reproducibleOptions(seed: UInt64) -> StoreOptions {
    var options = StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: seed))
    options.journal.storage = MemoryStorage()
    options.journal.entropy = SeededEntropy(seed: seed)
    options.journal.slotSyncDelay = nil  // no background work
    options.checkpoints = nil
    return options
}

@Suite struct RuleTests {
    @Test func formerMemberCannotPost() {
        let outcome = DeciderSpecification()
            .given(.registerUser(id: ann, username: "Ann"), .setPostcode(postcode: "SW1A 1AA", by: ann))
            .given(.leaveThread(thread: sw1a, by: ann))
            .when(.postMessage(thread: sw1a, body: "Milk?", by: ann))
        #expect(outcome.rejection?.code == .notAMember)
    }

    @Test func invalidUsernameIsRejected() {
        let outcome = DeciderSpecification()
            .given(.registerUser(id: ann, username: "Ann"))
            .when(.changeUsername(username: "", by: ann))
        #expect(outcome.rejection?.code == .invalidUsername)
    }
}

@Suite struct GeneratedHistoryTests {
    @Test(arguments: Seeds.seeds(10)) func rebuildGivesSameViews(seed: UInt64) throws {
        let store = try ChatStore.open("journal", options: reproducibleOptions(seed: seed))
        var commands = CommandGenerator(seed: seed)
        for answer in try store.executeBlocking((1...200).map { _ in commands.nextRequest() }) {
            if case .failure(let rejection) = answer { print(rejection.code) }
        }
        #expect(try store.rebuild())
    }

    @Test func sameSeedGivesSameBytes() throws {
        let heads = try (1...2).map { _ in
            let store = try ChatStore.open("journal", options: reproducibleOptions(seed: 7))
            try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
            return store.head
        }
        #expect(heads[0] == heads[1])
    }
}

/// The number of posts that were begun, and the number that the store has acknowledged.
struct Posts: Sendable {
    var begun = 0
    var acknowledged = 0
}

/// A store after a crash that has lost a post, or has more than were begun.
struct WrongPosts: Error {
    var found: Int
    var expected: ClosedRange<Int>
}

/// Opens a store with Ann in SW1A; commands that are repeated after a crash take effect once.
func openStore(on disk: SimulatedDisk) throws -> ChatStore {
    var options = reproducibleOptions(seed: 1)
    options.journal.storage = disk
    let store = try ChatStore.open("journal", options: options)
    try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
    try store.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: ann))
    return store
}

/// Posts a message, and tells the recorder immediately before and after.
func post(to store: ChatStore, _ recorder: CrashRecorder<Posts>) throws {
    recorder.update { $0.begun += 1 }
    let id = MessageID(bits: UInt128(recorder.model.begun))
    try store.executeBlocking(.postMessage(id: id, thread: sw1a, body: "Milk?", by: ann))
    recorder.update { $0.acknowledged += 1 }
}

@Suite struct PowerFailureTests {
    @Test(arguments: Seeds.seeds(10)) func acknowledgedPostSurvives(seed: UInt64) throws {
        let disk = SimulatedDisk(seed: seed)
        let store = try openStore(on: disk)
        try store.executeBlocking(.postMessage(thread: sw1a, body: "Milk?", by: ann))
        let recovered = try openStore(on: disk.crash(.random(seed: seed)))
        #expect(try recovered.reader(as: .host).timeline(sw1a).map(\.body) == ["Milk?"])
    }

    @Test func noMomentLosesPost() throws {
        var explorer = CrashExplorer("posts", model: Posts()) { disk, recorder in
            let store = try openStore(on: disk)
            for _ in 1...3 { try post(to: store, recorder) }
        } recovery: { disk, recorder in
            let store = try openStore(on: disk)
            let count = try store.reader(as: .host).timeline(sw1a).count
            let expected = recorder.model.acknowledged...recorder.model.begun
            guard expected.contains(count) else { throw WrongPosts(found: count, expected: expected) }
            // A message that was shown survives later crashes.
            recorder.update { $0 = Posts(begun: count, acknowledged: count) }
            try post(to: store, recorder)
        }
        explorer.outcomesPerCrash = 4
        explorer.exhaustiveLimit = 4
        let report = try explorer.run()
        #expect(report.failures.isEmpty, "\(report)")
    }

    @Test func seriesOfSeeds() throws {
        var series = CrashSeries { seed in
            var explorer = CrashExplorer("opening-\(seed)", model: 0) { disk, _ in
                _ = try openStore(on: disk)
            } recovery: { disk, _ in
                _ = try openStore(on: disk)
            }
            explorer.seed = seed
            return explorer
        }
        let report = try series.run(states: 100)
        #expect(report.failures.isEmpty, "\(report)")
    }

    @Test func journalOnSimulatedDisk() throws {
        var draft = CommitDraft()
        let content = Array("Milk?".utf8)
        try draft.append(kept: content.span.bytes, erasable: content.span.bytes)
        let disk = SimulatedDisk(seed: 1)
        var options = JournalOptions()
        options.storage = disk
        options.slotSyncDelay = nil  // no background work
        let journal = try Journal.open("journal", options: options)
        _ = try journal.append(draft, expecting: 0)
        // At any moment, the disk after a power failure:
        options.storage = disk.crash(.random(seed: 7))
        let recovered = try Journal.open("journal", options: options)
        #expect(recovered.lastPosition <= 1)
    }

    @Test func failedSyncStopsStore() throws {
        let disk = SimulatedDisk(seed: 1)
        let store = try openStore(on: disk)
        disk.inject(DiskFault(.fails(.failed), at: .chance(1, of: [.sync])))
        #expect(throws: ChatError.self) {
            try store.executeBlocking(.postMessage(thread: sw1a, body: "Milk?", by: ann))
        }
        #expect(throws: ChatError.self) { try store.reader(as: .host).timeline(sw1a) }
    }
}

@Suite struct RaceTests {
    @Test(arguments: Seeds.seeds(20)) func repeatedPostTakesEffectOnce(seed: UInt64) throws {
        let executor = SeededExecutor(seed: seed)
        var options = reproducibleOptions(seed: seed)
        options.journal.executor = executor
        let store = try ChatStore.open("journal", options: options)
        let post = ChatCommand.postMessage(id: MessageID(bits: 7), thread: sw1a, body: "Milk?", by: ann)
        try executor.run {
            try await store.execute(.registerUser(id: ann, username: "Ann"))
            try await store.execute(.setPostcode(postcode: "SW1A 1AA", by: ann))
            try await withThrowingTaskGroup { tasks in
                for _ in 0..<8 { tasks.addTask { try await store.execute(post) } }
                try await tasks.waitForAll()
            }
        }
        #expect(try store.reader(as: .host).timeline(sw1a).count == 1)
    }
}

/// Stands for a log of one's own.
private struct MyCluster {
    let options: JournalOptions

    init(seed: UInt64) {
        options = JournalOptions(segmentSize: 4_096, storage: MemoryStorage(), entropy: SeededEntropy(seed: seed))
    }

    func openLog() throws -> any CommitLog { try Journal.open("journal", options: options) }
}

@Suite struct LogTests {
    @Test(arguments: Seeds.seeds(2), CommitLogContract.Clause.allCases)
    func logSatisfiesContract(seed: UInt64, clause: CommitLogContract.Clause) async {
        let contract = CommitLogContract { seed in
            let cluster = MyCluster(seed: seed)
            return CommitLogFixture { try cluster.openLog() }
        }
        #expect(await contract.violations(of: clause, seed: seed) == [])
    }
}
