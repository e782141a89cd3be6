@testable import Chat
import ChatDomain
import ChatTesting
import Dispatch
import EventJournal
import Foundation
import Locking
import Projections
import Testing

// The documentation of `Projections` shows the code between the marks, and a test compares the two.
// example begins
/// How many messages mention a user as `@username` that they have not marked as read.
struct UnreadMentions: CheckpointedProjection, Equatable, Codable {
    static let name = "unread-mentions"

    private var users: [String: UserID] = [:]
    private var names: [UserID: String] = [:]
    private var mentions: [UserID: [ThreadID: [Position]]] = [:]

    mutating func apply(_ event: ChatEvent, at position: Position) {
        switch (event.kind, event.shape) {
        case (.userRegistered, .user(let user)), (.usernameChanged, .user(let user)): name(user, event.username)
        case (.messagePosted, .message(let thread, _, _, _)):
            for word in (event.body ?? "").split(separator: " ") where word.hasPrefix("@") {
                guard let user = users[Username.foldKey(String(word.dropFirst()))] else { continue }
                mentions[user, default: [:]][thread, default: []].append(position)
            }
        case (.threadRead, .marker(let user, let thread, let upTo)): mentions[user]?[thread]?.removeAll { $0 <= upTo }
        default: break
        }
    }

    private mutating func name(_ user: UserID, _ username: Username?) {
        if let former = names[user] { users[former] = nil }
        names[user] = username?.foldKey
        if let username { users[username.foldKey] = user }
    }

    func count(for user: UserID) -> Int { mentions[user]?.values.reduce(0) { $0 + $1.count } ?? 0 }
}
// example ends

@Suite struct LiveProjectionTests {
    private let ann = UserID(bits: 1)
    private let bob = UserID(bits: 2)
    private let garden = ThreadID(bits: 31)

    private func store(_ fixture: StoreFixture = StoreFixture()) throws -> ChatStore {
        let store = try fixture.open()
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))  // 1
        try store.executeBlocking(.registerUser(id: bob, username: "Bob"))  // 2
        try store.executeBlocking(.openThread(id: garden, name: "Garden", by: ann))  // 3, 4
        try store.executeBlocking(.joinThread(thread: garden, by: bob))  // 5
        // At 6.
        try store.executeBlocking(.postMessage(id: nil, thread: garden, body: "Tomatoes, @bob ?", by: ann))
        return store
    }

    @Test func projectionIsReplayedAndFollowsEvents() throws {
        let store = try store()
        let mentions = store.project(UnreadMentions.self)
        #expect(try mentions.readBlocking { model, _ in model.count(for: bob) } == 1)
        try store.executeBlocking(.postMessage(id: nil, thread: garden, body: "@BOB and @ann", by: ann))  // 7
        #expect(
            try mentions.readBlocking { model, position in
                [model.count(for: bob), model.count(for: ann), Int(position)]
            } == [2, 1, 7])
        try store.executeBlocking(.markRead(thread: garden, upTo: 6, by: bob))  // 8
        #expect(try mentions.readBlocking { model, _ in model.count(for: bob) } == 1)
    }

    @Test func projectionIsReadAsOfAnyPosition() throws {
        let fixture = StoreFixture()
        let store = try store(fixture)
        fixture.clock.advance(byMilliseconds: 1_000)
        let before = fixture.clock.now()
        fixture.clock.advance(byMilliseconds: 1_000)
        try store.executeBlocking(.markRead(thread: garden, upTo: 6, by: bob))
        let mentions = store.project(UnreadMentions.self)
        #expect(try mentions.readBlocking { model, _ in model.count(for: bob) } == 0)
        #expect(
            try mentions.readBlocking(asOf: .position(6)) { model, position in [model.count(for: bob), Int(position)] }
                == [1, 6])
        #expect(try mentions.readBlocking(asOf: .time(before)) { model, _ in model.count(for: bob) } == 1)
        #expect(try mentions.readBlocking(asOf: .position(5)) { model, _ in model.count(for: bob) } == 0)
        expectError("invalidPosition") {
            _ = try mentions.readBlocking(asOf: .position(8)) { model, _ in model.count(for: bob) }
        }
    }

    @Test func rebuildGivesSameState() throws {
        let store = try store()
        let mentions = store.project(UnreadMentions.self)
        #expect(try mentions.readBlocking { model, _ in model.count(for: bob) } == 1)
        #expect(try mentions.isReproducible())
        try mentions.rebuildBlocking()
        #expect(try mentions.readBlocking { model, _ in model.count(for: bob) } == 1)
        try store.executeBlocking(.postMessage(id: nil, thread: garden, body: "@bob", by: ann))
        #expect(try mentions.readBlocking { model, _ in model.count(for: bob) } == 2)
    }

    @Test func projectionIsReproducibleAfterErasure() throws {
        let store = try store()
        let mentions = store.project(UnreadMentions.self)
        #expect(try mentions.readBlocking { model, _ in model.count(for: bob) } == 1)
        try store.eraseUser(ann, reason: "spam")
        #expect(try mentions.isReproducible())
        #expect(try mentions.readBlocking { model, _ in model.count(for: bob) } == 0)
    }

    /// A projection that depends on more than the events is detected.
    @Test func nondeterministicProjectionIsNotReproducible() throws {
        struct Dice: Projection, Equatable {
            static let name = "dice"
            var sum: UInt64 = 0
            mutating func apply(_ event: ChatEvent, at position: Position) {
                sum = sum &+ UInt64.random(in: 0...UInt64.max)
            }
        }
        let dice = try store().project(Dice.self)
        _ = try dice.readBlocking { model, _ in model.sum }
        #expect(try !dice.isReproducible())
    }

    /// The closure runs without locks, so it may query the projection and the store.
    @Test func closureMayReadAgain() throws {
        let store = try store()
        let mentions = store.project(UnreadMentions.self)
        let (outer, inner) = try mentions.readBlocking { model, _ in
            (model.count(for: bob), try? mentions.readBlocking { model, _ in model.count(for: bob) })
        }
        #expect(outer == 1 && inner == 1)
    }

    @Test func closedStoreRejectsReads() throws {
        let store = try store()
        let mentions = store.project(UnreadMentions.self)
        try store.close()
        expectError("closed") { _ = try mentions.readBlocking { model, _ in model.count(for: bob) } }
    }

    /// Compares the two at every seventh command of a random history.
    @Test(arguments: Seeds.seeds(4)) func readModelsEqualTheirProjection(seed: UInt64) throws {
        let store = try StoreFixture(seed: seed).open()
        var generator = CommandGenerator(seed: seed)
        let models = store.project(ReadModels.self)
        for number in 0..<60 {
            _ = try answer(generator.nextRequest(), of: store)
            guard number.isMultiple(of: 7) else { continue }
            let own = store.withCurrentModels { models, _ in models }
            #expect(try models.readBlocking { model, _ in model } == own)
        }
        #expect(try models.isReproducible())
    }

    @Test func documentationShowsExample() throws {
        let here = URL(filePath: #filePath)
        let package = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(
            contentsOf: package.appending(path: "Sources/Projections/Projections.docc/WritingAProjection.md"),
            encoding: .utf8)
        let source = try String(contentsOf: here, encoding: .utf8)
        let example = try #require(
            source.split(separator: "// example begins\n").last?.split(separator: "\n// example ends").first)
        #expect(page.contains("```swift\n\(example)\n```"))
    }

    /// Returns the position of the checkpoint from which a projection starts.
    private func loaded<Model: CheckpointedProjection>(_ model: Model.Type, by store: ChatStore) -> Position? {
        store.project(model).checkpoints?.latest(of: 0)?.position
    }

    /// A checkpoint replaces the replay without changing answers.
    ///
    /// A checkpoint that is damaged in any byte or cut at any length is ignored.
    @Test func validCheckpointIsLoadedAndDamagedOneIgnored() throws {
        let fixture = StoreFixture()
        var store = try store(fixture)
        #expect(try store.project(UnreadMentions.self).writeCheckpoint() == 6)
        try store.executeBlocking(.postMessage(id: nil, thread: garden, body: "@bob", by: ann))  // 7
        try store.close()
        let path = "\(fixture.directory)/unread-mentions.00000000000000000006.checkpoint"
        let file = try fixture.options.journal.storage.open(path, .readWrite)
        let size = Int(try file.size())
        store = try fixture.open()
        #expect(loaded(UnreadMentions.self, by: store) == 6)
        for moment in [AsOf.now, .position(5), .position(6)] {
            let counts = try store.project(UnreadMentions.self).readBlocking(asOf: moment) { model, _ in
                model.count(for: bob)
            }
            #expect(counts == (moment == .now ? 2 : moment == .position(6) ? 1 : 0))
        }
        for offset in 0..<size {
            try file.flip(UInt64(offset))
            #expect(loaded(UnreadMentions.self, by: store) == nil, "byte \(offset)")
            try file.flip(UInt64(offset))
        }
        #expect(loaded(UnreadMentions.self, by: store) == 6)
        for length in stride(from: UInt64(size - 1), through: 0, by: -1) {
            try file.truncate(to: length)
            #expect(loaded(UnreadMentions.self, by: store) == nil, "cut at \(length)")
        }
        #expect(try store.project(UnreadMentions.self).readBlocking { model, _ in model.count(for: bob) } == 2)
    }

    @Test func checkpointOfAnotherVersionIsIgnored() throws {
        struct First: CheckpointedProjection, Codable {
            static let name = "counter"
            var count = 0
            mutating func apply(_ event: ChatEvent, at position: Position) { count += 1 }
        }
        struct Second: CheckpointedProjection, Codable {
            static let name = "counter"
            static let version: UInt32 = 2
            var count = 0
            mutating func apply(_ event: ChatEvent, at position: Position) { count += 2 }
        }
        let fixture = StoreFixture()
        var store = try store(fixture)
        try store.project(First.self).writeCheckpoint()
        #expect(try store.project(First.self).readBlocking { model, _ in model.count } == 6)
        try store.close()
        // A later version of the program.
        store = try fixture.open()
        #expect(try store.project(Second.self).readBlocking { model, _ in model.count } == 12)
    }

    /// Counts events, and runs a closure once while its state is encoded.
    private struct Counter: CheckpointedProjection, Codable {
        static let name = "counter"
        static let whileEncoding = Lock<(@Sendable () -> Void)?>(nil)
        var count = 0
        init() {}
        mutating func apply(_ event: ChatEvent, at position: Position) { count += 1 }
        init(from decoder: any Decoder) throws { count = try decoder.singleValueContainer().decode(Int.self) }
        func encode(to encoder: any Encoder) throws {
            Self.whileEncoding.withLock { body in
                defer { body = nil }
                return body
            }?()
            var container = encoder.singleValueContainer()
            try container.encode(count)
        }
    }

    /// Other writers of the checkpoint and a close wait for the write in progress.
    @Test func checkpointWriteBlocksOtherWritersAndClose() throws {
        let fixture = StoreFixture()
        let store = try store(fixture)
        let others = DispatchGroup()
        let done = Lock<[String]>([])
        /// Starts a body on another thread, and gives it time to finish if it does not wait.
        @Sendable func begin(_ name: String, _ body: @escaping @Sendable () throws -> Void) {
            others.enter()
            Thread.detachNewThread {
                #expect(throws: Never.self) { try body() }
                done.withLock { $0.append(name) }
                others.leave()
            }
            Thread.sleep(forTimeInterval: 0.2)
            done.withLock { $0.append("encoded") }
        }
        Counter.whileEncoding.withLock {
            $0 = {
                begin("another") {
                    try store.executeBlocking(.startSession(device: "phone", by: ann))
                    #expect(try store.project(Counter.self).writeCheckpoint() == 7)
                }
            }
        }
        #expect(try store.project(Counter.self).writeCheckpoint() == 6)
        others.wait()
        #expect(done.withLock { $0 } == ["encoded", "another"])
        #expect(loaded(Counter.self, by: store) == 7)

        done.withLock { $0 = [] }
        Counter.whileEncoding.withLock { $0 = { begin("close") { try store.close() } } }
        let counter = store.project(Counter.self)
        #expect(try counter.writeCheckpoint() == 7)
        others.wait()
        #expect(done.withLock { $0 } == ["encoded", "close"])
        expectError("closed") { _ = try counter.writeCheckpoint() }
        let again = try fixture.open()
        #expect(loaded(Counter.self, by: again) == 7)
        #expect(try fixture.options.journal.storage.list("journal").allSatisfy { !$0.hasSuffix(".tmp") })
    }
}

extension StorageFile {
    /// Inverts the bits of a byte.
    fileprivate func flip(_ offset: UInt64) throws {
        var bytes: [UInt8] = [0]
        var span = bytes.mutableSpan
        var raw = unsafe span.mutableBytes
        _ = try read(into: &raw, at: offset)
        let flipped: [UInt8] = [bytes[0] ^ 0xFF]
        unsafe try write(flipped.span.bytes, at: offset)
    }
}
