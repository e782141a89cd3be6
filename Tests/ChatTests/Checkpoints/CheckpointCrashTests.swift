import ChatDomain
import ChatTesting
import EventJournal
import Projections
import TestSupport
import Testing

@testable import Chat

/// Power failures at each file operation of a store that writes checkpoints.
///
/// The store always opens with every acknowledged event, and its state equals that of a replay.
@Suite struct CheckpointCrashTests {
    private struct Acknowledged: Sendable {
        var position: Position = 0
        var isOpen = false
    }

    private static func options(_ disk: SimulatedDisk) -> StoreOptions {
        var fixture = CheckpointFixture(seed: 1, segmentSize: 2_048)
        fixture.options.journal.storage = disk
        fixture.options.journal.slotSyncDelay = nil
        fixture.options.checkpoints = CheckpointOptions(interval: nil, atClose: 1, afterReplay: nil)
        return fixture.options
    }

    private static func run(
        _ store: ChatStore, _ witness: CrashRecorder<Acknowledged>, _ generator: inout CommandGenerator
    ) throws {
        for _ in 0..<3 {
            _ = try store.executeBlocking((0..<3).map { _ in generator.nextRequest() })
            witness.update { $0.position = store.head.position }
        }
    }

    @Test func crashKeepsAcknowledgedEvents() throws {
        var explorer = CrashExplorer("checkpoints", model: Acknowledged()) { disk, witness in
            var generator = CommandGenerator(seed: 1)
            let store = try ChatStore.open("journal", options: Self.options(disk))
            witness.update { $0.isOpen = true }
            for _ in 0..<2 {
                try Self.run(store, witness, &generator)
                try store.writeCheckpoint()
            }
            try Self.run(store, witness, &generator)
            try store.close()
        } recovery: { disk, witness in
            let store = try ChatStore.open("journal", options: Self.options(disk))
            let acknowledged = witness.model.position
            guard store.head.position >= acknowledged else {
                throw Lost(acknowledged: acknowledged, found: store.head.position)
            }
            if let problem = store.checkpointStatistics.ignoredReason, !["absent", "beyondEnd"].contains(problem) {
                throw Unexpected(problem: problem)
            }
            var replaying = Self.options(disk)
            replaying.checkpoints = nil
            let replayed = try ChatStore.openReadOnly("journal", options: replaying)
            guard store.storeModels == replayed.storeModels else { throw Unexpected(problem: "another state") }
            try store.writeCheckpoint()
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

    private struct Lost: Error {
        var acknowledged: Position
        var found: Position
    }

    private struct Unexpected: Error { var problem: String }
}
