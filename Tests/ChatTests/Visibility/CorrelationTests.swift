import ChatDomain
import ChatTesting
import EventJournal
import StubRewriter
import TestSupport
import Testing

@testable import Chat

/// A correlation id belongs to the user who acts: they and the host are shown it, and their erasure
/// removes it.
@Suite struct CorrelationTests {
    private static let (ann, bob, cem) = (UserID(bits: 1), UserID(bits: 2), UserID(bits: 3))
    private static let (garden, group) = (ThreadID(bits: 31), ThreadID(bits: 33))

    /// A store with random commands of all kinds, of which each has a correlation id of its own.
    private struct World {
        let fixture: StoreFixture
        let store: ChatStore
        /// By number of a correlation id: the user who acted; nil for the host.
        var owners: [UserID?] = []
        var kinds: Set<CommandKind> = []
        /// The joins and roles of others that commands with a correlation id caused.
        var othersCount = 0

        init(seed: UInt64) throws {
            fixture = StoreFixture(seed: seed, segmentSize: 1 << 16)
            store = try fixture.open()
            var generator = CommandGenerator(seed: seed)
            while owners.count < 1_500 {
                let command = generator.next()
                let request = CommandRequest(command, correlation: "correlation-\(owners.count).")
                guard case .success(let receipt) = try answer(request, of: store) else {
                    owners.append(nil)
                    continue
                }
                owners.append(command.kind == .registerUser ? receipt.user : command.actor)
                guard receipt.positions != nil, !receipt.isDuplicate else { continue }
                kinds.insert(command.kind)
                othersCount += receipt.events.count { $0.event.kind == .threadJoined && $0.user != command.actor }
            }
        }

        /// Returns the users whose correlation ids are in a text; nil for the host.
        func owners(in text: String) -> Set<UserID?> {
            Set(
                text.split(separator: "correlation-").dropFirst().compactMap { Int($0.prefix { $0.isNumber }) }.map {
                    owners[$0]
                })
        }

        /// Returns the users whose correlation ids are in the files of the journal.
        func ownersInFiles() throws -> Set<UserID?> { owners(in: try CorrelationTests.bytes(fixture)) }
    }

    @Test(arguments: Seeds.seeds(Repetitions.few(2, of: 40))) func ownersAloneAreShownThem(seed: UInt64) async throws {
        let world = try World(seed: seed)
        let (store, end) = (world.store, world.store.head.position)
        #expect(
            world.kinds.isSuperset(of: [.openDirect, .ban, .setRole, .postMessage, .setPostcode, .openThread])
                && world.othersCount > 0)
        let events = try store.allEvents()
        for event in events {
            guard let owner = world.owners(in: event.event.correlation ?? "").first else { continue }
            // The host acts without a name.
            #expect(owner == nil || owner == event.event.otherActor ?? event.event.user, "\(event)")
        }
        let users = Set(events.compactMap(\.user))
        for user in users {
            for try await event in store.events(after: 0, upTo: end, matching: EventFilter(as: .user(user))) {
                guard let owner = world.owners(in: event.event.correlation ?? "").first else { continue }
                #expect(owner == user || owner == nil && event.event.kind == .sessionEnded, "\(event) to \(user)")
            }
        }
        for thread in Set(events.compactMap(\.event.thread)) {
            let evidence = try store.evidence(of: thread)
            try store.forEachPart(of: evidence) { part, _ in
                guard case .record(_, let record) = part, let bytes = record.erasable else { return }
                guard let event = try? ChatEvent(keptBytes: record.kept, erasableBytes: bytes) else { return }
                let owners = world.owners(in: String(decoding: bytes, as: UTF8.self))
                #expect(owners.allSatisfy { $0 == event.otherActor ?? event.user || $0 == nil }, "\(event)")
            }
        }
        #expect(!store.isErasureUnfinished)
    }

    @Test(arguments: Seeds.seeds(Repetitions.few(2, of: 40))) func erasureOfTheOwnerRemovesThem(seed: UInt64) throws {
        let world = try World(seed: seed)
        var random = SeededRandom(seed: seed)
        let before = try world.ownersInFiles()
        var others = before.compactMap(\.self).sorted()
        #expect(others.count > 3)
        // First who opened direct threads.
        let openers = Set(try world.store.allEvents().filter { $0.kind == .directOpened }.compactMap(\.user)).sorted()
            .shuffled(
                using: &random)
        others.shuffle(using: &random)
        for user in openers.prefix(3) + others.filter({ !openers.contains($0) }).prefix(2) {
            try world.store.eraseUser(user, reason: "user-request")
            #expect(try !world.ownersInFiles().contains(user), "\(user) of seed \(seed)")
            let answers = try world.store.allEvents().map { "\($0)" }.joined()
            #expect(!world.owners(in: answers).contains(user))
        }
        try world.store.close()
        #expect(
            try ChatStore.verify(world.fixture.directory, options: world.fixture.options.journal, deep: true).findings
                == [])
    }

    // MARK: Journals of earlier versions

    /// The history of an earlier version, in which the joins of an opening have the opener's
    /// correlation id.
    ///
    /// Ann opened a direct thread with Bob and Cem. Bob has left and come back with an id of his
    /// own.
    private static func former(erased: UserID? = nil) throws -> [ExportedEvent] {
        var given = DeciderSpecification().given(
            .registerUser(id: ann, username: "Ann"), .registerUser(id: bob, username: "Bob"),
            .registerUser(id: cem, username: "Cem"),
            .openThread(id: garden, name: "Garden", by: ann), .joinThread(thread: garden, by: bob),
            .joinThread(thread: garden, by: cem))
        for var event in given.when(.openDirect(id: group, with: [bob, cem], by: ann)).events {
            event.correlation = "of-ann"
            given = given.given(event)
        }
        given = given.given(.leaveThread(thread: group, by: bob))
        given = given.given([CommandRequest(.openDirect(with: [ann, cem], by: bob), correlation: "of-bob")])
        given = given.given([CommandRequest(.setProfile(about: "x", by: cem), correlation: "of-cem")])
        if let erased {
            given = given.given(
                ChatEvent(
                    recordedAt: given.state.lastRecordedAt, details: .init(.userErased, .user(erased)),
                    content: .erasure(reason: "user-request", positions: nil)))
        }
        return given.history.map { ExportedEvent($0) }
    }

    private static func write(_ events: [ExportedEvent], _ fixture: StoreFixture) throws {
        var importer = try EventImporter(into: fixture.directory, options: fixture.options.journal)
        for (index, event) in events.enumerated() { try importer.add(event, line: index + 1) }
        try importer.finish()
    }

    /// Returns the bytes of all files of a journal.
    private static func bytes(_ fixture: StoreFixture) throws -> String {
        let (storage, directory) = (fixture.options.journal.storage, fixture.directory)
        var text = ""
        for path in [directory, directory + "/cut"] where try storage.kind(of: path) == .directory {
            for file in try storage.list(path) where try storage.kind(of: path + "/" + file) == .file {
                text += String(decoding: try storage.contents(of: path + "/" + file), as: UTF8.self)
            }
        }
        return text
    }

    @Test func storedOnesAreTheOpeners() async throws {
        let fixture = StoreFixture()
        try Self.write(try Self.former(), fixture)
        let store = try fixture.open()
        let opening = try #require(try store.allEvents().first { $0.kind == .directOpened }).position
        func shown(_ viewer: Viewer) async throws -> [Position: String] {
            var found: [Position: String] = [:]
            for try await event in store.events(after: 0, upTo: store.head.position, matching: EventFilter(as: viewer))
            {
                found[event.position] = event.event.correlation
            }
            return found
        }
        let joins = opening...opening + 3
        #expect(try await shown(.user(Self.ann)) == Dictionary(uniqueKeysWithValues: joins.map { ($0, "of-ann") }))
        #expect(try await shown(.user(Self.bob)) == [opening + 5: "of-bob"])
        #expect(try await shown(.user(Self.cem)) == [opening + 6: "of-cem"])
        #expect(try await shown(.host).count == 6)
        // A repeat by another one tells nobody that they have guessed it.
        let request = CommandRequest(.openDirect(with: [Self.ann, Self.bob], by: Self.cem), correlation: "of-ann")
        let again = try answer(request, of: store).get()
        #expect(again.isDuplicate && again.events.count == 4 && again.events.allSatisfy { $0.event.correlation == nil })
        let own = CommandRequest(.openDirect(with: [Self.cem, Self.bob], by: Self.ann), correlation: "of-ann")
        #expect(
            try answer(own, of: store).get().events.map(\.event.correlation) == Array(repeating: "of-ann", count: 4))
        // Bob has no part in them.
        try store.eraseUser(Self.cem, reason: "user-request")
        #expect(try await shown(.host).count == 4)
        try store.eraseUser(Self.ann, reason: "user-request")
        #expect(try await shown(.host) == [opening + 5: "of-bob"])
        let bytes = try Self.bytes(fixture)
        #expect(!bytes.contains("of-ann") && !bytes.contains("of-cem") && bytes.contains("of-bob"))
        try store.close()
        #expect(try ChatStore.verify(fixture.directory, options: fixture.options.journal, deep: true).findings == [])
    }

    /// One that an earlier version left after the erasure of the opener is found, and removed by
    /// the next opening.
    @Test func verificationFindsWhatEarlierErasuresLeft() throws {
        let fixture = StoreFixture()
        try Self.write(try Self.former(erased: Self.ann), fixture)
        let report = try ChatStore.verify(fixture.directory, options: fixture.options.journal, deep: true)
        #expect(report.findings.allSatisfy { $0.problem == "erasureUnfinished" }, "\(report.findings)")
        // What Ann wrote, the opening and the joins that belong to it; not the return of Bob.
        #expect(report.findings.compactMap(\.positions) == [1...1, 4...4, 8...11])
        try fixture.open().close()
        #expect(try !Self.bytes(fixture).contains("of-ann") && Self.bytes(fixture).contains("of-bob"))
        #expect(try ChatStore.verify(fixture.directory, options: fixture.options.journal, deep: true).findings == [])
    }
}
