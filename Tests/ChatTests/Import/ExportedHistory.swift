import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import StubRewriter
import Testing

/// A generated history with every kind of content of a journal, and its export.
struct ExportedHistory {
    /// Features of a history in addition to the events of commands.
    struct Features: OptionSet {
        let rawValue: Int
        static let lost = Features(rawValue: 1)
        static let unknown = Features(rawValue: 2)
        static let stubs = Features(rawValue: 4)
        /// Usernames with fold keys of another version, and times beyond the year 9999.
        static let otherVersions = Features(rawValue: 8)
        static let all: Features = [.lost, .unknown, .stubs, .otherVersions]
    }

    let events: [ExportedEvent]
    let lines: [String]

    init(seed: UInt64, _ features: Features, commands: Int = 150) throws {
        var options = StoreFixture(seed: seed).options
        options.journal.segmentSize = 2_048
        var random = SeededRandom(seed: seed)
        var generator = CommandGenerator(seed: seed)
        var directory = "journal"
        try Self.execute(commands, &generator, &random, directory, options)
        if features.contains(.otherVersions) { try Self.appendNames(to: directory, options) }
        if features.contains(.lost) {
            let storage = options.journal.storage
            let segments = try storage.list(directory).filter { $0.hasSuffix(".segment") }.sorted()
            for (index, name) in segments.dropLast().enumerated() where index == 3 || random.oneIn(3) {
                var bytes = try storage.contents(of: directory + "/" + name)
                // A commit that fits into no segment of the usual size leaves a short one before
                // it.
                guard bytes.count > 400 else { continue }
                bytes[Int.random(in: 200..<bytes.count * 2 / 3, using: &random)] ^= 0x10
                try storage.replace(name, in: directory, with: bytes)
            }
            var repair = RepairOptions(storage: storage, destinationStorage: storage, segmentSize: 2_048)
            repair.entropy = SeededEntropy(seed: seed &+ 1)
            _ = try ChatStore.repair(journalAt: directory, to: "repaired", options: repair)
            directory = "repaired"
            try Self.execute(commands / 3, &generator, &random, directory, options)
        }
        if features.contains(.unknown) { try Self.appendUnknown(to: directory, options, &random) }
        if features.contains(.stubs) {
            try StubRewriter(directory, on: options.journal.storage).rewrite { _, _, _ in
                [.whole, .whole, .erased, .withheld].randomElement(using: &random) ?? .whole
            }
        }
        events = try Self.export(directory, options)
        lines = try events.map(Self.line)
    }

    static func export(_ directory: String, _ options: StoreOptions) throws -> [ExportedEvent] {
        var events: [ExportedEvent] = []
        try ChatStore.openReadOnly(directory, options: options).forEachExportedEvent { event, _ in
            events.append(event)
        }
        return events
    }

    /// Returns an event as JSON with sorted keys.
    ///
    /// Canonically equivalent strings stay distinct in it.
    static func line(_ event: ExportedEvent) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(event), as: UTF8.self)
    }

    static func event(_ line: String) throws -> ExportedEvent {
        try JSONDecoder().decode(ExportedEvent.self, from: Data(line.utf8))
    }

    /// The last positions of all commits, and 0.
    var boundaries: Set<Position> { Set(events.compactMap(\.commitEnd) + [0]) }

    private static func execute(
        _ count: Int, _ generator: inout CommandGenerator, _ random: inout SeededRandom, _ directory: String,
        _ options: StoreOptions
    ) throws {
        let store = try ChatStore.open(directory, options: options)
        for _ in 0..<count {
            if let clock = options.clock as? ManualClock {
                clock.advance(byMilliseconds: Int64.random(in: -500...5_000, using: &random))
            }
            _ = try store.executeBlocking(
                (0..<Int.random(in: 1...4, using: &random)).map { _ in generator.nextRequest() })
        }
        try store.close()
    }

    private static func append(_ events: [ChatEvent], to directory: String, _ options: StoreOptions) throws {
        let journal = try Journal.open(directory, options: options.journal)
        var encoder = EventEncoder()
        var draft = CommitDraft()
        for event in events {
            encoder.encode(event)
            unsafe try draft.append(kept: encoder.kept.span.bytes, erasable: encoder.erasable.span.bytes)
        }
        _ = try journal.append(draft, expecting: journal.lastPosition)
        try journal.close()
    }

    private static func appendNames(to directory: String, _ options: StoreOptions) throws {
        let user = UserID(bits: 0x0190_a000_0000_7000_8000_0000_0000_ffff)
        // The clock went backwards, so add a margin to exceed every recorded time.
        let time = Timestamp(millisecondsSince1970: options.clock.now().millisecondsSince1970 + 1_000_000)
        try append(
            [
                ChatEvent(
                    recordedAt: time, origin: .imported(sentAt: Timestamp(millisecondsSince1970: 253_402_300_800_001)),
                    details: .init(.userRegistered, .user(user)),
                    content: .registration(
                        Username(text: "Cafe\u{301}", foldKey: "another version's key"), subject: "s"), correlation: "é"
                ),
                ChatEvent(
                    recordedAt: time, origin: .imported(sentAt: Timestamp(millisecondsSince1970: .min)),
                    details: .init(.usernameChanged, .user(user)),
                    content: .username(Username(text: "Café", foldKey: "a third one"))),
            ], to: directory, options)
    }

    private static func appendUnknown(to directory: String, _ options: StoreOptions, _ random: inout SeededRandom)
        throws
    {
        let time = UInt64(options.clock.now().millisecondsSince1970) + 10_000_000
        for number in 0..<40 {
            let rest = (0..<Int.random(in: 0...60, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
            }
            let kept =
                [UInt8(number < 20 ? 100 + number : 200 + number), 0]
                + (0..<6).map { UInt8(truncatingIfNeeded: time >> (8 * UInt64($0))) } + rest
            let erasable = number.isMultiple(of: 3) ? [] : rest + rest
            try append(
                [
                    ChatEvent(
                        recordedAt: options.clock.now(), details: EventDetails(nil),
                        content: .opaque(kept: kept, erasable: erasable))
                ],
                to: directory, options)
        }
    }
}
