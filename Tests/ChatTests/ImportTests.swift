import ChatDomain
import ChatTesting
import EventJournal
import Locking
import Projections
import Testing

@testable import Chat

@Suite struct ImportTests {
    private func message(_ id: String, by user: String, in channel: String = "#rust", to replyTo: String? = nil)
        -> ImportedMessage
    {
        ImportedMessage(
            sentAt: Timestamp(millisecondsSince1970: 1_100_000_000_000), channel: channel, user: .nickname(user),
            id: id, replyTo: replyTo,
            body: "body of \(id)")
    }

    private func run(_ messages: [ImportedMessage], into store: ChatStore, batchSize: Int) throws -> (
        ImportSummary, [RejectedLine]
    ) {
        var importer = MessageImporter(into: store, batchSize: batchSize)
        var refused: [RejectedLine] = []
        for (index, message) in messages.enumerated() { refused += try importer.add(message, line: index + 1) }
        refused += try importer.finish()
        return (importer.summary, refused)
    }

    @Test(arguments: [1, 2, 3, 1_000]) func historyIsImportedOnce(batchSize: Int) throws {
        let history = [
            message("1", by: "Ann"), message("2", by: "bob", to: "1"), message("3", by: "ANN", to: "2"),
            message("4", by: "bob"),
            message("5", by: "bob", in: "SW1A"), message("1", by: "bob", in: "SW1A"),
            message("6", by: "x", to: "unknown"),
            message("1", by: "Ann"), message("7", by: "a\u{7}b"), message("8", by: "Ann", in: "\u{1b}"),
            message("9", by: String(repeating: "a", count: 4_097)),
            message("10", by: "Ann", in: String(repeating: "c", count: 4_097)),
        ]
        let store = try StoreFixture().open()
        let (summary, refused) = try run(history, into: store, batchSize: batchSize)
        #expect(
            summary
                == ImportSummary(
                    messages: 6, replies: 2, duplicates: 1, rejected: 3, users: 3, threads: 3,
                    threadsByPolicy: [.inviteOnly: 2, .residents: 1],
                    adaptations: [.channelRenamed: .init(count: 1, line: 10, example: "\u{1b}")],
                    renamed: [RenamedUser(user: ImportedID.user("a\u{7}b"), name: "a\u{7}b", username: "ab")]))
        #expect(refused.map(\.line) == [7, 11, 12])
        #expect(refused.map(\.rejection.code) == [.unknownMessage, .invalidUsername, .invalidThreadName])
        let thread = try #require(try store.reader(as: .host).threadIDs(named: "#rust").first)
        let timeline = try store.reader(as: .host).timeline(thread)
        #expect(timeline.map(\.body) == ["body of 1", "body of 4", "body of 7"])
        #expect(timeline.map(\.author.username) == ["Ann", "bob", "ab"])
        #expect(timeline.allSatisfy { $0.createdAt.millisecondsSince1970 == 1_100_000_000_000 })
        #expect(try store.reader(as: .host).threadIDs(named: "imported").count == 1)
        #expect(try store.reader(as: .host).replies(to: timeline[0].message).map(\.body) == ["body of 2", "body of 3"])
        #expect(
            try store.reader(as: .host).timeline(ThreadID(try #require(OutwardCode("SW1A")))).map(\.body) == [
                "body of 5", "body of 1",
            ])
        #expect(try store.userID(named: "x") == nil, "a rejected message registers no user")
        let head = store.head
        let (again, _) = try run(history, into: store, batchSize: batchSize)
        #expect(again == ImportSummary(duplicates: 9, rejected: 3))
        #expect(store.head == head)
        #expect(try store.allEvents().allSatisfy { $0.event.origin != .native })
    }

    @Test func secondImportDoesNotReaddUserWhoLeft() throws {
        let store = try StoreFixture().open()
        let history = [message("1", by: "Ann"), message("2", by: "Bob", to: "1")]
        _ = try run(history, into: store, batchSize: 10)
        let thread = try #require(try store.reader(as: .host).threadIDs(named: "#rust").first)
        try store.executeBlocking(.leaveThread(thread: thread, by: try #require(try store.userID(named: "bob"))))
        try store.executeBlocking(.changeUsername(username: "Anna", by: try #require(try store.userID(named: "ann"))))
        let head = store.head
        #expect(try run(history, into: store, batchSize: 10).0.duplicates == 2)
        #expect(store.head == head)
    }

    /// An id belongs to one author in one place, within a batch and across batches.
    @Test(arguments: [1, 10]) func messageIDOfAnotherAuthorOrPlaceIsRejected(batchSize: Int) throws {
        let store = try StoreFixture().open()
        let history = [message("1", by: "Ann"), message("2", by: "Bob"), message("3", by: "Bob", to: "1")]
        let others = [
            message("1", by: "Bob"), message("1", by: "Cy"), message("1", by: "Ann", to: "2"), message("3", by: "Bob"),
            message("3", by: "Bob", to: "2"), message("3", by: "Ann", to: "1"), message("1", by: "ANN"),
            message("3", by: "bob", to: "1"),
        ]
        let (summary, refused) = try run(history + others, into: store, batchSize: batchSize)
        // Line 6 is a reply whose id a message has: such a reply may have been imported without its
        // message.
        #expect(refused.map(\.line) == [4, 5, 7, 8, 9] && refused.allSatisfy { $0.rejection.code == .identifierTaken })
        #expect(
            summary
                == ImportSummary(
                    messages: 2, replies: 1, duplicates: 3, rejected: 5, users: 2, threads: 1,
                    threadsByPolicy: [.inviteOnly: 1]))
        let head = store.head
        let again = try run(history + others, into: store, batchSize: batchSize)
        #expect(again.0 == ImportSummary(duplicates: 6, rejected: 5) && store.head == head)
    }

    @Test func idsAndChannelsAreComparedByBytes() throws {
        let composed = "\u{e9}"
        let decomposed = "e\u{301}"
        let history = [
            message(composed, by: "Ann"), message(decomposed, by: "Ann"), message("1", by: "Ann", in: "caf" + composed),
            message("1", by: "Ann", in: "caf" + decomposed),
        ]
        let store = try StoreFixture().open()
        #expect(
            try run(history, into: store, batchSize: 10).0
                == ImportSummary(messages: 4, users: 1, threads: 3, threadsByPolicy: [.inviteOnly: 3]))
        let head = store.head
        #expect(try run(history, into: store, batchSize: 1).0 == ImportSummary(duplicates: 4))
        #expect(store.head == head)
    }

    @Test func entitiesWithDerivedIDsAreNotTakenForImported() throws {
        let imported = try StoreFixture().open()
        _ = try run([message("1", by: "Ann"), message("2", by: "Bob", to: "1")], into: imported, batchSize: 1)
        let events = try imported.allEvents()
        let store = try StoreFixture().open()
        // Mallory registers with Ann's derived id, and uses the derived thread and message ids.
        for event in events {
            switch (event.event.kind, event.event.shape) {
            case (.userRegistered, .user(let itsUser)):
                try store.executeBlocking(.registerUser(id: itsUser, username: "Mallory \(event.position)"))
            case (.threadOpened, .thread(let itsThread, _, let itsBy)):
                try store.executeBlocking(.openThread(id: itsThread, name: "Den", by: itsBy))
            case (.messagePosted, .message(let itsThread, _, let itsMessage, let itsAuthor)):
                try store.executeBlocking(
                    .postMessage(id: itsMessage, thread: itsThread, body: "mine", by: itsAuthor))
            default: break
            }
        }
        let head = store.head
        let (summary, refused) = try run(
            [
                message("1", by: "Ann"), message("2", by: "Bob", to: "1"), message("3", by: "Bob"),
                message("3", by: "Ann", in: "#other"),
            ],
            into: store,
            batchSize: 1)
        #expect(
            refused.map(\.rejection.code) == [.identifierTaken, .identifierTaken, .identifierTaken, .identifierTaken])
        #expect(summary.rejected == 4)
        #expect(store.head == head)
    }

    @Test func fullDiskRejectsMessagesUntilSpaceIsFree() throws {
        let storage = FillableStorage()
        var options = StoreOptions()
        options.journal.storage = storage
        let store = try ChatStore.open("j", options: options)
        _ = try run([message("1", by: "Ann")], into: store, batchSize: 1)
        var importer = MessageImporter(into: store, batchSize: 1)
        storage.isFull.withLock { $0 = true }
        // The reserved space is used up first.
        var line = 1
        for size in [16_000, 1_000, 1] {
            var refused: [RejectedLine] = []
            while refused.isEmpty {
                line += 1
                refused = try importer.add(
                    ImportedMessage(
                        sentAt: nil, channel: "#rust", user: "Ann", id: "\(line)",
                        body: String(repeating: "x", count: size)),
                    line: line)
            }
            #expect(refused.map(\.rejection.code) == [.storageFull])
        }
        // Without a further command it is known whether there is room.
        #expect(!store.hasRoom())
        // The registration alone exceeds the remaining space, so none of the line is appended.
        let eve = String(repeating: "Eve ", count: 16).dropLast().description
        _ = try importer.add(message("x", by: eve, in: "#new"), line: 0)
        #expect(try store.userID(named: eve) == nil)
        storage.isFull.withLock { $0 = false }
        #expect(store.hasRoom())
        #expect(try importer.add(message("y", by: eve, in: "#new"), line: 1) == [])
        #expect(
            try store.reader(as: .host).timeline(
                try #require(try store.reader(as: .host).threadIDs(named: "#new").first)
            ).map(
                \.author.username) == [eve]
        )
    }
}

/// A storage in memory that a test can fill up.
private final class FillableStorage: JournalStorage {
    let isFull = Lock(false)
    private let base = MemoryStorage()

    func open(_ path: String, _ mode: StorageOpenMode) throws(StorageError) -> any StorageFile {
        File(try base.open(path, mode), self)
    }
    func kind(of path: String) throws(StorageError) -> StorageEntryKind? { base.kind(of: path) }
    func list(_ directory: String) throws(StorageError) -> [String] { try base.list(directory) }
    func rename(_ path: String, to target: String) throws(StorageError) { try base.rename(path, to: target) }
    func remove(_ path: String) throws(StorageError) { try base.remove(path) }
    func createDirectory(_ path: String) throws(StorageError) { try base.createDirectory(path) }
    func syncDirectory(_ path: String) throws(StorageError) { base.syncDirectory(path) }
    func lock(_ path: String) throws(StorageError) -> (any StorageLock)? { base.lock(path) }
    func isLocked(_ path: String) throws(StorageError) -> Bool { base.isLocked(path) }

    private final class File: StorageFile {
        private let base: any StorageFile
        private let storage: FillableStorage

        init(_ base: any StorageFile, _ storage: FillableStorage) {
            self.base = base
            self.storage = storage
        }

        func read(into bytes: inout MutableRawSpan, at offset: UInt64) throws(StorageError) -> Int {
            try base.read(into: &bytes, at: offset)
        }
        func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError) { try base.write(bytes, at: offset) }
        func sync() throws(StorageError) { try base.sync() }
        func size() throws(StorageError) -> UInt64 { try base.size() }
        func truncate(to size: UInt64) throws(StorageError) { try base.truncate(to: size) }
        func allocate(to size: UInt64) throws(StorageError) {
            if storage.isFull.withLock({ $0 }), try base.size() < size {
                throw StorageError(.full, .allocate, path: "j")
            }
            try base.allocate(to: size)
        }
    }
}
