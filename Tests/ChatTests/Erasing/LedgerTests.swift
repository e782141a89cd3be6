import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import Locking
import MerkleLog
import Primitives
import StubRewriter
import TestSupport
import Testing

@testable import Chat

/// The ledger of erasures, and older copies of a journal beside it.
@Suite struct LedgerTests {
    private typealias F = ErasureFixture
    private let fixture = ErasureFixture()

    private var storage: any JournalStorage { fixture.store.options.journal.storage }
    private var journalOptions: JournalOptions { fixture.store.options.journal }

    private func ledger(in directory: String = "journal") throws -> ErasureLedger {
        try ErasureLedger(parsing: String(decoding: try storage.contents(of: directory + "/ledger"), as: UTF8.self))
    }

    private func open(_ directory: String) throws -> ChatStore {
        try ChatStore.open(directory, options: fixture.store.options)
    }

    private func findings(_ directory: String, deep: Bool = true) throws -> [String] {
        try ChatStore.verify(directory, options: journalOptions, deep: deep).findings.map(\.problem)
    }

    private func copyLedger(to directory: String, from source: String = "journal") throws {
        try storage.replace("ledger", in: directory, with: storage.contents(of: source + "/ledger"))
    }

    /// The markers in the files of a directory.
    private func markersInFiles(of name: String, in directory: String) throws -> Set<String> {
        var found: Set<String> = []
        for file in try storage.list(directory) where try storage.kind(of: directory + "/" + file) == .file {
            let text = String(decoding: try storage.contents(of: directory + "/" + file), as: UTF8.self)
            found.formUnion(text.split(separator: "of-\(name)-").dropFirst().map { String($0.prefix { $0.isNumber }) })
        }
        return found
    }

    // MARK: Contents

    @Test func ledgerListsAllOrders() throws {
        let store = try fixture.filled()
        #expect(try storage.kind(of: "journal/ledger") == nil)
        let user = try #require(try store.eraseUser(F.bob, reason: "user-request").orders)
        let leaves = try [11, 13, 14].map { try store.disclosedRecord(at: $0).leaf }
        let content = try #require(
            try store.eraseContent(of: PositionSet([11...11, 13...14]), reason: "court-7").orders)
        let entries = try ledger().entries
        #expect(entries.map(\.position) == [user.lowerBound, content.lowerBound])
        #expect(entries.map(\.user) == [F.bob, nil] && entries.map(\.reason) == ["user-request", "court-7"])
        #expect(
            entries.map(\.positions) == [nil, PositionSet([11...11, 13...14])]
                && entries.map(\.leaves) == [nil, leaves])
        #expect(try entries.map(\.recordedAt) == store.allEvents().suffix(2).map(\.event.recordedAt))
        #expect(try F.markersInAnswers(store, of: "bob") == [] && markersInFiles(of: "bob", in: "journal") == [])
        // What another system has to delete: all that has lost its content, also of the user.
        let erased = try store.allEvents().filter(\.event.isErased).map(\.position)
        let listed = try store.erasures()
        #expect(listed.map(\.position) == entries.map(\.position) && listed.map(\.leaves) == [nil, nil])
        #expect(
            try PositionSet(listed.flatMap { try #require($0.positions).ranges }) == PositionSet(erased.map { $0...$0 })
        )
        #expect(listed[1].positions == PositionSet([11...11, 13...14]) && (listed[0].positions?.count ?? 0) > 10)
        #expect(
            try store.erasures(after: user.lowerBound) == [listed[1]] && store.erasures(after: content.lowerBound) == []
        )
    }

    @Test func removedLedgerIsWrittenAgain() throws {
        let store = try fixture.filled()
        try store.eraseUser(F.bob, reason: "spam")
        try store.eraseContent(of: PositionSet([11...11]), reason: "spam")
        try store.close()
        let bytes = try storage.contents(of: "journal/ledger")
        try storage.remove("journal/ledger")
        #expect(try findings("journal") == [])
        let reopened = try open("journal")
        #expect(try storage.contents(of: "journal/ledger") == bytes)
        #expect(reopened.head == store.head)
    }

    @Test func textIsThatOfTheLedger() throws {
        var random = SplitMix64(seed: Repetitions.seed)
        for _ in 0..<Repetitions.few(50, of: 1_000) {
            var ledger = ErasureLedger()
            ledger.add(
                (0..<Int.random(in: 0...8, using: &random)).map { _ in
                    let isUser = Bool.random(using: &random)
                    let ranges = (1...3).map { _ in
                        let first = Position.random(in: 1...Position.max - 9, using: &random)
                        return first...first + Position.random(in: 0...9, using: &random)
                    }
                    return ErasureLedger.Entry(
                        position: Position.random(in: 1...Position.max, using: &random),
                        recordedAt: Timestamp(millisecondsSince1970: Int64.random(in: 0...1 << 44, using: &random)),
                        user: isUser ? UserID(bits: UInt128(random.next()) << 64 | UInt128(random.next())) : nil,
                        positions: isUser ? nil : PositionSet(ranges),
                        leaves: isUser
                            ? nil
                            : PositionSet(ranges).ranges.joined().map {
                                .leaf(of: [UInt8(truncatingIfNeeded: $0 &+ random.next())])
                            },
                        reason: "reason-\(random.next() % 10)")
                })
            let text = ledger.text
            #expect(try ErasureLedger(parsing: text) == ledger)
            var twice = ledger
            twice.add(ledger.entries.shuffled(using: &random))
            #expect(twice == ledger)
            // One changed byte, and each shorter text.
            var bytes = Array(text.utf8)
            let place = Int.random(in: 0..<bytes.count, using: &random)
            bytes[place] ^= 1 << UInt8.random(in: 0..<7, using: &random)
            #expect(throws: ProofTextError.self) {
                _ = try ErasureLedger(parsing: String(decoding: bytes, as: UTF8.self))
            }
            let count = Int.random(in: 0..<bytes.count, using: &random)
            #expect(throws: ProofTextError.self) {
                _ = try ErasureLedger(parsing: String(text.utf8.prefix(count)) ?? "")
            }
        }
    }

    /// Lines with a right checksum that are not erasures.
    @Test(arguments: [
        ("", "line 2: not an erasure"), ("{}", "line 2: not an erasure: the field 'position' is missing"),
        ("[]", "line 2"),
        ("null", "line 2"),
        (
            #"{"position":0,"reason":"a","recordedAt":"2026-01-01T00:00:00.000Z","user":"00000000-0000-0000-0000-00000000000b"}"#,
            "is 0"
        ),
        (
            #"{"position":1,"reason":"A b","recordedAt":"2026-01-01T00:00:00.000Z","user":"00000000-0000-0000-0000-00000000000b"}"#,
            "code"
        ),
        (
            #"{"position":1,"reason":"a","recordedAt":"yesterday","user":"00000000-0000-0000-0000-00000000000b"}"#,
            "RFC 3339"
        ),
        (#"{"position":1,"reason":"a","recordedAt":"2026-01-01T00:00:00.000Z","user":"bob"}"#, "line 2"),
        (#"{"position":1,"reason":"a","recordedAt":"2026-01-01T00:00:00.000Z"}"#, "a user, or positions"),
        (#"{"position":1,"reason":"a","recordedAt":"2026-01-01T00:00:00.000Z","positions":[[1,2]]}"#, "a leaf"),
        (
            #"{"position":1,"reason":"a","recordedAt":"2026-01-01T00:00:00.000Z","positions":[[2,1]],"leaves":["x"]}"#,
            "range"
        ),
        (
            #"{"position":1,"reason":"a","recordedAt":"2026-01-01T00:00:00.000Z","positions":[[0,1]],"leaves":["x"]}"#,
            "range"
        ),
        (
            #"{"position":1,"reason":"a","recordedAt":"2026-01-01T00:00:00.000Z","positions":[[1]],"leaves":["x"]}"#,
            "range"
        ),
        (
            #"{"position":1,"reason":"a","recordedAt":"2026-01-01T00:00:00.000Z","positions":[[1,2]],"leaves":["x"]}"#,
            "base64"
        ),
        (String(repeating: "[", count: 100_000), "line 2"),
    ])
    func malformedEntryIsAnError(line: String, problem: String) throws {
        let text = "chat-journal/ledger@v1\n\(line)\n"
        let digits = String(CRC32C.checksum(of: Array(text.utf8)), radix: 16)
        let whole = text + "crc32c " + String(repeating: "0", count: 8 - digits.count) + digits + "\n"
        let error = #expect(throws: ProofTextError.self) { _ = try ErasureLedger(parsing: whole) }
        #expect(error?.description.contains(problem) == true, "\(error?.description ?? "")")
    }

    // MARK: Older copies

    /// A copy from before two erasures, beside the ledger of after them.
    private func restoredCopy() throws -> (before: JournalHead, others: [String: Set<String>]) {
        let store = try fixture.filled()
        let before = store.head
        try store.backup(to: "copy")
        try store.eraseUser(F.bob, reason: "user-request")
        try store.eraseContent(of: PositionSet([1...1, 11...11]), reason: "court-7")
        let others = try ["ann": F.markersInAnswers(store, of: "ann"), "cem": F.markersInAnswers(store, of: "cem")]
        try store.close()
        try copyLedger(to: "copy")
        fixture.store.clock.advance(byMilliseconds: 1_000)
        return (before, others)
    }

    private func expectForgotten(_ store: ChatStore, _ others: [String: Set<String>]) throws {
        #expect(try F.markersInAnswers(store, of: "bob") == [])
        for (name, markers) in others { #expect(try F.markersInAnswers(store, of: name) == markers, "\(name)") }
    }

    @Test func olderCopyIsErasedAgain() throws {
        let (before, others) = try restoredCopy()
        #expect(try markersInFiles(of: "bob", in: "copy").count > 15)
        // A reader cannot append the orders, and shows nothing either.
        let reader = try ChatStore.openReadOnly("copy", options: fixture.store.options)
        try expectForgotten(reader, others)
        #expect(reader.head == before)
        #expect(try Set(findings("copy")) == ["erasureUnfinished"])
        var exported = ""
        try ChatStore.forEachExportedEvent(ofJournalAt: "copy", options: journalOptions) { event, _, _ in
            exported += "\(event)"
        }
        #expect(!exported.contains("of-bob-"))
        try expectErasedAgain(before, others)
        _ = try reader.refresh()
        try expectForgotten(reader, others)
    }

    private func expectErasedAgain(_ before: JournalHead, _ others: [String: Set<String>]) throws {
        let store = try open("copy")
        try expectForgotten(store, others)
        #expect(try markersInFiles(of: "bob", in: "copy") == [])
        // The ends of Bob's roles follow.
        let orders = try store.allEvents()[Int(before.position)...].prefix(2)
        #expect(
            orders.map(\.kind) == [.userErased, .contentErased]
                && orders.map(\.event.reason) == ["user-request", "court-7"])
        #expect(orders.last?.event.erasedPositions == PositionSet([1...1, 11...11]))
        expectRejection(.userErased) { () throws(ChatError) in
            try store.executeBlocking(.leaveThread(thread: F.garden, by: F.bob))
        }
        #expect(try store.rebuild())
        // The former orders and the new ones.
        #expect(try ledger(in: "copy").entries.count == 4)
        try store.close()
        #expect(try findings("copy") == [])
        let head = store.head
        #expect(try open("copy").head == head, "an opening appends nothing twice")
    }

    /// An older copy beside the ledger of a restored copy, which lists each order twice.
    @Test func copyRestoredTwiceIsErasedOnce() throws {
        let store = try fixture.filled()
        for directory in ["first", "second"] { try store.backup(to: directory) }
        try store.eraseUser(F.bob, reason: "user-request")
        try store.eraseContent(of: PositionSet([1...1]), reason: "court-7")
        try store.close()
        try copyLedger(to: "first")
        fixture.store.clock.advance(byMilliseconds: 1_000)
        try open("first").close()
        #expect(try ledger(in: "first").entries.count == 4)
        try copyLedger(to: "second", from: "first")
        fixture.store.clock.advance(byMilliseconds: 1_000)
        let restored = try open("second")
        #expect(try restored.allEvents().suffix(12).count { $0.kind == .userErased } == 1)
        #expect(try F.markersInAnswers(restored, of: "bob") == [])
        try restored.close()
        #expect(try findings("second") == [])
    }

    /// The copy was in use before the ledger was put beside it: what was recorded since stays.
    @Test func laterEventsOfOlderCopyStay() throws {
        let store = try fixture.filled()
        let end = store.head.position
        try store.backup(to: "copy")
        fixture.store.clock.advance(byMilliseconds: 1_000)
        for _ in 0..<10 { try store.executeBlocking(.postMessage(thread: F.garden, body: "gone", by: F.ann)) }
        try store.eraseContent(of: PositionSet([end - 2...end + 10]), reason: "retention")
        try store.close()
        fixture.store.clock.advance(byMilliseconds: 1_000)
        let copy = try open("copy")
        for number in 0..<5 {
            try copy.executeBlocking(.postMessage(thread: F.garden, body: "of-new-\(number)", by: F.ann))
        }
        let before = try F.markersInAnswers(copy, of: "ann")
        try copy.close()
        try copyLedger(to: "copy")
        let restored = try open("copy")
        #expect(try F.markersInAnswers(restored, of: "new").count == 5)
        #expect(
            try before.subtracting(F.markersInAnswers(restored, of: "ann")).count == 6,
            "three bodies and their correlation ids")
        #expect(try restored.allEvents().last?.event.erasedPositions == PositionSet([end - 2...end]))
        try restored.close()
        #expect(try findings("copy") == [])
    }

    /// The copy is from before the user registered, who registers again with the same id.
    @Test func laterRegistrationStays() throws {
        let store = try fixture.filled()
        try store.backup(to: "copy")
        let dan = UserID(bits: 0xD)
        try store.executeBlocking(.registerUser(id: dan, username: "Dan"))
        try store.eraseUser(dan, reason: "spam")
        try store.close()
        fixture.store.clock.advance(byMilliseconds: 1_000)
        try copyLedger(to: "copy")
        let copy = try open("copy")
        let head = copy.head
        try copy.executeBlocking(.registerUser(id: dan, username: "Dan"))
        try copy.close()
        // A changed ledger is compared as a whole.
        let original = try open("journal")
        try original.eraseContent(of: PositionSet([11...11]), reason: "spam")
        try original.close()
        try copyLedger(to: "copy")
        let reopened = try open("copy")
        #expect(reopened.head.position == head.position + 2)
        #expect(try reopened.allEvents().suffix(2).map(\.kind) == [.userRegistered, .contentErased])
        #expect(try reopened.reader(as: .host).user(dan).username == "Dan")
    }

    /// A ledger of another journal concerns nothing, and is kept.
    @Test func foreignLedgerChangesNothing() throws {
        let other = StoreFixture(seed: 9)
        let stranger = try other.open()
        try stranger.executeBlocking(.registerUser(id: UserID(bits: 0xE), username: "Eve"))
        try stranger.eraseContent(of: PositionSet([1...1]), reason: "spam")
        try stranger.eraseUser(UserID(bits: 0xE), reason: "spam")
        let store = try fixture.filled()
        let head = store.head
        try store.close()
        let bytes = try other.options.journal.storage.contents(of: "journal/ledger")
        try storage.replace("ledger", in: "journal", with: bytes)
        let reopened = try open("journal")
        #expect(try reopened.head == head && storage.contents(of: "journal/ledger") == bytes)
        try reopened.eraseUser(F.bob, reason: "spam")
        #expect(try ledger().entries.count == 3)
        try reopened.close()
        #expect(try findings("journal") == [])
    }

    @Test func damagedLedgerKeepsTheJournalClosed() throws {
        let store = try fixture.filled()
        try store.eraseUser(F.bob, reason: "spam")
        try store.close()
        let bytes = try storage.contents(of: "journal/ledger")
        for count in 0..<bytes.count where count % 7 == 0 {
            try storage.replace("ledger", in: "journal", with: Array(bytes.prefix(count)))
            expectError("ledgerDamaged") { _ = try open("journal") }
        }
        expectError("ledgerDamaged") { _ = try ChatStore.openReadOnly("journal", options: fixture.store.options) }
        #expect(try findings("journal") == ["ledgerDamaged"])
        try storage.replace("ledger", in: "journal", with: bytes)
        _ = try open("journal")
    }

    // MARK: Copies

    /// A copy that ends before the order has the stubs of the journal; its ledger explains them.
    @Test func ledgerExplainsStubsOfCopy() throws {
        let store = try fixture.filled()
        let last = store.head.position
        try store.eraseUser(F.bob, reason: "spam")
        try store.backup(to: "copy", upTo: last)
        try store.close()
        #expect(try findings("copy") == [])
        let ledger = try ledger(in: "copy")
        try storage.remove("copy/ledger")
        #expect(try Set(findings("copy")) == ["stubWithoutErasure"])
        #expect(try ChatStore.verify("copy", options: journalOptions, ledger: ledger).findings == [])
        try copyLedger(to: "copy")
        let copy = try open("copy")
        // The ends of Bob's roles follow the order.
        #expect(try copy.allEvents()[Int(last)...].map(\.kind).first == .userErased)
        try copy.close()
        #expect(try findings("copy") == [])
    }

    @Test func backupAddsToLedgerOfCopy() throws {
        let store = try fixture.filled()
        try store.eraseUser(F.bob, reason: "spam")
        try store.backup(to: "copy")
        #expect(try ledger(in: "copy") == ledger())
        try store.eraseContent(of: PositionSet([11...11]), reason: "spam")
        try store.close()
        let report = try ChatStore.backup(
            ofJournalAt: "journal", to: "copy", options: BackupOptions(storage: storage, destinationStorage: storage))
        #expect(try ledger(in: "copy") == ledger() && report.head == store.head)
        #expect(try findings("copy") == [])
        let again = try ChatStore.backup(
            ofJournalAt: "journal", to: "copy", options: BackupOptions(storage: storage, destinationStorage: storage))
        #expect(again.bytesCopied == 0 && again.head == report.head)
    }

    @Test func ledgerOfAnotherPlaceNamesWhatIsLeft() throws {
        let (before, _) = try restoredCopy()
        let ledger = try ledger()
        try storage.remove("copy/ledger")
        #expect(try findings("copy") == [])
        let found = try ChatStore.verify("copy", options: journalOptions, ledger: ledger).findings
        #expect(Set(found.map(\.problem)) == ["ledgerContentPresent"])
        let positions = PositionSet(found.compactMap(\.positions))
        let original = try ChatStore.openReadOnly("journal", options: fixture.store.options)
        let erased = try original.allEvents().filter(\.event.isErased).map(\.position)
        #expect(
            positions == PositionSet(erased.map { $0...$0 })
                && positions.ranges.allSatisfy { $0.upperBound <= before.position })
        #expect(try ChatStore.verify("journal", options: journalOptions, ledger: ledger).findings == [])
    }

    /// Damages the record with a text, and salvages the rest of the journal.
    private func repaired(losing text: String, from directory: String) throws -> String {
        for name in try storage.list(directory) where name.hasSuffix(".segment") {
            var bytes = try storage.contents(of: directory + "/" + name)
            guard let place = Data(bytes).range(of: Data(text.utf8)) else { continue }
            bytes[place.lowerBound] ^= 1
            try storage.replace(name, in: directory, with: bytes)
        }
        let report = try ChatStore.repair(
            journalAt: directory, to: "repaired", options: RepairOptions(storage: storage, destinationStorage: storage))
        #expect(!report.isComplete)
        return "repaired"
    }

    /// The registration of the erased user is lost in an older copy, so no order can name the user.
    @Test func lostRegistrationKeepsErasure() throws {
        let (_, others) = try restoredCopy()
        let repaired = try repaired(losing: "of-bob-3", from: "copy")
        let reader = try ChatStore.openReadOnly(repaired, options: fixture.store.options)
        #expect(try F.markersInAnswers(reader, of: "bob") == [])
        let store = try open(repaired)
        try expectForgotten(store, others)
        #expect(try markersInFiles(of: "bob", in: repaired) == [])
        try store.close()
        #expect(try ChatStore.verify(repaired, options: journalOptions, deep: true, ledger: ledger()).findings == [])
        let head = store.head
        #expect(try open(repaired).head == head)
    }

    /// One of the events of an entry is lost: the others are erased.
    @Test func lostEventKeepsErasureOfOthers() throws {
        let store = try fixture.filled()
        let end = store.head.position
        try store.backup(to: "copy")
        try store.eraseContent(of: PositionSet([end - 5...end - 3, end...end]), reason: "spam")
        try store.close()
        try copyLedger(to: "copy")
        let before = try F.markersInAnswers(try open("journal"), of: "ann")
        let lost = try #require(try fixtureText(at: end - 5, in: "copy"))
        let copy = try open(try repaired(losing: lost, from: "copy"))
        #expect(try F.markersInAnswers(copy, of: "ann") == before)
        try copy.close()
        #expect(try ChatStore.verify("repaired", options: journalOptions, ledger: ledger()).findings == [])
    }

    /// The body of a message in a copy that no store has opened beside a ledger.
    private func fixtureText(at position: Position, in directory: String) throws -> String? {
        let journal = try Journal.openReadOnly(directory, options: journalOptions)
        let record = try journal.disclosedRecord(at: position)
        guard let erasable = record.erasable else { return nil }
        let text = String(decoding: erasable, as: UTF8.self)
        return text.range(of: "of-ann-").map { String(text[$0.lowerBound...].prefix(10)) }
    }

    /// Two copies have different events at a position: only the one that was ordered is erased.
    @Test func otherEventAtPositionStays() throws {
        let store = try fixture.filled()
        let end = store.head.position
        try store.backup(to: "copy")
        try store.close()
        let copy = try open("copy")
        try copy.executeBlocking(.postMessage(thread: F.garden, body: "of-new-1", by: F.ann))
        try copy.close()
        fixture.store.clock.advance(byMilliseconds: 1_000)
        let original = try open("journal")
        try original.executeBlocking(.postMessage(thread: F.garden, body: "gone", by: F.ann))
        try original.eraseContent(of: PositionSet([end...end + 1]), reason: "spam")
        try original.close()
        try copyLedger(to: "copy")
        let restored = try open("copy")
        #expect(try F.markersInAnswers(restored, of: "new") == ["1"])
        #expect(try restored.allEvents().last?.event.erasedPositions == PositionSet([end...end]))
    }

    /// A lost order is appended again in the repaired journal.
    @Test func repairedJournalKeepsLedger() throws {
        let store = try fixture.filled()
        let order = try #require(try store.eraseUser(F.bob, reason: "spam").orders).lowerBound
        for number in 0..<20 {
            try store.executeBlocking(.postMessage(thread: F.garden, body: "later \(number)", by: F.ann))
        }
        try store.close()
        let segments = try storage.list("journal").filter { $0.hasSuffix(".segment") }.sorted()
        let segment = try #require(segments.last { Position($0.prefix(20)) ?? 0 <= order })
        try storage.remove("journal/\(segment)")
        let options = RepairOptions(storage: storage, destinationStorage: storage)
        let report = try ChatStore.repair(journalAt: "journal", to: "repaired", options: options)
        #expect(!report.isComplete)
        #expect(try findings("repaired") == [])
        let repaired = try open("repaired")
        // The ends of Bob's roles follow the order.
        #expect(try repaired.allEvents()[Int(report.head.position)...].map(\.kind).first == .userErased)
        expectRejection(.userErased) { () throws(ChatError) in
            try repaired.executeBlocking(.leaveThread(thread: F.garden, by: F.bob))
        }
        try repaired.close()
        #expect(try findings("repaired") == [])
    }
}
