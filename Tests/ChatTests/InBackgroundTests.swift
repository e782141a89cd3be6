import Chat
import ChatTesting
import EventJournal
import Foundation
import Testing

@Suite struct InBackgroundTests {
    private let ann = UserID(bits: 1)

    @Test func returnsTheResultOfTheClosure() async throws {
        let store = try ChatStore.inMemory()
        try await store.execute(.registerUser(id: ann, username: "Ann"))
        let name = try await store.inBackground { [ann] store in try store.reader(as: .host).user(ann).username }
        #expect(name == "Ann")
        try store.close()
    }

    @Test func throwsTheErrorOfTheClosure() async throws {
        let store = try ChatStore.inMemory()
        await #expect(throws: ChatError.rejected(.unknownUser)) {
            try await store.inBackground { [ann] store in try store.reader(as: .host).user(ann).username }
        }
        try store.close()
    }

    @Test func importsWithoutBlockingTheCaller() async throws {
        let store = try ChatStore.inMemory()
        let lines = (0..<50).map { number in
            ImportedMessage(
                sentAt: nil, channel: "garden", user: "ann", id: "\(number)", replyTo: nil, body: "Message \(number)")
        }
        let summary = try await store.inBackground { store in
            var importer = MessageImporter(into: store)
            for (index, line) in lines.enumerated() { _ = try importer.add(line, line: index + 1) }
            _ = try importer.finish()
            return importer.summary
        }
        #expect(summary.messages == 50)
        try store.close()
    }

    /// More closures than threads of the pool wait at once, and none of them occupies the pool.
    @Test func blockedClosuresDoNotBlockTasks() async throws {
        let store = try ChatStore.inMemory()
        let count = ProcessInfo.processInfo.activeProcessorCount + 2
        let gate = DispatchSemaphore(value: 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { try await store.inBackground { _ in gate.wait() } } }
            group.addTask { for _ in 0..<count { gate.signal() } }
            try await group.waitForAll()
        }
        try store.close()
    }

    @Test func cancelledTaskDoesNotBegin() async throws {
        let store = try ChatStore.inMemory()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await store.inBackground { _ in true }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try store.close()
    }
}
