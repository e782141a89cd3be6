import ChatDomain
import ChatTesting
import EventJournal
import Locking
import StubRewriter
import Testing

@testable import Chat

/// Erasures that a full disk interrupts, and records that contradict the orders.
@Suite struct UnfinishedErasureTests {
    private typealias F = ErasureFixture

    private let fixture = ErasureFixture()
    private let disk: FullDisk
    private let options: StoreOptions

    init() throws {
        try fixture.filled().close()
        disk = FullDisk(fixture.store.options.journal.storage)
        var options = fixture.store.options
        options.journal.storage = disk
        self.options = options
    }

    private func setFull(_ isFull: Bool) { disk.setRoom(isFull ? 0 : .max) }

    /// A store whose order is durable and whose files still have content.
    private func interrupted() throws -> ChatStore {
        let store = try ChatStore.open("journal", options: options)
        setFull(true)
        expectError("erasureUnfinished") { _ = try store.eraseUser(F.bob, reason: "spam") }
        #expect(try store.allEvents().contains { $0.kind == .userErased })
        #expect(try !fixture.markersInFiles(of: "bob").isEmpty)
        #expect(try F.markersInAnswers(store, of: "bob") == [])
        return store
    }

    @Test func nextErasureCompletesIt() throws {
        let store = try interrupted()
        let head = store.head
        expectError("erasureUnfinished") { _ = try store.eraseUser(F.bob, reason: "spam") }
        setFull(false)
        let erasure = try store.eraseUser(F.bob, reason: "spam")
        #expect(erasure.orders == nil && !erasure.positions.isEmpty && store.head == head)
        #expect(try fixture.markersInFiles(of: "bob") == [])
        #expect(try F.markersInAnswers(store, of: "bob") == [])
        #expect(try store.eraseUser(F.bob, reason: "spam").positions.isEmpty)
    }

    /// The order names events, and is repeated or followed by one that has nothing to erase.
    @Test(arguments: [false, true]) func nextOrderOfEventsCompletesIt(isRepeated: Bool) throws {
        let store = try ChatStore.open("journal", options: options)
        setFull(true)
        let position = try store.reader(as: .host).message(F.milk).position
        expectError("erasureUnfinished") {
            _ = try store.eraseContent(of: PositionSet([position...position]), reason: "spam")
        }
        setFull(false)
        let before = try fixture.markersInFiles(of: "bob").count
        let other = isRepeated ? position : store.head.position
        let erasure = try store.eraseContent(of: PositionSet([other...other]), reason: "spam")
        #expect(erasure.orders == nil && erasure.positions == PositionSet([position...position]))
        #expect(try fixture.markersInFiles(of: "bob").count == before - 2, "the body and the correlation id")
    }

    /// The next order has content of its own: the result has that of both.
    @Test func nextOrderReportsAllContent() throws {
        let store = try interrupted()
        let hidden = try #require(store.log as? any ErasableLog).hiddenContent
        #expect(hidden.count > 5 && !hidden.contains(1))
        setFull(false)
        let erasure = try store.eraseContent(of: PositionSet([1...1]), reason: "spam")
        #expect(erasure.orders != nil && erasure.positions == PositionSet(hidden.ranges + [1...1]))
        #expect(try fixture.markersInFiles(of: "bob") == [])
    }

    @Test func nextOpeningHidesAndCompletesIt() throws {
        try interrupted().close()
        let findings = try ChatStore.verify("journal", options: options.journal, deep: true).findings
        #expect(!findings.isEmpty && findings.allSatisfy { $0.problem == "erasureUnfinished" })
        // The disk is still full, and a reader cannot write at all.
        let (reader, store) = (
            try ChatStore.openReadOnly("journal", options: options), try ChatStore.open("journal", options: options)
        )
        for store in [reader, store] { #expect(try F.markersInAnswers(store, of: "bob") == []) }
        #expect(try !fixture.markersInFiles(of: "bob").isEmpty)
        #expect(try store.disclosedRecord(at: 2).erasable == nil)
        var exported: [String] = []
        try ChatStore.forEachExportedEvent(ofJournalAt: "journal", options: options.journal) { event, _, _ in
            exported.append("\(event)")
        }
        #expect(exported.count > 50 && !exported.contains { $0.contains("of-bob-") })
        try store.close()
        setFull(false)
        let reopened = try ChatStore.open("journal", options: options)
        #expect(try fixture.markersInFiles(of: "bob") == [])
        #expect(try F.markersInAnswers(reopened, of: "bob") == [])
        try reopened.close()
        #expect(try ChatStore.verify("journal", options: options.journal, deep: true).findings == [])
    }

    /// A copy of a journal whose files still have content: the copy does not have it.
    @Test(arguments: [false, true]) func backupCarriesErasureOut(isOpen: Bool) throws {
        let storage = fixture.store.options.journal.storage
        let options = BackupOptions(storage: disk, destinationStorage: storage)
        let store = try interrupted()
        func markersInCopy() throws -> Bool {
            try storage.list("copy").contains {
                String(decoding: try storage.contents(of: "copy/" + $0), as: UTF8.self).contains("of-bob-")
            }
        }
        func backUp() throws -> BackupReport {
            if isOpen { return try store.backup(to: "copy") }
            return try ChatStore.backup(ofJournalAt: "journal", to: "copy", options: options)
        }
        // The copy is on a disk with space.
        var report: BackupReport
        if isOpen {
            expectError("storageFull") { _ = try backUp() }
            setFull(false)
        }
        report = try backUp()
        #expect(try !markersInCopy() && report.head == store.head)
        #expect(try !fixture.markersInFiles(of: "bob").isEmpty)
        report = try backUp()
        #expect(try !markersInCopy())
        setFull(false)
        try store.eraseUser(F.bob, reason: "spam")
        report = try backUp()
        #expect(try !markersInCopy() && fixture.markersInFiles(of: "bob") == [] && report.head == store.head)
        #expect(try ChatStore.verify("copy", options: fixture.store.options.journal, deep: true).findings == [])
        #expect(try backUp().bytesCopied == 0)
    }

    /// The order does not fit on the disk: nothing has changed.
    @Test func orderWithoutSpaceChangesNothing() throws {
        let store = try ChatStore.open("journal", options: options)
        let shown = try F.markersInAnswers(store, of: "bob")
        setFull(true)
        // Fills the last segment with events that are shorter than the order, which then needs a
        // new one.
        expectRejection(.storageFull) { () throws(ChatError) in
            for _ in 0..<100 {
                try store.executeBlocking(.leaveThread(thread: F.garden, by: F.cem))
                try store.executeBlocking(.joinThread(thread: F.garden, by: F.cem))
            }
        }
        let head = store.head
        expectRejection(.storageFull) { () throws(ChatError) in
            try store.eraseUser(F.bob, reason: String(repeating: "a", count: 32))
        }
        #expect(store.head == head)
        #expect(try F.markersInAnswers(store, of: "bob") == shown)
        #expect(try store.rebuild())
        setFull(false)
        try store.executeBlocking(.postMessage(thread: F.garden, body: "still here", by: F.bob))
        try store.eraseUser(F.bob, reason: String(repeating: "a", count: 32))
        #expect(try F.markersInAnswers(store, of: "bob") == [])
    }

    /// A host that replaces a rewritten segment by its former file, or erases without an order.
    @Test func recordsThatContradictTheOrdersAreFound() throws {
        let storage = fixture.store.options.journal.storage
        let name = "00000000000000000001.segment"
        let former = try storage.contents(of: "journal/" + name)
        let store = try ChatStore.open("journal", options: options)
        try store.eraseUser(F.bob, reason: "spam")
        try store.close()
        let rewritten = try storage.contents(of: "journal/" + name)
        #expect(rewritten != former)
        try storage.replace(name, in: "journal", with: former)
        let restored = try ChatStore.verify("journal", options: options.journal).findings
        #expect(!restored.isEmpty && restored.allSatisfy { $0.problem == "erasureUnfinished" })
        // Whatever the note of completed erasures says, the next opening erases again.
        let reopened = try ChatStore.open("journal", options: options)
        #expect(try F.markersInAnswers(reopened, of: "bob") == [] && fixture.markersInFiles(of: "bob") == [])
        try reopened.close()
        #expect(try ChatStore.verify("journal", options: options.journal).findings == [])
        let chosen = try StubRewriter("journal", on: storage).rewrite { position, _, _ in
            position % 5 == 0 ? .erased : .whole
        }
        let found = try ChatStore.verify("journal", options: options.journal).findings
        #expect(!chosen.isEmpty && found.allSatisfy { $0.problem == "stubWithoutErasure" })
        #expect(PositionSet(found.compactMap(\.positions)) == PositionSet(chosen.map { $0...$0 }))
    }

    /// A stub that says that its content is withheld: reported, because imports make them.
    @Test(arguments: [RecordContentState.withheld, .reserved]) func otherStubsAreReported(state: RecordContentState)
        throws
    {
        let storage = fixture.store.options.journal.storage
        let chosen = try StubRewriter("journal", on: storage).rewrite { position, _, _ in
            position % 5 == 0 ? state : .whole
        }
        let report = try ChatStore.verify("journal", options: options.journal)
        #expect(chosen.count > 5 && report.withheldEventCount == (state == .withheld ? UInt64(chosen.count) : 0))
        #expect(report.findings.isEmpty == (state == .withheld))
        #expect(report.findings.allSatisfy { $0.problem == "stubWithoutErasure" })
    }

    /// Names and subjects that an unfinished erasure hides can be taken, which is no contradiction.
    @Test func takenNameIsNoFinding() throws {
        let store = try ChatStore.open("journal", options: options)
        let (name, position) = (try #require(try store.reader(as: .host).user(F.ann).username), Position(1))
        setFull(true)
        expectError("erasureUnfinished") {
            _ = try store.eraseContent(of: PositionSet([position...position]), reason: "spam")
        }
        try store.executeBlocking(.registerUser(id: UserID(bits: 0xD), username: name))
        try store.close()
        let findings = try ChatStore.verify("journal", options: options.journal, deep: true).findings
        #expect(findings.map(\.problem) == ["erasureUnfinished"] && findings.map(\.positions) == [1...1])
    }

    /// Evidence has a digest in the place of what the files still have.
    @Test func evidenceHasNoHiddenContent() throws {
        let store = try interrupted()
        let evidence = try store.evidence(of: F.garden, withRegistrations: true)
        var verification = EvidenceVerification(against: evidence.head)
        var text = ""
        try store.forEachPart(of: evidence) { part, _ in
            if case .record(_, let record) = part {
                text += String(decoding: record.kept + (record.erasable ?? []), as: UTF8.self)
            }
        }
        #expect(text.contains("of-ann-") && !text.contains("of-bob-"))
        for part in try store.parts(of: evidence) { try verification.add(part) }
        #expect(try verification.report(readers: evidence.readers).withoutContentCount > 5)
        setFull(false)
    }
}
