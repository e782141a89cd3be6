import ChatDomain
import ChatTesting
import EventJournal
import Locking
import Primitives
import TestSupport
import Testing

@testable import Chat

/// What works on a journal's files works on any log: verification, exports, backups and reading.
@Suite struct RecordLogTests {
    private typealias F = ErasureFixture

    private let fixture = ErasureFixture()
    private var storage: any JournalStorage { fixture.store.options.journal.storage }

    private func readOnly(change: @escaping @Sendable (Position, [UInt8]) -> [UInt8]? = { $1 }) throws -> RecordLog {
        RecordLog(try Journal.openReadOnly("journal", options: fixture.store.options.journal), storage, change: change)
    }

    @Test(arguments: [false, true]) func verificationFindsNothing(isErased: Bool) throws {
        let store = try fixture.filled()
        if isErased { _ = try store.eraseUser(F.bob, reason: "spam") }
        let (head, tree) = (store.head, try store.treeHead())
        try store.close()
        let log = try readOnly()
        #expect(try log.treeHead(at: head.position) == tree)
        var last: Position = 0
        let report = try ChatStore.verify(log: log, containing: head, expecting: tree, deep: true) { position, _ in
            last = position
        }
        let onFiles = try ChatStore.verify(
            "journal", options: fixture.store.options.journal, expecting: tree, deep: true)
        #expect(report == onFiles && report.isValid && report.position == head.position && last == head.position)
    }

    @Test func verificationFindsOtherHeads() throws {
        let store = try fixture.filled()
        let (head, tree) = (store.head, try store.treeHead())
        try store.close()
        let log = try readOnly()
        var other = head
        other.chain ^= 1
        #expect(try ChatStore.verify(log: log, containing: other).findings.map(\.problem) == ["headMismatch"])
        other = JournalHead(journal: head.journal, position: head.position + 1, chain: head.chain)
        #expect(try ChatStore.verify(log: log, containing: other).findings.map(\.problem) == ["headMismatch"])
        let later = TreeHead(origin: tree.origin, size: tree.size + 1, root: tree.root)
        #expect(try ChatStore.verify(log: log, expecting: later).findings.map(\.problem) == ["headMismatch"])
        let another = TreeHead(origin: tree.origin, size: tree.size, root: .emptyTree)
        #expect(try ChatStore.verify(log: log, expecting: another).findings.map(\.problem) == ["headMismatch"])
        let array = ArrayLog(ArrayLog.Store())
        expectError("notAJournal") { _ = try ChatStore.verify(log: array, expecting: tree) }
        #expect(try ChatStore.verify(log: array).isValid)
    }

    /// Each record that is changed, missing or exchanged is found.
    @Test(arguments: [1, 7, 20] as [Position]) func verificationFindsDamage(position: Position) throws {
        try fixture.filled().close()
        let original = try readOnly()
        var neighbour: [UInt8] = []
        try original.forEachStoredRecord(in: position + 1...position + 1) { _, _, record in
            neighbour = record.toArray()
            return true
        }
        func problems(_ change: @escaping @Sendable ([UInt8]) -> [UInt8]?) throws -> [String] {
            var found: [String] = []
            let log = try readOnly { $0 == position ? change($1) : $1 }
            try log.verifyRecords { finding in
                found.append(finding.problem)
                #expect(finding.positions?.contains(position) == true || finding.problem != "recordChecksum")
            }
            return found
        }
        #expect(try problems { $0 } == [])
        let flipped = try problems { record in
            var record = record
            record[record.count - 1] ^= 1
            return record
        }
        #expect(flipped == ["recordChecksum"])
        #expect(try problems { _ in nil }.contains("missingRecords"))
        let other = neighbour
        #expect(try problems { _ in other } == ["chain"])
        let report = try ChatStore.verify(
            log: try readOnly { number, record in number == position ? Array(record.dropLast()) : record })
        #expect(!report.isValid && report.position == position - 1)
    }

    /// Records that are appended during a verification are not part of it.
    @Test func verificationEndsAtTheHeadOfItsStart() throws {
        try fixture.filled().close()
        let journal = try Journal.open("journal", options: fixture.store.options.journal)
        let start = journal.lastPosition
        let log = RecordLog(
            journal, storage,
            afterHead: {
                do throws(JournalError) {
                    var draft = CommitDraft()
                    try [UInt8](repeating: 1, count: 20).withBytes { (kept) throws(JournalError) in
                        try draft.append(kept: kept, erasable: kept.extracting(0..<0))
                    }
                    try journal.waitUntilDurable(try journal.append(draft, expecting: journal.lastPosition).upperBound)
                } catch {
                    Issue.record(error)
                }
            })
        try log.verifyRecords { Issue.record("\($0)") }
        #expect(journal.lastPosition > start)
        try journal.close()
    }

    @Test func exportEqualsThatOfTheFiles() throws {
        let store = try fixture.filled()
        _ = try store.eraseUser(F.bob, reason: "spam")
        try store.close()
        var (onFiles, onLog): ([ExportedEvent], [ExportedEvent]) = ([], [])
        try ChatStore.forEachExportedEvent(ofJournalAt: "journal", options: fixture.store.options.journal) {
            event, _, _ in
            onFiles.append(event)
        }
        try ChatStore.forEachExportedEvent(of: try readOnly()) { event, _, _ in
            onLog.append(event)
        }
        #expect(onFiles == onLog && !onLog.isEmpty)

        let copy = RecordLog(try Journal.open("imported", options: fixture.store.options.journal), storage)
        var importer = try EventImporter(into: copy)
        for (line, event) in onLog.enumerated() { try importer.add(event, line: line + 1) }
        try importer.finish()
        var options = fixture.store.options
        options.journal.expectedHead = nil
        let imported = try ChatStore.openReadOnly("imported", options: options)
        #expect(try imported.allEvents() == onLog.map(\.recorded))
    }

    /// A store on a read-only log follows the writer's log.
    @Test func readOnlyStoreIsRefreshed() throws {
        let store = try fixture.filled()
        let log = try readOnly()
        let reader = try ChatStore.openReadOnly(log: log)
        #expect(try reader.allEvents() == store.allEvents())
        expectError("readOnly") { try reader.executeBlocking(.registerUser(username: "Dan")) }
        try store.executeBlocking(.registerUser(username: "Dan"))
        #expect(try reader.userID(named: "Dan") == nil)
        // A log advances by itself, too: while another thread refreshes the store.
        _ = try log.refresh()
        let head = reader.head
        #expect(log.head.position == store.head.position && head.position < store.head.position)
        #expect(
            try reader.reader(as: .host, asOf: .position(head.position)).threads() == reader.reader(as: .host).threads()
        )
        #expect(try reader.resumeToken(after: head.position).head == head)
        try reader.refresh()
        #expect(reader.head == store.head)
        #expect(try reader.userID(named: "Dan") != nil)
        try store.close()
    }

    // MARK: Backups

    /// A store in files with the events of the fixture; backups of other logs than journals are
    /// files.
    private struct Files {
        let folder: TemporaryDirectory
        var options: StoreOptions

        init(_ fixture: ErasureFixture) throws {
            folder = try TemporaryDirectory()
            options = fixture.store.options
            options.journal.storage = FileStorage()
            options.journal.executor = nil
            let events = try Result { try fixture.filled() }.get()
            let source = try #require(events.log as? Journal)
            var copy = try JournalCopy(folder.file("journal"), of: source, options: options.journal)
            try LogCopy.finish(source, to: &copy, named: "files")
        }

        func open(_ name: String = "journal") throws -> ChatStore {
            try ChatStore.open(folder.file(name), options: options)
        }

        func log(_ name: String = "journal") throws -> RecordLog {
            RecordLog(try Journal.openReadOnly(folder.file(name), options: options.journal), options.journal.storage)
        }

        /// The markers of a user's content in the files of a directory.
        func markers(of user: String, in name: String) throws -> Set<String> {
            var found: Set<String> = []
            for (file, bytes) in try folder.contents() where file.hasPrefix(name + "/") {
                found.formUnion(
                    String(decoding: bytes, as: UTF8.self).split(separator: "of-\(user)-").dropFirst().map {
                        String($0.prefix { $0.isNumber })
                    })
            }
            return found
        }
    }

    /// A backup in several runs equals the log; what was erased in between is in no file of it.
    @Test func backupIsContinuedAndErases() throws {
        let files = try Files(fixture)
        let (store, copy) = (try files.open(), files.folder.file("copy"))
        let half = store.head.position / 2
        var report = try ChatStore.backup(of: try files.log(), to: copy, upTo: half)
        #expect(
            report.head.position <= half && report.head.position > 0
                && report.copiedSegments.first == "00000000000000000001.segment")
        #expect(report.rewrittenSegments.isEmpty && report.bytesCopied > 0)
        report = try ChatStore.backup(of: try files.log(), to: copy)
        #expect(report.head == store.head)
        let again = try ChatStore.backup(of: try files.log(), to: copy)
        #expect(again.bytesCopied == 0 && again.copiedSegments.isEmpty && again.head == store.head)
        #expect(try !files.markers(of: "bob", in: "copy").isEmpty)

        _ = try store.eraseUser(F.bob, reason: "spam")
        report = try ChatStore.backup(of: try files.log(), to: copy)
        #expect(!report.rewrittenSegments.isEmpty && report.head == store.head)
        #expect(try files.markers(of: "bob", in: "copy") == [])
        #expect(try !files.markers(of: "ann", in: "copy").isEmpty)
        let (events, tree) = (try store.allEvents(), try store.treeHead())
        try store.close()
        let restored = try files.open("copy")
        #expect(try restored.allEvents() == events)
        #expect(try restored.treeHead() == tree)
        #expect(!restored.isErasureUnfinished)
        #expect(try ChatStore.ledger(of: try files.log("copy")) == ChatStore.ledger(of: try files.log()))
        try restored.executeBlocking(.registerUser(username: "Dan"))
        try restored.close()
        expectError("headMismatch") { try ChatStore.backup(of: try files.log(), to: copy) }
    }

    /// What the copy has is not read again, apart from segments that have lost content.
    @Test func backupReadsOnlyWhatChanged() throws {
        let store = try fixture.filled()
        let options = JournalOptions(segmentSize: 512, storage: MemoryStorage())
        func backUp() throws -> (report: BackupReport, reads: Int) {
            let log = try readOnly()
            let report = try ChatStore.backup(of: log, to: "copy", upTo: nil, options: options)
            #expect(report.head == store.head)
            return (report, log.storedReads.withLock { $0 })
        }
        let first = try backUp()
        #expect(first.reads >= Int(store.head.position) && first.report.copiedSegments.count > 5)
        let second = try backUp()
        #expect(second.reads == 0 && second.report.bytesCopied == 0)
        #expect(second.report.skippedSegments == first.report.copiedSegments)
        try store.eraseContent(of: PositionSet([11...11]), reason: "spam")
        let third = try backUp()
        #expect(third.report.rewrittenSegments.count == 1 && third.reads > 0 && third.reads < first.reads / 2)
        let copy = try ChatStore.verify("copy", options: options, deep: true)
        #expect(copy.isValid)
    }

    /// A copy that was begun before an erasure still has the content: it is hidden, in a backup of
    /// it erased, and gone once the copy is opened for writing.
    @Test func contentErasedAfterItWasCopiedIsHiddenAndErased() throws {
        let files = try Files(fixture)
        let store = try files.open()
        let source = try #require(store.log as? Journal)
        var copy = try JournalCopy(files.folder.file("copy"), of: source, options: files.options.journal)
        try LogCopy.copy(source, to: &copy)
        _ = try store.eraseUser(F.bob, reason: "spam")
        try LogCopy.copy(source, to: &copy)
        try copy.close()
        #expect(try !files.markers(of: "bob", in: "copy").isEmpty)
        let reader = try ChatStore.openReadOnly(log: try files.log("copy"))
        #expect(reader.isErasureUnfinished)
        #expect(try F.markersInAnswers(reader, of: "bob") == [])
        #expect(
            try ChatStore.verify(log: try files.log("copy")).findings.allSatisfy { $0.problem == "erasureUnfinished" })

        _ = try ChatStore.backup(of: try files.log("copy"), to: files.folder.file("backup"))
        #expect(try files.markers(of: "bob", in: "backup") == [])

        copy = try JournalCopy(files.folder.file("copy"), of: source, options: files.options.journal)
        try LogCopy.finish(source, to: &copy, named: "the copy")
        try store.close()
        let successor = try files.open("copy")
        #expect(try files.markers(of: "bob", in: "copy") == [])
        #expect(!successor.isErasureUnfinished)
        try successor.close()
    }
}
