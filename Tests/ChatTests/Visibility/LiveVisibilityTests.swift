import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import Locking
import NaiveViews
import TestSupport
import Testing

@testable import Chat

/// Compares every event that is delivered live with `WhoIsShownWhat.md`, on random histories.
///
/// Every user follows a store whose events become durable commit by commit, and some follow one
/// thread only. They receive texts that are shared by all who are shown the same.
/// `CHATJOURNAL_VISIBILITY_HISTORIES` sets the number of histories, 8 in the long form.
@Suite struct LiveVisibilityTests {
    /// What one viewer has received.
    private final class Received: Sendable {
        let texts = Lock<[String]>([])
        let pushCount = Lock(0)

        func push(_ event: FollowedEvent, _ shared: inout SharedTexts) -> Bool {
            let bytes = shared.text(nil, of: event) { Array("\($0.recorded)".utf8) }
            pushCount.withLock { $0 += 1 }
            texts.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
            return true
        }
    }

    private struct Viewer {
        let received = Received()
        let user: UserID
        let thread: ThreadID?
        var expected: [String] = []
        let task: Task<Void, any Error>

        init(_ user: UserID, of thread: ThreadID? = nil, _ store: ChatStore, after position: Position) {
            (self.user, self.thread) = (user, thread)
            let filter = EventFilter(as: .user(user), threads: thread.map { [$0] })
            let updates = store.events(after: position, matching: filter).updates
            task = Task { [received] in
                try await updates.deliver({ received.push($0, &$1) }, nil) { update in
                    guard case .event(let event) = update else { return }
                    received.texts.withLock { $0.append("\(event.recorded)") }
                }
            }
        }
    }

    /// Executes the commands of a history on a thread of its own, which waits before each commit.
    private final class Writer: Sendable {
        private struct State {
            var isWaiting = false
            var isOver = false
            var error: (any Error)?
        }

        private let state = Lock(State())
        private let turn = DispatchSemaphore(value: 0)

        init(_ seed: UInt64, _ log: GatedLog, _ store: ChatStore) {
            log.beforeAppend = { [self] in
                state.withLock { $0.isWaiting = true }
                turn.wait()
            }
            Thread.detachNewThread { [self] in
                let result = Result { try VisibilityWorld(seed: seed, in: store) }
                state.withLock { state in
                    state.isOver = true
                    if case .failure(let error) = result { state.error = error }
                }
            }
        }

        /// Waits until everything before the next commit is durable; returns false after the last
        /// commit.
        func waitForCommit() async throws -> Bool {
            try await FollowingFixture.until("the next commit") { state.withLock { $0.isWaiting || $0.isOver } }
            let (isOver, error) = state.withLock { ($0.isOver, $0.error) }
            if let error { throw error }
            return !isOver
        }

        func goOn() {
            state.withLock { $0.isWaiting = false }
            turn.signal()
        }
    }

    @Test func liveEventsMatchVisibilityTables() async throws {
        let count =
            ProcessInfo.processInfo.environment["CHATJOURNAL_VISIBILITY_HISTORIES"].flatMap { Int($0) }
            ?? Repetitions.few(1, of: 8)
        var (checks, deliveries, pushes) = (0, 0, 0)
        for seed in Seeds.seeds(count) {
            let journal = try Journal.open(
                "journal", options: JournalOptions(storage: MemoryStorage(), entropy: SeededEntropy(seed: seed)))
            let log = GatedLog(journal)
            let store = try ChatStore.open(
                log: log, options: StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: seed)))
            let writer = Writer(seed, log, store)
            var (viewers, facts): ([Viewer], [NaiveViews.Fact]) = ([], [])
            var random = SeededRandom(seed: seed)
            while true {
                let hasMore = try await writer.waitForCommit()
                let (known, end) = (facts.count, store.head.position)
                var new: [RecordedEvent] = []
                try store.forEachEvent(after: Position(known), matching: EventFilter(as: .host)) { event, _ in
                    new.append(event)
                }
                facts += new.map { NaiveViews.Fact($0) }
                let naive = NaiveVisibility(facts)
                for index in viewers.indices {
                    let (user, thread) = (viewers[index].user, viewers[index].thread)
                    let followed = new.filter { thread == nil || $0.event.thread == thread }
                    // The store says what comes into an inbox.
                    var reasons: [Position: InboxReason] = [:]
                    try store.forEachEvent(after: Position(known), matching: EventFilter(as: .user(user))) { event, _ in
                        reasons[event.position] = event.inbox
                    }
                    let shown = followed.compactMap { naive.shown($0, to: user, current: end) }.map { event in
                        var event = event
                        event.inbox = reasons[event.position]
                        return event
                    }
                    viewers[index].expected += shown.map { "\($0)" }
                    checks += new.count
                }
                try await FollowingFixture.until("the events through \(end) of seed \(seed)") {
                    viewers.allSatisfy { $0.received.texts.withLock { $0.count } >= $0.expected.count }
                        && store.feed.waiterCount == viewers.count
                }
                for event in new {
                    if event.event.kind == .userRegistered, let user = event.event.user {
                        viewers.append(Viewer(user, store, after: end))
                    }
                    if event.event.kind == .threadOpened || event.event.kind == .threadJoined,
                        let thread = event.event.thread,
                        !viewers.contains(where: { $0.thread == thread })
                    {
                        for user in Set(viewers.map(\.user)).sorted() where random.oneIn(2) {
                            viewers.append(Viewer(user, of: thread, store, after: end))
                        }
                    }
                }
                try await FollowingFixture.until("the followers of seed \(seed)") {
                    store.feed.waiterCount == viewers.count
                }
                if !hasMore { break }
                writer.goOn()
            }
            for viewer in viewers {
                let texts = viewer.received.texts.withLock { $0 }
                deliveries += texts.count
                pushes += viewer.received.pushCount.withLock { $0 }
                let difference = zip(texts, viewer.expected).first { $0 != $1 }
                let name = "\(viewer.user) in \(String(describing: viewer.thread))"
                #expect(texts == viewer.expected, "seed \(seed), \(name), first \(String(describing: difference))")
                viewer.task.cancel()
            }
            for viewer in viewers { try await viewer.task.value }
            try store.close()
        }
        print("live visibility: \(checks) checks, \(deliveries) deliveries, \(pushes) of them without a task")
        // Only these share texts.
        #expect(pushes > deliveries / 2)
    }
}
