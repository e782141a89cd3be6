import ChatDomain
import ChatTesting
import Dispatch
import EventJournal
import Foundation
import Locking
import Projections
import StubRewriter
import TestSupport
import Testing

@testable import Chat

/// Counts events, with a sum that shows any event that is missing, repeated or out of order.
private struct Tally: CheckpointedProjection, Equatable {
    static let name = "tally"

    var count: UInt64 = 0
    var sum: UInt64 = 0
    /// The number of events applied since the state was decoded; not part of the state.
    var applied = 0

    init() {}

    mutating func apply(_ event: ChatEvent, at position: Position) {
        count += 1
        sum = sum &* 31 &+ position
        applied += 1
    }

    func encodedState() throws -> [UInt8] {
        if sum == 0 { throw Failure() }
        return Array("\(count) \(sum)".utf8)
    }

    init(encodedState: [UInt8]) throws {
        let numbers = String(decoding: encodedState, as: UTF8.self).split(separator: " ").compactMap { UInt64($0) }
        guard numbers.count == 2 else { throw Failure() }
        (count, sum) = (numbers[0], numbers[1])
    }

    struct Failure: Error {}

    /// Returns the state after a position.
    static func expected(at position: Position) -> [UInt64] {
        [position, position == 0 ? 0 : (1...position).reduce(0) { $0 &* 31 &+ $1 }]
    }
}

extension ProjectionHandle where Model == Tally {
    /// Returns the number of events that a query applied; its answer must be the expected one.
    fileprivate func applied(asOf position: Position, sourceLocation: SourceLocation = #_sourceLocation) throws -> Int {
        let model = try readBlocking(asOf: .position(position)) { model, _ in model }
        #expect([model.count, model.sum] == Tally.expected(at: position), sourceLocation: sourceLocation)
        return model.applied
    }
}

extension ChatStore {
    fileprivate var tallyCheckpoints: [Position] {
        get throws { try (log as? any CheckpointLog)?.checkpointPositions(Tally.name) ?? [] }
    }

    /// Appends commits of one event each.
    fileprivate func appendSessions(_ count: Int) throws {
        for _ in 0..<count { try executeBlocking(.startSession(device: "phone", by: UserID(bits: 1))) }
    }
}

/// A custom projection keeps several checkpoints, which replace replays and never change an answer.
@Suite struct ProjectionCheckpointTests {
    private static let manual = CheckpointOptions(interval: nil, atClose: nil, afterReplay: nil, count: 3)
    private let fixture = StoreFixture()

    /// Returns a store with one event.
    private func store(_ fixture: StoreFixture) throws -> ChatStore {
        let store = try fixture.open()
        try store.executeBlocking(.registerUser(id: UserID(bits: 1), username: "Ann"))
        return store
    }

    /// Waits for the checkpoint in progress.
    private func settle(_ store: ChatStore, until positions: [Position]) async throws {
        try await FollowingFixture.until("checkpoints at \(positions)") { try store.tallyCheckpoints == positions }
    }

    @Test func queryStartsFromNearestCheckpoint() throws {
        var store = try store(fixture)
        var tally = store.project(Tally.self, checkpoints: Self.manual)
        for end: Position in [10, 20, 30] {
            try store.appendSessions(Int(end - store.head.position))
            #expect(try tally.writeCheckpoint() == end)
        }
        try store.appendSessions(5)
        for round in 0..<2 {
            #expect(try store.tallyCheckpoints == [10, 20, 30])
            for position in Position(0)...35 {
                #expect(
                    try tally.applied(asOf: position)
                        == Int(position % 10 + (position > 34 && position % 10 == 0 ? 10 : 0)))
            }
            #expect(try tally.readBlocking { model, position in [Int(model.count), Int(position)] } == [35, 35])
            try store.close()
            store = round == 0 ? try fixture.open() : try ChatStore.openReadOnly("journal", options: fixture.options)
            tally = store.project(Tally.self, checkpoints: Self.manual)
            #expect(try tally.readBlocking { model, _ in model.applied } == 5)
        }
    }

    /// Checkpoints that differ by a bit or are cut are ignored, and the one before is used.
    @Test func damagedCheckpointIsReplacedByEarlierOne() throws {
        let store = try store(fixture)
        let tally = store.project(Tally.self, checkpoints: Self.manual)
        try store.appendSessions(9)
        try tally.writeCheckpoint()
        try store.appendSessions(10)
        try tally.writeCheckpoint()
        let storage = fixture.options.journal.storage
        let name = "tally.00000000000000000020.checkpoint"
        let bytes = try storage.contents(of: "journal/" + name)
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 1
            try storage.replace(name, in: "journal", with: damaged)
            #expect(try tally.applied(asOf: 20) == 10, "byte \(index)")
            try storage.replace(name, in: "journal", with: Array(bytes[..<index]))
            #expect(try tally.applied(asOf: 20) == 10, "cut at \(index)")
        }
        // The next write removes the unusable one.
        try store.appendSessions(1)
        try tally.writeCheckpoint()
        #expect(try store.tallyCheckpoints == [10, 21])
        // A checkpoint under the name of another position is not usable.
        try storage.replace(name, in: "journal", with: bytes)
        #expect(try tally.applied(asOf: 20) == 0)
        try storage.replace("tally.00000000000000000015.checkpoint", in: "journal", with: bytes)
        #expect(try tally.applied(asOf: 19) == 9)
    }

    /// A restored copy of the journal has other events at the same positions.
    @Test func checkpointOfAnotherHistoryIsIgnoredAndRemoved() throws {
        var store = try store(fixture)
        try store.project(Tally.self, checkpoints: Self.manual).writeCheckpoint()
        try store.close()
        let storage = try #require(fixture.options.journal.storage as? MemoryStorage)
        var options = fixture.options
        options.journal.storage = storage.copy()
        store = try fixture.open()
        try store.appendSessions(9)
        try store.project(Tally.self, checkpoints: Self.manual).writeCheckpoint()
        let restored = try ChatStore.open("journal", options: options)
        for number in 0..<12 {
            try restored.executeBlocking(.changeUsername(username: "Name \(number)", by: UserID(bits: 1)))
        }
        let name = "tally.00000000000000000010.checkpoint"
        try options.journal.storage.replace(name, in: "journal", with: try storage.contents(of: "journal/" + name))
        let tally = restored.project(Tally.self, checkpoints: Self.manual)
        #expect(try restored.tallyCheckpoints == [1, 10])
        #expect(try tally.applied(asOf: 10) == 9)
        #expect(try tally.writeCheckpoint() == 13)
        #expect(try restored.tallyCheckpoints == [1, 13])
        // Nor does a checkpoint reach beyond the end.
        try options.journal.storage.replace(
            "tally.00000000000000000020.checkpoint", in: "journal", with: try storage.contents(of: "journal/" + name))
        #expect(
            try restored.project(Tally.self, checkpoints: Self.manual).readBlocking { model, _ in model.applied } == 0)
    }

    @Test func checkpointFromBeforeErasureIsIgnoredAndRemoved() throws {
        let fixture = StoreFixture(segmentSize: 2_048)
        var store = try store(fixture)
        try store.appendSessions(60)
        try store.project(Tally.self, checkpoints: Self.manual).writeCheckpoint()
        try store.close()
        #expect(
            try !StubRewriter("journal", on: fixture.options.journal.storage).rewrite { _, _, _ in .erased }.isEmpty)
        store = try fixture.open()
        let tally = store.project(Tally.self, checkpoints: Self.manual)
        #expect(try tally.readBlocking { model, _ in model.applied } == 61)
        try store.appendSessions(1)
        try tally.writeCheckpoint()
        #expect(try store.tallyCheckpoints == [62])
    }

    /// Only the file of the built-in read models has no position in its name.
    @Test func checkpointOfAnyNameKeepsThatOfReadModels() throws {
        struct Impostor: CheckpointedProjection, Codable {
            static let name = ReadModels.name
            var count = 0
            mutating func apply(_ event: ChatEvent, at position: Position) { count += 1 }
        }
        struct Unnamed: CheckpointedProjection, Codable {
            static let name = "a name.with/others"
            mutating func apply(_ event: ChatEvent, at position: Position) {}
        }
        let store = try store(fixture)
        try store.writeCheckpoint()
        try store.project(Impostor.self).writeCheckpoint()
        expectError("outOfRange") { _ = try store.project(Unnamed.self).writeCheckpoint() }
        try store.close()
        let again = try fixture.open()
        #expect(again.statistics.checkpoints?.loadedPosition == 1)
        #expect(try again.project(Impostor.self).readBlocking { model, _ in model.count } == 1)
    }

    /// Two types with one name would read one another's checkpoints.
    @Test func secondTypeOfANameIsRejected() throws {
        struct First: CheckpointedProjection, Codable {
            static let name = "counts"
            var count = 0
            mutating func apply(_ event: ChatEvent, at position: Position) { count += 1 }
        }
        struct Second: CheckpointedProjection, Codable {
            static let name = "counts"
            var count = 0
            mutating func apply(_ event: ChatEvent, at position: Position) { count += 100 }
        }
        let store = try store(fixture)
        let first = store.project(First.self)
        #expect(try first.writeCheckpoint() == 1)
        let second = store.project(Second.self)
        expectError("outOfRange") { _ = try second.readBlocking { model, _ in model.count } }
        expectError("outOfRange") { _ = try second.readBlocking(asOf: .position(1)) { model, _ in model.count } }
        expectError("outOfRange") { try second.rebuildBlocking() }
        expectError("outOfRange") { _ = try second.writeCheckpoint() }
        // Another handle of the same type is none of another type.
        #expect(try store.project(First.self).readBlocking { model, _ in model.count } == 1)
        #expect(try first.readBlocking { model, _ in model.count } == 1)
    }

    // MARK: Automatic checkpoints

    @Test func checkpointIsWrittenAtIntervalAndAtClose() async throws {
        var store = try store(fixture)
        let options = CheckpointOptions(interval: 10, atClose: 5, afterReplay: nil, count: 100)
        let tally = store.project(Tally.self, checkpoints: options)
        for end in [10, 20, 30] as [Position] {
            while store.head.position < end {
                try store.appendSessions(1)
                _ = try tally.readBlocking { _, _ in }
            }
            try await settle(store, until: Array([10, 20, 30].prefix(Int(end / 10))))
        }
        try store.appendSessions(5)
        try store.close()
        // The projection had not applied the last events.
        store = try fixture.open()
        #expect(try store.tallyCheckpoints == [10, 20, 30])
        let again = store.project(Tally.self, checkpoints: options)
        #expect(try again.readBlocking { model, _ in model.applied } == 5)
        try store.close()
        store = try fixture.open()
        #expect(try store.tallyCheckpoints == [10, 20, 30, 35])
        #expect(try store.project(Tally.self, checkpoints: options).readBlocking { model, _ in model.applied } == 0)
        #expect(store.statistics.checkpoints?.failureCount == 0)
    }

    @Test func replayIsFollowedByCheckpoint() async throws {
        let store = try store(fixture)
        try store.appendSessions(29)
        let options = CheckpointOptions(interval: nil, atClose: nil, afterReplay: 30)
        _ = try store.project(Tally.self, checkpoints: options).readBlocking(asOf: .position(30)) { _, _ in }
        _ = try store.project(Tally.self, checkpoints: .loadingOnly).readBlocking { _, _ in }
        #expect(try store.tallyCheckpoints == [])
        let replayed = store.project(Tally.self, checkpoints: options)
        _ = try replayed.readBlocking { _, _ in }
        // A released projection abandons a checkpoint that has not begun.
        try await settle(store, until: [30])
        withExtendedLifetime(replayed) {}
        // Fewer events than the minimum.
        try store.appendSessions(29)
        let tally = store.project(Tally.self, checkpoints: options)
        #expect(try tally.readBlocking { model, _ in model.applied } == 29)
        try store.close()
        #expect(try fixture.open().tallyCheckpoints == [30])
    }

    /// Each checkpoint ends with a commit, also if the interval ends inside one.
    @Test func checkpointEndsWithCommit() async throws {
        let store = try store(fixture)
        let user = UserID(bits: 1)
        for _ in 0..<10 {
            _ = try await store.execute(
                (0..<7).map { CommandRequest(.startSession(id: nil, device: "\($0)", by: user)) })
        }
        let options = CheckpointOptions(interval: 20, atClose: nil, afterReplay: nil)
        let tally = store.project(Tally.self, checkpoints: options)
        try tally.rebuildBlocking()
        #expect(try store.tallyCheckpoints == [22, 43, 64])
        for position in Position(0)...71 { _ = try tally.applied(asOf: position) }
        #expect(try tally.applied(asOf: 50) == 7)
    }

    /// The distances are even, and a rebuild leaves no checkpoint of the former state.
    @Test func rebuildReplacesCheckpoints() throws {
        let store = try store(fixture)
        try store.appendSessions(4)
        let options = CheckpointOptions(interval: 1, atClose: nil, afterReplay: nil, count: 4)
        let tally = store.project(Tally.self, checkpoints: options)
        try tally.writeCheckpoint()
        try store.appendSessions(38)
        try tally.rebuildBlocking()
        #expect(try store.tallyCheckpoints == [11, 22, 33])
        #expect(try tally.readBlocking { model, _ in [model.count, model.sum] } == Tally.expected(at: 43))
        try store.project(Tally.self, checkpoints: .loadingOnly).rebuildBlocking()
        #expect(try store.tallyCheckpoints == [11, 22, 33])
    }

    @Test func readOnlyStoreWritesNoCheckpoint() throws {
        let store = try store(fixture)
        try store.appendSessions(20)
        try store.project(Tally.self, checkpoints: Self.manual).writeCheckpoint()
        try store.close()
        let reader = try ChatStore.openReadOnly("journal", options: fixture.options)
        let tally = reader.project(Tally.self, checkpoints: CheckpointOptions(interval: 1, atClose: 1, afterReplay: 1))
        #expect(try tally.applied(asOf: 21) == 0)
        #expect(try tally.applied(asOf: 20) == 20)
        try tally.rebuildBlocking()
        expectError("readOnly") { _ = try tally.writeCheckpoint() }
        try reader.close()
        #expect(try reader.checkpointNames(fixture) == ["tally.00000000000000000021.checkpoint"])
    }

    /// A log without a directory for checkpoints.
    @Test func arrayLogKeepsNoCheckpoints() throws {
        let store = try ChatStore.open(log: ArrayLog(ArrayLog.Store()), options: fixture.options)
        try store.executeBlocking(.registerUser(id: UserID(bits: 1), username: "Ann"))
        let tally = store.project(Tally.self)
        #expect(try tally.applied(asOf: 1) == 1)
        try tally.rebuildBlocking()
        expectError("readOnly") { _ = try tally.writeCheckpoint() }
        try store.close()
    }

    /// An error of the encoding or of the disk is counted, and does not affect queries.
    @Test func failedCheckpointIsCounted() async throws {
        let disk = SimulatedDisk(seed: 1)
        var options = fixture.options
        options.journal.storage = disk
        options.journal.slotSyncDelay = nil
        let store = try ChatStore.open("journal", options: options)
        let tally = store.project(
            Tally.self, checkpoints: CheckpointOptions(interval: 1, atClose: nil, afterReplay: nil))
        // The state without events cannot be encoded.
        expectError("outOfRange") { _ = try tally.writeCheckpoint() }
        disk.inject(DiskFault(.fails(.full), at: .occurrence(1, of: .write), pathSuffix: ".checkpoint.tmp"))
        try await store.execute(.registerUser(id: UserID(bits: 1), username: "Ann"))
        #expect(try tally.readBlocking { model, _ in model.count } == 1)
        try await FollowingFixture.until("a failure") { store.statistics.checkpoints?.failureCount == 1 }
        #expect(try store.tallyCheckpoints == [])
        try store.appendSessions(1)
        #expect(try tally.readBlocking { model, _ in model.count } == 2)
        try await settle(store, until: [2])
        #expect(try !disk.list("journal").contains { $0.hasSuffix(".tmp") })
    }

    @Test func droppedProjectionReleasesJournal() throws {
        for round in 0..<20 {
            let store = try fixture.open()
            if round == 0 { try store.executeBlocking(.registerUser(id: UserID(bits: 1), username: "Ann")) }
            try store.appendSessions(3)
            let tally = store.project(
                Tally.self, checkpoints: CheckpointOptions(interval: 1, atClose: nil, afterReplay: 1))
            #expect(
                try tally.readBlocking { model, _ in [model.count, model.sum] }
                    == Tally.expected(at: Position(round) * 3 + 4))
        }
    }

    // MARK: The checkpoints that are kept

    @Test func excessLeavesEvenDistances() {
        func excess(_ positions: [Position], _ count: Int) -> [Position] {
            ProjectionCheckpoints<Tally>.excess(of: positions, keeping: count)
        }
        #expect(excess([], 3) == [] && excess([5], 0) == [] && excess([5, 6], 1) == [5])
        #expect(excess([10, 20, 30, 40], 3) == [10])
        #expect(excess([10, 11, 30, 40], 3) == [10])
        #expect(excess([10, 20, 39, 40], 3) == [10])
        #expect(excess([20, 39, 40, 60], 3) == [39])
        for (count, interval) in [(1, 10), (2, 10), (3, 100), (8, 7), (16, 50)] as [(Int, Position)] {
            let options = CheckpointOptions(interval: interval, count: count)
            var (kept, position): ([Position], Position) = ([], 0)
            while position < 100_000 {
                position = options.nextProjectionCheckpoint(after: position)
                kept.append(position)
                let removed = Set(excess(kept, count))
                kept.removeAll(where: removed.contains)
                #expect(kept.last == position && kept.count <= count)
                guard position >= Position(4 * count) * interval else { continue }
                let distance = zip([0] + kept, kept).map { $1 - $0 }.max() ?? 0
                #expect(distance * Position(count) <= 2 * position, "\(distance) of \(position)")
            }
        }
    }

    @Test func checkpointsBeyondMaximumAreRemoved() throws {
        let store = try store(fixture)
        let tally = store.project(Tally.self, checkpoints: Self.manual)
        var kept: [[Position]] = []
        for _ in 0..<7 {
            try store.appendSessions(10)
            try tally.writeCheckpoint()
            kept.append(try store.tallyCheckpoints)
        }
        #expect(kept[2] == [11, 21, 31])
        #expect(kept[3] == [21, 31, 41] || kept[3] == [11, 31, 41])
        #expect(kept.allSatisfy { $0.count <= 3 })
        #expect(kept[6].last == 71)
        for position in Position(0)...71 { _ = try tally.applied(asOf: position) }
    }

    // MARK: Crashes and threads

    /// After a power failure at any file operation, every answer is that of a replay.
    @Test func crashKeepsAnswers() throws {
        struct Model: Sendable { var acknowledged: Position = 0 }
        struct Wrong: Error { var message: String }
        func options(_ disk: SimulatedDisk) -> StoreOptions {
            var options = StoreFixture(segmentSize: 2_048).options
            options.journal.storage = disk
            options.journal.slotSyncDelay = nil
            options.checkpoints = nil
            return options
        }
        let kept = CheckpointOptions(interval: nil, atClose: 1, afterReplay: nil, count: 2)
        var explorer = CrashExplorer("projection checkpoints", model: Model()) { disk, witness in
            let store = try ChatStore.open("journal", options: options(disk))
            try store.executeBlocking(.registerUser(id: UserID(bits: 1), username: "Ann"))
            let tally = store.project(Tally.self, checkpoints: kept)
            for _ in 0..<4 {
                try store.appendSessions(2)
                witness.update { $0.acknowledged = store.head.position }
                try tally.writeCheckpoint()
            }
            try store.appendSessions(2)
            witness.update { $0.acknowledged = store.head.position }
            _ = try tally.readBlocking { _, _ in }
            try store.close()
        } recovery: { disk, witness in
            let store = try ChatStore.open("journal", options: options(disk))
            let end = store.head.position
            guard end >= witness.model.acknowledged else {
                throw Wrong(message: "\(end) of \(witness.model.acknowledged)")
            }
            let tally = store.project(Tally.self, checkpoints: kept)
            for position in 0...end {
                let found = try tally.readBlocking(asOf: .position(position)) { model, _ in [model.count, model.sum] }
                guard found == Tally.expected(at: position) else { throw Wrong(message: "\(found) as of \(position)") }
            }
            let present = try tally.readBlocking { model, _ in [model.count, model.sum] }
            guard present == Tally.expected(at: end) else { throw Wrong(message: "\(present)") }
            if end > 0 {
                try tally.writeCheckpoint()
                guard try store.tallyCheckpoints.count <= 2 else {
                    throw Wrong(message: "\(try store.tallyCheckpoints)")
                }
            }
            guard try !disk.list("journal").contains(where: { $0.hasSuffix(".tmp") }) else {
                throw Wrong(message: "a temporary file")
            }
            try store.close()
        }
        explorer.crashesInRecovery = 1
        explorer.crashesAfterKill = 1
        explorer.exhaustiveLimit = 3
        explorer.outcomesPerCrash = 3
        if !Repetitions.areAll { explorer.sampling = CrashSampling(oneIn: 20, seed: Repetitions.seed) }
        let report = try explorer.run()
        if report.isReplay && report.states > 0 { print("replayed: \(report)") }
        if !report.failures.isEmpty { Issue.record("\(report)") }
        #expect(report.isReplay || report.states + report.skippedStates >= 300, "\(report)")
    }

    /// Queries of both kinds, checkpoints, rebuilds and commands on several threads.
    @Test func answersAreRightOnManyThreads() throws {
        let store = try store(fixture)
        let options = CheckpointOptions(interval: 5, atClose: 1, afterReplay: 3, count: 3)
        let tally = store.project(Tally.self, checkpoints: options)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            var random = SeededRandom(seed: UInt64(thread) + 1)
            for _ in 0..<60 {
                #expect(throws: Never.self) {
                    switch thread {
                    case 0, 1: try store.appendSessions(1)
                    case 2: try tally.writeCheckpoint()
                    case 3: if random.oneIn(6) { try tally.rebuildBlocking() }
                    case 4:
                        let other = store.project(Tally.self, checkpoints: options)
                        let found = try other.readBlocking { model, position in
                            [model.count, model.sum] == Tally.expected(at: position)
                        }
                        #expect(found)
                    case 5, 6: _ = try tally.applied(asOf: Position.random(in: 0...store.head.position, using: &random))
                    default:
                        let found = try tally.readBlocking { model, position in
                            [model.count, model.sum] == Tally.expected(at: position)
                        }
                        #expect(found)
                    }
                }
            }
        }
        #expect(try store.tallyCheckpoints.count <= 4)
        #expect(store.statistics.checkpoints?.failureCount == 0)
        try store.close()
        expectError("closed") { _ = try tally.writeCheckpoint() }
        let again = try fixture.open()
        #expect(
            try again.project(Tally.self).readBlocking { model, _ in [model.count, model.sum] }
                == Tally.expected(at: 121))
    }

    // MARK: Asynchronous queries

    @Test func backgroundQueryEqualsBlockingOne() async throws {
        let store = try store(fixture)
        try store.appendSessions(20)
        let tally = store.project(Tally.self, checkpoints: Self.manual)
        #expect(try await tally.read { model, _ in [model.count, model.sum] } == Tally.expected(at: 21))
        #expect(try await tally.read(asOf: .position(7)) { model, position in [model.count, position] } == [7, 7])
        try await tally.rebuild()
        // The blocking forms stay usable in asynchronous functions.
        #expect(try tally.readBlocking { model, _ in [model.count, model.sum] } == Tally.expected(at: 21))
        try tally.rebuildBlocking()
        let beyond = await chatError { _ = try await tally.read(asOf: .position(22)) { _, _ in } }
        #expect(beyond?.stableCode == "invalidPosition")
        try store.close()
        let closed = await chatError { try await tally.rebuild() }
        #expect(closed?.stableCode == "closed")
    }

    /// Background work runs on the executor of the options, so a run follows from its seed.
    @Test(arguments: Seeds.seeds(10)) func backgroundWorkRunsOnExecutor(seed: UInt64) throws {
        let executor = SeededExecutor(seed: seed)
        var options = StoreFixture(seed: seed).options
        options.journal.slotSyncDelay = nil
        options.journal.executor = executor
        let store = try ChatStore.open("journal", options: options)
        let tally = store.project(
            Tally.self, checkpoints: CheckpointOptions(interval: 3, atClose: 1, afterReplay: 1, count: 2))
        try executor.run {
            _ = try? await store.execute(.registerUser(id: UserID(bits: 1), username: "Ann"))
            await withTaskGroup { tasks in
                for number in 0..<6 {
                    tasks.addTask {
                        for _ in 0..<5 {
                            _ = try? await store.execute(.startSession(device: "phone", by: UserID(bits: 1)))
                            if number == 5 { try? await tally.rebuild() }
                            let isRight = try? await tally.read { model, position in
                                [model.count, model.sum] == Tally.expected(at: position)
                            }
                            #expect(isRight == true)
                        }
                    }
                }
            }
        }
        try store.close()
        #expect(tally.current.model.count == 31)
    }
}

extension ChatStore {
    /// Returns the names of the custom projections' checkpoints.
    fileprivate func checkpointNames(_ fixture: StoreFixture) throws -> [String] {
        try fixture.options.journal.storage.list("journal").filter { $0.hasSuffix(".checkpoint") }
    }
}
