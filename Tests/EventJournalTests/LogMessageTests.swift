import Foundation
import Locking
import TestSupport
import Testing

@testable import EventJournal

/// The messages that a journal sends to the log of the host program.
@Suite struct LogMessageTests {
    /// Collects messages.
    private final class Messages: Sendable {
        private let messages = Lock([LogMessage]())
        var all: [LogMessage] { messages.withLock { $0 } }
        var handler: LogHandler { { message in self.messages.withLock { $0.append(message) } } }
    }

    @Test func openingIsReported() throws {
        let storage = MemoryStorage()
        let messages = Messages()
        let options = JournalOptions(storage: storage, slotSyncDelay: nil, log: messages.handler)
        var journal = try Journal.open("journal", options: options)
        try journal.append([Entry("a", "b")])
        try journal.close()
        journal = try Journal.open("journal", options: options)
        try journal.close()
        #expect(messages.all.map(\.level) == [.info, .info])
        #expect(messages.all.last?.metadata == ["path": "journal", "position": "1"])
    }

    @Test func uncleanCloseIsReported() throws {
        let storage = MemoryStorage()
        let messages = Messages()
        var journal: Journal? = try Journal.open(
            "journal", options: JournalOptions(storage: storage, slotSyncDelay: nil))
        try journal?.append([Entry("a", "b")])
        try journal?.waitUntilDurable(1)
        journal = nil
        let again = try Journal.open(
            "journal", options: JournalOptions(storage: storage, slotSyncDelay: nil, log: messages.handler))
        #expect(messages.all.map(\.level) == [.warning])
        #expect(messages.all.first?.text.hasPrefix("The last writer did not close the journal.") == true)
        try again.close()
    }

    /// Damage that an opening corrects is reported also after a clean close.
    @Test func damageAfterCleanCloseIsReported() throws {
        let storage = MemoryStorage()
        let messages = Messages()
        let journal = try Journal.open("journal", options: JournalOptions(storage: storage, slotSyncDelay: nil))
        try journal.append([Entry("a", "b")])
        try journal.close()
        var bytes = try #require(storage.allContents()["journal/durable"])
        let slots = try DurableSlots(JournalDirectory("journal", storage), .read)
        let older = 1 - Int(slots.newest.sequence % 2)
        bytes[older * DurableSlot.stride + 9] ^= 4
        storage.setContents(bytes, of: "journal/durable")
        let again = try Journal.open(
            "journal", options: JournalOptions(storage: storage, slotSyncDelay: nil, log: messages.handler))
        #expect(again.recovery.wasClean && again.recovery.damagedSlots == [older])
        #expect(messages.all.map(\.level) == [.warning])
        #expect(messages.all.first?.text == "A slot of the durable file was unreadable.")
        try again.close()
    }

    /// A failure of the sync in the background, which no call reports before the next append.
    @Test func failedBackgroundSyncOfTheSlotIsReported() throws {
        let storage = FaultyStorage(MemoryStorage())
        let messages = Messages()
        let options = JournalOptions(storage: storage, slotSyncDelay: .milliseconds(1), log: messages.handler)
        let journal = try Journal.open("journal", options: options)
        storage.fail { call in
            guard call.operation == .sync, call.path.hasSuffix("/durable") else { return nil }
            return StorageError(.failed, .sync, path: call.path, errno: 5)
        }
        try journal.append([Entry("a", "b")])
        try journal.waitUntilDurable(1)
        while journal.state.withLock({ $0.failure == nil }) { usleep(100) }
        #expect(inTurns { messages.all.contains { $0.level == .error } })
        #expect(journalError { try journal.append([Entry("c", "d")]) }?.code == .syncFailed)
        #expect(messages.all.filter { $0.level == .error }.map { $0.metadata["code"] } == ["syncFailed"])
    }

    /// A failure of a sync is reported once, however many calls meet it.
    @Test func failedSyncIsReportedOnce() throws {
        let storage = FaultyStorage(MemoryStorage())
        let messages = Messages()
        let journal = try Journal.open(
            "journal", options: JournalOptions(storage: storage, slotSyncDelay: nil, log: messages.handler))
        try journal.append([Entry("a", "b")])
        storage.fail { $0.operation == .sync ? StorageError(.failed, .sync, path: $0.path, errno: 5) : nil }
        for _ in 0..<3 { #expect(throws: JournalError.self) { try journal.waitUntilDurable(1) } }
        let errors = messages.all.filter { $0.level == .error }
        #expect(errors.count == 1)
        #expect(errors.first?.metadata["code"] == "syncFailed")
    }
}
