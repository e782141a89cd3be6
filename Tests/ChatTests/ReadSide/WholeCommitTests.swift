import ChatDomain
import ChatTesting
import EventJournal
import Locking
import Projections
import Synchronization
import Testing

@testable import Chat

/// Queries see a whole commit or none of it.
@Suite struct WholeCommitTests {
    private let ann = UserID(bits: 1)
    private let thread = ThreadID(bits: 1)

    private func makeStore(_ fixture: StoreFixture) throws -> ChatStore {
        let store = try fixture.open()
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        try store.executeBlocking(.openThread(id: thread, name: "Milk", by: ann))
        return store
    }

    private func post(_ count: Int, to store: ChatStore) throws {
        let post = CommandRequest(.postMessage(thread: thread, body: "Milk?", by: ann))
        for answer in try store.executeBlocking([CommandRequest](repeating: post, count: count)) {
            _ = try answer.get()
        }
    }

    /// Queries a store in a loop on two threads while a body runs.
    ///
    /// - Returns: The observed message counts.
    private func messageCounts(of store: ChatStore, during body: @escaping @Sendable () throws -> Void) throws -> Set<
        Int
    > {
        let isOver = Atomic(false)
        let seen = Lock<Set<Int>>([])
        let thread = thread
        try onThreads(3) { number in
            if number == 0 {
                defer { isOver.store(true, ordering: .sequentiallyConsistent) }
                return try body()
            }
            var counts: Set<Int> = []
            // The last round begins after the body, so it sees the final state.
            var isLast = false
            repeat {
                isLast = isOver.load(ordering: .sequentiallyConsistent)
                counts.insert(try store.reader(as: .host).thread(thread).messageCount)
                counts.insert(try store.activity().reduce(0) { $0 + $1.messageCount })
            } while !isLast
            seen.withLock { [counts] in $0.formUnion(counts) }
        }
        return seen.withLock { $0 }
    }

    @Test func refreshShowsWholeCommits() throws {
        let fixture = StoreFixture(durability: .written)
        let writer = try makeStore(fixture)
        let reader = try ChatStore.openReadOnly(fixture.directory, options: fixture.options)
        // Each commit exceeds one decoder batch.
        let seen = try messageCounts(of: reader) {
            for round in 1...2 {
                try post(1_500, to: writer)
                let shown = try reader.refresh()
                #expect(shown == writer.head.position && reader.applyDurableEvents() == shown)
                #expect(try reader.reader(as: .host).thread(thread).messageCount == round * 1_500)
            }
        }
        #expect(seen.isSubset(of: [0, 1_500, 3_000]) && seen.contains(3_000))
    }

    /// The second of two new commits contains an undecodable record.
    @Test(arguments: [1, 1_024, 1_500]) func failedRefreshShowsPrecedingCommits(_ number: Int) throws {
        let fixture = StoreFixture()
        let writer = try makeStore(fixture)
        let reader = try ChatStore.openReadOnly(fixture.directory, options: fixture.options)
        try post(50, to: writer)
        let whole = writer.head.position
        let journal = try #require(writer.journal)
        // Repeated messages, which change the position only.
        var draft = CommitDraft()
        let junk: [UInt8] = [0, 0]
        while draft.recordCount < 1_600 {
            try journal.forEachRecord(in: whole - 49...whole) { _, _, kept, erasable in
                let isJunk = draft.recordCount == number - 1
                #expect(throws: Never.self) {
                    if isJunk {
                        unsafe try draft.append(kept: junk.span.bytes, erasable: erasable)
                    } else {
                        try draft.append(kept: kept, erasable: erasable)
                    }
                }
                return true
            }
        }
        try journal.waitUntilDurable(try journal.append(draft, expecting: whole).upperBound)
        for _ in 0..<2 {
            let error = #expect(throws: ChatError.self) { try reader.refresh() }
            guard case .undecodable(whole + Position(number), _) = error else {
                return _ = Issue.record("\(String(describing: error))")
            }
            #expect(reader.applyDurableEvents() == whole)
            #expect(
                try reader.reader(as: .host).thread(thread).messageCount == 50
                    && reader.reader(as: .host).timeline(thread, page: .latest(1)).first?.position == whole)
            expectRejection(.invalidPosition) { () throws(ChatError) in
                _ = try reader.reader(as: .host, asOf: .position(whole + 1)).threads()
            }
        }
    }

    @Test func longCommitIsSeenWholeOrNotAtAll() throws {
        let store = try makeStore(StoreFixture(durability: .written))
        let seen = try messageCounts(of: store) {
            for round in 1...3 {
                try post(1_000, to: store)
                #expect(try store.reader(as: .host).thread(thread).messageCount == round * 1_000)
            }
        }
        #expect(seen.allSatisfy { $0.isMultiple(of: 1_000) } && seen.contains(3_000))
    }
}
