import Chat
import ChatDomain
import Synchronization
import Testing

@testable import ChatWire

/// A connection over a store, without a transport.
@Suite struct WireSessionTests {
    /// A follow whose events end with an error is over: its id can be used again.
    @Test func failedFollowCanBeginAgain() async throws {
        let village = try Village()
        let sent = Mutex([String]())
        // The events of a user who does not exist end with an error.
        let session = WireSession(village.store, user: UserID(bits: 77)) { message in
            sent.withLock { $0.append(String(decoding: message, as: UTF8.self)) }
        }
        for round in 1...20 {
            try await session.receive(Array("{\"id\":1,\"follow\":{}}".utf8))
            for _ in 0..<1_000_000 where sent.withLock({ $0.count }) < 2 * round { await Task.yield() }
            try #require(sent.withLock { $0.count } == 2 * round, "\(sent.withLock { $0.last ?? "" })")
        }
        let messages = sent.withLock { $0 }
        for index in stride(from: 0, to: messages.count, by: 2) {
            #expect(messages[index].hasPrefix("{\"id\":1,\"following\":"), "\(messages[index])")
            #expect(messages[index + 1].hasPrefix("{\"id\":1,\"problem\":"), "\(messages[index + 1])")
        }
        // Nothing is left to end.
        try await session.receive(Array("{\"id\":2,\"unfollow\":1}".utf8))
        #expect(sent.withLock { $0.last }?.contains("\"code\":\"notFound\"") == true)
        session.end()
    }

    /// Follows deliver what the client must forget, with the tokens of the stream of events.
    @Test func followsDeliverNotices() async throws {
        let village = try Village()
        let sent = Mutex([String]())
        let session = WireSession(village.store, user: village.om) { message in
            sent.withLock { $0.append(String(decoding: message, as: UTF8.self)) }
        }
        func waitForMessages(_ count: Int) async throws {
            for _ in 0..<60_000 where sent.withLock({ $0.count }) < count {
                try await Task.sleep(for: .milliseconds(1))
            }
            try #require(sent.withLock { $0.count } >= count, "\(sent.withLock { $0.last ?? "" })")
        }
        try await session.receive(Array("{\"id\":1,\"follow\":{}}".utf8))
        let posted = try village.store.reader(as: .host).message(village.message).position
        try village.store.eraseContent(of: PositionSet([posted...posted]), reason: "wrong-address")
        // Before Om leaves: a former member is told nothing of other users' messages.
        try await waitForMessages(2)
        try village.community.execute(.leaveThread(thread: village.market, by: village.om))
        try await waitForMessages(4)
        session.end()
        let messages = sent.withLock { $0 }
        let token = try village.store.resumeToken(after: village.store.head.position - 1)
        let erased = "{\"follow\":1,\"token\":\"\(token)\",\"erased\":{\"positions\":[[\(posted),\(posted)]],"
        #expect(messages[1].hasPrefix(erased), "\(messages[1])")
        #expect(messages[2].hasSuffix(",\"accessLost\":{\"thread\":\"\(village.market)\"}}"), "\(messages[2])")
        #expect(messages[3].contains(",\"event\":{"))
    }

    /// A command that is being carried out when the session ends is answered, and no later one is
    /// carried out.
    @Test func commandIsAnsweredAtTheEnd() async throws {
        let village = try Village()
        let sent = Mutex([String]())
        let count = Mutex(0)
        let (released, release) = AsyncStream<Void>.makeStream()
        let execute = { @Sendable (_: ClientCommands) async -> SocketAnswer in
            count.withLock { $0 += 1 }
            for await _ in released {}
            return SocketAnswer(.notFound)
        }
        let session = WireSession(village.store, user: village.om, execute: execute) { message in
            sent.withLock { $0.append(String(decoding: message, as: UTF8.self)) }
        }
        let message = Array("{\"id\":1,\"commands\":{\"markRead\":{\"thread\":\"\(village.market)\",\"upTo\":1}}}".utf8)
        async let answered: Void = session.receive(message)
        for _ in 0..<60_000 where count.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(1)) }
        session.end { sent.withLock { $0.append("end") } }
        #expect(sent.withLock { $0 } == [])
        release.finish()
        try await answered
        #expect(sent.withLock { $0.map { String($0.prefix(17)) } } == ["{\"id\":1,\"problem\"", "end"])
        try await session.receive(message)
        session.end { sent.withLock { $0.append("again") } }
        #expect(count.withLock { $0 } == 1 && sent.withLock { $0.last } == "again")
    }
}
