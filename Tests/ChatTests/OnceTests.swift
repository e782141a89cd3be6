import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import Testing

@testable import Chat

/// Commands that take effect once by an id beside them, in a store.
@Suite struct OnceTests {
    private static let (ann, bob, cem) = (UserID(bits: 1), UserID(bits: 2), UserID(bits: 3))
    private static let garden = ThreadID(bits: 31)
    private static let once = CommandID(bits: 0x99)
    private static let ban = CommandRequest(
        .ban(user: cem, thread: garden, reason: "spam", by: ann), correlation: "c", once: once)

    /// Ann, an owner, has banned Cem and lifted the ban.
    private static func community(_ fixture: StoreFixture) throws -> (store: ChatStore, receipt: Receipt) {
        let store = try fixture.openGarden(garden, [(ann, "Ann"), (bob, "Bob"), (cem, "Cem")])
        let receipt = try store.executeBlocking([ban])[0].get()
        try store.executeBlocking(.unban(user: cem, thread: garden, by: ann))
        try store.executeBlocking(.joinThread(thread: garden, by: cem))
        return (store, receipt)
    }

    private static func again(_ store: ChatStore, _ request: CommandRequest = ban) throws -> Receipt {
        try store.executeBlocking([request])[0].get()
    }

    @Test func aDuplicateHasTheReceiptOfAllEvents() throws {
        let (store, receipt) = try Self.community(StoreFixture())
        #expect(receipt.events.map(\.kind) == [.userBanned, .memberRemoved])
        #expect(receipt.events.map(\.once) == [Self.once, nil])
        let head = store.head
        let again = try Self.again(store)
        #expect(again.isDuplicate && again.events == receipt.events && store.head == head)
        // A text is shown to who sends it.
        var other = Self.ban
        other.command = .ban(user: Self.cem, thread: Self.garden, reason: "other", by: Self.ann)
        #expect(try Self.again(store, other).events.map(\.reason) == [nil, nil])
    }

    @Test func onlyTheUserAndTheHostAreShownTheID() throws {
        let (store, receipt) = try Self.community(StoreFixture())
        let position = try #require(receipt.events.first).position
        func shown(_ viewer: Viewer) throws -> [CommandID?] {
            var found: [CommandID?] = []
            try store.forEachEvent(matching: EventFilter(as: viewer)) { event, _ in
                if event.position == position { found.append(event.event.once) }
            }
            return found
        }
        #expect(try shown(.host) == [Self.once] && shown(.user(Self.ann)) == [Self.once])
        #expect(try shown(.user(Self.cem)) == [nil])
    }

    /// The memory outlives a restart, with a checkpoint and without, an export, a copy and an erasure.
    @Test func theMemoryOutlivesAll() throws {
        let fixture = StoreFixture()
        var (store, receipt) = try Self.community(fixture)
        for removesCheckpoint in [false, true] {
            try store.close()
            if removesCheckpoint {
                let storage = try #require(fixture.options.journal.storage as? MemoryStorage)
                for path in storage.allContents().keys where path.hasSuffix(".checkpoint") {
                    try storage.remove(path)
                }
            }
            store = try fixture.open()
            #expect(try Self.again(store).events == receipt.events)
        }
        _ = try store.eraseUser(Self.ann, reason: "asked")
        let again = try Self.again(store)
        #expect(again.isDuplicate && again.positions == receipt.positions)
        #expect(again.events.map(\.once) == [Self.once, nil])
        #expect(throws: ChatError.self) {
            try store.executeBlocking(.ban(user: Self.cem, thread: Self.garden, reason: "spam", by: Self.ann))
        }
        let exported = try store.allEvents()
        try store.close()
        #expect(
            try ChatStore.verify(fixture.directory, options: fixture.options.journal, deep: true).findings.isEmpty)
        for event in exported {
            #expect(try JSONDecoder().decode(ExportedEvent.self, from: Data("\(event)".utf8)).recorded == event)
        }
    }

    /// A kind of which an earlier version knows nothing: its byte is above those of all kinds.
    @Test func anEarlierVersionDoesNotKnowTheKind() throws {
        var (plain, marked) = (EventEncoder(), EventEncoder())
        let (store, receipt) = try Self.community(StoreFixture())
        try store.close()
        var event = try #require(receipt.events.first).event
        marked.encode(event)
        event.details = event.details
        #expect(event.once == Self.once)
        event.once = nil
        plain.encode(event)
        #expect(marked.kept.count == plain.kept.count + 16 && marked.kept[0] == plain.kept[0] | 0x80)
        #expect(marked.kept.dropFirst().prefix(plain.kept.count - 1) == plain.kept.dropFirst())
        #expect(marked.erasable == plain.erasable)
    }
}
