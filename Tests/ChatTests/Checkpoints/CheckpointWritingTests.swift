import ChatDomain
import ChatTesting
import Dispatch
import EventJournal
import Projections
import StubRewriter
import Testing

@testable import Chat

/// Checkpoints are written in the background, and a failed write is only counted.
@Suite struct CheckpointWritingTests {
    @Test func commandsProceedDuringCheckpointWrites() throws {
        var fixture = CheckpointFixture(seed: 1, segmentSize: 65_536)
        fixture.options.checkpoints = CheckpointOptions(interval: 20, atClose: 1, afterReplay: 1)
        for round in 0..<3 {
            let store = try fixture.open()
            let users = (0..<4).map { UserID(bits: UInt128(round * 10 + $0 + 1)) }
            for user in users { try store.executeBlocking(.registerUser(id: user, username: "user \(user.bits)")) }
            let options = fixture.options
            DispatchQueue.concurrentPerform(iterations: 4) { number in
                for _ in 0..<60 {
                    #expect(throws: Never.self) {
                        try store.executeBlocking(.startSession(device: "phone", by: users[number]))
                    }
                }
                #expect((try? ChatStore.openReadOnly("journal", options: options)) != nil)
            }
            let models = store.storeModels
            try store.close()
            #expect(store.checkpointStatistics.failureCount == 0)
            #expect(store.checkpointStatistics.writtenCount >= 1)
            #expect(store.checkpointStatistics.lastWritten?.position == models.position)
            let again = try ChatStore.openReadOnly("journal", options: fixture.options)
            #expect(again.checkpointStatistics.loadedPosition == models.position)
            #expect(again.storeModels == models)
            #expect(try ChatStore.verify("journal", options: fixture.options.journal, deep: true).findings == [])
        }
    }

    @Test func smallStoreWritesNoCheckpoint() throws {
        var fixture = CheckpointFixture(seed: 2)
        fixture.options.checkpoints = StoreOptions().checkpoints
        var generator = CommandGenerator(seed: 2)
        let store = try fixture.open()
        try fixture.run(store, batches: 100, generator: &generator)
        try store.close()
        #expect(store.checkpointStatistics.writtenCount == 0)
        #expect(try !fixture.storage.list("journal").contains(CheckpointFixture.fileName))
    }

    @Test func checkpointIsDueAfterIntervalOrQuarter() {
        let options = CheckpointOptions(interval: 100)
        #expect(options.nextPosition(after: 0) == 100)
        #expect(options.nextPosition(after: 400) == 500)
        #expect(options.nextPosition(after: 4_000) == 5_000)
        #expect(options.nextPosition(after: .max) == .max)
        #expect(CheckpointOptions(interval: 0).nextPosition(after: 0) == 1)
        #expect(CheckpointOptions.loadingOnly.nextPosition(after: 0) == .max)
    }

    @Test(arguments: [StorageError.Kind.full, .failed], [StorageError.Operation.open, .write, .sync, .rename])
    func failedWriteIsCountedAndLeavesNoFile(kind: StorageError.Kind, operation: StorageError.Operation) throws {
        let disk = SimulatedDisk(seed: 1)
        var fixture = CheckpointFixture(seed: 3)
        fixture.options.journal.storage = disk
        fixture.options.journal.slotSyncDelay = nil
        try fixture.make(batches: 6, beforeCheckpoint: 4)
        let before = try fixture.file()
        fixture.options.checkpoints = CheckpointOptions(interval: nil, atClose: 1, afterReplay: nil)
        let store = try fixture.open()
        var generator = CommandGenerator(seed: 7)
        try fixture.run(store, batches: 6, generator: &generator)
        let code = operation == .sync ? "syncFailed" : kind == .full ? "storageFull" : "ioFailed"
        for _ in 0..<2 {
            disk.inject(DiskFault(.fails(kind), at: .occurrence(1, of: operation), pathSuffix: ".checkpoint.tmp"))
            expectError(code) { _ = try store.writeCheckpoint() }
        }
        #expect(store.checkpointStatistics.failureCount == 2)
        #expect(store.checkpointStatistics.lastFailure?.isEmpty == false)
        #expect(try fixture.file() == before)
        #expect(try !disk.list("journal").contains { $0.hasSuffix(".tmp") })
        // The failure does not affect the journal, and a close tries again.
        try fixture.run(store, batches: 2, generator: &generator)
        disk.inject(DiskFault(.fails(kind), at: .occurrence(1, of: operation), pathSuffix: ".checkpoint.tmp"))
        try store.close()
        #expect(store.checkpointStatistics.failureCount == 3)
        disk.removeFaults()
        let again = try fixture.open()
        #expect(again.recovery?.wasClean == true)
        #expect(again.checkpointStatistics.loadedPosition != nil)
        #expect(again.storeModels == (try fixture.replayed().storeModels))
    }

    @Test func droppedStoreReleasesJournal() throws {
        var fixture = CheckpointFixture(seed: 4)
        fixture.options.checkpoints = CheckpointOptions(interval: 1, atClose: nil, afterReplay: 1)
        var generator = CommandGenerator(seed: 4)
        for _ in 0..<20 {
            let store = try fixture.open()
            try fixture.run(store, batches: 3, generator: &generator)
        }
        #expect(try fixture.replayed().storeModels == fixture.open().storeModels)
    }

    @Test func backupOmitsCheckpoint() throws {
        let fixture = CheckpointFixture(seed: 5)
        try fixture.make(batches: 9, beforeCheckpoint: 6)
        try fixture.storage.replace(CheckpointFixture.fileName + ".tmp", in: "journal", with: [1])
        #expect(try ChatStore.verify("journal", options: fixture.options.journal).findings == [])
        let store = try fixture.open()
        #expect(store.recovery?.removedFiles == [CheckpointFixture.fileName + ".tmp"])
        #expect(store.checkpointStatistics.loadedPosition != nil)
        try store.backup(to: "copy")
        #expect(try !fixture.storage.list("copy").contains(CheckpointFixture.fileName))
        #expect(try fixture.storage.list("journal").contains(CheckpointFixture.fileName))
    }
}

/// A deep verification compares the checkpoint with a rebuild.
@Suite struct CheckpointVerificationTests {
    @Test(arguments: ["rules", "users"]) func verificationFindsDifferingCheckpoint(component: String) throws {
        let fixture = CheckpointFixture(seed: 6)
        var generator = CommandGenerator(seed: 6)
        let store = try fixture.open()
        try fixture.run(store, batches: 90, generator: &generator)
        let events = try store.allEvents()
        try store.close()
        #expect(try ChatStore.verify("journal", options: fixture.options.journal, deep: true).findings == [])
        // The state of a faulty version, which misreads one kind of event.
        var wrong = StoreModels()
        for recorded in events {
            var event = recorded.event
            switch (event.kind, component) {
            case (.sessionStarted, "rules"): event.details = .init(.lost)
            case (.userRegistered, "users"): event.recordedAt.millisecondsSince1970 += wrong.position == 0 ? 0 : 1
            default: break
            }
            wrong.apply(event, at: recorded.position)
        }
        let journal = try Journal.open("journal", options: fixture.options.journal)
        _ = try wrong.writeCheckpoint(of: journal) { false }
        try journal.close()
        #expect(try ChatStore.verify("journal", options: fixture.options.journal).findings == [])
        let findings = try ChatStore.verify("journal", options: fixture.options.journal, deep: true).findings
        #expect(
            findings.contains { $0.problem == "checkpointDiffers" && $0.message.contains("differ in \(component):") })
        // The states diverge at the first misread event.
        let first = try #require(
            events.first { recorded in
                switch recorded.event.kind {
                case .sessionStarted: component == "rules"
                case .userRegistered: component == "users" && recorded.position > 1
                default: false
                }
            })
        #expect(
            findings.allSatisfy { $0.problem == "checkpointDiffers" && $0.positions == first.position...first.position }
        )
    }

    /// A write after the close could reach a directory that another process owns.
    @Test func noCheckpointIsWrittenAfterStop() throws {
        let fixture = CheckpointFixture(seed: 8)
        let store = try fixture.open()
        var generator = CommandGenerator(seed: 8)
        try fixture.run(store, batches: 6, generator: &generator)
        store.checkpointer?.stop()
        expectError("closed") { _ = try store.writeCheckpoint() }
        do {
            _ = try fixture.file()
            Issue.record("a checkpoint was written")
        } catch let error as StorageError {
            #expect(error.kind == .notFound)
        }
        try store.close()
    }
}
