import Chat
import ChatDomain
import ChatWire
import Synchronization
import Testing

func run(
    _ stream: EventStream, heartbeatInterval: Duration = EventStream.heartbeatInterval,
    write: ([UInt8]) async throws -> Void
) async throws {
    let (blocks, queue) = AsyncStream.makeStream(of: [UInt8].self)
    let (written, confirmation) = AsyncStream.makeStream(of: Void.self)
    let events = Task {
        defer { queue.finish() }
        return try await stream.run { block, _ in
            queue.yield(block)
            // The next block is made when this one is written.
            for await _ in written { return }
            throw CancellationError()
        }
    }
    var heartbeat: Task<Void, any Error>?
    defer {
        events.cancel()
        heartbeat?.cancel()
    }
    for await block in blocks {
        try await write(block)
        heartbeat?.cancel()
        heartbeat = Task {
            try await Task.sleep(for: heartbeatInterval)
            queue.yield(EventStream.heartbeat)
        }
        if block != EventStream.heartbeat { confirmation.yield() }
    }
    // Also if this task was cancelled, which ends the loop.
    events.cancel()
    try await write(EventStream.block(try await events.value))
}

/// The function that the adapters of the documentation write streams with.
@Suite struct HeartbeatExampleTests {
    private struct Gone: Error {}
    private struct Late: Error {}

    private func wait(until isOver: () -> Bool) async throws {
        for _ in 0..<60_000 {
            if isOver() { return }
            try await Task.sleep(for: .milliseconds(1))
        }
        throw Late()
    }

    @Test func heartbeatsComeBetweenEvents() async throws {
        let village = try Village()
        let stream = try #require(await village.community.get("/v1/events", as: village.maya).stream)
        let found = Mutex([String]())
        let task = Task {
            try await run(stream, heartbeatInterval: .milliseconds(1)) { block in
                found.withLock { $0.append(String(decoding: block, as: UTF8.self)) }
            }
        }
        for count in 0..<3 {
            let heartbeats = found.withLock { $0.count { $0 == ": heartbeat\n\n" } }
            try await wait { found.withLock { $0.count { $0 == ": heartbeat\n\n" } } >= heartbeats + 2 }
            try village.community.execute(.postMessage(thread: village.market, body: "\(count)", by: village.maya))
            try await wait { found.withLock { $0.contains { $0.contains("\"body\":\"\(count)\"") } } }
        }
        #expect(found.withLock { $0.first } == String(decoding: stream.opening, as: UTF8.self))
        try village.store.close()
        try await task.value
        #expect(found.withLock { $0.last } == String(decoding: EventStream.block(.closing), as: UTF8.self))
    }

    @Test func streamEndsWithItsTaskOrItsClient() async throws {
        let village = try Village()
        let cancelled = try #require(await village.community.get("/v1/events", as: village.maya).stream)
        let count = Mutex(0)
        let task = Task { try await run(cancelled) { _ in count.withLock { $0 += 1 } } }
        try await wait { count.withLock { $0 } == 1 }
        task.cancel()
        _ = await task.result
        let gone = try #require(await village.community.get("/v1/events", as: village.maya).stream)
        await #expect(throws: Gone.self) { try await run(gone) { _ in throw Gone() } }
    }
}
