import ChatDomain
import ChatTesting
import Dispatch
import EventJournal
import Foundation
import Locking
import MerkleLog
import StubRewriter
import Testing

@testable import Chat

/// A journal of several segments, in which each text has a marker: `of-ann-7`.
struct ErasureFixture {
    static let (ann, bob, cem) = (UserID(bits: 0xA), UserID(bits: 0xB), UserID(bits: 0xC))
    static let garden = ThreadID(bits: 0x6A)
    static let (hello, milk) = (MessageID(bits: 0x51), MessageID(bits: 0x52))
    static let spam = MessageID(bits: 0x53)

    let store = StoreFixture(segmentSize: 2_048)

    /// Bob writes and is given every kind of content, also by Ann, who moderates.
    func filled() throws -> ChatStore {
        let store = try self.store.open()
        let (ann, bob, cem) = (Self.ann, Self.bob, Self.cem)
        var number = 0
        func text(_ name: String) -> String {
            number += 1
            return "of-\(name)-\(number)"
        }
        func execute(_ command: ChatCommand, by name: String) throws {
            number += 1
            _ = try store.executeBlocking(command, correlation: "of-\(name)-\(number)")
        }
        try execute(.registerUser(id: ann, username: text("ann")), by: "ann")
        try execute(.registerUser(id: bob, username: text("bob"), subject: text("bob")), by: "bob")
        try execute(.registerUser(id: cem, username: text("cem"), subject: text("cem")), by: "cem")
        try execute(.changeUsername(username: text("bob"), by: bob), by: "bob")
        try execute(.setPostcode(postcode: "SW1A 1AA", by: bob), by: "bob")
        try execute(.setPostcode(postcode: "SW1A 2AA", by: cem), by: "cem")
        try execute(.openThread(id: Self.garden, name: text("ann"), by: ann), by: "ann")
        try execute(.openThread(id: ThreadID(bits: 0x6B), name: text("bob"), by: bob), by: "bob")
        for user in [(bob, "bob"), (cem, "cem")] {
            try execute(.joinThread(thread: Self.garden, by: user.0), by: user.1)
        }
        try execute(.postMessage(id: Self.hello, thread: Self.garden, body: text("ann"), by: ann), by: "ann")
        try execute(.postMessage(id: Self.milk, thread: Self.garden, body: text("bob"), by: bob), by: "bob")
        try execute(.postMessage(id: Self.spam, thread: Self.garden, body: text("bob"), by: bob), by: "bob")
        try execute(.reply(id: ReplyID(bits: 0x71), to: Self.hello, body: text("bob"), by: bob), by: "bob")
        try execute(.reply(id: ReplyID(bits: 0x72), to: Self.milk, body: text("cem"), by: cem), by: "cem")
        try execute(.edit(.message(Self.milk), body: text("bob"), by: bob), by: "bob")
        try execute(.report(.message(Self.spam), reason: text("cem"), by: cem), by: "cem")
        try execute(.report(.message(Self.hello), reason: text("bob"), by: bob), by: "bob")
        // What a moderator writes about Bob is given to him; a correlation id is the moderator's,
        // but in the same record.
        try execute(.remove(.message(Self.spam), reason: text("bob"), by: ann), by: "bob")
        try execute(
            .mute(
                user: bob, thread: Self.garden, reason: text("bob"), until: Timestamp(millisecondsSince1970: 1 << 42),
                by: ann), by: "bob"
        )
        try execute(.unmute(user: bob, thread: Self.garden, by: ann), by: "bob")
        try execute(
            .mute(
                user: cem, thread: Self.garden, reason: text("ann"), until: Timestamp(millisecondsSince1970: 1 << 42),
                by: ann), by: "ann"
        )
        // Bob moderates a thread of his own.
        try execute(.joinThread(thread: ThreadID(bits: 0x6B), by: cem), by: "cem")
        try execute(
            .mute(
                user: cem, thread: ThreadID(bits: 0x6B), reason: text("bob"),
                until: Timestamp(millisecondsSince1970: 1 << 42), by: bob),
            by: "bob")
        try execute(.startSession(id: SessionID(bits: 0x81), device: text("bob"), by: bob), by: "bob")
        try execute(
            .custom(
                id: CustomEventID(bits: 0x91), kind: "com.example.poll", thread: Self.garden,
                payload: try #require(CustomPayload("{\"q\":\"\(text("bob"))\"}")), by: bob), by: "bob")
        for _ in 0..<30 {
            try execute(
                .postMessage(thread: Self.garden, body: text("ann") + String(repeating: ".", count: 80), by: ann),
                by: "ann")
        }
        return store
    }

    private static func markers(of name: String, in text: String) -> [String] {
        text.split(separator: "of-\(name)-").dropFirst().map { String($0.prefix { $0.isNumber }) }
    }

    /// The markers in all files of the journal.
    func markersInFiles(of name: String) throws -> Set<String> {
        let storage = store.options.journal.storage
        var found: Set<String> = []
        for path in [store.directory, store.directory + "/cut"] where try storage.kind(of: path) == .directory {
            for file in try storage.list(path) where try storage.kind(of: path + "/" + file) == .file {
                let text = String(decoding: try storage.contents(of: path + "/" + file), as: UTF8.self)
                found.formUnion(Self.markers(of: name, in: text))
            }
        }
        return found
    }

    /// The markers in the answers of a store, now and as of earlier positions.
    static func markersInAnswers(_ store: ChatStore, of name: String) throws -> Set<String> {
        var answers = try store.allEvents().map { "\($0)" }
        let last = store.head.position
        for position in Set([last, last / 2, 5, 20]).filter({ $0 <= last }) {
            let moment = AsOf.position(position)
            for user in [ann, bob, cem] where (try? store.reader(as: .host, asOf: moment).user(user)) != nil {
                answers.append("\(try store.reader(as: .host, asOf: moment).user(user))")
                answers.append("\(try store.reader(as: .host, asOf: moment).access(of: user))")
            }
            for thread in try store.reader(as: .host, asOf: moment).threads(page: .latest(.max)) {
                answers.append("\(thread)")
                answers.append(
                    "\(try store.reader(as: .host, asOf: moment).timeline(thread.id, page: .latest(.max)).entries)"
                )
                answers.append(
                    "\(try store.reader(as: .host, asOf: moment).members(of: thread.id)) \(try store.readers(of: thread.id, asOf: moment))"
                )
                answers.append(
                    "\(try store.reader(as: .host, asOf: moment).sanctions(in: thread.id)) \(try store.reader(as: .host, asOf: moment).reports(in: thread.id))"
                )
                let messages = try store.reader(as: .host, asOf: moment).timeline(
                    thread.id, page: .latest(.max))
                for message in messages {
                    answers.append(
                        "\(try store.reader(as: .host, asOf: moment).replies(to: message.message, page: .latest(.max)).entries)"
                    )
                    // Not as of the moment, and the messages of the last one include the others.
                    if position == last {
                        answers.append("\(try store.reader(as: .host).details(of: .message(message.message)))")
                    }
                }
            }
        }
        return Set(answers.flatMap { Self.markers(of: name, in: $0) })
    }
}

/// Erasures of users and events.
@Suite struct EraseTests {
    private typealias F = ErasureFixture
    private let fixture = ErasureFixture()

    private func expectForgotten(_ store: ChatStore, besides others: [String: Set<String>]) throws {
        #expect(try F.markersInAnswers(store, of: "bob") == [])
        #expect(try fixture.markersInFiles(of: "bob") == [])
        for (name, markers) in others { #expect(try F.markersInAnswers(store, of: name) == markers, "\(name)") }
    }

    private func shownMarkers(_ store: ChatStore) throws -> [String: Set<String>] {
        try ["ann": F.markersInAnswers(store, of: "ann"), "cem": F.markersInAnswers(store, of: "cem")]
    }

    @Test func erasedUserIsForgottenEverywhere() throws {
        let store = try fixture.filled()
        let (before, others) = (try store.allEvents(), try shownMarkers(store))
        #expect(try F.markersInAnswers(store, of: "bob").count > 15 && !(others["cem"]?.isEmpty ?? true))
        let (head, tree) = (store.head, try store.treeHead())
        let proofs = try (1...head.position).map { try store.inclusionProof(of: $0) }
        let leaves = try (1...head.position).map { try store.disclosedRecord(at: $0).leaf }
        let erasure = try store.eraseUser(F.bob, reason: "user-request")
        #expect(
            erasure.user == F.bob && erasure.orders == head.position + 1...head.position + 1
                && erasure.reason == "user-request")
        #expect(erasure.head == store.head)
        try expectForgotten(store, besides: others)
        // The events stay, without content: those of the positions and no others.
        let after = try store.allEvents()
        for (old, new) in zip(before, after) {
            #expect(old.details == new.details && old.recordedAt == new.recordedAt)
            #expect(new.event.isErased == erasure.positions.contains(new.position))
            if !new.event.isErased { #expect(old == new) }
        }
        let order = try #require(after.last { $0.kind == .userErased })
        #expect(order.details == .init(.userErased, .user(F.bob)) && order.reason == "user-request")
        // Chain values, trees and proofs of before stay valid.
        #expect(try store.treeHead(at: head.position) == tree)
        for (proof, leaf) in zip(proofs, leaves) {
            #expect(try store.inclusionProof(of: proof.position, at: head.position) == proof)
            #expect(try store.disclosedRecord(at: proof.position).leaf == leaf)
        }
        #expect(try store.rebuild(), "the live models equal those of the journal")
        try store.close()
        var options = fixture.store.options.journal
        options.expectedHead = head
        let report = try ChatStore.verify(fixture.store.directory, options: options, expecting: tree, deep: true)
        #expect(report.findings == [])
        try expectForgotten(try fixture.store.open(), besides: others)
    }

    @Test func checkpointsForget() throws {
        let store = try fixture.filled()
        try store.writeCheckpoint()
        #expect(try !fixture.markersInFiles(of: "bob").isEmpty)
        try store.eraseUser(F.bob, reason: "spam")
        #expect(try fixture.markersInFiles(of: "bob") == [])
        let position = try store.writeCheckpoint()
        #expect(try fixture.markersInFiles(of: "bob") == [])
        try store.close()
        let reopened = try fixture.store.open()
        #expect(reopened.statistics.checkpoints?.loadedPosition == position)
        #expect(try F.markersInAnswers(reopened, of: "bob") == [])
        #expect(try reopened.rebuild())
    }

    /// The close of a store writes a checkpoint, although an earlier one had a later position.
    @Test func closeAfterErasureWritesCheckpoint() throws {
        let store = try fixture.filled()
        try store.writeCheckpoint()
        try store.eraseUser(F.bob, reason: "spam")
        let again = try store.eraseUser(F.bob, reason: "spam")
        #expect(again.orders == nil && again.positions.isEmpty)
        let position = try store.writeCheckpoint()
        // Nothing is left to erase, so the checkpoint stays.
        try store.eraseUser(F.bob, reason: "spam")
        try store.close()
        #expect(try fixture.store.open().statistics.checkpoints?.loadedPosition == position)
    }

    @Test func erasedUserCanDoNothing() throws {
        let store = try fixture.filled()
        let name = try #require(try store.reader(as: .host).user(F.bob).username)
        try store.eraseUser(F.bob, reason: "spam")
        let subject = "of-bob-5"
        expectRejection(.userErased) { () throws(ChatError) in
            try store.executeBlocking(.postMessage(thread: F.garden, body: "x", by: F.bob))
        }
        expectRejection(.userErased) { () throws(ChatError) in
            try store.executeBlocking(.changeUsername(username: "x", by: F.bob))
        }
        expectRejection(.userErased) { () throws(ChatError) in
            try store.executeBlocking(.setPostcode(postcode: "M1 1AE", by: F.bob))
        }
        expectRejection(.userErased) { () throws(ChatError) in
            try store.executeBlocking(.leaveThread(thread: F.garden, by: F.bob))
        }
        expectRejection(.userErased) { () throws(ChatError) in
            try store.executeBlocking(.retract(.message(F.milk), by: F.bob))
        }
        expectRejection(.userErased) { () throws(ChatError) in try store.executeBlocking(.grantOperator(user: F.bob)) }
        expectRejection(.identifierTaken) { () throws(ChatError) in
            try store.executeBlocking(.registerUser(id: F.bob, username: name))
        }
        // A repeat of a post id returns the first receipt, without content.
        let receipt = try store.executeBlocking(
            .postMessage(id: F.milk, thread: F.garden, body: "x", by: F.bob))
        #expect(receipt.isDuplicate && receipt.events.map(\.content) == [.erased])
        try store.close()
        try expectFree(name, subject)
    }

    private func expectFree(_ name: String, _ subject: String) throws {
        let store = try fixture.store.open()
        #expect(try store.userID(named: name) == nil && store.userID(withSubject: subject) == nil)
        try store.executeBlocking(.registerUser(id: UserID(bits: 0xD), username: name, subject: subject))
        #expect(try store.userID(named: name) == UserID(bits: 0xD))
        // Others can still act on the user.
        try store.executeBlocking(.removeMember(user: F.bob, thread: F.garden, reason: "gone", by: F.ann))
        try store.executeBlocking(.endSession(session: SessionID(bits: 0x81)))
        try store.close()
        #expect(
            try ChatStore.verify(fixture.store.directory, options: fixture.store.options.journal, deep: true).findings
                == [])
        // A second order changes nothing, and what was given to the user later stays.
        let again = try fixture.store.open()
        let head = again.head
        let erasure = try again.eraseUser(F.bob, reason: "spam")
        #expect(erasure.orders == nil && erasure.positions.isEmpty && again.head == head)
        #expect(try again.allEvents().contains { $0.reason == "gone" })
    }

    @Test func eventsAreErased() throws {
        let store = try fixture.filled()
        let last = store.head.position
        let before = try store.allEvents()
        let asked = PositionSet([2...2, 12...13, last...last])
        let erasure = try store.eraseContent(of: asked, reason: "court-order-7")
        #expect(
            erasure.user == nil
                && erasure.positions.ranges.allSatisfy {
                    asked.contains($0.lowerBound) && asked.contains($0.upperBound)
                })
        let after = try store.allEvents()
        #expect(after.filter(\.event.isErased).map(\.position).allSatisfy(asked.contains))
        #expect(after.last?.event.erasedPositions == asked && after.last?.kind == .contentErased)
        for (old, new) in zip(before, after) where !asked.contains(old.position) { #expect(old == new) }
        // The author of the events can go on.
        try store.executeBlocking(.postMessage(thread: F.garden, body: "More", by: F.ann))
        let head = store.head
        #expect(try store.eraseContent(of: asked, reason: "spam").orders == nil && store.head == head)
        #expect(try store.rebuild())
        try store.close()
        #expect(
            try ChatStore.verify(fixture.store.directory, options: fixture.store.options.journal, deep: true).findings
                == [])
    }

    @Test func manyRangesTakeSeveralOrders() throws {
        let store = try fixture.store.open()
        try store.executeBlocking(.registerUser(id: F.ann, username: "Ann"))
        try store.executeBlocking(.openThread(id: F.garden, name: "Garden", by: F.ann))
        let requests = (0..<7_000).map {
            CommandRequest(.postMessage(thread: F.garden, body: "of-bob-\($0);", by: F.ann))
        }
        _ = try store.executeBlocking(requests)
        let last = store.head.position
        let erasure = try store.eraseContent(
            of: PositionSet(stride(from: 4, through: last, by: 2).map { $0...$0 }), reason: "spam")
        #expect(erasure.orders == last + 1...last + 2 && erasure.positions.count == 3_500)
        #expect(try store.allEvents().count { $0.event.body != nil } == 3_500)
        #expect(
            try store.reader(as: .host).timeline(F.garden, page: .latest(.max)).count { $0.body != nil }
                == 3_500)
        #expect(try fixture.markersInFiles(of: "bob").count == 3_500)
        try store.close()
        #expect(try ChatStore.verify(fixture.store.directory, options: fixture.store.options.journal).findings == [])
    }

    @Test func wrongOrdersChangeNothing() throws {
        let store = try fixture.filled()
        let head = store.head
        expectRejection(.unknownUser) { () throws(ChatError) in try store.eraseUser(UserID(bits: 99), reason: "spam") }
        for reason in ["", "Spam", "a b", "é", String(repeating: "a", count: 33), "a_b"] {
            expectRejection(.invalidReason) { () throws(ChatError) in try store.eraseUser(F.bob, reason: reason) }
            expectRejection(.invalidReason) { () throws(ChatError) in
                try store.eraseContent(of: PositionSet([1...1]), reason: reason)
            }
        }
        for positions in [[], [0...1], [head.position + 1...head.position + 1], [1...Position.max]] {
            expectRejection(.invalidPosition) { () throws(ChatError) in
                try store.eraseContent(of: PositionSet(positions), reason: "spam")
            }
        }
        #expect(store.head == head)
        #expect(try F.markersInAnswers(store, of: "bob").count > 15)
        try store.close()
        expectError("closed") { _ = try store.eraseUser(F.bob, reason: "spam") }
        let reader = try ChatStore.openReadOnly(fixture.store.directory, options: fixture.store.options)
        expectError("readOnly") { _ = try reader.eraseUser(F.bob, reason: "spam") }
        let other = try ChatStore.open(log: ArrayLog(ArrayLog.Store()))
        expectError("readOnly") { _ = try other.eraseUser(F.bob, reason: "spam") }
    }

    /// Another process that reads the journal hides the content with the order, and its files too.
    @Test func readersOfOtherProcessesForget() throws {
        let store = try fixture.filled()
        let reader = try ChatStore.openReadOnly(fixture.store.directory, options: fixture.store.options)
        #expect(try F.markersInAnswers(reader, of: "bob").count > 15)
        let others = try shownMarkers(reader)
        try store.eraseUser(F.bob, reason: "spam")
        try store.executeBlocking(.postMessage(thread: F.garden, body: "later", by: F.ann))
        try reader.refresh()
        #expect(reader.head == store.head)
        #expect(try F.markersInAnswers(reader, of: "bob") == [])
        for (name, markers) in others { #expect(try F.markersInAnswers(reader, of: name) == markers) }
        try store.executeBlocking(.postMessage(thread: F.garden, body: "later", by: F.ann))
        try reader.refresh()
        #expect(try reader.allEvents() == store.allEvents())
    }

    /// A commit orders an erasure, and a later record of it cannot be read or decoded.
    @Test(arguments: [false, true]) func unreadableCommitWithOrderIsNotShown(isDecodable: Bool) throws {
        let options = fixture.store.options.journal
        let store = try fixture.filled()
        try store.backup(to: "copy")
        let hello = try store.reader(as: .host).message(F.hello).position
        let order = try #require(try store.eraseContent(of: PositionSet([hello...hello]), reason: "spam").orders)
            .lowerBound
        let copy = try Journal.open("copy", options: options)
        let log = RecordLog(try Journal.openReadOnly("copy", options: options), options.storage)
        let reader = try ChatStore.openReadOnly(log: log)
        let before = reader.head
        var draft = CommitDraft()
        for position in [order, 10] {
            let record = try store.disclosedRecord(at: position)
            let kept = position == order || isDecodable ? record.kept : [0, 0]
            let erasable = record.erasable ?? []
            unsafe try draft.append(kept: kept.span.bytes, erasable: erasable.span.bytes)
        }
        try copy.waitUntilDurable(try copy.append(draft, expecting: before.position).upperBound)
        log.unreadable.withLock { $0 = isDecodable ? before.position + 2 : nil }
        for _ in 0..<2 {
            expectError(isDecodable ? "damaged" : "undecodable") { try reader.refresh() }
            #expect(reader.applyDurableEvents() == before.position && reader.head == before)
        }
        #expect(try reader.reader(as: .host).message(F.hello).body != nil)
        log.unreadable.withLock { $0 = nil }
        guard isDecodable else { return }
        try reader.refresh()
        #expect(reader.head == copy.head)
        #expect(try reader.reader(as: .host).message(F.hello).body == nil)
        #expect(try reader.rebuild())
    }

    /// An erasure that begins, or that another process orders, while the models are rebuilt.
    @Test(arguments: [false, true]) func rebuildBesideErasureForgets(isReader: Bool) throws {
        try fixture.filled().close()
        let options = fixture.store.options.journal
        let writer = try fixture.store.open()
        var log: RecordLog?
        let rebuilding: ChatStore
        if isReader {
            log = RecordLog(try Journal.openReadOnly("journal", options: options), options.storage)
            rebuilding = try ChatStore.openReadOnly(log: try #require(log))
        } else {
            try writer.close()
            log = RecordLog(try Journal.open("journal", options: options), options.storage)
            var accepting = StoreOptions()
            // The events are of the time of `ManualClock`.
            accepting.acceptsClock = true
            rebuilding = try ChatStore.open(log: try #require(log), options: accepting)
        }
        let erased = DispatchSemaphore(value: 0)
        log?.didRead.withLock {
            $0 = {
                if isReader {
                    #expect(throws: Never.self) {
                        try writer.eraseUser(F.bob, reason: "spam")
                        try rebuilding.refresh()
                    }
                    return
                }
                Thread.detachNewThread {
                    #expect(throws: Never.self) { try rebuilding.eraseUser(F.bob, reason: "spam") }
                    erased.signal()
                }
                // The erasure may be made to wait for the rebuild.
                if erased.wait(timeout: .now() + .milliseconds(500)) == .success { erased.signal() }
            }
        }
        _ = try rebuilding.rebuild()
        if !isReader { erased.wait() }
        #expect(try F.markersInAnswers(rebuilding, of: "bob") == [])
        #expect(try rebuilding.userID(named: "of-bob-10") == nil)
        #expect(try rebuilding.rebuild())
    }

    /// A reader of another process that is in the middle of a long scan.
    @Test func longScanOfAnotherProcessForgets() throws {
        let store = try fixture.filled()
        let last = store.head.position
        _ = try store.executeBlocking(
            (0..<9_000).map { CommandRequest(.postMessage(thread: F.garden, body: "of-bob-\($0);", by: F.bob)) })
        let reader = try ChatStore.openReadOnly(fixture.store.directory, options: fixture.store.options)
        var texts: [(Position, String)] = []
        try reader.forEachEvent(matching: EventFilter(as: .host)) { event, _ in
            if event.position == last { _ = try? store.eraseUser(F.bob, reason: "spam") }
            if event.position > last { texts.append((event.position, "\(event)")) }
        }
        // The chunk in which the order came was read before it.
        #expect(texts.count == 9_000 && texts.filter { $0.0 > 4_096 }.allSatisfy { !$0.1.contains("of-bob-") })
    }

    /// A copy in the batch of a follower, or in a view, is not delivered after the erasure.
    @Test func followersForget() async throws {
        let store = try fixture.filled()
        var iterator = store.events(after: 0, matching: EventFilter(as: .host)).makeAsyncIterator()
        #expect(try await iterator.next()?.position == 1)
        try await store.inBackground { _ = try $0.eraseUser(F.bob, reason: "spam") }
        var texts: [String] = []
        while let event = try await iterator.next(), event.recorded.position < store.head.position {
            texts.append("\(event)")
        }
        #expect(!texts.contains { $0.contains("of-bob-") } && texts.count > 50)
    }

    @Test func liveTimelineReloads() async throws {
        let store = try fixture.filled()
        let timeline = await LiveTimeline(store, thread: F.garden, as: .host, limit: 500)
        let follower = Task { await timeline.follow() }
        func shown(_ condition: @MainActor () -> Bool) async throws {
            for _ in 0..<2_000 {
                if await condition() { return }
                try await Task.sleep(for: .milliseconds(5))
            }
            Issue.record("the view did not change")
        }
        try await shown { timeline.messages.contains { $0.body?.hasPrefix("of-bob-") == true } }
        try await store.inBackground { _ = try $0.eraseUser(F.bob, reason: "spam") }
        try await shown { timeline.messages.count > 30 && !timeline.messages.contains { "\($0)".contains("of-bob-") } }
        follower.cancel()
    }

    /// A projection that has read the content starts again.
    @Test func projectionsForget() throws {
        struct Bodies: Projection {
            static let name = "bodies"
            static let version: UInt32 = 1
            var bodies: [String] = []
            mutating func apply(_ event: ChatEvent, at position: Position) {
                if let body = event.body { bodies.append(body) }
            }
        }
        let store = try fixture.filled()
        let handle = store.project(Bodies.self)
        #expect(try handle.readBlocking { bodies, _ in bodies.bodies.contains { $0.hasPrefix("of-bob-") } })
        try store.eraseUser(F.bob, reason: "spam")
        #expect(try handle.readBlocking { bodies, _ in bodies.bodies.contains { $0.hasPrefix("of-bob-") } } == false)
        #expect(try handle.readBlocking { bodies, _ in bodies.bodies.count } > 30)
    }

    @Test func exportIsImportedAgain() throws {
        let store = try fixture.filled()
        try store.eraseUser(F.bob, reason: "spam")
        var exported: [ExportedEvent] = []
        try store.forEachExportedEvent { event, _ in
            exported.append(event)
        }
        let copy = StoreFixture(seed: 2)
        var importer = try EventImporter(into: copy.directory, options: copy.options.journal)
        for (line, event) in exported.enumerated() { try importer.add(event, line: line + 1) }
        try importer.finish()
        #expect(try copy.open().allEvents() == store.allEvents())
        #expect(try ChatStore.verify(copy.directory, options: copy.options.journal, deep: true).findings == [])
    }

    /// Commands, queries and erasures at once.
    @Test func erasureBesideCommandsAndQueries() async throws {
        let store = try fixture.filled()
        await withTaskGroup(of: Void.self) { group in
            for user in [F.ann, F.bob] {
                group.addTask {
                    for number in 0..<60 {
                        let name = user == F.bob ? "bob" : "ann"
                        // Bob's posts are rejected once he is erased.
                        _ = try? await store.execute(
                            .postMessage(thread: F.garden, body: "of-\(name)-\(1_000 + number)", by: user))
                        _ = try? store.reader(as: .host).timeline(F.garden, page: .latest(10))
                    }
                }
            }
            group.addTask { _ = try? await store.inBackground { try $0.eraseUser(F.bob, reason: "spam") } }
        }
        #expect(try store.allEvents().contains { $0.kind == .userErased })
        #expect(try F.markersInAnswers(store, of: "bob") == [])
        #expect(try fixture.markersInFiles(of: "bob") == [])
        #expect(try store.rebuild())
    }
}
