import ChatDomain
import ChatTesting
import EventJournal
import StubRewriter
import TestSupport
import Testing

@testable import Chat

/// Power failures at each file operation of erasures.
///
/// An erasure that was acknowledged has left no content in any file; one whose order survived is
/// completed by the opening; all other content stays.
@Suite struct EraseCrashTests {
    private static let (ann, bob) = (UserID(bits: 0xA), UserID(bits: 0xB))
    private static let garden = ThreadID(bits: 0x6A)
    private static let gone = MessageID(bits: 0x51)

    private struct Acknowledged: Sendable {
        var position: Position = 0
        var hasErasedBob = false
        var hasErasedMessage = false
    }

    private static func options(_ disk: SimulatedDisk) -> StoreOptions {
        var fixture = CheckpointFixture(seed: 1, segmentSize: 1_024)
        fixture.options.journal.storage = disk
        fixture.options.journal.slotSyncDelay = nil
        fixture.options.checkpoints = CheckpointOptions(interval: nil, atClose: 1, afterReplay: nil)
        return fixture.options
    }

    /// The texts of a name in the files of a journal.
    private static func markers(of name: String, on disk: SimulatedDisk, in directory: String = "journal") throws
        -> Set<String>
    {
        var found: Set<String> = []
        for path in [directory, directory + "/cut"] where try disk.kind(of: path) == .directory {
            for file in try disk.list(path) where try disk.kind(of: path + "/" + file) == .file {
                found.formUnion(
                    markers(of: name, in: String(decoding: try disk.contents(of: path + "/" + file), as: UTF8.self)))
            }
        }
        return found
    }

    private static func markers(of name: String, in text: String) -> Set<String> {
        Set(text.split(separator: "of-\(name)-").dropFirst().map { String($0.prefix { $0 != ";" }.prefix(3)) })
    }

    private static func markers(of name: String, in store: ChatStore) throws -> Set<String> {
        try store.allEvents().reduce(into: []) { $0.formUnion(markers(of: name, in: "\($1)")) }
    }

    private static func post(_ store: ChatStore, _ numbers: ClosedRange<Int>) throws {
        for number in numbers {
            try store.executeBlocking(.postMessage(thread: garden, body: "of-ann-\(number);", by: ann))
            _ = try? store.executeBlocking(.postMessage(thread: garden, body: "of-bob-\(number);", by: bob))
        }
    }

    private static func run(on disk: SimulatedDisk, _ witness: CrashRecorder<Acknowledged>) throws {
        let store = try ChatStore.open("journal", options: options(disk))
        try fill(store)
        try store.writeCheckpoint()
        witness.update { $0.position = store.head.position }
        try store.eraseUser(bob, reason: "spam")
        witness.update { ($0.position, $0.hasErasedBob) = (store.head.position, true) }
        try post(store, 5...6)
        let message = try store.reader(as: .host).message(gone).position
        try store.eraseContent(of: PositionSet([message...message]), reason: "spam")
        witness.update { ($0.position, $0.hasErasedMessage) = (store.head.position, true) }
        try store.close()
    }

    private static func fill(_ store: ChatStore) throws {
        try store.executeBlocking(.registerUser(id: ann, username: "of-ann-n;"))
        try store.executeBlocking(.registerUser(id: bob, username: "of-bob-n;"))
        try store.executeBlocking(.openThread(id: garden, name: "of-ann-t;", by: ann))
        try store.executeBlocking(.joinThread(thread: garden, by: bob))
        try store.executeBlocking(.postMessage(id: gone, thread: garden, body: "of-gone-1;", by: ann))
        try post(store, 1...4)
    }

    private static func check(_ disk: SimulatedDisk, _ model: Acknowledged, in directory: String = "journal") throws {
        func require(_ condition: Bool, _ problem: String) throws { if !condition { throw Unexpected(problem) } }
        func inFiles(_ name: String) throws -> Set<String> { try markers(of: name, on: disk, in: directory) }
        if model.hasErasedBob { try require(inFiles("bob") == [], "an acknowledged erasure left content") }
        if model.hasErasedMessage { try require(inFiles("gone") == [], "an acknowledged erasure left a message") }
        let store = try ChatStore.open(directory, options: options(disk))
        try require(store.head.position >= model.position, "acknowledged events are lost")
        let events = try store.allEvents()
        let orders = (
            bob: events.contains { $0.kind == .userErased }, gone: events.contains { $0.kind == .contentErased }
        )
        try require(orders.bob || !model.hasErasedBob, "an order is lost")
        let shown = (
            ann: try markers(of: "ann", in: store), bob: try markers(of: "bob", in: store),
            gone: try markers(of: "gone", in: store)
        )
        let posts = events.count { $0.kind == .messagePosted && $0.user == ann }
        // The name, the thread's name, and each message but the one that is erased later.
        try require(posts == 0 || shown.ann.count == posts - 1 + 2, "other content is lost")
        let posted = events.count { $0.kind == .messagePosted && $0.user == bob }
        try require(
            orders.bob ? shown.bob == [] : posted == 0 || shown.bob.count == posted + 1,
            "content of Bob is shown or lost")
        try require(orders.gone ? shown.gone == [] : posts == 0 || shown.gone == ["1"], "the message is shown or lost")
        // The opening has completed the erasures.
        if orders.bob { try require(inFiles("bob") == [], "files still have erased content") }
        if orders.gone { try require(inFiles("gone") == [], "files still have an erased message") }
        // An older copy has the ledger of a later state; its orders are in the history then.
        let listed = try ChatStore.ledger(try Journal.readLedger(ofJournalAt: directory, on: disk)).entries
        try require(orders.bob == listed.contains { $0.user == bob }, "the ledger differs from the history: \(listed)")
        try require(
            orders.gone == listed.contains { $0.positions != nil }, "the ledger differs from the history: \(listed)")
        try require(store.rebuild(), "the state is not that of the journal")
        try store.close()
        let report = try ChatStore.verify(directory, options: options(disk).journal, deep: true)
        try require(report.isValid, "\(report.findings)")
    }

    /// A disk with a copy of before the erasures, which all reached the disk.
    private static func diskWithOlderCopy() throws -> SimulatedDisk {
        let disk = SimulatedDisk()
        let store = try ChatStore.open("journal", options: options(disk))
        try fill(store)
        try store.backup(to: "copy")
        try store.eraseUser(bob, reason: "spam")
        let message = try store.reader(as: .host).message(gone).position
        try store.eraseContent(of: PositionSet([message...message]), reason: "spam")
        try store.close()
        return disk.crash(.everything)
    }

    @Test func crashLeavesContentOrErasesIt() throws {
        try explore("erasures") { disk, witness in
            try Self.run(on: disk, witness)
        } recovery: { disk, witness in
            try Self.check(disk, witness.model)
        }
    }

    /// An older copy is opened beside the ledger: no state shows the content.
    @Test func crashDuringRestoreShowsNoContent() throws {
        let disk = try Self.diskWithOlderCopy()
        try disk.replace("ledger", in: "copy", with: disk.contents(of: "journal/ledger"))
        try explore("restores", on: disk.crash(.everything)) { disk, witness in
            let store = try ChatStore.open("copy", options: Self.options(disk))
            witness.update { ($0.position, $0.hasErasedBob, $0.hasErasedMessage) = (store.head.position, true, true) }
            try store.close()
        } recovery: { disk, witness in
            let reader = try ChatStore.openReadOnly("copy", options: Self.options(disk))
            guard try Self.markers(of: "bob", in: reader) == [], try Self.markers(of: "gone", in: reader) == [] else {
                throw Unexpected("a reader shows erased content")
            }
            try Self.check(disk, witness.model, in: "copy")
        }
    }

    /// A backup to an older copy carries the erasures out in it.
    @Test func crashDuringBackupLeavesValidCopy() throws {
        try explore("backups after erasures", on: try Self.diskWithOlderCopy()) { disk, witness in
            let options = BackupOptions(storage: disk, destinationStorage: disk)
            let report = try ChatStore.backup(ofJournalAt: "journal", to: "copy", options: options)
            witness.update { ($0.position, $0.hasErasedBob, $0.hasErasedMessage) = (report.head.position, true, true) }
        } recovery: { disk, witness in
            let options = BackupOptions(storage: disk, destinationStorage: disk)
            _ = try ChatStore.backup(ofJournalAt: "journal", to: "copy", options: options)
            witness.update { ($0.hasErasedBob, $0.hasErasedMessage) = (true, true) }
            try Self.check(disk, witness.model, in: "copy")
        }
    }

    private typealias Work = CrashExplorer<Acknowledged>.Work

    private func explore(
        _ name: String, on disk: SimulatedDisk = SimulatedDisk(), workload: @escaping Work, recovery: @escaping Work
    ) throws {
        var explorer = CrashExplorer(name, model: Acknowledged(), workload: workload, recovery: recovery)
        explorer.disk = disk
        explorer.crashesInRecovery = 1
        explorer.crashesAfterKill = 1
        explorer.exhaustiveLimit = 3
        explorer.outcomesPerCrash = 3
        if !Repetitions.areAll {
            explorer.sampling = CrashSampling(oneIn: 50, seed: Repetitions.seed)
        }
        let report = try explorer.run()
        print("\(report.states) states of \(name)")
        if report.isReplay && report.states > 0 { print("replayed: \(report)") }
        if !report.failures.isEmpty { Issue.record("\(report)") }
        #expect(report.isReplay || report.states + report.skippedStates >= 100, "\(report)")
    }
}
