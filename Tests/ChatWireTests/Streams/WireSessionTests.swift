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
}
