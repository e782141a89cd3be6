import ChatDomain
import ChatTesting
import EventJournal
import Locking
import Projections
import Testing

@testable import Chat

@Suite struct ExecuteTests {
    private let ann = UserID(bits: 1)
    private let bob = UserID(bits: 2)
    private let message = MessageID(bits: 3)
    private let sw1a = ThreadID(bits: 0x5357_3141_0000_8000_806f_7574_7761_7264)

    private func peopled(_ store: ChatStore) throws {
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        try store.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: ann))
    }

    @Test func receiptHoldsPositionsAndEvents() throws {
        let store = try StoreFixture().open()
        let first = try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        #expect(first.positions == 1...1)
        let second = try store.executeBlocking(.setPostcode(postcode: "sw1a1aa", by: ann), correlation: "c")
        #expect(second.positions == 2...4)
        #expect(second.events.map(\.event.kind) == [.postcodeSet, .threadOpened, .threadJoined])
        #expect(second.events.map(\.event.correlation) == ["c", "c", "c"])
        #expect(try store.allEvents() == first.events + second.events)
    }

    @Test func receiptPositionShowsEffect() throws {
        let store = try StoreFixture().open()
        let (ann, thread) = (UserID(bits: 1), ThreadID(bits: 2))
        let registered = try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        #expect(registered.position == 1)
        let opened = try store.executeBlocking(.openThread(id: thread, name: "Garden", by: ann))
        #expect(opened.positions == 2...3 && opened.position == 3)
        let joined = try store.executeBlocking(.joinThread(thread: thread, by: ann))
        #expect(joined.positions == nil && joined.position == 3)
        let again = try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        #expect(again.isDuplicate && again.position == 1)
        #expect(
            try store.reader(as: .host, asOf: .position(joined.position)).members(of: thread).map(\.user.id) == [ann])
    }

    @Test func rejectionAppendsNothing() throws {
        let store = try StoreFixture().open()
        try peopled(store)
        let head = store.head
        expectError("unknownUser") { try store.executeBlocking(.postMessage(thread: sw1a, body: "Hi", by: bob)) }
        do throws(ChatError) {
            try store.executeBlocking(.postMessage(thread: sw1a, body: "  ", by: ann))
        } catch {
            guard case .rejected(let rejection) = error else { throw error }
            #expect(rejection.code == .invalidBody)
        }
        #expect(store.head == head)
    }

    @Test func duplicateReturnsFirstReceiptAfterReopenAndChanges() throws {
        let fixture = StoreFixture()
        var store = try fixture.open()
        try peopled(store)
        let post = ChatCommand.postMessage(id: message, thread: sw1a, body: "Milk?", by: ann)
        let first = try store.executeBlocking(post)
        var expected = first
        expected.isDuplicate = true
        #expect(try store.executeBlocking(post) == expected)
        try store.executeBlocking(.edit(.message(message), body: "Oat milk?", by: ann))
        #expect(try store.executeBlocking(post) == expected)
        try store.close()
        store = try fixture.open()
        #expect(try store.executeBlocking(post) == expected)
        try store.executeBlocking(.retract(.message(message), by: ann))
        try store.executeBlocking(.leaveThread(thread: sw1a, by: ann))
        try store.close()
        store = try fixture.open()
        let head = store.head
        #expect(try store.executeBlocking(post) == expected)
        // The body is not compared, and a body that this caller did not send is not shown.
        let other = try store.executeBlocking(
            .postMessage(id: message, thread: sw1a, body: "another body", by: ann))
        #expect(other.isDuplicate && other.positions == first.positions && other.message == message)
        #expect(other.events.map(\.event.body) == [nil] && other.events.map(\.redacted) == [.body])
        #expect(store.head == head)
    }

    @Test func batchIsOneCommitOfAcceptedCommands() throws {
        let store = try StoreFixture().open()
        let answers = try store.executeBlocking([
            CommandRequest(.registerUser(id: ann, username: "Ann")),
            CommandRequest(.registerUser(id: bob, username: "ann")),
            CommandRequest(.setPostcode(postcode: "SW1A 1AA", by: ann)),
            CommandRequest(.postMessage(id: message, thread: sw1a, body: "seen by its successors", by: ann)),
            CommandRequest(.postMessage(id: message, thread: sw1a, body: "seen by its successors", by: ann)),
            CommandRequest(.joinThread(thread: sw1a, by: ann)),
        ])
        #expect(answers.map { (try? $0.get())?.positions } == [1...1, nil, 2...4, 5...5, 5...5, nil])
        #expect(answers.map { (try? $0.get())?.isDuplicate } == [false, nil, false, false, true, false])
        guard case .failure(let rejection) = answers[1] else {
            return #expect(Bool(false), "a second user named Ann was accepted")
        }
        #expect(rejection.code == .usernameTaken)
        #expect(try store.allEvents().count == 5)
    }

    /// Later commands of the batch can end the effect.
    @Test func receiptWithoutEventsHasPositionOfItsDecision() throws {
        let store = try StoreFixture().open()
        try peopled(store)
        let answers = try store.executeBlocking([
            CommandRequest(.joinThread(thread: sw1a, by: ann)),
            CommandRequest(.leaveThread(thread: sw1a, by: ann)),
            CommandRequest(.leaveThread(thread: sw1a, by: ann)),
        ])
        let receipts = try answers.map { try $0.get() }
        #expect(receipts.map(\.positions) == [nil, 5...5, nil])
        #expect(receipts.map(\.position) == [4, 5, 5])
        #expect(
            try store.reader(as: .host, asOf: .position(receipts[0].position)).members(of: sw1a).map(\.user.id) == [ann]
        )
    }

    @Test func scanAfterTheEndHasNoEvents() throws {
        let store = try StoreFixture().open()
        try peopled(store)
        for position in [4, 5, .max] as [Position] {
            try store.forEachEvent(after: position, matching: EventFilter(as: .host)) { event, _ in
                Issue.record("\(event) after \(position)")
            }
        }
    }

    @Test func emptyBatchReturnsNoResults() throws {
        #expect(try StoreFixture().open().executeBlocking([]).isEmpty)
    }

    @Test func oversizedBatchIsRejectedBeforeDecisions() throws {
        let store = try StoreFixture().open()
        let body = String(repeating: "x", count: 16_384)
        let batch = (0..<2_500).map { _ in CommandRequest(.postMessage(thread: sw1a, body: body, by: ann)) }
        expectError("batchTooLarge") { _ = try store.executeBlocking(batch) }
        #expect(store.head.position == 0)
        // A single command with an oversized body violates a rule instead.
        let huge = String(repeating: "x", count: 40 << 20)
        try peopled(store)
        guard
            case .failure(let rejection) = try answer(
                .init(.postMessage(thread: sw1a, body: huge, by: ann)), of: store)
        else {
            return #expect(Bool(false), "40 MiB were accepted")
        }
        #expect(rejection.code == .invalidBody)
    }

    @Test func omittedIDsAreGenerated() throws {
        let store = try StoreFixture(seed: 7).open()
        let again = try StoreFixture(seed: 7).open()
        let receipt = try store.executeBlocking(.registerUser(username: "Ann"))
        #expect(try again.executeBlocking(.registerUser(username: "Ann")) == receipt)
        #expect(receipt.user?.description.dropFirst(14).first == "7")
    }

    @Test func recordedTimesNeverDecrease() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        fixture.clock.advance(byMilliseconds: -86_400_000)
        try store.executeBlocking(.registerUser(id: bob, username: "Bob"))
        let times = try store.allEvents().map(\.event.recordedAt)
        #expect(times[1] >= times[0])
    }

    @Test func storesInMemoryAreIndependent() throws {
        let store = try ChatStore.inMemory()
        let other = try ChatStore.inMemory()
        try peopled(store)
        try store.executeBlocking(.postMessage(id: message, thread: sw1a, body: "Milk?", by: ann))
        #expect(try store.reader(as: .host).timeline(sw1a).map(\.body) == ["Milk?"])
        #expect(other.head.position == 0 && other.head.journal != store.head.journal)
        expectError("unknownThread") { _ = try other.reader(as: .host).timeline(sw1a) }
    }

    @Test func damagedSlotDoesNotHideHistoryFindings() throws {
        let fixture = StoreFixture()
        try fixture.open().close()
        let journal = try Journal.open(fixture.directory, options: fixture.options.journal)
        var draft = CommitDraft()
        var encoder = EventEncoder()
        for id in [ann, bob] {
            let time = fixture.clock.now()
            let name = Username(text: "Ann", foldKey: "ann")
            encoder.encode(
                ChatEvent(
                    recordedAt: time, details: .init(.userRegistered, .user(id)),
                    content: .registration(name, subject: nil)))
            unsafe try draft.append(kept: encoder.kept.span.bytes, erasable: encoder.erasable.span.bytes)
        }
        _ = try journal.append(draft, expecting: 0)
        try journal.close()
        let file = try fixture.options.journal.storage.open(fixture.directory + "/durable", .readWrite)
        let flaw: [UInt8] = [0xFF]
        unsafe try file.write(flaw.span.bytes, at: 20)
        unsafe try file.write(flaw.span.bytes, at: 21)
        let report = try ChatStore.verify(fixture.directory, options: fixture.options.journal)
        #expect(report.findings.map(\.problem) == ["slot", "usernameTwice"])
        #expect(report.position == 2)
    }

    @Test func closedStoreThrowsClosed() throws {
        let store = try StoreFixture().open()
        try peopled(store)
        try store.close()
        try store.close()
        expectClosed { () throws(ChatError) in try store.executeBlocking(.registerUser(id: bob, username: "Bob")) }
        expectClosed { () throws(ChatError) in try store.executeBlocking(.joinThread(thread: sw1a, by: ann)) }
        expectClosed { () throws(ChatError) in _ = try store.reader(as: .host).threads() }
        expectClosed { () throws(ChatError) in _ = try store.reader(as: .host).timeline(sw1a) }
        expectClosed { () throws(ChatError) in try store.forEachEvent(matching: EventFilter(as: .host)) { _, _ in } }
    }

    private func expectClosed(_ body: () throws(ChatError) -> Void) {
        do throws(ChatError) {
            try body()
            Issue.record("a closed store answered")
        } catch {
            if case .journal(let error) = error { #expect(error.code == .closed) } else { Issue.record("\(error)") }
        }
    }

    @Test func journalWithNewerEventsRejectsWrites() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        try peopled(store)
        try store.close()
        let journal = try Journal.open(fixture.directory, options: fixture.options.journal)
        var draft = CommitDraft()
        let unknown: [UInt8] = [200, 0, 1, 2, 3, 4, 5, 6, 9, 9]
        unsafe try draft.append(kept: unknown.span.bytes, erasable: [1, 2, 3].span.bytes)
        _ = try journal.append(draft, expecting: 4)
        try journal.close()
        let reader = try fixture.open()
        #expect(try reader.reader(as: .host).members(of: sw1a).map(\.user.id) == [ann])
        #expect(try reader.allEvents().last?.details == EventDetails(nil))
        do throws(ChatError) {
            try reader.executeBlocking(.registerUser(id: bob, username: "Bob"))
            Issue.record("a writer accepted a journal with events of a newer version")
        } catch {
            guard case .newerEvents = error else { throw error }
        }
        // The rejected write releases the journal for the newer version.
        try Journal.open(fixture.directory, options: fixture.options.journal).close()
    }

    @Test func cancellationBeforeDecisionAppendsNothing() async throws {
        let store = try StoreFixture().open()
        let ann = ann
        let task = Task {
            // A task can cancel itself only through the unsafe task; the reference does not escape.
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await store.execute(.registerUser(id: ann, username: "Ann"))
        }
        #expect(await chatError { _ = try await task.value }?.stableCode == "cancelled")
        #expect(store.head.position == 0)
    }

    @Test func concurrentTasksAppendWithoutGaps() async throws {
        let store = try StoreFixture().open()
        try peopled(store)
        let receipts = try await withThrowingTaskGroup(of: Receipt.self) { group in
            for number in 0..<8 {
                for message in 0..<20 {
                    let id = MessageID(bits: UInt128(1_000 + number * 100 + message))
                    group.addTask { [ann, sw1a] in
                        try await store.execute(
                            .postMessage(id: id, thread: sw1a, body: "\(number) \(message)", by: ann))
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(receipts.flatMap(\.events).map(\.position).sorted() == Array(5...164))
        #expect(try store.reader(as: .host).timeline(sw1a, page: .latest(1_000)).count == 160)
        #expect(
            try store.allEvents().suffix(160) == receipts.flatMap(\.events).sorted { $0.position < $1.position }[...])
    }
}
