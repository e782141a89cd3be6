import ChatDomain
import ChatTesting
import EventJournal
import Foundation
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

    /// The texts of a name in the files of the journal.
    private static func markers(of name: String, on disk: SimulatedDisk) throws -> Set<String> {
        var found: Set<String> = []
        for path in ["journal", "journal/cut"] where try disk.kind(of: path) == .directory {
            for file in try disk.list(path) where try disk.kind(of: path + "/" + file) == .file {
                found.formUnion(markers(of: name, in: String(decoding: try disk.contents(of: path + "/" + file), as: UTF8.self)))
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
            try store.execute(.postMessage(thread: garden, author: ann, body: "of-ann-\(number);"))
            _ = try? store.execute(.postMessage(thread: garden, author: bob, body: "of-bob-\(number);"))
        }
    }

    private static func run(on disk: SimulatedDisk, _ witness: CrashRecorder<Acknowledged>) throws {
        let store = try ChatStore.open("journal", options: options(disk))
        try store.execute(.registerUser(user: ann, username: "of-ann-n;"))
        try store.execute(.registerUser(user: bob, username: "of-bob-n;"))
        try store.execute(.openThread(thread: garden, name: "of-ann-t;", by: ann))
        try store.execute(.joinThread(user: bob, thread: garden))
        try store.execute(.postMessage(message: gone, thread: garden, author: ann, body: "of-gone-1;"))
        try post(store, 1...4)
        try store.writeCheckpoint()
        witness.update { $0.position = store.head.position }
        try store.eraseUser(bob, reason: "spam")
        witness.update { ($0.position, $0.hasErasedBob) = (store.head.position, true) }
        try post(store, 5...6)
        let message = try store.message(gone).position
        try store.eraseContent(of: PositionSet([message...message]), reason: "spam")
        witness.update { ($0.position, $0.hasErasedMessage) = (store.head.position, true) }
        try store.close()
    }

    private static func check(_ disk: SimulatedDisk, _ model: Acknowledged) throws {
        func require(_ condition: Bool, _ problem: String) throws { if !condition { throw Unexpected(problem: problem) } }
        if model.hasErasedBob { try require(markers(of: "bob", on: disk) == [], "an acknowledged erasure left content") }
        if model.hasErasedMessage { try require(markers(of: "gone", on: disk) == [], "an acknowledged erasure left a message") }
        let store = try ChatStore.open("journal", options: options(disk))
        try require(store.head.position >= model.position, "acknowledged events are lost")
        let events = try store.allEvents()
        let orders = (bob: events.contains { $0.kind == .userErased }, gone: events.contains { $0.kind == .contentErased })
        try require(orders.bob || !model.hasErasedBob, "an order is lost")
        let shown = (
            ann: try markers(of: "ann", in: store), bob: try markers(of: "bob", in: store), gone: try markers(of: "gone", in: store)
        )
        let posts = events.count { $0.kind == .messagePosted && $0.details.user == ann }
        // The name, the thread's name, and each message but the one that is erased later.
        try require(posts == 0 || shown.ann.count == posts - 1 + 2, "other content is lost")
        let posted = events.count { $0.kind == .messagePosted && $0.details.user == bob }
        try require(orders.bob ? shown.bob == [] : posted == 0 || shown.bob.count == posted + 1, "content of Bob is shown or lost")
        try require(orders.gone ? shown.gone == [] : posts == 0 || shown.gone == ["1"], "the message is shown or lost")
        // The opening has completed the erasures.
        if orders.bob { try require(markers(of: "bob", on: disk) == [], "files still have erased content") }
        if orders.gone { try require(markers(of: "gone", on: disk) == [], "files still have an erased message") }
        try require(store.rebuild(), "the state is not that of the journal")
        try store.close()
        let report = try ChatStore.verify("journal", options: options(disk).journal, deep: true)
        try require(report.isValid, "\(report.findings)")
    }

    @Test func crashLeavesContentOrErasesIt() throws {
        var explorer = CrashExplorer("erasures", model: Acknowledged()) { disk, witness in
            try Self.run(on: disk, witness)
        } recovery: { disk, witness in
            try Self.check(disk, witness.model)
        }
        explorer.crashesInRecovery = 1
        explorer.crashesAfterKill = 1
        explorer.exhaustiveLimit = 3
        explorer.outcomesPerCrash = 3
        if let states = CrashStates.longRun {
            explorer.outcomesPerCrash = max(3, states / 2_000)
        } else if !Repetitions.areAll {
            explorer.sampling = CrashSampling(oneIn: 12, seed: Repetitions.seed)
        }
        let report = try explorer.run()
        print("\(report.states) states of erasures")
        if report.isReplay && report.states > 0 { print("replayed: \(report)") }
        if !report.failures.isEmpty { Issue.record("\(report)") }
        #expect(report.isReplay || report.states + report.skippedStates >= 300, "\(report)")
    }

    private struct Unexpected: Error { var problem: String }

    private enum CrashStates {
        /// The number of states of a long run; nil otherwise.
        static var longRun: Int? { ProcessInfo.processInfo.environment["CHATJOURNAL_CRASH_STATES"].flatMap { Int($0) } }
    }
}
