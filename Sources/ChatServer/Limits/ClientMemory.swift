#if Server
    internal import Locking
    private import Synchronization

    /// The one account of the memory that clients make a server hold, whatever the transport.
    ///
    /// What is taken belongs to a ``HeldMemory``, which gives it back at its end.
    final class ClientMemory: Sendable {
        private let budget: Lock<ClientBudget>
        private let messages = Atomic(0)

        init(_ budget: ClientBudget = ClientBudget()) { self.budget = Lock(budget) }

        /// The bytes that clients hold.
        var byteCount: Int { budget.withLock { $0.byteCount } }

        /// The bytes of these that are messages of WebSockets.
        var messageByteCount: Int { messages.load(ordering: .relaxed) }

        /// Takes bytes for a client; nil if it, or all together, have no more.
        func hold(_ byteCount: Int, by client: Client) -> HeldMemory? {
            let held = HeldMemory(self, client)
            return held.take(byteCount) ? held : nil
        }

        /// Whether a client has no more than it may; one that holds more than it may loses what
        /// began first.
        func isWithin(_ client: Client) -> Bool { budget.withLock { $0.isWithin(client) } }

        func hasRoom(for client: Client) -> Bool { budget.withLock { $0.hasRoom(for: client) } }

        var isExceeded: Bool { budget.withLock { $0.isExceeded } }

        fileprivate func countMessages(_ change: Int) { messages.wrappingAdd(change, ordering: .relaxed) }

        fileprivate func take(_ byteCount: Int, by client: Client) -> Bool {
            budget.withLock { $0.take(byteCount, by: client) }
        }

        fileprivate func add(_ byteCount: Int, to client: Client) { budget.withLock { $0.add(byteCount, to: client) } }

        fileprivate func giveBack(_ byteCount: Int, by client: Client) {
            budget.withLock { $0.giveBack(byteCount, by: client) }
        }
    }

    /// The memory that one thing of a client holds: a connection, a request, a stream, a follow.
    ///
    /// Small, because each socket has several: its count is an atomic, not behind a lock.
    final class HeldMemory: Sendable {
        let client: Client
        private let memory: ClientMemory
        private let isOfMessages: Bool
        private let count = Atomic(0)

        init(_ memory: ClientMemory, _ client: Client, isOfMessages: Bool = false) {
            (self.memory, self.client, self.isOfMessages) = (memory, client, isOfMessages)
        }

        deinit { set(0) }

        var byteCount: Int { count.load(ordering: .relaxed) }

        /// Whether the client has no more than it may.
        var isWithinLimits: Bool { memory.isWithin(client) }

        /// Takes more bytes; returns false, without an effect, if there are none.
        func take(_ byteCount: Int) -> Bool {
            guard memory.take(byteCount, by: client) else { return false }
            count.wrappingAdd(byteCount, ordering: .relaxed)
            return true
        }

        /// Counts bytes that exist already, or are gone.
        func add(_ change: Int) {
            guard change != 0 else { return }
            count.wrappingAdd(change, ordering: .relaxed)
            if change > 0 { memory.add(change, to: client) } else { memory.giveBack(-change, by: client) }
            if isOfMessages { memory.countMessages(change) }
        }

        /// Counts as many bytes as exist now; nobody else changes the count meanwhile.
        func set(_ byteCount: Int) { add(byteCount - self.byteCount) }
    }
#endif
