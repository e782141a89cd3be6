import ChatDomain
import ChatTesting
import EventJournal
import MerkleLog
import Primitives

@testable import Chat

/// The invariants of a ledger of erasures from outside, and of a journal that is opened beside it.
///
/// The first byte of the input selects: the rest is the file, if it is 0; otherwise it has the
/// lines of the entries, and the harness adds the title and the checksum.
enum LedgerHarness {
    /// A violated invariant.
    struct Violation: Error {
        var message: String
    }

    private static let users = [UserID(bits: 0xA), UserID(bits: 0xB)]
    private static let garden = ThreadID(bits: 0x6A)
    /// A journal of events with texts, without a ledger.
    private static let fixture = Result { try journal() }

    /// Checks an input, and returns the number of events whose content it erases.
    @discardableResult
    static func check(_ input: [UInt8]) throws -> Int {
        let bytes = file(input)
        let ledger = try parse(bytes)
        let storage = try fixture.get().copy()
        let before = try events(storage, isReadOnly: true)
        storage.setContents(bytes, of: "journal/ledger")
        guard let ledger else {
            for isReadOnly in [true, false] {
                do { _ = try events(storage, isReadOnly: isReadOnly) } catch let error as ChatError
                    where isDamagedLedger(error)
                {
                    continue
                }
                throw Violation(message: "the journal is opened beside a damaged ledger")
            }
            return 0
        }
        let shown = try events(storage, isReadOnly: true)
        let opened = try events(storage, isReadOnly: false)
        try require(
            shown == Array(opened.prefix(shown.count)) && shown.count == before.count,
            "a reader shows other events than the writer")
        let expected = expectedPositions(ledger, before)
        for (event, was) in zip(opened, before) {
            let isErased = event.text == nil && was.text != nil
            try require(
                isErased == expected.contains(event.position),
                "event \(event.position) of \(ledger) is erased: \(isErased)")
            try require(event.leaf == was.leaf && (isErased || event == was), "event \(event.position) has changed")
        }
        try checkFiles(storage, expected)
        let head = opened.count
        try require(try events(storage, isReadOnly: false).count == head, "a second opening orders erasures again")
        let report = try ChatStore.verify("journal", options: options(storage).journal, deep: true, ledger: ledger)
        try require(report.isValid, "\(report.findings)")
        return expected.count
    }

    private static func file(_ input: [UInt8]) -> [UInt8] {
        let rest = Array(input.dropFirst())
        guard (input.first ?? 0) != 0 else { return rest }
        let lines = rest.isEmpty || rest.last == UInt8(ascii: "\n") ? rest : rest + [UInt8(ascii: "\n")]
        let text = Array("chat-journal/ledger@v1\n".utf8) + lines
        let digits = String(CRC32C.checksum(of: text), radix: 16)
        return text + Array("crc32c \(String(repeating: "0", count: 8 - digits.count))\(digits)\n".utf8)
    }

    /// Parses a file; what it contains has one canonical text.
    private static func parse(_ bytes: [UInt8]) throws -> ErasureLedger? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let ledger: ErasureLedger
        do throws(ProofTextError) { ledger = try ErasureLedger(parsing: text) } catch {
            let count = text.utf8.count { $0 == UInt8(ascii: "\n") } + 2
            try require(
                (1...count).contains(error.line) && !"\(error)".isEmpty,
                "an error names the line \(error.line) of \(count)")
            return nil
        }
        let again = try ErasureLedger(parsing: ledger.text)
        try require(again == ledger && again.text == ledger.text, "the text of \(ledger) is that of \(again)")
        return ledger
    }

    private static func isDamagedLedger(_ error: ChatError) -> Bool {
        if case .journal(let error) = error { error.code == .ledgerDamaged } else { false }
    }

    private struct Event: Equatable {
        var position: Position
        var user: UserID?
        var text: String?
        var leaf: MerkleHash
    }

    /// The events whose content the entries erase, by the definition: those of a user who was
    /// registered before the order, and those that have a position and a leaf of an entry.
    private static func expectedPositions(_ ledger: ErasureLedger, _ events: [Event]) -> Set<Position> {
        // The clock of the fixture stands still.
        let users = Set(ledger.entries.filter { $0.recordedAt >= ManualClock().now() }.compactMap(\.user))
        var leaves: [Position: Set<MerkleHash>] = [:]
        for entry in ledger.entries {
            // A ledger can name more positions than memory holds, but not more leaves than the
            // input has.
            for (position, leaf) in zip((entry.positions?.ranges ?? []).lazy.joined(), entry.leaves ?? []) {
                leaves[position, default: []].insert(leaf)
            }
        }
        let erased = events.filter {
            $0.user.map(users.contains) == true || leaves[$0.position]?.contains($0.leaf) == true
        }
        return Set(erased.filter { $0.text != nil }.map(\.position))
    }

    private static func checkFiles(_ storage: MemoryStorage, _ expected: Set<Position>) throws {
        for (path, bytes) in storage.allContents() {
            let text = String(decoding: bytes, as: UTF8.self)
            if let position = expected.first(where: { text.contains("text-\($0);") }) {
                throw Violation(message: "\(path) has the erased text of event \(position)")
            }
        }
    }

    private static func options(_ storage: MemoryStorage) -> StoreOptions {
        // Other segments than the last one are rewritten, too. No job runs in the background.
        let journal = JournalOptions(
            segmentSize: 512, storage: storage, entropy: SeededEntropy(seed: 7), slotSyncDelay: nil,
            executor: SeededExecutor(seed: 1))
        return StoreOptions(journal: journal, clock: ManualClock(), ids: SeededIDs(seed: 7), checkpoints: nil)
    }

    private static func events(_ storage: MemoryStorage, isReadOnly: Bool) throws -> [Event] {
        let options = options(storage)
        let store =
            try isReadOnly
            ? ChatStore.openReadOnly("journal", options: options) : ChatStore.open("journal", options: options)
        var events: [Event] = []
        var positions: [(Position, UserID?, String?)] = []
        try store.forEachEvent(matching: EventFilter(as: .host)) { event, _ in
            positions.append((event.position, event.user, event.body))
        }
        for (position, user, text) in positions {
            events.append(
                Event(position: position, user: user, text: text, leaf: try store.disclosedRecord(at: position).leaf))
        }
        try store.close()
        return events
    }

    /// A journal of two users whose messages have the text `text-POSITION;`.
    private static func journal() throws -> MemoryStorage {
        let storage = MemoryStorage()
        let store = try ChatStore.open("journal", options: options(storage))
        for (user, name) in zip(users, ["Ann", "Bob"]) {
            try store.executeBlocking(.registerUser(id: user, username: name))
        }
        try store.executeBlocking(.openThread(id: garden, name: "Garden", by: users[0]))
        try store.executeBlocking(.joinThread(thread: garden, by: users[1]))
        for number in 0..<8 {
            let text = "text-\(store.head.position + 1);"
            try store.executeBlocking(.postMessage(thread: garden, body: text, by: users[number % 2]))
        }
        try store.close()
        return storage
    }

    private static func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        if !condition { throw Violation(message: message()) }
    }

    // MARK: Seeds

    /// Ledgers whose entries name users and events of the journal, and of others, and the same with
    /// a flaw each.
    static func inputs() throws -> [(name: String, input: [UInt8])] {
        let all = try events(fixture.get(), isReadOnly: true)
        let posts = all.filter { $0.text != nil }
        let time = ManualClock().now()
        func entry(_ position: Position, user: UserID? = nil, _ events: [Event] = []) -> ErasureLedger.Entry {
            ErasureLedger.Entry(
                position: position, recordedAt: time, user: user,
                positions: events.isEmpty ? nil : PositionSet(events.map { $0.position...$0.position }),
                leaves: events.isEmpty ? nil : events.map(\.leaf), reason: "spam")
        }
        func moved(_ event: Event) -> Event {
            Event(position: event.position + 1, user: event.user, text: event.text, leaf: event.leaf)
        }
        let ledgers: [(String, [ErasureLedger.Entry])] = [
            ("user", [entry(14, user: users[1])]), ("unknown-user", [entry(14, user: UserID(bits: 0xC))]),
            ("events", [entry(14, Array(posts[1...3]))]), ("one-event", [entry(14, [posts[0]])]),
            ("both", [entry(14, Array(posts[0...1])), entry(15, user: users[0])]),
            ("other-positions", [entry(60, posts.map(moved))]),
            ("all", [entry(14, user: users[0]), entry(15, user: users[1]), entry(16, posts)]), ("empty", []),
        ]
        var inputs: [(name: String, input: [UInt8])] = []
        for (name, entries) in ledgers {
            var ledger = ErasureLedger()
            ledger.add(entries)
            let lines = ledger.text.split(separator: "\n").dropFirst().dropLast().map { $0 + "\n" }
            inputs.append((name, [1] + Array(lines.joined().utf8)))
            if name == "both" {
                let text = Array(ledger.text.utf8)
                inputs += [
                    ("file", [0] + text), ("cut", [0] + text.dropLast(20)),
                    ("cut-in-line", [1] + lines.joined().utf8.dropLast(40)),
                ]
            }
        }
        return inputs
    }
}
